/*
 * local.h
 *	  Local files: shared by the files that implement the store, private to them.
 *
 * The path of the anchor, which is the root or a folder above it, is followed as the system does; below it every step is an
 * openat that follows no symbolic link, so that what a client plants in its folder cannot lead out of it.
 */
#ifndef LNC_STORAGE_LOCAL_H
#define LNC_STORAGE_LOCAL_H

#include <sys/stat.h>

#include "storage/backend.h"

typedef struct LncLocalStore
{
	LncStore base;
	const char *root;   /* absolute path, with its leading slash */
	const char *anchor; /* the same, of the anchor */
	const char *below;  /* what leads from the anchor to the root; empty when they are one */
} LncLocalStore;

/* Files being written carry this prefix until they get their name; listings leave them out. */
#define LNC_LOCAL_TEMP_PREFIX ".lance-tmp-"

/*
 * Record the error of a system call. verb completes "could not …" ("read", "write", "list"). ENOENT and ENOTDIR are
 * LNC_NOT_FOUND, EACCES, EPERM, EROFS and ELOOP (a link below the root) LNC_DENIED, others LNC_IO.
 */
extern LncCode lnc_local_error(LncContext *ctx, const LncLocalStore *store, const char *verb, const char *key,
							   int error);

/*
 * Open the folder named by folder ("" is the root). Returns the descriptor, or -1 with errno set. create makes
 * missing folders on the way, the root and its parents included.
 */
extern int lnc_local_open_folder(const LncLocalStore *store, const char *folder, bool create);

/*
 * Open the folder that holds key, and point *name at the last part of key. Returns the descriptor, or -1 with
 * errno set.
 */
extern int lnc_local_open_parent(LncContext *ctx, const LncLocalStore *store, const char *key, bool create,
								 const char **name);

/*
 * Open the folder that holds the root, which is not the anchor itself, and point *name at the root's own name. Returns the
 * descriptor, or -1 with errno set.
 */
extern int lnc_local_open_above(const LncLocalStore *store, const char **name);

/* fsync, unless the surroundings can do without it (LncEnv.unsynced). */
extern int lnc_local_sync(const LncContext *ctx, int fd);

/* When a file was last written, in milliseconds since the Unix epoch. */
static inline int64_t
lnc_local_modified_ms(const struct stat *info)
{
	return (int64_t)info->st_mtim.tv_sec * 1000 + info->st_mtim.tv_nsec / 1000000;
}

/* Parts of the vtable that live in files of their own. */
extern LncCode lnc_local_put(LncContext *ctx, LncStore *store, const char *key, LncSlice body) LNC_MUST_CHECK;
extern LncCode lnc_local_put_if_absent(LncContext *ctx, LncStore *store, const char *key,
									   LncSlice body) LNC_MUST_CHECK;
extern LncCode lnc_local_remove(LncContext *ctx, LncStore *store, size_t n, const char *const *keys,
								bool durable) LNC_MUST_CHECK;
extern LncCode lnc_local_remove_prefix(LncContext *ctx, LncStore *store, const char *prefix,
									   uint64_t *removed) LNC_MUST_CHECK;
extern LncCode lnc_local_list(LncContext *ctx, LncStore *store, const LncListing *listing, LncListFn fn,
							  void *arg) LNC_MUST_CHECK;
extern LncCode lnc_local_list_folders(LncContext *ctx, LncStore *store, const char *folder, LncFolderFn fn,
									  void *arg) LNC_MUST_CHECK;

#endif

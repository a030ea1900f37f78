/*
 * storage.h
 *	  The one I/O interface: a store is a folder of objects under a URI.
 *
 * URIs (uri.h): "s3://bucket/prefix", "file:///abs/dir", "/abs/dir", "memory://name" (tests). A key is a path relative to
 * the store's root, with "/" between parts and no leading slash; it may hold any byte but NUL, and no part
 * may be "." or ".." or empty (LNC_INVALID). Bytes returned live in the arena given. All calls are interruptible
 * within a second (LNC_CANCELLED), also while connecting, resolving or backing off.
 *
 * Errors: LNC_NOT_FOUND (no such object or folder), LNC_NO_STORE (no such bucket, where the answer tells), LNC_DENIED (403, EACCES), LNC_IO, LNC_UNAVAILABLE (retries
 * used up on 429, 500, 502, 503, 504, resets, timeouts), LNC_UNCLEAR (a write whose answer was lost). Messages name
 * the object's URI and the store's own code; never a key, a token or a signed query.
 */
#ifndef LNC_STORAGE_STORAGE_H
#define LNC_STORAGE_STORAGE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

typedef struct LncStore LncStore;

/*
 * How to reach a store. Strings are borrowed during lnc_store_open only. NULL or 0 takes the default that is
 * named. The S3 fields are ignored for other schemes.
 */
typedef struct LncStoreConfig
{
	const char *endpoint;      /* "http://host:port"; NULL: AWS's own for the region */
	const char *region;        /* NULL: "us-east-1" */
	const char *access_key_id; /* NULL: requests are not signed */
	const char *secret_access_key;
	const char *session_token; /* NULL: none */
	const struct LncCredentialSource
		*credentials;        /* keys that may be renewed (credentials.h), instead of fixed ones; NULL: none */
	bool virtual_hosted;     /* bucket in the host name; default: in the path */
	bool allow_http;         /* plain http endpoints are refused (LNC_INVALID) otherwise */
	bool no_conditional_put; /* the store lacks If-None-Match: put_if_absent answers LNC_UNSUPPORTED at once */
	int max_retries;         /* 0: 5; -1: none */
	int connect_timeout_ms;  /* 0: 5000 */
	int idle_timeout_ms;     /* a transfer that moves no byte for so long is retried; 0: 20000 */
	const char *anchor; /* local files: a folder that the root lies in; symbolic links are followed up to it and not
								below. NULL: up to the root */
	struct LncHttp *http; /* connections shared with other stores (http.h); must outlive this one; NULL: own */
	struct LncCache
		*cache; /* what is remembered of objects that never change (recall.h); must outlive the store; NULL:
								nothing is */
	const char *cache_scope; /* whom that is remembered for, and where the store is: without line feeds */
} LncStoreConfig;

/* A range of bytes of one object. */
typedef struct LncRange
{
	uint64_t offset;
	uint64_t length;
} LncRange;

/* One listed object. key is relative to the store's root. */
typedef struct LncObject
{
	const char *key;
	uint64_t size;
	int64_t modified_ms; /* Unix epoch, milliseconds */
	const char *e_tag;   /* NULL for local files */
} LncObject;

/* What to list; storage of both strings is the caller's. */
typedef struct LncListing
{
	const char *folder;      /* relative, "" for the root, no trailing slash */
	bool recursive;          /* false: only the folder's direct members */
	const char *start_after; /* keys greater than this only; NULL: all */
	size_t expected; /* so many objects are asked for at first, where they come in pages; 0: as many as fit */
	bool names_only; /* sizes and times are of no interest: they are 0 where a look would be needed to tell them */
} LncListing;

/* Counters of one store handle, for EXPLAIN and tests. */
typedef struct LncStoreStats
{
	uint64_t requests;
	uint64_t bytes_read;
	uint64_t retries;
} LncStoreStats;

/*
 * Open the store at uri. No request is made. The handle is closed by the arena's cleanup. LNC_INVALID for a URI
 * that is malformed or of another scheme.
 */
extern LncCode lnc_store_open(LncContext *ctx, LncArena *arena, const char *uri, const LncStoreConfig *config,
							  LncStore **out) LNC_MUST_CHECK;

/* The canonical URI of the store's root, without a trailing slash; borrowed. */
extern const char *lnc_store_uri(const LncStore *store);

/*
 * The root as clients of the object store name it: the path inside the bucket for S3, the absolute path
 * without its leading slash for local files. Borrowed. (rest.md section 7: manifest_path.)
 */
extern const char *lnc_store_object_root(const LncStore *store);

/* True for stores that list keys in byte order (S3), so that listing from a key on is cheap. */
extern bool lnc_store_ordered(const LncStore *store);

/* True for stores where a look for one name costs no trip over the network (local files). */
extern bool lnc_store_near(const LncStore *store);

extern void lnc_store_stats(const LncStore *store, LncStoreStats *out);

/* Size of the object in bytes. */
extern LncCode lnc_store_size(LncContext *ctx, LncStore *store, const char *key, uint64_t *size) LNC_MUST_CHECK;

/*
 * What changes with every object that comes into a folder or leaves it, and with nothing else that matters: on near stores
 * only (LNC_UNSUPPORTED elsewhere), and only once the last change is settled_ms old, by the clock of this machine;
 * *settled tells. Compare all bytes. LNC_NOT_FOUND when there is no such folder.
 */
typedef struct LncFolderStamp
{
	uint64_t device;
	uint64_t number;
	int64_t modified_ns;
	int64_t changed_ns;
} LncFolderStamp;

extern LncCode lnc_store_folder_stamp(LncContext *ctx, LncStore *store, const char *folder, int settled_ms,
									  LncFolderStamp *out, bool *settled) LNC_MUST_CHECK;

/*
 * Size and time of each of the n objects: outs has room for n, and gets the key of keys, or NULL where there is none.
 * On stores over the network the questions are asked one after the other.
 */
extern LncCode lnc_store_find(LncContext *ctx, LncStore *store, size_t n, const char *const *keys,
							  LncObject *outs) LNC_MUST_CHECK;

/*
 * Which of the n objects are there: present has room for n. On stores over the network the questions are asked in
 * parallel.
 */
extern LncCode lnc_store_present(LncContext *ctx, LncStore *store, size_t n, const char *const *keys,
								 bool *present) LNC_MUST_CHECK;

/*
 * Read exactly range n of the object into outs[n]. Ranges are merged over small gaps and fetched in parallel. A
 * range that reaches past the end is LNC_CORRUPT naming object and range. Zero-length ranges give a valid pointer.
 * Pointers have no alignment: ranges that share a read point into one block.
 */
extern LncCode lnc_store_read_ranges(LncContext *ctx, LncStore *store, LncArena *arena, const char *key,
									 size_t nranges, const LncRange *ranges, const uint8_t **outs) LNC_MUST_CHECK;

/*
 * An object that is read many times and does not change. Local files are kept open from the first read on, so that the
 * name is followed once, and read as they were then, if the environment of the arena lets one more file stay open; the
 * arena's cleanup closes them. Store and key are borrowed.
 */
typedef struct LncOpenObject LncOpenObject;

extern LncCode lnc_object_open(LncContext *ctx, LncArena *arena, LncStore *store, const char *key,
							   LncOpenObject **out) LNC_MUST_CHECK;

/* As lnc_store_read_ranges. */
extern LncCode lnc_object_read_ranges(LncContext *ctx, LncOpenObject *object, LncArena *arena, size_t nranges,
									  const LncRange *ranges, const uint8_t **outs) LNC_MUST_CHECK;

/* A range of an object on its way into memory, while the caller does other work. */
typedef struct LncReading LncReading;

/*
 * Begin to read a range (not empty) into target, and return at once. *out is NULL when the store does not do so, or has its
 * hands full. It goes on when the store is used; the arena's cleanup gives it up, until when target must stay.
 */
extern LncCode lnc_store_read_begin(LncContext *ctx, LncStore *store, LncArena *arena, const char *key,
									LncRange range, uint8_t *target, LncReading **out) LNC_MUST_CHECK;

/* Whether the store begins readings. */
extern bool lnc_store_begins(const LncStore *store);

/* Let readings move on without waiting for them. */
extern LncCode lnc_store_move_on(LncContext *ctx, LncStore *store) LNC_MUST_CHECK;

/* Wait for a reading. *whole tells whether the range is there; if not, it is to be read in the usual way, which tells why. */
extern LncCode lnc_reading_finish(LncContext *ctx, LncReading *reading, bool *whole) LNC_MUST_CHECK;

/*
 * Read the last bytes of an object, at most max of them, in one request, and learn its size. tail->size is
 * min(max, *size).
 */
extern LncCode lnc_store_read_tail(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max,
								   LncSlice *tail, uint64_t *size) LNC_MUST_CHECK;

/* Read the whole object; one larger than max bytes is LNC_LIMIT. */
extern LncCode lnc_store_read_all(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max,
								  LncSlice *out) LNC_MUST_CHECK;

/* Write the object, replacing what is there. Local: a temporary file, fsync, rename, fsync of the folder. */
extern LncCode lnc_store_put(LncContext *ctx, LncStore *store, const char *key, LncSlice body) LNC_MUST_CHECK;

/*
 * Write the object only if nothing has its name, atomically and durably. LNC_EXISTS: the name is taken. LNC_UNSUPPORTED:
 * the store has no conditional writes (501, 400 on If-None-Match, or the config says so). A 409 is retried. When
 * an answer was lost, the object is read back: equal bytes are success, others LNC_EXISTS; failing that LNC_UNCLEAR.
 */
extern LncCode lnc_store_put_if_absent(LncContext *ctx, LncStore *store, const char *key,
									   LncSlice body) LNC_MUST_CHECK;

/* Remove the object. A missing one is no error. */
extern LncCode lnc_store_delete(LncContext *ctx, LncStore *store, const char *key) LNC_MUST_CHECK;

/* The same for one that nobody minds seeing again after a crash of the machine: local disks are not waited for. */
extern LncCode lnc_store_discard(LncContext *ctx, LncStore *store, const char *key) LNC_MUST_CHECK;

/* Remove the n objects, faster than one by one. When one can't be removed, others may have been. */
extern LncCode lnc_store_delete_many(LncContext *ctx, LncStore *store, size_t n,
									 const char *const *keys) LNC_MUST_CHECK;

/*
 * Remove every object below prefix (a folder, relative; "" is the whole root), and on local disk the folders
 * left empty, the root included. Missing is no error; symbolic links are removed, not followed. *removed counts objects.
 * On local disk the folders above the root are followed as they are: to remove a folder that others may write
 * beside, open the store at the folder that is trusted and give the rest as prefix.
 */
extern LncCode lnc_store_delete_prefix(LncContext *ctx, LncStore *store, const char *prefix,
									   uint64_t *removed) LNC_MUST_CHECK;

/*
 * Call fn for each object below folder (relative, "" for the root, no trailing slash), recursively, or only for
 * its direct members when recursive is false (sub-folders are then left out). Keys greater than start_after only
 * (NULL: all), in byte order when the store is ordered, else in any order. A missing folder lists nothing. fn returns
 * LNC_OK to go on; *stop = true ends the listing early. The object is valid during the call.
 */
typedef LncCode (*LncListFn)(LncContext *ctx, void *arg, const LncObject *object, bool *stop);
extern LncCode lnc_store_list(LncContext *ctx, LncStore *store, const char *folder, bool recursive,
							  const char *start_after, LncListFn fn, void *arg) LNC_MUST_CHECK;

/* The same, as the listing says. */
extern LncCode lnc_store_list_as(LncContext *ctx, LncStore *store, const LncListing *listing, LncListFn fn,
								 void *arg) LNC_MUST_CHECK;

/*
 * Call fn for each folder directly in folder (relative, "" for the root), by its key without a slash at the end, in
 * any order. A store of objects has a folder where keys go on behind the name; on local disk empty ones count too, and
 * symbolic links do not. A missing folder has none. fn and *stop as above; the key is valid during the call.
 */
typedef LncCode (*LncFolderFn)(LncContext *ctx, void *arg, const char *folder, bool *stop);
extern LncCode lnc_store_list_folders(LncContext *ctx, LncStore *store, const char *folder, LncFolderFn fn,
									  void *arg) LNC_MUST_CHECK;

#endif

/*
 * local.c
 *	  The store of local files: finding and reading them.
 */
#include "storage/local.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "storage/ranges.h"

/* Reading over a gap of one page costs less than another system call. */
#define LOCAL_GAP 4096

/* Bytes moved between two polls for an interrupt. */
#define LOCAL_CHUNK ((uint64_t)8 * 1024 * 1024)

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

LncCode
lnc_local_error(LncContext *ctx, const LncLocalStore *store, const char *verb, const char *key, int error)
{
	LncObjectName name = lnc_object_name(&store->base, key);

	switch (error)
	{
		case ENOENT:
		case ENOTDIR:
			return lnc_not_found(ctx, &store->base, key);
		case EACCES:
		case EPERM:
		case EROFS:
			lnc_fail(ctx, LNC_DENIED, "could not %s \"%s\": %s", verb, name.text, strerror(error));
			lnc_hint(ctx,
					 "Clients and server must be able to read and write in the folders that the other made: run "
					 "both as one user, or give them a common group and a folder with default access rights.");
			return LNC_DENIED;
		case ELOOP:
			lnc_fail(ctx, LNC_DENIED,
					 "could not %s \"%s\": symbolic links below the root of a store are not followed", verb,
					 name.text);
			return LNC_DENIED;
		case ENAMETOOLONG:
			return lnc_fail(ctx, LNC_INVALID, "could not %s \"%s\": %s", verb, name.text, strerror(error));
		default:
			return lnc_fail(ctx, LNC_IO, "could not %s \"%s\": %s", verb, name.text, strerror(error));
	}
}

/* Open one part below dirfd. With create a missing folder is made. */
static int
open_part(int dirfd, const char *part, bool create)
{
	int fd = openat(dirfd, part, FOLDER_FLAGS | O_NOFOLLOW);
	struct stat info;
	int error;

	if (fd < 0 && errno == ENOENT && create)
	{
		/* Another writer may make it first. */
		if (mkdirat(dirfd, part, 0777) == 0)
		{
			if (fsync(dirfd) != 0)
				return -1;
		}
		else if (errno != EEXIST)
			return -1;
		fd = openat(dirfd, part, FOLDER_FLAGS | O_NOFOLLOW);
	}
	/* Of a link the system says only that it is no folder. */
	error = errno;
	if (fd < 0 && error == ENOTDIR && fstatat(dirfd, part, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISLNK(info.st_mode))
		error = ELOOP;
	errno = error;
	return fd;
}

/* Open path (size bytes) below dirfd, part by part. Closes dirfd. */
static int
open_parts(int dirfd, const char *path, size_t size, bool create)
{
	const char *end = path + size;

	while (dirfd >= 0 && path < end)
	{
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t length = (size_t)((slash != NULL ? slash : end) - path);
		char part[NAME_MAX + 1];
		int next = -1;
		int error = ENAMETOOLONG;

		if (length < sizeof(part))
		{
			memcpy(part, path, length);
			part[length] = '\0';
			next = open_part(dirfd, part, create);
			error = errno;
		}
		close(dirfd);
		errno = error;
		dirfd = next;
		path += length + 1;
	}
	return dirfd;
}

/* Make the anchor and its parents. These are the operator's choice, so links are followed. */
static int
create_anchor(const char *anchor)
{
	char path[PATH_MAX];
	size_t length = strlen(anchor);
	int fd;

	if (length >= sizeof(path))
	{
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(path, anchor, length + 1);
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/'))
	{
		if (slash != NULL)
			*slash = '\0';
		if (mkdir(path, 0777) == 0)
		{
			/* Make the new entry durable in its parent. */
			char *last = strrchr(path, '/');

			*last = '\0';
			fd = open(last == path ? "/" : path, FOLDER_FLAGS);
			*last = '/';
			if (fd < 0)
				return -1;
			if (fsync(fd) != 0)
			{
				close(fd);
				return -1;
			}
			close(fd);
		}
		else if (errno != EEXIST)
			return -1;
		if (slash == NULL)
			break;
		*slash = '/';
	}
	return open(anchor, FOLDER_FLAGS);
}

static int
open_anchor(const LncLocalStore *store, bool create)
{
	int fd = open(store->anchor, FOLDER_FLAGS);

	if (fd < 0 && errno == ENOENT && create)
		fd = create_anchor(store->anchor);
	return fd;
}

static int
open_below_root(const LncLocalStore *store, const char *path, size_t size, bool create)
{
	int fd = open_parts(open_anchor(store, create), store->below, strlen(store->below), create);

	return open_parts(fd, path, size, create);
}

int
lnc_local_open_above(const LncLocalStore *store, const char **name)
{
	const char *slash = strrchr(store->below, '/');

	*name = slash != NULL ? slash + 1 : store->below;
	return open_parts(open_anchor(store, false), store->below, (size_t)(slash != NULL ? slash - store->below : 0),
					  false);
}

int
lnc_local_open_folder(const LncLocalStore *store, const char *folder, bool create)
{
	return open_below_root(store, folder, strlen(folder), create);
}

int
lnc_local_open_parent(LncContext *ctx, const LncLocalStore *store, const char *key, bool create, const char **name)
{
	const char *slash = strrchr(key, '/');

	(void)ctx;
	*name = slash != NULL ? slash + 1 : key;
	return open_below_root(store, key, slash != NULL ? (size_t)(slash - key) : 0, create);
}

/* Open the file of key for reading and learn its size. *fd is set on LNC_OK only. */
static LncCode
find_file(LncContext *ctx, LncLocalStore *store, const char *key, int *fd, uint64_t *size)
{
	const char *name;
	int parent = lnc_local_open_parent(ctx, store, key, false, &name);
	struct stat info;
	int file;
	int error;

	if (parent < 0)
		return lnc_local_error(ctx, store, "open", key, errno);
	/* Not blocking: a pipe planted under the name must not hang the reader. */
	file = openat(parent, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	error = errno;
	close(parent);
	if (file < 0)
		return lnc_local_error(ctx, store, "open", key, error);
	if (fstat(file, &info) != 0)
	{
		error = errno;
		close(file);
		return lnc_local_error(ctx, store, "open", key, error);
	}
	if (!S_ISREG(info.st_mode))
	{
		close(file);
		return lnc_not_found(ctx, &store->base, key);
	}
	*fd = file;
	*size = (uint64_t)info.st_size;
	return LNC_OK;
}

/* The same for one request. */
static LncCode
open_file(LncContext *ctx, LncLocalStore *store, const char *key, int *fd, uint64_t *size)
{
	lnc_store_asked(ctx, &store->base, 1);
	return find_file(ctx, store, key, fd, size);
}

/* Read exactly length bytes at offset. The size was checked: an end met now is a file that shrank. */
static LncCode
read_exactly(LncContext *ctx, LncLocalStore *store, const char *key, int fd, uint64_t offset, uint64_t length,
			 uint8_t *to)
{
	while (length > 0)
	{
		ssize_t n = pread(fd, to, length < LOCAL_CHUNK ? length : LOCAL_CHUNK, (off_t)offset);

		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return lnc_local_error(ctx, store, "read", key, errno);
		else if (n == 0)
			return lnc_range_error(ctx, &store->base, key, (LncRange){.offset = offset, .length = length}, offset);
		to += n;
		offset += (uint64_t)n;
		length -= (uint64_t)n;
		LNC_TRY(lnc_check_interrupt(ctx));
	}
	return LNC_OK;
}

static LncCode
local_size(LncContext *ctx, LncStore *base, const char *key, uint64_t *size)
{
	int fd;

	LNC_TRY(open_file(ctx, (LncLocalStore *)base, key, &fd, size));
	close(fd);
	return LNC_OK;
}

/* Look for the keys that lie in one folder. *done: how many that were. */
static LncCode
find_in_folder(LncContext *ctx, LncLocalStore *store, size_t n, const char *const *keys, LncObject *outs,
			   size_t *done)
{
	const char *name;
	int folder = lnc_local_open_parent(ctx, store, keys[0], false, &name);
	size_t length = (size_t)(name - keys[0]);
	int error = folder < 0 ? errno : 0;
	LncCode code = LNC_OK;

	for (*done = 0; *done < n && strncmp(keys[*done], keys[0], length) == 0; ++*done)
	{
		LncObject *out = &outs[*done];
		struct stat info;

		name = keys[*done] + length;
		if (strchr(name, '/') != NULL)
			break;
		memset(out, 0, sizeof(*out));
		if (folder >= 0)
			error = fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
		code = lnc_check_interrupt(ctx);
		if (code == LNC_OK && error != 0 && error != ENOENT && error != ENOTDIR)
			code = lnc_local_error(ctx, store, "find", keys[*done], error);
		if (code != LNC_OK)
			break;
		if (error == 0 && S_ISREG(info.st_mode))
			*out = (LncObject){
				.key = keys[*done], .size = (uint64_t)info.st_size, .modified_ms = lnc_local_modified_ms(&info)};
	}
	if (folder >= 0)
		close(folder);
	return code;
}

static LncCode
local_find(LncContext *ctx, LncStore *base, size_t n, const char *const *keys, LncObject *outs)
{
	size_t done;

	lnc_store_asked(ctx, base, n);
	for (size_t i = 0; i < n; i += done)
		LNC_TRY(find_in_folder(ctx, (LncLocalStore *)base, n - i, keys + i, outs + i, &done));
	return LNC_OK;
}

static LncCode
read_spans(LncContext *ctx, LncLocalStore *store, LncArena *arena, const char *key, int fd, uint64_t size,
		   size_t nranges, const LncRange *ranges, const uint8_t **outs)
{
	LncSpans spans;

	LNC_TRY(lnc_spans_plan(ctx, arena, nranges, ranges, LOCAL_GAP, &spans));
	for (size_t i = 0; i < nranges; i++)
	{
		if (!lnc_range_ok(ranges[i].offset, ranges[i].length, size))
			return lnc_range_error(ctx, &store->base, key, ranges[i], size);
	}
	LNC_TRY(lnc_spans_allocate(ctx, arena, &spans, nranges, ranges, outs));
	for (size_t i = 0; i < spans.nspans; i++)
		LNC_TRY(
			read_exactly(ctx, store, key, fd, spans.spans[i].offset, spans.spans[i].length, spans.spans[i].data));
	return LNC_OK;
}

static LncCode
local_read_ranges(LncContext *ctx, LncStore *base, LncArena *arena, const char *key, size_t nranges,
				  const LncRange *ranges, const uint8_t **outs)
{
	LncLocalStore *store = (LncLocalStore *)base;
	uint64_t size;
	LncCode code;
	int fd;

	LNC_TRY(open_file(ctx, store, key, &fd, &size));
	code = read_spans(ctx, store, arena, key, fd, size, nranges, ranges, outs);
	close(fd);
	return code;
}

/* A file that stays open. */
typedef struct KeptFile
{
	const LncEnv *env; /* that counts it */
	int fd;
	uint64_t size;
} KeptFile;

static void
close_kept(void *arg)
{
	const KeptFile *kept = arg;

	if (kept->fd >= 0)
		close(kept->fd);
	if (kept->env->file_closed != NULL)
		kept->env->file_closed(kept->env->state);
}

static LncCode
local_keep(LncContext *ctx, LncStore *base, LncArena *arena, const char *key, void **out)
{
	const LncEnv *env = lnc_arena_env(arena);
	KeptFile *kept;
	LncCode code;

	*out = NULL;
	LNC_TRY(LNC_NEW(ctx, arena, &kept, 1));
	if (env->keep_file != NULL && !env->keep_file(env->state))
		return LNC_OK;
	kept->env = env;
	kept->fd = -1;
	code = lnc_arena_on_cleanup(ctx, arena, close_kept, kept);
	if (code != LNC_OK)
	{
		close_kept(kept);
		return code;
	}
	LNC_TRY(find_file(ctx, (LncLocalStore *)base, key, &kept->fd, &kept->size));
	*out = kept;
	return LNC_OK;
}

static LncCode
local_read_kept(LncContext *ctx, LncStore *base, LncArena *arena, const char *key, const void *kept, size_t nranges,
				const LncRange *ranges, const uint8_t **outs)
{
	const KeptFile *file = kept;

	lnc_store_asked(ctx, base, 1);
	return read_spans(ctx, (LncLocalStore *)base, arena, key, file->fd, file->size, nranges, ranges, outs);
}

/* Read the last length bytes of an open file of size bytes. */
static LncCode
read_end(LncContext *ctx, LncLocalStore *store, LncArena *arena, const char *key, int fd, uint64_t size,
		 uint64_t length, LncSlice *out)
{
	void *memory;

	LNC_TRY(lnc_arena_alloc(ctx, arena, length, &memory));
	LNC_TRY(read_exactly(ctx, store, key, fd, size - length, length, memory));
	*out = (LncSlice){.data = memory, .size = length};
	return LNC_OK;
}

static LncCode
local_read_tail(LncContext *ctx, LncStore *base, LncArena *arena, const char *key, uint64_t max, LncSlice *tail,
				uint64_t *size)
{
	LncLocalStore *store = (LncLocalStore *)base;
	LncCode code;
	int fd;

	LNC_TRY(open_file(ctx, store, key, &fd, size));
	code = read_end(ctx, store, arena, key, fd, *size, *size < max ? *size : max, tail);
	close(fd);
	return code;
}

static LncCode
local_read_all(LncContext *ctx, LncStore *base, LncArena *arena, const char *key, uint64_t max, LncSlice *out)
{
	LncLocalStore *store = (LncLocalStore *)base;
	uint64_t size;
	LncCode code;
	int fd;

	LNC_TRY(open_file(ctx, store, key, &fd, &size));
	if (size > max)
		code = lnc_too_large(ctx, base, key, size, max);
	else
		code = read_end(ctx, store, arena, key, fd, size, size, out);
	close(fd);
	return code;
}

static LncCode
local_folder_stamp(LncContext *ctx, LncStore *base, const char *folder, int settled_ms, LncFolderStamp *out,
				   bool *settled)
{
	LncLocalStore *store = (LncLocalStore *)base;
	int fd = lnc_local_open_folder(store, folder, false);
	int error = fd < 0 ? errno : 0;
	struct timespec now;
	struct stat info;
	int64_t age;

	lnc_store_asked(ctx, base, 1);
	if (fd >= 0)
	{
		if (fstat(fd, &info) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
			error = errno;
		close(fd);
	}
	if (error != 0)
		return lnc_local_error(ctx, store, "look at", folder, error);
	memset(out, 0, sizeof(*out));
	out->device = (uint64_t)info.st_dev;
	out->number = (uint64_t)info.st_ino;
	out->modified_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
	out->changed_ns = (int64_t)info.st_ctim.tv_sec * 1000000000 + info.st_ctim.tv_nsec;

	/* Changes close to each other can have one time. */
	age = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - out->changed_ns;
	*settled = age >= (int64_t)settled_ms * 1000000;
	return LNC_OK;
}

/* Split the root's path at the anchor. */
static LncCode
take_anchor(LncContext *ctx, LncArena *arena, const char *anchor, LncLocalStore *store)
{
	size_t length;
	char *copy;

	store->anchor = store->root;
	store->below = "";
	if (anchor == NULL)
		return LNC_OK;
	length = strlen(anchor);
	while (length > 1 && anchor[length - 1] == '/')
		length--;
	if (anchor[0] != '/' || strncmp(store->root, anchor, length) != 0 ||
		(length > 1 && store->root[length] != '/' && store->root[length] != '\0'))
		return lnc_fail(ctx, LNC_INVALID, "folder \"%.300s\" does not lie in \"%.300s\"", store->root, anchor);
	LNC_TRY(lnc_arena_strndup(ctx, arena, anchor, length, &copy));
	store->anchor = copy;
	store->below = store->root + length;
	while (*store->below == '/')
		store->below++;
	return LNC_OK;
}

LncCode
lnc_local_open(LncContext *ctx, LncArena *arena, const LncUri *uri, const char *anchor, LncStore **out)
{
	static const LncStoreOps ops = {
		.size = local_size,
		.present = lnc_present_by_size,
		.read_ranges = local_read_ranges,
		.keep = local_keep,
		.read_kept = local_read_kept,
		.read_tail = local_read_tail,
		.read_all = local_read_all,
		.put = lnc_local_put,
		.put_if_absent = lnc_local_put_if_absent,
		.folder_stamp = local_folder_stamp,
		.find = local_find,
		.remove = lnc_local_remove,
		.remove_prefix = lnc_local_remove_prefix,
		.list = lnc_local_list,
		.list_folders = lnc_local_list_folders,
	};
	LncLocalStore *store;
	char *root;

	LNC_TRY(LNC_NEW(ctx, arena, &store, 1));
	LNC_TRY(lnc_arena_printf(ctx, arena, &root, "/%s", uri->path));
	store->base.ops = &ops;
	store->base.near = true;
	store->root = root;
	LNC_TRY(take_anchor(ctx, arena, anchor, store));
	*out = &store->base;
	return LNC_OK;
}

/*
 * local_write.c
 *	  The store of local files: writing. A file appears under its name only when it is whole and on disk.
 */
#include "storage/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"

#define WRITE_CHUNK ((size_t)8 * 1024 * 1024)

/* The name of a temporary file: prefix and 16 hex digits. */
typedef struct TempName
{
	char text[sizeof(LNC_LOCAL_TEMP_PREFIX) + 16];
} TempName;

int
lnc_local_sync(const LncContext *ctx, int fd)
{
	return ctx->env->unsynced ? 0 : fsync(fd);
}

static LncCode
write_all(LncContext *ctx, LncLocalStore *store, const char *key, int fd, LncSlice body)
{
	const uint8_t *from = body.data;
	size_t left = body.size;

	while (left > 0)
	{
		ssize_t n = write(fd, from, left < WRITE_CHUNK ? left : WRITE_CHUNK);

		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return lnc_local_error(ctx, store, "write", key, errno);
		from += n;
		left -= (size_t)n;
		LNC_TRY(lnc_check_interrupt(ctx));
	}
	if (lnc_local_sync(ctx, fd) != 0)
		return lnc_local_error(ctx, store, "sync", key, errno);
	return LNC_OK;
}

/* Write body to a new temporary file in the folder. On failure nothing is left behind. */
static LncCode
write_temp(LncContext *ctx, LncLocalStore *store, const char *key, int folder, LncSlice body, TempName *temp)
{
	uint64_t random;
	LncCode code;
	int fd;

	do
	{
		if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
			return lnc_local_error(ctx, store, "name a temporary file for", key, errno);
		snprintf(temp->text, sizeof(temp->text), "%s%016llx", LNC_LOCAL_TEMP_PREFIX, (unsigned long long)random);
		fd = openat(folder, temp->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST);
	if (fd < 0)
		return lnc_local_error(ctx, store, "create", key, errno);
	code = write_all(ctx, store, key, fd, body);
	if (close(fd) != 0 && code == LNC_OK)
		code = lnc_local_error(ctx, store, "write", key, errno);
	if (code != LNC_OK)
		unlinkat(folder, temp->text, 0);
	return code;
}

/*
 * Give the temporary file its name unless that is taken; *taken tells. The temporary name is gone afterwards. Returns 0
 * or an errno. A hard link is the oldest atomic way; file systems without them mostly know an exclusive rename.
 */
static int
claim_name(int folder, const char *temp, const char *name, bool *taken)
{
	int error = 0;

	*taken = false;
	if (linkat(folder, temp, folder, name, 0) != 0)
	{
		error = errno;
		if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK)
		{
			if (renameat2(folder, temp, folder, name, RENAME_NOREPLACE) == 0)
				return 0;
			error = errno;
		}
	}
	unlinkat(folder, temp, 0);
	if (error == EEXIST)
	{
		*taken = true;
		return 0;
	}
	return error;
}

/* Write body to key; only_if_absent decides what happens to a taken name. */
static LncCode
put_in_folder(LncContext *ctx, LncLocalStore *store, const char *key, int folder, const char *name, LncSlice body,
			  bool only_if_absent)
{
	TempName temp;
	bool taken = false;
	int error = 0;

	LNC_TRY(write_temp(ctx, store, key, folder, body, &temp));
	if (only_if_absent)
		error = claim_name(folder, temp.text, name, &taken);
	else if (renameat(folder, temp.text, folder, name) != 0)
	{
		error = errno;
		unlinkat(folder, temp.text, 0);
	}
	if (error == EINVAL || error == EOPNOTSUPP || error == ENOSYS)
	{
		lnc_fail(ctx, LNC_UNSUPPORTED, "file system of \"%s\" has no atomic creation of files",
				 lnc_object_name(&store->base, key).text);
		lnc_hint(ctx, "Keep datasets on a file system with hard links.");
		return LNC_UNSUPPORTED;
	}
	if (error == EISDIR)
		return lnc_fail(ctx, LNC_IO, "could not write \"%s\": a folder has that name",
						lnc_object_name(&store->base, key).text);
	if (error != 0)
		return lnc_local_error(ctx, store, "write", key, error);
	if (taken)
		return lnc_fail(ctx, LNC_EXISTS, "object \"%s\" exists already", lnc_object_name(&store->base, key).text);
	if (lnc_local_sync(ctx, folder) != 0)
		return lnc_local_error(ctx, store, "sync the folder of", key, errno);
	return LNC_OK;
}

static LncCode
local_write(LncContext *ctx, LncLocalStore *store, const char *key, LncSlice body, bool only_if_absent)
{
	const char *name;
	LncCode code;

	lnc_store_asked(ctx, &store->base, 1);
	/* A concurrent removal of the whole prefix may take the folder away in between. */
	for (int attempt = 0;; attempt++)
	{
		int folder = lnc_local_open_parent(ctx, store, key, true, &name);

		if (folder < 0)
			code = lnc_local_error(ctx, store, "create the folder of", key, errno);
		else
		{
			code = put_in_folder(ctx, store, key, folder, name, body, only_if_absent);
			close(folder);
		}
		if (code != LNC_NOT_FOUND || attempt == 3)
			break;
	}
	if (code == LNC_NOT_FOUND)
		code = lnc_fail(ctx, LNC_IO,
						"could not write \"%s\": its folder cannot be made, or is removed again and again",
						lnc_object_name(&store->base, key).text);
	return code;
}

LncCode
lnc_local_put(LncContext *ctx, LncStore *store, const char *key, LncSlice body)
{
	return local_write(ctx, (LncLocalStore *)store, key, body, false);
}

LncCode
lnc_local_put_if_absent(LncContext *ctx, LncStore *store, const char *key, LncSlice body)
{
	return local_write(ctx, (LncLocalStore *)store, key, body, true);
}

/* Remove the keys that lie in one folder, which if durable is synced once. *done: of how many that were. */
static LncCode
remove_in_folder(LncContext *ctx, LncLocalStore *store, size_t n, const char *const *keys, bool durable,
				 size_t *done)
{
	const char *name;
	int folder = lnc_local_open_parent(ctx, store, keys[0], false, &name);
	size_t length = (size_t)(name - keys[0]);
	int error = folder < 0 ? errno : 0;
	bool removed = false;
	LncCode code = LNC_OK;

	for (*done = 0; *done < n && strncmp(keys[*done], keys[0], length) == 0; ++*done)
	{
		name = keys[*done] + length;
		if (strchr(name, '/') != NULL)
			break;
		if (folder >= 0)
			error = unlinkat(folder, name, 0) == 0 ? 0 : errno;
		removed = removed || error == 0;
		code = lnc_check_interrupt(ctx);

		/* A folder is no object: there is nothing of that name. */
		if (code == LNC_OK && error != 0 && error != ENOENT && error != ENOTDIR && error != EISDIR)
			code = lnc_local_error(ctx, store, "remove", keys[*done], error);
		if (code != LNC_OK)
			break;
	}
	if (removed && durable && lnc_local_sync(ctx, folder) != 0 && code == LNC_OK)
		code = lnc_local_error(ctx, store, "remove", keys[0], errno);
	if (folder >= 0)
		close(folder);
	return code;
}

LncCode
lnc_local_remove(LncContext *ctx, LncStore *base, size_t n, const char *const *keys, bool durable)
{
	LncLocalStore *store = (LncLocalStore *)base;
	size_t done;

	lnc_store_asked(ctx, base, n);
	for (size_t i = 0; i < n; i += done)
		LNC_TRY(remove_in_folder(ctx, store, n - i, keys + i, durable, &done));
	return LNC_OK;
}

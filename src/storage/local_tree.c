/*
 * local_tree.c
 *	  The store of local files: walking folders to list or remove what is in them.
 */
#include "storage/local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"

/* Folders within folders; each level holds a descriptor while it is walked. */
#define DEEPEST_TREE 64

/* Longest key, in bytes. */
#define LONGEST_KEY 65536

typedef struct Walk
{
	LncContext *ctx;
	LncLocalStore *store;
	LncBuffer path; /* key of the entry at hand, not NUL-terminated between calls */
	int depth;

	/* listing */
	const LncListing *listing; /* NULL: of folders */
	LncListFn fn;
	LncFolderFn folder_fn;
	void *arg;
	bool stop;

	/* removing */
	uint64_t *removed;
} Walk;

/* The path of the walk as a C string. */
static LncCode
walk_key(Walk *walk, const char **key)
{
	LNC_TRY(lnc_buffer_append(walk->ctx, &walk->path, "", 1));
	walk->path.size--;
	*key = (const char *)walk->path.data;
	return LNC_OK;
}

static LncCode
walk_error(Walk *walk, const char *verb, int error)
{
	const char *key;

	LNC_TRY(walk_key(walk, &key));
	return lnc_local_error(walk->ctx, walk->store, verb, key, error);
}

/* Append a part to the path of the walk. */
static LncCode
walk_enter(Walk *walk, const char *name)
{
	if (walk->path.size > 0)
		LNC_TRY(lnc_buffer_append(walk->ctx, &walk->path, "/", 1));
	return lnc_buffer_append(walk->ctx, &walk->path, name, strlen(name));
}

static LncCode list_folder(Walk *walk, int fd);
static LncCode remove_folder(Walk *walk, int fd);

/* Whether what is wanted is a list of names, and the entry is known to be a file; *info then says no more. */
static bool
name_tells(const Walk *walk, const struct dirent *entry, struct stat *info)
{
	if (walk->listing == NULL || !walk->listing->names_only || entry->d_type != DT_REG)
		return false;
	memset(info, 0, sizeof(*info));
	info->st_mode = S_IFREG;
	return true;
}

/* Call visit for each entry of the folder fd, which is closed. */
static LncCode
each_entry(Walk *walk, int fd, LncCode (*visit)(Walk *walk, int fd, const char *name, const struct stat *info))
{
	DIR *folder = fdopendir(fd);
	size_t length = walk->path.size;
	LncCode code = LNC_OK;

	if (folder == NULL)
	{
		code = walk_error(walk, "list", errno);
		close(fd);
		return code;
	}
	walk->depth++;
	if (walk->depth > DEEPEST_TREE)
		code = lnc_fail(walk->ctx, LNC_LIMIT, "folders below \"%s\" are nested deeper than %d levels",
						walk->store->base.uri.canonical, DEEPEST_TREE);
	while (code == LNC_OK && !walk->stop)
	{
		struct dirent *entry;
		struct stat info;

		code = lnc_check_interrupt(walk->ctx);
		if (code != LNC_OK)
			break;
		errno = 0;
		entry = readdir(folder);
		if (entry == NULL)
		{
			if (errno != 0)
				code = walk_error(walk, "list", errno);
			break;
		}
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		code = walk_enter(walk, entry->d_name);
		if (code == LNC_OK)
		{
			if (name_tells(walk, entry, &info))
				code = visit(walk, dirfd(folder), entry->d_name, &info);
			else if (fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
				code = visit(walk, dirfd(folder), entry->d_name, &info);
			else if (errno != ENOENT)
				code = walk_error(walk, "list", errno);
		}
		walk->path.size = length;
	}
	walk->depth--;
	closedir(folder);
	return code;
}

static LncCode
visit_for_list(Walk *walk, int fd, const char *name, const struct stat *info)
{
	LncObject object = {0};

	if (S_ISDIR(info->st_mode))
	{
		int sub;

		if (!walk->listing->recursive)
			return LNC_OK;
		sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (sub < 0)
			return errno == ENOENT ? LNC_OK : walk_error(walk, "list", errno);
		return list_folder(walk, sub);
	}
	if (!S_ISREG(info->st_mode) || strncmp(name, LNC_LOCAL_TEMP_PREFIX, strlen(LNC_LOCAL_TEMP_PREFIX)) == 0)
		return LNC_OK;
	LNC_TRY(walk_key(walk, &object.key));
	if (walk->listing->start_after != NULL && strcmp(object.key, walk->listing->start_after) <= 0)
		return LNC_OK;
	object.size = (uint64_t)info->st_size;
	object.modified_ms = lnc_local_modified_ms(info);
	return walk->fn(walk->ctx, walk->arg, &object, &walk->stop);
}

static LncCode
list_folder(Walk *walk, int fd)
{
	return each_entry(walk, fd, visit_for_list);
}

static LncCode
visit_for_folders(Walk *walk, int fd, const char *name, const struct stat *info)
{
	const char *key;

	(void)fd;
	(void)name;
	if (!S_ISDIR(info->st_mode))
		return LNC_OK;
	LNC_TRY(walk_key(walk, &key));
	return walk->folder_fn(walk->ctx, walk->arg, key, &walk->stop);
}

static LncCode
visit_for_removal(Walk *walk, int fd, const char *name, const struct stat *info)
{
	if (S_ISDIR(info->st_mode))
	{
		int sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		if (sub < 0)
			return errno == ENOENT ? LNC_OK : walk_error(walk, "remove", errno);
		LNC_TRY(remove_folder(walk, sub));
		/* Not empty: somebody writes there at this moment, and that is not ours to remove. */
		if (unlinkat(fd, name, AT_REMOVEDIR) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
			return walk_error(walk, "remove", errno);
		return LNC_OK;
	}
	if (unlinkat(fd, name, 0) != 0)
		return errno == ENOENT ? LNC_OK : walk_error(walk, "remove", errno);
	++*walk->removed;
	return LNC_OK;
}

static LncCode
remove_folder(Walk *walk, int fd)
{
	return each_entry(walk, fd, visit_for_removal);
}

/* Prepare a walk that starts in folder. scratch holds the path. */
static LncCode
walk_start(Walk *walk, LncContext *ctx, LncLocalStore *store, const char *folder, LncArena **scratch)
{
	LncCode code;

	memset(walk, 0, sizeof(*walk));
	walk->ctx = ctx;
	walk->store = store;
	LNC_TRY(lnc_arena_create_scratch(ctx, scratch));
	lnc_buffer_init(&walk->path, *scratch, LONGEST_KEY);
	code = lnc_buffer_append(ctx, &walk->path, folder, strlen(folder));
	if (code != LNC_OK)
		lnc_arena_destroy(*scratch);
	lnc_store_asked(ctx, &store->base, 1);
	return code;
}

/* Walk a folder for a list; the walk's callback, arg and flags come from like. */
static LncCode
list_entries(LncContext *ctx, LncLocalStore *store, const char *folder, const Walk *like,
			 LncCode (*visit)(Walk *walk, int fd, const char *name, const struct stat *info))
{
	LncArena *scratch;
	Walk walk;
	LncCode code;
	int fd = lnc_local_open_folder(store, folder, false);

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? LNC_OK : lnc_local_error(ctx, store, "list", folder, errno);
	code = walk_start(&walk, ctx, store, folder, &scratch);
	if (code != LNC_OK)
	{
		close(fd);
		return code;
	}
	walk.listing = like->listing;
	walk.fn = like->fn;
	walk.folder_fn = like->folder_fn;
	walk.arg = like->arg;
	code = each_entry(&walk, fd, visit);
	lnc_arena_destroy(scratch);
	return code;
}

LncCode
lnc_local_list(LncContext *ctx, LncStore *base, const LncListing *listing, LncListFn fn, void *arg)
{
	Walk like = {.listing = listing, .fn = fn, .arg = arg};

	return list_entries(ctx, (LncLocalStore *)base, listing->folder, &like, visit_for_list);
}

LncCode
lnc_local_list_folders(LncContext *ctx, LncStore *base, const char *folder, LncFolderFn fn, void *arg)
{
	Walk like = {.folder_fn = fn, .arg = arg};

	return list_entries(ctx, (LncLocalStore *)base, folder, &like, visit_for_folders);
}

/* Remove the anchor when it is the root, or the link that stands for it. */
static LncCode
remove_anchor(LncContext *ctx, LncLocalStore *store, Walk *walk)
{
	struct stat info;
	int fd;

	if (lstat(store->root, &info) != 0)
		return errno == ENOENT || errno == ENOTDIR ? LNC_OK : lnc_local_error(ctx, store, "remove", "", errno);
	if (S_ISLNK(info.st_mode))
	{
		if (unlink(store->root) != 0 && errno != ENOENT)
			return lnc_local_error(ctx, store, "remove", "", errno);
		return LNC_OK;
	}
	fd = open(store->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? LNC_OK : lnc_local_error(ctx, store, "remove", "", errno);
	LNC_TRY(remove_folder(walk, fd));
	if (rmdir(store->root) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
		return lnc_local_error(ctx, store, "remove", "", errno);
	return LNC_OK;
}

/* Remove the folder or link called name in parent, which is closed; key tells of it. */
static LncCode
remove_in(LncContext *ctx, LncLocalStore *store, int parent, const char *name, const char *key, Walk *walk)
{
	struct stat info;
	LncCode code = LNC_OK;

	if (parent < 0)
		return errno == ENOENT || errno == ENOTDIR ? LNC_OK : lnc_local_error(ctx, store, "remove", key, errno);
	if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
	{
		/* A file of that name is an object beside the prefix, not below it. */
		if (S_ISDIR(info.st_mode) || S_ISLNK(info.st_mode))
			code = visit_for_removal(walk, parent, name, &info);
	}
	else if (errno != ENOENT)
		code = lnc_local_error(ctx, store, "remove", key, errno);
	close(parent);
	return code;
}

/* Remove the root's own folder, or the link that stands for it. */
static LncCode
remove_root(LncContext *ctx, LncLocalStore *store, Walk *walk)
{
	const char *name;
	int parent;

	if (store->below[0] == '\0')
		return remove_anchor(ctx, store, walk);
	parent = lnc_local_open_above(store, &name);
	return remove_in(ctx, store, parent, name, "", walk);
}

/* Remove a folder below the root. */
static LncCode
remove_below(LncContext *ctx, LncLocalStore *store, const char *prefix, Walk *walk)
{
	const char *name;
	int parent = lnc_local_open_parent(ctx, store, prefix, false, &name);

	return remove_in(ctx, store, parent, name, prefix, walk);
}

LncCode
lnc_local_remove_prefix(LncContext *ctx, LncStore *base, const char *prefix, uint64_t *removed)
{
	LncLocalStore *store = (LncLocalStore *)base;
	LncArena *scratch;
	Walk walk;
	LncCode code;

	LNC_TRY(walk_start(&walk, ctx, store, prefix, &scratch));
	walk.removed = removed;
	if (prefix[0] == '\0')
		code = remove_root(ctx, store, &walk);
	else
		code = remove_below(ctx, store, prefix, &walk);
	lnc_arena_destroy(scratch);
	return code;
}

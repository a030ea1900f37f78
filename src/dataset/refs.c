/*
 * refs.c
 *	  Names of tags and branches, their files in the store, and which branch stands on which.
 */
#include "dataset/refs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"

#define SUFFIX ".json"

/* What file systems take as the name of a file. */
#define LONGEST_FILE_NAME 255

const char *const lnc_dataset_folders[] = {"_versions", "data",     "_deletions", "_transactions", "_indices",
										   "_blobs",    "_mem_wal", "_fri",       "_refs",         NULL};

static const char *const folders[] = {[LNC_REF_TAG] = "_refs/tags", [LNC_REF_BRANCH] = "_refs/branches"};
static const char *const kind_names[] = {[LNC_REF_TAG] = "tag", [LNC_REF_BRANCH] = "branch"};

/* ---- rules of names */

static LncCode
refuse(LncContext *ctx, LncRefKind kind, const char *name, const char *rule)
{
	lnc_fail(ctx, LNC_INVALID, "invalid %s name \"%.200s\"", kind_names[kind], name);
	lnc_detail(ctx, "%s", rule);
	return LNC_INVALID;
}

static bool
is_plain(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' ||
		   c == '_';
}

static bool
ends_in(const char *name, const char *end)
{
	size_t length = strlen(name);

	return length >= strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

static LncCode
check_letters(LncContext *ctx, LncRefKind kind, const char *name)
{
	size_t length = strlen(name);

	if (length == 0)
		return refuse(ctx, kind, name, "It is empty.");
	if (!lnc_utf8_valid((const uint8_t *)name, length, NULL))
		return refuse(ctx, kind, name, "It is not valid UTF-8.");
	for (const char *p = name; *p != '\0'; p++)
	{
		if (!is_plain((unsigned char)*p) && (unsigned char)*p < 0x80 && !(kind == LNC_REF_BRANCH && *p == '/'))
			return refuse(ctx, kind, name,
						  kind == LNC_REF_TAG
							  ? "Letters, digits, \".\", \"-\" and \"_\" are allowed."
							  : "Letters, digits, \".\", \"-\" and \"_\" are allowed, and \"/\" between parts.");
	}
	if (strstr(name, "..") != NULL)
		return refuse(ctx, kind, name, "It has two dots in a row.");
	if (ends_in(name, ".lock"))
		return refuse(ctx, kind, name, "It ends in \".lock\".");
	return LNC_OK;
}

LncCode
lnc_ref_check_name(LncContext *ctx, LncRefKind kind, const char *name)
{
	LNC_TRY(check_letters(ctx, kind, name));
	if (kind == LNC_REF_TAG)
	{
		if (name[0] == '.' || ends_in(name, "."))
			return refuse(ctx, kind, name, "It begins or ends with a dot.");
		return LNC_OK;
	}
	if (strcmp(name, "main") == 0)
		return refuse(ctx, kind, name, "That is what the first line of versions is called.");
	for (const char *part = name;;)
	{
		size_t length = strcspn(part, "/");

		if (length == 0)
			return refuse(ctx, kind, name, "A part between slashes is empty.");
		if (length == 1 && part[0] == '.')
			return refuse(ctx, kind, name, "A part between slashes is a dot.");
		if (part[length] == '\0')
			return LNC_OK;
		part += length + 1;
	}
}

/* Folders of a dataset's own: a branch of that name below another would lie among the other's files. */
static bool
is_dataset_folder(const char *part, size_t length)
{
	for (const char *const *folder = lnc_dataset_folders; *folder != NULL; folder++)
	{
		if (strlen(*folder) == length && memcmp(*folder, part, length) == 0)
			return true;
	}
	return false;
}

static size_t
encoded_length(const char *name)
{
	size_t length = 0;

	for (; *name != '\0'; name++)
		length += is_plain((unsigned char)*name) ? 1 : 3;
	return length;
}

LncCode
lnc_ref_check_new_name(LncContext *ctx, LncRefKind kind, const char *name)
{
	LNC_TRY(lnc_ref_check_name(ctx, kind, name));
	for (const char *p = name; *p != '\0'; p++)
	{
		if ((unsigned char)*p >= 0x80)
			return refuse(ctx, kind, name, "Letters beyond ASCII are not taken for new names.");
	}
	if (encoded_length(name) + strlen(SUFFIX) > LONGEST_FILE_NAME)
		return refuse(ctx, kind, name, "It is too long.");
	if (kind == LNC_REF_TAG)
		return LNC_OK;
	if (strncmp(name, "main/", 5) == 0)
		return refuse(ctx, kind, name, "Clients that delete a branch below \"main\" delete the whole dataset.");
	for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
	{
		if (is_dataset_folder(slash + 1, strcspn(slash + 1, "/")))
			return refuse(ctx, kind, name, "A part behind a slash is the name of a folder that datasets have.");
	}
	return LNC_OK;
}

/* ---- files */

LncCode
lnc_ref_key(LncContext *ctx, LncArena *arena, LncRefKind kind, const char *name, char **out)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t folder = strlen(folders[kind]);
	void *memory;
	char *key;
	char *end;

	LNC_TRY(lnc_arena_alloc(ctx, arena, folder + 1 + encoded_length(name) + sizeof(SUFFIX), &memory));
	key = memory;
	memcpy(key, folders[kind], folder);
	key[folder] = '/';
	end = key + folder + 1;
	for (const char *p = name; *p != '\0'; p++)
	{
		unsigned char c = (unsigned char)*p;

		if (is_plain(c))
			*end++ = (char)c;
		else
		{
			*end++ = '%';
			*end++ = digits[c >> 4];
			*end++ = digits[c & 15];
		}
	}
	memcpy(end, SUFFIX, sizeof(SUFFIX));
	*out = key;
	return LNC_OK;
}

/* A listing of one kind's files. */
typedef struct Names
{
	LncArena *arena;
	LncRefKind kind;
	size_t count;
	size_t capacity;
	char **names; /* in arena */
} Names;

/* The name that a file's name stands for; NULL when it stands for none that a client would look for there. */
static LncCode
decode_name(LncContext *ctx, Names *names, const char *key, char **out)
{
	const char *file = key + strlen(folders[names->kind]) + 1;
	char *name;
	char *end;
	char *again;

	*out = NULL;
	if (!ends_in(file, SUFFIX))
		return LNC_OK;
	LNC_TRY(lnc_arena_strndup(ctx, names->arena, file, strlen(file) - strlen(SUFFIX), &name));
	end = name;
	for (const char *p = name; *p != '\0'; p++)
	{
		if (*p == '%' && lnc_hex_value(p[1]) >= 0 && lnc_hex_value(p[2]) >= 0)
		{
			*end++ = (char)(lnc_hex_value(p[1]) * 16 + lnc_hex_value(p[2]));
			p += 2;
		}
		else
			*end++ = *p;
	}
	*end = '\0';
	if (name[0] == '\0' || strlen(name) != (size_t)(end - name) ||
		!lnc_utf8_valid((const uint8_t *)name, strlen(name), NULL))
		return LNC_OK;
	LNC_TRY(lnc_ref_key(ctx, names->arena, names->kind, name, &again));
	if (strcmp(again, key) == 0 && lnc_ref_check_name(ctx, names->kind, name) == LNC_OK)
		*out = name;
	return LNC_OK;
}

static LncCode
keep_name(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	Names *names = arg;
	char *name;

	(void)stop;
	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(decode_name(ctx, names, object->key, &name));
	if (name == NULL)
		return LNC_OK;
	if (names->count == names->capacity)
	{
		size_t capacity = names->capacity == 0 ? 16 : names->capacity * 2;
		char **grown;

		LNC_TRY(LNC_NEW(ctx, names->arena, &grown, capacity));
		if (names->count > 0)
			memcpy(grown, names->names, names->count * sizeof(*grown));
		names->names = grown;
		names->capacity = capacity;
	}
	names->names[names->count++] = name;
	return LNC_OK;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

LncCode
lnc_ref_names(LncContext *ctx, LncArena *arena, LncStore *store, LncRefKind kind, size_t *count, char ***out)
{
	Names names = {.arena = arena, .kind = kind};

	LNC_TRY(lnc_store_list(ctx, store, folders[kind], false, NULL, keep_name, &names));
	if (names.count > 1)
		qsort(names.names, names.count, sizeof(*names.names), compare_names);
	*count = names.count;
	*out = names.names;
	return LNC_OK;
}

LncCode
lnc_tag_read(LncContext *ctx, LncArena *arena, LncStore *store, const char *name, LncTag *out)
{
	char *key;
	LncSlice text;
	LncCode code;

	LNC_TRY(lnc_ref_check_name(ctx, LNC_REF_TAG, name));
	LNC_TRY(lnc_ref_key(ctx, arena, LNC_REF_TAG, name, &key));
	code = lnc_store_read_all(ctx, store, arena, key, LNC_MAX_REF_BYTES, &text);
	if (code == LNC_NOT_FOUND)
		return lnc_fail(ctx, LNC_NOT_FOUND, "tag \"%s\" of the dataset at \"%s\" does not exist", name,
						lnc_store_uri(store));
	LNC_TRY(code);
	return lnc_tag_parse(ctx, arena, name, text, out);
}

/* ---- which stands on which */

uint64_t
lnc_branch_depends(const LncBranch *branch, const LncBranch *parent)
{
	if (branch->nsteps <= parent->nsteps)
		return 0;
	for (size_t i = 0; i < parent->nsteps; i++)
	{
		if (branch->steps[i].version != parent->steps[i].version ||
			strcmp(branch->steps[i].uuid, parent->steps[i].uuid) != 0)
			return 0;
	}
	return branch->steps[parent->nsteps].version;
}

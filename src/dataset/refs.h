/*
 * refs.h
 *	  Tags and branches of a dataset: names, files, contents.
 *
 * Each is a small JSON file below the dataset's root, also for what lies on a branch:
 *
 *	_refs/tags/<name>.json			a version, of main or of a branch
 *	_refs/branches/<name>.json		where a branch began; its own files lie below tree/<name>/
 *
 * In the name of the file every byte but ASCII letters, digits, ".", "-" and "_" is written as %XX. Sources: format.md
 * section 1, rest.md section 7, and the files that clients wrote.
 */
#ifndef LNC_DATASET_REFS_H
#define LNC_DATASET_REFS_H

#include "base/arena.h"
#include "base/json.h"
#include "column/type.h"
#include "storage/storage.h"

/* A ref's file is small: larger ones are LNC_LIMIT. */
#define LNC_MAX_REF_BYTES (UINT64_C(1) << 20)

/* The folders that a dataset, and each of its branches, keeps files in; ended by NULL. */
extern const char *const lnc_dataset_folders[];

typedef enum LncRefKind
{
	LNC_REF_TAG,
	LNC_REF_BRANCH
} LncRefKind;

/* What a tag's file says. Texts are valid UTF-8 without NUL. */
typedef struct LncTag
{
	const char *branch; /* NULL: main */
	uint64_t version;
	const char *created_at; /* as written, RFC 3339; NULL: not stated */
	const char *updated_at;
	uint64_t manifest_size;
	const LncJson *text; /* all of the file, for members that are not known here; NULL for a new tag */
} LncTag;

/* One step on the way from main to a branch: the parent's version, and the identity of what began there. */
typedef struct LncBranchStep
{
	uint64_t version;
	const char *uuid; /* 32 hexadecimal digits */
} LncBranchStep;

/* What a branch's file says. */
typedef struct LncBranch
{
	const char *parent; /* NULL: main */
	uint64_t parent_version;
	uint64_t create_at; /* seconds since the Unix epoch */
	uint64_t manifest_size;
	size_t nsteps;
	const LncBranchStep *steps; /* from main down; the last is the branch's own */
	const LncJson *text;        /* as for tags */
} LncBranch;

/*
 * Can this be the name of one? LNC_INVALID, with the rule in the detail, when no client would find it: parts other than of
 * letters, digits, ".", "-" and "_"; "." or ".." where they mean something, an end in ".lock", "main" as a branch.
 * Letters beyond ASCII are not looked into.
 */
extern LncCode lnc_ref_check_name(LncContext *ctx, LncRefKind kind, const char *name) LNC_MUST_CHECK;

/*
 * The same for a name that is to be made, more strictly: ASCII only (no client can list tags once one has another letter,
 * and what counts as a letter differs), not longer than the name of a file, no branch below another one's files ("a/data"),
 * and none below "main".
 */
extern LncCode lnc_ref_check_new_name(LncContext *ctx, LncRefKind kind, const char *name) LNC_MUST_CHECK;

/* The key of its file, relative to the dataset's root. */
extern LncCode lnc_ref_key(LncContext *ctx, LncArena *arena, LncRefKind kind, const char *name,
						   char **out) LNC_MUST_CHECK;

/* Names of all that have a file, in the order of their bytes. Files whose name stands for none are passed over. */
extern LncCode lnc_ref_names(LncContext *ctx, LncArena *arena, LncStore *store, LncRefKind kind, size_t *count,
							 char ***out) LNC_MUST_CHECK;

/* Read a file's text. LNC_CORRUPT, naming the file, when it does not say what it must. name is for messages. */
extern LncCode lnc_tag_parse(LncContext *ctx, LncArena *arena, const char *name, LncSlice text,
							 LncTag *out) LNC_MUST_CHECK;
extern LncCode lnc_branch_parse(LncContext *ctx, LncArena *arena, const char *name, LncSlice text,
								LncBranch *out) LNC_MUST_CHECK;

/* Read from the store. LNC_NOT_FOUND: there is none of that name. */
extern LncCode lnc_tag_read(LncContext *ctx, LncArena *arena, LncStore *store, const char *name,
							LncTag *out) LNC_MUST_CHECK;

/* The key-value metadata of a parsed tag or branch: an object of texts, or NULL. */
extern const LncJson *lnc_ref_metadata(const LncJson *text);

/* A file's text, byte for byte as clients write it; members of text that are not known here come last. */
extern LncCode lnc_tag_write(LncContext *ctx, LncArena *arena, const LncTag *tag, LncSlice *out) LNC_MUST_CHECK;
extern LncCode lnc_branch_write(LncContext *ctx, LncArena *arena, const LncBranch *branch,
								LncSlice *out) LNC_MUST_CHECK;

/* A time as tags state it, "2026-11-30T09:31:18.916476590Z"; nanoseconds since the Unix epoch, from 1970 on. */
extern LncCode lnc_ref_time_text(LncContext *ctx, LncArena *arena, int64_t unix_ns,
								 const char **out) LNC_MUST_CHECK;

/* The reverse, for any RFC 3339 time; false when it is none. In microseconds. */
extern bool lnc_ref_time_parse(const char *text, int64_t *unix_us);

/* The version of parent that a branch stands on, directly or by other branches; 0 when it doesn't. */
extern uint64_t lnc_branch_depends(const LncBranch *branch, const LncBranch *parent);

#endif

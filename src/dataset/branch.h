/*
 * branch.h
 *	  The first version of a branch: the manifest of the version that it begins at, with the files left where they are.
 *
 * Every data, deletion and index file that lies in the source gets the number of a base path, which is the source's root;
 * those that had a base path keep it. The manifest keeps the source's version number. Source of the facts: format.md
 * sections 1 and 14, and what clients write.
 */
#ifndef LNC_DATASET_BRANCH_H
#define LNC_DATASET_BRANCH_H

#include "base/arena.h"
#include "base/bytes.h"
#include "storage/storage.h"

typedef struct LncBranchStart
{
	const char *branch;          /* of the new manifest */
	const char *root;            /* the dataset's root as clients know it, without a slash at the end */
	const char *source_branch;   /* NULL: main */
	const char *source_key;      /* of the source's manifest */
	const LncSlice *source_file; /* its bytes, when it does not lie in the store yet; NULL: it does */
	uint64_t source_version;
	const char *uuid; /* of the transaction, in hyphen form */
	int64_t unix_ns;  /* now */
} LncBranchStart;

typedef struct LncFirstVersion
{
	LncSlice manifest;
	LncSlice transaction;        /* a file of its own, to be written before */
	const char *transaction_key; /* relative to the dataset's root */
} LncFirstVersion;

/* Make both, in arena. LNC_UNSUPPORTED, by name, for a source with features that a clone would have to know about. */
extern LncCode lnc_branch_first_version(LncContext *ctx, LncArena *arena, LncStore *store,
										const LncBranchStart *start, LncFirstVersion *out) LNC_MUST_CHECK;

#endif

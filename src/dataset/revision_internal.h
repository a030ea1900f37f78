/*
 * revision_internal.h
 *	  What the files of a revision share.
 */
#ifndef LNC_DATASET_REVISION_INTERNAL_H
#define LNC_DATASET_REVISION_INTERNAL_H

#include "dataset/revision.h"
#include "proto/table.pb-c.h"
#include "proto/transaction.pb-c.h"

/* The list of indices: as it stands in a file, and its message. */
typedef struct LncIndexSection
{
	bool present;
	LncSlice bytes;
	Lance__Table__IndexSection *message;
} LncIndexSection;

struct LncRevision
{
	LncArena *arena;                    /* borrowed; everything is in it */
	LncStore *store;                    /* borrowed */
	const char *prefix;                 /* of the branch's files: "", or "tree/<branch>/" */
	const Lance__Table__Manifest *base; /* the newest version; the schema is its */
	LncSchema schema;
	Lance__Table__Manifest *manifest; /* being changed: a copy of base's struct, or the restored one */
	LncIndexSection indices;
	Lance__Table__Transaction transaction; /* its operation is set by the change */
	const char *operation;
};

/* Where the manifest's list has the field; LNC_NOT_FOUND, which is a broken promise, when it has not. */
extern LncCode lnc_revision_field(LncContext *ctx, const LncRevision *revision, int32_t id,
								  Lance__File__Field **out) LNC_MUST_CHECK;

/* Refuse a change for which the upkeep of a write-ahead index would be needed. */
extern LncCode lnc_revision_check_indices(LncContext *ctx, const LncRevision *revision) LNC_MUST_CHECK;

/* A primary key that is a leaf, in no list or map, and never NULL, or none. LNC_INVALID else. */
extern LncCode lnc_revision_check_primary_key(LncContext *ctx, const LncRevision *revision) LNC_MUST_CHECK;

#endif

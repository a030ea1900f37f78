/*
 * revision.h
 *	  The next version of a dataset, made by changing the newest manifest alone: no data is written.
 *
 * Begin from the newest manifest, apply one change, finish: the result is the bytes of two files, the transaction's own
 * and the manifest. Whoever commits writes the former first and the latter under its final name, if nothing has it.
 *
 * Each change is the transaction that other Lance writers make for it, and gives the manifest that they would give:
 *
 *	restore						Restore
 *	schema and field metadata	UpdateConfig
 *	drop and alter columns		Project
 *
 * so that a writer who began before and commits after it rebases, or fails, as the format prescribes. The transaction
 * stands in the manifest's file too, unless it is larger than 20 MiB.
 *
 * Source of the facts: format.md sections 2, 3 and 14, proto messages lance.table.Manifest and lance.table.Transaction.
 */
#ifndef LNC_DATASET_REVISION_H
#define LNC_DATASET_REVISION_H

#include "base/arena.h"
#include "base/bytes.h"
#include "column/field_path.h"
#include "storage/storage.h"

typedef struct LncRevision LncRevision;

/* A key with its value; value NULL: the key goes. */
typedef struct LncMapChange
{
	const char *key;
	const char *value;
} LncMapChange;

typedef struct LncFieldMetadataChange
{
	const char *path;
	bool replace; /* the field keeps nothing of what it had */
	size_t nentries;
	const LncMapChange *entries;
} LncFieldMetadataChange;

/* What is to change of a column; what is not given stays. */
typedef struct LncColumnChange
{
	const char *path;
	const char *rename; /* the new last name of the path; NULL: as it is */
	bool set_nullable;
	bool nullable;
} LncColumnChange;

/* What stamps the new version. Borrowed until lnc_revision_finish returns. */
typedef struct LncRevisionStamp
{
	const char *transaction_id; /* a UUID in its usual spelling */
	const char *writer_library;
	const char *writer_version;
	int64_t now_us; /* Unix epoch */
} LncRevisionStamp;

/* The two files; all in the arena of the revision. */
typedef struct LncRevisionFiles
{
	uint64_t read_version;
	uint64_t version;
	const char *operation; /* "Restore", "UpdateConfig", "Project" */
	const char *transaction_key;
	LncSlice transaction;
	LncSlice manifest;
} LncRevisionFiles;

/*
 * Begin from the manifest at key, which is the newest of its branch. file: its bytes, where it is not in the store yet; else
 * NULL. LNC_UNSUPPORTED: a table that may be read but not written here (feature flags, data format 0.1), by name.
 */
extern LncCode lnc_revision_begin(LncContext *ctx, LncArena *arena, LncStore *store, const char *key,
								  const LncSlice *file, LncRevision **out) LNC_MUST_CHECK;

/*
 * The manifest at key, of an older version of the same branch, made the newest; file as above. Numbers that must never be given out
 * twice (fragments, rows, fields) stay where they are. LNC_INVALID: it can't be restored any more.
 */
extern LncCode lnc_revision_restore(LncContext *ctx, LncRevision *revision, const char *key,
									const LncSlice *file) LNC_MUST_CHECK;

/* Replace the metadata of the schema. */
extern LncCode lnc_revision_schema_metadata(LncContext *ctx, LncRevision *revision, size_t n,
											const LncMapChange *entries) LNC_MUST_CHECK;

/*
 * Change the metadata of fields, in order. LNC_NOT_FOUND: no such column. LNC_INVALID: a bad path, or a change of a
 * primary or clustering key that is set.
 */
extern LncCode lnc_revision_field_metadata(LncContext *ctx, LncRevision *revision, size_t n,
										   const LncFieldMetadataChange *changes) LNC_MUST_CHECK;

/*
 * Drop columns, and fields of structs; a struct that loses its last field goes with it, and so do indices on what goes.
 * LNC_NOT_FOUND: no such column. LNC_INVALID: a bad path, or nothing would be left. LNC_UNSUPPORTED: a part of a
 * column that is stored as one.
 */
extern LncCode lnc_revision_drop_columns(LncContext *ctx, LncRevision *revision, size_t n,
										 const char *const *paths) LNC_MUST_CHECK;

/*
 * Rename columns and change whether they may be NULL. Paths are those before the change. LNC_NOT_FOUND: no such column.
 * LNC_INVALID: a bad path or name, or a key column that would be nullable. That a column which is to forbid NULL holds
 * none is for the caller to know (scan/null_check.h).
 */
extern LncCode lnc_revision_alter_columns(LncContext *ctx, LncRevision *revision, size_t n,
										  const LncColumnChange *changes) LNC_MUST_CHECK;

/* The metadata that a field has now, in the revision's arena. */
extern LncCode lnc_revision_metadata_of(LncContext *ctx, const LncRevision *revision, int32_t field_id, size_t *n,
										const LncKeyValue **out) LNC_MUST_CHECK;

/* The schema that the revision began from. */
extern const LncSchema *lnc_revision_schema(const LncRevision *revision);

/* Number the version, stamp it, and make the files. Once. */
extern LncCode lnc_revision_finish(LncContext *ctx, LncRevision *revision, const LncRevisionStamp *stamp,
								   LncRevisionFiles *out) LNC_MUST_CHECK;

#endif

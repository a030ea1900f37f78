/*
 * dataset.h
 *	  One version of a dataset: its manifest opened, schema, fragments.
 *
 * Source of the facts: format.md sections 2 to 5, proto message lance.table.Manifest.
 */
#ifndef LNC_DATASET_DATASET_H
#define LNC_DATASET_DATASET_H

#include "base/arena.h"
#include "base/bytes.h"
#include "column/type.h"
#include "dataset/versions.h"
#include "storage/storage.h"

typedef struct LncDataFile
{
	const char *path; /* below "data/", or below the base path */
	int32_t nfields;
	const int32_t *field_ids; /* array of nfields; negative: superseded or hidden */
	const int32_t *columns;   /* array of nfields: the file column of each field; NULL for 0.1 files */
	uint32_t major, minor;
	uint64_t size; /* 0: unknown */
	bool has_base;
	uint32_t base_id;
} LncDataFile;

typedef enum LncDeletionKind
{
	LNC_DELETION_NONE = 0,
	LNC_DELETION_ARROW,
	LNC_DELETION_BITMAP
} LncDeletionKind;

typedef struct LncFragment
{
	uint64_t id;
	uint64_t physical_rows; /* before deletions; at most 2^32 */
	int32_t nfiles;
	const LncDataFile *files;
	LncDeletionKind deletion_kind;
	uint64_t deletion_read_version;
	uint64_t deletion_id;
	uint64_t deleted_rows; /* as the manifest states; 0 may mean unknown */
	bool deletion_has_base;
	uint32_t deletion_base_id;
	/* Sequences as stored, see row_ids.h; data is NULL where the manifest has none. */
	LncSlice row_ids;
	LncSlice created_versions;
	LncSlice updated_versions;
	/* The sequence is a hidden column of a data file instead, see lineage_column.h. */
	bool row_ids_in_column;
	bool created_versions_in_column;
	bool updated_versions_in_column;
} LncFragment;

typedef struct LncBasePath
{
	uint32_t id;
	const char *path; /* URI or absolute path */
	bool is_dataset_root;
} LncBasePath;

/* Read-only to callers. Lives in the arena given to lnc_dataset_open. */
typedef struct LncDataset
{
	LncStore *store; /* borrowed: the dataset's root */
	const char *manifest_key;
	const char *prefix; /* of the keys of data and deletion files: "", or "tree/<branch>/" */
	LncNaming naming;
	uint64_t version;
	int64_t timestamp_us; /* commit time, Unix epoch in microseconds; 0 when the manifest has none */
	uint64_t reader_flags;
	uint64_t writer_flags;
	bool stable_row_ids;
	const char *data_version; /* "2.1", of new files */
	LncSchema schema;
	int32_t nfragments;
	const LncFragment *fragments; /* in scan order */
	int32_t nbases;
	const LncBasePath *bases;
	int32_t nconfig;
	const LncKeyValue *config;
	int32_t ntable_metadata;
	const LncKeyValue *table_metadata;
	/* Opens the store of a base path, with the caller's rules on which URIs it may reach. NULL: refused. */
	LncCode (*open_base)(LncContext *ctx, void *arg, LncArena *arena, const char *uri, LncStore **out);
	void *open_base_arg;
} LncDataset;

/* Which version to open. Zero-initialise, then set what is needed. */
typedef struct LncDatasetOptions
{
	const char *branch;         /* NULL: main */
	uint64_t version;           /* 0: the newest */
	const char *manifest_key;   /* when the catalog knows it: opened without any listing (version must be set) */
	uint64_t manifest_size;     /* its size and ETag as the store said them just now: it may then be one that is */
	const char *manifest_e_tag; /* remembered. 0 and NULL: not known */
	LncCode (*open_base)(LncContext *ctx, void *arg, LncArena *arena, const char *uri, LncStore **out);
	void *open_base_arg;
} LncDatasetOptions;

/*
 * Open a version of the dataset in store. LNC_NOT_FOUND: no dataset there, or no such version. LNC_UNSUPPORTED: a reader
 * feature flag that is not understood, by its number. LNC_CORRUPT: a damaged manifest, by file.
 */
extern LncCode lnc_dataset_open(LncContext *ctx, LncArena *arena, LncStore *store, const LncDatasetOptions *options,
								LncDataset **out) LNC_MUST_CHECK;

/*
 * The store and key of a file of the dataset, given as its path below folder ("data" or "_deletions") and the base it
 * names, if any. *out may be a store of the caller's open_base, opened in arena. LNC_CORRUPT: the manifest does not
 * list the base. LNC_DENIED: bases may not be opened.
 */
extern LncCode lnc_dataset_locate(LncContext *ctx, LncArena *arena, const LncDataset *dataset, bool has_base,
								  uint32_t base_id, const char *folder, const char *path, LncStore **store,
								  char **key) LNC_MUST_CHECK;

/* The base path of that id; LNC_CORRUPT when the manifest lists none. */
extern LncCode lnc_dataset_base(LncContext *ctx, const LncDataset *dataset, uint32_t id,
								const LncBasePath **out) LNC_MUST_CHECK;

/*
 * The store of a base path: the dataset's own where it is the dataset's root, else one of the caller's open_base, opened in
 * arena. LNC_DENIED: bases may not be opened.
 */
extern LncCode lnc_dataset_open_base(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
									 const LncBasePath *base, LncStore **store) LNC_MUST_CHECK;

/* Index of the top-level field of that exact name, -1 when there is none. */
extern int32_t lnc_dataset_field(const LncDataset *dataset, const char *name);

/*
 * Live rows: physical rows minus deletions. Exact: where the manifest does not state a deletion count, the
 * deletion file is read.
 */
extern LncCode lnc_dataset_count_rows(LncContext *ctx, const LncDataset *dataset, uint64_t *rows) LNC_MUST_CHECK;

#endif

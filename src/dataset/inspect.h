/*
 * inspect.h
 *	  Facts about a dataset for people who look before they trust: versions, fragments, columns, pages.
 *
 * Each function calls fn once an item, in order; what it is given is valid during the call. An error of fn ends the
 * walk and is returned.
 */
#ifndef LNC_DATASET_INSPECT_H
#define LNC_DATASET_INSPECT_H

#include "dataset/dataset.h"

/* One version that the history holds. */
typedef struct LncVersionFacts
{
	uint64_t version;
	int64_t timestamp_us;  /* commit time, Unix epoch; 0: the manifest has none */
	const char *operation; /* "append", "delete", …; NULL when no transaction tells */
	const char *manifest_key;
	uint64_t manifest_size;
	uint64_t fragments;
	uint64_t physical_rows;
	const char *
		problem; /* why the manifest can't be read: message and detail; NULL: it can. Else only its file is known */
} LncVersionFacts;

typedef LncCode (*LncVersionFn)(LncContext *ctx, void *arg, const LncVersionFacts *facts);

/*
 * All versions of a branch (NULL: main), ascending. LNC_NOT_FOUND when there is none. A manifest that is damaged, gone or out
 * of reach is a problem of its version; a store that does not answer is an error.
 */
extern LncCode lnc_inspect_versions(LncContext *ctx, LncStore *store, const char *branch, LncVersionFn fn,
									void *arg) LNC_MUST_CHECK;

typedef struct LncFragmentFacts
{
	const LncFragment *fragment;
	uint64_t deleted_rows;
	bool size_known; /* of all its files */
	uint64_t bytes;
} LncFragmentFacts;

typedef LncCode (*LncFragmentFn)(LncContext *ctx, void *arg, const LncFragmentFacts *facts);

/* All fragments in scan order. The deletion file is read where the manifest does not state its number of rows. */
extern LncCode lnc_inspect_fragments(LncContext *ctx, const LncDataset *dataset, LncFragmentFn fn,
									 void *arg) LNC_MUST_CHECK;

/* A field at any depth; path is its names from the top level on. */
typedef struct LncFieldFacts
{
	const LncField *field;
	int32_t npath;
	const char *const *path;
	const char *type; /* as in lnc_type_name */
} LncFieldFacts;

typedef LncCode (*LncFieldFn)(LncContext *ctx, void *arg, const LncFieldFacts *facts);

/* All fields, parents before their children. */
extern LncCode lnc_inspect_fields(LncContext *ctx, const LncDataset *dataset, LncFieldFn fn,
								  void *arg) LNC_MUST_CHECK;

typedef struct LncPageFacts
{
	uint64_t fragment;
	const char *file;
	uint32_t file_minor; /* its version is 2.minor */
	int32_t field_id;    /* -1: none that the file's entry in the manifest names */
	uint32_t column;
	uint32_t page;
	uint64_t first_row; /* of the fragment, or of the items where the column holds those */
	uint64_t rows;
	uint32_t buffers;
	uint64_t bytes;
	const char *layout; /* page_text.h */
	const char *encoding;
} LncPageFacts;

typedef LncCode (*LncPageFn)(LncContext *ctx, void *arg, const LncPageFacts *facts);

/*
 * All pages of the data files of one fragment by its id, or of all when fragment is negative. No data is read, only
 * the files' metadata. LNC_NOT_FOUND: no such fragment. LNC_UNSUPPORTED: a file of a version that is not read.
 */
extern LncCode lnc_inspect_pages(LncContext *ctx, const LncDataset *dataset, int64_t fragment, LncPageFn fn,
								 void *arg) LNC_MUST_CHECK;

#endif

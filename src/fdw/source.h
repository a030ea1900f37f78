/*
 * source.h
 *	  The dataset behind a foreign table, opened at the version that a statement reads.
 */
#ifndef LANCE_FDW_SOURCE_H
#define LANCE_FDW_SOURCE_H

#include "dataset/dataset.h"
#include "fdw/options.h"
#include "nodes/execnodes.h"
#include "pg/env.h"

/* An opened dataset. Read-only to callers, who hold no reference: see lance_source_open for its life. */
typedef struct LanceSource
{
	LanceLibrary *lib;
	LncDataset *dataset;
	const char *location; /* URI */
	LncStoreStats opened; /* what opening it cost */
} LanceSource;

/*
 * The dataset at the version that is to be read. For a query (estate given), all scans of one snapshot get the same
 * version, which is looked up by the first of them; the source lives as long as estate. Without estate (planning,
 * ANALYZE, DDL) the newest version of now is taken, and the source lives to the end of the transaction or
 * until some more have been opened; use it at once.
 *
 * Throws LN004 (no such table), LN011 or 58P01 (no such version or dataset), 42501, and what reading it may throw.
 */
extern LanceSource *lance_source_open(const LanceTableOptions *options, Oid userid, EState *estate);

/* Which dataset and version a source is, as bytes without secrets, for other processes of the same query. */
extern Size lance_source_pin_size(const LanceSource *source);
extern void lance_source_pin_write(const LanceSource *source, char *out);

/*
 * In a parallel worker: the source that the leader wrote the pin of, for the rest of the query. The place is opened with the
 * rights of userid; that the table may be read, the leader has made sure. Throws LN011 when that version is gone.
 */
extern LanceSource *lance_source_open_pin(const char *pin, const LanceTableOptions *options, Oid userid,
										  EState *estate);

/* Live rows by the manifest alone; *exact is false when some deletions are not counted there. */
extern double lance_source_rows(const LanceSource *source, bool *exact);

#endif

/*
 * version.h
 *	  The one place where a table moves to a new version, and where readers learn which version to read.
 *
 * design.md section 3. What lies under a final name in the table's _versions folder is committed, whoever wrote it;
 * rows of lance.table_versions follow it (adoption) and decide who may write the next name.
 */
#ifndef LANCE_CATALOG_VERSION_H
#define LANCE_CATALOG_VERSION_H

#include "catalog/table.h"
#include "utils/timestamp.h"

/* A version that can be read. */
typedef struct LanceVersionPin
{
	int64 version;
	char *manifest_key;  /* relative to the table's location: "_versions/…" or "tree/<branch>/_versions/…" */
	int64 manifest_size; /* 0: unknown */
	char *branch;        /* that it is of; NULL: main */
	char *e_tag;         /* of the manifest's file, when it was looked at; NULL: not known */
	int64 timestamp_us;  /* when the version appeared (file time or commit time), Unix epoch; 0: unknown */
} LanceVersionPin;

/*
 * The version a statement reads: the one asked for (version > 0), the newest not younger than as_of (non-zero), or the
 * newest. Looks into the store, so that versions written past the catalog are seen; records nothing. Under REPEATABLE
 * READ and above, the newest of a table stays what the transaction first saw. Throws VersionNotFound (LN011) when
 * there is none, naming table and version.
 */
extern LanceVersionPin *lance_catalog_pin_version(const LanceTableRow *table, const char *branch, int64 version,
												  TimestampTz as_of);

/*
 * The version that a tag points to; under REPEATABLE READ and above the one that it pointed to when the transaction first
 * looked. Throws LANCE_TAG_NOT_FOUND, LANCE_VERSION_NOT_FOUND.
 */
extern LanceVersionPin *lance_catalog_pin_tag(const LanceTableRow *table, const char *tag);

#endif

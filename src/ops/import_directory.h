/*
 * import_directory.h
 *	  Bringing a directory of Lance tables into the catalog: its namespaces are made, its tables registered where they lie.
 *
 * Not an operation of the namespace API: an SQL function alone uses it.
 */
#ifndef LANCE_OPS_IMPORT_DIRECTORY_H
#define LANCE_OPS_IMPORT_DIRECTORY_H

#include "ops/types.h"

typedef struct LanceImportRequest
{
	char *server;         /* storage profile; the caller needs USAGE on it */
	char *path;           /* the directory, as a location below the profile's root; "" or NULL: the root */
	LanceId namespace_id; /* what the directory's root becomes; it must exist */
	bool dry_run;         /* say what would be done, and change nothing */
} LanceImportRequest;

/* What became of one object of the directory. */
typedef struct LanceImportRow
{
	LanceId id;         /* in the catalog */
	const char *kind;   /* namespace, table, or another that the directory states */
	char *location;     /* of tables; NULL where it has none that can be used */
	const char *action; /* create (a namespace), register (a table), exists, skip, conflict */
	const char *detail; /* why, for skip and conflict: a sentence; else NULL */
} LanceImportRow;

typedef struct LanceImportResponse
{
	int count;
	LanceImportRow *rows; /* namespaces before what is in them, then tables */
} LanceImportResponse;

extern void lance_import_directory(const LanceImportRequest *request, LanceImportResponse *response);

#endif

/*
 * options.h
 *	  Options of foreign tables and their columns, and the validator for all objects of lance_fdw.
 */
#ifndef LANCE_FDW_OPTIONS_H
#define LANCE_FDW_OPTIONS_H

#include "access/attnum.h"
#include "datatype/timestamp.h"
#include "ops/types.h"

/* The options of one foreign table. Strings live in the context that was current at lance_table_options_get. */
typedef struct LanceTableOptions
{
	Oid relid;
	Oid server_oid;
	char *table;     /* catalog id; exactly one of table and uri is set */
	char *delimiter; /* between the names of table */
	char *uri;
	int64 version; /* 0: not given */
	bool has_as_of;
	TimestampTz as_of;
	char *branch; /* NULL: main */
	char *tag;    /* NULL: not given; then there is no version, as_of or branch */
} LanceTableOptions;

extern LanceTableOptions *lance_table_options_get(Oid relid);

/* The name of the dataset's column behind a column of the foreign table: option column_name, else its own name. */
extern char *lance_column_name(Oid relid, AttrNumber attnum, const char *attname);

/*
 * An id or namespace in one text. The root is "" or the delimiter alone. Throws 22023 when a name is empty. Parts live
 * in the current memory context.
 */
extern void lance_id_from_text(const char *text, const char *delimiter, LanceId *out);

#endif

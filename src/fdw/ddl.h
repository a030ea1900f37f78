/*
 * ddl.h
 *	  Definitions of foreign tables made from a dataset's schema.
 */
#ifndef LANCE_FDW_DDL_H
#define LANCE_FDW_DDL_H

#include "dataset/dataset.h"
#include "fdw/composite.h"
#include "lib/stringinfo.h"

/* What a field of the dataset becomes. */
typedef struct LanceColumnDef
{
	char *column_name; /* the dataset's name, in the database's encoding */
	char *attname;     /* the column's: the same where PostgreSQL allows it */
	LancePgType type;
	bool not_null;
} LanceColumnDef;

/*
 * Definitions for all fields that can be read, *count of them. A field that can't is left out with a NOTICE naming
 * table, column and type. composites: see composite.h. Column names that are too long, taken or PostgreSQL's own are changed.
 */
extern LanceColumnDef *lance_ddl_columns(const LncDataset *dataset, const char *table_name,
										 const LanceComposites *composites, int *count);

/* Append 'name type OPTIONS (column_name …) NOT NULL', as CREATE and ADD COLUMN want it. */
extern void lance_ddl_append_column(StringInfo sql, const LanceColumnDef *column);

/* Append ", name 'value'" to an options list, without comma for the first; a NULL value appends nothing. */
extern void lance_ddl_append_option(StringInfo sql, bool *first, const char *name, const char *value);

/*
 * The set of LncSystemColumn that the option system_columns asks for: a boolean (true: all) or names with commas between.
 * Throws naming the option for anything else.
 */
extern uint32 lance_system_columns_option(const char *value);

/*
 * CREATE FOREIGN TABLE relation (…) SERVER server OPTIONS (options). relation is an identifier ready for SQL, options
 * the text that lance_ddl_append_option made. table_name is for messages and in the names of composites. The columns of the set
 * system come last; where the dataset has a column of that name, it is left out with a NOTICE.
 */
extern char *lance_ddl_create_table(const LncDataset *dataset, const char *relation, const char *table_name,
									const LanceComposites *composites, uint32 system, const char *server,
									const char *options);

/* Run a utility command; SPI is connected. */
extern void lance_ddl_run(const char *command);

#endif

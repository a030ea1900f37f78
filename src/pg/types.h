/*
 * types.h
 *	  Which PostgreSQL type a Lance type reads as. docs/types.md shows the same table to users.
 */
#ifndef LANCE_PG_TYPES_H
#define LANCE_PG_TYPES_H

#include "column/type.h"

/* A column type of PostgreSQL. */
typedef struct LancePgType
{
	Oid type;
	int32 typmod; /* -1: none */
} LancePgType;

/* The type that a field reads as; false when its type is not offered yet. */
extern bool lance_type_to_pg(const LncField *field, LancePgType *out);

/* The type's name for DDL, schema-qualified where the name is looked up ("pg_catalog.text", "numeric(20,0)"). */
extern char *lance_type_ddl_name(const LancePgType *type);

/* A field's Lance type for messages ("timestamp[us, tz=UTC]"), palloc'd. */
extern char *lance_type_display(const LncField *field);

/*
 * True when a column declared as type and typmod can hold what the field gives: the type of lance_type_to_pg, or
 * numeric without a modifier for one with, or varchar without a length for text.
 */
extern bool lance_type_accepts(const LncField *field, Oid type, int32 typmod);

#endif

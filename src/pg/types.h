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
 * True when a column declared as type and typmod can hold what the field gives: the type of lance_type_to_pg, with its
 * modifier or without; varchar without a length for text; jsonb for anything; an array of several dimensions for lists
 * in each other; a composite whose attributes each have a field of their name that they accept; for a map, an array of
 * a composite of its key and value; vector and halfvec of pgvector, of the right dimension or any, for fixed-size lists
 * of floats.
 */
extern bool lance_type_accepts(const LncField *field, Oid type, int32 typmod);

/* The field whose type a reader's column has: of a dictionary, that of its values. */
extern const LncField *lance_field_values(const LncField *field);

/* A list of any kind, fixed-size ones included; a map is none. */
extern bool lance_type_is_list(const LncType *type);

/*
 * Dimensions of an array of element that a list (or a map) reads as, and what its elements hold. Lists in each other
 * make dimensions, but in an array of jsonb they are elements.
 */
extern int lance_list_levels(const LncField *field, Oid element, const LncField **item);

/* The child of a struct that a composite's attribute shows, -1 when there is none. */
extern int lance_struct_field(const LncType *type, const char *attname);

/* True for the types vector and halfvec of the extension pgvector. */
extern bool lance_type_is_vector(Oid type);

#endif

/*
 * composite.h
 *	  Composite types for the structs of a dataset, made when a foreign table is.
 */
#ifndef LANCE_FDW_COMPOSITE_H
#define LANCE_FDW_COMPOSITE_H

#include "nodes/pg_list.h"
#include "pg/types.h"

/* How structs are declared. NULL in its place: as jsonb. */
typedef struct LanceComposites
{
	const char *schema; /* where the types are made */
	List *reserved;     /* of char *: names that tables to come will take */
} LanceComposites;

/* 'jsonb' (false) or 'composite' (true), the values of the option structs. Throws naming the option for another. */
extern bool lance_structs_option(const char *value);

/*
 * The type that a field of relation is declared as: a composite for a struct, an array of one for a list of structs,
 * else what lance_type_to_pg says. Types are called relation_field, relation_field_subfield, and so on; one of that
 * name that has just these attributes is taken as it is, and a number is put behind a name that is taken otherwise. A
 * struct with field names that attributes can't have is declared as jsonb, with a NOTICE. False when the field's type
 * is not offered.
 */
extern bool lance_composite_declare(const LanceComposites *composites, const char *relation, const LncField *field,
									LancePgType *out);

#endif

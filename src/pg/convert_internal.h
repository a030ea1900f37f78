/*
 * convert_internal.h
 *	  What the files of the conversions share.
 */
#ifndef LANCE_PG_CONVERT_INTERNAL_H
#define LANCE_PG_CONVERT_INTERNAL_H

#include "pg/convert.h"

typedef Datum (*LanceConvertFn)(const LanceConverter *converter, const LncColumn *column, int64 row);

/* ---- convert.c */

/*
 * The conversion of a field to a type that lance_type_accepts allows, palloc'd. name is the column's, for messages.
 */
extern LanceConverter *lance_converter_make(const char *name, const LncField *field, Oid type, int32 typmod);

/* ---- convert_scalar.c */

/* The conversion of a type without parts to the type it maps to, or to uuid; NULL for types with parts. */
extern LanceConvertFn lance_scalar_function(const LncType *type, Oid pg_type);

/* ---- convert_blob.c */

/* A blob as a bytea whose bytes are read when they are looked at, until the next batch is fetched. */
extern Datum lance_convert_blob(const LanceConverter *converter, const LncColumn *column, int64 row);

/* ---- the types with parts; each fills convert, parts and state of a converter that has the rest already */

/* convert_array.c: any list as an array, a map as an array of composites of key and value. */
extern void lance_converter_init_array(LanceConverter *converter, const LncField *field);

/* convert_array.c: a fixed-size list as a vector or halfvec of pgvector. */
extern void lance_converter_init_vector(LanceConverter *converter, const LncField *field);

/* convert_composite.c: a struct as a composite. */
extern void lance_converter_init_composite(LanceConverter *converter, const LncField *field);

/* convert_json.c: anything as jsonb. */
extern void lance_converter_init_jsonb(LanceConverter *converter, const LncField *field);

/* ---- loads */

/* A fixed-width value; buffers may be borrowed from a page, at any alignment. */
#define DEFINE_LOAD(ctype)                                                                 \
	static inline ctype load_##ctype(const LncColumn *column, int64 row)                   \
	{                                                                                      \
		ctype value;                                                                       \
                                                                                           \
		memcpy(&value, (const char *)column->values + row * sizeof(ctype), sizeof(ctype)); \
		return value;                                                                      \
	}

DEFINE_LOAD(int8)
DEFINE_LOAD(uint8)
DEFINE_LOAD(int16)
DEFINE_LOAD(uint16)
DEFINE_LOAD(int32)
DEFINE_LOAD(uint32)
DEFINE_LOAD(int64)
DEFINE_LOAD(uint64)
DEFINE_LOAD(float4)
DEFINE_LOAD(float8)

/* The items of a row of a list column. */
static inline void
lance_list_items(const LncColumn *column, int64 row, int64 *first, int64 *count)
{
	if (column->type->kind == LNC_TYPE_FIXED_LIST)
	{
		*count = column->type->list_size;
		*first = row * *count;
	}
	else
	{
		*first = column->offsets[row];
		*count = column->offsets[row + 1] - *first;
	}
}

#endif

/*
 * type.h
 *	  Logical types, fields and schemas, as the dataset's manifest states them.
 *
 * Source of the facts: format.md section 3 (logical_type strings), proto message lance.file.Field.
 */
#ifndef LNC_COLUMN_TYPE_H
#define LNC_COLUMN_TYPE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

typedef enum LncTypeKind
{
	LNC_TYPE_UNKNOWN = 0, /* the logical type string is not understood; "logical" holds it */
	LNC_TYPE_NULL,
	LNC_TYPE_BOOL,
	LNC_TYPE_INT8,
	LNC_TYPE_INT16,
	LNC_TYPE_INT32,
	LNC_TYPE_INT64,
	LNC_TYPE_UINT8,
	LNC_TYPE_UINT16,
	LNC_TYPE_UINT32,
	LNC_TYPE_UINT64,
	LNC_TYPE_FLOAT16,
	LNC_TYPE_BFLOAT16, /* two bytes, the upper half of a float32 */
	LNC_TYPE_FLOAT32,
	LNC_TYPE_FLOAT64,
	LNC_TYPE_UTF8,
	LNC_TYPE_LARGE_UTF8,
	LNC_TYPE_BINARY,
	LNC_TYPE_LARGE_BINARY,
	LNC_TYPE_FIXED_BINARY, /* list_size bytes */
	LNC_TYPE_DATE32,       /* days since 1970-01-01, int32 */
	LNC_TYPE_DATE64,       /* milliseconds since 1970-01-01, int64 */
	LNC_TYPE_TIME32,       /* unit s or ms */
	LNC_TYPE_TIME64,       /* unit us or ns */
	LNC_TYPE_TIMESTAMP,    /* int64 in unit; an instant in UTC when timezone is set */
	LNC_TYPE_DURATION,     /* int64 in unit */
	LNC_TYPE_DECIMAL128,
	LNC_TYPE_DECIMAL256,
	LNC_TYPE_FIXED_LIST, /* list_size items of children[0] */
	LNC_TYPE_LIST,
	LNC_TYPE_LARGE_LIST,
	LNC_TYPE_STRUCT,
	LNC_TYPE_MAP,
	LNC_TYPE_DICTIONARY, /* children[0]: the value type; indices are resolved by the reader */
	LNC_TYPE_JSON,       /* JSONB bytes, format.md section 9 */
	LNC_TYPE_BLOB,       /* old blob */
	LNC_TYPE_BLOB_V2
} LncTypeKind;

typedef enum LncTimeUnit
{
	LNC_UNIT_SECOND = 0,
	LNC_UNIT_MILLI,
	LNC_UNIT_MICRO,
	LNC_UNIT_NANO
} LncTimeUnit;

/* One type. Everything pointed to lives in the arena of the schema. */
typedef struct LncType
{
	LncTypeKind kind;
	LncTimeUnit unit;
	int32_t list_size; /* FIXED_LIST: items; FIXED_BINARY: bytes */
	int32_t precision; /* DECIMAL* */
	int32_t scale;
	const char *timezone; /* TIMESTAMP: NULL when it has none */
	const char *logical;  /* the manifest's logical_type string */
	int32_t nchildren;
	struct LncField *children; /* array of nchildren */
} LncType;

typedef struct LncKeyValue
{
	const char *key;
	LncSlice value; /* bytes, usually UTF-8 */
} LncKeyValue;

typedef struct LncField
{
	int32_t id;
	int32_t parent_id; /* -1: top level */
	const char *name;
	bool nullable;
	bool packed;           /* stored as one packed-struct column */
	bool blob;             /* stored as blob v1 */
	const char *extension; /* ARROW:extension:name, or NULL */
	LncType type;
	int32_t nmetadata;
	LncKeyValue *metadata; /* array of nmetadata */
} LncField;

typedef struct LncSchema
{
	int32_t nfields; /* top-level fields, in order */
	LncField *fields;
	int32_t nmetadata;
	LncKeyValue *metadata;
} LncSchema;

/*
 * Parse a logical_type string into *type (children stay empty: the schema builder links them; for
 * "fixed_size_list:inner:n" children[0] is made here, an unnamed field). A string that is not understood gives
 * kind UNKNOWN and LNC_OK: only reading the column fails. LNC_CORRUPT for a malformed parameter (negative size, …).
 */
extern LncCode lnc_type_parse(LncContext *ctx, LncArena *arena, const char *logical, LncType *type) LNC_MUST_CHECK;

/* Bytes of one value of a fixed-width type (FIXED_LIST: of the whole row), 0 for bool, variable and nested ones. */
extern uint64_t lnc_type_width(const LncType *type);

/* True for UTF8, BINARY, their large forms and JSON: values are runs of bytes with offsets. */
extern bool lnc_type_is_variable(const LncType *type);

/* True for types that occupy one column with one fixed-width value a row, FIXED_LIST of those and BOOL included. */
extern bool lnc_type_is_fixed(const LncType *type);

/* An Arrow-style name ("timestamp[us, tz=UTC]", "fixed_size_list<float>[8]") for messages and listings. */
extern LncCode lnc_type_name(LncContext *ctx, LncArena *arena, const LncType *type, char **out) LNC_MUST_CHECK;

#endif

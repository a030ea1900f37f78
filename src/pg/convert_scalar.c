/*
 * convert_scalar.c
 *	  Values of types without parts as Datums: one function a type.
 *
 * Times finer than a microsecond are cut to the microsecond before (towards minus infinity), as PostgreSQL has no
 * finer ones. What lies outside a type's range is an error, never a wrapped value.
 */
#include "postgres.h"

#include <math.h>

#include "base/decimal.h"
#include "catalog/pg_type_d.h"
#include "column/distance.h"
#include "column/jsonb_text.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "pg/convert_internal.h"
#include "pg/env.h"
#include "pg/report.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#define UNIX_TO_PG_DAYS (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define MSECS_PER_DAY INT64CONST(86400000)

static inline int64
floor_div(int64 value, int64 divisor)
{
	int64 quotient = value / divisor;

	return value % divisor < 0 ? quotient - 1 : quotient;
}

static void
out_of_range(const LanceConverter *converter, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("%s out of range", what),
					errdetail("Column \"%s\" holds a value that PostgreSQL can't represent.", converter->name)));
}

/* ---- numbers */

#define DEFINE_NUMBER(name, ctype, make)                                                             \
	static Datum convert_##name(const LanceConverter *converter, const LncColumn *column, int64 row) \
	{                                                                                                \
		return make(load_##ctype(column, row));                                                      \
	}

DEFINE_NUMBER(int8, int8, Int16GetDatum)
DEFINE_NUMBER(uint8, uint8, Int16GetDatum)
DEFINE_NUMBER(int16, int16, Int16GetDatum)
DEFINE_NUMBER(uint16, uint16, Int32GetDatum)
DEFINE_NUMBER(int32, int32, Int32GetDatum)
DEFINE_NUMBER(uint32, uint32, Int64GetDatum)
DEFINE_NUMBER(int64, int64, Int64GetDatum)
DEFINE_NUMBER(float32, float4, Float4GetDatum)
DEFINE_NUMBER(float64, float8, Float8GetDatum)

static Datum
convert_bool(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	return BoolGetDatum(lnc_bit(column->values, (uint64)row));
}

static Datum
convert_float16(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	return Float4GetDatum(lnc_float16_value(load_uint16(column, row)));
}

static Datum
convert_bfloat16(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	return Float4GetDatum(lnc_bfloat16_value(load_uint16(column, row)));
}

static Datum
numeric_from_text(const char *text)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

static Datum
convert_uint64(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	uint64 value = load_uint64(column, row);
	char text[MAXINT8LEN + 1];

	if (value <= PG_INT64_MAX)
		return NumericGetDatum(int64_to_numeric((int64)value));
	text[pg_ulltoa_n(value, text)] = '\0';
	return numeric_from_text(text);
}

static Datum
convert_decimal(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	int width = converter->type->kind == LNC_TYPE_DECIMAL128 ? 16 : 32;
	const uint8 *bytes = (const uint8 *)column->values + row * width;
	int scale = converter->type->scale;
	int64 low = (int64)lnc_le64(bytes);
	bool small = true;
	char digits[LNC_INTEGER_TEXT_SIZE];

	for (int i = 8; i < width; i++)
		small = small && bytes[i] == (low < 0 ? 0xff : 0);
	if (small && scale >= 0)
		return NumericGetDatum(int64_div_fast_to_numeric(low, scale));
	lnc_integer_text(bytes, width / 4, digits);
	return numeric_from_text(psprintf("%se%d", digits, -scale));
}

/* ---- text and bytes */

static int
value_length(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	int64 length = column->offsets[row + 1] - column->offsets[row];

	if (length > (int64)(MaxAllocSize - VARHDRSZ))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("value of column \"%s\" is too long", converter->name),
						errdetail("It has %lld bytes, the limit is %lld.", (long long)length,
								  (long long)(MaxAllocSize - VARHDRSZ))));
	return (int)length;
}

static Datum
convert_binary(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	int length = value_length(converter, column, row);

	return PointerGetDatum(cstring_to_text_with_len((const char *)column->data + column->offsets[row], length));
}

/* The reader has checked that the text is UTF-8 without NUL. */
static Datum
convert_text(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	int length = value_length(converter, column, row);
	const char *value = (const char *)column->data + column->offsets[row];
	const char *converted = value;

	if (GetDatabaseEncoding() != PG_UTF8)
		converted = pg_any_to_server(value, length, PG_UTF8);
	if (converted != value)
		length = (int)strlen(converted);
	return PointerGetDatum(cstring_to_text_with_len(converted, length));
}

static Datum
convert_fixed_binary(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	int width = converter->type->list_size;

	return PointerGetDatum(cstring_to_text_with_len((const char *)column->values + row * width, width));
}

static Datum
convert_uuid(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	pg_uuid_t *uuid = palloc(sizeof(*uuid));

	memcpy(uuid->data, (const uint8 *)column->values + row * UUID_LEN, UUID_LEN);
	return UUIDPGetDatum(uuid);
}

static Datum
convert_null(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED), errmsg("column \"%s\" of type null holds a value", converter->name)));
}

/* ---- dates and times */

static Datum
date_datum(const LanceConverter *converter, int64 unix_days)
{
	int64 days = unix_days - UNIX_TO_PG_DAYS;

	if (!IS_VALID_DATE(days))
		out_of_range(converter, "date");
	return DateADTGetDatum((DateADT)days);
}

static Datum
convert_date32(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	return date_datum(converter, load_int32(column, row));
}

static Datum
convert_date64(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	return date_datum(converter, floor_div(load_int64(column, row), MSECS_PER_DAY));
}

/* False when the result does not fit. */
static bool
to_microseconds(int64 value, LncTimeUnit unit, int64 *out)
{
	switch (unit)
	{
		case LNC_UNIT_SECOND:
			return !pg_mul_s64_overflow(value, INT64CONST(1000000), out);
		case LNC_UNIT_MILLI:
			return !pg_mul_s64_overflow(value, INT64CONST(1000), out);
		case LNC_UNIT_MICRO:
			*out = value;
			return true;
		case LNC_UNIT_NANO:
			*out = floor_div(value, 1000);
			return true;
	}
	return false;
}

/*
 * The epoch is moved before seconds and milliseconds are made microseconds: both ends of PostgreSQL's range then fit
 * into 64 bits. Nanoseconds are made microseconds first, because their own range ends near that of 64 bits.
 */
static Datum
convert_timestamp(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	static const int64 units_per_second[] = {1, 1000, 1000000};
	LncTimeUnit unit = converter->type->unit;
	int64 value = load_int64(column, row);

	if (unit == LNC_UNIT_NANO)
	{
		value = floor_div(value, 1000);
		unit = LNC_UNIT_MICRO;
	}
	if (pg_sub_s64_overflow(value, (int64)UNIX_TO_PG_DAYS * SECS_PER_DAY * units_per_second[unit], &value) ||
		!to_microseconds(value, unit, &value) || !IS_VALID_TIMESTAMP(value))
		out_of_range(converter, "timestamp");
	return TimestampGetDatum(value);
}

static Datum
time_datum(const LanceConverter *converter, int64 value)
{
	int64 microseconds;

	if (!to_microseconds(value, converter->type->unit, &microseconds) || microseconds < 0 ||
		microseconds > USECS_PER_DAY)
		out_of_range(converter, "time");
	return TimeADTGetDatum(microseconds);
}

static Datum
convert_time32(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	return time_datum(converter, load_int32(column, row));
}

static Datum
convert_time64(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	return time_datum(converter, load_int64(column, row));
}

static Datum
convert_duration(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	Interval *interval = palloc0(sizeof(*interval));

	if (!to_microseconds(load_int64(column, row), converter->type->unit, &interval->time))
		out_of_range(converter, "interval");
	return IntervalPGetDatum(interval);
}

/* ---- JSON */

/* state: the library's memory, for the text of one value. */
static Datum
convert_json(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	LanceLibrary *lib = converter->state;
	LncSlice stored = {
		.data = column->data + column->offsets[row],
		.size = (size_t)value_length(converter, column, row),
	};
	LncSlice text;

	lnc_arena_reset(lib->arena);
	lance_check(&lib->ctx, lnc_jsonb_text(&lib->ctx, lib->arena, stored, &text));
	return DirectFunctionCall1(jsonb_in,
							   CStringGetDatum(pg_any_to_server((const char *)text.data, (int)text.size, PG_UTF8)));
}

/* ---- choosing */

LanceConvertFn
lance_scalar_function(const LncType *type, Oid pg_type)
{
	switch (type->kind)
	{
		case LNC_TYPE_NULL:
			return convert_null;
		case LNC_TYPE_BOOL:
			return convert_bool;
		case LNC_TYPE_INT8:
			return convert_int8;
		case LNC_TYPE_INT16:
			return convert_int16;
		case LNC_TYPE_INT32:
			return convert_int32;
		case LNC_TYPE_INT64:
			return convert_int64;
		case LNC_TYPE_UINT8:
			return convert_uint8;
		case LNC_TYPE_UINT16:
			return convert_uint16;
		case LNC_TYPE_UINT32:
			return convert_uint32;
		case LNC_TYPE_UINT64:
			return convert_uint64;
		case LNC_TYPE_FLOAT16:
			return convert_float16;
		case LNC_TYPE_BFLOAT16:
			return convert_bfloat16;
		case LNC_TYPE_FLOAT32:
			return convert_float32;
		case LNC_TYPE_FLOAT64:
			return convert_float64;
		case LNC_TYPE_UTF8:
		case LNC_TYPE_LARGE_UTF8:
			return convert_text;
		case LNC_TYPE_BINARY:
		case LNC_TYPE_LARGE_BINARY:
			return convert_binary;
		case LNC_TYPE_FIXED_BINARY:
			return pg_type == UUIDOID ? convert_uuid : convert_fixed_binary;
		case LNC_TYPE_DATE32:
			return convert_date32;
		case LNC_TYPE_DATE64:
			return convert_date64;
		case LNC_TYPE_TIME32:
			return convert_time32;
		case LNC_TYPE_TIME64:
			return convert_time64;
		case LNC_TYPE_TIMESTAMP:
			return convert_timestamp;
		case LNC_TYPE_DURATION:
			return convert_duration;
		case LNC_TYPE_DECIMAL128:
		case LNC_TYPE_DECIMAL256:
			return convert_decimal;
		case LNC_TYPE_JSON:
			return convert_json;
		case LNC_TYPE_BLOB:
		case LNC_TYPE_BLOB_V2:
			return lance_convert_blob;
		default:
			return NULL;
	}
}

/*
 * system_column.c
 *	  Row ids, row addresses and row versions as bigint.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "pg/system_column.h"
#include "utils/builtins.h"

static Datum
convert_system(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	uint64 value = ((const uint64 *)column->values)[row];

	if (value > (uint64)PG_INT64_MAX)
		ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range"),
						errdetail("Column \"%s\" holds %llu.", converter->name, (unsigned long long)value)));
	return Int64GetDatum((int64)value);
}

static const LncType system_type = {.kind = LNC_TYPE_UINT64, .logical = "uint64"};

void
lance_converter_init_system(LanceConverter *converter, const char *name, Oid type)
{
	if (type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is declared as %s, but must be %s", name, format_type_be(type), "bigint")));
	memset(converter, 0, sizeof(*converter));
	converter->type = &system_type;
	converter->convert = convert_system;
	converter->name = name;
}

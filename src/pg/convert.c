/*
 * convert.c
 *	  The conversion of a column's values, chosen once a scan by the dataset's type and the declared one.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "pg/convert_internal.h"
#include "pg/env.h"
#include "pg/types.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

LanceConverter *
lance_converter_make(const char *name, const LncField *field, Oid type, int32 typmod)
{
	LanceConverter *converter = palloc0(sizeof(*converter));

	check_stack_depth();
	field = lance_field_values(field);
	converter->name = name;
	converter->type = &field->type;
	converter->pg_type = type;
	converter->typmod = typmod;
	if (type == JSONBOID && field->type.kind != LNC_TYPE_JSON)
		lance_converter_init_jsonb(converter, field);
	else if (lance_type_is_vector(type))
		lance_converter_init_vector(converter, field);
	else if (lance_type_is_list(&field->type) || field->type.kind == LNC_TYPE_MAP)
		lance_converter_init_array(converter, field);
	else if (field->type.kind == LNC_TYPE_STRUCT)
		lance_converter_init_composite(converter, field);
	else
	{
		converter->convert = lance_scalar_function(&field->type, type);
		if (field->type.kind == LNC_TYPE_JSON)
			converter->state = lance_library_create(CurrentMemoryContext);
	}
	return converter;
}

void
lance_converter_init(LanceConverter *converter, const char *name, const LncField *field, Oid type, int32 typmod)
{
	LancePgType mapped;

	if (!lance_type_to_pg(field, &mapped))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" has type %s, which is not supported", name, lance_type_display(field))));
	if (!lance_type_accepts(field, type, typmod))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("column \"%s\" is declared as %s, but the dataset has %s", name,
							   format_type_with_typemod(type, typmod), lance_type_display(field)),
						errdetail("A column of that type reads as %s.",
								  format_type_with_typemod(mapped.type, mapped.typmod)),
						errhint("Call lance_refresh_table() to follow the dataset, or declare the column anew.")));
	*converter = *lance_converter_make(name, field, type, typmod);
}

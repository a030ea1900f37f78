/*
 * convert_composite.c
 *	  Structs as composites: attributes take the fields of their names.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pg/convert_internal.h"
#include "pg/types.h"
#include "utils/typcache.h"

typedef struct CompositeState
{
	TupleDesc tupdesc;
	int *fields; /* per attribute: the child of the struct; -1 for a dropped one */
} CompositeState;

static Datum
convert_composite(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	const CompositeState *state = converter->state;
	Datum *values = palloc0(converter->nparts * sizeof(Datum));
	bool *nulls = palloc(converter->nparts * sizeof(bool));
	Datum result;

	check_stack_depth();
	for (int i = 0; i < converter->nparts; i++)
	{
		const LncColumn *child = state->fields[i] < 0 ? NULL : &column->children[state->fields[i]];

		nulls[i] = child == NULL || lnc_column_is_null(child, row);
		if (!nulls[i])
			values[i] = lance_convert(&converter->parts[i], child, row);
	}
	result = HeapTupleGetDatum(heap_form_tuple(state->tupdesc, values, nulls));
	pfree(values);
	pfree(nulls);
	return result;
}

void
lance_converter_init_composite(LanceConverter *converter, const LncField *field)
{
	CompositeState *state = palloc0(sizeof(*state));
	TupleDesc tupdesc = lookup_rowtype_tupdesc_copy(converter->pg_type, converter->typmod);

	state->tupdesc = BlessTupleDesc(tupdesc);
	state->fields = palloc(tupdesc->natts * sizeof(int));
	converter->state = state;
	converter->nparts = tupdesc->natts;
	converter->parts = palloc0(tupdesc->natts * sizeof(LanceConverter));
	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(tupdesc, i);

		state->fields[i] = attr->attisdropped ? -1 : lance_struct_field(&field->type, NameStr(attr->attname));
		if (state->fields[i] >= 0)
			converter->parts[i] = *lance_converter_make(converter->name, &field->type.children[state->fields[i]],
														attr->atttypid, attr->atttypmod);
	}
	converter->convert = convert_composite;
}

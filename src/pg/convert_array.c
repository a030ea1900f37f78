/*
 * convert_array.c
 *	  Lists as arrays, and fixed-size lists of floats as the vectors of pgvector.
 *
 * An array of several dimensions is made of lists in each other, which must be of one length and not NULL.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "column/distance.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "parser/parse_coerce.h"
#include "pg/convert_internal.h"
#include "pg/types.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* ---- items that lie in memory as elements do */

/*
 * Copy item i of the list's items to out, as an array element. Items are fixed-width and pass by value, so that
 * elements stand side by side without padding.
 */
#define DEFINE_ITEMS(name, ctype, etype, expr)                                         \
	static void copy_##name(const LncColumn *items, int64 first, int count, char *out) \
	{                                                                                  \
		etype *elements = (etype *)out;                                                \
                                                                                       \
		for (int i = 0; i < count; i++)                                                \
			elements[i] = expr(load_##ctype(items, first + i));                        \
	}

DEFINE_ITEMS(int8, int8, int16, (int16))
DEFINE_ITEMS(uint8, uint8, int16, (int16))
DEFINE_ITEMS(uint16, uint16, int32, (int32))
DEFINE_ITEMS(uint32, uint32, int64, (int64))
DEFINE_ITEMS(float16, uint16, float4, lnc_float16_value)
DEFINE_ITEMS(bfloat16, uint16, float4, lnc_bfloat16_value)

static void
copy_bool(const LncColumn *items, int64 first, int count, char *out)
{
	for (int i = 0; i < count; i++)
		out[i] = lnc_bit(items->values, (uint64)(first + i));
}

#define DEFINE_SAME_ITEMS(width)                                                            \
	static void copy_same##width(const LncColumn *items, int64 first, int count, char *out) \
	{                                                                                       \
		memcpy(out, (const char *)items->values + first * (width), (Size)count * (width));  \
	}

DEFINE_SAME_ITEMS(2)
DEFINE_SAME_ITEMS(4)
DEFINE_SAME_ITEMS(8)

typedef struct ItemRow
{
	LncTypeKind kind;
	Oid element;
	int size; /* of an element, bytes */
	void (*copy)(const LncColumn *items, int64 first, int count, char *out);
} ItemRow;

static const ItemRow item_rows[] = {
	{LNC_TYPE_BOOL, BOOLOID, 1, copy_bool},         {LNC_TYPE_INT8, INT2OID, 2, copy_int8},
	{LNC_TYPE_UINT8, INT2OID, 2, copy_uint8},       {LNC_TYPE_INT16, INT2OID, 2, copy_same2},
	{LNC_TYPE_UINT16, INT4OID, 4, copy_uint16},     {LNC_TYPE_INT32, INT4OID, 4, copy_same4},
	{LNC_TYPE_UINT32, INT8OID, 8, copy_uint32},     {LNC_TYPE_INT64, INT8OID, 8, copy_same8},
	{LNC_TYPE_FLOAT16, FLOAT4OID, 4, copy_float16}, {LNC_TYPE_BFLOAT16, FLOAT4OID, 4, copy_bfloat16},
	{LNC_TYPE_FLOAT32, FLOAT4OID, 4, copy_same4},   {LNC_TYPE_FLOAT64, FLOAT8OID, 8, copy_same8},
};

static const ItemRow *
find_item_row(LncTypeKind kind, Oid element)
{
	for (size_t i = 0; i < lengthof(item_rows); i++)
	{
		if (item_rows[i].kind == kind && item_rows[i].element == element)
			return &item_rows[i];
	}
	return NULL;
}

/* ---- arrays */

typedef struct ArrayState
{
	Oid element;
	int16 typlen;
	bool typbyval;
	char typalign;
	int ndims;           /* levels of lists */
	const ItemRow *same; /* NULL: items are converted one by one, by parts[0] */
	ArrayType *head;     /* fixed-size lists of such: what all arrays begin with, unless an item is NULL */
} ArrayState;

static bool
any_item_null(const LncColumn *items, int64 first, int count)
{
	if (items->validity == NULL)
		return false;
	for (int i = 0; i < count; i++)
	{
		if (lnc_column_is_null(items, first + i))
			return true;
	}
	return false;
}

static void
too_long(const LanceConverter *converter, int64 count)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("list of column \"%s\" is too long", converter->name),
			 errdetail("It has %lld items.", (long long)count)));
}

/* Elements of fixed width, copied as a whole where none is NULL. */
static Datum
copied_array(const LanceConverter *converter, const LncColumn *items, int64 first, int count, const int *dims)
{
	const ArrayState *state = converter->state;
	const ItemRow *same = state->same;
	bool nulls = any_item_null(items, first, count);
	Size overhead = nulls ? ARR_OVERHEAD_WITHNULLS(state->ndims, count) : ARR_OVERHEAD_NONULLS(state->ndims);
	Size size = overhead + (Size)count * same->size;
	ArrayType *array;

	if (!AllocSizeIsValid(size))
		too_long(converter, count);
	array = palloc(size);
	memset(array, 0, overhead);
	array->ndim = state->ndims;
	array->elemtype = state->element;
	for (int i = 0; i < state->ndims; i++)
	{
		ARR_DIMS(array)[i] = dims[i];
		ARR_LBOUND(array)[i] = 1;
	}
	if (!nulls)
		same->copy(items, first, count, ARR_DATA_PTR(array));
	else
	{
		char *out = (char *)array + overhead;

		array->dataoffset = (int32)overhead;
		for (int i = 0; i < count; i++)
		{
			if (lnc_column_is_null(items, first + i))
				continue;
			ARR_NULLBITMAP(array)[i / 8] |= (bits8)(1 << (i % 8));
			same->copy(items, first + i, 1, out);
			out += same->size;
		}
		size = (Size)(out - (char *)array);
	}
	SET_VARSIZE(array, size);
	return PointerGetDatum(array);
}

static Datum
built_array(const LanceConverter *converter, const LncColumn *items, int64 first, int count, int *dims)
{
	const ArrayState *state = converter->state;
	Datum *values = palloc_extended(count * sizeof(Datum), MCXT_ALLOC_HUGE);
	bool *nulls = palloc_extended(count * sizeof(bool), MCXT_ALLOC_HUGE);
	int lower[MAXDIM];
	ArrayType *array;

	for (int i = 0; i < count; i++)
	{
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		nulls[i] = lnc_column_is_null(items, first + i);
		values[i] = nulls[i] ? (Datum)0 : lance_convert(&converter->parts[0], items, first + i);
	}
	for (int i = 0; i < state->ndims; i++)
		lower[i] = 1;
	array = construct_md_array(values, nulls, state->ndims, dims, lower, state->element, state->typlen,
							   state->typbyval, state->typalign);
	pfree(values);
	pfree(nulls);
	return PointerGetDatum(array);
}

/* The one length of the lists in rows [first, first + count), whose items then lie in one run. */
static int64
common_length(const LanceConverter *converter, const LncColumn *lists, int64 first, int64 count)
{
	int64 length = 0;

	for (int64 row = first; row < first + count; row++)
	{
		int64 start;
		int64 this_length;
		bool null = lnc_column_is_null(lists, row);

		lance_list_items(lists, row, &start, &this_length);
		if (row == first)
			length = this_length;
		if (null || this_length == 0 || this_length != length)
			ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
							errmsg("lists of column \"%s\" do not make an array", converter->name),
							null ? errdetail("An inner list is NULL.")
								 : errdetail("Inner lists have %lld and %lld items.", (long long)length,
											 (long long)this_length),
							errhint("Declare the column as jsonb.")));
	}
	return length;
}

static Datum
convert_array(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	const ArrayState *state = converter->state;
	const LncColumn *items = &column->children[0];
	int dims[MAXDIM];
	int64 first;
	int64 count;

	check_stack_depth();
	lance_list_items(column, row, &first, &count);
	if (count == 0)
		return PointerGetDatum(construct_empty_array(state->element));
	if (count > (int64)MaxArraySize)
		too_long(converter, count);
	dims[0] = (int)count;
	for (int level = 1; level < state->ndims; level++)
	{
		int64 length = common_length(converter, items, first, count);
		int64 ignored;

		lance_list_items(items, first, &first, &ignored);
		if (length > (int64)MaxArraySize / count)
			too_long(converter, length);
		dims[level] = (int)length;
		count *= length;
		items = &items->children[0];
	}
	return state->same != NULL ? copied_array(converter, items, first, (int)count, dims)
							   : built_array(converter, items, first, (int)count, dims);
}

/* A fixed-size list of which no item is NULL: the head is made already. */
static Datum
convert_fixed_array(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	const ArrayState *state = converter->state;
	const LncColumn *items = &column->children[0];
	int count = ARR_DIMS(state->head)[0];
	ArrayType *array;

	if (items->validity != NULL)
		return convert_array(converter, column, row);
	array = palloc(VARSIZE(state->head));
	memcpy(array, state->head, ARR_OVERHEAD_NONULLS(1));
	state->same->copy(items, row * count, count, ARR_DATA_PTR(array));
	return PointerGetDatum(array);
}

/* The head of the arrays of a fixed-size list; NULL if they are to be made one by one. */
static ArrayType *
make_head(const ArrayState *state, const LncField *field)
{
	int64 count = field->type.kind == LNC_TYPE_FIXED_LIST ? field->type.list_size : 0;
	Size overhead = ARR_OVERHEAD_NONULLS(1);
	ArrayType *head;

	if (state->same == NULL || state->ndims != 1 || count <= 0 || count > (int64)MaxArraySize ||
		!AllocSizeIsValid(overhead + (Size)count * state->same->size))
		return NULL;
	head = palloc0(overhead);
	SET_VARSIZE(head, overhead + (Size)count * state->same->size);
	head->ndim = 1;
	head->elemtype = state->element;
	ARR_DIMS(head)[0] = (int)count;
	ARR_LBOUND(head)[0] = 1;
	return head;
}

void
lance_converter_init_array(LanceConverter *converter, const LncField *field)
{
	ArrayState *state = palloc0(sizeof(*state));
	const LncField *item;

	state->element = get_element_type(converter->pg_type);
	state->ndims = lance_list_levels(field, state->element, &item);
	state->same = find_item_row(item->type.kind, state->element);
	get_typlenbyvalalign(state->element, &state->typlen, &state->typbyval, &state->typalign);
	converter->state = state;
	converter->nparts = 1;
	converter->parts = lance_converter_make(converter->name, item, state->element, converter->typmod);
	state->head = make_head(state, field);
	converter->convert = state->head != NULL ? convert_fixed_array : convert_array;
}

/* ---- vectors */

/* Through pgvector's own cast from an array, which checks dimension, NULL items, NaN and range. */
static Datum
convert_vector(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	return FunctionCall3(converter->state, lance_convert(&converter->parts[0], column, row),
						 Int32GetDatum(converter->typmod), BoolGetDatum(false));
}

void
lance_converter_init_vector(LanceConverter *converter, const LncField *field)
{
	FmgrInfo *cast = palloc0(sizeof(*cast));
	LancePgType array;
	Oid function = InvalidOid;

	if (!lance_type_to_pg(field, &array) ||
		find_coercion_pathway(converter->pg_type, array.type, COERCION_ASSIGNMENT, &function) !=
			COERCION_PATH_FUNC ||
		get_func_nargs(function) != 3)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" can't be read as %s", converter->name, format_type_be(converter->pg_type)),
				 errdetail("The extension \"vector\" has no cast to it from %s.", format_type_be(array.type))));
	fmgr_info(function, cast);
	converter->state = cast;
	converter->nparts = 1;
	converter->parts = lance_converter_make(converter->name, field, array.type, array.typmod);
	converter->convert = convert_vector;
}

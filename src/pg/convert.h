/*
 * convert.h
 *	  Values of a column batch as Datums.
 */
#ifndef LANCE_PG_CONVERT_H
#define LANCE_PG_CONVERT_H

#include "column/column.h"

/* How values become Datums; chosen once a scan, see lance_converter_init. */
typedef struct LanceConverter
{
	Datum (*convert)(const struct LanceConverter *converter, const LncColumn *column, int64 row);
	const LncType *type; /* borrowed from the schema; of a dictionary: its values' */
	const char *name;    /* of the column, for messages; borrowed */
	Oid pg_type;
	int32 typmod;
	int nparts;
	struct LanceConverter *parts; /* of items, or of attributes in their order */
	void *state;                  /* what else convert needs */
} LanceConverter;

/*
 * Choose the conversion of a field to a column declared as type and typmod. Throws 0A000 when the field's type is not
 * offered, 42804 when the column is declared otherwise than lance_type_accepts allows; both name column and types.
 */
extern void lance_converter_init(LanceConverter *converter, const char *name, const LncField *field, Oid type,
								 int32 typmod);

/*
 * The value of a row that is not NULL. By-reference Datums are palloc'd in the current memory context. Throws 22008,
 * 22003, 22021, 22P05, 2202E or 54000 when PostgreSQL can't hold the value; the message names the column.
 */
static inline Datum
lance_convert(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	return converter->convert(converter, column, row);
}

/*
 * The same for ANALYZE, which must not read blobs: in place of one, as many zeros as it has bytes, up to somewhat more
 * than the length from which on values do not count.
 */
extern Datum lance_convert_for_statistics(const LanceConverter *converter, const LncColumn *column, int64 row);

#endif

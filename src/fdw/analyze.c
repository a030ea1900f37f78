/*
 * analyze.c
 *	  ANALYZE: a bounded sample from randomly chosen fragments.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "commands/vacuum.h"
#include "common/pg_prng.h"
#include "fdw/scan.h"
#include "miscadmin.h"
#include "pg/report.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/sampling.h"

/* Rows read for one row of the sample: the sample is drawn from runs, and runs should not be taken whole. */
#define ROWS_PER_SAMPLE_ROW 5

/* Opening a fragment costs several requests, so fewer rows are never read from one. */
#define MIN_FRAGMENT_ROWS 256

/*
 * Memory that the sample's rows may take. Wide rows (vectors) make the sample smaller; the server's statistics of
 * array elements take about a microsecond for each element.
 */
#define MAX_SAMPLE_BYTES ((Size)16 * 1024 * 1024)
#define MIN_SAMPLE_ROWS 100

/* No row is added beyond this, be there ever so few. */
#define HARD_SAMPLE_BYTES (4 * MAX_SAMPLE_BYTES)

/* Bytes of sample rows so far and the reservoir of Vitter's algorithm R. */
typedef struct Sample
{
	Relation relation;
	LanceColumnSet columns;
	HeapTuple *rows;
	int wanted; /* size of the reservoir; falls when rows are wide */
	int count;
	double seen;
	Size bytes;
	MemoryContext row_context; /* values of one row */
	Datum *values;
	bool *nulls;
} Sample;

static HeapTuple
form_row(Sample *sample, const LncBatch *batch, int64 row)
{
	TupleDesc tupdesc = RelationGetDescr(sample->relation);
	MemoryContext old = MemoryContextSwitchTo(sample->row_context);
	HeapTuple tuple;

	memset(sample->nulls, true, tupdesc->natts * sizeof(bool));
	for (int i = 0; i < sample->columns.count; i++)
	{
		const LanceScanColumn *column = &sample->columns.columns[i];
		const LncColumn *values = &batch->columns[column->part];

		if (lnc_column_is_null(values, row))
			continue;
		sample->nulls[column->attr] = false;
		sample->values[column->attr] = lance_convert_for_statistics(&column->converter, values, row);
	}
	MemoryContextSwitchTo(old);
	tuple = heap_form_tuple(tupdesc, sample->values, sample->nulls);
	MemoryContextReset(sample->row_context);
	return tuple;
}

static void
take_row(Sample *sample, const LncBatch *batch, int64 row)
{
	HeapTuple tuple;
	uint64 place;

	sample->seen += 1;
	if (sample->count < sample->wanted)
	{
		tuple = form_row(sample, batch, row);
		if (sample->count > 0 && sample->bytes + tuple->t_len > HARD_SAMPLE_BYTES)
		{
			heap_freetuple(tuple);
			sample->wanted = sample->count;
			return;
		}
		sample->bytes += tuple->t_len;
		sample->rows[sample->count++] = tuple;
		if (sample->bytes > MAX_SAMPLE_BYTES && sample->count >= MIN_SAMPLE_ROWS)
			sample->wanted = sample->count;
		return;
	}
	place = pg_prng_uint64_range(&pg_global_prng_state, 0, (uint64)sample->seen - 1);
	if (place < (uint64)sample->count)
	{
		tuple = form_row(sample, batch, row);
		if (sample->bytes - sample->rows[place]->t_len + tuple->t_len > HARD_SAMPLE_BYTES)
		{
			heap_freetuple(tuple);
			return;
		}
		sample->bytes += tuple->t_len;
		sample->bytes -= sample->rows[place]->t_len;
		heap_freetuple(sample->rows[place]);
		sample->rows[place] = tuple;
	}
}

/* Up to limit rows from the start of one fragment. */
static void
sample_fragment(Sample *sample, const LncDataset *dataset, const LncFragment *fragment, double limit)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LncDataset part = *dataset;
	LncScanSpec spec = {
		.ncolumns = sample->columns.nfields,
		.columns = sample->columns.fields,
		.system_columns = sample->columns.system,
		.batch_rows = Min(lance_batch_rows(dataset, &sample->columns), (int64)limit),
	};
	const LncBatch *batch;
	LncScan *scan;
	double taken = 0;

	part.nfragments = 1;
	part.fragments = fragment;
	lance_check(&lib->ctx, lnc_scan_open(&lib->ctx, lib->arena, &part, &spec, &scan));
	while (taken < limit)
	{
		lance_check(&lib->ctx, lnc_scan_next(&lib->ctx, scan, &batch));
		if (batch == NULL)
			break;
		for (int64 row = 0; row < batch->length && taken < limit; row++, taken++)
		{
			vacuum_delay_point();
			take_row(sample, batch, row);
		}
	}
	lance_library_destroy(lib);
}

/* The fragments' numbers in random order. */
static int *
shuffled(int count)
{
	int *order = palloc((count + 1) * sizeof(int));

	for (int i = 0; i < count; i++)
	{
		int j = (int)pg_prng_uint64_range(&pg_global_prng_state, 0, (uint64)i);

		order[i] = order[j];
		order[j] = i;
	}
	return order;
}

static int
acquire_sample(Relation relation, int elevel, HeapTuple *rows, int targrows, double *totalrows,
			   double *totaldeadrows)
{
	LanceTableOptions *options = lance_table_options_get(RelationGetRelid(relation));
	LanceSource *source = lance_source_open(options, GetUserId(), NULL);
	const LncDataset *dataset = source->dataset;
	TupleDesc tupdesc = RelationGetDescr(relation);
	double budget = (double)targrows * ROWS_PER_SAMPLE_ROW;
	Sample sample = {.relation = relation, .rows = rows, .wanted = targrows};
	List *attnums = NIL;
	uint64 live;
	int *order;

	for (int i = 0; i < tupdesc->natts; i++)
	{
		if (!TupleDescAttr(tupdesc, i)->attisdropped)
			attnums = lappend_int(attnums, i + 1);
	}
	lance_match_columns(relation, dataset, attnums, NIL, &sample.columns);
	sample.values = palloc0(tupdesc->natts * sizeof(Datum));
	sample.nulls = palloc0(tupdesc->natts * sizeof(bool));
	sample.row_context = AllocSetContextCreate(CurrentMemoryContext, "lance sample row", ALLOCSET_DEFAULT_SIZES);
	lance_check(&source->lib->ctx, lnc_dataset_count_rows(&source->lib->ctx, dataset, &live));

	/* What small fragments lack is spread over those that follow. */
	order = shuffled(dataset->nfragments);
	for (int i = 0; i < dataset->nfragments && sample.seen < budget; i++)
	{
		double left = (budget - sample.seen) / (dataset->nfragments - i);

		sample_fragment(&sample, dataset, &dataset->fragments[order[i]], Max(MIN_FRAGMENT_ROWS, ceil(left)));
	}
	MemoryContextDelete(sample.row_context);
	*totalrows = (double)live;
	*totaldeadrows = 0;
	ereport(elevel, (errmsg("\"%s\": read %.0f of %.0f rows in version %llu; %d rows in sample",
							RelationGetRelationName(relation), sample.seen, *totalrows,
							(unsigned long long)dataset->version, sample.count)));
	return sample.count;
}

bool
lanceAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func, BlockNumber *totalpages)
{
	LanceTableOptions *options = lance_table_options_get(RelationGetRelid(relation));
	const LncDataset *dataset = lance_source_open(options, GetUserId(), NULL)->dataset;
	double bytes = 0;

	for (int32 i = 0; i < dataset->nfragments; i++)
	{
		for (int32 j = 0; j < dataset->fragments[i].nfiles; j++)
			bytes += (double)dataset->fragments[i].files[j].size;
	}
	*func = acquire_sample;
	*totalpages = (BlockNumber)Max(1, Min(bytes / BLCKSZ, (double)MaxBlockNumber));
	return true;
}

/*
 * analyze.c
 *	  ANALYZE: a bounded sample of randomly chosen runs of rows.
 *
 * As the server reads blocks of its own tables: all fragments are cut into runs, of which some are drawn, each as likely as any
 * other, and of their rows the sample is drawn.
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

/* Reading a run costs a request for each column, and opening a fragment several. */
#define RUN_ROWS 512

/* Where fragments have fewer rows than that, at most so many runs are read as would be if runs had so many. */
#define MIN_RUN_ROWS 256

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
	double *places; /* of them, as many rows were seen before */
	int wanted;     /* size of the reservoir; falls when rows are wide */
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
		sample->places[sample->count] = sample->seen;
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
		sample->places[place] = sample->seen;
		sample->rows[place] = tuple;
	}
}

/* The runs that are read, ascending. */
typedef struct Runs
{
	const LncDataset *dataset;
	BlockSamplerData sampler;
	int32 fragment;
	BlockNumber first; /* number of the fragment's first run */
} Runs;

static uint64
runs_of(const LncFragment *fragment)
{
	return (fragment->physical_rows + RUN_ROWS - 1) / RUN_ROWS;
}

static void
draw_runs(Runs *runs, const LncDataset *dataset, double budget)
{
	double rows = 1;
	double nruns = 0;
	double wanted;

	for (int32 i = 0; i < dataset->nfragments; i++)
	{
		rows += (double)dataset->fragments[i].physical_rows;
		nruns += (double)runs_of(&dataset->fragments[i]);
	}
	wanted = ceil(Min(budget * nruns / rows, budget / MIN_RUN_ROWS));
	memset(runs, 0, sizeof(*runs));
	runs->dataset = dataset;
	BlockSampler_Init(&runs->sampler, (BlockNumber)Min(nruns, (double)MaxBlockNumber), (int)Max(wanted, 1),
					  pg_prng_uint32(&pg_global_prng_state));
}

/* LncScanSpec.next_range */
static bool
next_run(void *arg, LncRowRange *out)
{
	Runs *runs = arg;
	const LncFragment *fragment;
	BlockNumber run;

	if (!BlockSampler_HasMore(&runs->sampler))
		return false;
	run = BlockSampler_Next(&runs->sampler);
	fragment = &runs->dataset->fragments[runs->fragment];
	while (run - runs->first >= runs_of(fragment))
	{
		runs->first += (BlockNumber)runs_of(fragment);
		fragment = &runs->dataset->fragments[++runs->fragment];
	}
	out->fragment = runs->fragment;
	out->first = (uint64)(run - runs->first) * RUN_ROWS;
	out->count = Min(RUN_ROWS, fragment->physical_rows - out->first);
	return true;
}

/* Take rows out of about budget rows of the dataset. */
static void
sample_rows(Sample *sample, const LncDataset *dataset, double budget)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	Runs runs;
	LncScanSpec spec = {
		.ncolumns = sample->columns.nfields,
		.columns = sample->columns.fields,
		.system_columns = sample->columns.system,
		.batch_rows = Min(lance_batch_rows(dataset, &sample->columns), RUN_ROWS),
		.next_range = next_run,
		.range_arg = &runs,
	};
	LncScan *scan;

	draw_runs(&runs, dataset, budget);
	lance_check(&lib->ctx, lnc_scan_open(&lib->ctx, lib->arena, dataset, &spec, &scan));
	for (;;)
	{
		const LncBatch *batch;

		lance_check(&lib->ctx, lnc_scan_next(&lib->ctx, scan, &batch));
		if (batch == NULL)
			break;
		for (int64 row = 0; row < batch->length; row++)
		{
			vacuum_delay_point();
			take_row(sample, batch, row);
		}
	}
	lance_library_destroy(lib);
}

typedef struct PlacedRow
{
	double place;
	HeapTuple row;
} PlacedRow;

static int
compare_places(const void *a, const void *b)
{
	double x = ((const PlacedRow *)a)->place;
	double y = ((const PlacedRow *)b)->place;

	return x < y ? -1 : x > y;
}

/* Back into the order of the dataset: how well columns follow it is one of the statistics. */
static void
sort_rows(Sample *sample)
{
	PlacedRow *placed = palloc(Max(sample->count, 1) * sizeof(*placed));

	for (int i = 0; i < sample->count; i++)
	{
		placed[i].place = sample->places[i];
		placed[i].row = sample->rows[i];
	}
	qsort(placed, sample->count, sizeof(*placed), compare_places);
	for (int i = 0; i < sample->count; i++)
		sample->rows[i] = placed[i].row;
	pfree(placed);
}

static int
acquire_sample(Relation relation, int elevel, HeapTuple *rows, int targrows, double *totalrows,
			   double *totaldeadrows)
{
	LanceTableOptions *options = lance_table_options_get(RelationGetRelid(relation));
	LanceSource *source = lance_source_open(options, GetUserId(), NULL);
	const LncDataset *dataset = source->dataset;
	TupleDesc tupdesc = RelationGetDescr(relation);
	Sample sample = {
		.relation = relation, .rows = rows, .wanted = targrows, .places = palloc(targrows * sizeof(double))};
	List *attnums = NIL;
	uint64 live;

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

	sample_rows(&sample, dataset, (double)targrows * ROWS_PER_SAMPLE_ROW);
	sort_rows(&sample);
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

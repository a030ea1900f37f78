/*
 * alter_columns.c
 *	  AlterTableDropColumns and AlterTableAlterColumns.
 */
#include "postgres.h"

#include "catalog/location.h"
#include "dataset/dataset.h"
#include "ops/check.h"
#include "ops/place.h"
#include "ops/revise.h"
#include "ops/revision.h"
#include "pg/errcodes.h"
#include "pg/report.h"
#include "scan/null_check.h"

void
lance_op_alter_table_drop_columns(const LanceAlterTableDropColumnsRequest *request,
								  LanceAlterTableDropColumnsResponse *response)
{
	LanceRevise revise;
	LanceRevised revised;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	if (request->columns.count == 0)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("columns are missing")));
	lance_revise_check_count(request->columns.count, "columns");
	lance_revise_begin(&request->id, request->branch, &revise);
	lance_revise_check(&revise,
					   lnc_revision_drop_columns(&revise.history.lib->ctx, revise.revision, request->columns.count,
												 (const char *const *)request->columns.items));
	lance_revise_commit(&revise, &revised);
	response->transaction_id = revised.transaction_id;
	response->version = (LanceOptionalInt){.given = true, .value = revised.version};
}

/* ---- altering */

static void
check_alteration(const LanceColumnChange *change)
{
	if (change->has_data_type)
		ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED),
						errmsg("changing the data type of column \"%s\" is not supported", change->path)));
	if (change->has_virtual_column)
		ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED), errmsg("virtual columns are not supported"),
						errdetail("Column \"%s\".", change->path)));
	if (change->rename == NULL && change->nullable == LANCE_BOOL_UNSET)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("nothing is to be changed of column \"%s\"", change->path),
						errhint("Give \"rename\" or \"nullable\".")));
}

/* Throws when the column, which is to forbid NULL, holds one. The newest version is read; the row's lock keeps it so. */
static void
check_holds_no_null(LanceRevise *revise, const char *column)
{
	LanceHistory *history = &revise->history;
	LanceLibrary *lib = history->lib;
	LncDatasetOptions options = {
		.branch = history->branch[0] != '\0' ? history->branch : NULL,
		.version = revise->latest,
		.manifest_key = revise->manifest_key,
		.open_base = lance_location_open_base,
		.open_base_arg = lance_place_profile_of(history->table),
	};
	LncDataset *dataset;
	LncFieldPath path;
	bool found;

	if (revise->pending)
		ereport(ERROR,
				(lance_errcode(LANCE_UNSUPPORTED),
				 errmsg("column \"%s\" can't forbid NULL in a transaction that has changed the table", column),
				 errhint("Commit first.")));
	lance_check(&lib->ctx, lnc_dataset_open(&lib->ctx, lib->arena, history->store, &options, &dataset));
	lance_revise_check(revise, lnc_field_path_find(&lib->ctx, lib->arena, &dataset->schema, column, &path));
	if (path.fields[path.depth - 1]->nullable)
	{
		lance_check(&lib->ctx, lnc_scan_has_null(&lib->ctx, dataset, &path, &found));
		if (found)
			ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
							errmsg("column \"%s\" holds NULL and can't forbid it", column)));
	}
}

void
lance_op_alter_table_alter_columns(const LanceAlterTableAlterColumnsRequest *request,
								   LanceAlterTableAlterColumnsResponse *response)
{
	const LanceColumnChanges *alterations = &request->alterations;
	LncColumnChange *changes;
	LanceRevise revise;
	LanceRevised revised;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	if (alterations->count == 0)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("alterations are missing")));
	lance_revise_check_count(alterations->count, "alterations");
	changes = palloc0(alterations->count * sizeof(LncColumnChange));
	for (int i = 0; i < alterations->count; i++)
	{
		const LanceColumnChange *item = &alterations->items[i];

		check_alteration(item);
		changes[i].path = item->path;
		changes[i].rename = item->rename;
		changes[i].set_nullable = item->nullable != LANCE_BOOL_UNSET;
		changes[i].nullable = item->nullable == LANCE_BOOL_TRUE;
	}
	lance_revise_begin(&request->id, request->branch, &revise);
	lance_revise_check(&revise, lnc_revision_alter_columns(&revise.history.lib->ctx, revise.revision,
														   alterations->count, changes));
	for (int i = 0; i < alterations->count; i++)
	{
		if (alterations->items[i].nullable == LANCE_BOOL_FALSE)
			check_holds_no_null(&revise, alterations->items[i].path);
	}
	lance_revise_commit(&revise, &revised);
	response->version = (LanceOptionalInt){.given = true, .value = revised.version};
}

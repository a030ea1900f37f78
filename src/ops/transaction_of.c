/*
 * transaction_of.c
 *	  Finding a transaction: on record, else by what it left in the store.
 */
#include "postgres.h"

#include "catalog/commit.h"
#include "dataset/manifest.h"
#include "dataset/transaction.h"
#include "ops/check.h"
#include "ops/transaction_of.h"
#include "pg/errcodes.h"
#include "pg/report.h"

/* How many versions are looked at for a transaction: those after the one that it was made from, else the newest. */
#define LOOK_AT 100

static void
transaction_missing(const LanceId *id)
{
	LanceId table = lance_id_parent(id);

	ereport(ERROR,
			(lance_errcode(LANCE_TRANSACTION_NOT_FOUND), errmsg("transaction \"%s\" of table \"%s\" does not exist",
																lance_id_name(id), lance_id_text(&table))));
}

/* A transaction as the store tells it, as a row. NULL: the version, or its transaction, is not there. */
static LanceTransactionRow *
read_version(LanceHistory *history, int64 version)
{
	LanceLibrary *lib = history->lib;
	LanceHistoryItem *item = lance_history_find(history, (uint64)version);
	Lance__Table__Manifest *manifest;
	LanceTransactionRow *row;
	LncTransaction found;
	LncCode code;

	if (item == NULL)
		return NULL;
	code = lnc_manifest_read(&lib->ctx, lib->arena, history->store, item->manifest_key, &manifest);
	if (code == LNC_OK)
		code = lnc_transaction_read(&lib->ctx, lib->arena, history->store, item->manifest_key, manifest, &found);
	if (code == LNC_NOT_FOUND)
		return NULL;
	lance_check(&lib->ctx, code);
	row = palloc0(sizeof(*row));
	row->transaction_id = pstrdup(found.id);
	row->branch = pstrdup(history->branch);
	row->version = version;
	row->read_version = (int64)Min(found.read_version, (uint64)PG_INT64_MAX);
	row->operation = found.operation != NULL ? pstrdup(found.operation) : NULL;
	row->tag = found.tag != NULL ? pstrdup(found.tag) : NULL;
	row->properties.given = true;
	row->properties.items = palloc((found.nproperties + 1) * sizeof(LanceProperty));
	for (size_t i = 0; i < found.nproperties; i++)
	{
		row->properties.items[i].key = pstrdup(found.properties[i].key);
		row->properties.items[i].value =
			pnstrdup((const char *)found.properties[i].value.data, found.properties[i].value.size);
	}
	row->properties.count = (int)found.nproperties;
	return row;
}

/*
 * By the file that a transaction leaves, which tells the version it was made from. The newest versions are looked at even
 * without: the file may have been removed, or never been written.
 */
static LanceTransactionRow *
read_by_id(LanceHistory *history, const char *transaction_id)
{
	LanceLibrary *lib = history->lib;
	LanceHistoryItem *latest = lance_history_latest(history);
	uint64_t first;
	uint64_t last;
	LncCode code;

	if (latest == NULL)
		return NULL;
	code = lnc_transaction_find(&lib->ctx, lib->arena, history->store, history->folder, transaction_id, &first);
	if (code == LNC_NOT_FOUND)
	{
		last = latest->version;
		first = last > LOOK_AT ? last - LOOK_AT + 1 : 1;
	}
	else
	{
		lance_check(&lib->ctx, code);
		last = first < latest->version ? Min(latest->version, first + LOOK_AT) : 0;
		first++;
	}
	for (uint64_t version = first; version <= last; version++)
	{
		LanceTransactionRow *row = read_version(history, (int64)version);

		if (row != NULL && strcmp(row->transaction_id, transaction_id) == 0)
			return row;
	}
	return NULL;
}

/* A number and nothing else. */
static bool
parse_version(const char *text, int64 *version)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*version = strtoll(text, &end, 10);
	return errno == 0 && *end == '\0';
}

void
lance_transaction_of(const LanceId *id, LanceRowLock lock, LanceLevel needed, LanceTransactionOf *out)
{
	LanceId table_id;
	const char *name;
	int64 version;

	lance_check_table_id(id);
	if (id->nparts < 2)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("the id of a transaction needs that of its table before its own"),
						errdetail("The id given is \"%s\".", lance_id_text(id))));
	table_id = lance_id_parent(id);
	name = lance_id_name(id);
	lance_history_of(&table_id, NULL, lock, needed, &out->history);
	if (parse_version(name, &version))
	{
		out->row = lance_transaction_row_of_version(out->history.table->table_id, version);
		out->recorded = out->row != NULL;
		if (!out->recorded)
			out->row = read_version(&out->history, version);
	}
	else
	{
		out->row = lance_transaction_row(out->history.table->table_id, name, false);
		out->recorded = out->row != NULL;
		if (!out->recorded)
			out->row = read_by_id(&out->history, name);
	}
	if (out->row == NULL)
		transaction_missing(id);
}

bool
lance_transaction_fact(const char *name)
{
	static const char *const facts[] = {"uuid", "version", "read_version", "operation", "tag", "branch"};

	for (size_t i = 0; i < lengthof(facts); i++)
	{
		if (strcmp(name, facts[i]) == 0)
			return true;
	}
	return false;
}

static void
put(LanceProperties *properties, const char *key, const char *value)
{
	if (value == NULL)
		return;
	properties->items[properties->count].key = (char *)key;
	properties->items[properties->count++].value = (char *)value;
}

void
lance_transaction_answer(const LanceTransactionOf *transaction, LanceTransactionResponse *response)
{
	const LanceTransactionRow *row = transaction->row;
	const LanceProperties *own = &row->properties;
	bool pending = lance_commit_is_pending(transaction->history.table->table_id, row->branch, row->version);

	response->status = pending ? "Running" : "Succeeded";
	response->properties.given = true;
	response->properties.items = palloc((own->count + 6) * sizeof(LanceProperty));
	for (int i = 0; i < own->count; i++)
	{
		/* What the transaction is wins over properties of these names. */
		if (!lance_transaction_fact(own->items[i].key))
			put(&response->properties, own->items[i].key, own->items[i].value);
	}
	put(&response->properties, "uuid", row->transaction_id);
	put(&response->properties, "version", psprintf(INT64_FORMAT, row->version));
	put(&response->properties, "read_version", psprintf(INT64_FORMAT, row->read_version));
	put(&response->properties, "operation", row->operation);
	put(&response->properties, "tag", row->tag);
	put(&response->properties, "branch", row->branch[0] != '\0' ? row->branch : NULL);
}

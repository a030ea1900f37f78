/*
 * alter_transaction.c
 *	  AlterTransaction: properties set on a transaction. Its status is what it is.
 */
#include "postgres.h"

#include "ops/check.h"
#include "ops/transaction_of.h"
#include "pg/errcodes.h"

static const char *const statuses[] = {"Queued", "Running", "Succeeded", "Failed", "Canceled", NULL};
static const char *const set_modes[] = {"Overwrite", "Fail", "Skip", NULL};
static const char *const unset_modes[] = {"Skip", "Fail", NULL};

static void
check_key(const LanceAction *action)
{
	if (action->key == NULL || action->key[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("an action on a property has no key")));
	if (lance_transaction_fact(action->key))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("property \"%s\" of a transaction can't be changed", action->key)));
}

static void
set_status(const LanceAction *action)
{
	if (action->status == NULL || action->status[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("an action on the status has no status")));
	if (strcmp(statuses[lance_check_mode(action->status, "status", statuses)], "Succeeded") != 0)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_TABLE_STATE),
						errmsg("the transaction has succeeded and can't become %s", action->status)));
}

static int
find(const LanceProperties *properties, const char *key)
{
	int at = 0;

	while (at < properties->count && strcmp(properties->items[at].key, key) != 0)
		at++;
	return at;
}

/* properties has room. */
static void
set_property(const LanceAction *action, LanceProperties *properties)
{
	int mode = lance_check_mode(action->mode, "mode", set_modes);
	int at;

	check_key(action);
	if (action->value == NULL)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("property \"%s\" has no value", action->key)));
	at = find(properties, action->key);
	if (at < properties->count && mode == 1)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_TABLE_STATE),
						errmsg("property \"%s\" of the transaction is set already", action->key)));
	if (at < properties->count && mode == 2)
		return;
	properties->items[at] = (LanceProperty){.key = action->key, .value = action->value};
	if (at == properties->count)
		properties->count++;
}

static void
unset_property(const LanceAction *action, LanceProperties *properties)
{
	int mode = lance_check_mode(action->mode, "mode", unset_modes);
	int at;

	check_key(action);
	at = find(properties, action->key);
	if (at < properties->count)
		properties->items[at] = properties->items[--properties->count];
	else if (mode == 1)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_TABLE_STATE),
						errmsg("property \"%s\" of the transaction is not set", action->key)));
}

void
lance_op_alter_transaction(const LanceAlterTransactionRequest *request, LanceTransactionResponse *response)
{
	const LanceActions *actions = &request->actions;
	LanceTransactionOf transaction;
	LanceProperties properties = {.given = true};
	int64 table_id;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	if (actions->count == 0)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("actions are missing")));
	if (actions->count > LANCE_MAX_ACTIONS)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("too many actions"),
						errdetail("At most %d are allowed in one request.", LANCE_MAX_ACTIONS)));
	lance_transaction_of(&request->id, LANCE_LOCK_SHARE, LANCE_LEVEL_WRITE, &transaction);
	table_id = transaction.history.table->table_id;
	if (!transaction.recorded)
		lance_transaction_insert(table_id, transaction.row);
	transaction.row = lance_transaction_row(table_id, transaction.row->transaction_id, true);
	if (transaction.row == NULL)
		ereport(ERROR, (lance_errcode(LANCE_CONCURRENT_MODIFICATION),
						errmsg("the transaction was altered by another client"), errhint("Try again.")));
	properties.items = palloc((transaction.row->properties.count + actions->count) * sizeof(LanceProperty));
	for (int i = 0; i < transaction.row->properties.count; i++)
		properties.items[properties.count++] = transaction.row->properties.items[i];
	for (int i = 0; i < actions->count; i++)
	{
		switch (actions->items[i].kind)
		{
			case LANCE_ACTION_SET_STATUS:
				set_status(&actions->items[i]);
				break;
			case LANCE_ACTION_SET_PROPERTY:
				set_property(&actions->items[i], &properties);
				break;
			case LANCE_ACTION_UNSET_PROPERTY:
				unset_property(&actions->items[i], &properties);
				break;
		}
	}
	lance_check_properties(&properties, "properties");
	lance_transaction_set_properties(table_id, transaction.row->transaction_id, &properties);
	transaction.row->properties = properties;
	lance_transaction_answer(&transaction, response);
}

/*
 * announce.c
 *	  Notifications of versions.
 *
 * PostgreSQL sends them with the commit, in the order of commits, and none for what is rolled back. Its queue is written
 * after final names were taken, so that it must not be what fails: when it is nearly full, nobody is told.
 */
#include "postgres.h"

#include "catalog/announce.h"
#include "catalog/table_entry.h"
#include "commands/async.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"

/* PostgreSQL's own limit for a payload, which it does not export. */
#define MAX_PAYLOAD (BLCKSZ - NAMEDATALEN - 128)

#define QUEUE_NEARLY_FULL 0.9

static void
put_id(StringInfo out, const LanceTableRow *table)
{
	LanceId path;

	lance_table_namespace_path(table->namespace_id, &path);
	appendStringInfoChar(out, '[');
	for (int i = 0; i < path.nparts; i++)
	{
		escape_json(out, path.parts[i]);
		appendStringInfoString(out, ", ");
	}
	escape_json(out, table->name);
	appendStringInfoChar(out, ']');
}

static void
put_rest(StringInfo out, const LanceTableRow *table, const char *branch, int64 version)
{
	appendStringInfo(out, ", \"table_id\": " INT64_FORMAT ", \"branch\": ", table->table_id);
	if (branch[0] == '\0')
		appendStringInfoString(out, "null");
	else
		escape_json(out, branch);
	appendStringInfo(out, ", \"version\": " INT64_FORMAT "}", version);
}

void
lance_announce_version(const LanceTableRow *table, const char *branch, int64 version)
{
	StringInfoData id;
	StringInfoData payload;

	if (DatumGetFloat8(DirectFunctionCall1(pg_notification_queue_usage, (Datum)0)) > QUEUE_NEARLY_FULL)
	{
		ereport(
			WARNING,
			(errmsg("listeners are not told of version " INT64_FORMAT " of table \"%s\"", version, table->shown),
			 errdetail("The queue of notifications is nearly full."),
			 errhint("Look for a session that listens but does not read: its transaction may be open for long.")));
		return;
	}
	initStringInfo(&id);
	put_id(&id, table);
	initStringInfo(&payload);
	appendStringInfo(&payload, "{\"id\": %s", id.data);
	put_rest(&payload, table, branch, version);
	if (payload.len >= MAX_PAYLOAD)
	{
		resetStringInfo(&payload);
		appendStringInfoString(&payload, "{\"id\": null");
		put_rest(&payload, table, branch, version);
	}
	Async_Notify(LANCE_CHANNEL, payload.data);
	pfree(payload.data);
	pfree(id.data);
}

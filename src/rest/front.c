/*
 * front.c
 *	  Requests answered where their connection is, or handed over.
 *
 * What only reads a few rows of the catalog is faster done than passed on. Everything else goes to an executor, and so
 * does what turns out to wait, so that no client waits for another's store, lock or disk.
 */
#include "postgres.h"

#include "pg/guc.h"
#include "rest/execute.h"
#include "rest/front.h"
#include "rest/http.h"
#include "rest/job.h"
#include "rest/turns.h"

static void
unavailable(const LanceRestRequest *request, LanceRestReply *reply, const char *message, const char *detail)
{
	lance_rest_reply_error(request, reply, lance_http_status(LANCE_SERVICE_UNAVAILABLE), LANCE_SERVICE_UNAVAILABLE,
						   message, detail);
}

/* What a writer asks before it prepares a commit. */
static bool
asks_versions(const LanceRoute *route)
{
	return strcmp(route->operation, "ListTableVersions") == 0;
}

static bool
commits_version(const LanceRoute *route)
{
	return strcmp(route->operation, "CreateTableVersion") == 0;
}

/* Answer, or hand over. */
static bool
serve(LanceRestRequest *request, LanceRestReply *reply)
{
	if (request->route->manner == LANCE_RUN_BRIEFLY && lance_rest_execute_briefly(request, reply))
		return true;
	if (lance_job_submit(request, request->caller))
		return false;
	unavailable(request, reply, "too many requests at once", NULL);
	return true;
}

static bool
handle(LanceRestRequest *request, LanceRestReply *reply)
{
	if (asks_versions(request->route) && lance_turn_wait(request))
		return false;
	return serve(request, reply);
}

static bool
handle_without_database(LanceRestRequest *request, LanceRestReply *reply)
{
	unavailable(request, reply, "the served database does not exist", NULL);
	return true;
}

static bool
admit_nobody(LanceRestRequest *request, LanceRestReply *reply)
{
	(void)handle_without_database(request, reply);
	return false;
}

void
lance_front_start(int worker, bool connected)
{
	if (connected)
	{
		lance_jobs_join_as_worker(worker);
		lance_turns_join(worker);
		lance_http_start(handle, lance_rest_admit);
	}
	else
		lance_http_start(handle_without_database, admit_nobody);
}

void
lance_front_collect(void)
{
	LanceRestRequest *request;
	LanceRestReply reply;
	LanceJobEnd end;

	while ((request = lance_job_collect(&reply, &end, lance_guc_rest_statement_timeout)) != NULL)
	{
		if (end == LANCE_JOB_NOT_RUN)
			unavailable(request, &reply, "no executor was free in time",
						"Nothing was done. lance_catalog.rest_executors limits how many requests run at once.");
		else if (end == LANCE_JOB_LOST)
			unavailable(request, &reply, "the process that ran the request ended",
						"The request may have been done. Sent again, a version that is yours is answered as the "
						"first time.");
		if (commits_version(request->route))
			lance_turn_over(request, reply.status);
		lance_http_answer(request, &reply);
	}
	while ((request = lance_turn_next()) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(request->context);

		memset(&reply, 0, sizeof(reply));
		if (serve(request, &reply))
			lance_http_answer(request, &reply);
		MemoryContextSwitchTo(old);
	}
}

/*
 * execute.c
 *	  A request's transaction, and what becomes of errors in it.
 *
 * A client that goes away cancels nothing: its request runs to its end, and a commit stays one. The time limit is
 * lance_catalog.rest_statement_timeout; it ends before the commit begins.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "ops/commit.h"
#include "pg/brief.h"
#include "pg/guc.h"
#include "pg/statistics.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "rest/auth.h"
#include "rest/codec.h"
#include "rest/execute.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"

/* The limits of a brief request, in ms. */
#define BRIEF_MS 50
#define BRIEF_LOCK_MS 10

/* What run_transaction returns for a brief request that would have to wait. */
#define GAVE_UP (-1)

typedef void (*Step)(LanceRestRequest *request, LanceRestReply *reply);

/* ---- steps, each inside a transaction */

static void
authenticate_step(LanceRestRequest *request, LanceRestReply *reply)
{
	lance_rest_check_extension();
	(void)lance_rest_authenticate(request);
}

static void
operation_step(LanceRestRequest *request, LanceRestReply *reply)
{
	const LanceRoute *route = request->route;
	Oid role;
	int settings;
	LanceLibrary *library;
	void *input;
	void *output = NULL;

	lance_rest_check_extension();
	role = lance_rest_authenticate(request);
	if (route->function == NULL)
		ereport(ERROR,
				(lance_errcode(LANCE_UNSUPPORTED), errmsg("operation %s is not supported", route->operation)));
	lance_rest_authorize(route, role);

	/*
	 * From here on the role's privileges decide, also in deferred triggers at commit. The flag keeps code that
	 * runs on its behalf from becoming the worker's own user again by SET or RESET ROLE; the nest level undoes what
	 * such code sets.
	 */
	settings = NewGUCNestLevel();
	SetUserIdAndSecContext(role, SECURITY_LOCAL_USERID_CHANGE);
	library = lance_library_create(request->context);
	lance_rest_parse(request);
	input = lance_rest_decode(request, library);
	if (route->response != NULL)
		output = palloc0(route->response->size);
	route->run(input, output);
	lance_rest_encode(route->response, output, library, reply);
	AtEOXact_GUC(true, settings);
}

/* ---- the transaction around a step */

/* The shorter of a limit and a setting in which 0 is none. */
static int
limited(int limit, int setting)
{
	return setting > 0 ? Min(limit, setting) : limit;
}

static void
begin_transaction(bool brief)
{
	int limit = brief ? limited(BRIEF_MS, lance_guc_rest_statement_timeout) : lance_guc_rest_statement_timeout;

	/* a cancel that came while nothing ran is for nobody */
	QueryCancelPending = false;
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();

	/* A transaction that somebody left open must not stop the whole worker. */
	LockTimeout = brief ? limited(BRIEF_LOCK_MS, lance_guc_rest_lock_timeout) : lance_guc_rest_lock_timeout;
	XactIsoLevel = XACT_READ_COMMITTED; /* what the operations count on, whatever the default is */
	if (limit > 0)
		enable_timeout_after(STATEMENT_TIMEOUT, limit);
	lance_brief_set(brief);
	PushActiveSnapshot(GetTransactionSnapshot());
}

static void
end_transaction(void)
{
	PopActiveSnapshot();

	/* The limit holds for the store too, which versions are written to as the transaction commits. After that no cancel is heard. */
	CommitTransactionCommand();
	disable_timeout(STATEMENT_TIMEOUT, false);
	QueryCancelPending = false;
	lance_brief_set(false);
}

/* Is the error the server's rather than the caller's, and not one that the administrator knows of anyway? */
static bool
worth_logging(const ErrorData *error, LanceErrorCode code)
{
	int category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	return code == LANCE_INTERNAL || category == ERRCODE_TO_CATEGORY(ERRCODE_INSUFFICIENT_RESOURCES) ||
		   category == ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION);
}

/*
 * Turn the error being thrown into the reply, and clean up after it. Returns its SQLSTATE; GAVE_UP, without a reply, when it
 * says that a brief request would have to wait.
 */
static int
recover(const LanceRestRequest *request, LanceRestReply *reply, bool brief)
{
	ErrorData *error;
	LanceErrorCode code;
	const char *detail;
	bool gave_up;

	HOLD_INTERRUPTS();
	lance_brief_set(false);
	disable_all_timeouts(false);
	QueryCancelPending = false;
	MemoryContextSwitchTo(request->context);
	error = CopyErrorData();
	code = lance_error_code(error);
	gave_up = brief && lance_brief_gave_up(error);
	if (!gave_up && worth_logging(error, code))
		EmitErrorReport();
	AbortCurrentTransaction();
	MemoryContextSwitchTo(request->context);
	FlushErrorState();
	detail = error->detail;
	if (error->hint != NULL)
		detail = detail != NULL ? psprintf("%s %s", detail, error->hint) : error->hint;
	if (!gave_up)
		lance_rest_reply_error(request, reply, lance_http_status(code), code, error->message, detail);
	RESUME_INTERRUPTS();
	return gave_up ? GAVE_UP : error->sqlerrcode;
}

/* Run a step in a transaction. Returns 0, or what recover() says of the error. */
static int
run_transaction(LanceRestRequest *request, LanceRestReply *reply, Step step, bool brief)
{
	volatile int failed = 0;
	Oid user;
	int security;

	GetUserIdAndSecContext(&user, &security);
	PG_TRY();
	{
		begin_transaction(brief);
		step(request, reply);
		end_transaction();
		SetUserIdAndSecContext(user, security);
	}
	PG_CATCH();
	{
		failed = recover(request, reply, brief);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(request->context);
	return failed;
}

/* The change is made; what only tidies up after it may hold the answer back for so long. */
#define TIDY_MS 2000

static void
tidy(void)
{
	enable_timeout_after(STATEMENT_TIMEOUT, TIDY_MS);
	lance_publish_tidy();
	disable_timeout(STATEMENT_TIMEOUT, false);
	QueryCancelPending = false;
}

/* What happened to a request that began at a time. */
static void
count_call(const LanceRestRequest *request, bool failed, const instr_time *began)
{
	instr_time took;

	INSTR_TIME_SET_CURRENT(took);
	INSTR_TIME_SUBTRACT(took, *began);
	lance_statistics_call(request->route->operation, failed, (int64)INSTR_TIME_GET_MICROSEC(took));
}

void
lance_rest_execute(LanceRestRequest *request, LanceRestReply *reply)
{
	instr_time began;
	int failed;

	INSTR_TIME_SET_CURRENT(began);

	pgstat_report_activity(STATE_RUNNING, request->route->operation);
	lance_publish_keep_in(request->context);
	failed = run_transaction(request, reply, operation_step, false);

	/*
	 * Whether a version was written is found out by asking for it again: a manifest that lies under its final name is
	 * recognised as the request's own. Older clients would take the error for a failure and commit their rows twice.
	 */
	if ((failed == ERRCODE_T_R_DEADLOCK_DETECTED && request->route->manner != LANCE_RUN_ONCE) ||
		failed == ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN)
		failed = run_transaction(request, reply, operation_step, false);
	if (failed == 0)
		tidy();
	lance_publish_keep_in(NULL);
	count_call(request, failed != 0, &began);
	pgstat_report_activity(STATE_IDLE, NULL);
}

/* Run a step briefly. A call that ends with it is counted: one that failed, and with is_last any that did not give up. */
static int
run_briefly(LanceRestRequest *request, LanceRestReply *reply, Step step, bool is_last)
{
	instr_time began;
	int failed;

	INSTR_TIME_SET_CURRENT(began);
	pgstat_report_activity(STATE_RUNNING, request->route->operation);
	failed = run_transaction(request, reply, step, true);
	if (failed != GAVE_UP && (failed != 0 || is_last))
		count_call(request, failed != 0, &began);
	pgstat_report_activity(STATE_IDLE, NULL);
	return failed;
}

bool
lance_rest_execute_briefly(LanceRestRequest *request, LanceRestReply *reply)
{
	return run_briefly(request, reply, operation_step, true) != GAVE_UP;
}

bool
lance_rest_admit(LanceRestRequest *request, LanceRestReply *reply)
{
	/* One that is let in is counted when it is done; who can't be told apart briefly is asked again then. */
	int failed = run_briefly(request, reply, authenticate_step, false);

	return failed == 0 || failed == GAVE_UP;
}

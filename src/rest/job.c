/*
 * job.c
 *	  The queue of jobs in shared memory.
 *
 * Everything is under one lock that is held for a few instructions; nothing that can throw happens under it. The texts
 * of requests and replies lie in a dynamic shared area: who takes a job over frees them.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "miscadmin.h"
#include "pg/guc.h"
#include "rest/job.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/dsa.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#define TRANCHE "lance_catalog REST"

/* Jobs under way at most, of all workers. */
#define MAX_JOBS 1024

/* An executor that has not come after so long never will. */
#define START_MS 10000

typedef enum JobState
{
	JOB_FREE,
	JOB_QUEUED,
	JOB_RUNNING,
	JOB_DONE
} JobState;

struct LanceJob
{
	dlist_node node; /* in the free list, the queue, or what is done of its worker */
	JobState state;
	int worker;                /* that waits for it; 0: gone */
	LanceRestRequest *request; /* in that worker's memory */
	uint32 caller;
	TimestampTz since;
	dsa_pointer text; /* of the request, then of the reply */
	Size size;
	LanceJobEnd end;
	int status;
	bool retry_after;
};

typedef enum ExecutorState
{
	EXECUTOR_ABSENT,
	EXECUTOR_STARTING,
	EXECUTOR_JOINED, /* it is there, but takes no jobs yet */
	EXECUTOR_IDLE,
	EXECUTOR_BUSY
} ExecutorState;

typedef struct Executor
{
	ExecutorState state;
	TimestampTz since; /* of STARTING */
	Latch *latch;
	LanceJob *job;
} Executor;

typedef struct Worker
{
	Latch *latch;
	dlist_head done;
	int under_way; /* submitted and not collected */
} Worker;

typedef struct JobArea
{
	dsa_handle texts; /* DSM_HANDLE_INVALID: not made yet */
	dlist_head free;
	int nfree;
	dlist_head queue;
	LanceJob jobs[MAX_JOBS];
	Worker workers[LANCE_MAX_REST_WORKERS + 1];
	Executor executors[LANCE_MAX_REST_EXECUTORS];
} JobArea;

/* How a request lies in the shared text: this, then its parts, each ended by a NUL. */
typedef struct PackedRequest
{
	Size method;
	Size target;
	Size key;
	Size body;
	bool has_key;
} PackedRequest;

static JobArea *area;
static LWLock *lock;
static dsa_area *texts;
static int my_worker;        /* 0: none */
static int my_executor = -1; /* -1: none */

/* ---- set-up */

Size
lance_jobs_shmem_size(void)
{
	return sizeof(JobArea);
}

void
lance_jobs_request_locks(void)
{
	RequestNamedLWLockTranche(TRANCHE, 1);
}

void
lance_jobs_shmem_init(void)
{
	bool found;

	lock = &GetNamedLWLockTranche(TRANCHE)[0].lock;
	area = ShmemInitStruct("lance_catalog jobs", sizeof(JobArea), &found);
	if (found)
		return;
	memset(area, 0, sizeof(*area));
	area->texts = DSM_HANDLE_INVALID;
	dlist_init(&area->free);
	dlist_init(&area->queue);
	for (int i = 0; i < MAX_JOBS; i++)
		dlist_push_tail(&area->free, &area->jobs[i].node);
	area->nfree = MAX_JOBS;
	for (int i = 0; i <= LANCE_MAX_REST_WORKERS; i++)
		dlist_init(&area->workers[i].done);
}

/* The shared texts, made by whoever comes first; they live as long as the server. */
static void
attach_texts(void)
{
	MemoryContext old;

	if (texts != NULL)
		return;
	old = MemoryContextSwitchTo(TopMemoryContext);
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	if (area->texts == DSM_HANDLE_INVALID)
	{
		texts = dsa_create(lock->tranche);
		dsa_pin(texts);
		area->texts = dsa_get_handle(texts);
	}
	else
		texts = dsa_attach(area->texts);
	LWLockRelease(AddinShmemInitLock);
	dsa_pin_mapping(texts);
	MemoryContextSwitchTo(old);
}

/*
 * Room for a text; InvalidDsaPointer when there is none. What says so by an error (a full /dev/shm does) has left the area as it
 * was, but locked.
 */
static dsa_pointer
allocate_text(Size size)
{
	MemoryContext context = CurrentMemoryContext;
	volatile dsa_pointer text = InvalidDsaPointer;

	PG_TRY();
	{
		text = dsa_allocate_extended(texts, size, DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	}
	PG_CATCH();
	{
		LWLockReleaseAll();
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		FlushErrorState();
	}
	PG_END_TRY();
	return text;
}

/* Give a text back. A request's holds a key, so nothing is left of it. */
static void
free_text(dsa_pointer text, Size size)
{
	if (!DsaPointerIsValid(text))
		return;
	explicit_bzero(dsa_get_address(texts, text), size);
	dsa_free(texts, text);
}

/* ---- under the lock */

static void
release_job(LanceJob *job)
{
	job->state = JOB_FREE;
	job->request = NULL;
	job->text = InvalidDsaPointer;
	dlist_push_head(&area->free, &job->node);
	area->nfree++;
}

/* The job is through: its worker hears of it. Its text must be a reply's, or none. */
static void
finish_job(LanceJob *job, LanceJobEnd end)
{
	Worker *worker = &area->workers[job->worker];

	job->state = JOB_DONE;
	job->end = end;
	dlist_push_tail(&worker->done, &job->node);
	if (worker->latch != NULL)
		SetLatch(worker->latch);
}

/* May that caller have one more job? The last quarter is for those who have less than a half. */
static bool
within_room(uint32 caller)
{
	int held = 0;

	if (area->nfree > MAX_JOBS / 4)
		return true;
	for (int i = 0; i < MAX_JOBS; i++)
	{
		if (area->jobs[i].state != JOB_FREE && area->jobs[i].caller == caller)
			held++;
	}
	return held < MAX_JOBS / 2;
}

/* May one more job of that caller run? */
static bool
within_share(uint32 caller)
{
	int running = 0;

	for (int i = 0; i < lance_guc_rest_executors; i++)
	{
		if (area->executors[i].job != NULL && area->executors[i].job->caller == caller)
			running++;
	}
	return running < Max(1, lance_guc_rest_executors * 3 / 4);
}

/* The job that is to run next; NULL: none may. */
static LanceJob *
next_job(void)
{
	dlist_iter iter;

	dlist_foreach(iter, &area->queue)
	{
		LanceJob *job = dlist_container(LanceJob, node, iter.cur);

		if (within_share(job->caller))
			return job;
	}
	return NULL;
}

static void
give(Executor *executor, LanceJob *job)
{
	dlist_delete(&job->node);
	job->state = JOB_RUNNING;
	executor->job = job;
	executor->state = EXECUTOR_BUSY;
}

/* Give what waits to those who are idle, the lowest first, so that the others can leave. */
static void
give_to_idle(void)
{
	for (int i = 0; i < lance_guc_rest_executors; i++)
	{
		Executor *executor = &area->executors[i];
		LanceJob *job;

		if (executor->state != EXECUTOR_IDLE)
			continue;
		job = next_job();
		if (job == NULL)
			return;
		give(executor, job);
		SetLatch(executor->latch);
	}
}

/* ---- the worker's side */

/* What the worker had queued is dropped; what runs ends without it. */
static void
worker_gone(int code, Datum arg)
{
	Worker *worker = &area->workers[my_worker];
	struct
	{
		dsa_pointer text;
		Size size;
	} dropped[MAX_JOBS];
	int n = 0;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	worker->latch = NULL;
	worker->under_way = 0;
	for (int i = 0; i < MAX_JOBS; i++)
	{
		LanceJob *job = &area->jobs[i];

		if (job->state == JOB_FREE || job->worker != my_worker)
			continue;
		job->worker = 0;
		job->request = NULL;
		if (job->state == JOB_RUNNING)
			continue;
		dlist_delete(&job->node);
		dropped[n].text = job->text;
		dropped[n++].size = job->size;
		release_job(job);
	}
	LWLockRelease(lock);
	for (int i = 0; i < n; i++)
		free_text(dropped[i].text, dropped[i].size);
}

void
lance_jobs_join_as_worker(int worker)
{
	Assert(worker > 0 && worker <= LANCE_MAX_REST_WORKERS);
	attach_texts();
	my_worker = worker;
	before_shmem_exit(worker_gone, (Datum)0);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	area->workers[worker].latch = MyLatch;
	LWLockRelease(lock);
}

static char *
pack_part(char *to, const char *from, Size size)
{
	if (size > 0)
		memcpy(to, from, size);
	to[size] = '\0';
	return to + size + 1;
}

/* The request in shared memory; InvalidDsaPointer when there is none left. */
static dsa_pointer
pack_request(const LanceRestRequest *request, Size *size)
{
	const char *key = request->api_key != NULL ? request->api_key : "";
	char *target = request->query != NULL ? psprintf("%s?%s", request->path, request->query) : request->path;
	PackedRequest head = {
		.method = strlen(request->method),
		.target = strlen(target),
		.key = strlen(key),
		.body = request->body.data != NULL ? request->body.len : 0,
		.has_key = request->api_key != NULL,
	};
	dsa_pointer text;
	char *to;

	*size = sizeof(head) + head.method + head.target + head.key + head.body + 4;
	text = allocate_text(*size);
	if (!DsaPointerIsValid(text))
		return text;
	to = dsa_get_address(texts, text);
	memcpy(to, &head, sizeof(head));
	to = pack_part(to + sizeof(head), request->method, head.method);
	to = pack_part(to, target, head.target);
	to = pack_part(to, key, head.key);
	(void)pack_part(to, request->body.data, head.body);
	return text;
}

bool
lance_job_submit(LanceRestRequest *request, uint32 caller)
{
	Size size;
	dsa_pointer text = pack_request(request, &size);
	LanceJob *job = NULL;

	if (!DsaPointerIsValid(text))
		return false;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (!dlist_is_empty(&area->free) && within_room(caller))
	{
		job = dlist_container(LanceJob, node, dlist_pop_head_node(&area->free));
		area->nfree--;
		job->state = JOB_QUEUED;
		job->worker = my_worker;
		job->request = request;
		job->caller = caller;
		job->since = GetCurrentTimestamp();
		job->text = text;
		job->size = size;
		dlist_push_tail(&area->queue, &job->node);
		area->workers[my_worker].under_way++;
		give_to_idle();
	}
	LWLockRelease(lock);
	if (job == NULL)
		free_text(text, size);
	return job != NULL;
}

/* Those of this worker that nobody took in time; the oldest come first in the queue. */
static void
expire(int wait_ms)
{
	TimestampTz now = GetCurrentTimestamp();
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &area->queue)
	{
		LanceJob *job = dlist_container(LanceJob, node, iter.cur);

		if (!TimestampDifferenceExceeds(job->since, now, wait_ms))
			break;
		if (job->worker != my_worker)
			continue;
		dlist_delete(&job->node);
		finish_job(job, LANCE_JOB_NOT_RUN);
	}
}

LanceRestRequest *
lance_job_collect(LanceRestReply *reply, LanceJobEnd *end, int wait_ms)
{
	Worker *worker = &area->workers[my_worker];
	LanceJob *job = NULL;
	LanceRestRequest *request = NULL;
	dsa_pointer text = InvalidDsaPointer;

	if (my_worker == 0 || worker->under_way == 0)
		return NULL;
	memset(reply, 0, sizeof(*reply));
	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (wait_ms > 0)
		expire(wait_ms);
	if (!dlist_is_empty(&worker->done))
	{
		job = dlist_container(LanceJob, node, dlist_pop_head_node(&worker->done));
		request = job->request;
		*end = job->end;
		reply->status = job->status;
		reply->retry_after = job->retry_after;
		reply->size = job->size;
		text = job->text;
		worker->under_way--;
		release_job(job);
	}
	LWLockRelease(lock);
	if (request == NULL)
		return NULL;
	if (*end == LANCE_JOB_ANSWERED)
	{
		reply->body =
			MemoryContextAllocExtended(request->context, reply->size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
		if (reply->body == NULL)
			*end = LANCE_JOB_LOST;
		else
			memcpy(reply->body, dsa_get_address(texts, text), reply->size);
	}
	free_text(text, reply->size);
	return request;
}

bool
lance_jobs_under_way(void)
{
	return my_worker > 0 && area->workers[my_worker].under_way > 0;
}

int
lance_jobs_wanted_executor(void)
{
	int wanted = -1;
	bool starting = false;
	TimestampTz now;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (next_job() != NULL)
	{
		now = GetCurrentTimestamp();
		/* the first one is the postmaster's to start */
		for (int i = 1; i < lance_guc_rest_executors; i++)
		{
			Executor *executor = &area->executors[i];

			if (executor->state == EXECUTOR_STARTING && TimestampDifferenceExceeds(executor->since, now, START_MS))
				executor->state = EXECUTOR_ABSENT;
			if (executor->state == EXECUTOR_ABSENT && wanted < 0)
				wanted = i;
			if (executor->state == EXECUTOR_STARTING || executor->state == EXECUTOR_JOINED)
				starting = true;
		}
		/* one after the other: what waits may be through before the next is there */
		if (starting)
			wanted = -1;
		if (wanted >= 0)
		{
			area->executors[wanted].state = EXECUTOR_STARTING;
			area->executors[wanted].since = now;
		}
	}
	LWLockRelease(lock);
	return wanted;
}

void
lance_jobs_executor_failed(int executor)
{
	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (area->executors[executor].state == EXECUTOR_STARTING)
		area->executors[executor].state = EXECUTOR_ABSENT;
	LWLockRelease(lock);
}

/* ---- the executor's side */

/* A job that was not begun goes back to the head of the queue. */
static void
executor_gone(int code, Datum arg)
{
	Executor *executor = &area->executors[my_executor];
	LanceJob *job;

	if (my_executor < 0)
		return;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	job = executor->job;
	executor->job = NULL;
	executor->latch = NULL;
	executor->state = EXECUTOR_ABSENT;
	if (job != NULL && DsaPointerIsValid(job->text))
	{
		job->state = JOB_QUEUED;
		dlist_push_head(&area->queue, &job->node);
	}
	else if (job != NULL && job->worker == 0)
		release_job(job);
	else if (job != NULL)
		finish_job(job, LANCE_JOB_LOST);
	give_to_idle();
	LWLockRelease(lock);
}

bool
lance_jobs_join_as_executor(int executor)
{
	Executor *mine = &area->executors[executor];
	bool joined = false;

	Assert(executor >= 0 && executor < LANCE_MAX_REST_EXECUTORS);
	attach_texts();
	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (mine->state == EXECUTOR_STARTING || (executor == 0 && mine->state == EXECUTOR_ABSENT))
	{
		mine->state = EXECUTOR_JOINED;
		mine->latch = MyLatch;
		mine->job = NULL;
		joined = true;
	}
	LWLockRelease(lock);
	if (joined)
	{
		my_executor = executor;
		before_shmem_exit(executor_gone, (Datum)0);
	}
	return joined;
}

/* The next part of a packed request, copied; *from is moved behind it. */
static char *
unpack_part(MemoryContext context, const char **from, Size size)
{
	char *part = MemoryContextAllocHuge(context, size + 1);

	memcpy(part, *from, size + 1);
	*from += size + 1;
	return part;
}

static LanceRestRequest *
unpack_request(MemoryContext context, const char *text)
{
	LanceRestRequest *request = MemoryContextAllocZero(context, sizeof(*request));
	PackedRequest head;
	char *key;

	memcpy(&head, text, sizeof(head));
	text += sizeof(head);
	request->context = context;
	request->method = unpack_part(context, &text, head.method);
	lance_rest_set_target(request, unpack_part(context, &text, head.target));
	key = unpack_part(context, &text, head.key);
	request->api_key = head.has_key ? key : NULL;
	if (head.body > 0)
	{
		request->body.data = unpack_part(context, &text, head.body);
		request->body.len = (int)head.body;
		request->body.maxlen = (int)head.body + 1;
	}
	lance_rest_match(request);
	return request;
}

LanceRestRequest *
lance_job_take(MemoryContext context)
{
	Executor *mine = &area->executors[my_executor];
	LanceJob *job;
	LanceRestRequest *request;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (mine->job == NULL)
	{
		mine->state = EXECUTOR_IDLE;
		job = next_job();
		if (job != NULL)
			give(mine, job);
	}
	job = mine->job;
	LWLockRelease(lock);
	if (job == NULL)
		return NULL;
	request = unpack_request(context, dsa_get_address(texts, job->text));
	free_text(job->text, job->size);
	job->text = InvalidDsaPointer;
	return request;
}

void
lance_job_answer(const LanceRestReply *reply)
{
	Executor *mine = &area->executors[my_executor];
	LanceJob *job = mine->job;
	dsa_pointer text = allocate_text(Max(reply->size, 1));
	bool claimed;

	if (DsaPointerIsValid(text))
		memcpy(dsa_get_address(texts, text), reply->body, reply->size);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	mine->job = NULL;
	claimed = job->worker != 0;
	if (claimed)
	{
		job->text = text;
		job->size = reply->size;
		job->status = reply->status;
		job->retry_after = reply->retry_after;
		finish_job(job, DsaPointerIsValid(text) ? LANCE_JOB_ANSWERED : LANCE_JOB_LOST);
	}
	else
		release_job(job);
	LWLockRelease(lock);
	if (!claimed)
		free_text(text, reply->size);
}

bool
lance_jobs_leave(void)
{
	Executor *mine = &area->executors[my_executor];
	bool leaving = false;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (mine->job == NULL)
	{
		mine->state = EXECUTOR_ABSENT;
		mine->latch = NULL;
		leaving = true;
	}
	LWLockRelease(lock);
	if (leaving)
		my_executor = -1;
	return leaving;
}

/*
 * turns.c
 *	  Writers of one table take turns, so that few of their commits lose a race.
 *
 * Tables are known by the id in the request, so that no look into the catalog is needed: what goes wrong by that (a
 * rename, two spellings) costs a turn. The state of tables is in shared memory, since their writers are connected to several
 * workers; requests wait where their connection is.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "pg/guc.h"
#include "portability/instr_time.h"
#include "rest/turns.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/shmem.h"
#include "storage/spin.h"

/* Tables that are fought for at once; two whose numbers fall together share a place. */
#define TABLES 64

/* All times are in microseconds of a clock that nobody sets. A table is fought for until so long after a lost race, or a wait. */
#define CONTENDED ((int64)1000000)

/* A connection counts as a writer so long after its commit. */
#define WRITER ((int64)5000000)

/*
 * From question to commit on average: where it takes longer than this, turns would cost more than lost races do, since what
 * was prepared need not be prepared again.
 */
#define LONGEST_WINDOW 25000

/* A turn lasts for that many windows, within these bounds. */
#define TURN_WINDOWS 4
#define SHORTEST_TURN 4000
#define LONGEST_TURN 50000

/* Nobody waits longer. */
#define LONGEST_WAIT ((int64)500000)

typedef struct Table
{
	uint32 table;
	int64 contended_until;
	uint64 holder; /* 0: nobody's turn */
	int64 held_until;
	int32 window; /* average; 0: not known yet */
} Table;

typedef struct TurnArea
{
	slock_t mutex; /* of all below; held for a few instructions */
	Table tables[TABLES];
	struct
	{
		Latch *latch;
		int waiting;
	} workers[LANCE_MAX_REST_WORKERS + 1];
} TurnArea;

/* A request that waits, in its context. */
typedef struct Waiting
{
	dlist_node node;
	LanceRestRequest *request;
	int64 until;
} Waiting;

static TurnArea *area;
static int my_worker;
static uint64 last_id;
static dlist_head waiting = DLIST_STATIC_INIT(waiting);

Size
lance_turns_shmem_size(void)
{
	return sizeof(TurnArea);
}

void
lance_turns_shmem_init(void)
{
	bool found;

	area = ShmemInitStruct("lance_catalog turns", sizeof(TurnArea), &found);
	if (found)
		return;
	memset(area, 0, sizeof(*area));
	SpinLockInit(&area->mutex);
}

static void
leave(int code, Datum arg)
{
	SpinLockAcquire(&area->mutex);
	area->workers[my_worker].latch = NULL;
	area->workers[my_worker].waiting = 0;
	SpinLockRelease(&area->mutex);
}

void
lance_turns_join(int worker)
{
	my_worker = worker;
	last_id = (uint64)worker << 48;
	SpinLockAcquire(&area->mutex);
	area->workers[worker].latch = MyLatch;
	SpinLockRelease(&area->mutex);
	before_shmem_exit(leave, (Datum)0);
}

static int64
clock_now(void)
{
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	return (int64)INSTR_TIME_GET_MICROSEC(now);
}

static uint32
table_of(const LanceRestRequest *request)
{
	return request->raw_id != NULL
			   ? hash_bytes((const unsigned char *)request->raw_id, (int)strlen(request->raw_id))
			   : 0;
}

/* Under the lock: have that writer's turn begin, unless it is another's. */
static bool
take_turn(Table *table, const LanceWriter *writer, int64 now)
{
	if (table->table != writer->table || now > table->contended_until || table->window > LONGEST_WINDOW)
		return true;
	table->contended_until = now + CONTENDED;
	if (table->holder != 0 && table->holder != writer->id && now < table->held_until)
		return false;
	table->holder = writer->id;
	table->held_until = now + Min(Max(table->window * TURN_WINDOWS, SHORTEST_TURN), LONGEST_TURN);
	return true;
}

static bool
try_turn(const LanceWriter *writer, int64 now)
{
	bool taken;

	SpinLockAcquire(&area->mutex);
	taken = take_turn(&area->tables[writer->table % TABLES], writer, now);
	SpinLockRelease(&area->mutex);
	return taken;
}

static void
count_waiting(int change)
{
	SpinLockAcquire(&area->mutex);
	area->workers[my_worker].waiting += change;
	SpinLockRelease(&area->mutex);
}

bool
lance_turn_wait(LanceRestRequest *request)
{
	LanceWriter *writer = request->writer;
	int64 now = clock_now();
	Waiting *wait;

	if (writer == NULL)
		return false;
	if (!lance_guc_rest_writer_turns || writer->id == 0 || writer->table != table_of(request) ||
		now - writer->wrote_at > WRITER || try_turn(writer, now))
	{
		writer->listed_at = now;
		return false;
	}
	wait = MemoryContextAlloc(request->context, sizeof(*wait));
	wait->request = request;
	wait->until = now + LONGEST_WAIT;
	dlist_push_tail(&waiting, &wait->node);
	count_waiting(1);
	return true;
}

LanceRestRequest *
lance_turn_next(void)
{
	dlist_mutable_iter iter;
	int64 now;

	if (dlist_is_empty(&waiting))
		return NULL;
	now = clock_now();
	dlist_foreach_modify(iter, &waiting)
	{
		Waiting *wait = dlist_container(Waiting, node, iter.cur);

		if (!try_turn(wait->request->writer, now) && now < wait->until)
			continue;
		wait->request->writer->listed_at = now;
		dlist_delete(&wait->node);
		count_waiting(-1);
		return wait->request;
	}
	return NULL;
}

long
lance_turn_timeout(void)
{
	int64 first = PG_INT64_MAX;
	dlist_iter iter;

	if (dlist_is_empty(&waiting))
		return -1;
	dlist_foreach(iter, &waiting)
	{
		const Waiting *wait = dlist_container(Waiting, node, iter.cur);
		const Table *table = &area->tables[wait->request->writer->table % TABLES];

		/* A look without the lock: what it misses is found at the next one. */
		first = Min(first, Min(wait->until, table->held_until));
	}
	return (long)Max((first - clock_now() + 999) / 1000, 1);
}

void
lance_turn_over(const LanceRestRequest *request, int status)
{
	LanceWriter *writer = request->writer;
	int64 now = clock_now();
	Latch *woken[LANCE_MAX_REST_WORKERS + 1];
	int nwoken = 0;
	Table *table;

	if (writer == NULL || (status != 200 && status != 409))
		return;
	if (writer->id == 0)
		writer->id = ++last_id;
	writer->table = table_of(request);
	writer->wrote_at = now;
	table = &area->tables[writer->table % TABLES];
	SpinLockAcquire(&area->mutex);
	if (status == 409 && table->table != writer->table && now > table->contended_until)
		*table = (Table){.table = writer->table};
	if (table->table == writer->table)
	{
		if (status == 409)
			table->contended_until = now + CONTENDED;
		else if (writer->listed_at != 0)
		{
			int64 window = Min(now - writer->listed_at, PG_INT32_MAX);

			table->window += (int32)((window - table->window) / (table->window == 0 ? 1 : 8));
		}
		if (table->holder == writer->id)
		{
			table->holder = 0;
			for (int i = 1; i <= LANCE_MAX_REST_WORKERS; i++)
			{
				if (i != my_worker && area->workers[i].waiting > 0 && area->workers[i].latch != NULL)
					woken[nwoken++] = area->workers[i].latch;
			}
		}
	}
	SpinLockRelease(&area->mutex);
	writer->listed_at = 0;
	for (int i = 0; i < nwoken; i++)
		SetLatch(woken[i]);
}

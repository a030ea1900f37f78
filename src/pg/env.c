/*
 * env.c
 *	  LncEnv on PostgreSQL: memory contexts, interrupts, latches.
 *
 * No hook throws: the library's frames must not be jumped over. interrupted() only tells; lance_report() acts.
 */
#include "postgres.h"

#include "base/env.h"
#include "miscadmin.h"
#include "pg/env.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "storage/procsignal.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

/* The library counts on 16-byte alignment, palloc gives 8: the distance to palloc's pointer stands before the block. */
#define LANCE_ALIGNMENT 16

typedef struct LanceLibraryState
{
	LanceLibrary public;
	LncEnv env;
	MemoryContext memory; /* child of parent that holds this struct and all blocks */
	int64_t ends_at_ms;   /* by lnc_now_ms(); 0: no limit */
	MemoryContextCallback callback;
} LanceLibraryState;

static void *
env_alloc(void *state, size_t size)
{
	LanceLibraryState *library = state;
	char *raw;
	char *aligned;

	if (size > MaxAllocHugeSize - 2 * LANCE_ALIGNMENT)
		return NULL;
	raw = MemoryContextAllocExtended(library->memory, size + 2 * LANCE_ALIGNMENT,
									 MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (raw == NULL)
		return NULL;
	aligned = (char *)TYPEALIGN(LANCE_ALIGNMENT, raw + sizeof(char *));
	((char **)aligned)[-1] = raw;
	return aligned;
}

static void
env_release(void *state, void *ptr)
{
	pfree(((char **)ptr)[-1]);
}

static bool
env_interrupted(void *state)
{
	const LanceLibraryState *library = state;

	if (library->ends_at_ms != 0)
		return QueryCancelPending || ProcDiePending || lnc_now_ms() >= library->ends_at_ms;
	return InterruptPending && (QueryCancelPending || ProcDiePending) && InterruptHoldoffCount == 0;
}

/*
 * CREATE DATABASE, DROP DATABASE and others wait until every process has taken part in a barrier, and must not wait
 * for a slow store. It closes files and does not throw in practice; should it, the next interrupt check sees it again.
 */
static void
absorb_barrier(void)
{
	MemoryContext caller = CurrentMemoryContext;

	PG_TRY();
	{
		ProcessProcSignalBarrier();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		FlushErrorState();
		InterruptPending = true;
	}
	PG_END_TRY();
}

/* The server counts files that are not its own, and closes some of its own for them. */
static bool
env_keep_file(void *state)
{
	return AcquireExternalFD();
}

static void
env_file_closed(void *state)
{
	ReleaseExternalFD();
}

static int
env_wait(void *state, int fd, int timeout_ms)
{
	LanceLibraryState *library = state;

	/* Work with a limit is what surrounds a commit record, and must come to its end: no exit from there. */
	int if_alone = library->ends_at_ms != 0 ? WL_POSTMASTER_DEATH : WL_EXIT_ON_PM_DEATH;
	int events = WL_LATCH_SET | if_alone | (fd >= 0 ? WL_SOCKET_READABLE : 0) | (timeout_ms >= 0 ? WL_TIMEOUT : 0);
	int got = WaitLatchOrSocket(MyLatch, events, fd < 0 ? PGINVALID_SOCKET : fd, timeout_ms, PG_WAIT_EXTENSION);

	if (got & WL_LATCH_SET)
		ResetLatch(MyLatch);
	if (got & WL_POSTMASTER_DEATH)
		library->ends_at_ms = 1;
	if (ProcSignalBarrierPending)
		absorb_barrier();
	return (got & WL_SOCKET_READABLE) != 0;
}

/* Runs when the parent context goes: close what the arena holds; its memory goes with the context. */
static void
library_reset(void *arg)
{
	LanceLibraryState *state = arg;

	if (state->public.arena != NULL)
	{
		LncArena *arena = state->public.arena;

		state->public.arena = NULL;
		lnc_arena_destroy(arena);
	}
}

LanceLibrary *
lance_library_create(MemoryContext parent)
{
	MemoryContext memory = AllocSetContextCreate(parent, "lance library", ALLOCSET_DEFAULT_SIZES);
	LanceLibraryState *state = MemoryContextAllocZero(memory, sizeof(*state));

	state->memory = memory;
	state->env = (LncEnv){
		.alloc = env_alloc,
		.release = env_release,
		.interrupted = env_interrupted,
		.wait = env_wait,
		.keep_file = env_keep_file,
		.file_closed = env_file_closed,
		.unsynced = !enableFsync, /* the server's setting fsync */
		.state = state,
	};
	lnc_context_init(&state->public.ctx, &state->env);
	state->public.arena = lnc_arena_create(&state->env);
	if (state->public.arena == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	state->callback.func = library_reset;
	state->callback.arg = state;
	MemoryContextRegisterResetCallback(memory, &state->callback);
	return &state->public;
}

void
lance_library_limit(LanceLibrary *library, int ms)
{
	((LanceLibraryState *)library)->ends_at_ms = lnc_now_ms() + ms;
}

void
lance_library_destroy(LanceLibrary *library)
{
	MemoryContextDelete(((LanceLibraryState *)library)->memory);
}

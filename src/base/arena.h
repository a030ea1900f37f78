/*
 * arena.h
 *	  A region of memory freed as a whole, with a list of foreign handles to close when it is.
 *
 * Blocks come from ctx->env->alloc. An arena belongs to whoever created it; everything allocated in it lives
 * until lnc_arena_reset or lnc_arena_destroy.
 */
#ifndef LNC_BASE_ARENA_H
#define LNC_BASE_ARENA_H

#include "base/status.h"

typedef struct LncArena LncArena;

#define LNC_BUDGET_SIZES 64

/* What a scan lets its arenas keep for each other. ASan is to see uses of memory that was let go, so there it is nothing. */
#if defined(__SANITIZE_ADDRESS__)
#define LNC_SPARE_BYTES ((size_t)0)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LNC_SPARE_BYTES ((size_t)0)
#endif
#endif
#ifndef LNC_SPARE_BYTES
#define LNC_SPARE_BYTES ((size_t)16 * 1024 * 1024)
#endif

/*
 * What the arenas of one piece of work take of the environment, all together, and a limit for some of them. Belongs to
 * whoever does the work, and outlives the arenas.
 */
typedef struct LncBudget
{
	size_t limit; /* of the limited arenas together, in bytes */
	size_t taken; /* by all arenas */
	size_t peak;  /* the most that was taken at once */
	size_t limited;
	size_t limited_peak;
	bool refused; /* an allocation failed because of the limit; whoever set the limit sets it back */

	/* Blocks that no arena uses, kept for the next that wants such: fresh memory costs more than filling it. */
	size_t spare_most; /* bytes of them; 0: none are kept */
	size_t spare;      /* bytes of them; part of taken, but of no limit */
	const struct LncEnv *env;
	struct ArenaBlock *spares[LNC_BUDGET_SIZES]; /* by the logarithm of their size */
} LncBudget;

/* Make an empty arena. env must outlive it. NULL when memory is short. */
extern LncArena *lnc_arena_create(const struct LncEnv *env);

/* What it was made with, or the parent of all its parents was. */
extern const struct LncEnv *lnc_arena_env(const LncArena *arena);

/*
 * The same, with the error recorded. For what lives shorter than any arena at hand; the caller destroys it. It counts
 * against the budget of ctx, if there is one.
 */
extern LncCode lnc_arena_create_scratch(LncContext *ctx, LncArena **out) LNC_MUST_CHECK;

/*
 * Make an empty arena, in the parent's environment, that is destroyed when parent is reset or destroyed, and by nobody
 * else. It counts against the parent's budget.
 */
extern LncCode lnc_arena_create_child(LncContext *ctx, LncArena *parent, LncArena **out) LNC_MUST_CHECK;

/* Have an empty arena count against budget, which must outlive it. */
extern void lnc_arena_count(LncArena *arena, LncBudget *budget);

/*
 * Have arenas that count against budget leave most bytes of their blocks to each other, until owner is reset or
 * destroyed. To be called before any of them becomes a child of owner.
 */
extern LncCode lnc_budget_keep_blocks(LncContext *ctx, LncArena *owner, LncBudget *budget,
									  size_t most) LNC_MUST_CHECK;

/*
 * Have the limit of its budget apply to an empty arena: beyond it, allocations are LNC_NO_MEMORY and the budget says that
 * it refused. For what shrinks with the amount of work asked for, and nothing that is kept from one call to the next.
 */
extern void lnc_arena_limit(LncArena *arena);

/* Have the arena's memory overwritten before it is let go: it holds secrets. */
extern void lnc_arena_wipe(LncArena *arena);

/* Whether the error at hand may be due to the limit of a budget. */
static inline bool
lnc_budget_refused(const LncContext *ctx)
{
	return ctx->budget != NULL && ctx->budget->refused;
}

/* Run the cleanups (latest first), free all memory but keep the arena itself usable. */
extern void lnc_arena_reset(LncArena *arena);

/* Reset and free the arena. NULL is allowed. */
extern void lnc_arena_destroy(LncArena *arena);

/* size bytes, 16-byte aligned, not zeroed (size 0 gives a valid pointer). *out is set on LNC_OK only. */
extern LncCode lnc_arena_alloc(LncContext *ctx, LncArena *arena, size_t size, void **out) LNC_MUST_CHECK;

/* count items of size bytes, zeroed; a product that overflows is LNC_LIMIT. */
extern LncCode lnc_arena_calloc(LncContext *ctx, LncArena *arena, size_t count, size_t size,
								void **out) LNC_MUST_CHECK;

/*
 * A larger copy of an array: *array, of which used items count, becomes one of room items, those behind them zeroed. The old
 * one stays in the arena.
 */
extern LncCode lnc_arena_grow(LncContext *ctx, LncArena *arena, size_t used, size_t room, size_t size,
							  void **array) LNC_MUST_CHECK;

/* A NUL-terminated copy of length bytes of text. */
extern LncCode lnc_arena_strndup(LncContext *ctx, LncArena *arena, const char *text, size_t length,
								 char **out) LNC_MUST_CHECK;

/* printf into the arena. */
extern LncCode lnc_arena_printf(LncContext *ctx, LncArena *arena, char **out, const char *fmt, ...)
	LNC_PRINTF(4, 5) LNC_MUST_CHECK;

/* Have fn(arg) called at reset or destroy. fn must not fail and must not use the arena. */
extern LncCode lnc_arena_on_cleanup(LncContext *ctx, LncArena *arena, void (*fn)(void *arg),
									void *arg) LNC_MUST_CHECK;

/* Bytes currently taken from the environment, for limits and tests. */
extern size_t lnc_arena_footprint(const LncArena *arena);

/* LNC_NEW(ctx, arena, &ptr, n): ptr = n zeroed items of its own type. */
#define LNC_NEW(ctx, arena, ptr, n) lnc_arena_calloc((ctx), (arena), (size_t)(n), sizeof(**(ptr)), (void **)(ptr))

#endif

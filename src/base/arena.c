/*
 * arena.c
 *	  Bump allocation in blocks, with a cleanup list.
 */
#include "base/arena.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/env.h"

#define ARENA_ALIGN 16
#define ARENA_FIRST_BLOCK ((size_t)4 * 1024)
#define ARENA_LARGEST_BLOCK ((size_t)1024 * 1024)

/* A block of memory; the usable bytes follow the header. */
typedef struct ArenaBlock
{
	struct ArenaBlock *next;
	size_t size; /* usable bytes */
	size_t used;
	size_t padding; /* keeps the header a multiple of ARENA_ALIGN */
} ArenaBlock;

typedef struct ArenaCleanup
{
	struct ArenaCleanup *next;
	void (*fn)(void *arg);
	void *arg;
} ArenaCleanup;

struct LncArena
{
	const LncEnv *env;      /* borrowed */
	ArenaBlock *blocks;     /* owned; the head is the one being filled */
	ArenaCleanup *cleanups; /* latest first; nodes live in the blocks */
	size_t next_block;      /* size of the next ordinary block */
	size_t footprint;
	LncBudget *budget; /* borrowed; NULL: none */
	bool limited;
	bool wiped; /* blocks are overwritten before they are let go */
};

/* Count bytes more, or say that they are too many. */
static bool
budget_take(LncArena *arena, size_t bytes)
{
	LncBudget *budget = arena->budget;

	if (budget == NULL)
		return true;
	if (arena->limited)
	{
		if (budget->limited > budget->limit || bytes > budget->limit - budget->limited)
		{
			budget->refused = true;
			return false;
		}
		budget->limited += bytes;
		if (budget->limited > budget->limited_peak)
			budget->limited_peak = budget->limited;
	}
	budget->taken += bytes;
	if (budget->taken > budget->peak)
		budget->peak = budget->taken;
	return true;
}

static void
budget_give(const LncArena *arena, size_t bytes)
{
	if (arena->budget == NULL)
		return;
	arena->budget->taken -= bytes;
	if (arena->limited)
		arena->budget->limited -= bytes;
}

/* ---- spare blocks ---- */

/* A spare block may be so much larger than wanted: a quarter. The sizes of large blocks are brought to steps for that. */
#define SPARE_STEPS 8
#define SPARE_PROBES 16
#define SPARE_ROUNDED ((size_t)64 * 1024)

static unsigned
size_class(size_t size)
{
	return 63 - (unsigned)__builtin_clzll((unsigned long long)size | 1);
}

/* The size to ask for where spare blocks are kept, so that one of about that size will do. */
static size_t
round_to_step(const LncArena *arena, size_t size)
{
	size_t step;
	size_t rounded;

	if (arena->budget == NULL || arena->budget->spare_most == 0 || size < SPARE_ROUNDED)
		return size;
	step = ((size_t)1 << size_class(size)) / SPARE_STEPS;
	return lnc_add_overflow(size, step - 1, &rounded) ? size : rounded & ~(step - 1);
}

/* A spare block of at least size usable bytes, NULL when there is none that fits. It no longer counts. */
static ArenaBlock *
take_spare(const LncArena *arena, size_t size)
{
	LncBudget *budget = arena->budget;

	if (budget == NULL || budget->spare == 0)
		return NULL;
	for (unsigned class = size_class(size); class <= size_class(size + size / 4); class ++)
	{
		ArenaBlock **link = &budget->spares[class];

		for (int probe = 0; *link != NULL && probe < SPARE_PROBES; probe++, link = &(*link)->next)
		{
			ArenaBlock *block = *link;

			if (block->size < size || block->size > size + size / 4)
				continue;
			*link = block->next;
			budget->spare -= block->size + sizeof(*block);
			budget->taken -= block->size + sizeof(*block);
			return block;
		}
	}
	return NULL;
}

static void
release_spares(LncBudget *budget)
{
	for (unsigned class = 0; class < LNC_BUDGET_SIZES; class ++)
		while (budget->spares[class] != NULL)
		{
			ArenaBlock *block = budget->spares[class];

			budget->spares[class] = block->next;
			budget->env->release(budget->env->state, block);
		}
	budget->taken -= budget->spare;
	budget->spare = 0;
}

/* Let go of a block that is no longer counted. */
static void
drop_block(const LncArena *arena, ArenaBlock *block)
{
	LncBudget *budget = arena->budget;
	size_t total = block->size + sizeof(*block);
	unsigned class = size_class(block->size);

	if (budget == NULL || total > budget->spare_most || arena->env != budget->env)
	{
		arena->env->release(arena->env->state, block);
		return;
	}
	/* Those kept so far have not been of use for a while if they leave no room. */
	if (total > budget->spare_most - budget->spare)
		release_spares(budget);
	block->next = budget->spares[class];
	budget->spares[class] = block;
	budget->spare += total;
	budget->taken += total;
}

static void
cleanup_budget(void *arg)
{
	LncBudget *budget = arg;

	release_spares(budget);
	budget->spare_most = 0;
}

LncCode
lnc_budget_keep_blocks(LncContext *ctx, LncArena *owner, LncBudget *budget, size_t most)
{
	LNC_TRY(lnc_arena_on_cleanup(ctx, owner, cleanup_budget, budget));
	budget->env = ctx->env;
	budget->spare_most = most;
	return LNC_OK;
}

/* ---- arenas ---- */

LncArena *
lnc_arena_create(const LncEnv *env)
{
	LncArena *arena = env->alloc(env->state, sizeof(*arena));

	if (arena == NULL)
		return NULL;
	memset(arena, 0, sizeof(*arena));
	arena->env = env;
	arena->next_block = ARENA_FIRST_BLOCK;
	return arena;
}

const LncEnv *
lnc_arena_env(const LncArena *arena)
{
	return arena->env;
}

LncCode
lnc_arena_create_scratch(LncContext *ctx, LncArena **out)
{
	*out = lnc_arena_create(ctx->env);
	if (*out == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	(*out)->budget = ctx->budget;
	return LNC_OK;
}

static void
destroy_child(void *arg)
{
	lnc_arena_destroy(arg);
}

LncCode
lnc_arena_create_child(LncContext *ctx, LncArena *parent, LncArena **out)
{
	LncArena *child;
	LncCode code;

	/* The parent's environment, not the caller's, which may be gone before the parent is. */
	child = lnc_arena_create(parent->env);
	if (child == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	child->budget = parent->budget;
	code = lnc_arena_on_cleanup(ctx, parent, destroy_child, child);
	if (code != LNC_OK)
	{
		lnc_arena_destroy(child);
		return code;
	}
	*out = child;
	return LNC_OK;
}

void
lnc_arena_count(LncArena *arena, LncBudget *budget)
{
	arena->budget = budget;
}

void
lnc_arena_limit(LncArena *arena)
{
	arena->limited = true;
}

void
lnc_arena_wipe(LncArena *arena)
{
	arena->wiped = true;
}

void
lnc_arena_reset(LncArena *arena)
{
	while (arena->cleanups != NULL)
	{
		ArenaCleanup *cleanup = arena->cleanups;

		arena->cleanups = cleanup->next;
		cleanup->fn(cleanup->arg);
	}
	budget_give(arena, arena->footprint);
	while (arena->blocks != NULL)
	{
		ArenaBlock *block = arena->blocks;

		arena->blocks = block->next;
		if (arena->wiped)
			explicit_bzero(block + 1, block->used);
		drop_block(arena, block);
	}
	arena->next_block = ARENA_FIRST_BLOCK;
	arena->footprint = 0;
}

void
lnc_arena_destroy(LncArena *arena)
{
	if (arena == NULL)
		return;
	lnc_arena_reset(arena);
	arena->env->release(arena->env->state, arena);
}

LncCode
lnc_arena_alloc(LncContext *ctx, LncArena *arena, size_t size, void **out)
{
	ArenaBlock *block = arena->blocks;
	size_t rounded;
	size_t total;

	if (lnc_add_overflow(size, (size_t)ARENA_ALIGN - 1, &rounded))
		return lnc_fail(ctx, LNC_LIMIT, "a request of %zu bytes is too large", size);
	rounded &= ~((size_t)ARENA_ALIGN - 1);
	if (rounded == 0)
		rounded = ARENA_ALIGN;

	if (block == NULL || block->size - block->used < rounded)
	{
		bool oversized = rounded > arena->next_block / 2;
		size_t usable = oversized ? round_to_step(arena, rounded) : arena->next_block;

		block = take_spare(arena, usable);
		if (block != NULL)
			usable = block->size;
		if (lnc_add_overflow(usable, sizeof(ArenaBlock), &total))
			return lnc_fail(ctx, LNC_LIMIT, "a request of %zu bytes is too large", size);
		if (!budget_take(arena, total))
		{
			if (block != NULL)
				drop_block(arena, block);
			return lnc_fail(ctx, LNC_NO_MEMORY, "a request of %zu bytes is beyond what may be taken", size);
		}
		if (block == NULL)
			block = arena->env->alloc(arena->env->state, total);
		if (block == NULL)
		{
			budget_give(arena, total);
			return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory for a request of %zu bytes", size);
		}
		block->size = usable;
		block->used = 0;
		arena->footprint += total;
		if (oversized && arena->blocks != NULL)
		{
			/* Keep filling the current block; the oversized one is full at birth. */
			block->next = arena->blocks->next;
			arena->blocks->next = block;
		}
		else
		{
			block->next = arena->blocks;
			arena->blocks = block;
			if (!oversized && arena->next_block < ARENA_LARGEST_BLOCK)
				arena->next_block *= 2;
		}
	}
	*out = (uint8_t *)(block + 1) + block->used;
	block->used += rounded;
	return LNC_OK;
}

LncCode
lnc_arena_calloc(LncContext *ctx, LncArena *arena, size_t count, size_t size, void **out)
{
	size_t total;

	if (lnc_mul_overflow(count, size, &total))
		return lnc_fail(ctx, LNC_LIMIT, "an array of %zu items of %zu bytes is too large", count, size);
	LNC_TRY(lnc_arena_alloc(ctx, arena, total, out));
	memset(*out, 0, total);
	return LNC_OK;
}

LncCode
lnc_arena_grow(LncContext *ctx, LncArena *arena, size_t used, size_t room, size_t size, void **array)
{
	void *larger;

	LNC_TRY(lnc_arena_calloc(ctx, arena, room, size, &larger));
	if (used > 0)
		memcpy(larger, *array, used * size);
	*array = larger;
	return LNC_OK;
}

LncCode
lnc_arena_strndup(LncContext *ctx, LncArena *arena, const char *text, size_t length, char **out)
{
	void *copy;

	if (length == SIZE_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "a text of %zu bytes is too large", length);
	LNC_TRY(lnc_arena_alloc(ctx, arena, length + 1, &copy));
	if (length > 0)
		memcpy(copy, text, length);
	((char *)copy)[length] = '\0';
	*out = copy;
	return LNC_OK;
}

LncCode
lnc_arena_printf(LncContext *ctx, LncArena *arena, char **out, const char *fmt, ...)
{
	va_list args;
	va_list again;
	int length;
	LncCode code;
	void *text;

	va_start(args, fmt);
	va_copy(again, args);
	length = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	code = lnc_arena_alloc(ctx, arena, (size_t)length + 1, &text);
	if (code == LNC_OK)
	{
		vsnprintf(text, (size_t)length + 1, fmt, again);
		*out = text;
	}
	va_end(again);
	return code;
}

LncCode
lnc_arena_on_cleanup(LncContext *ctx, LncArena *arena, void (*fn)(void *arg), void *arg)
{
	ArenaCleanup *cleanup;

	LNC_TRY(LNC_NEW(ctx, arena, &cleanup, 1));
	cleanup->fn = fn;
	cleanup->arg = arg;
	cleanup->next = arena->cleanups;
	arena->cleanups = cleanup;
	return LNC_OK;
}

size_t
lnc_arena_footprint(const LncArena *arena)
{
	return arena->footprint;
}

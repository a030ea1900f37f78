/*
 * credential_cache.c
 *	  The cache of keys that expire.
 *
 * A place is held by the process that makes its keys, without a lock: what runs meanwhile throws nothing and gives the place
 * back in any case. The others wait on the place's condition variable, by hand, since its own wait would throw.
 */
#include "postgres.h"

#include <signal.h>

#include "base/env.h"
#include "miscadmin.h"
#include "pg/credential_cache.h"
#include "storage/condition_variable.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/memutils.h"

#define SHARED_PLACES 512
#define LOCAL_PLACES 16
#define TRANCHE "lance_catalog credentials"

/* After a failure nobody asks again for so long. */
#define FAILURE_MS 5000

/* Keys that a store refuses when they are so young would be refused when made anew. */
#define YOUNG_MS 1000

/* While one process finds out whether a service is back, the others take it for gone for so long. */
#define PROBE_MS 15000

/* Longest sleep between two looks at a place that another process holds. */
#define LOOK_MS 1000

typedef struct Place
{
	LanceCredentialId id;
	bool used;
	uint64 last_use;       /* of the area's clock */
	int maker;             /* process that makes the keys; 0: none */
	int64 failed_until_ms; /* by lnc_now_ms(); 0: the last attempt did not fail */
	LncCode failure;
	uint64 serial; /* of the keys; 0: there are none */
	int64 obtained_ms;
	int64 expires_ms;
	ConditionVariable made;
} Place;

typedef struct CacheArea
{
	uint64 clock;
	uint64 last_serial;
	int nplaces;
	LncCredentials *keys; /* of each place */
	Place places[FLEXIBLE_ARRAY_MEMBER];
} CacheArea;

static CacheArea *area;
static LWLock *lock; /* NULL: the area is this process's own */
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

static Size
area_size(int nplaces)
{
	return MAXALIGN(offsetof(CacheArea, places) + nplaces * sizeof(Place)) + nplaces * sizeof(LncCredentials);
}

static void
area_init(CacheArea *new, int nplaces)
{
	memset(new, 0, area_size(nplaces));
	new->nplaces = nplaces;
	new->keys = (LncCredentials *)((char *)new + MAXALIGN(offsetof(CacheArea, places) + nplaces * sizeof(Place)));
	for (int i = 0; i < nplaces; i++)
		ConditionVariableInit(&new->places[i].made);
}

static void
cache_request(void)
{
	if (previous_request_hook != NULL)
		previous_request_hook();
	RequestAddinShmemSpace(area_size(SHARED_PLACES));
	RequestNamedLWLockTranche(TRANCHE, 1);
}

static void
cache_startup(void)
{
	bool found;

	if (previous_startup_hook != NULL)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	area = ShmemInitStruct(TRANCHE, area_size(SHARED_PLACES), &found);
	if (!found)
		area_init(area, SHARED_PLACES);
	lock = &GetNamedLWLockTranche(TRANCHE)->lock;
	LWLockRelease(AddinShmemInitLock);
}

void
lance_credential_cache_init(void)
{
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = cache_request;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = cache_startup;
}

static void
acquire(void)
{
	if (lock != NULL)
		LWLockAcquire(lock, LW_EXCLUSIVE);
}

static void
release(void)
{
	if (lock != NULL)
		LWLockRelease(lock);
}

/* False when there is no memory. */
static bool
have_area(void)
{
	if (area == NULL)
	{
		area = MemoryContextAllocExtended(TopMemoryContext, area_size(LOCAL_PLACES), MCXT_ALLOC_NO_OOM);
		if (area == NULL)
			return false;
		area_init(area, LOCAL_PLACES);
	}
	return true;
}

/* ---- with the lock held */

static void
vacate(Place *place)
{
	lnc_credentials_wipe(&area->keys[place - area->places]);
	place->used = false;
	place->serial = 0;
	place->failed_until_ms = 0;
}

static Place *
find(const LanceCredentialId *id)
{
	for (int i = 0; i < area->nplaces; i++)
	{
		Place *place = &area->places[i];

		if (place->used && memcmp(&place->id, id, sizeof(*id)) == 0)
		{
			place->last_use = ++area->clock;
			return place;
		}
	}
	return NULL;
}

/* A place for what is new: an empty one, else the one unused for longest that nobody holds. NULL: all are held. */
static Place *
take_place(const LanceCredentialId *id)
{
	int64 now = lnc_wall_ms();
	Place *best = NULL;

	for (int i = 0; i < area->nplaces; i++)
	{
		Place *place = &area->places[i];

		if (place->maker != 0)
			continue;
		if (place->used && place->serial != 0 && place->expires_ms <= now)
			vacate(place);
		if (best == NULL || (best->used && (!place->used || place->last_use < best->last_use)))
			best = place;
	}
	if (best == NULL)
		return NULL;
	vacate(best);
	best->id = *id;
	best->used = true;
	best->last_use = ++area->clock;
	return best;
}

static bool
alive(const Place *place, uint64 refused, int64 now)
{
	return place->serial != 0 && place->serial != refused && now < place->expires_ms;
}

static void
copy_keys(const Place *place, LncCredentials *out)
{
	*out = area->keys[place - area->places];
}

/* Keys that need not be made anew. */
static bool
is_good(const Place *place, const LanceCredentialMaker *maker, uint64 refused, int64 now)
{
	LncCredentials times = {.obtained_ms = place->obtained_ms, .expires_ms = place->expires_ms};

	return alive(place, refused, now) && !maker->due(&times, now);
}

/*
 * Whether the process that holds the place is at it. It gives the place back in any case, but the environment's hooks, which
 * it waits in, are not proven to throw nothing.
 */
static bool
is_held(Place *place)
{
	if (place->maker != 0 && (place->maker == MyProcPid || (kill(place->maker, 0) != 0 && errno == ESRCH)))
		place->maker = 0;
	return place->maker != 0;
}

/* Not so when they are from the future: then the clock was set back, and says nothing of their age. */
static bool
is_young(const Place *place, int64 now)
{
	int64 age = now - place->obtained_ms;

	return age > -YOUNG_MS && age < YOUNG_MS;
}

/* ---- waiting and making */

/* Wait for the process that holds the place, or for LOOK_MS. The lock is held at the call, and not after it. */
static LncCode
wait_for(LncContext *ctx, Place *place)
{
	ConditionVariablePrepareToSleep(&place->made);
	release();
	ctx->env->wait(ctx->env->state, -1, LOOK_MS);
	ConditionVariableCancelSleep();
	return lnc_check_interrupt(ctx);
}

/* Make the keys of a place that is held, and give it back. */
static LncCode
make_keys(LncContext *ctx, Place *place, const LanceCredentialMaker *maker, uint64 refused, LncCredentials *out)
{
	LncCode code = maker->make(ctx, maker->arg, out);
	int64 now = lnc_wall_ms();

	acquire();
	place->maker = 0;
	if (code == LNC_OK)
	{
		out->serial = ++area->last_serial;
		area->keys[place - area->places] = *out;
		place->serial = out->serial;
		place->obtained_ms = out->obtained_ms;
		place->expires_ms = out->expires_ms;
		place->failed_until_ms = 0;
	}
	else if (code != LNC_CANCELLED)
	{
		place->failed_until_ms = lnc_now_ms() + FAILURE_MS;
		place->failure = code;
		if (alive(place, refused, now))
		{
			copy_keys(place, out);
			code = LNC_OK;
		}
	}
	release();
	if (lock != NULL)
		ConditionVariableBroadcast(&place->made);
	return code;
}

LncCode
lance_credential_cache_get(LncContext *ctx, const LanceCredentialId *id, const LanceCredentialMaker *maker,
						   uint64_t refused, LncCredentials *out)
{
	if (!have_area())
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	for (;;)
	{
		int64 now = lnc_wall_ms();
		Place *place;

		acquire();
		place = find(id);
		if (place != NULL && is_good(place, maker, refused, now))
		{
			copy_keys(place, out);
			release();
			return LNC_OK;
		}
		if (place != NULL && is_held(place))
		{
			LNC_TRY(wait_for(ctx, place));
			continue;
		}
		if (place != NULL && place->failed_until_ms > lnc_now_ms())
		{
			LncCode failure = place->failure;
			bool some = alive(place, refused, now);

			if (some)
				copy_keys(place, out);
			release();
			return some ? LNC_OK : lnc_fail(ctx, failure, "credentials could not be had a moment ago");
		}
		if (place != NULL && refused != 0 && place->serial == refused && is_young(place, now))
		{
			release();
			return lnc_fail(ctx, LNC_DENIED, "store refuses credentials that were made a moment ago");
		}
		if (place == NULL)
			place = take_place(id);
		if (place != NULL)
			place->maker = MyProcPid;
		release();
		if (place != NULL)
			return make_keys(ctx, place, maker, refused, out);

		/* More are being made at once than there are places: these are not kept. */
		LNC_TRY(maker->make(ctx, maker->arg, out));
		acquire();
		out->serial = ++area->last_serial;
		release();
		return LNC_OK;
	}
}

bool
lance_credential_cache_find(const LanceCredentialId *id, const LanceCredentialMaker *maker, LncCredentials *out)
{
	int64 now = lnc_wall_ms();
	bool known = false;
	Place *place;

	memset(out, 0, sizeof(*out));
	if (!have_area())
		return false;
	acquire();
	place = find(id);
	if (place != NULL)
	{
		bool failed = place->maker == 0 && place->failed_until_ms > lnc_now_ms();

		known = is_good(place, maker, 0, now) || failed;
		if (known && alive(place, 0, now))
			copy_keys(place, out);
	}
	release();
	return known;
}

/* ---- services */

bool
lance_credential_service_open(const LanceCredentialId *service)
{
	int64 now = lnc_now_ms();
	bool may_ask;
	Place *place;

	if (!have_area())
		return true;
	acquire();
	place = find(service);
	may_ask = place == NULL || now >= place->failed_until_ms;
	if (may_ask && place != NULL && place->failed_until_ms != 0)
		place->failed_until_ms = now + PROBE_MS;
	release();
	return may_ask;
}

void
lance_credential_service_told(const LanceCredentialId *service, LncCode code)
{
	bool gone = code == LNC_UNAVAILABLE;
	Place *place;

	if (!have_area())
		return;
	acquire();
	place = find(service);
	if (place == NULL && gone)
		place = take_place(service);
	if (place != NULL)
		place->failed_until_ms = gone ? lnc_now_ms() + FAILURE_MS : 0;
	release();
}

/*
 * credential_cache.h
 *	  Keys that expire, kept until shortly before they do, and renewed by one process while the others wait.
 *
 * In shared memory when the library is preloaded, else of the process. It is bounded; the place that was not used for longest
 * is taken for what is new. What leaves it is overwritten.
 */
#ifndef LANCE_PG_CREDENTIAL_CACHE_H
#define LANCE_PG_CREDENTIAL_CACHE_H

#include "storage/credentials.h"

/* What the keys are for: a hash of the foreign server, the role, all settings and secrets, the place and the access. */
typedef struct LanceCredentialId
{
	uint8_t hash[32];
} LanceCredentialId;

/* How to make them. Called without locks; throws nothing. */
typedef struct LanceCredentialMaker
{
	LncCode (*make)(LncContext *ctx, void *arg, LncCredentials *out);
	void *arg;

	/* Whether keys should be made anew though they live. */
	bool (*due)(const LncCredentials *keys, int64_t now_ms);
} LanceCredentialMaker;

/* Request shared memory and install the start-up hooks; call from _PG_init while preloading. */
extern void lance_credential_cache_init(void);

/*
 * Keys from the cache, else made and put there. refused is the serial of such that the store takes for expired, or 0. While
 * another process makes them, this one waits, interruptibly. A failure is remembered for some seconds, in which nobody tries
 * again; keys that are due but alive are given then. Throws nothing. LNC_CANCELLED, or what the maker says.
 */
extern LncCode lance_credential_cache_get(LncContext *ctx, const LanceCredentialId *id,
										  const LanceCredentialMaker *maker, uint64_t refused,
										  LncCredentials *out) LNC_MUST_CHECK;

/*
 * Whether a service, by an id of its own, may be asked: not for some seconds after it gave no answer, and then by one
 * process at first. Whoever may ask tells how it ended.
 */
extern bool lance_credential_service_open(const LanceCredentialId *service);
extern void lance_credential_service_told(const LanceCredentialId *service, LncCode code);

/*
 * The same as lance_credential_cache_get without waiting: true with keys in out, or with out->serial 0 when a failure is remembered; false when there is
 * something to be made.
 */
extern bool lance_credential_cache_find(const LanceCredentialId *id, const LanceCredentialMaker *maker,
										LncCredentials *out);

#endif

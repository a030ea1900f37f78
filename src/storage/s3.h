/*
 * s3.h
 *	  The S3 store: shared by the files that implement it, private to them.
 */
#ifndef LNC_STORAGE_S3_H
#define LNC_STORAGE_S3_H

#include "storage/backend.h"
#include "storage/credentials.h"
#include "storage/http.h"
#include "storage/sigv4.h"

/* Query parameters that one call has at most. */
#define LNC_S3_MAX_PARAMS 8

typedef struct LncS3Store
{
	LncStore base;
	LncHttp *http; /* borrowed */
	LncHttpPolicy policy;
	const char *origin; /* "https://host[:port]" */
	const char *host;   /* the authority in it */
	const char *prefix; /* encoded path in front of the key: "/bucket", or "" when the bucket is in the host */
	bool is_signed;
	LncSigV4Key key;                   /* texts of current */
	const LncCredentialSource *source; /* NULL: current stays as it is */
	LncCredentials *current;           /* NULL: requests are not signed */
	uint64_t refused;                  /* serial of the keys that the store last took for expired; 0: none */
	int64_t ask_again_ms;              /* when the source is asked next, after it had no newer keys */
} LncS3Store;

/* One request to S3, beside its LncHttpRequest. Filled by lnc_s3_prepare_call and by the caller before lnc_s3_run. */
typedef struct LncS3Call
{
	LncS3Store *store;
	const char *path; /* encoded */
	size_t nparams;
	LncSigV4Pair params[LNC_S3_MAX_PARAMS];
	const char *range; /* value of the Range header; NULL: none */
	bool if_none_match;
	uint64_t serial; /* of the keys that the last attempt was signed with */
	char payload_hash[LNC_SHA256_HEX_SIZE];
} LncS3Call;

/* n requests to run together; memory is that of the scratch arena. */
typedef struct LncS3Batch
{
	size_t n;
	LncHttpRequest *requests;
	LncS3Call *calls;
} LncS3Batch;

extern LncCode lnc_s3_batch(LncContext *ctx, LncArena *scratch, size_t n, LncS3Batch *out) LNC_MUST_CHECK;

/* Address request i to the object of key (relative to the store's root), or for NULL to the bucket. */
extern LncCode lnc_s3_address(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncS3Batch *batch, size_t i,
							  const char *method, const char *key, LncSlice body) LNC_MUST_CHECK;

/* Run the batch; each request then has its outcome. */
extern LncCode lnc_s3_run(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncS3Batch *batch) LNC_MUST_CHECK;

/* The URL of request i, from what its call says. */
extern LncCode lnc_s3_url(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncS3Batch *batch,
						  size_t i) LNC_MUST_CHECK;

/* s3_keys.c: take the keys of config, or their source. */
extern LncCode lnc_s3_keys_open(LncContext *ctx, LncArena *arena, const LncStoreConfig *config,
								LncS3Store *store) LNC_MUST_CHECK;

/* Have keys at hand that are not about to expire, asking the source if need be. Called before each attempt. */
extern LncCode lnc_s3_keys_ready(LncContext *ctx, LncS3Store *store) LNC_MUST_CHECK;

/*
 * True when the answer says that the keys of the attempt have expired and there may be newer ones, which
 * lnc_s3_keys_ready then asks for.
 */
extern bool lnc_s3_keys_refused(const LncHttpRequest *request);

/* Record what a request that did not succeed means. verb completes "could not …". */
extern LncCode lnc_s3_error(LncContext *ctx, const LncS3Store *store, const char *verb, const char *key,
							const LncHttpRequest *request);

/* The key within the bucket. */
extern LncCode lnc_s3_full_key(LncContext *ctx, LncArena *scratch, const LncS3Store *store, const char *key,
							   const char **out) LNC_MUST_CHECK;

/* Parts of the vtable that live in files of their own. */
extern LncCode lnc_s3_size(LncContext *ctx, LncStore *store, const char *key, uint64_t *size) LNC_MUST_CHECK;
extern LncCode lnc_s3_present(LncContext *ctx, LncStore *store, size_t n, const char *const *keys,
							  bool *present) LNC_MUST_CHECK;
extern LncCode lnc_s3_read_ranges(LncContext *ctx, LncStore *store, LncArena *arena, const char *key,
								  size_t nranges, const LncRange *ranges, const uint8_t **outs) LNC_MUST_CHECK;
extern LncCode lnc_s3_read_begin(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, LncRange range,
								 uint8_t *target, void **job) LNC_MUST_CHECK;
extern LncCode lnc_s3_read_finish(LncContext *ctx, LncStore *store, void *job, bool *whole) LNC_MUST_CHECK;
extern LncCode lnc_s3_move_on(LncContext *ctx, LncStore *store) LNC_MUST_CHECK;
extern LncCode lnc_s3_read_tail(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max,
								LncSlice *tail, uint64_t *size) LNC_MUST_CHECK;
extern LncCode lnc_s3_read_all(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max,
							   LncSlice *out) LNC_MUST_CHECK;
extern LncCode lnc_s3_put(LncContext *ctx, LncStore *store, const char *key, LncSlice body) LNC_MUST_CHECK;
extern LncCode lnc_s3_put_if_absent(LncContext *ctx, LncStore *store, const char *key,
									LncSlice body) LNC_MUST_CHECK;
extern LncCode lnc_s3_remove(LncContext *ctx, LncStore *store, size_t n, const char *const *keys,
							 bool durable) LNC_MUST_CHECK;
extern LncCode lnc_s3_remove_prefix(LncContext *ctx, LncStore *store, const char *prefix,
									uint64_t *removed) LNC_MUST_CHECK;
extern LncCode lnc_s3_find(LncContext *ctx, LncStore *store, size_t n, const char *const *keys,
						   LncObject *outs) LNC_MUST_CHECK;
extern LncCode lnc_s3_list(LncContext *ctx, LncStore *store, const LncListing *listing, LncListFn fn,
						   void *arg) LNC_MUST_CHECK;
extern LncCode lnc_s3_list_folders(LncContext *ctx, LncStore *store, const char *folder, LncFolderFn fn,
								   void *arg) LNC_MUST_CHECK;

#endif

/*
 * s3_server.h
 *	  The S3 server that tests may use: LANCE_TEST_S3_ENDPOINT, LANCE_TEST_S3_KEY and LANCE_TEST_S3_SECRET name it.
 */
#ifndef TEST_S3_SERVER_H
#define TEST_S3_SERVER_H

#include "base/arena.h"
#include "storage/storage.h"

/* How to reach it. False when no server is named: skip the test. */
extern bool s3_server_config(LncStoreConfig *config);

/* Do a request by presigned URL and return the status. The path starts with "/"; *answer is in arena. Fails the test on errors. */
extern int s3_server_request(LncContext *ctx, LncArena *arena, const LncStoreConfig *config, const char *method,
							 const char *path, LncSlice body, LncSlice *answer);

/* Make the bucket unless it is there. Fails the test on errors. */
extern void s3_server_make_bucket(LncContext *ctx, LncArena *arena, const LncStoreConfig *config,
								  const char *bucket);

#endif

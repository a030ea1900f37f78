/*
 * sts.h
 *	  AWS's security token service: keys for a time, for a role and narrowed by a session policy.
 *
 * Source: "AssumeRole" and "AssumeRoleWithWebIdentity" of the AWS STS API reference, version 2011-06-15.
 */
#ifndef LNC_STORAGE_STS_H
#define LNC_STORAGE_STS_H

#include "base/arena.h"
#include "storage/credentials.h"

/* Strings are borrowed during the call. */
typedef struct LncStsConfig
{
	const char *endpoint; /* "https://host[:port][/path]"; NULL: AWS's own for the region */
	const char *region;   /* NULL: "us-east-1" */
	bool allow_http;
	int timeout_ms; /* all attempts together; 0: 8000 */
} LncStsConfig;

typedef struct LncStsRequest
{
	const LncCredentials *key;      /* that AssumeRole is signed with */
	const char *web_identity_token; /* or the token that AssumeRoleWithWebIdentity presents instead, unsigned */
	const char *role_arn;           /* NULL: left out, for services that take the role from the key */
	const char *session_name;       /* [A-Za-z0-9+=,.@_-]{2,64} */
	const char *external_id;        /* NULL: none */
	int duration_s;
	const char *policy; /* session policy; NULL: none */
} LncStsRequest;

/*
 * Ask for keys. out->serial is left 0. No redirect is followed, and an answer of more than 64 KiB is refused. LNC_DENIED
 * when the service refuses, LNC_UNAVAILABLE when it gives no answer in time, LNC_CORRUPT for an answer that is none.
 */
extern LncCode lnc_sts_assume_role(LncContext *ctx, const LncStsConfig *config, const LncStsRequest *request,
								   LncCredentials *out) LNC_MUST_CHECK;

/* The keys in an answer that came at now_ms. LNC_CORRUPT when there are none, or such that cannot be used. */
extern LncCode lnc_sts_parse_answer(LncContext *ctx, LncSlice text, int64_t now_ms,
									LncCredentials *out) LNC_MUST_CHECK;

/* What a session may do with the objects of a folder. */
typedef enum LncSessionAccess
{
	LNC_SESSION_READ,
	LNC_SESSION_WRITE
} LncSessionAccess;

/*
 * A session policy for what lies below prefix in bucket, and nothing else: objects, and listing with that prefix and a
 * slash. LNC_INVALID for an empty prefix and for one that a policy takes for a pattern or a variable. partition is the
 * second part of ARNs, as in role_arn; NULL: "aws". The text lives in the arena.
 */
extern LncCode lnc_sts_policy(LncContext *ctx, LncArena *arena, const char *partition, const char *bucket,
							  const char *prefix, LncSessionAccess access, const char **out) LNC_MUST_CHECK;

#endif

/*
 * instance.h
 *	  Keys that the machine or container at hand is given by its surroundings.
 *
 * Sources: "Use the Instance Metadata Service to access instance metadata" of the EC2 user guide (version 2 only), and
 * "Container credential provider" of the AWS SDKs and tools reference guide.
 */
#ifndef LNC_STORAGE_INSTANCE_H
#define LNC_STORAGE_INSTANCE_H

#include "base/arena.h"
#include "storage/credentials.h"

/* The address that containers are served from when only a path is given. */
#define LNC_CONTAINER_ADDRESS "http://169.254.170.2"

/* Strings are borrowed during the call. */
typedef struct LncInstanceConfig
{
	const char *metadata_endpoint;       /* NULL: "http://169.254.169.254" */
	const char *container_url;           /* where a container gets its keys; NULL: ask the metadata service */
	const char *container_authorization; /* value of the Authorization header; NULL: none */
	int timeout_ms;                      /* all requests together; 0: 5000 */
} LncInstanceConfig;

/*
 * Ask for keys; no proxy is used, no redirect followed. out->serial is left 0. LNC_DENIED when there is no role or the service
 * refuses, LNC_UNAVAILABLE when it gives no answer in time, LNC_CORRUPT for an answer that is none. A container URL must be
 * https, or of the loopback or link-local addresses that containers are served from, else LNC_INVALID.
 */
extern LncCode lnc_instance_credentials(LncContext *ctx, const LncInstanceConfig *config,
										LncCredentials *out) LNC_MUST_CHECK;

/* The keys in an answer that came at now_ms. LNC_CORRUPT when there are none, or such that cannot be used. */
extern LncCode lnc_instance_parse_answer(LncContext *ctx, LncArena *arena, LncSlice text, int64_t now_ms,
										 LncCredentials *out) LNC_MUST_CHECK;

#endif

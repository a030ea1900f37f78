/*
 * credentials.h
 *	  Keys that sign requests, for good or for a time, and where newer ones come from.
 */
#ifndef LNC_STORAGE_CREDENTIALS_H
#define LNC_STORAGE_CREDENTIALS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

/* Longest values with their NUL. A token becomes a header, and servers bound those at 8 KiB. */
#define LNC_ACCESS_KEY_SIZE 256
#define LNC_SECRET_KEY_SIZE 256
#define LNC_SESSION_TOKEN_SIZE 8192

/* Texts of printable ASCII. Memory of its own, so that it can be wiped as a whole. */
typedef struct LncCredentials
{
	char access_key_id[LNC_ACCESS_KEY_SIZE];
	char secret_access_key[LNC_SECRET_KEY_SIZE];
	char session_token[LNC_SESSION_TOKEN_SIZE]; /* "": none */
	int64_t obtained_ms;                        /* Unix epoch, milliseconds */
	int64_t expires_ms;                         /* Unix epoch, milliseconds; 0: never */
	uint64_t serial;                            /* given by the source; other keys have another one; never 0 */
} LncCredentials;

/* Where keys come from. */
typedef struct LncCredentialSource
{
	/*
	 * Give keys that live for a while yet, newer ones than those of serial refused (0: none were), since the store takes
	 * these for expired. It may take seconds, is interruptible, and is called in the middle of requests: it must not use
	 * the store. LNC_UNAVAILABLE, LNC_DENIED and others when there are none.
	 */
	LncCode (*fetch)(LncContext *ctx, void *arg, uint64_t refused, LncCredentials *out);
	void *arg;
} LncCredentialSource;

/*
 * Have ask get keys from a service that messages call by that name. It is given an arena for the time of the call, which is
 * wiped, and timeout_ms for all of it, after which the answer is LNC_UNAVAILABLE. After a failure *out is wiped.
 */
typedef LncCode (*LncCredentialAsk)(LncContext *ctx, LncArena *arena, const void *arg, LncCredentials *out);

extern LncCode lnc_credentials_ask(LncContext *ctx, const char *service, int timeout_ms, LncCredentialAsk ask,
								   const void *arg, LncCredentials *out) LNC_MUST_CHECK;

/* Milliseconds since the Unix epoch. */
extern int64_t lnc_wall_ms(void);

/* Copy texts in. LNC_INVALID naming the setting when one is too long, has other letters, or a key lacks its secret. */
extern LncCode lnc_credentials_set(LncContext *ctx, LncCredentials *out, const char *access_key_id,
								   const char *secret_access_key, const char *session_token) LNC_MUST_CHECK;

/* Copy one text of size bytes into a field of such a struct; false when it does not fit or has other letters. */
extern bool lnc_credential_text(char *field, size_t field_size, const char *text, size_t size);

/* Whether newer keys should be asked for: a tenth of the lifetime is left, or a minute; or they are from the future. */
extern bool lnc_credentials_due(const LncCredentials *credentials, int64_t now_ms);

extern bool lnc_credentials_expired(const LncCredentials *credentials, int64_t now_ms);

/* Overwrite everything. */
extern void lnc_credentials_wipe(LncCredentials *credentials);

#endif

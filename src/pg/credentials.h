/*
 * credentials.h
 *	  Keys of a storage profile that expire: those that the server uses itself, and those that clients are given.
 */
#ifndef LANCE_PG_CREDENTIALS_H
#define LANCE_PG_CREDENTIALS_H

#include "pg/profile.h"
#include "storage/credentials.h"
#include "storage/sts.h"

/*
 * The source of the server's own keys, for a profile whose option credentials is not "mapping". It lives in lib's arena. The
 * caller has checked lance_profile_trusted.
 */
extern const LncCredentialSource *lance_credentials_source(LanceLibrary *lib, const LanceProfile *profile);

/*
 * Keys for clients of the profile, that open what lies below location and nothing else; for a profile whose option vending is
 * "sts". False, after a WARNING without secrets, when there are none to be had. While work must be brief, asking for
 * what is not in the cache throws (brief.h). An interrupt throws.
 */
extern bool lance_credentials_vend(const LanceProfile *profile, const char *location, LncSessionAccess access,
								   LncCredentials *out);

/*
 * How long ahead of their end, in ms, clients should ask for newer keys: never so early that they would get the same ones.
 */
extern int64 lance_credentials_refresh_offset(const LncCredentials *keys, int64 now_ms);

#endif

/*
 * jwt_keys.h
 *	  A set of keys, as jwt_keys.c makes and jwt.c uses it.
 */
#ifndef LNC_TOKEN_JWT_KEYS_H
#define LNC_TOKEN_JWT_KEYS_H

#include <openssl/evp.h>

#include "token/jwt.h"

typedef struct LncJwtKey
{
	char *id;        /* NULL: none */
	EVP_PKEY *rsa;   /* NULL: secret is the key */
	uint8_t *secret; /* of HMAC */
	size_t secret_size;
} LncJwtKey;

struct LncJwtKeys
{
	size_t nkeys;
	LncJwtKey keys[LNC_JWT_MAX_KEYS];
};

#endif

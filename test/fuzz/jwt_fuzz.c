/*
 * jwt_fuzz.c
 *	  Fuzz target: the first byte splits the input into a file of keys and a token. The key of the target's own corpus signs
 *	  nothing but what is in the corpus.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "token/jwt.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncEnv env = fuzz_env();
	LncArena *arena = lnc_arena_create(&env);
	LncJwtExpected expected = {.role_claim = "role", .now_s = 1300819000, .leeway_s = 0};
	LncJwtKeys *keys = NULL;
	LncJwtClaims claims;
	LncContext ctx;
	size_t split;
	char *token;

	lnc_context_init(&ctx, &env);
	if (arena == NULL)
		abort();
	split = size > 0 ? (size_t)data[0] * 4 : 0;
	if (size > 0 && split <= size - 1 &&
		lnc_jwt_keys_read(&ctx, arena, (LncSlice){.data = data + 1, .size = split}, &keys) == LNC_OK)
	{
		token = malloc(size - split);
		if (token == NULL)
			abort();
		memcpy(token, data + 1 + split, size - 1 - split);
		token[size - 1 - split] = '\0';
		if (lnc_jwt_verify(&ctx, arena, keys, token, &expected, &claims) == LNC_OK && claims.role[0] == '\0')
			abort();
		free(token);
	}
	lnc_arena_destroy(arena);
	return 0;
}

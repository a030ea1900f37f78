/*
 * sts_fuzz.c
 *	  Fuzz target: answers of the security token service and of a machine's credentials service.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "storage/instance.h"
#include "storage/sts.h"
#include "storage/sts_xml.h"

/* Keys that were accepted can be sent as headers; keys that were not are gone. */
static void
check(LncCode code, const LncCredentials *keys)
{
	if (code == LNC_OK)
	{
		if (keys->access_key_id[0] == '\0' || keys->secret_access_key[0] == '\0' || keys->expires_ms <= 1000)
			abort();
		for (const char *p = keys->session_token; *p != '\0'; p++)
		{
			if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7F)
				abort();
		}
		return;
	}
	for (size_t i = 0; i < sizeof(*keys); i++)
	{
		if (((const uint8_t *)keys)[i] != 0)
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncSlice text = {data, size};
	LncEnv env = fuzz_env();
	LncCredentials keys;
	LncStsError error;
	LncContext ctx;
	LncArena *arena;

	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	lnc_sts_parse_error(text, &error);
	if (strlen(error.code) >= sizeof(error.code) || strlen(error.message) >= sizeof(error.message))
		abort();
	check(lnc_sts_parse_answer(&ctx, text, 1000, &keys), &keys);
	check(lnc_instance_parse_answer(&ctx, arena, text, 1000, &keys), &keys);
	lnc_arena_destroy(arena);
	return 0;
}

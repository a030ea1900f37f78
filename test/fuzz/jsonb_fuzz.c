/*
 * jsonb_fuzz.c
 *	  Fuzz target: the input is one stored JSON value; what it decodes to must be a text.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "column/jsonb_text.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncEnv env = fuzz_env();
	LncArena *arena = lnc_arena_create(&env);
	LncContext ctx;
	LncSlice text;
	LncCode code;

	lnc_context_init(&ctx, &env);
	if (arena == NULL)
		abort();
	code = lnc_jsonb_text(&ctx, arena, (LncSlice){.data = data, .size = size}, &text);

	if (code == LNC_OK && (!lnc_utf8_valid(text.data, text.size, NULL) || text.data[text.size] != '\0'))
		abort();
	lnc_arena_destroy(arena);
	return 0;
}

/*
 * ipc_fuzz.c
 *	  Fuzz target: an Arrow IPC file or stream.
 */
#include <stdlib.h>

#include "arrow/ipc.h"
#include "fuzz.h"

#define FUZZ_MAX_IPC ((uint64_t)16 * 1024 * 1024)

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncEnv env = fuzz_env();
	LncContext ctx;
	LncArena *arena;
	LncSchema schema;
	LncBatch *batches;
	size_t nbatches;

	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	if (lnc_ipc_read(&ctx, arena, (LncSlice){data, size}, FUZZ_MAX_IPC, &schema, &nbatches, &batches) == LNC_OK)
		for (size_t i = 0; i < nbatches; i++)
		{
			if (batches[i].ncolumns != schema.nfields)
				abort();
			for (int32_t c = 0; c < batches[i].ncolumns; c++)
			{
				if (batches[i].columns[c].length != batches[i].length)
					abort();
				fuzz_read_column(&batches[i].columns[c]);
			}
		}
	lnc_arena_destroy(arena);
	return 0;
}

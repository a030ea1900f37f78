/*
 * fuzz.h
 *	  What the fuzz targets share: an environment with little memory, pages out of arbitrary bytes, reading columns.
 */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include "base/env.h"
#include "dataset/deletion.h"
#include "encoding/page.h"

/* The target itself, called by libFuzzer or by replay.c. */
extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The default environment, but a large request fails, as it would when memory is short. */
extern LncEnv fuzz_env(void);

/* A logical type by any number. */
extern const char *fuzz_type(unsigned number);

/* Read every byte of a column, so that a sanitizer sees a pointer that is off; abort when its layout is broken. */
extern void fuzz_read_column(const LncColumn *column);

/* Read every byte. */
extern void fuzz_read_bytes(const void *data, uint64_t size);

/* Put bytes into store as the fragment's deletion file and read it; abort when the result is not in order. */
extern void fuzz_read_deletions(LncContext *ctx, LncArena *arena, LncStore *store, const LncDataset *dataset,
								const LncFragment *fragment, LncSlice bytes);

/*
 * Open the page that the input describes and decode it in several ranges of rows.
 *
 *	input	u8 type, u8 file minor less one (2.1 and 2.2) plus twice what is around the leaf (fuzz.c), u32 rows, u8 buffers, u16 size of the encoding, u32 size of each buffer;
 *			then the encoding and the buffers, cut where the input ends
 */
typedef LncCode (*FuzzPageOpen)(LncContext *ctx, LncArena *arena, const LncPageSpec *spec, LncPage **out);
extern void fuzz_page(const uint8_t *data, size_t size, FuzzPageOpen open);

/* The same; an intact page gives chosen rows as it gives them among all, or abort. */
extern void fuzz_whole_page(const uint8_t *data, size_t size, FuzzPageOpen open, bool intact);

#endif

/*
 * page20_fuzz.c
 *	  Fuzz target: a page of file version 2.0 out of arbitrary bytes (fuzz.h tells how they are laid out).
 */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_page(data, size, lnc_page20_open);
	return 0;
}

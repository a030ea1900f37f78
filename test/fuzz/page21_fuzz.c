/*
 * page21_fuzz.c
 *	  Fuzz target: a page of file version 2.1 or 2.2 out of arbitrary bytes (fuzz.h tells how they are laid out).
 */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_page(data, size, lnc_page21_open);
	return 0;
}

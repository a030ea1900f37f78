/*
 * nanoarrow_decoder.c
 *	  nanoarrow's decoder with one check relaxed: vectors need to be aligned to four bytes only.
 *
 * Arrow writers of 2024 (among them those of deletion files) put the field nodes of a record batch at
 * odd multiples of four. Supported processors load such words; sizes and bounds are verified as before.
 */
#include "flatcc/flatcc_verifier.h"

#define flatcc_verify_vector_field(td, id, required, size, align, max) \
	flatcc_verify_vector_field(td, id, required, size, (align) > 4 ? 4 : (align), max)

#include "nanoarrow/ipc/decoder.c"

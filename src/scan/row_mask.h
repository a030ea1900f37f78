/*
 * row_mask.h
 *	  Rows of a batch as bits of 64-bit words, and the values of such rows one after the other.
 *
 * Row i is bit i % 64 of word i / 64; bits behind the last row are 0.
 */
#ifndef LNC_SCAN_ROW_MASK_H
#define LNC_SCAN_ROW_MASK_H

#include <string.h>

#include "base/bytes.h"

#define LNC_MASK_ROWS 64

/* Words of a mask of so many rows. */
static inline size_t
lnc_mask_words(int64_t length)
{
	return (size_t)((length + LNC_MASK_ROWS - 1) / LNC_MASK_ROWS);
}

/* The rows of a word that are there. */
static inline uint64_t
lnc_mask_present(size_t word, int64_t length)
{
	int64_t left = length - (int64_t)word * LNC_MASK_ROWS;

	return left >= LNC_MASK_ROWS ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

/* A word of a bitmap of length bits; bytes behind its end are not read. */
static inline uint64_t
lnc_mask_bitmap(const uint8_t *bits, size_t word, int64_t length)
{
	int64_t left = length - (int64_t)word * LNC_MASK_ROWS;
	uint64_t result = 0;

	if (left >= LNC_MASK_ROWS)
		return lnc_le64(bits + word * 8);
	memcpy(&result, bits + word * 8, (size_t)(left + 7) / 8);
	return result & ((UINT64_C(1) << left) - 1);
}

/* For each row of the word of that number. Its statement may not leave it by break. */
#define LNC_EACH_ROW(bits, word, row)                             \
	for (uint64_t left_ = (bits); left_ != 0; left_ &= left_ - 1) \
		for (int64_t row = (int64_t)(word)*LNC_MASK_ROWS + __builtin_ctzll(left_), once_ = 1; once_; once_ = 0)

extern int64_t lnc_mask_count(const uint64_t *mask, int64_t length);

/*
 * Copy the values, each of width 1, 2, 4 or 8 bytes, of the rows of the mask. out has room for one more than these.
 */
extern void lnc_mask_pack(const uint64_t *mask, int64_t length, uint64_t width, const void *values, void *out);

#endif

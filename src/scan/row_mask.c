/*
 * row_mask.c
 *	  Rows of a batch as bits.
 */
#include "scan/row_mask.h"

/* Where fewer rows of a word are chosen, they are looked up one by one; else all are copied, each over a wrong one before. */
#define FEW_OF_A_WORD 20

int64_t
lnc_mask_count(const uint64_t *mask, int64_t length)
{
	int64_t count = 0;

	for (size_t i = 0; i < lnc_mask_words(length); i++)
		count += __builtin_popcountll(mask[i]);
	return count;
}

#define DEFINE_PACK(name, ctype)                                                          \
	static void name(const uint64_t *mask, int64_t length, const void *values, void *out) \
	{                                                                                     \
		ctype *to = out;                                                                  \
                                                                                          \
		for (size_t word = 0; word < lnc_mask_words(length); word++)                      \
		{                                                                                 \
			const ctype *from = (const ctype *)values + word * LNC_MASK_ROWS;             \
			uint64_t bits = mask[word];                                                   \
                                                                                          \
			if (bits == UINT64_MAX)                                                       \
			{                                                                             \
				memcpy(to, from, LNC_MASK_ROWS * sizeof(ctype));                          \
				to += LNC_MASK_ROWS;                                                      \
			}                                                                             \
			else if (__builtin_popcountll(bits) < FEW_OF_A_WORD)                          \
			{                                                                             \
				for (; bits != 0; bits &= bits - 1)                                       \
					*to++ = from[__builtin_ctzll(bits)];                                  \
			}                                                                             \
			else                                                                          \
			{                                                                             \
				for (; bits != 0; bits >>= 1)                                             \
				{                                                                         \
					*to = *from++;                                                        \
					to += bits & 1;                                                       \
				}                                                                         \
			}                                                                             \
		}                                                                                 \
	}

DEFINE_PACK(pack8, uint8_t)
DEFINE_PACK(pack16, uint16_t)
DEFINE_PACK(pack32, uint32_t)
DEFINE_PACK(pack64, uint64_t)

void
lnc_mask_pack(const uint64_t *mask, int64_t length, uint64_t width, const void *values, void *out)
{
	switch (width)
	{
		case 1:
			pack8(mask, length, values, out);
			break;
		case 2:
			pack16(mask, length, values, out);
			break;
		case 4:
			pack32(mask, length, values, out);
			break;
		default:
			pack64(mask, length, values, out);
			break;
	}
}

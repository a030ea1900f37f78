/*
 * flags.c
 *	  Feature flags: which bits are understood by those who read, and by those who write the next version.
 */
#include "dataset/manifest.h"

#include <inttypes.h>

/*
 * Bits that may be set without harm to a reader of rows: deletion files, stable row ids, the old mark of the 2.x format,
 * table config, base paths, transactions kept inline, indices that carry columns, data files of different versions,
 * the fragment reuse index (no index is used), row ids and versions in hidden columns, managed blobs,
 * and the writer's rules on field ids and object metadata.
 */
#define READER_BITS                                                                                   \
	(UINT64_C(1) << 0 | UINT64_C(1) << 1 | UINT64_C(1) << 2 | UINT64_C(1) << 3 | UINT64_C(1) << 4 |   \
	 UINT64_C(1) << 5 | UINT64_C(1) << 7 | UINT64_C(1) << 8 | UINT64_C(1) << 10 | UINT64_C(1) << 11 | \
	 UINT64_C(1) << 14 | UINT64_C(1) << 15 | UINT64_C(1) << 17)

/*
 * Bits that may be set where a new manifest is made from an older one: those a reader understands, but for the fragment
 * reuse index, hidden columns, managed blobs and object metadata, which have rules of upkeep of their own.
 */
#define WRITER_BITS (READER_BITS & ~(UINT64_C(1) << 10 | UINT64_C(1) << 11 | UINT64_C(1) << 14 | UINT64_C(1) << 17))

static const char *
flag_meaning(int bit)
{
	switch (bit)
	{
		case 6:
			return "data overlay files";
		case 9:
			return "fragment reuse with stable row ids";
		case 10:
			return "fragment reuse index";
		case 11:
			return "row ids in hidden columns";
		case 12:
			return "fragment tree";
		case 13:
			return "independent covering fields";
		case 14:
			return "managed blobs";
		case 16:
			return "zone write seeds";
		case 17:
			return "object metadata";
		default:
			return NULL;
	}
}

static LncCode
check_bits(LncContext *ctx, const char *kind, uint64_t unknown)
{
	const char *meaning;
	int bit;

	if (unknown == 0)
		return LNC_OK;
	bit = __builtin_ctzll(unknown);
	meaning = flag_meaning(bit);
	if (meaning != NULL)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "%s feature flag %d (%s) is not supported", kind, bit, meaning);
	return lnc_fail(ctx, LNC_UNSUPPORTED, "%s feature flag %d is not known", kind, bit);
}

LncCode
lnc_manifest_check_flags(LncContext *ctx, uint64_t reader_flags)
{
	return check_bits(ctx, "reader", reader_flags & ~READER_BITS);
}

LncCode
lnc_manifest_check_writer_flags(LncContext *ctx, uint64_t reader_flags, uint64_t writer_flags)
{
	return check_bits(ctx, "writer", (reader_flags | writer_flags) & ~WRITER_BITS);
}

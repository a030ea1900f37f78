/*
 * general.c
 *	  LZ4 and Zstandard with an explicit bound on every result.
 */
#include "encoding/general.h"

#include <lz4.h>
#include <zstd.h>

#include "encoding/check.h"

/* What one byte of input can at most become: LZ4's longest match byte, and Zstandard's block of one repeated byte. */
#define LZ4_MOST_PER_BYTE 255
#define ZSTD_MOST_PER_BYTE (128 * 1024)

#define ZSTD_COUNT_BUFFER ((size_t)64 * 1024)

struct LncGeneral
{
	ZSTD_DCtx *zstd; /* owned, made at first use */
};

static void
general_cleanup(void *arg)
{
	LncGeneral *general = arg;

	ZSTD_freeDCtx(general->zstd);
	general->zstd = NULL;
}

LncCode
lnc_general_create(LncContext *ctx, LncArena *arena, LncGeneral **out)
{
	LNC_TRY(LNC_NEW(ctx, arena, out, 1));
	return lnc_arena_on_cleanup(ctx, arena, general_cleanup, *out);
}

static LncCode
need_zstd(LncContext *ctx, LncGeneral *general)
{
	if (general->zstd == NULL)
		general->zstd = ZSTD_createDCtx();
	if (general->zstd == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory for decompression");
	return LNC_OK;
}

/* Whether a Zstandard buffer is a frame without the length in front. */
static bool
is_bare_frame(LncSlice in)
{
	if (in.size < sizeof(uint64_t))
		return true;
	return lnc_le32(in.data) == ZSTD_MAGICNUMBER && (in.data[4] & 0x10) == 0;
}

static LncCode
check_size(LncContext *ctx, uint64_t size, LncSlice in, uint64_t most_per_byte)
{
	if (size > LNC_GENERAL_MAX_BYTES)
		return lnc_fail(ctx, LNC_LIMIT, "a compressed buffer of %llu bytes is too large", (unsigned long long)size);
	LNC_REQUIRE(ctx, size / most_per_byte <= in.size, "a compressed buffer of %zu bytes cannot hold %llu bytes",
				in.size, (unsigned long long)size);
	return LNC_OK;
}

/* Count the bytes of bare frames by decompressing them, for those that do not state their size. */
static LncCode
count_bare_frame(LncContext *ctx, LncGeneral *general, LncSlice in, uint64_t *size)
{
	LncArena *scratch;
	ZSTD_inBuffer input = {.src = in.data, .size = in.size, .pos = 0};
	LncCode code = LNC_OK;
	void *buffer;
	size_t left = 1;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	*size = 0;
	code = lnc_arena_alloc(ctx, scratch, ZSTD_COUNT_BUFFER, &buffer);
	ZSTD_DCtx_reset(general->zstd, ZSTD_reset_session_only);
	while (code == LNC_OK)
	{
		ZSTD_outBuffer output = {.dst = buffer, .size = ZSTD_COUNT_BUFFER, .pos = 0};
		size_t before = input.pos;

		left = ZSTD_decompressStream(general->zstd, &output, &input);
		*size += output.pos;
		if (ZSTD_isError(left))
			code = lnc_fail(ctx, LNC_CORRUPT, "a Zstandard frame is damaged: %s", ZSTD_getErrorName(left));
		else if (*size > LNC_GENERAL_MAX_BYTES)
			code = lnc_fail(ctx, LNC_LIMIT, "a compressed buffer is too large");
		else if ((left == 0 && input.pos == in.size) || (output.pos == 0 && input.pos == before))
			break;
		else
			code = lnc_check_interrupt(ctx);
	}
	if (code == LNC_OK && (left != 0 || input.pos != in.size))
		code = lnc_fail(ctx, LNC_CORRUPT, "a Zstandard frame is truncated");
	lnc_arena_destroy(scratch);
	return code;
}

LncCode
lnc_general_size(LncContext *ctx, LncGeneral *general, LncGeneralScheme scheme, LncSlice in, uint64_t *size)
{
	*size = 0;
	if (in.size == 0)
		return LNC_OK;
	if (scheme == LNC_GENERAL_LZ4)
	{
		LNC_REQUIRE(ctx, in.size >= sizeof(uint32_t), "an LZ4 buffer of %zu bytes is truncated", in.size);
		*size = lnc_le32(in.data);
		return check_size(ctx, *size, in, LZ4_MOST_PER_BYTE);
	}
	if (is_bare_frame(in))
	{
		LNC_TRY(need_zstd(ctx, general));
		return count_bare_frame(ctx, general, in, size);
	}
	*size = lnc_le64(in.data);
	return check_size(ctx, *size, in, ZSTD_MOST_PER_BYTE);
}

LncCode
lnc_general_decode_into(LncContext *ctx, LncGeneral *general, LncGeneralScheme scheme, LncSlice in, uint8_t *out,
						uint64_t size)
{
	size_t got;

	if (in.size == 0)
	{
		LNC_REQUIRE(ctx, size == 0, "a compressed buffer is empty, expected %llu bytes", (unsigned long long)size);
		return LNC_OK;
	}
	if (scheme == LNC_GENERAL_LZ4)
	{
		int written;

		LNC_REQUIRE(ctx, in.size >= sizeof(uint32_t) && in.size <= INT32_MAX && size <= INT32_MAX,
					"an LZ4 buffer of %zu bytes is out of range", in.size);
		if (size == 0)
			return LNC_OK;
		written = LZ4_decompress_safe((const char *)in.data + sizeof(uint32_t), (char *)out,
									  (int)(in.size - sizeof(uint32_t)), (int)size);
		LNC_REQUIRE(ctx, written >= 0 && (uint64_t)written == size, "an LZ4 block is damaged");
		return LNC_OK;
	}
	LNC_TRY(need_zstd(ctx, general));
	if (!is_bare_frame(in))
	{
		in.data += sizeof(uint64_t);
		in.size -= sizeof(uint64_t);
	}
	got = ZSTD_decompressDCtx(general->zstd, out, (size_t)size, in.data, in.size);
	LNC_REQUIRE(ctx, !ZSTD_isError(got), "a Zstandard frame is damaged: %s", ZSTD_getErrorName(got));
	LNC_REQUIRE(ctx, got == size, "a Zstandard frame gives %zu bytes, expected %llu", got,
				(unsigned long long)size);
	return LNC_OK;
}

LncCode
lnc_general_decode(LncContext *ctx, LncGeneral *general, LncArena *arena, LncGeneralScheme scheme, LncSlice in,
				   LncSlice *out)
{
	uint64_t size;
	void *memory;

	LNC_TRY(lnc_general_size(ctx, general, scheme, in, &size));
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)size, &memory));
	LNC_TRY(lnc_general_decode_into(ctx, general, scheme, in, memory, size));
	out->data = memory;
	out->size = (size_t)size;
	return LNC_OK;
}

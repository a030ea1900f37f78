/*
 * codec.h
 *	  The tree of codecs by which the values of a page of file version 2.1 or 2.2 are stored, and its decoding.
 *
 * A codec is used in one of three ways (format.md section 8.5):
 *
 *	chunk	the buffers of one mini-block chunk
 *	block	one whole buffer: levels, dictionaries
 *	value	each value alone, zipped between control words (full-zip)
 *
 *	codec				chunk					block					value
 *	flat				packed values			same					bytes
 *	variable			variable.h				variable.h				bytes
 *	fsst				around variable			around variable			around variable
 *	general				the first buffer		the buffer				each value
 *	bit-packing, rle	bitpack.h, rle.h		same					-
 *	byte_stream_split	byte_stream_split.h		same					-
 *	fixed_size_list		validity buffers outermost first,
 *						then items				rows as for value		validity bytes a level, then items
 *	packed_struct		what is inside it, which has values as wide as the fields together
 *	variable_packed_struct	-				-						rows, which packed.h takes apart
 *	constant			no bytes, all is NULL: the items of a fixed_size_list around it, or (value) those of the type
 */
#ifndef LNC_ENCODING_CODEC_H
#define LNC_ENCODING_CODEC_H

#include "encoding/block.h"
#include "encoding/fsst.h"
#include "encoding/general.h"
#include "proto/encodings21.pb-c.h"

typedef enum LncCodecUse
{
	LNC_CODEC_CHUNK,
	LNC_CODEC_BLOCK,
	LNC_CODEC_VALUE
} LncCodecUse;

typedef enum LncCodecKind
{
	LNC_CODEC_FLAT,
	LNC_CODEC_VARIABLE,
	LNC_CODEC_CONSTANT,
	LNC_CODEC_OUT_OF_LINE_BITPACKING,
	LNC_CODEC_INLINE_BITPACKING,
	LNC_CODEC_FSST,
	LNC_CODEC_RLE,
	LNC_CODEC_BYTE_STREAM_SPLIT,
	LNC_CODEC_GENERAL,
	LNC_CODEC_FIXED_SIZE_LIST,
	LNC_CODEC_VARIABLE_PACKED_STRUCT
} LncCodecKind;

/* One field of a variable packed struct. */
typedef struct LncCodecField
{
	const struct LncCodec *codec; /* value use */
	uint32_t length_bytes;        /* of the length in front of it; 0: codec->value_bytes are stored */
} LncCodecField;

/* One node, checked and ready to decode. Lives in the arena of lnc_codec_open. */
typedef struct LncCodec
{
	LncCodecKind kind;
	LncCodecUse use;
	LncShape shape;                 /* of the decoded values */
	uint32_t nbuffers;              /* chunk: how many buffers it takes */
	uint32_t width;                 /* variable: bits of an offset; out-of-line bit-packing: packed bits */
	uint64_t value_bytes;           /* value, fixed shape: bytes of one stored value */
	LncGeneralScheme scheme;        /* general */
	const LncFsst *fsst;            /* fsst */
	const struct LncCodec *values;  /* the codec inside, or NULL */
	const struct LncCodec *lengths; /* rle */
	uint32_t nfields;               /* variable packed struct */
	const LncCodecField *fields;    /* array of nfields */
} LncCodec;

/*
 * Check a codec message and make a codec of it. LNC_UNSUPPORTED names a codec that is not read in this use;
 * LNC_CORRUPT says what is missing or out of range.
 */
extern LncCode lnc_codec_open(LncContext *ctx, LncArena *arena, LncCodecUse use,
							  const Lance__Encodings21__CompressiveEncoding *message,
							  const LncCodec **out) LNC_MUST_CHECK;

/* Decode count values from the buffers of a chunk. The block is in arena or borrows from the buffers. */
extern LncCode lnc_codec_decode_chunk(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena,
									  uint32_t nbuffers, const LncSlice *buffers, uint64_t count,
									  LncBlock *out) LNC_MUST_CHECK;

/* Decode count values from a whole buffer, likewise. */
extern LncCode lnc_codec_decode_block(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena,
									  LncSlice in, uint64_t count, LncBlock *out) LNC_MUST_CHECK;

/* How many values a buffer coded for block use holds, where the bytes tell (*known): run-length coding. */
extern LncCode lnc_codec_block_count(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena,
									 LncSlice in, bool *known, uint64_t *count) LNC_MUST_CHECK;

/* Decode values stored one by one: block has them as stored (variable shape) and gets them as they are. */
extern LncCode lnc_codec_decode_variable_values(LncContext *ctx, const LncCodec *codec, LncGeneral *general,
												LncArena *arena, LncBlock *block) LNC_MUST_CHECK;

/*
 * Decode count values of fixed size stored one by one: value i has codec->value_bytes bytes at rows + i * stride.
 * The block is in arena, or borrows from rows where nothing but the items of the values stands there.
 */
extern LncCode lnc_codec_decode_fixed_values(LncContext *ctx, const LncCodec *codec, LncArena *arena,
											 const uint8_t *rows, uint64_t stride, uint64_t count,
											 LncBlock *out) LNC_MUST_CHECK;

/* Whether values of a codec, which lie close, are borrowed as told above. */
extern bool lnc_codec_borrows_values(const LncCodec *codec);

#endif

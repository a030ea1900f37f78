/*
 * page20.h
 *	  Pages of file version 2.0: the tree of array encodings, opened and checked.
 *
 * page20.c makes the tree from the page's message; page20_decode.c gives rows of it.
 *
 *	node				children			buffer
 *	flat				-					values of a fixed number of bits, maybe compressed as a whole
 *	nullable			validity, values	-
 *	all nulls			-					-
 *	fixed-size list		items				-		list_size items a row
 *	binary				indices, bytes		-		u64 ends of the values; plus the adjustment where a value is NULL
 *	dictionary			indices, items		-		own: 0 is NULL, k is item k - 1; of a dictionary type: k is item k
 *	fsst				binary				-
 *	fixed-size binary	bytes				-		values of one length, of a variable type
 *	bitpacked			-					values of W bits, one stream, lowest bit first
 *	bitpacked non-neg	-					blocks of 1024 values, bitpack.h
 *	constant			-					-		the one value
 *	packed struct		-					own		the fields of a row next to each other, rows one after the other; also
 *												position and size of blobs, 64 bits each, NULL where they are 1 and 0
 *
 * A page of lists is no such tree: it gives ends of lists, list20.h. A page of a struct's header holds nothing.
 *
 * Source of the facts: format.md section 7.
 */
#ifndef LNC_ENCODING_PAGE20_H
#define LNC_ENCODING_PAGE20_H

#include "encoding/fsst.h"
#include "encoding/general.h"
#include "encoding/page.h"

/* Number of values of a node whose parent cannot tell it beforehand: the bytes of strings. */
#define LNC_NODE20_UNCOUNTED UINT64_MAX

/* The constant and all-NULL values that one call makes take at most so many bytes. */
#define LNC_NODE20_MAX_MADE (UINT64_C(1) << 30)

typedef struct LncNode20
{
	enum
	{
		LNC_NODE20_FLAT,
		LNC_NODE20_NULLABLE,
		LNC_NODE20_ALL_NULLS,
		LNC_NODE20_FIXED_LIST,
		LNC_NODE20_BINARY,
		LNC_NODE20_DICTIONARY,
		LNC_NODE20_FSST,
		LNC_NODE20_FIXED_BINARY,
		LNC_NODE20_BITPACKED,
		LNC_NODE20_BITPACKED_BLOCKS,
		LNC_NODE20_CONSTANT,
		LNC_NODE20_PACKED_STRUCT
	} kind;
	const LncType *type;     /* of the node's values; a dictionary type stands for its value type */
	const LncType *blob;     /* packed struct of positions and sizes: the blob type it is read as, else NULL */
	uint64_t nvalues;        /* or LNC_NODE20_UNCOUNTED */
	struct LncNode20 *first; /* the children in the order of the table above */
	struct LncNode20 *second;

	uint32_t buffer; /* of the page */
	uint64_t bits;   /* flat: of a value */
	uint32_t packed; /* bit-packing: stored bits of a value */
	bool is_signed;
	bool compressed;
	LncGeneralScheme scheme;
	bool decompressed;
	LncSlice plain; /* once decompressed; in the page's arena */

	uint64_t null_adjustment; /* binary */
	uint64_t width;           /* fixed-size binary: bytes of a value; packed struct: of a row */
	LncSlice constant;
	LncFsst *fsst;
	bool zero_is_null; /* dictionary of a plain type */
	bool has_items;
	LncColumn items; /* dictionary, once read; in the page's arena */
} LncNode20;

typedef struct LncPage20
{
	LncPage base;
	LncArena *arena; /* borrowed: of open */
	const LncPageSource *source;
	LncGeneral *general; /* made when first needed */
	LncNode20 *root;
} LncPage20;

/* Make the node of an encoding (a message ArrayEncoding) for nvalues values of type, with all below it. */
extern LncCode lnc_node20_open(LncContext *ctx, LncPage20 *page, const void *encoding, const LncType *type,
							   uint64_t nvalues, LncNode20 **out) LNC_MUST_CHECK;

/* Whether the page of a struct's column holds packed values, rather than being a mere header. */
extern LncCode lnc_page20_is_packed(LncContext *ctx, LncArena *arena, LncSlice encoding,
									bool *packed) LNC_MUST_CHECK;

/* LncPage.decode_some */
extern LncCode lnc_page20_decode_some(LncContext *ctx, LncPage *base, LncArena *arena, uint64_t first,
									  uint64_t count, const int64_t *rows, bool *done,
									  LncColumn *out) LNC_MUST_CHECK;

/* Values [first, first + count) of the node, in arena. The caller keeps within the node's values. */
extern LncCode lnc_node20_decode(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first,
								 uint64_t count, LncColumn *out) LNC_MUST_CHECK;

#endif

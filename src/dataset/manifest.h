/*
 * manifest.h
 *	  The manifest file: its tail, its message, and turning the message into an LncDataset.
 *
 * Layout, all little-endian:
 *
 *	P						u32 length, then the Manifest message of that length, which ends at size - 16
 *	size - 16				u64 P
 *	size - 8				u16 major (0), u16 minor (1 or 2)
 *	size - 4				"LANC"
 *
 * What lies before P is not read with it: sections, each a u32 length and a message, at positions that the message
 * states (the list of indices, the transaction). Source: format.md section 2.
 */
#ifndef LNC_DATASET_MANIFEST_H
#define LNC_DATASET_MANIFEST_H

#include "dataset/dataset.h"
#include "proto/table.pb-c.h"
#include "storage/recall.h"

/*
 * Read and unpack the manifest at key into arena. LNC_NOT_FOUND: no such file. LNC_CORRUPT: a damaged file.
 * LNC_LIMIT: one larger than 1 GiB.
 */
extern LncCode lnc_manifest_read(LncContext *ctx, LncArena *arena, LncStore *store, const char *key,
								 Lance__Table__Manifest **out) LNC_MUST_CHECK;

/* The same for one that may be remembered by its identity. */
extern LncCode lnc_manifest_read_known(LncContext *ctx, LncArena *arena, LncStore *store, const char *key,
									   const LncIdentity *identity, Lance__Table__Manifest **out) LNC_MUST_CHECK;

/*
 * The message of a section of the manifest at key. LNC_CORRUPT: it does not lie inside the file. LNC_LIMIT: larger than
 * 1 GiB.
 */
extern LncCode lnc_manifest_read_section(LncContext *ctx, LncArena *arena, LncStore *store, const char *key,
										 uint64_t position, LncSlice *out) LNC_MUST_CHECK;

/* The same two for a file whose bytes are at hand; key names it in errors. The section's bytes are those of the file. */
extern LncCode lnc_manifest_parse(LncContext *ctx, LncArena *arena, const char *key, LncSlice file,
								  Lance__Table__Manifest **out) LNC_MUST_CHECK;
extern LncCode lnc_manifest_section(LncContext *ctx, const char *key, LncSlice file, uint64_t position,
									LncSlice *out) LNC_MUST_CHECK;

/* Copy what the message says into dataset, in arena: schema, fragments, base paths, flags, metadata. */
extern LncCode lnc_manifest_convert(LncContext *ctx, LncArena *arena, const Lance__Table__Manifest *manifest,
									LncDataset *dataset) LNC_MUST_CHECK;

/* The commit time in microseconds since the Unix epoch; 0 for none, or one that 64 bits can't hold. */
extern int64_t lnc_manifest_timestamp_us(const Lance__Table__Manifest *manifest);

/* LNC_UNSUPPORTED, by number, when a reader feature flag is set that this reader does not understand. */
extern LncCode lnc_manifest_check_flags(LncContext *ctx, uint64_t reader_flags) LNC_MUST_CHECK;

/*
 * LNC_UNSUPPORTED, by number, when either word has a flag that asks writers for more than is done here. Both words are
 * looked at: what readers must know, writers must keep.
 */
extern LncCode lnc_manifest_check_writer_flags(LncContext *ctx, uint64_t reader_flags,
											   uint64_t writer_flags) LNC_MUST_CHECK;

/*
 * Build the tree of fields from the manifest's list: parents before their children, order as listed. LNC_CORRUPT for
 * duplicate ids, missing parents, invalid names; LNC_LIMIT for nesting deeper than 64.
 */
extern LncCode lnc_schema_build(LncContext *ctx, LncArena *arena, size_t nfields, Lance__File__Field *const *fields,
								LncSchema *schema) LNC_MUST_CHECK;

#endif

/*
 * page_text.h
 *	  The encoding of a page in words, for people who inspect a file.
 *
 * Codecs are written as they nest, the outermost first: "fsst(variable(bitpacked))", "general zstd(flat 32)". What a
 * page's message holds is only named, not checked: a page that can't be read is described too.
 */
#ifndef LNC_FORMAT_PAGE_TEXT_H
#define LNC_FORMAT_PAGE_TEXT_H

#include "format/file.h"

/*
 * Describe a page: its layout ("array" in version 2.0; "mini-block", "full-zip", "constant" or "blob" later) and its
 * codecs. Both live in arena, *layout may be static. LNC_CORRUPT for a message that is none.
 */
extern LncCode lnc_page_text(LncContext *ctx, LncArena *arena, const LncFile *file, uint32_t column, uint32_t page,
							 const char **layout, const char **encoding) LNC_MUST_CHECK;

#endif

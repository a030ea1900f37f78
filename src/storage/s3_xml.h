/*
 * s3_xml.h
 *	  The XML answers of S3 that are read: a page of ListObjectsV2, and the error document.
 */
#ifndef LNC_STORAGE_S3_XML_H
#define LNC_STORAGE_S3_XML_H

#include "base/arena.h"
#include "base/bytes.h"
#include "storage/storage.h"

/* One page of a listing. Strings live in the arena given; keys are those of the bucket. */
typedef struct LncS3Page
{
	size_t nobjects;
	LncObject *objects;
	size_t nfolders;
	char **folders; /* prefixes that the delimiter cut, each ending with it */
	bool truncated;
	const char *next_token; /* NULL: none */
} LncS3Page;

/* LNC_CORRUPT when the text is no ListBucketResult, or one that is not complete. */
extern LncCode lnc_s3_parse_page(LncContext *ctx, LncArena *arena, LncSlice text, LncS3Page *out) LNC_MUST_CHECK;

/* The error document; fields are "" where the text has none, also when it is no XML at all. */
typedef struct LncS3Error
{
	char code[64];
	char message[256];
} LncS3Error;

extern void lnc_s3_parse_error(LncSlice text, LncS3Error *out);

/* "2013-09-17T18:07:53.000Z" to milliseconds since the Unix epoch; false when it is no such date. */
extern bool lnc_s3_parse_time(const char *text, int64_t *ms);

#endif

/*
 * types.h
 *	  The values that request and response structs of the operations are made of.
 *
 * The REST codec fills and prints these structs by field tables, the SQL functions by hand; an operation sees no
 * difference. Everything is palloc'd in the caller's current context.
 */
#ifndef LANCE_OPS_TYPES_H
#define LANCE_OPS_TYPES_H

#include "pg/text_map.h"

/* An object id: the names from the root down. nparts 0 is the root; given is false when the caller named none. */
typedef struct LanceId
{
	bool given;
	int nparts;
	char **parts;
} LanceId;

typedef struct LanceOptionalInt
{
	bool given;
	int64 value;
} LanceOptionalInt;

typedef enum LanceOptionalBool
{
	LANCE_BOOL_UNSET = 0,
	LANCE_BOOL_FALSE,
	LANCE_BOOL_TRUE
} LanceOptionalBool;

/* A map of texts, in the order given. */
typedef LanceTextPair LanceProperty;

typedef struct LanceProperties
{
	bool given;
	int count;
	LanceProperty *items;
} LanceProperties;

/* A list of names or ids; page_token NULL: nothing more. */
typedef struct LanceNameList
{
	int count;
	char **names;
} LanceNameList;

/* Half-open: start <= version < end. */
typedef struct LanceVersionRange
{
	int64 start_version;
	int64 end_version;
} LanceVersionRange;

typedef struct LanceVersionRanges
{
	bool given;
	int count;
	LanceVersionRange *items;
} LanceVersionRanges;

/* One version as the API shows it. */
typedef struct LanceVersionInfo
{
	int64 version;
	char *manifest_path; /* inside the object store: no scheme, bucket or leading slash */
	LanceOptionalInt manifest_size;
	char *e_tag; /* NULL: none */
	LanceOptionalInt timestamp_millis;
	LanceProperties metadata;
} LanceVersionInfo;

typedef struct LanceVersionList
{
	int count;
	LanceVersionInfo *items;
} LanceVersionList;

/* A tag as the API shows it. */
typedef struct LanceTagInfo
{
	char *name;
	char *branch; /* NULL: main */
	int64 version;
	int64 manifest_size;
	LanceOptionalInt created_us; /* Unix epoch */
	LanceOptionalInt updated_us;
	LanceProperties metadata;
} LanceTagInfo;

typedef struct LanceTagList
{
	int count;
	LanceTagInfo *items;
} LanceTagList;

typedef struct LanceBranchInfo
{
	char *name;
	char *parent_branch; /* NULL: main */
	int64 parent_version;
	int64 create_at; /* seconds since the Unix epoch */
	int64 manifest_size;
	LanceProperties metadata;
} LanceBranchInfo;

typedef struct LanceBranchList
{
	int count;
	LanceBranchInfo *items;
} LanceBranchList;

#endif

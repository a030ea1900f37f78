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

/* A list of texts that a request gives. */
typedef struct LanceTexts
{
	bool given;
	int count;
	char **items;
} LanceTexts;

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

/* How a column is to change; members that are not given leave it as it is. */
typedef struct LanceColumnChange
{
	char *path; /* required */
	char *rename;
	LanceOptionalBool nullable;
	bool has_data_type;
	bool has_virtual_column;
} LanceColumnChange;

typedef struct LanceColumnChanges
{
	bool given;
	int count;
	LanceColumnChange *items;
} LanceColumnChanges;

/* How a field's metadata is to change. A value may be NULL here: the key goes. */
typedef struct LanceFieldMetadata
{
	char *path; /* required */
	LanceProperties metadata;
	LanceOptionalBool replace;
} LanceFieldMetadata;

typedef struct LanceFieldMetadataList
{
	bool given;
	int count;
	LanceFieldMetadata *items;
} LanceFieldMetadataList;

typedef enum LanceActionKind
{
	LANCE_ACTION_SET_STATUS,
	LANCE_ACTION_SET_PROPERTY,
	LANCE_ACTION_UNSET_PROPERTY
} LanceActionKind;

/* One change of a transaction's description. */
typedef struct LanceAction
{
	LanceActionKind kind;
	char *status; /* of SET_STATUS */
	char *key;    /* of the others */
	char *value;  /* of SET_PROPERTY */
	char *mode;
} LanceAction;

typedef struct LanceActions
{
	bool given;
	int count;
	LanceAction *items;
} LanceActions;

/* Maps by name. */
typedef struct LanceNamedProperties
{
	char *name;
	LanceProperties properties;
} LanceNamedProperties;

typedef struct LanceNamedPropertiesList
{
	bool given;
	int count;
	LanceNamedProperties *items;
} LanceNamedPropertiesList;

/* How a table's rows spread over its fragments. */
typedef struct LanceFragmentStats
{
	LanceOptionalInt num_fragments;
	LanceOptionalInt num_small_fragments;
	LanceOptionalInt min; /* rows of a fragment, here and below */
	LanceOptionalInt max;
	LanceOptionalInt mean;
	LanceOptionalInt p25;
	LanceOptionalInt p50;
	LanceOptionalInt p75;
	LanceOptionalInt p99;
} LanceFragmentStats;

#endif

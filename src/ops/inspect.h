/*
 * inspect.h
 *	  Looking into a dataset: its versions, fragments, columns and pages.
 *
 * Not operations of the namespace API: SQL functions alone use them. What a role may inspect is what it may make a
 * foreign table of: it needs USAGE on the server, and the server's rules on places hold (pg/profile.h).
 */
#ifndef LANCE_OPS_INSPECT_H
#define LANCE_OPS_INSPECT_H

#include "dataset/inspect.h"
#include "ops/types.h"

/* Which dataset: by id, or by uri and server. */
typedef struct LanceInspectRequest
{
	LanceId id;
	const char *uri;
	const char *server;        /* NULL: by id */
	LanceOptionalInt version;  /* the newest when not given; not for versions */
	const char *branch;        /* NULL: main */
	LanceOptionalInt fragment; /* pages only; all when not given */
} LanceInspectRequest;

/* Lists in the order of the walk; items and strings live in the current memory context, strings are UTF-8. */
typedef struct LanceVersionItem
{
	LncVersionFacts facts;
	struct LanceVersionItem *next;
} LanceVersionItem;

typedef struct LanceFragmentItem
{
	LncFragmentFacts facts;
	struct LanceFragmentItem *next;
} LanceFragmentItem;

typedef struct LanceFieldItem
{
	LncFieldFacts facts;
	struct LanceFieldItem *next;
} LanceFieldItem;

typedef struct LancePageItem
{
	LncPageFacts facts;
	struct LancePageItem *next;
} LancePageItem;

/* Each throws LN004 or 58P01 for a dataset that is not there, 42501 for one out of reach, XX001 for a damaged one. */
extern const LanceVersionItem *lance_inspect_versions(const LanceInspectRequest *request);
extern const LanceFragmentItem *lance_inspect_fragments(const LanceInspectRequest *request);
extern const LanceFieldItem *lance_inspect_fields(const LanceInspectRequest *request);
extern const LancePageItem *lance_inspect_pages(const LanceInspectRequest *request);

#endif

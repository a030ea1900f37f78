/*
 * inspect.c
 *	  Opening a dataset to be inspected, and keeping what the library tells of it.
 *
 * The library's callbacks must not throw, so they copy what they are given into the library's arena.
 */
#include "postgres.h"

#include "catalog/location.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/table.h"
#include "catalog/version.h"
#include "miscadmin.h"
#include "ops/check.h"
#include "ops/inspect.h"
#include "pg/errcodes.h"
#include "pg/profile.h"
#include "pg/report.h"
#include "utils/acl.h"

/* A dataset's place, with the rights of the current user checked. */
typedef struct Place
{
	LanceLibrary *lib;
	LanceTableRow *row; /* NULL: given by URI */
	LanceProfile *profile;
	LncStore *store;
} Place;

/* Where a walk keeps its items. */
typedef struct Items
{
	LncArena *arena;
	void *first;
	void **end; /* where the pointer to the next item goes */
} Items;

static void
open_place(const LanceInspectRequest *request, Place *place)
{
	const char *location = request->uri;
	const char *server = request->server;

	place->lib = lance_library_create(CurrentMemoryContext);
	place->row = NULL;
	if (server == NULL)
	{
		lance_check_table_id(&request->id);
		place->row = lance_catalog_find_table(&request->id, LANCE_LOCK_NONE, LANCE_LEVEL_READ);
		if (place->row == NULL)
			lance_table_missing(&request->id);
		location = place->row->location;
		server = place->row->server_name;
	}
	place->profile = lance_profile_get(server, GetUserId());
	if (pg_foreign_server_aclcheck(place->profile->server_oid, GetUserId(), ACL_USAGE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, server);
	place->store = lance_profile_open_read(place->lib, place->profile, location);
	if (place->row == NULL)
		lance_location_check_readable(lance_location_canonical(place->store, location), GetUserId());
}

static LncDataset *
open_dataset(const LanceInspectRequest *request, Place *place)
{
	LncDatasetOptions options = {.branch = request->branch, .open_base = lance_location_open_base};
	LncDataset *dataset;

	lance_check_version(&request->version);
	open_place(request, place);
	options.open_base_arg = place->profile;
	options.version = request->version.given ? (uint64)request->version.value : 0;
	if (place->row != NULL)
	{
		LanceVersionPin *pin = lance_catalog_pin_version(place->row, request->branch, (int64)options.version, 0);

		options.version = (uint64)pin->version;
		options.manifest_key = pin->manifest_key;
	}
	lance_check(&place->lib->ctx,
				lnc_dataset_open(&place->lib->ctx, place->lib->arena, place->store, &options, &dataset));
	return dataset;
}

static void
init_items(Items *items, LanceLibrary *lib)
{
	items->arena = lib->arena;
	items->first = NULL;
	items->end = &items->first;
}

static LncCode
copy_text(LncContext *ctx, Items *items, const char **text)
{
	char *copy;

	if (*text == NULL)
		return LNC_OK;
	LNC_TRY(lnc_arena_strndup(ctx, items->arena, *text, strlen(*text), &copy));
	*text = copy;
	return LNC_OK;
}

/* Hang an item behind the last; next is where it points to the one after. */
static void
append(Items *items, void *item, void *next)
{
	*items->end = item;
	items->end = next;
}

/* ---- what the library calls */

static LncCode
keep_version(LncContext *ctx, void *arg, const LncVersionFacts *facts)
{
	LanceVersionItem *item;

	LNC_TRY(LNC_NEW(ctx, ((Items *)arg)->arena, &item, 1));
	item->facts = *facts;
	LNC_TRY(copy_text(ctx, arg, &item->facts.manifest_key));
	LNC_TRY(copy_text(ctx, arg, &item->facts.problem));
	append(arg, item, &item->next);
	return LNC_OK;
}

/* The fragment itself lives in the same arena. */
static LncCode
keep_fragment(LncContext *ctx, void *arg, const LncFragmentFacts *facts)
{
	LanceFragmentItem *item;

	LNC_TRY(LNC_NEW(ctx, ((Items *)arg)->arena, &item, 1));
	item->facts = *facts;
	append(arg, item, &item->next);
	return LNC_OK;
}

static LncCode
keep_field(LncContext *ctx, void *arg, const LncFieldFacts *facts)
{
	LanceFieldItem *item;
	const char **path;

	LNC_TRY(LNC_NEW(ctx, ((Items *)arg)->arena, &item, 1));
	LNC_TRY(LNC_NEW(ctx, ((Items *)arg)->arena, &path, facts->npath));
	memcpy(path, facts->path, facts->npath * sizeof(*path));
	item->facts = *facts;
	item->facts.path = path;
	LNC_TRY(copy_text(ctx, arg, &item->facts.type));
	append(arg, item, &item->next);
	return LNC_OK;
}

static LncCode
keep_page(LncContext *ctx, void *arg, const LncPageFacts *facts)
{
	LancePageItem *item;

	LNC_TRY(LNC_NEW(ctx, ((Items *)arg)->arena, &item, 1));
	item->facts = *facts;
	LNC_TRY(copy_text(ctx, arg, &item->facts.layout));
	LNC_TRY(copy_text(ctx, arg, &item->facts.encoding));
	append(arg, item, &item->next);
	return LNC_OK;
}

/* ---- the walks */

const LanceVersionItem *
lance_inspect_versions(const LanceInspectRequest *request)
{
	Place place;
	Items items;

	open_place(request, &place);
	init_items(&items, place.lib);
	lance_check(&place.lib->ctx,
				lnc_inspect_versions(&place.lib->ctx, place.store, request->branch, keep_version, &items));
	return items.first;
}

const LanceFragmentItem *
lance_inspect_fragments(const LanceInspectRequest *request)
{
	Place place;
	Items items;
	LncDataset *dataset = open_dataset(request, &place);

	init_items(&items, place.lib);
	lance_check(&place.lib->ctx, lnc_inspect_fragments(&place.lib->ctx, dataset, keep_fragment, &items));
	return items.first;
}

const LanceFieldItem *
lance_inspect_fields(const LanceInspectRequest *request)
{
	Place place;
	Items items;
	LncDataset *dataset = open_dataset(request, &place);

	init_items(&items, place.lib);
	lance_check(&place.lib->ctx, lnc_inspect_fields(&place.lib->ctx, dataset, keep_field, &items));
	return items.first;
}

const LancePageItem *
lance_inspect_pages(const LanceInspectRequest *request)
{
	Place place;
	Items items;
	LncDataset *dataset;

	if (request->fragment.given && request->fragment.value < 0)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("invalid fragment " INT64_FORMAT, request->fragment.value),
						errdetail("Fragments are numbered from 0.")));
	dataset = open_dataset(request, &place);
	init_items(&items, place.lib);
	lance_check(&place.lib->ctx,
				lnc_inspect_pages(&place.lib->ctx, dataset, request->fragment.given ? request->fragment.value : -1,
								  keep_page, &items));
	return items.first;
}

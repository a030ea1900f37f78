/*
 * s3_write.c
 *	  The S3 store: writing, conditional writing, removing, listing.
 */
#include <stdio.h>
#include <string.h>

#include "storage/s3.h"
#include "storage/s3_xml.h"

/* S3 takes at most this in one request. */
#define LONGEST_PUT ((uint64_t)5 * 1024 * 1024 * 1024)

/* A page of 1000 keys of 1024 bytes, escaped, with all that surrounds them. */
#define LONGEST_PAGE ((uint64_t)32 * 1024 * 1024)

/* A conditional write that collided with another one: neither has won yet. */
static bool
is_conflict(const LncHttpRequest *request)
{
	return request->status == 409;
}

/* Run one PUT; *request is its result. */
static LncCode
run_put(LncContext *ctx, LncArena *scratch, LncS3Store *store, const char *key, LncSlice body, bool if_absent,
		LncHttpRequest **request)
{
	LncS3Batch batch;

	if (body.size > LONGEST_PUT)
		return lnc_fail(ctx, LNC_LIMIT, "object \"%s\" of %zu bytes is larger than S3 takes in one write",
						lnc_object_name(&store->base, key).text, body.size);
	LNC_TRY(lnc_s3_batch(ctx, scratch, 1, &batch));
	LNC_TRY(lnc_s3_address(ctx, scratch, store, &batch, 0, "PUT", key, body));
	batch.calls[0].if_none_match = if_absent;
	if (if_absent)
		batch.requests[0].retry = is_conflict;
	batch.requests[0].max_body = LONGEST_PAGE;
	LNC_TRY(lnc_s3_run(ctx, scratch, store, &batch));
	*request = &batch.requests[0];
	return LNC_OK;
}

static bool
succeeded(const LncHttpRequest *request)
{
	return request->outcome == LNC_HTTP_ANSWERED && request->status >= 200 && request->status <= 299;
}

static LncCode
unclear(LncContext *ctx, LncS3Store *store, const char *key, const LncHttpRequest *request)
{
	lnc_fail(ctx, LNC_UNCLEAR, "the store did not say whether \"%s\" was written",
			 lnc_object_name(&store->base, key).text);
	if (request->failure[0] != '\0')
		lnc_detail(ctx, "Last failure: %s", request->failure);
	return LNC_UNCLEAR;
}

LncCode
lnc_s3_put(LncContext *ctx, LncStore *base, const char *key, LncSlice body)
{
	LncS3Store *store = (LncS3Store *)base;
	LncHttpRequest *request;
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = run_put(ctx, scratch, store, key, body, false, &request);
	if (code == LNC_OK && !succeeded(request))
		code = request->outcome == LNC_HTTP_LOST ? unclear(ctx, store, key, request)
												 : lnc_s3_error(ctx, store, "write", key, request);
	lnc_arena_destroy(scratch);
	return code;
}

/*
 * Find out by reading whether a write whose answer was lost has happened. Equal bytes count as ours: a writer that made
 * the very same object loses nothing by that.
 */
static LncCode
read_back(LncContext *ctx, LncArena *scratch, LncS3Store *store, const char *key, LncSlice body,
		  const LncHttpRequest *request)
{
	LncSlice found;
	LncCode code = lnc_s3_read_all(ctx, &store->base, scratch, key, body.size, &found);

	if (code == LNC_CANCELLED || code == LNC_NO_MEMORY || code == LNC_NO_STORE)
		return code;
	if (code == LNC_OK && found.size == body.size &&
		(body.size == 0 || memcmp(found.data, body.data, body.size) == 0))
		return LNC_OK;
	if (code == LNC_OK || code == LNC_LIMIT)
		return lnc_fail(ctx, LNC_EXISTS, "object \"%s\" exists already", lnc_object_name(&store->base, key).text);
	if (code == LNC_NOT_FOUND && request->lost == 0)
		return lnc_s3_error(ctx, store, "write", key, request);
	return unclear(ctx, store, key, request);
}

/* True for the answers of stores that know no conditional writes. */
static bool
lacks_condition(const LncHttpRequest *request)
{
	static const char *const codes[] = {"NotImplemented",      "InvalidArgument", "InvalidRequest",
										"UnsupportedArgument", "BadRequest",      "UnsupportedHeader"};
	LncS3Error error;

	if (request->outcome != LNC_HTTP_ANSWERED)
		return false;
	if (request->status == 501)
		return true;
	if (request->status != 400)
		return false;
	lnc_s3_parse_error(request->answer, &error);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
	{
		if (strcmp(error.code, codes[i]) == 0)
			return true;
	}
	return false;
}

static LncCode
put_if_absent(LncContext *ctx, LncArena *scratch, LncS3Store *store, const char *key, LncSlice body)
{
	LncHttpRequest *request;

	LNC_TRY(run_put(ctx, scratch, store, key, body, true, &request));
	if (succeeded(request))
		return LNC_OK;
	if (lacks_condition(request))
	{
		lnc_s3_error(ctx, store, "write", key, request);
		ctx->error.code = LNC_UNSUPPORTED;
		lnc_detail(ctx, "The store seems to lack conditional writes (If-None-Match).");
		lnc_hint(ctx, "Let the catalog order the commits of the table, or use a store that honors If-None-Match.");
		return LNC_UNSUPPORTED;
	}
	if (request->lost > 0 || request->doubtful > 0)
		return read_back(ctx, scratch, store, key, body, request);
	if (request->outcome == LNC_HTTP_ANSWERED && request->status == 412)
		return lnc_fail(ctx, LNC_EXISTS, "object \"%s\" exists already", lnc_object_name(&store->base, key).text);
	return lnc_s3_error(ctx, store, "write", key, request);
}

LncCode
lnc_s3_put_if_absent(LncContext *ctx, LncStore *store, const char *key, LncSlice body)
{
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = put_if_absent(ctx, scratch, (LncS3Store *)store, key, body);
	lnc_arena_destroy(scratch);
	return code;
}

/* Remove the objects of n keys (relative to the root), in parallel. */
static LncCode
remove_keys(LncContext *ctx, LncArena *scratch, LncS3Store *store, size_t n, const char *const *keys)
{
	LncS3Batch batch;

	LNC_TRY(lnc_s3_batch(ctx, scratch, n, &batch));
	for (size_t i = 0; i < n; i++)
		LNC_TRY(lnc_s3_address(ctx, scratch, store, &batch, i, "DELETE", keys[i], (LncSlice){0}));
	LNC_TRY(lnc_s3_run(ctx, scratch, store, &batch));
	for (size_t i = 0; i < n; i++)
	{
		LncHttpRequest *request = &batch.requests[i];

		if (succeeded(request))
			continue;
		/* No such key is as good; no such bucket is a mistake that must be seen. */
		if (lnc_s3_error(ctx, store, "remove", keys[i], request) == LNC_NOT_FOUND)
			continue;
		return ctx->error.code;
	}
	return LNC_OK;
}

/* Requests made at once; each takes some memory until all are answered. */
#define REMOVE_BATCH 1000

LncCode
lnc_s3_remove(LncContext *ctx, LncStore *store, size_t n, const char *const *keys, bool durable)
{
	LncArena *scratch;
	LncCode code = LNC_OK;

	(void)durable; /* the store answers when it is */
	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	for (size_t done = 0; done < n && code == LNC_OK; done += REMOVE_BATCH)
	{
		code = remove_keys(ctx, scratch, (LncS3Store *)store, n - done < REMOVE_BATCH ? n - done : REMOVE_BATCH,
						   keys + done);
		lnc_arena_reset(scratch);
	}
	lnc_arena_destroy(scratch);
	return code;
}

/* So many keys a store puts on a page by itself. */
#define KEYS_OF_PAGE 1000

/* Where a listing stands. */
typedef struct Listing
{
	const char *prefix; /* in the bucket; "" or ending in "/" */
	bool recursive;
	const char *start_after; /* in the bucket; NULL: from the start */
	char token[2048];        /* of the next page; "": the first */
	char max_keys[24];       /* of the first page; "": as many as the store sends */
} Listing;

static LncCode
start_listing(LncContext *ctx, LncArena *scratch, LncS3Store *store, const LncListing *wanted, Listing *out)
{
	const char *full;
	char *prefix;

	memset(out, 0, sizeof(*out));
	LNC_TRY(lnc_s3_full_key(ctx, scratch, store, wanted->folder, &full));
	LNC_TRY(lnc_arena_printf(ctx, scratch, &prefix, "%s%s", full, full[0] != '\0' ? "/" : ""));
	out->prefix = prefix;
	out->recursive = wanted->recursive;
	if (wanted->start_after != NULL)
		LNC_TRY(lnc_s3_full_key(ctx, scratch, store, wanted->start_after, &out->start_after));
	if (wanted->expected > 0 && wanted->expected < KEYS_OF_PAGE)
		snprintf(out->max_keys, sizeof(out->max_keys), "%zu", wanted->expected);
	return LNC_OK;
}

/* Fetch the next page; *more tells whether there is another one behind it. */
static LncCode
next_page(LncContext *ctx, LncArena *page_arena, LncS3Store *store, const char *folder, Listing *listing,
		  LncS3Page *page, bool *more)
{
	LncS3Batch batch;
	LncS3Call *call;
	LncHttpRequest *request;

	LNC_TRY(lnc_s3_batch(ctx, page_arena, 1, &batch));
	LNC_TRY(lnc_s3_address(ctx, page_arena, store, &batch, 0, "GET", NULL, (LncSlice){0}));
	call = &batch.calls[0];
	request = &batch.requests[0];
	call->params[call->nparams++] = (LncSigV4Pair){"list-type", "2"};
	if (listing->prefix[0] != '\0')
		call->params[call->nparams++] = (LncSigV4Pair){"prefix", listing->prefix};
	if (!listing->recursive)
		call->params[call->nparams++] = (LncSigV4Pair){"delimiter", "/"};
	if (listing->token[0] != '\0')
		call->params[call->nparams++] = (LncSigV4Pair){"continuation-token", listing->token};
	else if (listing->start_after != NULL)
		call->params[call->nparams++] = (LncSigV4Pair){"start-after", listing->start_after};
	if (listing->token[0] == '\0' && listing->max_keys[0] != '\0')
		call->params[call->nparams++] = (LncSigV4Pair){"max-keys", listing->max_keys};
	request->max_body = LONGEST_PAGE;
	LNC_TRY(lnc_s3_run(ctx, page_arena, store, &batch));
	if (!succeeded(request))
		return lnc_s3_error(ctx, store, "list", folder, request);
	LNC_TRY(lnc_s3_parse_page(ctx, page_arena, request->answer, page));
	*more = page->truncated;
	if (page->truncated)
	{
		size_t length = strlen(page->next_token);

		if (length >= sizeof(listing->token) || strcmp(page->next_token, listing->token) == 0)
			return lnc_fail(ctx, LNC_CORRUPT,
							"could not list \"%s\": the store's token for the next page is of no use",
							lnc_object_name(&store->base, folder).text);
		memcpy(listing->token, page->next_token, length + 1);
	}
	return LNC_OK;
}

/* The key relative to the store's root; NULL when the store listed one that was not asked for. */
static const char *
relative_key(const LncS3Store *store, const Listing *listing, const char *key)
{
	const char *root = store->base.uri.path;

	if (strncmp(key, listing->prefix, strlen(listing->prefix)) != 0)
		return NULL;
	return root[0] != '\0' ? key + strlen(root) + 1 : key;
}

/* Hand the objects of a page to the caller's function. */
static LncCode
report_page(LncContext *ctx, LncS3Store *store, const Listing *listing, const LncS3Page *page, LncListFn fn,
			void *arg, bool *stop)
{
	for (size_t i = 0; i < page->nobjects && !*stop; i++)
	{
		LncObject object = page->objects[i];
		size_t length = strlen(object.key);

		LNC_TRY(lnc_check_interrupt(ctx));
		/* Keys that end in a slash stand for folders, in tools that need such. */
		if (object.key[length - 1] == '/')
			continue;
		/* Not every server knows start-after. */
		if (listing->start_after != NULL && strcmp(object.key, listing->start_after) <= 0)
			continue;
		object.key = relative_key(store, listing, object.key);
		if (object.key == NULL)
			return lnc_fail(ctx, LNC_CORRUPT, "could not list \"%s\": the store listed a key that lies elsewhere",
							lnc_object_name(&store->base, "").text);
		LNC_TRY(fn(ctx, arg, &object, stop));
	}
	return LNC_OK;
}

/* Hand the folders of a page to the caller's function. */
static LncCode
report_folders(LncContext *ctx, LncS3Store *store, const Listing *listing, const LncS3Page *page, LncFolderFn fn,
			   void *arg, bool *stop)
{
	for (size_t i = 0; i < page->nfolders && !*stop; i++)
	{
		char *folder = page->folders[i];
		size_t length = strlen(folder);
		const char *key = relative_key(store, listing, folder);
		const char *name = folder + strlen(listing->prefix);

		LNC_TRY(lnc_check_interrupt(ctx));
		if (key != NULL && length > strlen(listing->prefix) && folder[length - 1] == '/')
			folder[length - 1] = '\0';
		else
			key = NULL;
		if (key == NULL || strchr(name, '/') != NULL)
			return lnc_fail(ctx, LNC_CORRUPT,
							"could not list \"%s\": the store listed a folder that lies elsewhere",
							lnc_object_name(&store->base, "").text);
		/* A name that no key of ours can have. */
		if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		LNC_TRY(fn(ctx, arg, key, stop));
	}
	return LNC_OK;
}

/* What a listing is for: one of the two functions is set. */
typedef struct Receiver
{
	LncListFn object;
	LncFolderFn folder;
	void *arg;
} Receiver;

/* Page after page, until there is no more or the receiver has enough. */
static LncCode
list_pages(LncContext *ctx, LncS3Store *store, const LncListing *wanted, const Receiver *receiver)
{
	LncArena *scratch;
	LncArena *page_arena = NULL;
	Listing listing;
	bool more = true;
	bool stop = false;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = start_listing(ctx, scratch, store, wanted, &listing);
	if (code == LNC_OK)
		code = lnc_arena_create_scratch(ctx, &page_arena);
	while (code == LNC_OK && more && !stop)
	{
		LncS3Page page;

		code = next_page(ctx, page_arena, store, wanted->folder, &listing, &page, &more);
		if (code == LNC_OK)
			code = receiver->folder != NULL
					   ? report_folders(ctx, store, &listing, &page, receiver->folder, receiver->arg, &stop)
					   : report_page(ctx, store, &listing, &page, receiver->object, receiver->arg, &stop);
		lnc_arena_reset(page_arena);
	}
	lnc_arena_destroy(page_arena);
	lnc_arena_destroy(scratch);
	return code;
}

LncCode
lnc_s3_list(LncContext *ctx, LncStore *base, const LncListing *listing, LncListFn fn, void *arg)
{
	Receiver receiver = {.object = fn, .arg = arg};

	return list_pages(ctx, (LncS3Store *)base, listing, &receiver);
}

/* A listing of what begins with the key: the key itself sorts before all others that do. */
static LncCode
find_object(LncContext *ctx, LncArena *scratch, LncS3Store *store, const char *key, LncObject *out)
{
	Listing listing = {.recursive = true, .max_keys = "1"};
	LncS3Page page;
	const char *found;
	bool more;

	memset(out, 0, sizeof(*out));
	LNC_TRY(lnc_s3_full_key(ctx, scratch, store, key, &listing.prefix));
	LNC_TRY(next_page(ctx, scratch, store, key, &listing, &page, &more));
	found = page.nobjects > 0 ? relative_key(store, &listing, page.objects[0].key) : NULL;
	if (found == NULL || strcmp(found, key) != 0)
		return LNC_OK;
	out->key = key;
	out->size = page.objects[0].size;
	out->modified_ms = page.objects[0].modified_ms;
	return LNC_OK;
}

LncCode
lnc_s3_find(LncContext *ctx, LncStore *base, size_t n, const char *const *keys, LncObject *outs)
{
	LncArena *scratch;
	LncCode code = LNC_OK;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	for (size_t i = 0; i < n && code == LNC_OK; i++)
	{
		code = find_object(ctx, scratch, (LncS3Store *)base, keys[i], &outs[i]);
		lnc_arena_reset(scratch);
	}
	lnc_arena_destroy(scratch);
	return code;
}

LncCode
lnc_s3_list_folders(LncContext *ctx, LncStore *base, const char *folder, LncFolderFn fn, void *arg)
{
	LncListing listing = {.folder = folder};
	Receiver receiver = {.folder = fn, .arg = arg};

	return list_pages(ctx, (LncS3Store *)base, &listing, &receiver);
}

/* Remove the objects of one page. */
static LncCode
remove_page(LncContext *ctx, LncArena *page_arena, LncS3Store *store, const Listing *listing, const LncS3Page *page)
{
	const char **keys;

	LNC_TRY(LNC_NEW(ctx, page_arena, &keys, page->nobjects));
	for (size_t i = 0; i < page->nobjects; i++)
	{
		keys[i] = relative_key(store, listing, page->objects[i].key);
		if (keys[i] == NULL)
			return lnc_fail(ctx, LNC_CORRUPT, "could not list \"%s\": the store listed a key that lies elsewhere",
							lnc_object_name(&store->base, "").text);
	}
	return remove_keys(ctx, page_arena, store, page->nobjects, keys);
}

LncCode
lnc_s3_remove_prefix(LncContext *ctx, LncStore *base, const char *prefix, uint64_t *removed)
{
	LncS3Store *store = (LncS3Store *)base;
	LncArena *scratch;
	LncArena *page_arena = NULL;
	LncListing wanted = {.folder = prefix, .recursive = true};
	Listing listing;
	bool more = true;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = start_listing(ctx, scratch, store, &wanted, &listing);
	if (code == LNC_OK)
		code = lnc_arena_create_scratch(ctx, &page_arena);
	while (code == LNC_OK && more)
	{
		LncS3Page page;

		code = next_page(ctx, page_arena, store, prefix, &listing, &page, &more);
		if (code == LNC_OK)
			code = remove_page(ctx, page_arena, store, &listing, &page);
		if (code == LNC_OK)
			*removed += page.nobjects;
		lnc_arena_reset(page_arena);
	}
	lnc_arena_destroy(page_arena);
	lnc_arena_destroy(scratch);
	return code;
}

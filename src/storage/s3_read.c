/*
 * s3_read.c
 *	  The S3 store: reading objects, whole or in ranges.
 */
#include <inttypes.h>
#include <string.h>

#include "storage/ranges.h"
#include "storage/s3.h"

/* Reading over a gap of this size takes less time than another request. */
#define S3_GAP ((uint64_t)96 * 1024)

/* Long reads are cut into parts of this size, which run in parallel. */
#define S3_PART ((uint64_t)8 * 1024 * 1024)

/* Reads beyond this are checked against the object's size before memory is taken for them. */
#define S3_UNCHECKED ((uint64_t)16 * 1024 * 1024)

static LncCode
read_size(LncContext *ctx, LncArena *scratch, LncS3Store *store, const char *key, uint64_t *size)
{
	LncS3Batch batch;
	LncHttpRequest *request;

	LNC_TRY(lnc_s3_batch(ctx, scratch, 1, &batch));
	LNC_TRY(lnc_s3_address(ctx, scratch, store, &batch, 0, "HEAD", key, (LncSlice){0}));
	LNC_TRY(lnc_s3_run(ctx, scratch, store, &batch));
	request = &batch.requests[0];
	if (request->outcome != LNC_HTTP_ANSWERED || request->status != 200)
		return lnc_s3_error(ctx, store, "find", key, request);
	if (!request->has_length || request->length > INT64_MAX)
		return lnc_fail(ctx, LNC_IO, "could not find \"%s\": the store states no size",
						lnc_object_name(&store->base, key).text);
	*size = request->length;
	return LNC_OK;
}

LncCode
lnc_s3_size(LncContext *ctx, LncStore *store, const char *key, uint64_t *size)
{
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = read_size(ctx, scratch, (LncS3Store *)store, key, size);
	lnc_arena_destroy(scratch);
	return code;
}

/* Questions asked at once; each takes some memory until all are answered. */
#define PRESENT_BATCH 256

static LncCode
ask_present(LncContext *ctx, LncArena *scratch, LncS3Store *store, size_t n, const char *const *keys, bool *present)
{
	LncS3Batch batch;

	LNC_TRY(lnc_s3_batch(ctx, scratch, n, &batch));
	for (size_t i = 0; i < n; i++)
		LNC_TRY(lnc_s3_address(ctx, scratch, store, &batch, i, "HEAD", keys[i], (LncSlice){0}));
	LNC_TRY(lnc_s3_run(ctx, scratch, store, &batch));
	for (size_t i = 0; i < n; i++)
	{
		const LncHttpRequest *request = &batch.requests[i];

		present[i] = request->outcome == LNC_HTTP_ANSWERED && request->status == 200;
		if (!present[i] && lnc_s3_error(ctx, store, "find", keys[i], request) != LNC_NOT_FOUND)
			return ctx->error.code;
	}
	return LNC_OK;
}

LncCode
lnc_s3_present(LncContext *ctx, LncStore *store, size_t n, const char *const *keys, bool *present)
{
	LncArena *scratch;
	LncCode code = LNC_OK;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	for (size_t done = 0; done < n && code == LNC_OK;)
	{
		size_t step = n - done < PRESENT_BATCH ? n - done : PRESENT_BATCH;

		code = ask_present(ctx, scratch, (LncS3Store *)store, step, keys + done, present + done);
		done += step;
		lnc_arena_reset(scratch);
	}
	lnc_arena_destroy(scratch);
	return code;
}

/* LNC_CORRUPT for the first range that ends beyond size. */
static LncCode
check_ranges(LncContext *ctx, LncS3Store *store, const char *key, size_t n, const LncRange *ranges, uint64_t size)
{
	for (size_t i = 0; i < n; i++)
	{
		if (!lnc_range_ok(ranges[i].offset, ranges[i].length, size))
			return lnc_range_error(ctx, &store->base, key, ranges[i], size);
	}
	return LNC_OK;
}

static LncCode
no_ranges(LncContext *ctx, LncS3Store *store, const char *key)
{
	return lnc_fail(ctx, LNC_UNSUPPORTED, "could not read \"%s\": the store does not serve byte ranges",
					lnc_object_name(&store->base, key).text);
}

/* Request number i of the batch: bytes of the object to target. */
static LncCode
ask_for(LncContext *ctx, LncArena *arena, LncS3Store *store, LncS3Batch *batch, size_t i, const char *key,
		LncRange range, uint8_t *target)
{
	char *header;

	LNC_TRY(lnc_s3_address(ctx, arena, store, batch, i, "GET", key, (LncSlice){0}));
	LNC_TRY(lnc_arena_printf(ctx, arena, &header, "bytes=%" PRIu64 "-%" PRIu64, range.offset,
							 range.offset + range.length - 1));
	batch->calls[i].range = header;
	batch->requests[i].target = target;
	batch->requests[i].target_size = range.length;
	return LNC_OK;
}

/* Cut the spans into parts, one request each. */
static LncCode
make_parts(LncContext *ctx, LncArena *scratch, LncS3Store *store, const char *key, const LncSpans *spans,
		   LncS3Batch *batch, LncRange **parts)
{
	size_t n = 0;

	for (size_t i = 0; i < spans->nspans; i++)
		n += (size_t)((spans->spans[i].length + S3_PART - 1) / S3_PART);
	LNC_TRY(lnc_s3_batch(ctx, scratch, n, batch));
	LNC_TRY(LNC_NEW(ctx, scratch, parts, n));
	n = 0;
	for (size_t i = 0; i < spans->nspans; i++)
	{
		const LncSpan *span = &spans->spans[i];

		for (uint64_t done = 0; done < span->length; done += S3_PART, n++)
		{
			uint64_t length = span->length - done < S3_PART ? span->length - done : S3_PART;
			uint64_t first = span->offset + done;

			(*parts)[n] = (LncRange){.offset = first, .length = length};
			LNC_TRY(ask_for(ctx, scratch, store, batch, n, key, (*parts)[n], span->data + done));
		}
	}
	return LNC_OK;
}

/* True when the answer holds exactly the part. */
static bool
part_is_whole(const LncHttpRequest *request, LncRange part)
{
	if (request->outcome != LNC_HTTP_ANSWERED || request->received != part.length)
		return false;
	if (request->status == 206)
		return request->has_range && request->range_first == part.offset &&
			   request->range_last == part.offset + part.length - 1;
	/* A whole object that happens to be what was asked for. */
	return request->status == 200 && part.offset == 0;
}

static LncCode
read_spans(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncArena *arena, const char *key, size_t nranges,
		   const LncRange *ranges, const uint8_t **outs)
{
	LncSpans spans;
	LncS3Batch batch;
	LncRange *parts;
	uint64_t size;

	LNC_TRY(lnc_spans_plan(ctx, scratch, nranges, ranges, S3_GAP, &spans));
	if (spans.total > S3_UNCHECKED)
	{
		LNC_TRY(read_size(ctx, scratch, store, key, &size));
		LNC_TRY(check_ranges(ctx, store, key, nranges, ranges, size));
	}
	LNC_TRY(lnc_spans_allocate(ctx, arena, &spans, nranges, ranges, outs));
	LNC_TRY(make_parts(ctx, scratch, store, key, &spans, &batch, &parts));
	LNC_TRY(lnc_s3_run(ctx, scratch, store, &batch));
	for (size_t i = 0; i < batch.n; i++)
	{
		const LncHttpRequest *request = &batch.requests[i];

		if (part_is_whole(request, parts[i]))
			continue;
		if (request->status == 200)
			return no_ranges(ctx, store, key);
		if (request->outcome == LNC_HTTP_ANSWERED && (request->status == 416 || request->status == 206))
		{
			/* Most likely a range beyond the end. */
			LNC_TRY(read_size(ctx, scratch, store, key, &size));
			LNC_TRY(check_ranges(ctx, store, key, nranges, ranges, size));
			if (request->status == 206)
				return lnc_fail(ctx, LNC_IO, "could not read \"%s\": the store sent another range than asked for",
								lnc_object_name(&store->base, key).text);
		}
		return lnc_s3_error(ctx, store, "read", key, request);
	}
	return LNC_OK;
}

LncCode
lnc_s3_read_ranges(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, size_t nranges,
				   const LncRange *ranges, const uint8_t **outs)
{
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = read_spans(ctx, scratch, (LncS3Store *)store, arena, key, nranges, ranges, outs);
	lnc_arena_destroy(scratch);
	return code;
}

/* One request for a range, on its way. */
typedef struct S3Job
{
	LncHttpJob *http;
	LncHttpRequest *request;
	LncRange range;
} S3Job;

static LncCode
begin(LncContext *ctx, LncArena *inner, LncS3Store *store, const char *key, LncRange range, uint8_t *target,
	  S3Job *job)
{
	LncS3Batch batch;

	LNC_TRY(lnc_s3_batch(ctx, inner, 1, &batch));
	LNC_TRY(ask_for(ctx, inner, store, &batch, 0, key, range, target));
	/* It is made once: what the store says of keys matters to nobody, and the store may be gone by then. */
	batch.requests[0].retry = NULL;
	LNC_TRY(lnc_s3_url(ctx, inner, store, &batch, 0));
	job->request = &batch.requests[0];
	job->range = range;
	return lnc_http_begin(ctx, store->http, inner, &store->policy, job->request, &job->http);
}

LncCode
lnc_s3_read_begin(LncContext *ctx, LncStore *base, LncArena *arena, const char *key, LncRange range,
				  uint8_t *target, void **out)
{
	LncArena *inner; /* it is wiped where requests carry tokens, and targets are large */
	S3Job *job;

	*out = NULL;
	if (range.length > S3_PART)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, arena, &job, 1));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &inner));
	LNC_TRY(begin(ctx, inner, (LncS3Store *)base, key, range, target, job));
	if (job->http == NULL)
		return LNC_OK;
	lnc_store_asked(ctx, base, 1);
	*out = job;
	return LNC_OK;
}

LncCode
lnc_s3_read_finish(LncContext *ctx, LncStore *base, void *state, bool *whole)
{
	S3Job *job = state;

	(void)base;
	LNC_TRY(lnc_http_finish(ctx, job->http));
	*whole = part_is_whole(job->request, job->range);
	return LNC_OK;
}

LncCode
lnc_s3_move_on(LncContext *ctx, LncStore *base)
{
	return lnc_http_move_on(ctx, ((LncS3Store *)base)->http);
}

/* Move an answer from the scratch arena to the caller's. */
static LncCode
copy_answer(LncContext *ctx, LncArena *arena, LncSlice answer, LncSlice *out)
{
	void *memory;

	LNC_TRY(lnc_arena_alloc(ctx, arena, answer.size, &memory));
	if (answer.size > 0)
		memcpy(memory, answer.data, answer.size);
	*out = (LncSlice){.data = memory, .size = answer.size};
	return LNC_OK;
}

static LncCode
read_tail(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncArena *arena, const char *key, uint64_t max,
		  LncSlice *tail, uint64_t *size)
{
	LncS3Batch batch;
	LncHttpRequest *request;
	char *range;

	LNC_TRY(lnc_s3_batch(ctx, scratch, 1, &batch));
	LNC_TRY(lnc_s3_address(ctx, scratch, store, &batch, 0, "GET", key, (LncSlice){0}));
	LNC_TRY(lnc_arena_printf(ctx, scratch, &range, "bytes=-%" PRIu64, max));
	batch.calls[0].range = range;
	request = &batch.requests[0];
	request->max_body = max;
	LNC_TRY(lnc_s3_run(ctx, scratch, store, &batch));
	if (request->outcome == LNC_HTTP_ANSWERED && request->status == 416)
	{
		/* An object without bytes has no last ones. */
		LNC_TRY(read_size(ctx, scratch, store, key, size));
		if (*size == 0)
			return copy_answer(ctx, arena, (LncSlice){0}, tail);
		return lnc_s3_error(ctx, store, "read", key, request);
	}
	if (request->status == 200 && request->outcome == LNC_HTTP_REFUSED && request->code == LNC_LIMIT)
		return no_ranges(ctx, store, key);
	if (request->outcome != LNC_HTTP_ANSWERED || (request->status != 200 && request->status != 206))
		return lnc_s3_error(ctx, store, "read", key, request);
	if (request->status == 200)
		*size = request->received;
	else if (request->has_range && request->range_last == request->range_total - 1 &&
			 request->received == request->range_total - request->range_first &&
			 request->received == (max < request->range_total ? max : request->range_total))
		*size = request->range_total;
	else
		return lnc_fail(ctx, LNC_IO, "could not read \"%s\": the store sent another range than asked for",
						lnc_object_name(&store->base, key).text);
	return copy_answer(ctx, arena, request->answer, tail);
}

LncCode
lnc_s3_read_tail(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max, LncSlice *tail,
				 uint64_t *size)
{
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = read_tail(ctx, scratch, (LncS3Store *)store, arena, key, max, tail, size);
	lnc_arena_destroy(scratch);
	return code;
}

static LncCode
read_all(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncArena *arena, const char *key, uint64_t max,
		 LncSlice *out)
{
	LncS3Batch batch;
	LncHttpRequest *request;

	LNC_TRY(lnc_s3_batch(ctx, scratch, 1, &batch));
	LNC_TRY(lnc_s3_address(ctx, scratch, store, &batch, 0, "GET", key, (LncSlice){0}));
	request = &batch.requests[0];
	request->max_body = max;
	LNC_TRY(lnc_s3_run(ctx, scratch, store, &batch));
	if (request->outcome == LNC_HTTP_REFUSED && request->code == LNC_LIMIT)
		return lnc_too_large(ctx, &store->base, key, request->has_length ? request->length : max + 1, max);
	if (request->outcome != LNC_HTTP_ANSWERED || request->status != 200)
		return lnc_s3_error(ctx, store, "read", key, request);
	return copy_answer(ctx, arena, request->answer, out);
}

LncCode
lnc_s3_read_all(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max, LncSlice *out)
{
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = read_all(ctx, scratch, (LncS3Store *)store, arena, key, max, out);
	lnc_arena_destroy(scratch);
	return code;
}

/*
 * sts_policy.c
 *	  Session policies: what the keys of one table open.
 *
 * Source: "IAM JSON policy elements" of the IAM user guide. Session policies have at most 2048 letters, hence the terse form.
 */
#include <string.h>

#include "base/json.h"
#include "storage/sts.h"

/* More than the service takes, so that it is the one to refuse. */
#define LONGEST_POLICY ((size_t)64 * 1024)

static const char *const read_actions[] = {"s3:GetObject", NULL};
static const char *const write_actions[] = {"s3:GetObject",
											"s3:PutObject",
											"s3:DeleteObject",
											"s3:AbortMultipartUpload",
											"s3:ListMultipartUploadParts",
											NULL};
static const char *const list_actions[] = {"s3:ListBucket", NULL};

static void
begin_statement(LncJsonWriter *w, const char *const *actions, const char *resource)
{
	lnc_jw_begin_object(w);
	lnc_jw_put_string(w, "Effect", "Allow");
	lnc_jw_key(w, "Action");
	lnc_jw_begin_array(w);
	for (; *actions != NULL; actions++)
		lnc_jw_string(w, *actions);
	lnc_jw_end_array(w);
	lnc_jw_put_string(w, "Resource", resource);
}

LncCode
lnc_sts_policy(LncContext *ctx, LncArena *arena, const char *partition, const char *bucket, const char *prefix,
			   LncSessionAccess access, const char **out)
{
	LncJsonWriter *w;
	LncSlice text;
	char *objects;
	char *container;
	char *below;

	if (prefix[0] == '\0')
		return lnc_fail(ctx, LNC_INVALID, "a whole bucket is no place of a table");
	/* There are ways to write these literally, but not all services that take policies know them. */
	if (strpbrk(prefix, "*?") != NULL || strstr(prefix, "${") != NULL || strpbrk(bucket, "*?$") != NULL)
		return lnc_fail(ctx, LNC_INVALID, "no policy can be written for a location with \"*\", \"?\" or \"${\"");
	if (partition == NULL)
		partition = "aws";
	LNC_TRY(lnc_arena_printf(ctx, arena, &objects, "arn:%s:s3:::%s/%s/*", partition, bucket, prefix));
	LNC_TRY(lnc_arena_printf(ctx, arena, &container, "arn:%s:s3:::%s", partition, bucket));
	LNC_TRY(lnc_arena_printf(ctx, arena, &below, "%s/*", prefix));

	LNC_TRY(lnc_jw_create(ctx, arena, LONGEST_POLICY, &w));
	lnc_jw_begin_object(w);
	lnc_jw_put_string(w, "Version", "2012-10-17");
	lnc_jw_key(w, "Statement");
	lnc_jw_begin_array(w);
	begin_statement(w, access == LNC_SESSION_WRITE ? write_actions : read_actions, objects);
	lnc_jw_end_object(w);
	/* Without the slash, listing the prefix would show its longer neighbours too. */
	begin_statement(w, list_actions, container);
	lnc_jw_key(w, "Condition");
	lnc_jw_begin_object(w);
	lnc_jw_key(w, "StringLike");
	lnc_jw_begin_object(w);
	lnc_jw_put_string(w, "s3:prefix", below);
	lnc_jw_end_object(w);
	lnc_jw_end_object(w);
	lnc_jw_end_object(w);
	lnc_jw_end_array(w);
	lnc_jw_end_object(w);
	LNC_TRY(lnc_jw_finish(w, &text));
	*out = (const char *)text.data;
	return LNC_OK;
}

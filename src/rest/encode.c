/*
 * encode.c
 *	  JSON out of response structs.
 */
#include "postgres.h"

#include "base/json.h"
#include "mb/pg_wchar.h"
#include "pg/report.h"
#include "rest/codec.h"

/* A listing is whole unless pages were asked for, so this is far above any sane answer. */
#define MAX_RESPONSE_SIZE ((size_t)512 * 1024 * 1024)

#define MEMBER(object, field, Type) ((const Type *)((const char *)(object) + (field)->offset))

static const char *
text_out(const char *text)
{
	return pg_server_to_any(text, strlen(text), PG_UTF8);
}

static void
put_text(LncJsonWriter *w, const char *name, const char *text)
{
	if (text != NULL)
		lnc_jw_put_string(w, name, text_out(text));
}

static void
put_int(LncJsonWriter *w, const char *name, const LanceOptionalInt *value)
{
	if (value->given)
		lnc_jw_put_int(w, name, value->value);
}

static void
put_texts(LncJsonWriter *w, const char *name, char **texts, int count)
{
	lnc_jw_key(w, name);
	lnc_jw_begin_array(w);
	for (int i = 0; i < count; i++)
		lnc_jw_string(w, text_out(texts[i]));
	lnc_jw_end_array(w);
}

static void
put_pairs(LncJsonWriter *w, const LanceProperties *properties)
{
	for (int i = 0; i < properties->count; i++)
		lnc_jw_put_string(w, text_out(properties->items[i].key), text_out(properties->items[i].value));
}

static void
put_properties(LncJsonWriter *w, const char *name, const LanceProperties *properties)
{
	lnc_jw_key(w, name);
	if (!properties->given)
	{
		lnc_jw_null(w);
		return;
	}
	lnc_jw_begin_object(w);
	put_pairs(w, properties);
	lnc_jw_end_object(w);
}

static void
write_version(LncJsonWriter *w, const LanceVersionInfo *version)
{
	lnc_jw_begin_object(w);
	lnc_jw_put_int(w, "version", version->version);
	put_text(w, "manifest_path", version->manifest_path);
	put_int(w, "manifest_size", &version->manifest_size);
	put_text(w, "e_tag", version->e_tag);
	put_int(w, "timestamp_millis", &version->timestamp_millis);
	if (version->metadata.given)
		put_properties(w, "metadata", &version->metadata);
	lnc_jw_end_object(w);
}

static void
put_versions(LncJsonWriter *w, const char *name, const LanceVersionList *versions)
{
	lnc_jw_key(w, name);
	lnc_jw_begin_array(w);
	for (int i = 0; i < versions->count; i++)
		write_version(w, &versions->items[i]);
	lnc_jw_end_array(w);
}

static void
put_stats(LncJsonWriter *w, const char *name, const LanceOptionalInt *deleted_rows,
		  const LanceOptionalInt *fragments)
{
	if (!deleted_rows->given || !fragments->given)
		return;
	lnc_jw_key(w, name);
	lnc_jw_begin_object(w);
	lnc_jw_put_int(w, "num_deleted_rows", deleted_rows->value);
	lnc_jw_put_int(w, "num_fragments", fragments->value);
	lnc_jw_end_object(w);
}

/* The inner names are those of the files, in camel case. */
static void
put_tags(LncJsonWriter *w, const char *name, const LanceTagList *tags)
{
	lnc_jw_key(w, name);
	lnc_jw_begin_object(w);
	for (int i = 0; i < tags->count; i++)
	{
		const LanceTagInfo *tag = &tags->items[i];

		lnc_jw_key(w, text_out(tag->name));
		lnc_jw_begin_object(w);
		put_text(w, "branch", tag->branch);
		lnc_jw_put_int(w, "version", tag->version);
		lnc_jw_put_int(w, "manifestSize", tag->manifest_size);
		lnc_jw_end_object(w);
	}
	lnc_jw_end_object(w);
}

static void
put_branches(LncJsonWriter *w, const char *name, const LanceBranchList *branches)
{
	lnc_jw_key(w, name);
	lnc_jw_begin_object(w);
	for (int i = 0; i < branches->count; i++)
	{
		const LanceBranchInfo *branch = &branches->items[i];

		lnc_jw_key(w, text_out(branch->name));
		lnc_jw_begin_object(w);
		put_text(w, "parentBranch", branch->parent_branch);
		lnc_jw_put_int(w, "parentVersion", branch->parent_version);
		lnc_jw_put_int(w, "createAt", branch->create_at);
		lnc_jw_put_int(w, "manifestSize", branch->manifest_size);
		put_properties(w, "metadata", &branch->metadata);
		lnc_jw_end_object(w);
	}
	lnc_jw_end_object(w);
}

static void write_object(LncJsonWriter *w, const LanceMessage *message, const void *object);

static void
put_list(LncJsonWriter *w, const LanceField *field, const LanceObjectList *list)
{
	lnc_jw_key(w, field->name);
	lnc_jw_begin_array(w);
	for (int i = 0; i < list->count; i++)
		write_object(w, field->message, (const char *)list->items + field->message->size * (Size)i);
	lnc_jw_end_array(w);
}

static void
put_maps(LncJsonWriter *w, const char *name, const LanceNamedPropertiesList *maps)
{
	if (!maps->given)
		return;
	lnc_jw_key(w, name);
	lnc_jw_begin_object(w);
	for (int i = 0; i < maps->count; i++)
		put_properties(w, text_out(maps->items[i].name), &maps->items[i].properties);
	lnc_jw_end_object(w);
}

static void
put_fragment_stats(LncJsonWriter *w, const char *name, const LanceFragmentStats *stats)
{
	lnc_jw_key(w, name);
	lnc_jw_begin_object(w);
	put_int(w, "num_fragments", &stats->num_fragments);
	put_int(w, "num_small_fragments", &stats->num_small_fragments);
	lnc_jw_key(w, "lengths");
	lnc_jw_begin_object(w);
	put_int(w, "min", &stats->min);
	put_int(w, "max", &stats->max);
	put_int(w, "mean", &stats->mean);
	put_int(w, "p25", &stats->p25);
	put_int(w, "p50", &stats->p50);
	put_int(w, "p75", &stats->p75);
	put_int(w, "p99", &stats->p99);
	lnc_jw_end_object(w);
	lnc_jw_end_object(w);
}

static void
put_field(LncJsonWriter *w, const LanceField *field, const void *response)
{
	const LanceId *id;
	const LanceNameList *names;
	LanceOptionalBool truth;
	const char *text;

	switch (field->kind)
	{
		case LANCE_FIELD_ID:
			id = MEMBER(response, field, LanceId);
			if (id->given)
				put_texts(w, field->name, id->parts, id->nparts);
			return;
		case LANCE_FIELD_TEXT:
			put_text(w, field->name, *MEMBER(response, field, char *));
			return;
		case LANCE_FIELD_INT:
			put_int(w, field->name, MEMBER(response, field, LanceOptionalInt));
			return;
		case LANCE_FIELD_BOOL:
			truth = *MEMBER(response, field, LanceOptionalBool);
			if (truth != LANCE_BOOL_UNSET)
				lnc_jw_put_bool(w, field->name, truth == LANCE_BOOL_TRUE);
			return;
		case LANCE_FIELD_PROPERTIES:
			put_properties(w, field->name, MEMBER(response, field, LanceProperties));
			return;
		case LANCE_FIELD_NAMES:
			names = MEMBER(response, field, LanceNameList);
			put_texts(w, field->name, names->names, names->count);
			return;
		case LANCE_FIELD_VERSION:
			lnc_jw_key(w, field->name);
			write_version(w, MEMBER(response, field, LanceVersionInfo));
			return;
		case LANCE_FIELD_VERSIONS:
			put_versions(w, field->name, MEMBER(response, field, LanceVersionList));
			return;
		case LANCE_FIELD_JSON:
			text = *MEMBER(response, field, char *);
			if (text != NULL)
			{
				text = text_out(text);
				lnc_jw_key(w, field->name);
				lnc_jw_raw(w, text, strlen(text));
			}
			return;
		case LANCE_FIELD_LIST:
			put_list(w, field, MEMBER(response, field, LanceObjectList));
			return;
		case LANCE_FIELD_OBJECT:
			if (*MEMBER(response, field, void *) != NULL)
			{
				lnc_jw_key(w, field->name);
				write_object(w, field->message, *MEMBER(response, field, void *));
			}
			return;
		case LANCE_FIELD_STATS:
			put_stats(w, field->name, MEMBER(response, field, LanceOptionalInt),
					  MEMBER(response, field, LanceOptionalInt) + 1);
			return;
		case LANCE_FIELD_TAGS:
			put_tags(w, field->name, MEMBER(response, field, LanceTagList));
			return;
		case LANCE_FIELD_BRANCHES:
			put_branches(w, field->name, MEMBER(response, field, LanceBranchList));
			return;
		case LANCE_FIELD_WHOLE_MAP:
			put_pairs(w, MEMBER(response, field, LanceProperties));
			return;
		case LANCE_FIELD_MAPS:
			put_maps(w, field->name, MEMBER(response, field, LanceNamedPropertiesList));
			return;
		case LANCE_FIELD_FRAGMENT_STATS:
			put_fragment_stats(w, field->name, MEMBER(response, field, LanceFragmentStats));
			return;
		default:
			elog(ERROR, "field \"%s\" cannot stand in a response", field->name);
	}
}

static void
write_object(LncJsonWriter *w, const LanceMessage *message, const void *object)
{
	lnc_jw_begin_object(w);
	if (message != NULL)
	{
		for (const LanceField *field = message->fields; field->name != NULL; field++)
			put_field(w, field, object);
	}
	lnc_jw_end_object(w);
}

void
lance_rest_encode(const LanceMessage *message, const void *response, LanceLibrary *library, LanceRestReply *reply)
{
	LncContext *ctx = &library->ctx;
	LncJsonWriter *w;
	LncSlice text;

	lance_check(ctx, lnc_jw_create(ctx, library->arena, MAX_RESPONSE_SIZE, &w));
	write_object(w, message, response);
	lance_check(ctx, lnc_jw_finish(w, &text));
	*reply = (LanceRestReply){.status = 200, .body = (char *)text.data, .size = text.size};
}

/*
 * lance_inspect.c
 *	  Shows what a dataset is made of, without a server: lance_inspect [options] what uri.
 *
 * Output is a table of tab-separated values with a line of names; backslashes and control characters in texts are
 * written as \xNN. Stores are reached as the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
 * AWS_REGION and AWS_ENDPOINT_URL say. Exit status: 0, 1 for an error, 2 for wrong arguments.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "dataset/inspect.h"

static const char usage[] =
	"usage: lance_inspect [-v VERSION] [-b BRANCH] [-f FRAGMENT] versions|fragments|columns|pages URI\n";

/* What the command line says. */
typedef struct Arguments
{
	const char *what;
	const char *uri;
	const char *branch; /* NULL: main */
	uint64_t version;   /* 0: the newest */
	int64_t fragment;   /* -1: all */
} Arguments;

/* ---- output: arg of all functions is the FILE */

static void
put_text(FILE *out, const char *text)
{
	for (; text != NULL && *text != '\0'; text++)
	{
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7F || c == '\\')
			fprintf(out, "\\x%02X", c);
		else
			fputc(c, out);
	}
}

static LncCode
put_version(LncContext *ctx, void *arg, const LncVersionFacts *facts)
{
	(void)ctx;
	fprintf(arg, "%" PRIu64 "\t", facts->version);
	if (facts->problem == NULL)
	{
		fprintf(arg, "%" PRId64 ".%06d\t", facts->timestamp_us / 1000000,
				(int)llabs(facts->timestamp_us % 1000000));
		put_text(arg, facts->operation);
		fprintf(arg, "\t%" PRIu64 "\t%" PRIu64 "\t", facts->fragments, facts->physical_rows);
	}
	else
		fputs("\t\t\t\t", arg);
	put_text(arg, facts->manifest_key);
	fprintf(arg, "\t%" PRIu64 "\t", facts->manifest_size);
	put_text(arg, facts->problem);
	fputc('\n', arg);
	return LNC_OK;
}

static LncCode
put_fragment(LncContext *ctx, void *arg, const LncFragmentFacts *facts)
{
	static const char *const kinds[] = {"", "arrow", "bitmap"};
	const LncFragment *fragment = facts->fragment;

	(void)ctx;
	fprintf(arg, "%" PRIu64 "\t", fragment->id);
	for (int32_t i = 0; i < fragment->nfiles; i++)
	{
		fputs(i > 0 ? " " : "", arg);
		put_text(arg, fragment->files[i].path);
	}
	fputc('\t', arg);
	if (facts->size_known)
		fprintf(arg, "%" PRIu64, facts->bytes);
	fprintf(arg, "\t%" PRIu64 "\t%" PRIu64 "\t%s\n", fragment->physical_rows, facts->deleted_rows,
			kinds[fragment->deletion_kind]);
	return LNC_OK;
}

static LncCode
put_field(LncContext *ctx, void *arg, const LncFieldFacts *facts)
{
	(void)ctx;
	for (int32_t i = 0; i < facts->npath; i++)
	{
		fputs(i > 0 ? "." : "", arg);
		put_text(arg, facts->path[i]);
	}
	fputc('\t', arg);
	put_text(arg, facts->type);
	fprintf(arg, "\t%d\t%s\t", (int)facts->field->id, facts->field->nullable ? "yes" : "no");
	put_text(arg, facts->field->extension);
	fputc('\n', arg);
	return LNC_OK;
}

static LncCode
put_page(LncContext *ctx, void *arg, const LncPageFacts *facts)
{
	(void)ctx;
	fprintf(arg, "%" PRIu64 "\t", facts->fragment);
	put_text(arg, facts->file);
	fprintf(arg, "\t2.%u\t%u\t", facts->file_minor, facts->column);
	if (facts->field_id >= 0)
		fprintf(arg, "%d", (int)facts->field_id);
	fprintf(arg, "\t%u\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRIu64 "\t%s\t", facts->page, facts->first_row,
			facts->rows, facts->buffers, facts->bytes, facts->layout);
	put_text(arg, facts->encoding);
	fputc('\n', arg);
	return LNC_OK;
}

/* ---- stores */

static LncCode
open_store(LncContext *ctx, void *arg, LncArena *arena, const char *uri, LncStore **out)
{
	const char *endpoint = getenv("AWS_ENDPOINT_URL");
	LncStoreConfig config = {
		.endpoint = endpoint,
		.region = getenv("AWS_REGION"),
		.access_key_id = getenv("AWS_ACCESS_KEY_ID"),
		.secret_access_key = getenv("AWS_SECRET_ACCESS_KEY"),
		.session_token = getenv("AWS_SESSION_TOKEN"),
		.allow_http = endpoint != NULL, /* whoever names an endpoint knows how it is reached */
	};

	(void)arg;
	return lnc_store_open(ctx, arena, uri, &config, out);
}

static LncCode
open_dataset(LncContext *ctx, LncArena *arena, const Arguments *arguments, LncStore *store, LncDataset **out)
{
	LncDatasetOptions options = {
		.branch = arguments->branch, .version = arguments->version, .open_base = open_store};

	return lnc_dataset_open(ctx, arena, store, &options, out);
}

static LncCode
inspect(LncContext *ctx, LncArena *arena, const Arguments *arguments, FILE *out)
{
	LncDataset *dataset;
	LncStore *store;

	LNC_TRY(open_store(ctx, NULL, arena, arguments->uri, &store));
	if (strcmp(arguments->what, "versions") == 0)
	{
		fputs("version\tcommitted_at\toperation\tfragments\tphysical_rows\tmanifest_key\tmanifest_size\tproblem\n",
			  out);
		return lnc_inspect_versions(ctx, store, arguments->branch, put_version, out);
	}
	LNC_TRY(open_dataset(ctx, arena, arguments, store, &dataset));
	if (strcmp(arguments->what, "fragments") == 0)
	{
		fputs("fragment\tfiles\tbytes\tphysical_rows\tdeleted_rows\tdeletion_file\n", out);
		return lnc_inspect_fragments(ctx, dataset, put_fragment, out);
	}
	if (strcmp(arguments->what, "columns") == 0)
	{
		fputs("path\ttype\tfield_id\tnullable\textension\n", out);
		return lnc_inspect_fields(ctx, dataset, put_field, out);
	}
	fputs("fragment\tfile\tfile_version\tfile_column\tfield_id\tpage\tfirst_"
		  "row\trows\tbuffers\tbytes\tlayout\tencoding\n",
		  out);
	return lnc_inspect_pages(ctx, dataset, arguments->fragment, put_page, out);
}

/* ---- command line */

/* A whole number from 0 on; false for anything else. */
static bool
parse_number(const char *text, int64_t *out)
{
	char *end;

	*out = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && *out < INT64_MAX;
}

static bool
parse_arguments(int argc, char **argv, Arguments *out)
{
	static const char *const whats[] = {"versions", "fragments", "columns", "pages"};
	int64_t version = 0;
	int i = 1;

	memset(out, 0, sizeof(*out));
	out->fragment = -1;
	for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
	{
		if (strcmp(argv[i], "-b") == 0)
			out->branch = argv[i + 1];
		else if (strcmp(argv[i], "-v") == 0)
		{
			if (!parse_number(argv[i + 1], &version) || version == 0)
				return false;
		}
		else if (strcmp(argv[i], "-f") != 0 || !parse_number(argv[i + 1], &out->fragment))
			return false;
	}
	out->version = (uint64_t)version;
	if (argc - i != 2)
		return false;
	out->what = argv[i];
	out->uri = argv[i + 1];
	for (size_t n = 0; n < sizeof(whats) / sizeof(whats[0]); n++)
	{
		if (strcmp(out->what, whats[n]) == 0)
			return true;
	}
	return false;
}

/* The program, with its output to out and its messages to err; returns the exit status. */
static int
inspect_main(int argc, char **argv, FILE *out, FILE *err)
{
	Arguments arguments;
	LncContext ctx;
	LncArena *arena;
	LncCode code;

	if (!parse_arguments(argc, argv, &arguments))
	{
		fputs(usage, err);
		return 2;
	}
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	if (arena == NULL)
	{
		fputs("lance_inspect: out of memory\n", err);
		return 1;
	}
	code = inspect(&ctx, arena, &arguments, out);
	lnc_arena_destroy(arena);
	if (code != LNC_OK)
	{
		fprintf(err, "lance_inspect: %s\n", ctx.error.message);
		if (ctx.error.detail[0] != '\0')
			fprintf(err, "%s\n", ctx.error.detail);
		if (ctx.error.hint[0] != '\0')
			fprintf(err, "%s\n", ctx.error.hint);
		return 1;
	}
	if (fflush(out) != 0 || ferror(out))
	{
		fputs("lance_inspect: could not write the output\n", err);
		return 1;
	}
	return 0;
}

#ifndef LANCE_INSPECT_TEST
int
main(int argc, char **argv)
{
	return inspect_main(argc, argv, stdout, stderr);
}
#endif

/*
 * s3_xml.c
 *	  Reading S3's XML with expat. Document types are refused, so there are no entities to expand.
 */
#include "storage/s3_xml.h"

#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"

/* Elements that matter lie three deep; text of one of them is at most a key of 1024 bytes, or a token. */
#define DEEPEST 16
#define LONGEST_TEXT 8192

typedef struct PageParser
{
	LncContext *ctx;
	LncArena *arena;
	XML_Parser expat;
	LncCode code; /* the first failure, recorded in ctx */
	int depth;
	char path[3][32]; /* names of the open elements, outermost first */
	LncBuffer text;   /* of the innermost element */

	bool is_listing;
	LncS3Page *page;
	size_t capacity;        /* of the page's objects */
	size_t folder_capacity; /* of its folders */
	LncObject object;       /* being read */
	bool has_size;
} PageParser;

/* The name without a namespace prefix. */
static const char *
local_name(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon != NULL ? colon + 1 : name;
}

static void
parser_fail(PageParser *parser, LncCode code)
{
	if (parser->code != LNC_OK || code == LNC_OK)
		return;
	parser->code = code;
	XML_StopParser(parser->expat, XML_FALSE);
}

static void
parser_corrupt(PageParser *parser, const char *what)
{
	parser_fail(parser, lnc_fail(parser->ctx, LNC_CORRUPT, "listing of the store has %s", what));
}

static void XMLCALL
start_element(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	PageParser *parser = arg;

	(void)attributes;
	if (parser->depth >= DEEPEST)
	{
		parser_corrupt(parser, "elements nested too deep");
		return;
	}
	if (parser->depth < 3)
		snprintf(parser->path[parser->depth], sizeof(parser->path[0]), "%s", local_name(name));
	parser->depth++;
	parser->text.size = 0;
	if (parser->depth == 1)
		parser->is_listing = strcmp(parser->path[0], "ListBucketResult") == 0;
	if (parser->depth == 2)
	{
		parser->object = (LncObject){0};
		parser->has_size = false;
	}
}

static void XMLCALL
character_data(void *arg, const XML_Char *text, int length)
{
	PageParser *parser = arg;

	if (parser->depth == 2 || parser->depth == 3)
		parser_fail(parser, lnc_buffer_append(parser->ctx, &parser->text, text, (size_t)length));
}

/* A copy of the element's text. */
static char *
take_text(PageParser *parser)
{
	char *copy = NULL;

	parser_fail(parser, lnc_arena_strndup(parser->ctx, parser->arena, (const char *)parser->text.data,
										  parser->text.size, &copy));
	return copy;
}

static bool
text_is(const PageParser *parser, const char *text)
{
	return parser->text.size == strlen(text) && memcmp(parser->text.data, text, parser->text.size) == 0;
}

/* A whole decimal number that is no larger than a signed 64-bit one. */
static bool
parse_size(const char *text, uint64_t *out)
{
	char *end;
	unsigned long long value;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0' || value > INT64_MAX)
		return false;
	*out = value;
	return true;
}

static void
end_object_member(PageParser *parser)
{
	const char *text;

	if (strcmp(parser->path[2], "Key") == 0)
		parser->object.key = take_text(parser);
	else if (strcmp(parser->path[2], "ETag") == 0)
		parser->object.e_tag = take_text(parser);
	else if (strcmp(parser->path[2], "Size") == 0)
	{
		text = take_text(parser);
		if (text != NULL && !parse_size(text, &parser->object.size))
			parser_corrupt(parser, "a size that is no number");
		parser->has_size = true;
	}
	else if (strcmp(parser->path[2], "LastModified") == 0)
	{
		text = take_text(parser);
		if (text != NULL && !lnc_s3_parse_time(text, &parser->object.modified_ms))
			parser_corrupt(parser, "a time that is none");
	}
}

/* Room for one more element behind the n of an array. */
static void *
grow(PageParser *parser, void *array, size_t n, size_t *capacity, size_t element)
{
	size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
	size_t bytes;
	void *grown = NULL;

	if (n < *capacity)
		return array;
	if (lnc_mul_overflow(wanted, element, &bytes))
		parser_fail(parser, lnc_fail(parser->ctx, LNC_LIMIT, "listing of the store is too large"));
	else
		parser_fail(parser, lnc_arena_alloc(parser->ctx, parser->arena, bytes, &grown));
	if (grown == NULL)
		return NULL;
	if (n > 0)
		memcpy(grown, array, n * element);
	*capacity = wanted;
	return grown;
}

static void
add_object(PageParser *parser)
{
	LncS3Page *page = parser->page;
	LncObject *grown;

	if (parser->object.key == NULL || parser->object.key[0] == '\0' || !parser->has_size)
	{
		parser_corrupt(parser, "an object without key or size");
		return;
	}
	grown = grow(parser, page->objects, page->nobjects, &parser->capacity, sizeof(*grown));
	if (grown == NULL)
		return;
	page->objects = grown;
	page->objects[page->nobjects++] = parser->object;
}

static void
add_folder(PageParser *parser)
{
	LncS3Page *page = parser->page;
	char *text = take_text(parser);
	char **grown;

	if (text == NULL)
		return;
	grown = grow(parser, page->folders, page->nfolders, &parser->folder_capacity, sizeof(*grown));
	if (grown == NULL)
		return;
	page->folders = grown;
	page->folders[page->nfolders++] = text;
}

static void XMLCALL
end_element(void *arg, const XML_Char *name)
{
	PageParser *parser = arg;

	(void)name;
	if (parser->code != LNC_OK)
		return;
	if (parser->depth == 3 && strcmp(parser->path[1], "Contents") == 0)
		end_object_member(parser);
	else if (parser->depth == 2 && strcmp(parser->path[1], "Contents") == 0)
		add_object(parser);
	else if (parser->depth == 3 && strcmp(parser->path[1], "CommonPrefixes") == 0 &&
			 strcmp(parser->path[2], "Prefix") == 0)
		add_folder(parser);
	else if (parser->depth == 2 && strcmp(parser->path[1], "IsTruncated") == 0)
		parser->page->truncated = text_is(parser, "true");
	else if (parser->depth == 2 && strcmp(parser->path[1], "NextContinuationToken") == 0)
		parser->page->next_token = take_text(parser);
	parser->depth--;
	parser->text.size = 0;
}

static void XMLCALL
start_doctype(void *arg, const XML_Char *name, const XML_Char *sysid, const XML_Char *pubid, int has_subset)
{
	(void)name;
	(void)sysid;
	(void)pubid;
	(void)has_subset;
	parser_corrupt(arg, "a document type");
}

/* Feed text to a parser whose handlers are set. */
static LncCode
run_parser(PageParser *parser, LncSlice text)
{
	enum XML_Status status;

	if (text.size > INT32_MAX)
		return lnc_fail(parser->ctx, LNC_LIMIT, "listing of the store is too large");
	status = XML_Parse(parser->expat, (const char *)text.data, (int)text.size, XML_TRUE);
	if (parser->code != LNC_OK)
		return parser->code;
	if (status != XML_STATUS_OK)
		return lnc_fail(parser->ctx, LNC_CORRUPT, "listing of the store is no valid XML: %s",
						XML_ErrorString(XML_GetErrorCode(parser->expat)));
	return LNC_OK;
}

LncCode
lnc_s3_parse_page(LncContext *ctx, LncArena *arena, LncSlice text, LncS3Page *out)
{
	PageParser parser = {.ctx = ctx, .arena = arena, .page = out};
	LncCode code;

	*out = (LncS3Page){0};
	parser.expat = XML_ParserCreate(NULL);
	if (parser.expat == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	lnc_buffer_init(&parser.text, arena, LONGEST_TEXT);
	XML_SetUserData(parser.expat, &parser);
	XML_SetElementHandler(parser.expat, start_element, end_element);
	XML_SetCharacterDataHandler(parser.expat, character_data);
	XML_SetStartDoctypeDeclHandler(parser.expat, start_doctype);
	code = run_parser(&parser, text);
	XML_ParserFree(parser.expat);
	LNC_TRY(code);
	if (!parser.is_listing)
		return lnc_fail(ctx, LNC_CORRUPT, "listing of the store is no ListBucketResult");
	if (out->truncated && (out->next_token == NULL || out->next_token[0] == '\0'))
		return lnc_fail(ctx, LNC_CORRUPT, "listing of the store ends early without a token to go on");
	return LNC_OK;
}

/* State of reading an error document. */
typedef struct ErrorParser
{
	XML_Parser expat;
	LncS3Error *out;
	int depth;
	char *field; /* where character data goes; NULL: nowhere */
	size_t field_size;
} ErrorParser;

static void XMLCALL
error_start(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	ErrorParser *parser = arg;

	(void)attributes;
	parser->field = NULL;
	parser->depth++;
	if (parser->depth == 2 && strcmp(local_name(name), "Code") == 0)
	{
		parser->field = parser->out->code;
		parser->field_size = sizeof(parser->out->code);
	}
	else if (parser->depth == 2 && strcmp(local_name(name), "Message") == 0)
	{
		parser->field = parser->out->message;
		parser->field_size = sizeof(parser->out->message);
	}
}

static void XMLCALL
error_text(void *arg, const XML_Char *text, int length)
{
	ErrorParser *parser = arg;
	size_t used;

	if (parser->field == NULL)
		return;
	used = strlen(parser->field);
	for (int i = 0; i < length && used + 1 < parser->field_size; i++)
	{
		/* Messages are one line of ASCII; anything else would only spoil ours. */
		char c = text[i];

		parser->field[used++] = c >= 0x20 && c < 0x7F ? c : '?';
		parser->field[used] = '\0';
	}
}

static void XMLCALL
error_end(void *arg, const XML_Char *name)
{
	ErrorParser *parser = arg;

	(void)name;
	parser->field = NULL;
	parser->depth--;
}

static void XMLCALL
error_doctype(void *arg, const XML_Char *name, const XML_Char *sysid, const XML_Char *pubid, int has_subset)
{
	(void)name;
	(void)sysid;
	(void)pubid;
	(void)has_subset;
	XML_StopParser(((ErrorParser *)arg)->expat, XML_FALSE);
}

void
lnc_s3_parse_error(LncSlice text, LncS3Error *out)
{
	ErrorParser parser = {.out = out};

	*out = (LncS3Error){0};
	if (text.size == 0 || text.size > INT32_MAX)
		return;
	parser.expat = XML_ParserCreate(NULL);
	if (parser.expat == NULL)
		return;
	XML_SetUserData(parser.expat, &parser);
	XML_SetElementHandler(parser.expat, error_start, error_end);
	XML_SetCharacterDataHandler(parser.expat, error_text);
	XML_SetStartDoctypeDeclHandler(parser.expat, error_doctype);
	/* A document that is cut or malformed keeps the fields read up to there: it only words a message. */
	(void)XML_Parse(parser.expat, (const char *)text.data, (int)text.size, XML_TRUE);
	XML_ParserFree(parser.expat);
}

bool
lnc_s3_parse_time(const char *text, int64_t *ms)
{
	struct tm parts = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
	int64_t fraction = 0;
	int64_t scale = 100;
	time_t seconds;

	if (rest == NULL)
		return false;
	if (*rest == '.')
	{
		for (rest++; *rest >= '0' && *rest <= '9'; rest++, scale /= 10)
			fraction += (*rest - '0') * scale;
	}
	if (strcmp(rest, "Z") != 0)
		return false;
	seconds = timegm(&parts);
	*ms = (int64_t)seconds * 1000 + fraction;
	return true;
}

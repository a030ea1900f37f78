/*
 * request.c
 *	  Request targets: path, query string, ids; and the error body.
 *
 * Both path segments and query values are form-encoded, which is what every client of the Lance namespace sends: a blank is '+',
 * a plus is %2B.
 */
#include "postgres.h"

#include <limits.h>

#include "base/bytes.h"
#include "mb/pg_wchar.h"
#include "rest/request.h"
#include "utils/json.h"

#define DEFAULT_DELIMITER "$"
#define MAX_ERROR_TEXT 2000 /* bytes of each text in an error body */

void
lance_rest_set_target(LanceRestRequest *request, const char *target)
{
	MemoryContext old = MemoryContextSwitchTo(request->context);
	size_t path_length;
	const char *rest;

	/* absolute form, as to a proxy: the authority is not ours to check */
	if (target[0] != '/')
	{
		const char *authority = strstr(target, "://");

		if (authority != NULL)
		{
			target = strchr(authority + 3, '/');
			if (target == NULL)
				target = "/";
		}
	}
	path_length = strcspn(target, "?#");
	request->path = pnstrdup(target, path_length);
	rest = target + path_length;
	request->query = rest[0] == '?' ? pnstrdup(rest + 1, strcspn(rest + 1, "#")) : NULL;
	MemoryContextSwitchTo(old);
}

void
lance_rest_forget_key(LanceRestRequest *request)
{
	if (request->api_key != NULL)
		explicit_bzero(request->api_key, strlen(request->api_key));
}

char *
lance_rest_text_in(const char *utf8, size_t length, const char *what)
{
	char *text;

	if (length > INT_MAX - 1)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("%s is too long", what)));
	if (memchr(utf8, '\0', length) != NULL)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("%s contains a NUL character", what)));
	if (!pg_verify_mbstr(PG_UTF8, utf8, (int)length, true))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("%s is not valid UTF-8", what)));
	text = pnstrdup(utf8, length);
	return pg_any_to_server(text, (int)length, PG_UTF8);
}

/* Undo form encoding. what names the part in errors. */
static char *
form_decode(const char *raw, size_t length, const char *what)
{
	char *bytes = palloc(length + 1);
	size_t n = 0;

	for (size_t i = 0; i < length; i++)
	{
		if (raw[i] == '+')
			bytes[n++] = ' ';
		else if (raw[i] == '%')
		{
			int high = -1;
			int low = -1;

			if (length - i > 2)
			{
				high = lnc_hex_value(raw[i + 1]);
				low = lnc_hex_value(raw[i + 2]);
			}
			if (high < 0 || low < 0)
				ereport(ERROR,
						(lance_errcode(LANCE_INVALID_INPUT), errmsg("%s has a broken percent escape", what)));
			bytes[n++] = (char)(high * 16 + low);
			i += 2;
		}
		else
			bytes[n++] = raw[i];
	}
	return lance_rest_text_in(bytes, n, what);
}

static void
parse_query(LanceRestRequest *request)
{
	const char *p = request->query;
	int allocated = 8;

	request->nquery = 0;
	if (p == NULL)
		return;
	request->query_items = palloc(sizeof(LanceQueryItem) * allocated);
	while (*p != '\0')
	{
		size_t length = strcspn(p, "&");
		size_t name_length = strcspn(p, "=&");
		LanceQueryItem *item;

		if (length > 0)
		{
			if (request->nquery == allocated)
			{
				allocated *= 2;
				request->query_items = repalloc(request->query_items, sizeof(LanceQueryItem) * allocated);
			}
			item = &request->query_items[request->nquery++];
			item->name = form_decode(p, name_length, "name of a query parameter");
			item->value = name_length < length ? form_decode(p + name_length + 1, length - name_length - 1,
															 psprintf("query parameter \"%s\"", item->name))
											   : pstrdup("");
		}
		p += length;
		if (*p == '&')
			p++;
	}
}

const char *
lance_rest_query(const LanceRestRequest *request, const char *name)
{
	for (int i = request->nquery - 1; i >= 0; i--)
	{
		if (strcmp(request->query_items[i].name, name) == 0)
			return request->query_items[i].value;
	}
	return NULL;
}

/* Split a decoded id by the delimiter. The delimiter alone is the root. */
static void
split_id(LanceId *id, const char *text, const char *delimiter)
{
	size_t step = strlen(delimiter);
	int count = 1;

	id->given = true;
	id->nparts = 0;
	id->parts = NULL;
	if (text[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("the id in the path is empty")));
	if (strcmp(text, delimiter) == 0)
		return;
	for (const char *p = strstr(text, delimiter); p != NULL; p = strstr(p + step, delimiter))
		count++;
	id->parts = palloc(sizeof(char *) * count);
	for (;;)
	{
		const char *end = strstr(text, delimiter);

		id->parts[id->nparts++] = end != NULL ? pnstrdup(text, end - text) : pstrdup(text);
		if (end == NULL)
			break;
		text = end + step;
	}
}

void
lance_rest_parse(LanceRestRequest *request)
{
	MemoryContext old = MemoryContextSwitchTo(request->context);
	const char *delimiter;

	parse_query(request);
	delimiter = lance_rest_query(request, "delimiter");
	request->delimiter = pstrdup(delimiter != NULL && delimiter[0] != '\0' ? delimiter : DEFAULT_DELIMITER);
	if (request->raw_id != NULL)
		split_id(&request->id, form_decode(request->raw_id, strlen(request->raw_id), "the id in the path"),
				 request->delimiter);
	MemoryContextSwitchTo(old);
}

/*
 * A JSON string of text that need not be valid: an error must be answerable whatever it quotes. What is no UTF-8
 * is shown as question marks, and long texts are cut.
 */
static void
append_json_text(StringInfo out, const char *text)
{
	char *copy = pnstrdup(text, pg_encoding_mbcliplen(PG_UTF8, text, strlen(text), MAX_ERROR_TEXT));

	if (!pg_verify_mbstr(PG_UTF8, copy, strlen(copy), true))
	{
		for (char *p = copy; *p != '\0'; p++)
		{
			if (IS_HIGHBIT_SET(*p))
				*p = '?';
		}
	}
	escape_json(out, copy);
}

static void
append_server_text(StringInfo out, const char *text)
{
	append_json_text(out, pg_server_to_any(text, strlen(text), PG_UTF8));
}

void
lance_rest_reply_error(const LanceRestRequest *request, LanceRestReply *reply, int status, LanceErrorCode code,
					   const char *message, const char *detail)
{
	MemoryContext old = MemoryContextSwitchTo(request->context);
	StringInfoData body;

	initStringInfo(&body);
	appendStringInfo(&body, "{\"code\":%d,\"error\":", (int)code);
	append_server_text(&body, message);
	if (detail != NULL)
	{
		appendStringInfoString(&body, ",\"detail\":");
		append_server_text(&body, detail);
	}
	appendStringInfoString(&body, ",\"instance\":");
	append_json_text(&body, request->path);
	appendStringInfoChar(&body, '}');
	*reply = (LanceRestReply){
		.status = status,
		.body = body.data,
		.size = body.len,
		.allow = request->allow,
		.retry_after = status == 503 || status == 429,
	};
	MemoryContextSwitchTo(old);
}

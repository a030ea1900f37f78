/*
 * sts_xml.c
 *	  Reading the XML of the security token service with expat. Document types are refused.
 */
#include "storage/sts_xml.h"

#include <expat.h>
#include <stdio.h>
#include <string.h>

#include "storage/s3_xml.h"
#include "storage/sts.h"

#define DEEPEST 16

/* An element whose text is wanted, by its parent's name and its own. */
typedef struct Wanted
{
	const char *parent;
	const char *name;
	char *field; /* receives the text */
	size_t field_size;
	bool lenient; /* cut what is too long, and write "?" for other letters than printable ASCII */
	bool seen;
} Wanted;

typedef struct StsParser
{
	XML_Parser expat;
	Wanted *wanted;
	size_t nwanted;
	int depth;
	char path[DEEPEST][32]; /* names of the open elements, cut */
	Wanted *current;        /* NULL: the text at hand is not wanted */
	size_t used;            /* of the current field */
	bool bad;
} StsParser;

static void
stop(StsParser *parser)
{
	parser->bad = true;
	XML_StopParser(parser->expat, XML_FALSE);
}

static void XMLCALL
start_element(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	StsParser *parser = arg;
	const char *colon = strrchr(name, ':');

	(void)attributes;
	parser->current = NULL;
	if (parser->depth >= DEEPEST)
	{
		stop(parser);
		return;
	}
	snprintf(parser->path[parser->depth], sizeof(parser->path[0]), "%s", colon != NULL ? colon + 1 : name);
	parser->depth++;
	for (size_t i = 0; i < parser->nwanted && parser->depth >= 2; i++)
	{
		Wanted *wanted = &parser->wanted[i];

		if (strcmp(wanted->name, parser->path[parser->depth - 1]) != 0 ||
			strcmp(wanted->parent, parser->path[parser->depth - 2]) != 0)
			continue;
		if (wanted->seen)
			stop(parser);
		wanted->seen = true;
		parser->current = wanted;
		parser->used = 0;
		wanted->field[0] = '\0';
	}
}

static void XMLCALL
character_data(void *arg, const XML_Char *text, int length)
{
	StsParser *parser = arg;
	Wanted *wanted = parser->current;

	if (wanted == NULL)
		return;
	for (int i = 0; i < length; i++)
	{
		char c = text[i];
		bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';

		if (wanted->lenient)
			c = c >= 0x20 && c < 0x7F ? c : '?';
		else if (blank)
			continue;
		if (parser->used + 1 >= wanted->field_size || c <= 0x1F || c == 0x7F)
		{
			if (!wanted->lenient)
				stop(parser);
			return;
		}
		wanted->field[parser->used++] = c;
		wanted->field[parser->used] = '\0';
	}
}

static void XMLCALL
end_element(void *arg, const XML_Char *name)
{
	StsParser *parser = arg;

	(void)name;
	parser->current = NULL;
	parser->depth--;
}

static void XMLCALL
start_doctype(void *arg, const XML_Char *name, const XML_Char *sysid, const XML_Char *pubid, int has_subset)
{
	(void)name;
	(void)sysid;
	(void)pubid;
	(void)has_subset;
	stop(arg);
}

/* Fill the fields that are wanted; false when the text is no XML, or one of them is not as it should be. */
static bool
parse(LncSlice text, Wanted *wanted, size_t nwanted)
{
	StsParser parser = {.wanted = wanted, .nwanted = nwanted};
	bool ok;

	if (text.size == 0 || text.size > INT32_MAX)
		return false;
	parser.expat = XML_ParserCreate(NULL);
	if (parser.expat == NULL)
		return false;
	XML_SetUserData(parser.expat, &parser);
	XML_SetElementHandler(parser.expat, start_element, end_element);
	XML_SetCharacterDataHandler(parser.expat, character_data);
	XML_SetStartDoctypeDeclHandler(parser.expat, start_doctype);
	ok = XML_Parse(parser.expat, (const char *)text.data, (int)text.size, XML_TRUE) == XML_STATUS_OK && !parser.bad;
	XML_ParserFree(parser.expat);
	return ok;
}

void
lnc_sts_parse_error(LncSlice text, LncStsError *out)
{
	Wanted wanted[] = {
		{.parent = "Error", .name = "Code", .field = out->code, .field_size = sizeof(out->code), .lenient = true},
		{.parent = "Error",
		 .name = "Message",
		 .field = out->message,
		 .field_size = sizeof(out->message),
		 .lenient = true},
	};

	*out = (LncStsError){0};
	/* What was read up to a fault is kept: it only words a message. */
	(void)parse(text, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

LncCode
lnc_sts_parse_answer(LncContext *ctx, LncSlice text, int64_t now_ms, LncCredentials *out)
{
	char expiration[40] = "";
	Wanted wanted[] = {
		{.parent = "Credentials",
		 .name = "AccessKeyId",
		 .field = out->access_key_id,
		 .field_size = sizeof(out->access_key_id)},
		{.parent = "Credentials",
		 .name = "SecretAccessKey",
		 .field = out->secret_access_key,
		 .field_size = sizeof(out->secret_access_key)},
		{.parent = "Credentials",
		 .name = "SessionToken",
		 .field = out->session_token,
		 .field_size = sizeof(out->session_token)},
		{.parent = "Credentials", .name = "Expiration", .field = expiration, .field_size = sizeof(expiration)},
	};
	LncCode code = LNC_OK;

	memset(out, 0, sizeof(*out));
	if (!parse(text, wanted, sizeof(wanted) / sizeof(wanted[0])) || out->access_key_id[0] == '\0' ||
		out->secret_access_key[0] == '\0' || out->session_token[0] == '\0')
		code = lnc_fail(ctx, LNC_CORRUPT, "answer of the token service holds no credentials");
	else if (!lnc_s3_parse_time(expiration, &out->expires_ms) || out->expires_ms <= 0)
		code = lnc_fail(ctx, LNC_CORRUPT, "answer of the token service does not say when its credentials expire");
	else if (out->expires_ms <= now_ms)
	{
		code = lnc_fail(ctx, LNC_CORRUPT, "token service gave credentials that have expired already");
		lnc_hint(ctx, "Compare the clocks of the service and of this machine.");
	}
	out->obtained_ms = now_ms;
	if (code != LNC_OK)
		lnc_credentials_wipe(out);
	return code;
}

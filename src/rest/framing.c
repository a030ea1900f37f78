/*
 * framing.c
 *	  Reading the headers that say where a request ends, and refusing those that say it in two ways.
 */
#include "postgres.h"

#include <microhttpd.h>

#include "rest/framing.h"

/* The longest header, name and value together. */
#define HEADER_LINE (16 * 1024)

/* CR LF */
#define LINE_END 2

/* What is noted of the headers. */
typedef struct Framing
{
	bool broken; /* a name that is no token, or a value in which a second header could hide */
	bool too_long;
	size_t size; /* of all lines, if each ends with CR LF */
	int hosts;
	int keys;
	int authorizations;
	int lengths;
	int codings;
	const char *length;
	const char *coding;
} Framing;

static bool
begins_longer(const char *name, const char *beginning)
{
	size_t length = strlen(beginning);

	return pg_strncasecmp(name, beginning, length) == 0 && name[length] != '\0';
}

static enum MHD_Result
note_header(void *closure, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value,
			size_t value_size)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	Framing *framing = closure;

	if (name_size == 0 || strspn(name, token) != name_size)
		framing->broken = true;
	if (value != NULL && (strlen(value) != value_size || strpbrk(value, "\r\n") != NULL))
		framing->broken = true;
	if (name_size + value_size > HEADER_LINE)
		framing->too_long = true;

	/* name and value lie in the buffer as they came, so their distance tells of colon and blanks */
	if (value != NULL && value > name)
		framing->size += (size_t)(value - name) + value_size + LINE_END;

	/* the library appends a folded line to the name when the value before it is empty */
	if (begins_longer(name, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
		begins_longer(name, MHD_HTTP_HEADER_TRANSFER_ENCODING))
		framing->broken = true;
	if (pg_strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0)
		framing->hosts++;
	else if (pg_strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0)
	{
		framing->lengths++;
		framing->length = value != NULL ? value : "";
	}
	else if (pg_strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0)
	{
		framing->codings++;
		framing->coding = value != NULL ? value : "";
	}
	else if (pg_strcasecmp(name, "x-api-key") == 0)
		framing->keys++;
	else if (pg_strcasecmp(name, MHD_HTTP_HEADER_AUTHORIZATION) == 0)
		framing->authorizations++;
	return MHD_YES;
}

/*
 * Does each line end with CR LF, and is none folded? The library also takes a lone CR or LF for the end of a line. Where others take it
 * for a part of the value they don't see the header behind it.
 */
static bool
lines_are_whole(struct MHD_Connection *connection, size_t line, const Framing *framing)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	return info != NULL && info->header_size == line + LINE_END + framing->size + LINE_END;
}

/*
 * The declared length of the body. False when the headers contradict each other, or can be read in more than one way
 * (RFC 9112, sections 5.1 and 6), which would let a proxy in front of us see other requests than we do.
 */
static bool
body_length(const Framing *framing, uint64 *length)
{
	char *end;

	*length = 0;
	if (framing->broken || framing->hosts > 1 || framing->lengths + framing->codings > 1)
		return false;
	if (framing->codings == 1)
		return pg_strcasecmp(framing->coding, "chunked") == 0;
	if (framing->lengths == 0)
		return true;
	if (framing->length[0] == '\0' || strspn(framing->length, "0123456789") != strlen(framing->length))
		return false;
	errno = 0;
	*length = strtoull(framing->length, &end, 10);
	return errno == 0;
}

LanceFraming
lance_framing_of(struct MHD_Connection *connection, const char *version, size_t line)
{
	Framing framing = {0};
	LanceFraming result = {0};

	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, note_header, &framing);
	result.too_long = framing.too_long;
	result.two_keys = framing.keys > 1 || framing.authorizations > 1;

	/* HTTP/1.0 knows no chunks: who speaks it may end the request elsewhere */
	result.unclear = !body_length(&framing, &result.length) || !lines_are_whole(connection, line, &framing) ||
					 (framing.codings > 0 && strcmp(version, MHD_HTTP_VERSION_1_1) != 0);
	return result;
}

static enum MHD_Result
wipe_key(void *closure, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value,
		 size_t value_size)
{
	/* values of headers lie where the library has read them into */
	if (value != NULL &&
		(pg_strcasecmp(name, "x-api-key") == 0 || pg_strcasecmp(name, MHD_HTTP_HEADER_AUTHORIZATION) == 0))
		explicit_bzero(unconstify(char *, value), value_size);
	return MHD_YES;
}

void
lance_framing_wipe_keys(struct MHD_Connection *connection)
{
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, wipe_key, NULL);
}

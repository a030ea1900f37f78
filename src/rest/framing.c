/*
 * framing.c
 *	  Reading the headers that say where a request ends, and refusing those that say it in two ways.
 */
#include "postgres.h"

#include <microhttpd.h>

#include "rest/framing.h"

/* The longest header, name and value together. */
#define HEADER_LINE (16 * 1024)

/* What is noted of the headers. */
typedef struct Framing
{
	bool broken; /* a name that is no token, or a value in which a second header could hide */
	bool too_long;
	int hosts;
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
	return MHD_YES;
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
lance_framing_of(struct MHD_Connection *connection)
{
	Framing framing = {0};
	LanceFraming result = {0};

	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, note_header, &framing);
	result.too_long = framing.too_long;
	result.unclear = !body_length(&framing, &result.length);
	return result;
}

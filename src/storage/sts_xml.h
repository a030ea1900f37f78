/*
 * sts_xml.h
 *	  The error document of the security token service.
 */
#ifndef LNC_STORAGE_STS_XML_H
#define LNC_STORAGE_STS_XML_H

#include "base/bytes.h"

/* Fields are "" where the text has none, also when it is no XML at all; printable ASCII. */
typedef struct LncStsError
{
	char code[64];
	char message[256];
} LncStsError;

extern void lnc_sts_parse_error(LncSlice text, LncStsError *out);

#endif

/*
 * changes_json.h
 *	  Lists of changes out of JSON: alterations of columns, metadata of fields, actions on transactions.
 *
 * REST bodies hold them, and SQL functions take them as jsonb. Members of other names are ignored, null is not given.
 * Each throws LANCE_INVALID_INPUT that names what is wrong; what names the list.
 */
#ifndef LANCE_OPS_CHANGES_JSON_H
#define LANCE_OPS_CHANGES_JSON_H

#include "base/json.h"
#include "ops/types.h"
#include "pg/env.h"

/* A text in the database's encoding, palloc'd. */
extern char *lance_json_text(LanceLibrary *lib, const LncJson *value, const char *what);

extern void lance_json_column_changes(LanceLibrary *lib, const LncJson *value, const char *what,
									  LanceColumnChanges *out);
extern void lance_json_field_metadata(LanceLibrary *lib, const LncJson *value, const char *what,
									  LanceFieldMetadataList *out);
extern void lance_json_actions(LanceLibrary *lib, const LncJson *value, const char *what, LanceActions *out);

/* Text in the database's encoding, as JSON in lib. */
extern const LncJson *lance_json_parse(LanceLibrary *lib, const char *text);

#endif

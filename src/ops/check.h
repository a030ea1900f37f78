/*
 * check.h
 *	  Checks that all operations share: ids, names, modes, pages. Each throws LANCE_INVALID_INPUT.
 */
#ifndef LANCE_OPS_CHECK_H
#define LANCE_OPS_CHECK_H

#include "catalog/entry.h"
#include "ops/types.h"

#define LANCE_MAX_NAME_BYTES 1024
#define LANCE_MAX_ID_PARTS 64

/*
 * Names and properties come and go as UTF-8: throws LANCE_UNSUPPORTED in databases of other encodings. Part of the checks
 * of ids. (Foreign tables of datasets work there too.)
 */
extern void lance_check_encoding(void);

/* A name: 1 to LANCE_MAX_NAME_BYTES bytes of valid text. what names it in the message ("table name"). */
extern void lance_check_name(const char *name, const char *what);

/* The id of a namespace; no parts is the root. An id that is not given is refused. */
extern void lance_check_namespace_id(const LanceId *id);

/* The id of a table: at least one part. */
extern void lance_check_table_id(const LanceId *id);

/* Keys and values of a map are valid text and keys are not empty. */
extern void lance_check_properties(const LanceProperties *properties, const char *what);

/* A version that is given must be one that can be: they are numbered from 1. */
extern void lance_check_version(const LanceOptionalInt *version);

/*
 * Which of the NULL-ended spellings a mode has, without regard to case and underscores; NULL or "" is the first.
 * what names the field.
 */
extern int lance_check_mode(const char *mode, const char *what, const char *const *spellings);

/* A page's limit: -1 when not given, else 1 to 2^31 - 1. */
extern int64 lance_check_limit(const LanceOptionalInt *limit);

/* A page token that is a name; NULL for none. */
extern const char *lance_check_name_token(const char *token);

/* All parts but the last; borrowed. */
extern LanceId lance_id_parent(const LanceId *id);

extern const char *lance_id_name(const LanceId *id);

/* Throw the code's "does not exist". */
extern void lance_namespace_missing(const LanceId *id) pg_attribute_noreturn();
extern void lance_table_missing(const LanceId *id) pg_attribute_noreturn();

/* Throw "already exists" for a name: of a table (LANCE_TABLE_EXISTS) or a namespace, by what was to be made. */
extern void lance_table_name_taken(const LanceId *id, bool by_namespace) pg_attribute_noreturn();
extern void lance_namespace_name_taken(const LanceId *id, bool by_table) pg_attribute_noreturn();

#endif

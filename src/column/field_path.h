/*
 * field_path.h
 *	  Paths of fields as clients write them: names joined by dots, a name with a dot in backticks, a backtick doubled.
 *
 *	a.b			field b of the struct a
 *	`a.b`		the top-level field "a.b"
 *	`a``b`		the top-level field "a`b"
 *
 * Source of the facts: spec.yaml ("Lance field path").
 */
#ifndef LNC_COLUMN_FIELD_PATH_H
#define LNC_COLUMN_FIELD_PATH_H

#include "column/type.h"

/* Deepest path that is followed. */
#define LNC_MAX_PATH 64

/* The fields that a path leads through; the last one is the field meant. Borrowed from the schema. */
typedef struct LncFieldPath
{
	int32_t depth;
	const LncField *fields[LNC_MAX_PATH];
} LncFieldPath;

/* Follow a path. LNC_INVALID: it is malformed. LNC_NOT_FOUND: there is no such field. */
extern LncCode lnc_field_path_find(LncContext *ctx, LncArena *arena, const LncSchema *schema, const char *path,
								   LncFieldPath *out) LNC_MUST_CHECK;

/* The path in its canonical spelling: backticks only where a name needs them. */
extern LncCode lnc_field_path_text(LncContext *ctx, LncArena *arena, const LncFieldPath *path,
								   const char **out) LNC_MUST_CHECK;

#endif

/*
 * json_schema.h
 *	  A schema in the JSON form of the namespace API.
 *
 * Source of the facts: spec.yaml JsonArrowSchema; type names as the clients of the API read them:
 *
 *	fixed_size_binary	length: bytes
 *	fixed_size_list		length: items; fields: the item
 *	decimal128, 256		length: precision * 1000 + scale
 *	list, large_list	fields: the item
 *	struct, map			fields: the members; of a map, the entries
 *	dictionary			its value type
 *
 * Units and time zones have no place in it.
 */
#ifndef LNC_ARROW_JSON_SCHEMA_H
#define LNC_ARROW_JSON_SCHEMA_H

#include "base/arena.h"
#include "column/type.h"

/* The schema as a JSON object. LNC_UNSUPPORTED names a field whose type is not known. */
extern LncCode lnc_arrow_schema_json(LncContext *ctx, LncArena *arena, const LncSchema *schema,
									 LncSlice *out) LNC_MUST_CHECK;

#endif

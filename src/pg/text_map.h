/*
 * text_map.h
 *	  Maps of texts (properties, storage options, metadata) as jsonb objects.
 */
#ifndef LANCE_PG_TEXT_MAP_H
#define LANCE_PG_TEXT_MAP_H

/* One entry; both strings NUL-terminated and in the database's encoding. */
typedef struct LanceTextPair
{
	char *key;
	char *value;
} LanceTextPair;

/* A jsonb object of n pairs, palloc'd. When a key occurs twice the last one stays. */
extern Datum lance_text_map_to_jsonb(int n, const LanceTextPair *pairs);

/*
 * The pairs of a jsonb object whose values are all strings; null values are left out. Throws 22023 naming what (the
 * argument or column) for anything else. *pairs is palloc'd; returns their number.
 */
extern int lance_text_map_from_jsonb(Datum jsonb, const char *what, LanceTextPair **pairs);

#endif

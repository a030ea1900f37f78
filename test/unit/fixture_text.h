/*
 * fixture_text.h
 *	  Values of columns in the text form of the fixtures (one JSON value each), and comparing two such texts.
 */
#ifndef TEST_FIXTURE_TEXT_H
#define TEST_FIXTURE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "column/column.h"

/* A text that grows; free(text) when done. */
typedef struct FixtureText
{
	char *text; /* NUL-terminated once something was added */
	size_t length;
	size_t capacity;
	bool json_as_text; /* stored JSON as JSON instead of its bytes */
} FixtureText;

extern void fixture_text_add(FixtureText *out, const char *text, size_t length);

/* Append the value of a row as JSON. Aborts on types that have no text form here. */
extern void fixture_text_value(FixtureText *out, const LncColumn *column, int64_t row);

/* Skip blanks, then one JSON value; returns what follows it, NULL when there is none. *start is where it begins. */
extern const char *fixture_json_skip(const char *text, const char **start);

/* Equal as values: integers by digits, other numbers as doubles, strings and structure exactly. */
extern bool fixture_json_equal(const char *a, const char *b);

#endif

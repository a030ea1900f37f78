/*
 * json_schema_test.c
 *	  Schemas in the JSON form of the namespace API.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arrow/json_schema.h"
#include "base/env.h"

typedef struct Fixture
{
	LncContext ctx;
	LncArena *arena;
} Fixture;

static int
setup(void **state)
{
	static Fixture fixture;

	lnc_context_init(&fixture.ctx, lnc_env_default());
	fixture.arena = lnc_arena_create(lnc_env_default());
	*state = &fixture;
	return fixture.arena == NULL;
}

static int
teardown(void **state)
{
	lnc_arena_destroy(((Fixture *)*state)->arena);
	return 0;
}

static void
check_json(Fixture *f, const LncSchema *schema, const char *expected)
{
	LncSlice json;

	assert_int_equal(lnc_arrow_schema_json(&f->ctx, f->arena, schema, &json), LNC_OK);
	assert_string_equal((const char *)json.data, expected);
}

static LncSlice
slice(const char *text)
{
	return (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)};
}

static void
plain_fields(void **state)
{
	LncField fields[] = {
		{.name = "id", .type = {.kind = LNC_TYPE_INT64}},
		{.name = "text \"x\"", .nullable = true, .type = {.kind = LNC_TYPE_UTF8}},
		{.name = "price", .type = {.kind = LNC_TYPE_DECIMAL128, .precision = 10, .scale = 2}},
		{.name = "loss", .type = {.kind = LNC_TYPE_DECIMAL256, .precision = 5, .scale = -2}},
		{.name = "uuid", .type = {.kind = LNC_TYPE_FIXED_BINARY, .list_size = 16}},
		{.name = "half", .type = {.kind = LNC_TYPE_BFLOAT16}},
	};
	LncSchema schema = {.nfields = 6, .fields = fields};

	check_json(*state, &schema,
			   "{\"fields\":["
			   "{\"name\":\"id\",\"nullable\":false,\"type\":{\"type\":\"int64\"}},"
			   "{\"name\":\"text \\\"x\\\"\",\"nullable\":true,\"type\":{\"type\":\"utf8\"}},"
			   "{\"name\":\"price\",\"nullable\":false,\"type\":{\"type\":\"decimal128\",\"length\":10002}},"
			   "{\"name\":\"loss\",\"nullable\":false,\"type\":{\"type\":\"decimal256\",\"length\":4998}},"
			   "{\"name\":\"uuid\",\"nullable\":false,\"type\":{\"type\":\"fixed_size_binary\",\"length\":16}},"
			   "{\"name\":\"half\",\"nullable\":false,\"type\":{\"type\":\"fixed_size_binary\",\"length\":2}}]}");
}

static void
nested_fields(void **state)
{
	LncField item = {.nullable = true, .type = {.kind = LNC_TYPE_FLOAT32}};
	LncField members[] = {
		{.name = "x", .type = {.kind = LNC_TYPE_BOOL}},
		{.name = "v",
		 .nullable = true,
		 .type = {.kind = LNC_TYPE_FIXED_LIST, .list_size = 8, .nchildren = 1, .children = &item}},
	};
	LncField value = {.name = "values", .type = {.kind = LNC_TYPE_LARGE_UTF8}};
	LncField fields[] = {
		{.name = "s", .nullable = true, .type = {.kind = LNC_TYPE_STRUCT, .nchildren = 2, .children = members}},
		{.name = "d", .type = {.kind = LNC_TYPE_DICTIONARY, .nchildren = 1, .children = &value}},
	};
	LncSchema schema = {.nfields = 2, .fields = fields};

	check_json(*state, &schema,
			   "{\"fields\":["
			   "{\"name\":\"s\",\"nullable\":true,\"type\":{\"type\":\"struct\",\"fields\":["
			   "{\"name\":\"x\",\"nullable\":false,\"type\":{\"type\":\"bool\"}},"
			   "{\"name\":\"v\",\"nullable\":true,\"type\":{\"type\":\"fixed_size_list\",\"length\":8,\"fields\":["
			   "{\"name\":\"item\",\"nullable\":true,\"type\":{\"type\":\"float32\"}}]}}]}},"
			   "{\"name\":\"d\",\"nullable\":false,\"type\":{\"type\":\"large_utf8\"}}]}");
}

static void
metadata(void **state)
{
	LncKeyValue of_field[] = {{"k", slice("v")}, {"bytes", {.data = (const uint8_t *)"\xff", .size = 1}}};
	LncKeyValue of_schema[] = {{"owner", slice("me")}};
	LncField fields[] = {{.name = "a", .type = {.kind = LNC_TYPE_NULL}, .nmetadata = 2, .metadata = of_field}};
	LncSchema schema = {.nfields = 1, .fields = fields, .nmetadata = 1, .metadata = of_schema};
	LncSchema empty = {0};

	check_json(
		*state, &schema,
		"{\"fields\":[{\"name\":\"a\",\"nullable\":false,\"type\":{\"type\":\"null\"},\"metadata\":{\"k\":\"v\"}}],"
		"\"metadata\":{\"owner\":\"me\"}}");
	check_json(*state, &empty, "{\"fields\":[]}");
}

static void
unknown_type(void **state)
{
	Fixture *f = *state;
	LncField fields[] = {{.name = "odd", .type = {.kind = LNC_TYPE_UNKNOWN, .logical = "interval"}}};
	LncSchema schema = {.nfields = 1, .fields = fields};
	LncSlice json;

	assert_int_equal(lnc_arrow_schema_json(&f->ctx, f->arena, &schema, &json), LNC_UNSUPPORTED);
	assert_non_null(strstr(f->ctx.error.message, "odd"));
	assert_non_null(strstr(f->ctx.error.message, "interval"));
}

static void
too_deep(void **state)
{
	Fixture *f = *state;
	LncField fields[100];
	LncSchema schema = {.nfields = 1, .fields = fields};
	LncSlice json;

	memset(fields, 0, sizeof(fields));
	for (int i = 0; i < 100; i++)
	{
		fields[i].name = "f";
		fields[i].type.kind = i < 99 ? LNC_TYPE_STRUCT : LNC_TYPE_BOOL;
		fields[i].type.nchildren = i < 99;
		fields[i].type.children = i < 99 ? &fields[i + 1] : NULL;
	}
	assert_int_equal(lnc_arrow_schema_json(&f->ctx, f->arena, &schema, &json), LNC_LIMIT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plain_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(nested_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(metadata, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_type, setup, teardown),
		cmocka_unit_test_setup_teardown(too_deep, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

--
-- Rows of datasets written by other clients, against the rows that their writers put in.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set fixtures :fixtures '/data'
\set root file:// :fixtures
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS lance_catalog;
CREATE SERVER fixtures FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA fixtures;
SET timezone = 'UTC';
SET intervalstyle = 'postgres';

-- The fixtures' text form of a value as the column's type; finer times are cut to the microsecond.
CREATE FUNCTION expected_value(value jsonb, type text, unit bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	t text := value #>> '{}';
	result text;
BEGIN
	IF t IS NULL THEN
		RETURN NULL;
	ELSIF type = 'bytea' THEN
		RETURN decode(t, 'hex')::text;
	ELSIF type = 'interval' THEN
		RETURN (div(t::numeric * 1000000 - CASE WHEN t::numeric * 1000000 % unit < 0 THEN unit ELSE 0 END, unit)::text
			|| ' microseconds')::interval::text;
	ELSIF type = 'date' THEN
		RETURN left(t, 10)::date::text;
	ELSIF type LIKE 'time%' THEN
		t := regexp_replace(t, '(\.\d{6})\d+', '\1');
	ELSIF type LIKE '%[]' THEN
		SELECT coalesce(array_agg(e), '{}') INTO t FROM jsonb_array_elements_text(value) e;
	END IF;
	EXECUTE format('SELECT %L::%s::text', t, type) INTO result;
	RETURN result;
END $$;

-- Whether a value, as jsonb, is the one expected in the fixtures' text form.
CREATE FUNCTION same_value(got jsonb, want jsonb) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
	g text := got #>> '{}';
	w text := want #>> '{}';
	kinds text := jsonb_typeof(got) || ' ' || jsonb_typeof(want);
BEGIN
	CASE kinds
		WHEN 'array array' THEN
			RETURN jsonb_array_length(got) = jsonb_array_length(want) AND NOT EXISTS (SELECT FROM jsonb_array_elements(got)
				WITH ORDINALITY a (v, n) JOIN jsonb_array_elements(want) WITH ORDINALITY b (v, n) USING (n) WHERE NOT same_value(a.v, b.v));
		WHEN 'object array' THEN
			-- A map, there as pairs.
			RETURN (SELECT count(*) FROM jsonb_object_keys(got)) = jsonb_array_length(want) AND NOT EXISTS (SELECT FROM
				jsonb_array_elements(want) p WHERE NOT got ? (p ->> 0) OR NOT same_value(got -> (p ->> 0), p -> 1));
		WHEN 'object object' THEN
			RETURN NOT EXISTS (SELECT FROM jsonb_each(got) a FULL JOIN jsonb_each(want) b USING (key)
				WHERE a.value IS NULL OR b.value IS NULL OR NOT same_value(a.value, b.value));
		WHEN 'number number' THEN
			-- A float of 32 bits has fewer digits here than its double has there.
			RETURN got = want OR (length(g) <= 16 AND g::float4 = w::float8::float4);
		WHEN 'number string' THEN
			RETURN g::numeric = w::numeric;
		WHEN 'string number' THEN
			RETURN extract(epoch FROM g::interval) IN (w::numeric, trunc(w::numeric / 1000, 6), trunc(w::numeric / 1000000, 6),
				floor(w::numeric / 1000) / 1000000);
		WHEN 'string string' THEN
			RETURN g = w OR g = '\x' || w OR replace(g, '-', '') = w OR (w ~ '^\d+-\d\d-\d\dT' AND
				g::timestamptz = regexp_replace(w, '(\.\d{6})\d+', '\1')::timestamptz)
				OR (w ~ '^\d\d:\d\d:' AND g::time = regexp_replace(w, '(\.\d{6})\d+', '\1')::time);
		ELSE
			RETURN got = want;
	END CASE;
END $$;

-- Attach a fixture, and compare each column that can be read with the file of expected rows.
CREATE FUNCTION check_fixture(dataset text, expected text, version bigint DEFAULT NULL, structs text DEFAULT 'jsonb')
RETURNS TABLE (checked int, rows bigint, wrong text)
LANGUAGE plpgsql AS $$
DECLARE
	folder text := (SELECT substr(regexp_replace(srvoptions[1], '^root=', ''), 8)
					FROM pg_foreign_server WHERE srvname = 'fixtures');
	relation regclass;
	col record;
	unit bigint;
	bad bigint;
BEGIN
	EXECUTE 'DROP FOREIGN TABLE IF EXISTS fixtures.checked';
	DROP TABLE IF EXISTS pg_temp.expected;
	relation := lance_attach_dataset(folder || '/' || dataset || '.lance', 'fixtures', 'fixtures', 'checked', version, structs => structs);
	CREATE TEMP TABLE expected AS
		SELECT n, regexp_replace(line, '([:,\[] ?)-0\.0([],}])', '\1"-0.0"\2', 'g')::jsonb AS row FROM string_to_table(pg_read_file(folder || '/' || expected || '.expected.jsonl'),
			E'\n') WITH ORDINALITY AS t (line, n) WHERE line <> '';
	checked := 0;
	EXECUTE format('SELECT count(*) FROM %s', relation) INTO rows;
	IF rows <> (SELECT count(*) FROM expected) THEN
		wrong := format('count(*) is %s instead of %s', rows, (SELECT count(*) FROM expected));
		RETURN NEXT;
	END IF;
	FOR col IN SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute
		WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped ORDER BY attnum
	LOOP
		unit := CASE WHEN col.attname LIKE '%\_ms' THEN 1000 WHEN col.attname LIKE '%\_us' THEN 1000000
			WHEN col.attname LIKE '%\_ns' THEN 1000000000 ELSE 1 END;
		BEGIN
			IF col.type IN ('jsonb', 'text[]', 'bytea[]') OR col.type LIKE 'fixtures.%' THEN
				-- A JSON null is not NULL; stored JSON is a text there.
				EXECUTE format('SELECT count(*) FROM (SELECT row_number() OVER () AS n, to_jsonb(%1$I) AS value FROM %2$s) g '
					'FULL JOIN (SELECT n, nullif(row -> %3$L, ''null'') AS value FROM pg_temp.expected) e USING (n) '
					'WHERE NOT coalesce(same_value(g.value, CASE WHEN %3$L = ''js'' THEN (e.value #>> ''{}'')::jsonb ELSE e.value END), '
					'g.value IS NULL AND e.value IS NULL)', col.attname, relation, col.attname) INTO bad;
			ELSE
			EXECUTE format('SELECT count(*) FROM (SELECT row_number() OVER () AS n, %1$I::text AS value FROM %2$s) g '
				'FULL JOIN (SELECT n, expected_value(row -> %3$L, %4$L, %5$L) AS value FROM pg_temp.expected) e USING (n) '
				'WHERE g.value IS DISTINCT FROM e.value', col.attname, relation, col.attname, col.type, unit) INTO bad;
			END IF;
			checked := checked + 1;
			IF bad > 0 THEN
				wrong := concat_ws(', ', wrong, format('%s %s: %s rows', col.attname, col.type, bad));
			END IF;
		EXCEPTION WHEN feature_not_supported THEN
			wrong := concat_ws(', ', wrong, format('%s %s: %s', col.attname, col.type, SQLERRM));
		END;
	END LOOP;
	RETURN NEXT;
END $$;

SELECT f.dataset, c.* FROM (VALUES
	('types_v20_nonull', 'types_nonull'), ('types_v20_nulls', 'types_nulls'), ('types_v20_allnull', 'types_allnull'),
	('types_v21_nulls', 'types_nulls'), ('types_v21_allnull', 'types_allnull'),
	('types_v22_nonull', 'types_nonull'), ('types_v22_nulls', 'types_nulls'), ('types_v22_allnull', 'types_allnull'),
	('tz_offset_v20', 'tz_offset'), ('tz_offset_v22', 'tz_offset'),
	('strings_v20', 'strings'), ('strings_v21', 'strings'), ('strings_v22', 'strings'),
	('ints_v22', 'ints'),
	('fsl_v20', 'fsl'), ('fsl_v22', 'fsl'),
	('multipage_v20', 'multipage'), ('multipage_v22', 'multipage'),
	('multifrag_p14_default', 'multifrag'), ('multifrag_p14_20', 'multifrag'),
	('del_arrow', 'del_arrow'), ('del_fragment', 'del_fragment'), ('update', 'update'),
	('empty_v20', 'empty_v20'), ('empty_v22', 'empty_v22'), ('empty_deleted', 'empty_deleted'), ('one_row', 'one_row'),
	('lists_v20', 'lists_v20'), ('lists_v21', 'lists'), ('lists_v22', 'lists'), ('lists_p10_default', 'lists'),
	('structs_v20', 'structs_v20'), ('structs_v21', 'structs'), ('structs_v22', 'structs'), ('evolve_nested', 'evolve_nested'),
	('maps_v22', 'maps'), ('dict_v20', 'dict'), ('dict_v21', 'dict'), ('dict_v22', 'dict'),
	('packed_v20', 'packed_v20'), ('packed_v21', 'packed_v21'), ('packed_v22', 'packed_v22'),
	('ext_v20', 'ext'), ('ext_v21', 'ext'), ('ext_v22', 'ext'),
	('rand0_v20', 'rand0_v20'), ('rand0_v21', 'rand0_v21'), ('rand1_v21', 'rand1_v21'),
	('rand0_v22', 'rand0_v22'), ('rand1_v22', 'rand1_v22'),
	('empty_struct_v20', 'empty_struct'), ('empty_struct_v21', 'empty_struct'), ('empty_struct_v22', 'empty_struct'),
	('fsl_struct_valid_v22', 'fsl_struct_valid'), ('fsl_struct_null_v22', 'fsl_struct_null'),
	('blob1_v20', 'blob1'), ('blob1_v21', 'blob1'), ('blob2_v22', 'blob2_v22'), ('blob1_as_v22', 'blob1_as_v22'),
	('fsl_lists', 'fsl_lists'), ('packed_parts', 'packed_parts'), ('packed_bits', 'packed_bits'), ('lineage', 'lineage'),
	('managed', 'managed'), ('old_types', 'old_types'),
	('mixed_versions', 'mixed_versions'), ('v1_manifests', 'v1_manifests'), ('old_simple', 'old_simple')
) f (dataset, expected), check_fixture(f.dataset, f.expected) c;

-- Structs as composites.
SELECT f.dataset, c.* FROM (VALUES
	('structs_v20', 'structs_v20'), ('structs_v21', 'structs'), ('structs_v22', 'structs'),
	('lists_v20', 'lists_v20'), ('lists_v21', 'lists'), ('lists_v22', 'lists'),
	('rand0_v20', 'rand0_v20'), ('rand0_v21', 'rand0_v21'), ('rand1_v21', 'rand1_v21'),
	('rand0_v22', 'rand0_v22'), ('rand1_v22', 'rand1_v22'),
	('packed_v20', 'packed_v20'), ('packed_v21', 'packed_v21'), ('packed_v22', 'packed_v22')
) f (dataset, expected), check_fixture(f.dataset, f.expected, structs => 'composite') c;

-- Schema changes by other clients are followed by field id.
SELECT v, c.* FROM (VALUES (2, 'evolve@v2'), (NULL, 'evolve@appended')) f (v, expected),
	check_fixture('evolve_p14', f.expected, f.v) c;

-- Time travel.
SELECT v, c.* FROM generate_series(1, 7) v, check_fixture('many_versions', 'many_versions@v' || v, v) c;

DROP SCHEMA fixtures CASCADE;
DROP FUNCTION check_fixture(text, text, bigint, text), same_value(jsonb, jsonb), expected_value(jsonb, text, bigint);
DROP SERVER fixtures;

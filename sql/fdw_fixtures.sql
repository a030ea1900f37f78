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

-- Attach a fixture, and compare each column that can be read with the file of expected rows.
CREATE FUNCTION check_fixture(dataset text, expected text, version bigint DEFAULT NULL)
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
	relation := lance_attach_dataset(folder || '/' || dataset || '.lance', 'fixtures', 'fixtures', 'checked', version);
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
			EXECUTE format('SELECT count(*) FROM (SELECT row_number() OVER () AS n, %1$I::text AS value FROM %2$s) g '
				'FULL JOIN (SELECT n, expected_value(row -> %3$L, %4$L, %5$L) AS value FROM pg_temp.expected) e USING (n) '
				'WHERE g.value IS DISTINCT FROM e.value', col.attname, relation, col.attname, col.type, unit) INTO bad;
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
	('mixed_versions', 'mixed_versions'), ('v1_manifests', 'v1_manifests'), ('old_simple', 'old_simple')
) f (dataset, expected), check_fixture(f.dataset, f.expected) c;

-- Schema changes by other clients are followed by field id.
SELECT v, c.* FROM (VALUES (2, 'evolve@v2'), (NULL, 'evolve@appended')) f (v, expected),
	check_fixture('evolve_p14', f.expected, f.v) c;

-- Time travel.
SELECT v, c.* FROM generate_series(1, 7) v, check_fixture('many_versions', 'many_versions@v' || v, v) c;

DROP SCHEMA fixtures CASCADE;
DROP FUNCTION check_fixture(text, text, bigint), expected_value(jsonb, text, bigint);
DROP SERVER fixtures;

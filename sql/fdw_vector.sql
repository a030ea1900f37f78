--
-- Fixed-size lists as the vectors of pgvector, where that is installed.
--
SELECT count(*) = 0 AS missing FROM pg_available_extensions WHERE name = 'vector' AND string_to_array(default_version, '.')::int[] >= '{0,7}' \gset
\if :missing
	\quit
\endif
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set root file:// :fixtures '/data'
\set parts :root '/parts.lance'
\set fsl :root '/fsl_v22.lance'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS lance_catalog;
CREATE SCHEMA "Vectors";
CREATE EXTENSION vector SCHEMA "Vectors";
CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA v;
CREATE FUNCTION v.try(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SET search_path = v, "Vectors", public;

CREATE FOREIGN TABLE p (id int, vector vector(3), half halfvec(3), hv halfvec OPTIONS (column_name 'vector'),
	any_size vector OPTIONS (column_name 'half')) SERVER local OPTIONS (uri :'parts', version '1');
SELECT * FROM p LIMIT 2;
SELECT round((vector <-> '[1,2,3]')::numeric, 6) AS distance, round((half <=> '[1,2,3]')::numeric, 6) AS cosine FROM p LIMIT 1;
SELECT try('SELECT vector FROM p');
-- The same values as in arrays, from each type of float.
SELECT lance_attach_dataset(:'fsl', 'local', 'v', 'arrays');
CREATE FOREIGN TABLE f (f32 vector(5), f32_null vector, f16 vector(5), f64 vector(5), h16 halfvec(5) OPTIONS (column_name 'f16'),
	wide vector(70)) SERVER local OPTIONS (uri :'fsl');
WITH a AS (SELECT row_number() OVER () n, * FROM arrays), f AS (SELECT row_number() OVER () n, * FROM f)
SELECT count(*), count(*) FILTER (WHERE f.f32::real[] IS DISTINCT FROM a.f32) AS f32,
	count(*) FILTER (WHERE f.f32_null::real[] IS DISTINCT FROM a.f32_null) AS f32_null,
	count(*) FILTER (WHERE f.f16::real[] IS DISTINCT FROM a.f16) AS f16,
	count(*) FILTER (WHERE f.h16::real[] IS DISTINCT FROM a.f16) AS h16,
	count(*) FILTER (WHERE f.f64::real[] IS DISTINCT FROM a.f64::real[]) AS f64,
	count(*) FILTER (WHERE f.wide::real[] IS DISTINCT FROM a.wide) AS wide,
	count(*) FILTER (WHERE f.f32_null IS NULL) AS nulls FROM a JOIN f USING (n);
-- Other dimensions and other items are refused before a value is read; values that a vector can't hold when they are.
CREATE FOREIGN TABLE w (f32 vector(4), f16 halfvec(6), u8 vector(5), nest vector, b halfvec) SERVER local OPTIONS (uri :'fsl');
SELECT attname, try(format('SELECT %I FROM w', attname)) FROM pg_attribute WHERE attrelid = 'w'::regclass AND attnum > 0 ORDER BY attnum;
CREATE FOREIGN TABLE bad (vector vector(3), half halfvec(3)) SERVER local OPTIONS (uri :'parts', version '6');
SELECT try('SELECT vector FROM bad'), try('SELECT half FROM bad');
ALTER FOREIGN TABLE bad OPTIONS (SET version '7');
SELECT try('SELECT half FROM bad');
-- The nearest rows are found by the scan, by the operators of pgvector, with the distances that they give.
CREATE FUNCTION nearest(columns text, distance text, k int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text := format('SELECT array_agg(d) FROM (SELECT %s AS d FROM %s ORDER BY d LIMIT %s) q', distance, columns, k);
	pushed text;
	sorted text;
	plan text;
BEGIN
	SET LOCAL enable_sort = off;
	EXECUTE rows INTO pushed;
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || rows INTO plan;
	SET LOCAL lance_catalog.push_down = off;
	EXECUTE rows INTO sorted;
	SET LOCAL lance_catalog.push_down = on;
	RETURN CASE WHEN plan !~ 'Lance Nearest' THEN 'sorted: ' || distance
		WHEN pushed IS DISTINCT FROM sorted THEN format('%s: %s is not %s', distance, pushed, sorted) END;
END $$;
SELECT count(*), min(bad) AS bad FROM unnest('{f32,f16,h16,f32_null,f64}'::text[]) name, unnest('{<->,<=>,<#>,<+>}'::text[]) operator,
	unnest('{"[1,-2,0.5,4,3]","[1e-22,0,0,0,0]","[0,0,0,0,0]"}'::text[]) query, unnest('{1,3,40,50}'::int[]) k,
	nearest('f', format('%I %s %L', name, operator, query), k) bad;
SELECT count(*), min(bad) AS bad FROM generate_series(0, 49, 7) nth, unnest('{<->,<=>,<#>,<+>}'::text[]) operator, unnest('{1,3,40}'::int[]) k,
	nearest('f', format('(SELECT wide FROM f OFFSET %s LIMIT 1) %s wide', nth, operator), k) bad;
SELECT try('SELECT 1 FROM f ORDER BY f32 <-> ''[1,2]'' LIMIT 1'), try('SELECT 1 FROM bad ORDER BY half <-> ''[1,2,3]'' LIMIT 1');
SELECT try('SELECT 1 FROM f ORDER BY f32_null <-> (SELECT NULL::vector) LIMIT 1');
SET enable_sort = off;
EXPLAIN (COSTS off) SELECT id FROM p WHERE half <=> '[1,2,3]' < 1.5 ORDER BY half <=> '[1,2,3]', id LIMIT 3;
SELECT id FROM p WHERE half <=> '[1,2,3]' < 1.5 ORDER BY half <=> '[1,2,3]', id LIMIT 3;
RESET enable_sort;
-- Operators on arrays are those of lance_catalog, also where a vector becomes one.
SELECT '{1,2}'::real[] <-> '{4,6}' AS arrays, '[1,2]'::vector <-> '[4,6]' AS vectors, '[1,2]'::vector <-> '{4,6}'::real[] AS both, '[1,2]'::halfvec <#> '[4,6]' AS halves,
	B'101' <~> B'110' AS bits;
-- Refreshing keeps a vector that fits.
SELECT lance_refresh_table('f') > 0 AS refreshed;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'f'::regclass AND attname IN ('f32', 'h16', 'wide') ORDER BY 1;
DROP SCHEMA v CASCADE;
DROP SERVER local;
DROP EXTENSION vector;
DROP SCHEMA "Vectors";

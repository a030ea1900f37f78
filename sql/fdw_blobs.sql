--
-- Blobs are read when their bytes are looked at, and not before.
--
\getenv data LANCE_TEST_DATA
\if :{?data}
\else
\set data /tmp/lance_catalog_test
\endif
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set source :fixtures '/data/blob2_v22.lance'
\set root file:// :data
\set whole file:// :source
\set gone :root '/blobs.lance'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS lance_catalog;
CREATE SCHEMA blobs;
SET search_path = blobs, public;
CREATE SERVER blobs FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, '"[^"]*/', '".../');
END $$;
SELECT lance_attach_dataset(:'whole', 'blobs', 'blobs', 'whole');

-- A copy whose packed and dedicated blobs are gone.
SELECT format('rm -rf %1$s/blobs.lance && cp -r --no-preserve=mode %2$s %1$s/blobs.lance && rm -r %1$s/blobs.lance/data/*/ && cat > /dev/null', :'data', :'source') AS command \gset
COPY (SELECT 1) TO PROGRAM :'command';
SELECT lance_attach_dataset(:'gone', 'blobs', 'blobs', 'gone');

-- NULL, length, and whatever else does not need the bytes.
SELECT count(*), count(blob), sum(octet_length(blob)) FROM gone;
SELECT count(*), count(blob), sum(octet_length(blob)), sum(length(blob)) FROM whole;
SELECT count(*) FROM gone WHERE blob IS NULL AND id >= 0;
SELECT g.id, octet_length(g.blob) FROM gone g JOIN whole w USING (id) ORDER BY octet_length(w.blob) DESC NULLS LAST, id LIMIT 3;
ANALYZE gone;
SELECT attname, null_frac, avg_width > 0 AS wide FROM pg_stats WHERE schemaname = 'blobs' ORDER BY 1;
-- Rows that a condition leaves out are not read, nor those behind a limit; the others are missed by name.
SELECT g.id, g.blob = w.blob AS same FROM gone g, whole w WHERE g.id = w.id AND octet_length(g.blob) BETWEEN 1 AND 16 ORDER BY g.id LIMIT 3;
SELECT try('SELECT md5(blob) FROM gone');
SELECT try('CREATE TEMP TABLE kept AS SELECT * FROM gone');
SELECT try('SELECT blob FROM gone WHERE blob IS NULL');
-- Counted where they are read, and only there.
CREATE FUNCTION counted(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING off) ' || query INTO plan;
	SELECT jsonb_path_query_first(plan, '$.**."Blob Bytes"') INTO plan;
	RETURN plan;
END $$;
ALTER FOREIGN TABLE whole ADD _rowid bigint;
SELECT counted('SELECT octet_length(blob) FROM whole') AS lengths,
	counted('SELECT md5(blob) FROM whole')::bigint = (SELECT sum(octet_length(blob)) FROM whole) AS all_bytes,
	counted('SELECT md5(blob) FROM whole WHERE _rowid = 1')::bigint = (SELECT octet_length(blob) FROM whole WHERE _rowid = 1) AS one,
	counted('SELECT to_jsonb(w) FROM whole w') IS NOT NULL AS rows;
ALTER FOREIGN TABLE whole DROP _rowid;
-- The bytes, through everything that keeps values: sorts, joins, aggregates, tables, cursors.
CREATE TEMP TABLE copy AS SELECT * FROM whole;
SELECT count(*) FROM whole w JOIN copy c USING (id) WHERE w.blob IS DISTINCT FROM c.blob;
SELECT (SELECT md5(string_agg(blob, '' ORDER BY id)) FROM whole) = (SELECT md5(string_agg(blob, '' ORDER BY id)) FROM copy) AS same;
SELECT count(DISTINCT blob) = (SELECT count(DISTINCT blob) FROM copy) AS distinct FROM whole;
SELECT count(*) FROM (SELECT * FROM whole ORDER BY blob DESC OFFSET 0) w JOIN copy c ON w.blob = c.blob AND w.id = c.id;
SELECT (SELECT array_agg(blob ORDER BY id) FROM whole) = (SELECT array_agg(blob ORDER BY id) FROM copy) AS same;
SELECT (SELECT jsonb_agg(w ORDER BY id) FROM whole w) = (SELECT jsonb_agg(c ORDER BY id) FROM copy c) AS same;
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT id, length(blob), blob IS NULL FROM whole;
COMMIT;
FETCH ABSOLUTE 2 FROM c;
CLOSE c;
SET plan_cache_mode = force_generic_plan;
PREPARE one(int) AS SELECT blob FROM whole WHERE id = $1;
CREATE TEMP TABLE got AS EXECUTE one(1);
SELECT got.blob = copy.blob AS same FROM got, copy WHERE id = 1;
-- In jsonb, or as another type.
CREATE FOREIGN TABLE others (id int, blob jsonb) SERVER blobs OPTIONS (uri :'whole');
SELECT count(*) FROM others o JOIN copy c USING (id) WHERE o.blob IS DISTINCT FROM to_jsonb(c.blob);
CREATE FOREIGN TABLE wrong (blob text) SERVER blobs OPTIONS (uri :'whole');
SELECT try('SELECT * FROM wrong');
DROP SCHEMA blobs CASCADE;
DROP SERVER blobs;

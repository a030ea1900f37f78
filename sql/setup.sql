--
-- What the other tests stand on: the extension, a storage profile on a local folder, helpers.
--
-- LANCE_TEST_DATA names a folder that the server may write to.
\getenv data LANCE_TEST_DATA
\if :{?data}
\else
\set data /tmp/lance_catalog_test
\endif
SET client_min_messages = warning;
CREATE EXTENSION lance_catalog;
COPY (SELECT 1) TO PROGRAM 'cat > /dev/null';
SELECT format('rm -rf %1$s/catalog && mkdir -p %1$s/catalog && cat > /dev/null', :'data') AS command \gset
COPY (SELECT 1) TO PROGRAM :'command';
SELECT 'file://' || :'data' || '/catalog' AS root \gset
CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
ALTER DATABASE contrib_regression SET lance_catalog.default_server = 'lake';
CREATE SCHEMA t;
CREATE TABLE t.setting AS SELECT :'data' || '/catalog' AS root;
-- The root and the random part of fresh locations, made the same everywhere.
CREATE FUNCTION t.mask(text) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(replace(replace($1, root, 'ROOT'), substr(root, 2), 'OBJECTS'), '-[0-9a-f]{16}\.lance', '-ID.lance', 'g')
	FROM t.setting
$$;
-- Run a query of one row; its columns as text, or the error in one line.
CREATE FUNCTION t.try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
	detail text;
	hint text;
BEGIN
	EXECUTE query INTO r;
	RETURN t.mask(r::text);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN t.mask(concat_ws(' | ', SQLSTATE || ': ' || SQLERRM, nullif(detail, ''), nullif(hint, '')));
END
$$;
CREATE FUNCTION t.location(id text) RETURNS text LANGUAGE sql AS 'SELECT location FROM lance_describe_table(id)';
-- Files below a table's location, as a client would write and read them.
CREATE FUNCTION t.write(id text, key text, content text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	path text := t.location(id) || '/' || key;
BEGIN
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format('mkdir -p ''%s'' && cat > /dev/null', regexp_replace(path, '/[^/]*$', '')));
	EXECUTE format('COPY (SELECT %L) TO %L', content, path);
END
$$;
CREATE FUNCTION t.remove(id text, key text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format('rm ''%s/%s'' && cat > /dev/null', t.location(id), key));
END
$$;
CREATE FUNCTION t.read(id text, key text) RETURNS text LANGUAGE sql AS $$
	SELECT rtrim(pg_read_file(t.location(id) || '/' || key, 0, 1000, true), E'\n')
$$;
CREATE FUNCTION t.ls(id text, folder text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT * FROM pg_ls_dir(t.location(id) || '/' || folder, true, false) f ORDER BY f COLLATE "C"
$$;
-- The final name of a version, and a staged one.
CREATE FUNCTION t.v2(version bigint) RETURNS text LANGUAGE sql AS $$
	SELECT '_versions/' || lpad((18446744073709551615::numeric - version)::text, 20, '0') || '.manifest'
$$;
-- Stage a manifest and ask to have it made the version; the final path, or the error.
CREATE FUNCTION t.stage(id text, version bigint, content text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	key text := t.v2(version) || '-' || content;
BEGIN
	PERFORM t.write(id, key, content);
	RETURN substr(t.location(id), 2) || '/' || key;
END
$$;
CREATE FUNCTION t.create_version(id text, version bigint, content text) RETURNS text LANGUAGE sql AS $$
	SELECT t.try(format('SELECT version, manifest_path, manifest_size FROM lance_create_table_version(%L, %s, %L)',
		id, version, t.stage(id, version, content)))
$$;
CREATE FUNCTION t.versions(id text) RETURNS text LANGUAGE sql AS $$
	SELECT t.try(format('SELECT array_agg(version) FROM lance_list_table_versions(%L)', id))
$$;

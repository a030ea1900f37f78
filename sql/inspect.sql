--
-- Looking into datasets: versions, fragments, columns, pages; who may.
--
\getenv data LANCE_TEST_DATA
\if :{?data}
\else
	\set data /tmp/lance_catalog_test
\endif
\set data_root file:// :data
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set fixtures :fixtures '/data'
\set root file:// :fixtures
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE EXTENSION IF NOT EXISTS lance_catalog;
CREATE SERVER looked FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA inspect;
SET search_path = inspect, public;
CREATE FUNCTION place(dataset text) RETURNS text STABLE LANGUAGE sql AS $$
	SELECT substr(srvoptions[1], 6) || '/' || dataset || '.lance' FROM pg_foreign_server WHERE srvname = 'looked';
$$;
-- Messages without the folder that the tests happen to lie in.
CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
	RETURN SQLSTATE || ' ' || regexp_replace(message, '(file:/)?/[^" ]*/', '.../', 'g');
END $$;

-- Versions.
SELECT version, operation, fragments, physical_rows, manifest_key, manifest_size, committed_at > '2020-01-01' AS timed
	FROM lance_dataset_versions(place('stable_rowids'), 'looked');
SELECT version, operation FROM lance_dataset_versions(place('v1_manifests'), 'looked');
SELECT version, operation, fragments FROM lance_dataset_versions(place('s3_branch'), 'looked', 'dev');

-- A version whose manifest is damaged says so; the others are there.
CREATE SERVER looked_data FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'data_root');
SELECT format('rm -rf %1$s/problem.lance && cp -r --no-preserve=mode %2$s/many_versions.lance %1$s/problem.lance && '
	'truncate -s 100 %1$s/problem.lance/_versions/18446744073709551612.manifest && cat > /dev/null', :'data', :'fixtures') AS command \gset
COPY (SELECT 1) TO PROGRAM :'command';
SELECT version, operation, fragments, committed_at IS NULL AS untimed, problem
	FROM lance_dataset_versions(:'data_root' || '/problem.lance', 'looked_data');
DROP SERVER looked_data;

-- Fragments.
SELECT fragment_id, cardinality(files) AS files, bytes, physical_rows, deleted_rows, deletion_file
	FROM lance_dataset_fragments(place('del_arrow'), 'looked');
SELECT fragment_id, cardinality(files) AS files, physical_rows, deleted_rows, deletion_file
	FROM lance_dataset_fragments(place('stable_rowids'), 'looked', version => 5);
SELECT fragment_id, cardinality(files) AS files, physical_rows FROM lance_dataset_fragments(place('evolve_p14'), 'looked');
SELECT sum(physical_rows - deleted_rows), sum(deleted_rows) FROM lance_dataset_fragments(place('del_bitmap'), 'looked');

-- Columns.
SELECT * FROM lance_dataset_columns(place('types_v22_nulls'), 'looked');
SELECT * FROM lance_dataset_columns(place('lists_v22'), 'looked');
SELECT * FROM lance_dataset_columns(place('dict_v22'), 'looked');
SELECT path, field_id FROM lance_dataset_columns(place('evolve_p14'), 'looked', 1);

-- Pages: those of a column sum up to its rows.
SELECT c.path, p.file_version, p.page, p.first_row, p.rows, p.buffers, p.bytes, p.layout, p.encoding
	FROM lance_dataset_pages(place('compress_v22'), 'looked') AS p
	JOIN lance_dataset_columns(place('compress_v22'), 'looked') AS c USING (field_id) ORDER BY p.file_column, p.page;
SELECT file_version, layout, encoding, count(*) FROM lance_dataset_pages(place('types_v20_nulls'), 'looked')
	GROUP BY 1, 2, 3 ORDER BY encoding COLLATE "C";
SELECT layout, encoding, count(*) FROM lance_dataset_pages(place('strings_v21'), 'looked')
	GROUP BY 1, 2 ORDER BY layout COLLATE "C", encoding COLLATE "C";
SELECT layout, encoding, count(*) FROM lance_dataset_pages(place('blob1_v21'), 'looked')
	GROUP BY 1, 2 ORDER BY layout COLLATE "C", encoding COLLATE "C";
SELECT file_column, min(rows), sum(rows), count(*) > 1 AS several FROM lance_dataset_pages(place('multipage_v22'), 'looked')
	GROUP BY 1 ORDER BY 1;
SELECT fragment_id, count(*) FROM lance_dataset_pages(place('multifrag_p14_default'), 'looked', fragment => 1) GROUP BY 1;

-- Catalog tables, by id.
SELECT lance_create_namespace('looked', properties => '{"server": "looked"}');
SELECT lance_register_table('looked$stable', place('stable_rowids')) IS NOT NULL AS registered;
SELECT count(*), max(version) FROM lance_dataset_versions('looked$stable');
SELECT sum(physical_rows - deleted_rows) FROM lance_dataset_fragments('looked$stable', version => 4);
SELECT path, type FROM lance_dataset_columns('looked$stable');
SELECT count(*) > 0 FROM lance_dataset_pages('looked$stable');

-- What is not there, what is damaged, what is not read, arguments.
SELECT try(format($$SELECT lance_dataset_versions(%L, 'looked')$$, place('nothing')));
SELECT try(format($$SELECT lance_dataset_columns(%L, 'looked')$$, place('nothing')));
SELECT try(format($$SELECT lance_dataset_columns(%L, 'looked', 99)$$, place('del_arrow')));
SELECT try(format($$SELECT lance_dataset_columns(%L, 'looked', 0)$$, place('del_arrow')));
SELECT try(format($$SELECT lance_dataset_versions(%L, 'looked', 'no such')$$, place('del_arrow')));
SELECT try(format($$SELECT lance_dataset_pages(%L, 'looked', fragment => 77)$$, place('del_arrow')));
SELECT try(format($$SELECT lance_dataset_pages(%L, 'looked', fragment => -1)$$, place('del_arrow')));
SELECT try(format($$SELECT lance_dataset_pages(%L, 'looked')$$, place('legacy01_p14')));
SELECT try(format($$SELECT lance_dataset_pages(%L, 'looked')$$, place('corrupt_badmagic')));
SELECT try(format($$SELECT lance_dataset_columns(%L, 'looked')$$, place('refuse_unknown_flag')));
SELECT try($$SELECT lance_dataset_columns('no$such')$$), try($$SELECT lance_dataset_columns('')$$),
	try($$SELECT lance_dataset_columns(NULL)$$), try($$SELECT lance_dataset_columns('x', 'no server')$$);

-- EXECUTE and USAGE are both needed, and places outside the server's root are closed.
CREATE ROLE looker;
GRANT USAGE ON SCHEMA inspect TO looker;
SET ROLE looker;
SELECT try(format($$SELECT lance_dataset_columns(%L, 'looked')$$, place('del_arrow')));
RESET ROLE;
SELECT lance_grant('looker', 'read');
SET ROLE looker;
SELECT try(format($$SELECT lance_dataset_columns(%L, 'looked')$$, place('del_arrow'))),
	try($$SELECT lance_dataset_versions('looked$stable')$$);
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER looked TO looker;
SET ROLE looker;
SELECT try(format($$SELECT lance_dataset_columns(%L, 'looked')$$, place('del_arrow'))),
	try($$SELECT lance_dataset_versions('looked$stable')$$);
SELECT try($$SELECT lance_dataset_columns('/etc', 'looked')$$);
RESET ROLE;

SELECT lance_deregister_table('looked$stable') IS NOT NULL;
SELECT lance_drop_namespace('looked');
DROP OWNED BY looker;
DROP ROLE looker;
DROP SCHEMA inspect CASCADE;
DROP SERVER looked;

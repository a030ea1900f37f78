--
-- Which version a statement reads, while others write.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set fixtures :fixtures '/data'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS lance_catalog;
SET datestyle = 'ISO';

-- The other writer: manifests of a finished dataset are brought into a copy of it one by one.
SELECT current_setting('data_directory') || '/lance_regress' AS place \gset
CREATE FUNCTION sh(command text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT) TO PROGRAM %L', command || ' && cat > /dev/null');
END $$;
CREATE FUNCTION manifest(version int) RETURNS text LANGUAGE sql AS
	$$ SELECT lpad((18446744073709551615 - version)::text, 20, '0') || '.manifest' $$;
CREATE FUNCTION publish(place text, version int) RETURNS void LANGUAGE sql AS
	$$ SELECT sh(format('cp %1$s/all.lance/_versions/%2$s %1$s/t.lance/_versions/%2$s', place, manifest(version))) $$;
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
SELECT sh(format('rm -rf %1$s && mkdir %1$s && cp -rL %2$s/many_versions.lance %1$s/all.lance && chmod -R u+w %1$s && '
	'cp -rL %1$s/all.lance %1$s/t.lance && rm %1$s/t.lance/_versions/*', :'place', :'fixtures'));
SELECT publish(:'place', v) FROM generate_series(1, 3) v;
CREATE SERVER moving FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'place');
SELECT lance_attach_dataset(:'place' || '/t.lance', 'moving', 'public', 't');
SELECT lance_attach_dataset(:'place' || '/t.lance', 'moving', 'public', 'at_2', version => 2);

-- Each statement sees the newest version at its start.
SELECT count(*) FROM t;
PREPARE p AS SELECT count(*) FROM t;
SET plan_cache_mode = force_generic_plan;
EXECUTE p;
SELECT publish(:'place', 4);
SELECT count(*) FROM t;
EXECUTE p;
SELECT count(*) FROM at_2;

-- Also within a READ COMMITTED transaction and within functions that run several statements.
BEGIN;
SELECT count(*) FROM t;
SELECT publish(:'place', 5);
SELECT count(*) FROM t;
EXECUTE p;
COMMIT;
CREATE FUNCTION twice(place text, version int, OUT before bigint, OUT after bigint) LANGUAGE plpgsql AS $$
BEGIN
	SELECT count(*) INTO before FROM t;
	PERFORM publish(place, version);
	SELECT count(*) INTO after FROM t;
END $$;
SELECT * FROM twice(:'place', 6);

-- A statement that is under way keeps its version; so do all its scans, those that start later included.
BEGIN;
DECLARE c CURSOR FOR SELECT (SELECT count(*) FROM t WHERE g > 0) FROM generate_series(1, 2) g;
FETCH c;
SELECT publish(:'place', 7);
FETCH c;
SELECT count(*) FROM t;
COMMIT;
SELECT sh(format('rm %s/t.lance/_versions/%s', :'place', manifest(7)));
SELECT (SELECT count(*) FROM t) AS before, publish(:'place', 7), (SELECT count(*) FROM t) AS later;

-- REPEATABLE READ sees what the transaction saw first.
SELECT sh(format('rm %s/t.lance/_versions/%s', :'place', manifest(7)));
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM t;
SELECT publish(:'place', 7);
SELECT count(*) FROM t;
EXECUTE p;
SELECT count(*) FROM at_2;
COMMIT;
SELECT count(*) FROM t;
EXECUTE p;

-- A dataset that was made anew in the meantime is not the one that it saw.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM t;
SELECT sh(format('touch -d 2001-01-01 %s/t.lance/_versions/%s', :'place', manifest(7)));
SELECT try('SELECT count(*) FROM t');
ROLLBACK;
SELECT count(*) FROM t;

-- The same for a table of the catalog, written past it.
SELECT sh(format('rm %s/t.lance/_versions/%s', :'place', manifest(7)));
SELECT lance_create_namespace('moving', properties => '{"server": "moving"}');
SELECT lance_register_table('moving$t', 't.lance') IS NOT NULL AS registered;
SELECT lance_attach_table('moving$t', 'public', 'ct');
SELECT lance_attach_table('moving$t', 'public', 'ct_2', version => 2);
PREPARE pc AS SELECT count(*) FROM ct;
BEGIN ISOLATION LEVEL REPEATABLE READ;
EXECUTE pc;
SELECT publish(:'place', 7);
EXECUTE pc;
SELECT count(*) FROM ct JOIN ct_2 USING (id);
COMMIT;
EXECUTE pc;
-- Its newest version, which is on record, is lost: reads say so, older versions are read. Given up, the one before is the newest.
SELECT sh(format('mv %1$s/t.lance/_versions/%2$s %1$s/t.lance/_versions/%2$s-staged', :'place', manifest(7)));
SELECT version FROM lance_create_table_version('moving$t', 7, substr(:'place', 2) || '/t.lance/_versions/' || manifest(7) || '-staged');
EXECUTE pc;
SELECT sh(format('rm %s/t.lance/_versions/%s', :'place', manifest(7)));
SELECT try('EXECUTE pc');
SELECT try('SELECT count(*) FROM ct WHERE id > 0');
SELECT try($$SELECT lance_attach_table('moving$t', 'public', 'ct_7', version => 7)$$);
SELECT count(*) FROM ct_2;
SELECT lance_delete_table_versions('moving$t', '{[7,8)}');
EXECUTE pc;
SELECT failed FROM lance_run_cleanup();
SELECT lance_deregister_table('moving$t') IS NOT NULL AS deregistered;
SELECT publish(:'place', 7);
SELECT lance_drop_namespace('moving');

-- Time travel by the times in the manifests: before the first, at one, just before one, after the last.
SELECT at, try(format('SELECT lance_attach_dataset(%L, ''moving'', ''public'', ''at'', as_of => %L)',
	:'place' || '/all.lance', at)) FROM (VALUES ('2026-11-30 03:18:46.311965+00')) a (at);
CREATE FUNCTION count_at(place text, at timestamptz) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	PERFORM try('DROP FOREIGN TABLE at');
	PERFORM lance_attach_dataset(place || '/all.lance', 'moving', 'public', 'at', as_of => at);
	SELECT count(*) INTO result FROM at;
	RETURN result;
END $$;
SET timezone = 'America/New_York';
SELECT at, count_at(:'place', at) FROM unnest(ARRAY['2026-11-30 03:18:46.311966Z', '2026-11-30 03:18:46.315563Z',
	'2026-11-30 03:18:46.315564Z', '2026-11-30 03:18:46.337138Z', '2026-11-30 03:18:46.337139Z',
	'2099-01-01Z']::timestamptz[]) at;
SET datestyle = 'German';
SET timezone = 'Asia/Tokyo';
SELECT count(*) FROM at;
SET datestyle = 'ISO';

-- Another dataset in the same place: its rows, or an error, but nothing of the old one.
SELECT max(id) FROM t;
SELECT sh(format('rm -r %1$s/t.lance && cp -rL %2$s/one_row.lance %1$s/t.lance && chmod -R u+w %1$s', :'place', :'fixtures'));
SELECT max(id), count(*) FROM t;
SELECT sh(format('rm -r %1$s/t.lance && cp -rL %2$s/tz_offset_v22.lance %1$s/t.lance && chmod -R u+w %1$s', :'place',
	:'fixtures'));
SELECT try('SELECT max(id) FROM t');
SELECT count(*) FROM t;
SELECT lance_refresh_table('t');
SELECT count(gmt) FROM t;
SELECT sh(format('rm -r %s/t.lance', :'place'));
SELECT try('SELECT count(*) FROM t');

SELECT sh(format('rm -r %s', :'place'));
DROP SERVER moving CASCADE;
DROP FUNCTION sh(text), publish(text, int), manifest(int), try(text), twice(text, int), count_at(text, timestamptz);

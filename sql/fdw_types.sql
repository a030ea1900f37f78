--
-- Types with parts: arrays, composites, jsonb, maps, stored JSON, vectors. What is out of PostgreSQL's reach is an error.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set root file:// :fixtures '/data'
\set parts :root '/parts.lance'
\set unknown :root '/unknown.lance'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS lance_catalog;
RESET client_min_messages;
CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA types;
CREATE SCHEMA composites;
SET timezone = 'UTC';
SET intervalstyle = 'postgres';
SET search_path = types, public;
CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' | ', SQLSTATE || ' ' || message, nullif(regexp_replace(detail, ' ?File .*', ''), ''));
END $$;
CREATE FUNCTION columns(relation regclass) RETURNS TABLE (attname name, type text) LANGUAGE sql AS $$
	SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
	WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped ORDER BY attnum
$$;

-- As import declares them.
SELECT lance_attach_dataset(:'parts', 'local', 'types', 'p', version => 1);
SELECT * FROM columns('p');
SELECT id, jsonb_pretty("every") FROM p WHERE id < 4;
SELECT id, times, days, exact, raws, words FROM p ORDER BY id;
SELECT id, grid, matrix, pairs, named, numbered, odd FROM p ORDER BY id;
SELECT id, json, vector, half FROM p ORDER BY id;
SELECT id, cardinality(words), cardinality(days), jsonb_array_length(grid) FROM p ORDER BY id;
SELECT e, e = 7.000000000000000001 AS first FROM p, unnest(exact) e WHERE e > 7.000000000000000001 OR e < 7.000000000000000002 ORDER BY e;
SELECT p.id, g.id FROM p JOIN p g ON g.grid = p.grid ORDER BY 1, 2;
ANALYZE p;

-- Composites.
SELECT lance_attach_dataset(:'parts', 'local', 'composites', 'p', version => 1, structs => 'composite');
SELECT * FROM columns('composites.p');
SELECT * FROM columns('composites.p_every');
SELECT * FROM columns('composites.p_pairs');
SELECT ("every").i, ("every").u, ("every").n, ("every").raw, ("every")."time", ("every").at, ("every").span FROM composites.p ORDER BY id;
SELECT id, "every" IS NULL AS none, pairs, pairs[2] IS NULL AS second, (pairs[3]).k FROM composites.p ORDER BY id;
SELECT to_jsonb(c."every") = p."every" AS same FROM composites.p c JOIN p USING (id) ORDER BY id;
ANALYZE composites.p;
SELECT lance_refresh_table('composites.p');
-- Types that fit are taken again; a name that is taken otherwise gets a number.
SET client_min_messages = warning;
SELECT try(format('SELECT lance_attach_dataset(%L, ''local'', ''composites'', ''p'', structs => ''composite'')', :'parts'));
SELECT relname FROM pg_class WHERE relnamespace = 'composites'::regnamespace ORDER BY 1;
DROP FOREIGN TABLE composites.p;
ALTER TYPE composites.p_pairs DROP ATTRIBUTE v;
SELECT lance_attach_dataset(:'parts', 'local', 'composites', 'p', version => 1, structs => 'composite');
RESET client_min_messages;
SELECT * FROM columns('composites.p') WHERE attname IN ('every', 'pairs');
SELECT try(format('SELECT lance_attach_dataset(%L, ''local'', ''types'', ''x'', structs => ''record'')', :'parts'));

-- Declared by hand: some attributes in another order, a map with its order and its repeated keys, dimensions, jsonb for anything.
CREATE TYPE few AS (span interval, t text, gone int, i smallint);
ALTER TYPE few DROP ATTRIBUTE gone;
CREATE TYPE entry AS (key text, value int);
CREATE FOREIGN TABLE d (id int, "every" few, named entry[], grid int[], matrix real[], pairs jsonb[], words jsonb, j jsonb OPTIONS (column_name 'id'),
	exact numeric[], days jsonb[]) SERVER local OPTIONS (uri :'parts', version '1');
SELECT id, "every", named, pairs, words, j, days FROM d ORDER BY id;
SELECT exact FROM d WHERE id = 1;
-- Lists in each other make an array when they are of one length.
CREATE FOREIGN TABLE g (grid int[], matrix real[]) SERVER local OPTIONS (uri :'parts', version '8');
SELECT grid, matrix, array_ndims(grid), array_dims(matrix) FROM g;
SELECT version, try(format('ALTER FOREIGN TABLE g OPTIONS (SET version %L)', version)), try('SELECT grid FROM g'), try('SELECT matrix FROM g')
	FROM generate_series(9, 11) version;
-- Types that can't hold the values are refused before any is read.
CREATE TYPE wrong AS (k text, v text);
CREATE TYPE more AS (k text, v bigint, w int);
CREATE FOREIGN TABLE w (times text[], words int[], grid text[], pairs wrong[], every more, numbered entry[], json text, id jsonb, exact numeric(38,17)[])
	SERVER local OPTIONS (uri :'parts', version '1');
SELECT attname, try(format('SELECT %I FROM w', attname)) FROM columns('w');
SELECT lance_refresh_table('w');
SELECT * FROM columns('w');

-- The later versions hold one value each that has no place here.
CREATE FUNCTION values_of(dataset text, version bigint) RETURNS TABLE (attname name, answer text) LANGUAGE plpgsql AS $$
DECLARE
	col name;
BEGIN
	PERFORM try('DROP FOREIGN TABLE types.bad');
	PERFORM lance_attach_dataset(dataset, 'local', 'types', 'bad', version);
	FOR col IN SELECT a.attname FROM pg_attribute a WHERE attrelid = 'types.bad'::regclass AND attnum > 0 LOOP
		attname := col;
		answer := try(format('SELECT %I FROM types.bad', col));
		IF answer <> 'ok' THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT version, v.* FROM
	generate_series(2, 7) version, values_of(:'parts', version) v;

-- A type that is not known leaves its columns out, also inside of others, and the rest of the table works.
SELECT lance_attach_dataset(:'unknown', 'local', 'types', 'u');
SELECT lance_attach_dataset(:'unknown', 'local', 'types', 'u2', structs => 'composite');
SELECT * FROM u;
CREATE FOREIGN TABLE u3 (id int, day date, days date[], st jsonb) SERVER local OPTIONS (uri :'unknown');
SELECT attname, try(format('SELECT %I FROM u3', attname)) FROM columns('u3');
SELECT lance_refresh_table('u3');
SELECT * FROM columns('u3');

-- Import: structs as composites for all tables of a namespace, options by name.
SELECT lance_create_namespace('nested', properties => '{"server": "local"}');
SELECT lance_register_table('nested$p', 'parts.lance') IS NOT NULL AS registered;
SELECT lance_register_table('nested$p_every', 'one_row.lance') IS NOT NULL AS registered;
CREATE SCHEMA imported;
IMPORT FOREIGN SCHEMA nested FROM SERVER local INTO imported OPTIONS (structs 'composite');
SELECT relname, relkind FROM pg_class WHERE relnamespace = 'imported'::regnamespace ORDER BY relname COLLATE "C";
SET client_min_messages = warning;
DROP SCHEMA imported CASCADE;
RESET client_min_messages;
CREATE SCHEMA imported;
IMPORT FOREIGN SCHEMA nested FROM SERVER local INTO imported OPTIONS (structs 'records');
IMPORT FOREIGN SCHEMA nested FROM SERVER local INTO imported OPTIONS (struct 'jsonb');
IMPORT FOREIGN SCHEMA nested LIMIT TO (p) FROM SERVER local INTO imported OPTIONS (structs 'jsonb');
SELECT relname, relkind FROM pg_class WHERE relnamespace = 'imported'::regnamespace ORDER BY relname COLLATE "C";

SET client_min_messages = warning;
DROP SCHEMA imported, types, composites CASCADE;
SELECT lance_deregister_table(id) IS NOT NULL FROM unnest(ARRAY['nested$p', 'nested$p_every']) id;
SELECT lance_drop_namespace('nested');
DROP SERVER local;

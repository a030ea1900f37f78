--
-- Reading through foreign tables: columns, time travel, rescans, joins, system columns, errors.
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
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA scan;
SET search_path = scan, public;

-- Messages without the folder that the tests happen to lie in.
CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
	RETURN SQLSTATE || ' ' || regexp_replace(regexp_replace(message, '(file:/)?/[^" ]*/', '.../', 'g'),
		'[0-9a-f]{32,}', '...', 'g');
END $$;
CREATE FUNCTION attach(dataset text, name text, version bigint DEFAULT NULL, as_of timestamptz DEFAULT NULL)
RETURNS regclass LANGUAGE sql AS $$
	SELECT lance_attach_dataset((SELECT substr(srvoptions[1], 6) FROM pg_foreign_server WHERE srvname = 'local')
		|| '/' || dataset || '.lance', 'local', 'scan', name, version, as_of);
$$;

CREATE FUNCTION declare_table(declaration text, dataset text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE FOREIGN TABLE %s SERVER local OPTIONS (uri %L)', declaration,
		(SELECT substr(srvoptions[1], 6) FROM pg_foreign_server WHERE srvname = 'local') || '/' || dataset || '.lance');
END $$;
CREATE VIEW columns AS SELECT attrelid::regclass AS relation, attname, format_type(atttypid, atttypmod), attnotnull
	FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped ORDER BY attrelid, attnum;

SELECT attach('many_versions', 'mv');
SELECT * FROM columns WHERE relation = 'mv'::regclass;
SELECT attach('primary_key', 'pk');
SELECT * FROM columns WHERE relation = 'pk'::regclass;
SELECT * FROM mv ORDER BY id LIMIT 4;

-- Names are taken as they are, and shown under others only where PostgreSQL has no room for them.
SELECT attach('names', 'odd');
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 'odd'::regclass AND attnum > 0 ORDER BY attnum;
SELECT * FROM odd \gx
SELECT "MixedCase", "XYZ", "x'; DROP TABLE t; --" FROM odd WHERE "MixedCase" = 1 AND "XYZ" = 2;
SELECT lance_refresh_table('odd');

-- Time travel: by version, by time; the time of a commit itself is included.
SELECT attach('many_versions', 'mv2', 2), attach('many_versions', 'mv_at', NULL, now());
SELECT count(*) FROM mv2;
SELECT count(*) FROM mv_at;
SELECT try('ALTER FOREIGN TABLE mv_at OPTIONS (SET as_of ''2000-01-01 00:00:00+00'')');
SELECT try('SELECT count(*) FROM mv_at');
ALTER FOREIGN TABLE mv2 OPTIONS (SET version '9');
SELECT try('SELECT * FROM mv2');
ALTER FOREIGN TABLE mv2 OPTIONS (SET version '1');
SELECT count(*) FROM mv2;

-- Two versions of one dataset in one query.
SELECT count(*) AS added FROM mv LEFT JOIN mv2 USING (id) WHERE mv2.id IS NULL;

-- Columns: none, some, in another order, whole rows, expressions.
SELECT count(*) FROM mv;
SELECT 1 AS one FROM mv LIMIT 2;
SELECT vec, id FROM mv WHERE grp = 3 ORDER BY id LIMIT 2;
SELECT mv FROM mv ORDER BY id LIMIT 1;
SELECT (mv).name, upper(name) FROM mv WHERE val IS NULL ORDER BY id LIMIT 2;
SELECT count(val), count(*), sum(grp), max(vec) FROM mv;

-- System columns.
SELECT tableoid::regclass, ctid, xmin, xmax, cmin, id FROM mv ORDER BY id LIMIT 1;
SELECT count(*) FROM mv WHERE tableoid = 'mv'::regclass;

-- Joins with an ordinary table, by each method, give the same rows.
CREATE TABLE groups (grp int PRIMARY KEY, label text);
INSERT INTO groups SELECT g, 'group ' || g FROM generate_series(0, 6) g;
CREATE FUNCTION joined() RETURNS text LANGUAGE sql AS
	$$ SELECT md5(string_agg(mv.id || label, ',' ORDER BY mv.id)) FROM mv JOIN groups USING (grp) $$;
CREATE TABLE answers AS SELECT 'hash' AS method, joined() AS answer;
SET enable_hashjoin = off;
INSERT INTO answers SELECT 'merge', joined();
SET enable_mergejoin = off;
INSERT INTO answers SELECT 'nested loop', joined();
SET enable_material = off;
INSERT INTO answers SELECT 'nested loop, rescans', joined();
SELECT count(*), count(DISTINCT answer) FROM answers;

-- Rescans: inner side of a nested loop, correlated subqueries, LATERAL with LIMIT, EXISTS.
SELECT attach('multifrag_p14_default', 'mf');
SELECT g.grp, (SELECT count(*) FROM mf WHERE mf.grp = g.grp) FROM groups g ORDER BY 1;
SELECT g.grp, l.id FROM groups g, LATERAL (SELECT id FROM mf WHERE mf.grp >= g.grp LIMIT 1) l ORDER BY 1;
SELECT count(*) FROM groups g WHERE EXISTS (SELECT FROM mf WHERE mf.id = g.grp);
SELECT count(*) FROM groups a LEFT JOIN mf ON mf.grp = a.grp AND mf.id < 20;
SELECT attach('one_row', 'one'), attach('empty_v22', 'empty'), attach('empty_deleted', 'gone');
SELECT g.grp, (SELECT count(*) + g.grp FROM one), (SELECT count(*) FROM empty), (SELECT min(id) FROM gone)
	FROM groups g WHERE grp < 3 ORDER BY 1;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- Nothing to read.
SELECT * FROM empty;
SELECT count(*), min(id), max(name) FROM gone;
SELECT count(*) FROM empty JOIN mv USING (id);
ANALYZE empty;
ANALYZE gone;

-- Cursors, both ways of fetching.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM mv;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
MOVE 10 IN c;
FETCH 1 FROM c;
FETCH ABSOLUTE 1 FROM c;
COMMIT;

-- A column without a name.
SELECT attach('unnamed', 'unnamed');
SELECT * FROM unnamed;

-- Values at the ends of their ranges.
SELECT attach('types_v21_nulls', 't');
SELECT max(u64), min(i64), max(u32), min(i8), max(u8) FROM t;
SELECT min(d32), max(d32) FROM t;
SELECT min(ts_s), max(ts_us) FROM t;
SELECT attach('ranges', 'r', 1);
SELECT * FROM r;
-- The later versions hold one value each that has no place here.
CREATE FUNCTION values_of(version bigint, dataset text DEFAULT 'ranges') RETURNS TABLE (attname name, answer text) LANGUAGE plpgsql AS $$
DECLARE
	col name;
BEGIN
	PERFORM try('DROP FOREIGN TABLE bad');
	PERFORM attach(dataset, 'bad', version);
	FOR col IN SELECT c.attname FROM columns c WHERE relation = 'bad'::regclass LOOP
		attname := col;
		answer := try(format('SELECT %I FROM bad', col));
		IF answer <> 'ok' THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT version, v.* FROM generate_series(2, 9) version, values_of(version) v;
SELECT attach('times', 'day', 1);
SELECT * FROM day;
SELECT version, v.* FROM generate_series(2, 5) version, values_of(version, 'times') v;
-- The first nanosecond that 64 bits hold is a time that PostgreSQL has.
SELECT attach('ranges', 'low', 7);
SELECT nanos FROM low;
SELECT count(*) FILTER (WHERE f32 = 'NaN'), count(*) FILTER (WHERE f64 = '-Infinity'), count(*) FILTER (WHERE f16 > 1)
	FROM t;

-- What can't be read is refused, by name, and the session goes on.
SELECT pg_backend_pid() AS pid \gset
SELECT d, try(format('SELECT attach(%L, %L)', d, 'x')) FROM unnest(ARRAY['refuse_unknown_flag', 'refuse_overlay_flag',
	'refuse_tree_flag']) d;
SELECT d, try(format('SELECT attach(%L, %L)', d, d)) AS attached, try(format('SELECT * FROM %I', d))
	FROM unnest(ARRAY['corrupt_short', 'corrupt_badmagic', 'corrupt_zerofoot', 'corrupt_tiny', 'corrupt_flip']) d;
SELECT declare_table('strange (id int, day date)', 'unknown');
SELECT count(id) FROM strange;
SELECT try('SELECT day FROM strange');
SELECT pg_backend_pid() = :pid AS same_backend;

-- Errors in the middle of a scan leave nothing behind: no memory, no open files, in one transaction or in many.
CREATE PROCEDURE fail_often(query text, expected text, INOUT others int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..1000 LOOP
		IF try(query) NOT LIKE expected THEN
			others := others + 1;
		END IF;
		IF i % 2 = 0 THEN
			COMMIT;
		END IF;
	END LOOP;
END $$;
-- Without the catalog caches, which double when they are full.
CREATE FUNCTION used(OUT files bigint, OUT memory numeric) LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM pg_ls_dir('/proc/self/fd')),
		(SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name <> 'CacheMemoryContext')
$$;
CALL fail_often('SELECT 1 / (id - 70) FROM mv', '22012 division by zero', 0);
SELECT files, memory FROM used() \gset
CALL fail_often('SELECT 1 / (id - 70) FROM mv', '22012 division by zero', 0);
CALL fail_often('SELECT name FROM corrupt_badmagic', 'XX001 %', 0);
CALL fail_often('SELECT attach(''refuse_tree_flag'', ''x'')', '0A000 %', 0);
SELECT files - :files AS files, memory - :memory < 2000000 AS steady FROM used();
SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'lance %';

-- A statement that takes too long stops, and the session goes on.
SET statement_timeout = '100ms';
SELECT clock_timestamp() AS started \gset
SELECT count(*) FROM mf a, mf b, mf c WHERE a.id + b.id + c.id < 0;
SELECT clock_timestamp() - :'started' < '1 second' AS soon;
RESET statement_timeout;
SELECT count(*) FROM mf;

-- Writes are refused by name.
SELECT try('INSERT INTO mv (id) VALUES (1)'), try('UPDATE mv SET id = 1'), try('DELETE FROM mv'), try('TRUNCATE mv');
SELECT try('INSERT INTO mv (id) SELECT id FROM mv2');
COPY mv (id) FROM STDIN;
1
\.
SELECT id FROM mv WHERE id < 2 ORDER BY id FOR UPDATE;

-- The foreign table follows the dataset when told so.
SELECT attach('evolve_p14', 'ev', 1);
SELECT * FROM columns WHERE relation = 'ev'::regclass;
SELECT lance_refresh_table('ev');
ALTER FOREIGN TABLE ev OPTIONS (DROP version);
SELECT lance_refresh_table('ev');
SELECT * FROM columns WHERE relation = 'ev'::regclass;
SELECT lance_refresh_table('ev');
SELECT * FROM ev WHERE id IN (0, 1) ORDER BY id;
SELECT ev FROM ev WHERE id = 0;
SELECT count(*) FROM ev;
SELECT try('SELECT lance_refresh_table(''groups'')');

-- A partition.
CREATE TABLE parts (id bigint, name text, val double precision, grp int, vec real[]) PARTITION BY RANGE (id);
SELECT declare_table('parts_low PARTITION OF parts FOR VALUES FROM (0) TO (100)', 'many_versions');
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (100) TO (200);
INSERT INTO parts VALUES (150, 'local', 1, 1, '{1}');
SELECT count(*), max(id) FROM parts;
SELECT tableoid::regclass, count(*) FROM parts GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT * FROM parts WHERE id > 120;
SELECT try('INSERT INTO parts VALUES (5, ''x'', 1, 1, ''{1}'')');

DROP SCHEMA scan CASCADE;
DROP SERVER local;

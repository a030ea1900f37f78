--
-- What scans take over: conditions and aggregates, and who may see what through them.
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
CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA push;
SET search_path = push, public;

CREATE FUNCTION attach(dataset text, name text, version bigint DEFAULT NULL) RETURNS regclass LANGUAGE sql AS $$
	SELECT lance_attach_dataset((SELECT substr(srvoptions[1], 6) FROM pg_foreign_server WHERE srvname = 'local')
		|| '/' || dataset || '.lance', 'local', 'push', name, version);
$$;
-- EXPLAIN's lines without folders and measured numbers.
CREATE FUNCTION explain(options text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		IF line !~ '^(Planning|Execution) Time' THEN
			RETURN NEXT regexp_replace(regexp_replace(line, 'file:/[^ ]*/', '.../'),
				'(Storage (Requests|Bytes): )[1-9]\d*', '\1N');
		END IF;
	END LOOP;
END $$;
SELECT attach('multifrag_p14_default', 'mf'), attach('del_arrow', 'del'), attach('types_v21_nulls', 'ty');

-- Which conditions are taken, and which stay with the executor.
SELECT explain('COSTS off', 'SELECT name FROM mf WHERE id BETWEEN 3 AND 5 AND name LIKE ''n%'' AND id % 2 = 1');
SELECT explain('COSTS off', 'SELECT name FROM mf WHERE random() < id');
SELECT explain('COSTS off', 'SELECT name FROM mf WHERE name < ''b'' COLLATE "und-x-icu"');
SELECT explain('COSTS off', 'SELECT name FROM mf WHERE name < ''b'' COLLATE "C" OR id IN (1, 2, 3)');
SELECT explain('COSTS off', 'SELECT id FROM mf WHERE name LIKE ''n_m%''');
SET lance_catalog.push_down = off;
SELECT explain('COSTS off', 'SELECT count(*) FROM mf WHERE id = 3');
RESET lance_catalog.push_down;

-- Aggregates, with and without groups.
SELECT explain('COSTS off', 'SELECT count(*) FROM mf');
SELECT explain('COSTS off, VERBOSE', 'SELECT id % 2, 1 + sum(id), avg(id) FROM mf GROUP BY id % 2');
SELECT explain('COSTS off', 'SELECT name, 1 + sum(id), count(*) FILTER (WHERE id > 3) FROM mf WHERE id < 9 GROUP BY name HAVING min(id) > 2');
SELECT explain('COSTS off', 'SELECT count(DISTINCT id) FROM mf');
SELECT explain('ANALYZE, COSTS off, TIMING off, SUMMARY off', 'SELECT count(*), sum(id) FROM mf WHERE id < 300');
SELECT explain('ANALYZE, COSTS off, TIMING off, SUMMARY off', 'SELECT count(*) FROM del');
SELECT count(*), sum(id), avg(id), min(id), max(id), count(name) FROM mf WHERE id < 300;
SELECT count(*), sum(id), avg(id), min(id), max(id), count(name) FROM mf WHERE id < 0;
SELECT id, count(*) FROM mf WHERE id < 0 GROUP BY id;
SELECT id, count(*) FROM mf WHERE id IN (4, 2) GROUP BY id ORDER BY id;
SELECT sum(count) FROM (SELECT id, count(*) FROM mf GROUP BY id) q;
SELECT 'one' FROM mf WHERE id < 5 HAVING count(*) > 4;
-- Conditions nested deeper than batches have them stay with the executor.
CREATE FUNCTION nested(depth int) RETURNS text LANGUAGE sql AS $$
	SELECT repeat('(', depth) || 'id = 1' || string_agg(format(CASE i % 2 WHEN 0 THEN ' OR id = %s)' ELSE ' AND id <> %s)' END, i), '' ORDER BY i)
	FROM generate_series(1, depth) i;
$$;
SELECT bool_or(line ~ '^ *Aggregate$') AS by_executor FROM explain('COSTS off', 'SELECT count(*) FROM mf WHERE ' || nested(1200)) line;
DO $$
DECLARE
	made bigint;
	expected bigint;
BEGIN
	FOR depth IN 494..508 LOOP
		EXECUTE 'SELECT count(*) FROM mf WHERE ' || nested(depth) INTO made;
		SET LOCAL lance_catalog.push_down = off;
		EXECUTE 'SELECT count(*) FROM mf WHERE ' || nested(depth) INTO expected;
		SET LOCAL lance_catalog.push_down = on;
		IF made <> expected THEN
			RAISE EXCEPTION 'depth %: % rows, not %', depth, made, expected;
		END IF;
	END LOOP;
END $$;
-- With values of an outer query.
SELECT n, (SELECT count(*) FROM mf WHERE id < n) FROM generate_series(0, 3) n;
SELECT n, (SELECT sum(id) FILTER (WHERE id < n) FROM mf) FROM generate_series(0, 3) n;
SELECT n, (SELECT count(*) FROM mf WHERE n > 0) FROM generate_series(0, 1) n;

-- The rows nearest to a vector.
SELECT attach('many_versions', 'mv');
SET enable_sort = off;
SELECT explain('COSTS off', 'SELECT id FROM mv WHERE id < 40 ORDER BY lance_l2(vec, ARRAY[1, 2, 3, 4]::real[]) LIMIT 3 OFFSET 1');
SELECT explain('COSTS off', 'SELECT id FROM mv ORDER BY lance_l2(vec, ARRAY[1, 2, 3, 4]::real[]) DESC LIMIT 3');
SELECT explain('COSTS off', 'SELECT id FROM mv ORDER BY lance_l2(vec, ARRAY[1, 2, 3, 4]::real[]) FETCH FIRST 3 ROWS WITH TIES');
SELECT explain('COSTS off', 'SELECT id FROM mv WHERE id % 2 = 0 ORDER BY lance_l2(vec, ARRAY[1, 2, 3, 4]::real[]) LIMIT 3');
-- A limit that is no constant may be another one the next time.
SET push.most = 1;
PREPARE nearest AS SELECT count(*) FROM (SELECT id FROM mv ORDER BY lance_l2(vec, ARRAY[1, 2]::real[])
	LIMIT current_setting('push.most')::int OFFSET current_setting('push.most')::int - 1) q;
EXECUTE nearest;
SET push.most = 3;
EXECUTE nearest;
DEALLOCATE nearest;
RESET enable_sort;
SELECT lance_l2('{1,2}', '{3,5}'::real[]), lance_l2('{1,2}', '{3,5}'::float8[]), lance_dot('{1,2}', '{3,5}'::real[]),
	lance_cosine('{1,0}', '{0,5}'::float8[]), lance_cosine('{0,0}', '{0,5}'::float8[]), lance_l2('{}', '{}'::real[]),
	lance_l2('{1,NULL}', '{3,5}'::real[]), lance_l2(NULL, '{3,5}'::real[]);
SELECT lance_l2('{1,2}', '{3}'::real[]);
SELECT lance_l2('{{1,2}}', '{3,4}'::real[]);

-- A security barrier's condition comes first: what the query's says is not told of rows that it hides.
CREATE FUNCTION tell(bigint) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
	RAISE NOTICE 'saw %', $1;
	RETURN true;
END $$;
SET client_min_messages = notice;
CREATE VIEW first_rows WITH (security_barrier) AS SELECT * FROM mf WHERE id < 3;
SELECT id FROM first_rows WHERE tell(id) ORDER BY id;
SET client_min_messages = warning;

-- As a partition.
CREATE TABLE parts (LIKE mf) PARTITION BY RANGE (id);
ALTER TABLE parts ATTACH PARTITION mf FOR VALUES FROM (0) TO (100000);
CREATE TABLE more PARTITION OF parts FOR VALUES FROM (100000) TO (200000);
INSERT INTO more (id) VALUES (100001);
SET enable_partitionwise_aggregate = on;
SELECT count(*), min(id), max(id) FROM parts;
SELECT count(*), sum(id) FROM parts WHERE id < 10;
RESET enable_partitionwise_aggregate;
ALTER TABLE parts DETACH PARTITION mf;

-- Prepared by one role, run by another that may not read.
PREPARE counting AS SELECT count(*) FROM mf WHERE id < $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE counting (7);
CREATE ROLE stranger;
GRANT USAGE ON SCHEMA push TO stranger;
SET ROLE stranger;
EXECUTE counting (7);
RESET ROLE;
DEALLOCATE counting;
RESET plan_cache_mode;
DROP OWNED BY stranger;
DROP ROLE stranger;

-- Rows are locked and joined as before.
SELECT id FROM mf WHERE id = 3 FOR UPDATE;
CREATE TABLE own (id bigint, seen text);
INSERT INTO own SELECT generate_series(1, 3);
UPDATE own SET seen = mf.name FROM mf WHERE mf.id = own.id AND mf.id >= 2;
SELECT id, seen IS NOT NULL AS found FROM own ORDER BY id;

DROP SCHEMA push CASCADE;
DROP SERVER local CASCADE;

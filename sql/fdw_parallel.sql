--
-- Parallel plans: a scan that the leader and workers share, and what must not be shared.
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
CREATE SCHEMA par;
SET search_path = par, public;
CREATE FUNCTION attach(dataset text, name text, version bigint DEFAULT NULL) RETURNS regclass LANGUAGE sql AS $$
	SELECT lance_attach_dataset((SELECT substr(srvoptions[1], 6) FROM pg_foreign_server WHERE srvname = 'local')
		|| '/' || dataset || '.lance', 'local', 'par', name, version);
$$;
-- EXPLAIN's lines without what depends on who was first.
CREATE FUNCTION explain(options text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		CONTINUE WHEN line ~ '^(Planning|Execution) Time|Workers Launched|Rows Removed|Lance Fragments|Sort Method|Worker \d|Storage|Batches|Memory';
		RETURN NEXT regexp_replace(line, ' \(actual .*', '');
	END LOOP;
END $$;
SELECT attach('multifrag_p14_default', 'mf'), attach('del_bitmap', 'del'), attach('del_arrow', 'del2'), attach('compacted', 'co');

-- Tables this small are read by one process.
SELECT explain('COSTS off', 'SELECT id FROM del WHERE id % 1000 = 5');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT explain('COSTS off', 'SELECT id FROM del WHERE id % 1000 = 5');
SELECT explain('ANALYZE, COSTS off, TIMING off, SUMMARY off', 'SELECT id FROM del WHERE id BETWEEN 100 AND 5000 ORDER BY id % 7');
SELECT explain('ANALYZE, COSTS off, TIMING off, SUMMARY off', 'SELECT id FROM del WHERE id BETWEEN 100 AND 5000 AND id % 7 = 1');

-- Every row once, deleted ones never.
CREATE TABLE heap AS SELECT * FROM del WITH NO DATA;
SET max_parallel_workers_per_gather = 0;
INSERT INTO heap SELECT * FROM del;
RESET max_parallel_workers_per_gather;
ANALYZE heap;
SELECT count(*), count(DISTINCT id), sum(id), min(id), max(id) FROM (SELECT id FROM del WHERE id % 1 = 0 OFFSET 0) q;
SELECT count(*) FROM ((SELECT id FROM del WHERE id % 1 = 0) EXCEPT ALL SELECT id FROM heap) q;
SELECT count(*) FROM (SELECT id FROM heap EXCEPT ALL (SELECT id FROM del WHERE id % 1 = 0)) q;
SELECT id, name FROM mf WHERE id % 50 = 1 ORDER BY id;

-- Without workers, without the leader, with more workers than units.
SET max_parallel_workers = 0;
SELECT count(*), sum(id) FROM del WHERE id % 3 = 1;
RESET max_parallel_workers;
PREPARE alone AS SELECT count(*), sum(id) FROM del WHERE id % 3 = 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE alone;
SET parallel_leader_participation = off;
EXECUTE alone;
SET max_parallel_workers = 0;
EXECUTE alone;
RESET plan_cache_mode;
RESET max_parallel_workers;
RESET parallel_leader_participation;
SET max_parallel_workers_per_gather = 8;
SELECT count(*), sum(id) FROM del WHERE id % 3 = 1;
SELECT count(*), sum(id) FROM del2 WHERE id % 3 = 1;
RESET max_parallel_workers_per_gather;
SELECT count(*) FROM heap WHERE id % 3 = 1;

-- LIMIT stops early; cursors read with one process.
SELECT count(*) FROM (SELECT id FROM del WHERE id % 3 = 1 LIMIT 5) q;
SELECT id FROM del WHERE id % 3 = 1 ORDER BY id LIMIT 3;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM del WHERE id % 3 = 1;
FETCH 2 FROM c;
MOVE FORWARD ALL FROM c;
COMMIT;
DECLARE h CURSOR WITH HOLD FOR SELECT count(*) FROM del WHERE id % 3 = 1;
FETCH h;
CLOSE h;

-- Parameters: of generic plans, of InitPlans, of the outer side of a nested loop that runs the plan again and again.
SET plan_cache_mode = force_generic_plan;
PREPARE p(bigint, text) AS SELECT count(*), sum(id) FROM del WHERE id < $1 AND id % 2 = 0 AND $2 IS NOT NULL;
EXECUTE p(100, 'a');
EXECUTE p(7000, 'a');
EXECUTE p(7000, NULL);
RESET plan_cache_mode;
SELECT explain('COSTS off', 'SELECT id FROM del WHERE id < (SELECT min(id) + 50 FROM heap) AND id % 10 = 1');
SELECT id FROM del WHERE id < (SELECT min(id) + 50 FROM heap) AND id % 10 = 1 ORDER BY id;
SELECT count(*) FROM del WHERE id IN (SELECT id FROM heap WHERE id < 500);
SELECT count(*) FROM del a WHERE EXISTS (SELECT FROM heap b WHERE b.id = a.id + 1 AND b.id % 2 = 0);
SET enable_material = off;
SELECT o.id, q.n FROM (VALUES (10), (2000), (4000)) o (id), LATERAL (SELECT count(*) AS n FROM del WHERE del.id < o.id AND del.id % 2 = 0 OFFSET 0) q;
SELECT explain('COSTS off', 'SELECT o.id, q.n FROM (VALUES (10), (20)) o (id) LEFT JOIN (SELECT count(*) AS n FROM del WHERE id % 5 = 0 OFFSET 0) q ON q.n > o.id');
SELECT o.id, q.n FROM (VALUES (10), (20)) o (id) LEFT JOIN (SELECT count(*) AS n FROM del WHERE id % 5 = 0 OFFSET 0) q ON q.n > o.id;
SELECT o.id, q.n FROM (VALUES (1), (2), (3)) o (id) LEFT JOIN (SELECT id AS n FROM del WHERE id % 500 = 5 LIMIT 2) q ON q.n < 0 ORDER BY 1;
RESET enable_material;

-- Joins: hashed, with both sides shared; a table of the server's own in between.
SELECT explain('COSTS off', 'SELECT count(*) FROM del a JOIN del b ON a.id = b.id + 1 WHERE a.id % 2 = 0');
SELECT count(*), sum(a.id) FROM del a JOIN del b ON a.id = b.id + 1 WHERE a.id % 2 = 0;
SELECT count(*), sum(a.id) FROM heap a JOIN heap b ON a.id = b.id + 1 WHERE a.id % 2 = 0;
SELECT count(*) FROM heap a JOIN del b ON a.id = b.id LEFT JOIN mf c ON c.id = b.id;

-- A small table is shared where a large one is.
SET min_parallel_table_scan_size = '1MB';
ALTER TABLE heap SET (parallel_workers = 2);
SELECT explain('COSTS off', 'SELECT count(*) FROM heap JOIN mf ON mf.id = heap.id WHERE mf.id % 2 = 0');
SELECT count(*), sum(mf.id) FROM heap JOIN mf ON mf.id = heap.id WHERE mf.id % 2 = 0;
SELECT explain('COSTS off', 'SELECT count(*) FROM mf WHERE id % 2 = 0');
ALTER TABLE heap RESET (parallel_workers);
SET min_parallel_table_scan_size = 0;

-- Aggregates: each process makes parts of its share, which are combined.
SELECT attach('types_v21_nulls', 'ty'), attach('ints_v21', 'ints');
SELECT explain('ANALYZE, COSTS off, TIMING off, SUMMARY off', 'SELECT sum(id), avg(id) FROM del WHERE id < 5000');
SELECT explain('COSTS off', 'SELECT id / 1000, count(*) FROM del WHERE id < 5000 GROUP BY 1');
SELECT explain('COSTS off', 'SELECT name, 1 + sum(id), count(*) FILTER (WHERE id > 3) FROM mf GROUP BY name HAVING min(id) > 2');
SELECT explain('COSTS off', 'SELECT count(*) FROM del');
SELECT count(*), count(id), sum(id), avg(id), min(id), max(id) FROM del;
SELECT count(*), count(id), sum(id), avg(id), min(id), max(id) FROM heap;
SELECT count(*), count(id), sum(id), avg(id), min(id), max(id) FROM del WHERE id < 0;
SELECT sum(id) FILTER (WHERE id < 50), avg(id) FILTER (WHERE id < 0), bool_and(id > 3), bool_or(id < 0) FROM del WHERE id % 1 = 0;
SELECT name, count(*), sum(id) FROM mf WHERE id < 0 GROUP BY name;
SELECT name, count(*), sum(id) FROM mf GROUP BY name HAVING sum(id) > 500 ORDER BY name COLLATE "C" LIMIT 3;
SELECT count(*), sum(n), sum(s) FROM (SELECT name, count(*) AS n, sum(id) AS s FROM mf GROUP BY name) q;
SELECT (SELECT sum(id) FROM del WHERE id < o.n) FROM (VALUES (100), (3000)) o (n);
-- Every aggregate, in parts and in one: floats may differ in their last digits.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
CREATE FUNCTION differ(aggregate text, tables text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	t text;
	c record;
	query text;
	parts text;
	whole text;
	plan text;
BEGIN
	FOREACH t IN ARRAY tables LOOP
		FOR c IN SELECT attname AS name, atttypid AS type FROM pg_attribute WHERE attrelid = t::regclass AND attnum > 0
			AND atttypid = ANY ('{int2,int4,int8,float4,float8,bool,date,time,timestamp,timestamptz,text}'::regtype[])
		LOOP
			query := format('SELECT %s(%I)::text FROM %I', aggregate, c.name, t);
			SET LOCAL min_parallel_table_scan_size = 0;
			parts := outcome(query);
			plan := outcome('EXPLAIN ' || query);
			SET LOCAL min_parallel_table_scan_size = '1GB';
			whole := outcome(query);
			CONTINUE WHEN whole = '42883'; -- no such function
			IF parts IS DISTINCT FROM whole AND NOT (c.type IN ('float4'::regtype, 'float8'::regtype) AND abs(parts::float8 / whole::float8 - 1) < 1e-5)
				OR plan !~ 'Finalize'
			THEN
				RETURN NEXT format('%s: %s %s, %s', query, parts, whole, plan);
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT f, d FROM unnest('{count,sum,avg,min,max,bool_and,bool_or,every}'::text[]) f, differ(f, '{ty,ints,mf,del}') d;
-- More groups than were expected, and fit: some come in several parts.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
PREPARE groups(bigint) AS SELECT count(*), sum(n), sum(s) FROM (SELECT id, count(*) AS n, sum(id) AS s FROM del WHERE id < $1 GROUP BY id OFFSET 0) q;
SET plan_cache_mode = force_generic_plan;
EXECUTE groups(100000);
EXPLAIN (COSTS off) EXECUTE groups(100000);
-- Groups without aggregates as well.
PREPARE keys(bigint) AS SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM del WHERE id < $1 GROUP BY id OFFSET 0) q;
EXECUTE keys(100000);
EXPLAIN (COSTS off) EXECUTE keys(100000);
RESET plan_cache_mode;
RESET work_mem;
RESET hash_mem_multiplier;
SELECT count(*), sum(id) FROM heap;

-- Rows looked up and scans that each process would make for itself stay out of workers.
ALTER FOREIGN TABLE del ADD COLUMN _rowid bigint;
SELECT explain('COSTS off', 'SELECT id FROM del WHERE _rowid = 7');
SELECT count(*), count(DISTINCT _rowid) FROM del WHERE id % 2 = 0;
SET force_parallel_mode = on;
SELECT id FROM del WHERE _rowid = 7;
SELECT count(*) FROM del;
SELECT count(*), sum(id) FROM del WHERE id % 3 = 1;
RESET force_parallel_mode;

-- An error of a worker is the query's.
\set VERBOSITY terse
SELECT sum(1 / (id - 7)) FROM del WHERE id % 2 = 1;
\set VERBOSITY default
SELECT count(*), sum(id) FROM del WHERE id % 3 = 1;

-- Roles: a worker reads with the rights of the one whose query it is, or of the owner of the view.
CREATE ROLE regress_par_reader;
GRANT USAGE ON SCHEMA par TO regress_par_reader;
CREATE VIEW v AS SELECT id FROM del WHERE id % 3 = 1;
GRANT SELECT ON v TO regress_par_reader;
SET ROLE regress_par_reader;
SELECT count(*), sum(id) FROM v;
SELECT count(*) FROM del;
RESET ROLE;

-- What was changed between planning and execution.
SET plan_cache_mode = force_generic_plan;
PREPARE q AS SELECT count(*), sum(id) FROM co WHERE id % 2 = 0;
EXECUTE q;
ALTER FOREIGN TABLE co OPTIONS (ADD version '1');
EXECUTE q;
RESET plan_cache_mode;

DROP SCHEMA par CASCADE;
DROP OWNED BY regress_par_reader;
DROP ROLE regress_par_reader;
DROP SERVER local CASCADE;

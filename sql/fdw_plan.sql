--
-- Planning: EXPLAIN, estimates, ANALYZE, prepared statements, parallel query.
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
CREATE SCHEMA plan;
SET search_path = plan, public;

CREATE FUNCTION attach(dataset text, name text, version bigint DEFAULT NULL) RETURNS regclass LANGUAGE sql AS $$
	SELECT lance_attach_dataset((SELECT substr(srvoptions[1], 6) FROM pg_foreign_server WHERE srvname = 'local')
		|| '/' || dataset || '.lance', 'local', 'plan', name, version);
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
CREATE FUNCTION estimate(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;

SELECT attach('many_versions', 'mv'), attach('many_versions', 'mv3', 3), attach('multifrag_p14_default', 'mf'),
	attach('del_arrow', 'del'), attach('empty_v22', 'empty');

-- Version, dataset and columns.
SELECT explain('COSTS off', 'SELECT * FROM mv WHERE id = 3');
SELECT explain('COSTS off, VERBOSE', 'SELECT name FROM mv WHERE id = 3');
SELECT explain('COSTS off, VERBOSE', 'SELECT count(*) FROM mv3');
SELECT explain('COSTS off, VERBOSE', 'SELECT mv FROM mv');
SELECT explain('ANALYZE, COSTS off, TIMING off, SUMMARY off', 'SELECT name FROM mf WHERE id < 3');
SELECT explain('ANALYZE, COSTS off, TIMING off, SUMMARY off', 'SELECT count(*) FROM del');
SELECT explain('ANALYZE, COSTS off, TIMING off, SUMMARY off', 'SELECT id FROM empty');
-- LIMIT stops reading.
SELECT explain('ANALYZE, COSTS off, TIMING off, SUMMARY off', 'SELECT id FROM mf LIMIT 1');

-- Rows are estimated from the manifest, deletions taken off.
SELECT estimate('SELECT * FROM mv'), estimate('SELECT * FROM mv3'), estimate('SELECT * FROM mf'),
	estimate('SELECT * FROM del'), estimate('SELECT * FROM empty');

-- Plain EXPLAIN reads no data file: this one is damaged.
SELECT attach('corrupt_badmagic', 'damaged');
SELECT explain('COSTS off', 'SELECT * FROM damaged');
SELECT explain('COSTS off, VERBOSE', 'DELETE FROM damaged');

-- ANALYZE: live rows, statistics of scalar columns.
ANALYZE mf;
ANALYZE del;
SELECT relname, reltuples FROM pg_class WHERE oid IN ('mf'::regclass, 'del'::regclass) ORDER BY 1;
SELECT attname, null_frac < 1 AS some, n_distinct FROM pg_stats WHERE schemaname = 'plan' AND tablename = 'mf'
	AND attname IN ('id', 'grp') ORDER BY 1;
SELECT estimate('SELECT * FROM mf WHERE grp = 1') BETWEEN 60 AND 100 AS near;
ANALYZE mf (id);
\set VERBOSITY terse
ANALYZE damaged;
\set VERBOSITY default

-- Prepared statements, ten times, under each mode, with the version looked up anew at each execution.
CREATE FUNCTION execute_ten(mode text) RETURNS TABLE (executions bigint, wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('plan_cache_mode', mode, true);
	executions := 0;
	wrong := 0;
	FOR i IN 1..10 LOOP
		DECLARE
			got text;
			want text;
		BEGIN
			EXECUTE format('EXECUTE q(%s, %L)', i % 4, 'x') INTO got;
			EXECUTE format('SELECT string_agg(name, '','' ORDER BY id) FROM copy WHERE grp = %s AND name <> %L', i % 4, 'x')
				INTO want;
			executions := executions + 1;
			wrong := wrong + (got IS DISTINCT FROM want)::int;
		END;
	END LOOP;
	RETURN NEXT;
END $$;
CREATE TABLE copy AS SELECT * FROM mf;
PREPARE q(int, text) AS SELECT string_agg(name, ',' ORDER BY id) FROM mf WHERE grp = $1 AND name <> $2;
SELECT mode, t.* FROM unnest(ARRAY['auto', 'force_generic_plan', 'force_custom_plan']) mode, execute_ten(mode) t;
SET plan_cache_mode = force_generic_plan;
PREPARE n AS SELECT count(*), max(id) FROM mv3;
EXECUTE n;
ALTER FOREIGN TABLE mv3 OPTIONS (SET version '5');
EXECUTE n;

-- ANALYZE reads runs of rows from all over the dataset: bounds are those of the whole, the order of a sorted column is seen.
SELECT attach('del_bitmap', 'sorted');
CREATE FUNCTION sampled(times int, OUT low bigint, OUT high bigint, OUT follows bool, OUT distinct_values real) LANGUAGE plpgsql AS $$
DECLARE
	bounds bigint[];
BEGIN
	SET LOCAL default_statistics_target = 1;
	FOR i IN 1 .. times LOOP
		ANALYZE sorted;
		SELECT histogram_bounds::text::bigint[], correlation > 0.99, n_distinct INTO bounds, follows, distinct_values
			FROM pg_stats WHERE schemaname = 'plan' AND tablename = 'sorted' AND attname = 'id';
		low := least(low, bounds[1]);
		high := greatest(high, bounds[2]);
	END LOOP;
END $$;
SELECT low < 1500 AS low, high > 6200 AS high, follows, distinct_values FROM sampled(30);
ANALYZE sorted;
SELECT estimate('SELECT 1 FROM sorted WHERE id < 1667')::int BETWEEN 980 AND 1020 AS near, count(*) FROM sorted WHERE id < 1667;

-- Tables this small are shared by workers only where that is free, and the answers stay the same.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET force_parallel_mode = on;
SELECT workers, set_config('max_parallel_workers_per_gather', workers::text, false) IS NOT NULL AS set,
	(SELECT count(*) FROM mf JOIN copy USING (id)) AS joined FROM generate_series(0, 4, 2) workers;
SELECT bool_or(line LIKE '%Parallel%') AS parallel FROM explain('COSTS off', 'SELECT count(*) FROM mf') line;

-- The same columns and rows as the local copy has.
SELECT count(*) FROM (TABLE mf EXCEPT ALL TABLE copy) d;

DROP SCHEMA plan CASCADE;
DROP SERVER local;

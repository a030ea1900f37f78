--
-- Distances between vectors, and the rows nearest to one.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set root file:// :fixtures '/data'
\set fsl :root '/fsl_v22.lance'
\set many :root '/many_versions.lance'
SET client_min_messages = warning;
-- Plans that a disabled sort makes dear are not to be compiled.
SET jit = off;
CREATE EXTENSION IF NOT EXISTS lance_catalog;
CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA near;
SET search_path = near, public;
CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION explain(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS off) ' || query;
END $$;
SELECT lance_attach_dataset(:'fsl', 'local', 'near', 'fsl') IS NOT NULL AS fsl, lance_attach_dataset(:'many', 'local', 'near', 'mv') IS NOT NULL AS mv;

-- Each function and operator, of each type.
SELECT lance_l2(a, b), lance_euclidean(a, b), a <-> b AS "<->", lance_cosine(a, b), a <=> b AS "<=>", lance_dot(a, b),
	lance_negative_inner_product(a, b) AS product, a <#> b AS "<#>", lance_l1(a, b), a <+> b AS "<+>" FROM (SELECT '{3,0}'::real[] a, '{0,4}'::real[] b) v;
SELECT lance_l2(a, b), lance_euclidean(a, b), a <-> b AS "<->", lance_cosine(a, b), a <=> b AS "<=>", lance_dot(a, b),
	lance_negative_inner_product(a, b) AS product, a <#> b AS "<#>", lance_l1(a, b), a <+> b AS "<+>" FROM (SELECT '{3,1}'::float8[] a, '{1,3}'::float8[] b) v;
SELECT lance_l2(a, b), lance_euclidean(a, b), a <-> b AS "<->", lance_cosine(a, b), a <=> b AS "<=>", lance_dot(a, b),
	lance_negative_inner_product(a, b) AS product, a <#> b AS "<#>", lance_l1(a, b), a <+> b AS "<+>"
FROM (SELECT '{32767,0,-32768}'::smallint[] a, '{-32768,0,-32768}'::smallint[] b) v;
SELECT lance_hamming(a, b), a <~> b AS "<~>" FROM (SELECT '{255,0,7}'::smallint[] a, '{0,0,6}'::smallint[] b) v;
SELECT lance_hamming(a, b), a <~> b AS "<~>" FROM (SELECT '\xff00070102030405060708'::bytea a, '\x0000060102030405060700'::bytea b) v;
-- Zeros, nothing, NULL, NaN.
SELECT '{0,0}'::real[] <=> '{1,2}' AS zeros, '{}'::real[] <-> '{}' AS nothing, '{1,NULL}'::real[] <-> '{1,2}' AS null_item, NULL <-> '{1}'::real[] AS "null",
	'{NaN,1}'::real[] <-> '{1,1}' AS nan, '{Infinity}'::float8[] <+> '{0}' AS inf, ''::bytea <~> '' AS no_bits, '{0,0}'::smallint[] <=> '{1,2}' AS int_zeros;
-- Other types of an operand are made those of a vector.
SELECT '{1,2}'::real[] <-> ARRAY[1, 2], ARRAY[0.5, 1] <-> '{0.5,2}'::float8[], '{1,2}'::real[] <#> '{1,2}'::float8[], ARRAY[1, 2]::smallint[] <-> '{1,4}';
-- What is no vector, or none of that size.
SELECT try('SELECT lance_l2(''{1,2}'', ''{3}''::real[])'), try('SELECT ''{1,2}''::real[] <-> ''{3}''');
SELECT try('SELECT ''{1,2}''::float8[] <=> ''{}'''), try('SELECT ''{1}''::smallint[] <~> ''{1,2}'''), try('SELECT ''\x01''::bytea <~> ''\x0102''');
SELECT try('SELECT ''{{1,2}}''::real[] <-> ''{1,2}'''), try('SELECT ''{1,2}''::smallint[] <#> ''{{1},{2}}''');
SELECT try('SELECT ''{a}''::text[] <-> ''{b}'''), try('SELECT ''{1}''::real[] <~> ''{1}''');
-- Operators commute, and are where the functions are.
SELECT o.oprname, o.oprleft::regtype, o.oprcode, o.oprcom = o.oid AS commutes, o.oprnamespace = e.extnamespace AS placed FROM pg_operator o
	JOIN pg_depend d ON d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'lance_catalog' ORDER BY o.oprname COLLATE "C", o.oprleft::regtype::text COLLATE "C";

-- Left to the scan: every distance of every type of column, in the order and with the distances that a sort gives.
CREATE TABLE question (name name, kind text, query text);
INSERT INTO question SELECT name, kind, coalesce(quote_literal(query), '(SELECT NULL)') FROM (VALUES
	('{f32,f32_null,f16,f16_null,const,all_null,inner_null}'::name[], 'real[]', '{0.5,-1,2,0,1} {0,0,0,0,0} {1,2,3,4,NaN} {1,2,3,4,NULL} null'),
	('{f32,f32_null,f16,f64,f64_null,u8,i8_null}', 'float8[]', '{0.1,-1,2,0,1} {100,0,0,-3,0} {Infinity,0,0,0,0} {1,2,3,4,NULL} null'),
	('{u8,u8_null,i8,i8_null}', 'real[]', '{0.5,-100,2,0,1}'),
	('{u8,u8_null,i8,i8_null}', 'smallint[]', '{5,100,2,0,1} {-300,30000,0,0,-32768} {0,0,0,0,0} null')) v (names, kind, queries),
	unnest(names) name, unnest(string_to_array(queries, ' ', 'null')) query;
CREATE FUNCTION compare(expression text, k int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text := format('SELECT array_agg(d) FROM (SELECT %s AS d FROM fsl ORDER BY d LIMIT %s) q', expression, k);
	pushed text;
	sorted text;
BEGIN
	SET LOCAL enable_sort = off;
	EXECUTE rows INTO pushed;
	IF NOT EXISTS (SELECT FROM explain(rows) line WHERE line ~ 'Lance Nearest') THEN
		RETURN 'not left to the scan: ' || expression;
	END IF;
	SET LOCAL lance_catalog.push_down = off;
	EXECUTE rows INTO sorted;
	SET LOCAL lance_catalog.push_down = on;
	RETURN CASE WHEN pushed IS DISTINCT FROM sorted THEN format('%s: %s is not %s', expression, pushed, sorted) END;
END $$;
SELECT kind, count(*), min(bad) AS bad FROM question,
	unnest(ARRAY['lance_l2', 'lance_euclidean', 'lance_cosine', 'lance_dot', 'lance_negative_inner_product', 'lance_l1']
		|| CASE WHEN kind = 'smallint[]' THEN ARRAY['lance_hamming'] END) function,
	unnest('{1,7,50}'::int[]) k, compare(format('%s(%I::%s, %s::%s)', function, name, kind, query, kind), k) bad GROUP BY kind ORDER BY kind;
SELECT explain('SELECT 1 FROM fsl ORDER BY f32 <-> ''{1,2,3,4,5}'' LIMIT 2');
SELECT explain('SELECT 1 FROM fsl ORDER BY ''{1,2,3,4,5}''::float8[] <#> f16 LIMIT 2');
SELECT explain('SELECT 1 FROM fsl ORDER BY u8 <~> ''{1,2,3,4,5}'' LIMIT 2');
SELECT try('SELECT f32 FROM fsl ORDER BY f32 <-> ''{1,2,3,4}'' LIMIT 1'), try('SELECT f32 FROM fsl ORDER BY u8 <~> ''{1,2,3,4,5,6}'' LIMIT 1');
-- Of equally near rows the first ones.
SELECT id FROM mv WHERE id < 20 ORDER BY vec <-> NULL LIMIT 4;
-- No distance of a column that is read as something else, nor of one with other items.
SELECT count(*) FILTER (WHERE line ~ 'Lance Nearest') FROM explain('SELECT 1 FROM fsl ORDER BY dim1::real[] <-> ''{1}'' LIMIT 2') line;

-- For each row of another table.
CREATE TABLE q (n int, v real[]);
INSERT INTO q VALUES (1, '{0,0}'), (2, '{9,1}'), (3, NULL), (4, '{-5,-5}');
ANALYZE q;
SELECT explain('SELECT n, id FROM q, LATERAL (SELECT id FROM mv ORDER BY vec <-> q.v LIMIT 2) m');
SELECT n, ids = expected AS same FROM q, LATERAL (SELECT array_agg(id) ids FROM (SELECT id FROM mv ORDER BY vec <-> q.v, id LIMIT 3) m) m,
	LATERAL (SELECT array_agg(id) expected FROM (SELECT id FROM (SELECT id, vec FROM mv OFFSET 0) mv ORDER BY vec <-> q.v, id LIMIT 3) m) e ORDER BY n;
SET enable_sort = off;
SELECT n, (SELECT array_agg(id) FROM (SELECT id FROM mv WHERE id >= n ORDER BY vec <-> q.v LIMIT 2) m) FROM q ORDER BY n;
SELECT id FROM mv ORDER BY vec <-> (SELECT v FROM q WHERE n = 4) LIMIT 1;

-- Of rows that are as far as the last one, those that further keys put first, or all.
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	pushed text;
	sorted text;
	ways text;
BEGIN
	SET LOCAL enable_sort = off;
	EXECUTE format('SELECT array_agg(q)::text FROM (%s) q', query) INTO pushed;
	SELECT CASE WHEN bool_or(line ~ 'Lance Nearest') THEN 'left to the scan' ELSE 'sorted' END INTO ways FROM explain(query) line;
	RESET enable_sort;
	SET LOCAL lance_catalog.push_down = off;
	EXECUTE format('SELECT array_agg(q)::text FROM (%s) q', query) INTO sorted;
	RESET lance_catalog.push_down;
	RETURN ways || ': ' || CASE WHEN pushed IS DISTINCT FROM sorted THEN pushed || ' is not ' || sorted ELSE coalesce(pushed, 'none') END;
END $$;
SELECT explain('SELECT id FROM mv ORDER BY vec <-> ''{1,2}'', id DESC LIMIT 3');
SELECT same('SELECT id FROM mv ORDER BY vec <-> (SELECT NULL::real[]), id DESC LIMIT 3');
SELECT same('SELECT id FROM mv WHERE id < 9 ORDER BY vec <=> ''{0,0}'', id DESC LIMIT 3 OFFSET 1');
SELECT same('SELECT id, const <-> ''{1,2,3,4,5}'' IS NULL AS none FROM (SELECT row_number() OVER () AS id, const FROM fsl) q ORDER BY const <-> ''{1,2,3,4,5}'', id LIMIT 3');
SELECT same('SELECT count(*) FROM (SELECT 1 FROM fsl ORDER BY const <-> ''{1,2,3,4,5}'' FETCH FIRST 3 ROWS WITH TIES) q');
SELECT same('SELECT count(*) FROM (SELECT 1 FROM fsl ORDER BY f32_null <-> ''{1,2,3,4,5}'' FETCH FIRST 45 ROWS WITH TIES) q');
SELECT same('SELECT count(*) FROM (SELECT 1 FROM fsl ORDER BY u8_null <~> ''{1,2,3,4,5}'' FETCH FIRST 7 ROWS WITH TIES) q');
SELECT same('SELECT u8 FROM fsl ORDER BY u8 <~> ''{1,2,3,4,5}'', u8 DESC LIMIT 9');
-- Within a distance.
SELECT same('SELECT id FROM mv WHERE vec <-> ''{3,2}'' < 2 ORDER BY vec <-> ''{3,2}'', id LIMIT 10');
SELECT same('SELECT id FROM mv WHERE vec <-> ''{3,2}'' <= 2 AND id <> 4 AND 1 < ''{3,2}'' <-> vec ORDER BY vec <-> ''{3,2}'', id LIMIT 10');
SELECT same('SELECT count(*) FROM (SELECT 1 FROM fsl WHERE f32_null <-> ''{1,2,3,4,5}'' > 3 ORDER BY f32_null <-> ''{1,2,3,4,5}'' LIMIT 50) q');
SELECT same('SELECT count(*) FROM (SELECT 1 FROM fsl WHERE f32 <=> ''{0,0,0,0,0}'' >= ''NaN'' ORDER BY f32 <=> ''{0,0,0,0,0}'' LIMIT 50) q');
SELECT same('SELECT count(*) FROM (SELECT 1 FROM fsl WHERE f32 <-> ''{1,0,0,0,0}'' < (SELECT NULL::float8) ORDER BY f32 <-> ''{1,0,0,0,0}'' LIMIT 50) q');
SET enable_sort = off;
SELECT explain('SELECT id FROM mv WHERE vec <-> ''{3,2}'' < 2 AND id < 30 ORDER BY vec <-> ''{3,2}'' LIMIT 10');
-- The distance to something else, or another one, is no bound.
SELECT same('SELECT id FROM mv WHERE vec <-> ''{3,1}'' < 2 ORDER BY vec <-> ''{3,2}'', id LIMIT 10');
SELECT same('SELECT id FROM mv WHERE vec <+> ''{3,2}'' < 2 ORDER BY vec <-> ''{3,2}'', id LIMIT 10');
-- LIMIT and OFFSET need not be constants.
SET enable_sort = off;
SET plan_cache_mode = force_generic_plan;
PREPARE nearest(real[], int, int) AS SELECT id FROM mv ORDER BY vec <-> $1 LIMIT $2 OFFSET $3;
EXPLAIN (COSTS off) EXECUTE nearest('{3,2}', 2, 1);
EXECUTE nearest('{3,2}', 2, 1);
EXECUTE nearest('{3,2}', 1, NULL);
SELECT count(*) FROM mv;
CREATE TABLE many AS EXECUTE nearest('{3,2}', NULL, 2);
SELECT count(*), min(id) FROM many;
EXECUTE nearest('{3,2}', 0, 1);
EXECUTE nearest('{3,2}', -1, 0);
EXECUTE nearest(NULL, 2, 1);
DEALLOCATE nearest;
RESET plan_cache_mode;
SELECT n, (SELECT array_agg(id) FROM (SELECT id FROM mv ORDER BY vec <-> '{3,2}' LIMIT q.n) m) FROM q ORDER BY n;
SELECT same('SELECT DISTINCT b FROM (SELECT id % 2 = 0 AS b, vec FROM mv) m LIMIT (SELECT 1)');
-- By several processes: each finds the nearest of the rows that it reads.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT explain('SELECT id FROM mv ORDER BY vec <-> ''{3,2}'' LIMIT 3');
SELECT id FROM mv ORDER BY vec <-> '{3,2}', id LIMIT 3;
SELECT id FROM mv WHERE id <> 3 AND vec <-> '{3,2}' < 3 ORDER BY vec <-> (SELECT '{3,2}'::real[]), id LIMIT 3;
SELECT count(*) FROM (SELECT 1 FROM fsl ORDER BY const <-> '{1,2,3,4,5}' FETCH FIRST 3 ROWS WITH TIES) q;
SELECT n, id FROM q, LATERAL (SELECT id FROM mv ORDER BY vec <-> q.v, id LIMIT 1) m ORDER BY n;
RESET max_parallel_workers_per_gather;
DROP SCHEMA near CASCADE;
DROP SERVER local;

--
-- Rows looked up by row id and row address: which conditions do it, and that the answers are those of a scan.
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
CREATE SERVER lookup FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA lookup;
SET search_path = lookup, public;

CREATE FUNCTION attach(dataset text, name text, version bigint DEFAULT NULL) RETURNS regclass LANGUAGE plpgsql AS $$
BEGIN
	PERFORM lance_attach_dataset((SELECT substr(srvoptions[1], 6) FROM pg_foreign_server WHERE srvname = 'lookup')
		|| '/' || dataset || '.lance', 'lookup', 'lookup', name, version);
	EXECUTE format('ALTER FOREIGN TABLE %I ADD _rowid bigint, ADD _rowaddr bigint', name);
	RETURN name;
END $$;
-- EXPLAIN's lines without folders and measured numbers.
CREATE FUNCTION explain(query text, options text DEFAULT 'COSTS off') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		IF line !~ 'Storage|Lance Dataset|Planning|Execution|Buckets' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
-- Whether a query looks up rows, how many it gives, and whether a scan gives the same.
CREATE FUNCTION compare(query text) RETURNS TABLE (looked_up boolean, rows bigint, same boolean) LANGUAGE plpgsql AS $$
DECLARE
	looked text[];
	scanned text[];
BEGIN
	PERFORM set_config('lance_catalog.row_lookup', 'on', true);
	SELECT bool_or(line LIKE '%Lance Lookup:%') INTO looked_up FROM explain(query) line;
	EXECUTE format('SELECT array_agg(q::text ORDER BY q::text) FROM (%s) q', query) INTO looked;
	PERFORM set_config('lance_catalog.row_lookup', 'off', true);
	EXECUTE format('SELECT array_agg(q::text ORDER BY q::text) FROM (%s) q', query) INTO scanned;
	PERFORM set_config('lance_catalog.row_lookup', 'on', true);
	rows := coalesce(cardinality(looked), 0);
	same := looked IS NOT DISTINCT FROM scanned;
	RETURN NEXT;
END $$;

SELECT attach('stable_rowids', 'stable', 5), attach('stable_rowids', 'compacted'), attach('del_arrow', 'del'),
	attach('multipage_v22', 'pages'), attach('multipage_v20', 'pages20'), attach('del_bitmap', 'many');
CREATE TABLE ids (a bigint, b integer, list bigint[]);
INSERT INTO ids SELECT i * 17, i * 3, ARRAY[i, NULL, i, i * 5, -1] FROM generate_series(0, 20) i;
INSERT INTO ids VALUES (NULL, NULL, NULL), (-1, -1, '{}'), (9223372036854775807, 1073741823, '{9223372036854775807}');
ANALYZE ids;

-- Shown in plans; other conditions stay with the server.
SELECT explain('SELECT id FROM stable WHERE _rowid = 5');
SELECT explain('SELECT id FROM stable WHERE _rowaddr IN (5, 7, 4294967296) AND id % 2 = 1');
SELECT explain('SELECT id FROM stable WHERE _rowid = 5', 'COSTS off, VERBOSE');
SELECT explain('SELECT * FROM ids JOIN many ON many._rowid = ids.a');
SELECT explain('SELECT * FROM ids LEFT JOIN many ON many._rowaddr = ANY (ids.list) AND many.id > 7');
SELECT explain('SELECT id FROM many WHERE _rowid IN (SELECT b FROM ids)');
SELECT explain('SELECT id FROM many WHERE _rowid = ANY (ARRAY(SELECT b FROM ids)) AND _rowaddr = 17');
SELECT explain('SELECT id FROM stable WHERE _rowid = 5 AND _rowid = 6');

-- Constants: hits, deleted rows, none at all, every integer type, either side, NULL.
SELECT c.*, query FROM unnest(ARRAY[
	'SELECT * FROM stable WHERE _rowid = 5',
	'SELECT * FROM stable WHERE 450::smallint = _rowid',
	'SELECT * FROM stable WHERE _rowid = 450::integer',
	'SELECT * FROM stable WHERE _rowid = 1000000000000',
	'SELECT * FROM stable WHERE _rowid = -1',
	'SELECT * FROM stable WHERE _rowid = NULL',
	'SELECT * FROM stable WHERE _rowid IN (450, 7, 450, 3, -5, NULL, 99999)',
	'SELECT * FROM stable WHERE _rowid = ANY (''{1,2,3,2,1,NULL}''::smallint[])',
	'SELECT * FROM stable WHERE _rowid = ANY (''{{1,2},{3,1}}''::integer[])',
	'SELECT * FROM stable WHERE _rowid = ANY (''{}''::bigint[])',
	'SELECT * FROM stable WHERE _rowid = ANY (NULL::bigint[])',
	'SELECT * FROM stable WHERE _rowaddr = 8589934592',
	'SELECT * FROM stable WHERE _rowid IN (3, 4, 5) AND _rowaddr IN (4, 5, 6)',
	'SELECT * FROM stable WHERE _rowid = 3 AND id > 100',
	'SELECT * FROM stable WHERE _rowid = 3 OR _rowid = 5',
	'SELECT * FROM stable WHERE _rowid <> ALL (ARRAY[1, 2])',
	'SELECT * FROM stable WHERE _rowid = 3.0',
	'SELECT id FROM stable WHERE _rowid = 3 + _rowaddr',
	'SELECT count(*), sum(id) FROM del WHERE _rowaddr IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)',
	'SELECT * FROM pages WHERE _rowid IN (0, 399, 400, 1199, 600, 601, 602)',
	'SELECT * FROM pages20 WHERE _rowid IN (0, 399, 400, 1199, 600, 601, 602)',
	'SELECT ids.a, s.* FROM ids JOIN many s ON s._rowid = ids.a',
	'SELECT ids.b, s.* FROM ids LEFT JOIN many s ON s._rowaddr = ids.b AND s.id > 10',
	'SELECT ids.b, s.id FROM ids JOIN many s ON s._rowid = ANY (ids.list)',
	'SELECT id FROM many WHERE _rowid IN (SELECT b FROM ids)',
	'SELECT id FROM many WHERE _rowid = ANY (ARRAY(SELECT b FROM ids))',
	'SELECT id FROM many WHERE _rowid = (SELECT max(b) FROM ids WHERE b < 40)',
	'SELECT s.id, c.id FROM stable s JOIN compacted c ON c._rowid = s._rowid WHERE s._rowaddr = 3',
	'SELECT ids.b, l.* FROM ids, LATERAL (SELECT id FROM many m WHERE m._rowid = ids.b + ids.b LIMIT 1) l',
	'SELECT i.b, m.id FROM ids i, ids j JOIN many m ON m._rowid = j.b WHERE i.b = j.b',
	'SELECT (SELECT id FROM many WHERE _rowid = ids.b) FROM ids'
	]) WITH ORDINALITY AS q (query, n), compare(query) c ORDER BY n;

-- Volatile values are not looked up: each row gets its own.
SELECT bool_or(line LIKE '%Lookup%') AS looked_up FROM explain('SELECT id FROM many WHERE _rowid = (random() * 100)::int') line;

-- Every row by its id and by its address, one by one and all at once, is that row.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
CREATE TABLE copy AS SELECT * FROM pages;
ANALYZE copy;
SELECT explain('SELECT count(*) FROM copy c JOIN pages p ON p._rowid = c._rowid');
SELECT count(*), bool_and(p::text = c::text) FROM copy c JOIN pages p ON p._rowid = c._rowid;
SELECT count(*) FROM (SELECT * FROM pages WHERE _rowaddr = ANY (ARRAY(SELECT _rowaddr FROM copy)) EXCEPT TABLE copy) d;
SELECT count(*) FROM (TABLE copy EXCEPT SELECT * FROM pages WHERE _rowid = ANY (ARRAY(SELECT _rowid FROM copy))) d;
-- Rescans use the files that are open.
SELECT explain('SELECT count(id) FROM ids JOIN many ON many._rowid = ids.a', 'ANALYZE, COSTS off, TIMING off, SUMMARY off');
SELECT explain('SELECT ids.a, (SELECT id FROM many WHERE _rowid = ids.a) FROM ids', 'ANALYZE, COSTS off, TIMING off, SUMMARY off');
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_memoize;

-- Prepared statements, generic and custom.
PREPARE one(bigint) AS SELECT id, _rowid FROM stable WHERE _rowid = $1;
PREPARE several(int[]) AS SELECT id, _rowid FROM stable WHERE _rowid = ANY ($1) ORDER BY _rowid;
SET plan_cache_mode = force_generic_plan;
SELECT explain('EXECUTE one(7)');
EXECUTE one(7);
EXECUTE one(NULL);
EXECUTE one(-7);
EXECUTE one(9223372036854775807);
EXECUTE several('{7,NULL,3,7}');
EXECUTE several(NULL);
EXECUTE several('{}');
SET plan_cache_mode = force_custom_plan;
EXECUTE one(7);
EXECUTE one(NULL);
EXECUTE several('{7,NULL,3,7}');
EXECUTE several(NULL);
RESET plan_cache_mode;
DO $$
DECLARE
	got bigint;
	wrong int := 0;
	k bigint;
BEGIN
	FOR k IN SELECT _rowid FROM stable ORDER BY 1 LIMIT 30 LOOP
		SELECT id INTO got FROM stable WHERE _rowid = k;
		wrong := wrong + (got IS DISTINCT FROM (SELECT id FROM stable WHERE _rowid + 0 = k))::int;
	END LOOP;
	RAISE INFO '% wrong', wrong;
END $$;

-- Under other names; cursors; a view; rows locked in the other table.
\set uri :root '/stable_rowids.lance'
CREATE FOREIGN TABLE renamed (rid bigint OPTIONS (column_name '_rowid'), again bigint OPTIONS (column_name '_rowid'),
	id bigint) SERVER lookup OPTIONS (uri :'uri');
SELECT explain('SELECT * FROM renamed WHERE again = 450');
SELECT * FROM renamed WHERE again = 450;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT rid FROM renamed WHERE rid IN (1, 450, 3);
FETCH ALL c;
FETCH BACKWARD ALL c;
MOVE ABSOLUTE 0 c;
FETCH 2 c;
COMMIT;
CREATE VIEW careful WITH (security_barrier) AS SELECT * FROM stable WHERE id % 2 = 1;
SELECT explain('SELECT id FROM careful WHERE _rowid IN (3, 4)');
SELECT id FROM careful WHERE _rowid IN (3, 4) ORDER BY id;
SELECT ids.b, m.id FROM ids JOIN many m ON m._rowid = ids.b WHERE ids.b < 30 ORDER BY m.id FOR UPDATE OF ids;
SELECT tableoid::regclass, ctid, _rowid FROM stable WHERE _rowid = 3;
SHOW lance_catalog.row_lookup;

DROP SCHEMA lookup CASCADE;
DROP SERVER lookup;

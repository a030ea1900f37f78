--
-- System columns of foreign tables: row ids, row addresses, the versions that rows stem from.
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
CREATE SERVER row_ids FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA row_ids;
SET search_path = row_ids, public;

\set stable :root '/stable_rowids.lance'
CREATE FOREIGN TABLE stable (id bigint, _rowid bigint, _rowaddr bigint, _row_created_at_version bigint,
	_row_last_updated_at_version bigint) SERVER row_ids OPTIONS (uri :'stable', version '5');
CREATE FOREIGN TABLE compacted (changed bigint OPTIONS (column_name '_row_last_updated_at_version'),
	rid bigint OPTIONS (column_name '_rowid'), again bigint OPTIONS (column_name '_rowid'), id bigint,
	place bigint OPTIONS (column_name '_rowaddr'), made bigint OPTIONS (column_name '_row_created_at_version'))
	SERVER row_ids OPTIONS (uri :'stable');

-- Against what the writer says of each row.
CREATE FUNCTION differences(file text, relation regclass, mapping jsonb) RETURNS TABLE (kind text, rows bigint)
LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format($q$
		WITH wanted AS (SELECT j FROM regexp_split_to_table(rtrim(pg_read_file(%L), E'\n'), E'\n') AS l (line),
				LATERAL (SELECT line::jsonb AS j) AS x),
			got AS (SELECT (SELECT jsonb_object_agg(k, to_jsonb(t) -> c) FROM jsonb_each_text(%L) AS m (k, c)) AS j
				FROM %s AS t)
		SELECT 'wanted', count(*) FROM wanted
		UNION ALL SELECT 'missing', count(*) FROM (SELECT j FROM wanted EXCEPT ALL SELECT j FROM got) AS m
		UNION ALL SELECT 'unexpected', count(*) FROM (SELECT j FROM got EXCEPT ALL SELECT j FROM wanted) AS u
	$q$, file, mapping, relation);
END $$;
-- Plans without the folder that the tests happen to lie in.
CREATE FUNCTION explain(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS off) ' || query LOOP
		IF line !~ 'Lance Dataset' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
\set file :fixtures '/stable_rowids.rowids.jsonl'
SELECT * FROM differences(:'file', 'stable', '{"id": "id", "_rowid": "_rowid", "_rowaddr": "_rowaddr",
	"_row_created_at_version": "_row_created_at_version",
	"_row_last_updated_at_version": "_row_last_updated_at_version"}');
\set file :fixtures '/stable_rowids@compacted.rowids.jsonl'
SELECT * FROM differences(:'file', 'compacted', '{"id": "id", "_rowid": "again", "_rowaddr": "place",
	"_row_created_at_version": "made", "_row_last_updated_at_version": "changed"}');
SELECT count(*), count(DISTINCT rid), bool_and(rid = again) FROM compacted;

-- Ids outlive a compaction, addresses don't; a join of the two versions by row id.
SELECT count(*), count(*) FILTER (WHERE s.id = c.id), count(*) FILTER (WHERE s._rowaddr = c.place)
	FROM stable s JOIN compacted c ON c.rid = s._rowid;
SELECT _row_created_at_version AS made, _row_last_updated_at_version AS changed, count(*) FROM stable
	GROUP BY 1, 2 ORDER BY 1, 2;

-- Only what is asked for; without the dataset's own columns, with a filter, in a rescan, as a whole row.
SELECT explain('SELECT _rowaddr FROM stable WHERE _rowid > 10');
SELECT sum(_rowid) = (SELECT sum(rid) FROM compacted) AS same FROM stable;
SELECT v.n, t.* FROM (VALUES (3), (5)) AS v (n), LATERAL (SELECT id, _rowid, _rowaddr FROM stable
	WHERE _rowid % v.n = 2 ORDER BY _rowid LIMIT 1) AS t;
SELECT s FROM stable s ORDER BY _rowid LIMIT 1;
ANALYZE stable;
SELECT attname, null_frac FROM pg_stats WHERE schemaname = 'row_ids' ORDER BY attname COLLATE "C";

-- Without stable row ids the id is the address; no versions are kept.
\set deleted :root '/del_arrow.lance'
CREATE FOREIGN TABLE deleted (id bigint, _rowid bigint, _rowaddr bigint, _row_created_at_version bigint)
	SERVER row_ids OPTIONS (uri :'deleted');
\set file :fixtures '/del_arrow.rowaddr.jsonl'
SELECT * FROM differences(:'file', 'deleted', '{"id": "id", "_rowid": "_rowid", "_rowaddr": "_rowaddr"}');
SELECT DISTINCT _row_created_at_version FROM deleted;

-- Ids and versions that lie in hidden columns of the data files.
\set lineage :root '/lineage.lance'
CREATE FOREIGN TABLE lineage (id bigint, _rowid bigint, _rowaddr bigint, _row_created_at_version bigint,
	_row_last_updated_at_version bigint) SERVER row_ids OPTIONS (uri :'lineage');
\set file :fixtures '/lineage.rowids.jsonl'
SELECT * FROM differences(:'file', 'lineage', '{"id": "id", "_rowid": "_rowid", "_rowaddr": "_rowaddr",
	"_row_created_at_version": "_row_created_at_version",
	"_row_last_updated_at_version": "_row_last_updated_at_version"}');
SELECT id, _rowid FROM lineage WHERE _rowid IN (26, 28, 12345) ORDER BY id;

-- Ids beyond bigint are an error, not another number; the rows before them are fine.
\set high :root '/high_rowids.lance'
CREATE FOREIGN TABLE high (id bigint, _rowid bigint, _rowaddr bigint) SERVER row_ids OPTIONS (uri :'high');
SELECT id, _rowaddr FROM high;
SELECT id, _rowid FROM high LIMIT 2;
SELECT _rowid FROM high;

-- A refresh keeps them.
SELECT lance_refresh_table('deleted') > 0 AS added, lance_refresh_table('deleted') AS again;
SELECT attname FROM pg_attribute WHERE attrelid = 'deleted'::regclass AND attnum > 0 AND NOT attisdropped
	ORDER BY attnum;

-- Declared by the functions and by import: all, some, none.
CREATE FUNCTION columns(relation regclass) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(attname || ' ' || atttypid::regtype || coalesce(' ' || attfdwoptions::text, ''), ', ' ORDER BY attnum)
	FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped;
$$;
\set own :root '/own_rowid.lance'
SELECT columns(lance_attach_dataset(:'stable', 'row_ids', 'row_ids', 'every', system_columns => 'true'));
SELECT columns(lance_attach_dataset(:'stable', 'row_ids', 'row_ids', 'two', system_columns => ' _rowaddr ,_rowid, _rowid'));
SELECT columns(lance_attach_dataset(:'stable', 'row_ids', 'row_ids', 'none', system_columns => 'off'));
SELECT columns(lance_attach_dataset(:'stable', 'row_ids', 'row_ids', 'null', system_columns => NULL));
SELECT count(*), sum(_rowid), min(_row_created_at_version), max(_row_last_updated_at_version) FROM every;
SELECT lance_attach_dataset(:'stable', 'row_ids', 'row_ids', 'bad', system_columns => '_rowid, ctid');
SELECT lance_attach_dataset(:'stable', 'row_ids', 'row_ids', 'bad', system_columns => '');
SELECT lance_attach_dataset(:'stable', 'row_ids', 'row_ids', 'bad', system_columns => '_rowid,,');
SET client_min_messages = notice;
SELECT columns(lance_attach_dataset(:'own', 'row_ids', 'row_ids', 'own', system_columns => 'true'));
SET client_min_messages = warning;
SELECT * FROM own WHERE _rowid = 'b';
SELECT explain('SELECT id FROM own WHERE _rowid = ''b''');
SELECT lance_create_namespace('rows', properties => '{"server": "row_ids"}');
SELECT lance_register_table('rows$stable', 'stable_rowids.lance') IS NOT NULL AS registered;
CREATE SCHEMA imported;
IMPORT FOREIGN SCHEMA rows FROM SERVER row_ids INTO imported OPTIONS (system_columns '_rowid');
SELECT columns('imported.stable');
SELECT columns(lance_attach_table('rows$stable', 'row_ids', 'of_table', system_columns => '_rowid'));
SELECT lance_refresh_table('of_table');
IMPORT FOREIGN SCHEMA rows FROM SERVER row_ids INTO imported OPTIONS (system_columns 'maybe');
IMPORT FOREIGN SCHEMA rows FROM SERVER row_ids INTO imported OPTIONS (system_column 'true');
DROP SCHEMA imported CASCADE;
SELECT lance_deregister_table('rows$stable') IS NOT NULL AS deregistered;
SELECT lance_drop_namespace('rows');

-- They are bigint, and there are no others.
CREATE FOREIGN TABLE bad (_rowid integer) SERVER row_ids OPTIONS (uri :'deleted');
SELECT * FROM bad;
CREATE FOREIGN TABLE worse (_rowoffset bigint) SERVER row_ids OPTIONS (uri :'deleted');
\set VERBOSITY terse
SELECT * FROM worse;
\set VERBOSITY default
DROP SCHEMA row_ids CASCADE;
DROP SERVER row_ids;

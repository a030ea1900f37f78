--
-- Long histories: pages in both orders, with what is deleted, gone, or written past the catalog.
--
-- Files under final names, all at once; and a walk through all pages, each call with the last version of the page before.
CREATE FUNCTION t.write_versions(id text, folder text, versions bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT %L || ''/'' || substr(t.v2(v), 11) FROM unnest(%L::bigint[]) v) TO PROGRAM %L',
		t.location(id) || '/' || folder, versions,
		format('mkdir -p ''%1$s/%2$s'' && xargs touch', t.location(id), folder));
END
$$;
CREATE FUNCTION t.remove_versions(id text, versions bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT %L || ''/'' || t.v2(v) FROM unnest(%L::bigint[]) v) TO PROGRAM ''xargs rm''',
		t.location(id), versions);
END
$$;
CREATE FUNCTION t.walk(id text, descending boolean, size bigint, branch text DEFAULT NULL) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	seen bigint[] := '{}';
	page bigint[];
BEGIN
	LOOP
		page := ARRAY(SELECT version FROM lance_list_table_versions(id, descending => walk.descending, "limit" => size::integer,
			page_token => seen[cardinality(seen)]::text, branch => walk.branch));
		IF cardinality(page) > size THEN
			RAISE EXCEPTION 'a page of % holds %', size, cardinality(page);
		END IF;
		seen := seen || page;
		EXIT WHEN cardinality(page) < size;
	END LOOP;
	RETURN seen;
END
$$;
-- Every walk must give these versions: pages of one, of all but one, of all, of one more, and others.
CREATE FUNCTION t.check_walks(id text, expected bigint[], branch text DEFAULT NULL, sizes bigint[] DEFAULT '{1,7}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint := cardinality(expected);
	backwards bigint[] := ARRAY(SELECT v FROM unnest(expected) v ORDER BY v DESC);
	size bigint;
BEGIN
	FOREACH size IN ARRAY sizes || ARRAY[n - 1, n, n + 1] LOOP
		IF t.walk(id, false, size, branch) <> expected THEN
			RETURN format('up by %s: %s', size, t.walk(id, false, size, branch));
		END IF;
		IF t.walk(id, true, size, branch) <> backwards THEN
			RETURN format('down by %s: %s', size, t.walk(id, true, size, branch));
		END IF;
	END LOOP;
	IF ARRAY(SELECT version FROM lance_list_table_versions(id, branch => check_walks.branch)) <> expected THEN
		RETURN 'all at once';
	END IF;
	IF (SELECT version FROM lance_describe_table_version(id, branch => check_walks.branch)) <> backwards[1] THEN
		RETURN 'the newest';
	END IF;
	RETURN format('%s versions from %s to %s', n, expected[1], backwards[1]);
END
$$;
CREATE FUNCTION t.without(last bigint, VARIADIC gone bigint[] DEFAULT '{}') RETURNS bigint[] LANGUAGE sql AS
	'SELECT array_agg(v ORDER BY v) FROM generate_series(1, $1) v WHERE v <> ALL (gone)';
-- The same for a table whose clients commit through the catalog and for one whose clients do not.
SELECT 1 FROM lance_declare_table('hm', properties => '{"managed_versioning": "true"}');
SELECT 1 FROM lance_declare_table('hp', properties => '{"managed_versioning": "false"}');
SELECT t.write_versions(id, '_versions', t.without(38)) FROM unnest(ARRAY['hm', 'hp']) id;
SELECT id, t.check_walks(id, t.without(38)) FROM unnest(ARRAY['hm', 'hp']) id;
-- Recorded by the first commit.
SELECT t.create_version(id, 39, 'x'), t.create_version(id, 40, 'y') FROM unnest(ARRAY['hm', 'hp']) id;
SELECT id, t.check_walks(id, t.without(40)) FROM unnest(ARRAY['hm', 'hp']) id;
-- Some deleted, some gone, at the ends of pages too.
SELECT lance_delete_table_versions(id, '{[5,9),[20,22),[33,34)}') FROM unnest(ARRAY['hm', 'hp']) id;
SELECT t.remove_versions(id, '{12,30,31}') FROM unnest(ARRAY['hm', 'hp']) id;
SELECT id, t.check_walks(id, t.without(40, 5, 6, 7, 8, 12, 20, 21, 30, 31, 33)) FROM unnest(ARRAY['hm', 'hp']) id;
SELECT failed FROM lance_run_cleanup();
SELECT id, t.check_walks(id, t.without(40, 5, 6, 7, 8, 12, 20, 21, 30, 31, 33)) FROM unnest(ARRAY['hm', 'hp']) id;
-- Written past the catalog: above, and below, where no row is left.
SELECT t.write_versions(id, '_versions', '{7,41,42}') FROM unnest(ARRAY['hm', 'hp']) id;
SELECT id, t.check_walks(id, t.without(42, 5, 6, 8, 12, 20, 21, 30, 31, 33)) FROM unnest(ARRAY['hm', 'hp']) id;
SELECT t.create_version(id, 43, 'z') FROM unnest(ARRAY['hm', 'hp']) id;
SELECT id, t.check_walks(id, t.without(43, 5, 6, 8, 12, 20, 21, 30, 31, 33)) FROM unnest(ARRAY['hm', 'hp']) id;
-- Tokens beyond both ends, and between versions.
SELECT id, array_agg(version) FROM unnest(ARRAY['hm', 'hp']) id, lance_list_table_versions(id, page_token => '6', "limit" => 2) GROUP BY id ORDER BY id;
SELECT id, array_agg(version) FROM unnest(ARRAY['hm', 'hp']) id, lance_list_table_versions(id, descending => true, page_token => '6', "limit" => 2) GROUP BY id ORDER BY id;
SELECT id, count(version) FROM unnest(ARRAY['hm', 'hp']) id LEFT JOIN LATERAL lance_list_table_versions(id, page_token => '43', "limit" => 2) ON true GROUP BY id ORDER BY id;
SELECT id, array_agg(version) FROM unnest(ARRAY['hm', 'hp']) id, lance_list_table_versions(id, descending => true, page_token => '9223372036854775807', "limit" => 2) GROUP BY id ORDER BY id;
SELECT id, count(version) FROM unnest(ARRAY['hm', 'hp']) id LEFT JOIN LATERAL lance_list_table_versions(id, descending => true, page_token => '1', "limit" => 2) ON true GROUP BY id ORDER BY id;
-- What a transaction has pending is not in the store yet.
BEGIN;
SELECT t.create_version(id, 44, 'p'), t.create_version(id, 45, 'q') FROM unnest(ARRAY['hm', 'hp']) id;
SELECT id, t.check_walks(id, t.without(43, 5, 6, 8, 12, 20, 21, 30, 31, 33)) FROM unnest(ARRAY['hm', 'hp']) id;
COMMIT;
SELECT id, t.check_walks(id, t.without(45, 5, 6, 8, 12, 20, 21, 30, 31, 33)) FROM unnest(ARRAY['hm', 'hp']) id;
-- An intent that a transaction left does not hide what others wrote; what it left itself is not seen on top, nor below.
SELECT t.write(id, replace(t.v2(46), '.manifest', '.0123456789abcdef.intent'), encode(sha256(E'crashed\n'), 'hex')), t.write(id, t.v2(46), 'crashed')
FROM unnest(ARRAY['hm', 'hp']) id;
SELECT id, t.check_walks(id, t.without(45, 5, 6, 8, 12, 20, 21, 30, 31, 33)) FROM unnest(ARRAY['hm', 'hp']) id;
SELECT t.write_versions(id, '_versions', '{47}') FROM unnest(ARRAY['hm', 'hp']) id;
SELECT id, t.check_walks(id, t.without(47, 5, 6, 8, 12, 20, 21, 30, 31, 33, 46)) FROM unnest(ARRAY['hm', 'hp']) id;
-- The first names.
SELECT t.write(id, '_versions/' || v || '.manifest', 'x') FROM generate_series(1, 12) v, (SELECT id FROM unnest(ARRAY['v1m', 'v1p']) id, lance_declare_table(id, properties => jsonb_build_object('managed_versioning', (id = 'v1m')::text))) t;
SELECT t.create_version(id, 13, 'x') FROM unnest(ARRAY['v1m', 'v1p']) id;
SELECT lance_delete_table_versions(id, '{[3,5),[10,11)}') FROM unnest(ARRAY['v1m', 'v1p']) id;
SELECT id, t.check_walks(id, t.without(13, 3, 4, 10)) FROM unnest(ARRAY['v1m', 'v1p']) id;
-- More than a thousand deleted ones, or gone ones, in a row.
SELECT 1 FROM lance_declare_table('hl', properties => '{"managed_versioning": "true"}');
SELECT t.write_versions('hl', '_versions', t.without(2999));
SELECT t.create_version('hl', 3000, 'x');
SELECT t.check_walks('hl', t.without(3000), sizes => '{1000}');
SELECT lance_delete_table_versions('hl', '{[11,2501)}');
SELECT t.check_walks('hl', t.without(10) || ARRAY(SELECT generate_series(2501, 3000)), sizes => '{3,400}');
-- They are passed over, not read.
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT array_agg(version) FROM lance_list_table_versions('hl', page_token => '9', "limit" => 3);
SELECT array_agg(version) FROM lance_list_table_versions('hl', descending => true, page_token => '2502', "limit" => 3);
SELECT idx_tup_fetch < 100 AS few FROM pg_stat_xact_user_tables WHERE schemaname = 'lance' AND relname = 'version_entry';
COMMIT;
SELECT failed FROM lance_run_cleanup();
SELECT t.check_walks('hl', t.without(10) || ARRAY(SELECT generate_series(2501, 3000)), sizes => '{3,400}');
SELECT t.remove_versions('hl', ARRAY(SELECT generate_series(2502, 2990)));
SELECT t.check_walks('hl', t.without(10) || 2501 || ARRAY(SELECT generate_series(2991, 3000)), sizes => '{3,400}');
SELECT t.create_version('hl', 3001, 'y');
SELECT t.check_walks('hl', t.without(10) || 2501 || ARRAY(SELECT generate_series(2991, 3001)), sizes => '{3,400}');
-- A hint leads on where a client cleaned up all that lies between, past the catalog.
SELECT t.write_versions('hl', '_versions', '{3100}'), t.write('hl', '_versions/latest_version_hint.json', '{"version":3100}');
SELECT t.check_walks('hl', t.without(10) || 2501 || ARRAY(SELECT generate_series(2991, 3001)) || 3100, sizes => '{3,400}');
SELECT t.create_version('hl', 3002, 'z'), t.create_version('hl', 3101, 'z');
-- One that is damaged, ahead of what is there or behind it does not matter.
SELECT text, t.write('hl', '_versions/latest_version_hint.json', text), (SELECT version FROM lance_describe_table_version('hl')) AS newest
FROM unnest(ARRAY['{"version":4000}', '{"version":5}', '{"version":-1}', '{"version":"3100"}', '{', '', '[3100]']) text;
-- What is known of a folder that has rested is forgotten with its next change.
SELECT 1 FROM lance_declare_table('hr', properties => '{"managed_versioning": "false"}');
SELECT t.write_versions('hr', '_versions', t.without(50));
SELECT pg_sleep(1.2);
SELECT t.check_walks('hr', t.without(50)), t.check_walks('hr', t.without(50));
SELECT version FROM lance_describe_table_version('hr', 20);
SELECT t.remove_versions('hr', '{50,20}');
SELECT t.check_walks('hr', t.without(49, 20)), t.try($$SELECT * FROM lance_describe_table_version('hr', 20)$$);
SELECT pg_sleep(1.2);
SELECT t.check_walks('hr', t.without(49, 20)), t.check_walks('hr', t.without(49, 20));
SELECT t.write_versions('hr', '_versions', '{20,50,51}');
SELECT t.check_walks('hr', t.without(51)), t.check_walks('hr', t.without(51));
SELECT pg_sleep(1.2);
SELECT lance_delete_table_versions('hr', '{[10,20)}');
SELECT t.check_walks('hr', t.without(51, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19));
SELECT failed FROM lance_run_cleanup();
SELECT t.check_walks('hr', t.without(51, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19));
-- Trimming what is on record and what is not, around versions that tags keep: undone, and done.
CREATE FUNCTION t.rows_of(id text) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s rows, %s deleted, %s adopted', count(*), count(*) FILTER (WHERE v.deleted), count(*) FILTER (WHERE v.adopted))
	FROM lance.version_entry v JOIN lance.tables t USING (table_id) WHERE t.table_name = id
$$;
CREATE FUNCTION t.runs_of(id text) RETURNS SETOF int8multirange LANGUAGE sql AS $$
	SELECT i.deleted_versions FROM lance.cleanup_item i JOIN lance.tables t USING (table_id)
	WHERE t.table_name = id AND i.kind = 'versions' ORDER BY i.item_id
$$;
SELECT 1 FROM lance_declare_table('htm', properties => '{"managed_versioning": "true"}');
SELECT 1 FROM lance_declare_table('htp', properties => '{"managed_versioning": "false"}');
SELECT t.write_versions(id, '_versions', t.without(300)) FROM unnest(ARRAY['htm', 'htp']) id;
SELECT t.create_version(id, 301, 'x'), t.create_version(id, 302, 'y') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT t.write_versions(id, '_versions', ARRAY(SELECT generate_series(303, 700))) FROM unnest(ARRAY['htm', 'htp']) id;
SELECT lance_create_table_tag(id, 'old', 150), lance_create_table_tag(id, 'new', 450) FROM unnest(ARRAY['htm', 'htp']) id;
BEGIN;
SELECT id, lance_delete_table_versions(id, '{[1,690)}') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, t.rows_of(id), t.check_walks(id, '{150,450}' || ARRAY(SELECT generate_series(690, 700)::bigint)) FROM unnest(ARRAY['htm', 'htp']) id;
ROLLBACK;
SELECT id, t.rows_of(id), t.check_walks(id, t.without(700), sizes => '{301}') FROM unnest(ARRAY['htm', 'htp']) id;
BEGIN;
SAVEPOINT all_of_it;
SELECT id, lance_delete_table_versions(id, '{(,)}') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, t.rows_of(id), t.check_walks(id, '{150,450,700}') FROM unnest(ARRAY['htm', 'htp']) id;
ROLLBACK TO all_of_it;
SELECT id, lance_delete_table_versions(id, '{[1,690)}') FROM unnest(ARRAY['htm', 'htp']) id;
COMMIT;
SELECT id, t.rows_of(id), t.runs_of(id), t.check_walks(id, '{150,450}' || ARRAY(SELECT generate_series(690, 700)::bigint)) FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, lance_delete_table_versions(id, '{[1,690)}') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT lance_delete_table_tag(id, 'old') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, lance_delete_table_versions(id, '{[1,690)}') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, t.rows_of(id), t.runs_of(id), t.check_walks(id, '{450}' || ARRAY(SELECT generate_series(690, 700)::bigint)) FROM unnest(ARRAY['htm', 'htp']) id;
SELECT t.create_version(id, 701, 'z') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT failed FROM lance_run_cleanup();
SELECT id, t.rows_of(id), (SELECT count(*) FROM t.runs_of(id)), t.check_walks(id, '{450}' || ARRAY(SELECT generate_series(690, 701)::bigint)) FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, lance_delete_table_versions(id, '{[1,690)}') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT t.write_versions(id, '_versions', ARRAY(SELECT generate_series(200, 205))) FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, t.check_walks(id, ARRAY(SELECT generate_series(200, 205)::bigint) || '{450}' || ARRAY(SELECT generate_series(690, 701)::bigint)) FROM unnest(ARRAY['htm', 'htp']) id;
-- A branch that comes back under its name has nothing of the one before, though versions of that still waited for their removal.
SELECT t.write_versions(id, 'tree/again/_versions', ARRAY(SELECT generate_series(451, 800))) FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, lance_delete_table_versions(id, '{[451,790)}', branch => 'again') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT lance_delete_table_branch(id, 'again') FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, t.rows_of(id), t.runs_of(id) FROM unnest(ARRAY['htm', 'htp']) id;
UPDATE lance.cleanup_item SET due_at = 'infinity' WHERE kind = 'versions';
SELECT failed FROM lance_run_cleanup();
SELECT count(*) FROM lance.cleanup_item WHERE kind = 'versions';
SELECT t.write_versions(id, 'tree/again/_versions', ARRAY(SELECT generate_series(451, 800))) FROM unnest(ARRAY['htm', 'htp']) id;
SELECT id, t.check_walks(id, ARRAY(SELECT generate_series(451, 800)::bigint), 'again') FROM unnest(ARRAY['htm', 'htp']) id;
DROP FUNCTION t.rows_of(text), t.runs_of(text);
-- Branches.
SELECT t.write_versions(id, 'tree/dev/x/_versions', ARRAY(SELECT generate_series(20, 60))) FROM unnest(ARRAY['hm', 'hp']) id;
SELECT lance_delete_table_versions(id, '{[20,21),[30,40)}', branch => 'dev/x') FROM unnest(ARRAY['hm', 'hp']) id;
SELECT id, t.check_walks(id, ARRAY(SELECT generate_series(21, 29)) || ARRAY(SELECT generate_series(40, 60)), 'dev/x') FROM unnest(ARRAY['hm', 'hp']) id;
SELECT t.try(format('SELECT * FROM lance_list_table_versions(%L, branch => ''none'', "limit" => 5)', id)) FROM unnest(ARRAY['hm', 'hp']) id;
SELECT count(lance_drop_table(id)) FROM unnest(ARRAY['hm', 'hp', 'hl', 'hr', 'htm', 'htp', 'v1m', 'v1p']) id;
SELECT failed FROM lance_run_cleanup();

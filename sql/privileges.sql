--
-- Privileges on namespaces and tables: who has which, what is hidden, what goes with a role. What each operation needs is in
-- test/t/privileges.pl, by the table of docs/security.md.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set fixtures :fixtures '/data'
\set fixture_root file:// :fixtures
\set docs :fixtures '/many_versions.lance'
\set one_row :fixtures '/one_row.lance'
SET client_min_messages = warning;
CREATE ROLE p_reader;
CREATE ROLE p_writer;
CREATE ROLE p_admin;
CREATE ROLE p_none;
CREATE ROLE p_group;
CREATE ROLE p_member IN ROLE p_group;
CREATE ROLE p_heir IN ROLE p_member;
CREATE ROLE p_loner NOINHERIT IN ROLE p_group;
GRANT USAGE ON SCHEMA t, lance TO PUBLIC;
GRANT SELECT ON t.setting TO PUBLIC;
CREATE SERVER p_files FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'fixture_root');
GRANT USAGE ON FOREIGN SERVER p_files TO PUBLIC;
-- EXECUTE on everything for everybody here: it opens nothing.
CREATE FUNCTION t.execute_all(who text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	f regprocedure;
BEGIN
	FOR f IN SELECT oid FROM pg_proc WHERE proname ~ '^lance_' AND proacl IS NOT NULL LOOP
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', f, who);
	END LOOP;
END
$$;
SELECT t.execute_all('p_reader, p_writer, p_admin, p_none, p_group, p_member, p_heir, p_loner');
-- What a role may do: nothing, SEE, read, write, admin.
CREATE FUNCTION t.may(id text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	kind text := CASE WHEN id IN ('$', 'p', 'p$a', 'p$a$deep', 'p$b', 'q') THEN 'namespace' ELSE 'table' END;
	result text := 'hidden';
BEGIN
	BEGIN
		EXECUTE format('SELECT lance_%s_exists(%L)', kind, id);
		result := 'seen';
	EXCEPTION WHEN OTHERS THEN
		IF SQLSTATE NOT IN ('LN001', 'LN004') THEN RETURN SQLERRM; END IF;
	END;
	BEGIN
		PERFORM lance_grant('p_none', 'read', id);
		RAISE EXCEPTION 'admin' USING ERRCODE = 'P0001';
	EXCEPTION WHEN raise_exception THEN
		RETURN 'admin';
	WHEN OTHERS THEN
		IF (result = 'hidden') <> (SQLSTATE = 'LN004') THEN RETURN 'differs: ' || SQLERRM; END IF;
	END;
	BEGIN
		IF kind = 'namespace' THEN
			PERFORM lance_create_namespace(ltrim(id || '$', '$') || 'new');
		ELSE
			PERFORM lance_delete_table_versions(id, '{[100,101)}');
		END IF;
		RAISE EXCEPTION 'write' USING ERRCODE = 'P0001';
	EXCEPTION WHEN raise_exception THEN
		RETURN 'write';
	WHEN OTHERS THEN
		IF SQLSTATE NOT IN ('42501', 'LN001', 'LN004') THEN RETURN SQLERRM; END IF;
	END;
	IF result = 'seen' AND (kind = 'table' OR (SELECT readable FROM lance.namespace_in_sight s WHERE s.path = string_to_array(nullif(id, '$'), '$')
			OR (id = '$' AND s.path = '{}'))) THEN
		RETURN 'read';
	END IF;
	RETURN result;
END
$$;
GRANT SELECT ON lance.namespace_in_sight TO PUBLIC;
CREATE FUNCTION t.may_all(who name) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', who);
	SELECT string_agg(id || '=' || t.may(id), ' ' ORDER BY n) INTO result
	FROM unnest('{$,p,p$a,p$a$t,p$a$u,p$a$deep,p$a$deep$v,p$b,p$b$w,q}'::text[]) WITH ORDINALITY i (id, n);
	RESET ROLE;
	RETURN result;
END
$$;
SELECT lance_create_namespace(i) FROM unnest('{p,p$a,p$a$deep,p$b,q}'::text[]) i;
SELECT count(*) FROM unnest('{p$a$t,p$a$u,p$a$deep$v,p$b$w}'::text[]) i, lance_declare_table(i);
-- ---- levels
SELECT t.may_all('p_none');
-- Inherited downward; of a table only that table; the way there is seen.
SELECT lance_grant('p_reader', 'read', 'p$a');
SELECT t.may_all('p_reader');
SELECT lance_grant('p_reader', 'write', 'p$b$w');
SELECT t.may_all('p_reader');
SELECT lance_grant('p_writer', 'write', 'p$a$deep');
SELECT t.may_all('p_writer');
SELECT lance_grant('p_admin', 'admin', 'p');
SELECT t.may_all('p_admin');
-- The highest of all holds; what is taken leaves the others.
SELECT lance_grant('p_writer', 'read', 'p'), lance_grant('p_writer', 'admin', 'p$a$deep$v');
SELECT t.may_all('p_writer');
SELECT lance_revoke('p_writer', 'write', 'p$a$deep'), lance_revoke('p_writer', 'write', 'p$a$deep'), lance_revoke('p_writer', 'admin', 'p$a$deep$v');
SELECT t.may_all('p_writer');
SELECT lance_revoke('p_writer', 'read', 'p');
SELECT t.may_all('p_writer');
-- The root.
SELECT lance_grant('p_writer', 'read');
SELECT t.may_all('p_writer');
SELECT lance_revoke('p_writer', 'read');
-- Through roles: a member's member has it, who does not inherit has not, until he takes the role.
SELECT lance_grant('p_group', 'write', 'p$b');
SELECT t.may_all('p_member'), t.may_all('p_heir');
SELECT t.may_all('p_loner');
SELECT t.may_all('p_group');
REVOKE p_group FROM p_member;
SELECT t.may_all('p_member');
SELECT lance_revoke('p_group', 'write', 'p$b');
-- The owner of the database, as a role; superusers, and who has the privileges of the extension's owner.
CREATE ROLE p_super SUPERUSER;
SELECT t.may_all('p_super');
SELECT format('GRANT %I TO p_none', extowner::regrole) FROM pg_extension WHERE extname = 'lance_catalog' \gexec
SELECT t.may_all('p_none');
SELECT format('REVOKE %I FROM p_none', extowner::regrole) FROM pg_extension WHERE extname = 'lance_catalog' \gexec
-- ---- refused by name, or not there, in the same words
CREATE FUNCTION t.same(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hidden text := t.try(format(command, 'p$a$t', 'p$a'));
	missing text := replace(t.try(format(command, 'p$zzz$t', 'p$zzz')), 'p$zzz', 'p$a');
BEGIN
	IF hidden = missing THEN RETURN 'same ' || left(hidden, 5); END IF;
	RETURN hidden || ' is not ' || missing;
END
$$;
SET ROLE p_none;
SELECT DISTINCT t.same(c) FROM unnest(ARRAY[
	'SELECT lance_table_exists(%1$L)', 'SELECT lance_describe_table(%1$L)', 'SELECT lance_describe_table(%1$L, load_detailed_metadata => true)',
	'SELECT lance_list_table_versions(%1$L)', 'SELECT lance_describe_table_version(%1$L)', 'SELECT lance_get_table_stats(%1$L)',
	'SELECT lance_list_table_tags(%1$L)', 'SELECT lance_get_table_tag_version(%1$L, ''x'')', 'SELECT lance_list_table_branches(%1$L)',
	'SELECT lance_describe_transaction(%1$L || ''$1'')', 'SELECT lance_dataset_columns(%1$L)', 'SELECT lance_dataset_versions(%1$L)',
	'SELECT lance_attach_table(%1$L, ''t'')', 'SELECT lance_create_table_version(%1$L, 1, ''x'')', 'SELECT lance_create_table_tag(%1$L, ''x'', 1)',
	'SELECT lance_update_table_tag(%1$L, ''x'', 1)', 'SELECT lance_delete_table_tag(%1$L, ''x'')', 'SELECT lance_create_table_branch(%1$L, ''x'')',
	'SELECT lance_delete_table_branch(%1$L, ''x'')', 'SELECT lance_restore_table(%1$L, 1)', 'SELECT lance_update_table_schema_metadata(%1$L, ''{}'')',
	'SELECT lance_update_field_metadata(%1$L, ''[{"path": "a", "metadata": {}}]'')', 'SELECT lance_alter_table_drop_columns(%1$L, ''{a}'')',
	'SELECT lance_alter_table_alter_columns(%1$L, ''[{"path": "a", "rename": "b"}]'')', 'SELECT lance_delete_table_versions(%1$L, ''{[1,2)}'')',
	'SELECT lance_alter_transaction(%1$L || ''$1'', ''[{"setPropertyAction": {"key": "k", "value": "v"}}]'')',
	'SELECT lance_drop_table(%1$L)', 'SELECT lance_deregister_table(%1$L)', 'SELECT lance_rename_table(%1$L, ''x'')',
	'SELECT lance_grant(''p_none'', ''read'', %1$L)', 'SELECT lance_revoke(''p_none'', ''read'', %1$L)',
	'SELECT lance_create_table_versions(jsonb_build_array(jsonb_build_object(''id'', %1$L, ''version'', 1, ''manifest_path'', ''x'')))',
	'SELECT lance_commit_tables(jsonb_build_array(jsonb_build_object(''deregister_table'', jsonb_build_object(''id'', %1$L))))',
	'SELECT lance_namespace_exists(%2$L)', 'SELECT lance_describe_namespace(%2$L)', 'SELECT lance_list_namespaces(%2$L)', 'SELECT lance_list_tables(%2$L)',
	'SELECT lance_create_namespace(%2$L || ''$x'')', 'SELECT lance_declare_table(%2$L || ''$x'')', 'SELECT lance_register_table(%2$L || ''$x'', ''x.lance'')',
	'SELECT lance_drop_namespace(%2$L)', 'SELECT lance_drop_namespace(%2$L, ''Skip'')', 'SELECT lance_list_abandoned_tables(%2$L)',
	'SELECT lance_drop_abandoned_tables(%2$L)', 'SELECT lance_import_directory(''p_files'', '''', %2$L)']) c;
RESET ROLE;
-- What is seen and may not be changed is named, with what is missing.
SET ROLE p_reader;
SELECT t.try($$SELECT lance_drop_table('p$a$t')$$);
SELECT t.try($$SELECT lance_create_table_tag('p$a$t', 'x', 1)$$);
SELECT t.try($$SELECT lance_create_namespace('p$x')$$);
SELECT t.try($$SELECT lance_drop_namespace('p$a', 'Skip', 'Cascade')$$);
SELECT t.try($$SELECT lance_create_namespace('p$a', 'Overwrite')$$), t.try($$SELECT lance_create_namespace('p$a', 'ExistOk')$$);
RESET ROLE;
-- A name that is taken by what is hidden can't be met: who may write in a namespace may read what is in it.
-- Renaming: admin on the table, write on the namespace that it goes to; what is inherited changes.
SELECT lance_grant('p_writer', 'admin', 'p$a$t');
SET ROLE p_writer;
SELECT t.try($$SELECT lance_rename_table('p$a$t', 'x')$$), t.try($$SELECT lance_rename_table('p$a$t', 't', 'q')$$);
RESET ROLE;
SELECT lance_grant('p_writer', 'write', 'q');
SET ROLE p_writer;
SELECT t.try($$SELECT lance_rename_table('p$a$t', 't', 'q')$$), t.try($$SELECT lance_rename_table('q$t', 'x')$$);
SELECT t.try($$SELECT lance_rename_table('q$x', 't', 'p$a')$$);
RESET ROLE;
SELECT t.may_all('p_reader');
SELECT lance_rename_table('q$x', 't', 'p$a');
SELECT lance_revoke('p_writer', 'admin', 'p$a$t'), lance_revoke('p_writer', 'write', 'q');
-- Who makes something owns it, and may drop it; Overwrite of another's is not his.
SELECT lance_grant('p_writer', 'write', 'q');
SET ROLE p_writer;
SELECT lance_create_namespace('q$mine');
SELECT 1 FROM lance_declare_table('q$mine$t');
SELECT 1 FROM lance_register_table('q$r', 'q_r.lance');
SELECT id, kind, role, privilege, granted_by FROM lance.privileges WHERE role = 'p_writer'::regrole ORDER BY id COLLATE "C", privilege;
SELECT lance_create_namespace('q$mine', 'Overwrite', '{"a": "b"}');
SELECT t.mask(location) FROM lance_register_table('q$r', 'q_r2.lance', 'Overwrite');
RESET ROLE;
SELECT lance_create_namespace('q$root');
SELECT 1 FROM lance_register_table('q$root$r', 'q_root_r.lance');
SET ROLE p_writer;
SELECT t.try($$SELECT lance_create_namespace('q$root', 'Overwrite')$$), t.try($$SELECT lance_register_table('q$root$r', 'q_r3.lance', 'Overwrite')$$);
SELECT t.try($$SELECT count(*) FROM lance_drop_table('q$r')$$), t.try($$SELECT lance_drop_namespace('q$mine')$$), t.try($$SELECT lance_drop_namespace('q$root')$$);
SELECT 1 FROM lance_declare_table('q$kept');
-- What is merely owned opens no way: it is there by its id, and in no list.
RESET ROLE;
SELECT lance_revoke('p_writer', 'write', 'q');
SET ROLE p_writer;
SELECT t.try($$SELECT lance_table_exists('q$kept')$$), t.try($$SELECT lance_list_tables('q')$$);
SELECT count(*) FROM lance_list_all_tables() WHERE id = 'q$kept';
SELECT count(*) FROM lance.tables WHERE table_name = 'kept';
-- The owner grants, and can pass ownership on.
SELECT lance_grant('p_reader', 'read', 'q$kept');
SELECT lance_grant('p_reader', 'owner', 'q$kept');
SELECT t.try($$SELECT lance_table_exists('q$kept')$$);
SET ROLE p_reader;
SELECT id, role, privilege, granted_by FROM lance.privileges WHERE id ~ '^q' ORDER BY privilege;
SELECT count(*) FROM lance_drop_table('q$kept');
RESET ROLE;
SELECT count(*) FROM lance.privilege_entry WHERE entry_id NOT IN (SELECT entry_id FROM lance.catalog_entry);
-- ---- lists
SELECT lance_create_namespace('p$l');
SELECT count(*) FROM generate_series(1, 30) i, lance_declare_table(format('p$l$t%s', to_char(i, 'FM00')));
SELECT count(lance_create_namespace(format('p$l$n%s', to_char(i, 'FM00')))) FROM generate_series(1, 30) i;
SELECT count(lance_grant('p_none', 'read', format('p$l$t%s', to_char(i, 'FM00')))), count(lance_grant('p_none', 'write', format('p$l$n%s', to_char(i + 2, 'FM00'))))
FROM generate_series(5, 23, 6) i;
SELECT 1 FROM lance_declare_table('p$l$n07$deep');
SET ROLE p_none;
SELECT string_agg(name, ',') FROM lance_list_namespaces();
SELECT string_agg(name, ',') FROM lance_list_namespaces('p');
-- Paged, with hidden names between: pages are full, and end.
CREATE FUNCTION pg_temp.pages(what text, id text, n integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	token text;
	page text[];
	result text[];
BEGIN
	LOOP
		EXECUTE format('SELECT array_agg(name) FROM lance_list_%s(%L, %L, %s)', what, id, token, n) INTO page;
		EXIT WHEN page IS NULL;
		result := result || array_to_string(page, ',');
		token := page[cardinality(page)];
	END LOOP;
	RETURN array_to_string(result, ' | ');
END
$$;
SELECT pg_temp.pages('tables', 'p$l', n), pg_temp.pages('namespaces', 'p$l', n) FROM unnest('{1,2,3,5}'::int[]) n;
SELECT string_agg(id, ' ') FROM lance_list_all_tables();
SELECT string_agg(id, ' ') FROM lance_list_all_tables("limit" => 2);
SELECT string_agg(id, ' ') FROM lance_list_all_tables("limit" => 2, page_token => '["p", "l", "n07", "deep"]');
SELECT string_agg(id, ' ') FROM lance_list_all_tables(page_token => '["p", "l", "t10"]');
SELECT string_agg(name, ',') FROM lance_list_tables('p$l', include_declared => false);
SELECT count(*), min("table"), max("table") FROM lance_list_abandoned_tables(older_than => '0');
SELECT count(*) FROM lance_drop_abandoned_tables(older_than => '0');
SELECT string_agg(namespace, ' ' ORDER BY namespace) FROM lance.namespaces;
SELECT string_agg(namespace || '/' || table_name, ' ' ORDER BY path) FROM lance.tables;
SELECT count(*) FROM lance.table_versions;
-- A function of the reader's, however cheap, sees no other rows.
CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$;
SET client_min_messages = notice;
SELECT count(*) FROM lance.tables WHERE pg_temp.leak(table_name) AND table_name = 't05';
SELECT count(*) FROM lance.privileges WHERE pg_temp.leak(id) AND id = 'p$l$t05';
SET client_min_messages = warning;
RESET ROLE;
SELECT lance_grant('p_none', 'admin', 'p$l$n07');
SET ROLE p_none;
SELECT "table" FROM lance_drop_abandoned_tables(older_than => '0');
RESET ROLE;
SELECT lance_drop_namespace('p$l', behavior => 'Cascade');
-- ---- batches: all or nothing
SELECT lance_grant('p_writer', 'write', 'p$a$t'), lance_grant('p_writer', 'read', 'p$a$u');
SELECT t.stage('p$a$t', 1, 'one') AS t1, t.stage('p$a$u', 1, 'one') AS u1 \gset
SET ROLE p_writer;
SELECT t.try(format($$SELECT count(*) FROM lance_create_table_versions('[{"id": "p$a$t", "version": 1, "manifest_path": "%s"},
	{"id": "p$a$u", "version": 1, "manifest_path": "%s"}]')$$, :'t1', :'u1'));
SELECT t.try(format($$SELECT count(*) FROM lance_commit_tables('[{"create_table_version": {"id": "p$a$t", "version": 1, "manifest_path": "%s"}},
	{"deregister_table": {"id": "p$a$t"}}]')$$, :'t1'));
SELECT t.try(format($$SELECT count(*) FROM lance_commit_tables('[{"create_table_version": {"id": "p$a$t", "version": 1, "manifest_path": "%s"}},
	{"declare_table": {"id": "p$a$x"}}]')$$, :'t1'));
SELECT t.try(format($$SELECT count(*) FROM lance_commit_tables('[{"create_table_version": {"id": "p$a$t", "version": 1, "manifest_path": "%s"}},
	{"delete_table_versions": {"id": "p$b$w", "ranges": [{"start_version": 1, "end_version": 2}]}}]')$$, :'t1'));
RESET ROLE;
SELECT t.versions('p$a$t'), t.versions('p$a$u');
-- ---- names that need quoting
CREATE ROLE "p ""x"" $$'\ü; --";
SELECT lance_create_namespace(ARRAY['p', 'a$b''"\%s{0}; --']);
SELECT 1 FROM lance_declare_table(ARRAY['p', 'a$b''"\%s{0}; --', '$$"']);
SELECT lance_grant('"p ""x"" $$''\ü; --"', 'read', ARRAY['p', 'a$b''"\%s{0}; --', '$$"']);
SET ROLE "p ""x"" $$'\ü; --";
SELECT path, privilege FROM lance.privileges ORDER BY privilege;
SELECT t.try($q$SELECT lance_drop_table(ARRAY['p', 'a$b''"\%s{0}; --', '$$"'])$q$);
RESET ROLE;
-- ---- messages name nothing that is hidden
SELECT 1 FROM lance_register_table('p$b$secret', 'hidden_place/t.lance');
SELECT lance_grant('p_writer', 'write', 'q');
SET ROLE p_writer;
SELECT t.try(format($$SELECT lance_register_table('q$x', %L)$$, l)) FROM unnest('{hidden_place/t.lance,hidden_place,hidden_place/t.lance/data}'::text[]) l;
RESET ROLE;
SELECT t.try($$SELECT lance_register_table('q$x', 'hidden_place')$$);
SELECT count(*) FROM lance_drop_table('p$b$secret');
SET ROLE p_writer;
SELECT t.try(format($$SELECT lance_register_table('q$x', %L)$$, l)) FROM unnest('{hidden_place/t.lance,hidden_place}'::text[]) l;
RESET ROLE;
-- ---- foreign tables: at each use, as the role in whose name it is read
SELECT lance_create_namespace('p$f', properties => '{"server": "p_files"}');
SELECT 1 FROM lance_register_table('p$f$docs', 'many_versions.lance');
SELECT 1 FROM lance_declare_table('p$f$other');
CREATE SCHEMA p_s;
GRANT ALL ON SCHEMA p_s TO PUBLIC;
SELECT lance_attach_table('p$f$docs', 'p_s', 'docs');
SELECT lance_attach_dataset(:'docs', 'p_files', 'p_s', 'by_uri');
SELECT lance_attach_dataset(:'one_row', 'p_files', 'p_s', 'other_uri');
GRANT SELECT ON ALL TABLES IN SCHEMA p_s TO PUBLIC;
CREATE FUNCTION t.uris(uri text) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(concat_ws(' || ', t.try('SELECT count(*) FROM p_s.docs'), t.try('SELECT count(*) FROM p_s.by_uri'),
		t.try(format('SELECT count(*) > 0 FROM lance_dataset_columns(%L, ''p_files'')', uri)),
		t.try(format('SELECT count(*) > 0 FROM lance_dataset_versions(%L, ''p_files'')', uri || '/_versions'))), '"[^" ]*/', '"…/', 'g')
$$;
SET ROLE p_none;
SELECT t.uris(:'docs');
SELECT count(*) FROM p_s.other_uri;
SELECT regexp_replace(t.try(format($$SELECT lance_dataset_versions(%L, 'p_files')$$, :'fixtures')), '"[^" ]*/', '"…/', 'g');
SELECT t.try($$SELECT lance_attach_table('p$f$docs', 'p_s', 'd2')$$);
SELECT t.try('IMPORT FOREIGN SCHEMA "p$f" FROM SERVER p_files INTO p_s'), t.try('IMPORT FOREIGN SCHEMA "p$g" FROM SERVER p_files INTO p_s');
CREATE FOREIGN TABLE p_s.d3 (id bigint) SERVER p_files OPTIONS ("table" 'p$f$docs');
SELECT t.try('SELECT * FROM p_s.d3'), t.try('ANALYZE p_s.d3'), t.try($$SELECT lance_refresh_table('p_s.d3')$$), t.try('EXPLAIN SELECT * FROM p_s.d3');
RESET ROLE;
SELECT lance_grant('p_none', 'read', 'p$f$docs');
SET ROLE p_none;
SELECT t.uris(:'docs');
RESET ROLE;
CREATE SCHEMA p_i AUTHORIZATION p_none;
SET ROLE p_none;
IMPORT FOREIGN SCHEMA "p$f" FROM SERVER p_files INTO p_i;
SELECT relname FROM pg_class WHERE relnamespace = 'p_i'::regnamespace;
PREPARE reads AS SELECT count(*) FROM p_s.docs;
EXECUTE reads;
CREATE VIEW p_s.v AS SELECT count(*) FROM p_s.docs;
CREATE VIEW p_s.w AS SELECT * FROM p_s.docs OFFSET 0;
GRANT SELECT ON p_s.v, p_s.w TO PUBLIC;
SET ROLE p_reader;
-- The right is the view owner's.
SELECT t.try('SELECT * FROM p_s.docs'), t.try('SELECT * FROM p_s.v');
-- Where the table lies is not for who uses the view.
CREATE FUNCTION pg_temp.told(query text) RETURNS text LANGUAGE sql AS $$
	SELECT substring(t.try('EXPLAIN (VERBOSE, FORMAT JSON) ' || query) FROM 'Lance Dataset|^[0-9]{5}.*') $$;
SELECT pg_temp.told('SELECT * FROM p_s.v'), pg_temp.told('SELECT * FROM p_s.w');
RESET ROLE;
SELECT pg_temp.told('SELECT * FROM p_s.v'), pg_temp.told('SELECT * FROM p_s.w');
SELECT lance_revoke('p_none', 'read', 'p$f$docs');
SET ROLE p_none;
EXECUTE reads;
RESET ROLE;
SELECT t.try('SELECT * FROM p_s.v'), t.try('SELECT * FROM p_s.docs');
DEALLOCATE reads;
-- A symbolic link is another name of the same place.
SELECT root || '/p_link' AS link, format('ln -sfn %s %s/p_link && cat > /dev/null', t.location('p$a$t'), root) AS command FROM t.setting \gset
COPY (SELECT 1) TO PROGRAM :'command';
GRANT USAGE ON FOREIGN SERVER lake TO p_none;
SET ROLE p_none;
SELECT t.try(format($$SELECT lance_dataset_versions(%L, 'lake')$$, :'link'));
RESET ROLE;
SELECT format('rm %s && cat > /dev/null', :'link') AS command \gset
COPY (SELECT 1) TO PROGRAM :'command';
-- So is a server's root that is one, both for who reads and for who names a location.
SELECT root || '/p_alias' AS alias, root, 'file://' || root || '/p_alias' AS alias_root, format('ln -sfn %1$s %1$s/p_alias && cat > /dev/null', root) AS command,
	substr(t.location('p$a$t'), length(root) + 2) AS below FROM t.setting \gset
COPY (SELECT 1) TO PROGRAM :'command';
CREATE SERVER p_alias FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'alias_root');
GRANT USAGE ON FOREIGN SERVER p_alias TO p_none;
SELECT lance_create_namespace('p_through', properties => '{"server": "p_alias"}');
SELECT lance_create_namespace('p_hidden', properties => '{"server": "p_alias"}');
SELECT count(*) FROM lance_declare_table('p_hidden$t');
SELECT replace(t.location('p_hidden$t'), '/p_alias/', '/') AS place \gset
SELECT lance_grant('p_none', 'write', 'p_through');
SET ROLE p_none;
SELECT t.try(format($$SELECT lance_register_table('p_through$t', %L)$$, :'below'));
SELECT t.try(format($$SELECT lance_register_table('p_through$t', %L)$$, :'below' || '/data'));
SELECT t.try($$SELECT lance_register_table('p_through$t', 'p')$$);
SELECT t.try(format($$SELECT lance_dataset_versions(%L, 'lake')$$, :'place'));
SELECT t.try(format($$SELECT lance_dataset_versions(%L, 'lake')$$, :'root'));
SELECT t.try(format($$SELECT lance_dataset_versions(%L, 'p_alias')$$, :'alias' || '/' || :'below'));
SELECT t.try($$SELECT count(*) FROM lance_declare_table('p_through$own')$$);
-- A location in the way of another namespace's folder locks nobody out there.
SELECT t.try($$SELECT location FROM lance_register_table('p_through$way', 'p_empty')$$);
RESET ROLE;
SELECT lance_create_namespace('p_empty', properties => '{"server": "p_alias"}');
SELECT t.try($$SELECT location FROM lance_declare_table('p_empty$t')$$);
SELECT lance_drop_namespace('p_empty', behavior => 'Cascade');
SELECT t.try(format($$SELECT lance_register_table('q$t', %L)$$, :'place'));
SELECT lance_drop_namespace('p_through', behavior => 'Cascade'), lance_drop_namespace('p_hidden', behavior => 'Cascade');
SELECT t.try(format($$SELECT lance_register_table('q$t', %L)$$, :'place'));
-- ---- dropped roles: their rows mean nothing, are not dumped, and go with the next change
CREATE ROLE p_gone;
SELECT lance_grant('p_gone', 'write', 'q');
SELECT left(t.try('DROP ROLE p_gone'), 5);
DROP OWNED BY p_gone;
DROP ROLE p_gone;
SELECT count(*) FROM lance.privilege_entry WHERE role_id::oid NOT IN (SELECT oid FROM pg_roles);
SELECT count(*) FROM lance.privileges WHERE id = 'q' AND privilege = 'write';
SELECT extcondition[array_position(extconfig, 'lance.privilege_entry'::regclass)] AS condition FROM pg_extension WHERE extname = 'lance_catalog' \gset
SELECT count(*) FROM lance.privilege_entry :condition AND privilege = 'write' AND entry_id = (SELECT entry_id FROM lance.catalog_entry WHERE name = 'q' AND parent_id = 0);
SELECT lance_grant('p_reader', 'read', 'q');
SELECT count(*) FROM lance.privilege_entry WHERE role_id::oid NOT IN (SELECT oid FROM pg_roles);
-- ---- leave nothing
DROP SCHEMA p_s, p_i CASCADE;
SELECT lance_deregister_table('p$f$docs') IS NOT NULL;
SELECT lance_deregister_table('p$f$other') IS NOT NULL;
SELECT lance_drop_namespace('p', behavior => 'Cascade'), lance_drop_namespace('q', behavior => 'Cascade');
DROP SERVER p_files;
SELECT failed FROM lance_run_cleanup();
DROP SERVER p_alias;
SELECT format('rm %s && cat > /dev/null', :'alias') AS command \gset
COPY (SELECT 1) TO PROGRAM :'command';
REVOKE USAGE ON SCHEMA t, lance FROM PUBLIC;
REVOKE SELECT ON t.setting, lance.namespace_in_sight FROM PUBLIC;
DROP FUNCTION t.execute_all, t.may, t.may_all, t.same, t.uris;
SELECT set_config('p.roles', string_agg(quote_ident(rolname), ', '), false) IS NOT NULL AS roles FROM pg_roles WHERE rolname ~ '^p[_ ]';
DO $$ BEGIN EXECUTE 'DROP OWNED BY ' || current_setting('p.roles'); EXECUTE 'DROP ROLE ' || current_setting('p.roles'); END $$;
SELECT count(*) FROM lance.privilege_entry WHERE privilege <> 'owner' AND role_id::oid IN (SELECT oid FROM pg_roles);

--
-- Operations on namespaces.
--
-- The root exists and can neither be made nor dropped.
SELECT lance_describe_namespace('$'), lance_describe_namespace('');
SELECT lance_namespace_exists('$');
SELECT t.try($$SELECT lance_create_namespace('$')$$);
SELECT t.try($$SELECT lance_drop_namespace('$', 'Skip', 'Cascade')$$);
-- Modes, in any spelling.
SELECT lance_create_namespace('ml', properties => '{"owner": "me", "empty": ""}');
SELECT t.try($$SELECT lance_create_namespace('ml')$$);
SELECT t.try($$SELECT lance_create_namespace('ml', 'CREATE')$$);
SELECT lance_create_namespace('ml', m, '{"owner": "you"}') FROM unnest('{ExistOk,EXIST_OK,exist_ok,existok}'::text[]) m;
SELECT lance_create_namespace('new', 'exist_ok', '{"a": "1"}');
SELECT t.try($$SELECT lance_create_namespace('ml', 'sideways')$$);
SELECT lance_describe_namespace('ml');
-- Overwrite empties it.
SELECT lance_create_namespace('ml$child');
SELECT lance_create_namespace('ml$child$deep');
SELECT 1 FROM lance_declare_table('ml$child$deep$t');
SELECT lance_create_namespace('ml', 'overwrite', '{"b": "2"}');
SELECT * FROM lance_list_namespaces('ml');
SELECT count(*) FROM lance.tables;
SELECT kind, t.mask(location) FROM lance.cleanup_queue ORDER BY item_id;
-- Missing ones.
SELECT t.try($$SELECT lance_create_namespace('no$child')$$);
SELECT t.try($$SELECT lance_describe_namespace('no')$$);
SELECT t.try($$SELECT lance_namespace_exists('ml$no')$$);
SELECT t.try($$SELECT * FROM lance_list_namespaces('no')$$);
SELECT t.try($$SELECT * FROM lance_list_tables('no')$$);
SELECT t.try($$SELECT lance_drop_namespace('no')$$);
SELECT t.try($$SELECT lance_drop_namespace('no', 'fail')$$);
SELECT lance_drop_namespace('no', 'SKIP');
SELECT t.try($$SELECT lance_drop_namespace('no', 'maybe')$$);
-- Restrict and Cascade.
SELECT lance_create_namespace('a', properties => '{"p": "q"}');
SELECT lance_create_namespace('a$b');
SELECT lance_create_namespace('ax');
SELECT 1 FROM lance_declare_table('ax$t');
SELECT t.try($$SELECT lance_drop_namespace('a')$$);
SELECT t.try($$SELECT lance_drop_namespace('ax', behavior => 'RESTRICT')$$);
SELECT t.try($$SELECT lance_drop_namespace('ax', behavior => 'sometimes')$$);
SELECT lance_drop_namespace('a', behavior => 'cascade');
SELECT * FROM lance_list_namespaces();
SELECT lance_table_exists('ax$t');
SELECT lance_drop_namespace('ax', behavior => 'Cascade');
-- Pages.
SELECT count(lance_create_namespace('ml$' || n)) FROM unnest('{b,a,c,A,é}'::text[]) n;
SELECT * FROM lance_list_namespaces('ml');
SELECT * FROM lance_list_namespaces('ml', "limit" => 2);
SELECT * FROM lance_list_namespaces('ml', 'a', 2);
SELECT * FROM lance_list_namespaces('ml', 'c', 2);
SELECT * FROM lance_list_namespaces('ml', 'é', 2);
SELECT * FROM lance_list_namespaces('ml', 'no such name', 1);
SELECT t.try($$SELECT * FROM lance_list_namespaces('ml', "limit" => 0)$$);
SELECT t.try($$SELECT * FROM lance_list_namespaces('ml', "limit" => -1)$$);
-- Properties must be texts.
SELECT t.try($$SELECT lance_create_namespace('p', properties => '{"a": 1}')$$);
SELECT t.try($$SELECT lance_create_namespace('p', properties => '["a"]')$$);
SELECT t.try($$SELECT lance_create_namespace('p', properties => '{"": "x"}')$$);
SELECT lance_create_namespace('p', properties => '{"a": null, "b": "\"x''"}');
-- Names: anything but nothing. An array says names that contain the delimiter.
SELECT t.try('SELECT lance_create_namespace(''ml$$x'')');
SELECT t.try($$SELECT lance_create_namespace(NULL::text)$$);
SELECT t.try($$SELECT lance_create_namespace(ARRAY['ml', NULL])$$);
SELECT t.try($$SELECT lance_create_namespace(ARRAY[['ml'], ['x']])$$);
SELECT t.try(format('SELECT lance_create_namespace(%L)', repeat('x', 1025)));
SELECT t.try(format('SELECT lance_describe_namespace(%L)', repeat('x$', 100) || 'x'));
SELECT t.try(format('SELECT lance_create_namespace(%L)', repeat('x', 1024)));
SELECT lance_create_namespace(ARRAY['odd']);
SELECT count(lance_create_namespace(ARRAY['odd', n], properties => jsonb_build_object('name', n)))
FROM unnest(ARRAY['with space', 'a$b', '''; DROP TABLE t; --', '"', '$$', '\', '%s', '{0}', '../..', '.', 'a/b', 'NULL', E'tab\there', '漢字🎉', '*']) n;
SELECT name, lance_describe_namespace(ARRAY['odd', name]) ->> 'name' = name AS same FROM lance_list_namespaces('odd');
SELECT namespace, path FROM lance.namespaces WHERE path[1] = 'odd' ORDER BY path COLLATE "C";
SELECT t.try($$SELECT lance_describe_namespace('odd$a$b')$$);
-- A profile must be one, and the other property a boolean.
SELECT t.try($$SELECT lance_create_namespace('x', properties => '{"server": "nowhere"}')$$);
SELECT t.try($$SELECT lance_create_namespace('x', properties => '{"managed_versioning": "perhaps"}')$$);
-- All within transactions.
BEGIN;
SELECT lance_create_namespace('gone');
ROLLBACK;
SELECT t.try($$SELECT lance_namespace_exists('gone')$$);
BEGIN READ ONLY;
SELECT lance_describe_namespace('ml');
SELECT t.try($$SELECT lance_create_namespace('readonly')$$);
SELECT t.try($$SELECT lance_drop_namespace('ml')$$);
COMMIT;
SELECT count(lance_drop_namespace(ARRAY[name], behavior => 'Cascade')) FROM lance_list_namespaces();
SELECT * FROM lance_list_namespaces();
SELECT done, failed FROM lance_run_cleanup();

--
-- Rights on the operations, granted together.
--
CREATE ROLE reader;
CREATE ROLE "Writer's";
GRANT USAGE ON SCHEMA t TO reader, "Writer's";
GRANT SELECT ON t.setting TO reader, "Writer's";
SELECT lance_grant_access('reader', 'read');
SELECT lance_grant_access('"Writer''s"');
SELECT t.try($$SELECT lance_grant_access('reader', 'rule')$$);
SELECT t.try($$SELECT lance_grant_access('nobody_here')$$);
-- Every operation is in one of the two lists, but for the administrator's.
SELECT DISTINCT p.proname FROM pg_proc p
	JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'lance_catalog'
WHERE NOT has_function_privilege('Writer''s', p.oid, 'EXECUTE') ORDER BY 1;
SELECT DISTINCT p.proname FROM pg_proc p
	JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'lance_catalog'
WHERE has_function_privilege('Writer''s', p.oid, 'EXECUTE') AND NOT has_function_privilege('reader', p.oid, 'EXECUTE') ORDER BY 1;
SET ROLE "Writer's";
SELECT lance_create_namespace('granted');
SELECT lance_create_namespace(ARRAY['granted', 'deep']);
SELECT namespace FROM lance.namespaces WHERE namespace ~ 'granted' ORDER BY 1;
SET ROLE reader;
SELECT * FROM lance_list_namespaces('granted');
SELECT t.try($$SELECT lance_drop_namespace('granted')$$);
-- Who has no right to grant can't.
SELECT t.try($$SELECT lance_grant_access('reader')$$);
RESET ROLE;
SELECT lance_drop_namespace('granted', behavior => 'Cascade');
DROP OWNED BY reader, "Writer's";
DROP ROLE reader, "Writer's";

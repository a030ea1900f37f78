--
-- EXECUTE on the operations comes with a privilege.
--
CREATE ROLE reader;
CREATE ROLE "Writer's";
GRANT USAGE ON SCHEMA t TO reader, "Writer's";
GRANT SELECT ON t.setting TO reader, "Writer's";
SELECT lance_grant('reader', 'read');
SELECT lance_grant('"Writer''s"', 'write');
SELECT t.try($$SELECT lance_grant('reader', 'rule')$$), t.try($$SELECT lance_grant('reader', '')$$), t.try($$SELECT lance_grant('reader', NULL)$$),
	t.try($$SELECT lance_grant(NULL, 'read')$$), t.try($$SELECT lance_grant('reader', 'read', NULL::text)$$);
SELECT t.try($$SELECT lance_grant('nobody_here', 'read')$$), t.try($$SELECT lance_grant('4000000000', 'read')$$);
SELECT t.try($$SELECT lance_grant('reader', 'read', 'no$such')$$), t.try($$SELECT lance_revoke('reader', 'read', 'no$such')$$);
-- Every operation is in one of the two lists, but for the administrator's.
SELECT DISTINCT p.proname FROM pg_proc p
	JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'lance_catalog'
WHERE NOT has_function_privilege('Writer''s', p.oid, 'EXECUTE') ORDER BY 1;
SELECT DISTINCT p.proname FROM pg_proc p
	JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'lance_catalog'
WHERE has_function_privilege('Writer''s', p.oid, 'EXECUTE') AND NOT has_function_privilege('reader', p.oid, 'EXECUTE') ORDER BY 1;
-- A second time changes nothing, not even the rows that hold these rights.
SELECT max(xmin::text::bigint) AS latest FROM pg_proc \gset
SELECT lance_grant('"Writer''s"', 'admin', '$');
SELECT max(xmin::text::bigint) = :latest AS same FROM pg_proc;
SELECT lance_revoke('"Writer''s"', 'admin', '$'), lance_revoke('"Writer''s"', 'admin', '$');
SET ROLE "Writer's";
SELECT lance_create_namespace('granted');
SELECT lance_create_namespace(ARRAY['granted', 'deep']);
SELECT namespace FROM lance.namespaces WHERE namespace ~ 'granted' ORDER BY 1;
SET ROLE reader;
SELECT * FROM lance_list_namespaces('granted');
SELECT t.try($$SELECT lance_drop_namespace('granted')$$);
-- Who has no right to grant can't.
SELECT t.try($$SELECT lance_grant('reader', 'write')$$);
RESET ROLE;
SELECT lance_drop_namespace('granted', behavior => 'Cascade');
DROP OWNED BY reader, "Writer's";
DROP ROLE reader, "Writer's";

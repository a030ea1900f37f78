--
-- Foreign tables of catalog tables: IMPORT FOREIGN SCHEMA, lance_attach_table, time travel through the catalog.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set fixtures :fixtures '/data'
\set root file:// :fixtures
CREATE EXTENSION IF NOT EXISTS lance_catalog;
CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE SCHEMA imported;
CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
BEGIN
	EXECUTE command;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
	RETURN SQLSTATE || ' ' || regexp_replace(message, '(file:/)?/[^" ]*/', '.../', 'g');
END $$;
CREATE VIEW tables AS SELECT relname, ftoptions FROM pg_foreign_table JOIN pg_class ON oid = ftrelid
	WHERE relnamespace = 'imported'::regnamespace ORDER BY relname COLLATE "C";

SELECT lance_create_namespace('ml', properties => '{"server": "local"}');
SELECT lance_create_namespace('ml$deep');
SELECT lance_register_table('ml$docs', 'many_versions.lance') IS NOT NULL AS registered;
SELECT lance_register_table('ml$"Odd', 'one_row.lance') IS NOT NULL AS registered;
SELECT lance_register_table(ARRAY['ml', 'a$b'], 'empty_v22.lance') IS NOT NULL AS registered;
SELECT lance_register_table('ml$refused', 'refuse_unknown_flag.lance') IS NOT NULL AS registered;
SELECT lance_register_table('ml$deep$frag', 'multifrag_p14_default.lance') IS NOT NULL AS registered;
SELECT lance_declare_table('ml$later') IS NOT NULL AS declared;

-- All tables of one namespace; what can't be made is left out with a word.
IMPORT FOREIGN SCHEMA ml FROM SERVER local INTO imported;
SELECT * FROM tables;
SELECT count(*) FROM imported.docs;
SELECT count(*) FROM imported."""Odd";
SELECT count(*) FROM imported."a$b";
DROP FOREIGN TABLE imported.docs, imported."a$b";

-- LIMIT TO, EXCEPT, deeper namespaces, another delimiter.
IMPORT FOREIGN SCHEMA ml LIMIT TO (docs, nothing) FROM SERVER local INTO imported;
SELECT * FROM tables;
DROP FOREIGN TABLE imported.docs;
IMPORT FOREIGN SCHEMA ml EXCEPT (docs, """Odd", refused) FROM SERVER local INTO imported;
IMPORT FOREIGN SCHEMA "ml$deep" FROM SERVER local INTO imported;
SELECT * FROM tables;
SELECT count(*) FROM imported.frag;
DROP FOREIGN TABLE imported.frag;
IMPORT FOREIGN SCHEMA "ml/deep" FROM SERVER local INTO imported OPTIONS (delimiter '/');
SELECT count(*) FROM imported.frag;
IMPORT FOREIGN SCHEMA "ml" FROM SERVER local INTO imported OPTIONS (delimeter '/');
IMPORT FOREIGN SCHEMA missing FROM SERVER local INTO imported;
IMPORT FOREIGN SCHEMA "ml$$x" FROM SERVER local INTO imported;

-- One table.
SELECT lance_attach_table('ml$docs', 'imported');
SELECT lance_attach_table('ml$docs', 'imported', 'docs_2', version => 2);
SELECT lance_attach_table('ml$docs', 'imported', 'docs_now', as_of => '2100-01-01 00:00:00+00');
SELECT (SELECT count(*) FROM imported.docs), (SELECT count(*) FROM imported.docs_2),
	(SELECT count(*) FROM imported.docs_now);
SELECT try('SELECT lance_attach_table(''ml$docs'', ''imported'', ''x'', version => 99)'),
	try('SELECT lance_attach_table(''ml$later'', ''imported'')'), try('SELECT lance_attach_table(''ml$none'', ''imported'')'),
	try('SELECT lance_attach_table('''', ''imported'')');

-- A table that was renamed or is gone.
SELECT lance_rename_table('ml$docs', 'papers');
SELECT try('SELECT * FROM imported.docs');
ALTER FOREIGN TABLE imported.docs OPTIONS (SET table 'ml$papers');
SELECT count(*) FROM imported.docs;
SELECT lance_deregister_table('ml$papers') IS NOT NULL AS deregistered;
SELECT try('SELECT * FROM imported.docs');

-- USAGE on the table's own server, when the foreign table is of another one.
SELECT lance_register_table('ml$docs', 'many_versions.lance') IS NOT NULL AS registered;
CREATE SERVER fdw_other FOREIGN DATA WRAPPER lance_fdw OPTIONS (root '/nowhere/at/all');
CREATE ROLE regress_lance_reader;
GRANT USAGE ON FOREIGN SERVER fdw_other TO regress_lance_reader;
GRANT USAGE, CREATE ON SCHEMA imported TO regress_lance_reader;
SELECT lance_grant('regress_lance_reader', 'read', 'ml$docs');
SET ROLE regress_lance_reader;
CREATE FOREIGN TABLE imported.sneaky (id bigint) SERVER fdw_other OPTIONS (table 'ml$docs');
SELECT try('SELECT * FROM imported.sneaky');
SELECT try('SELECT lance_attach_table(''ml$docs'', ''imported'', ''z'')');
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER local TO regress_lance_reader;
SET ROLE regress_lance_reader;
SELECT count(*) FROM imported.sneaky;
RESET ROLE;

SET client_min_messages = warning;
DROP OWNED BY regress_lance_reader;
DROP ROLE regress_lance_reader;
DROP SCHEMA imported CASCADE;
SELECT lance_deregister_table(id) IS NOT NULL FROM unnest(ARRAY['ml$docs', 'ml$"Odd', 'ml$refused', 'ml$deep$frag']) id;
SELECT lance_deregister_table(ARRAY['ml', 'a$b']) IS NOT NULL;
SELECT lance_drop_namespace('ml', behavior => 'Cascade');
DROP SERVER local, fdw_other;
DROP FUNCTION try(text);

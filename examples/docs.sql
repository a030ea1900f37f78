-- What PostgreSQL makes of the table that examples/lancedb_docs.py wrote. Run it in psql, connected to the database that
-- the REST server serves.

-- The catalog, as tables.
SELECT namespace, table_name, server_name, managed_versioning FROM lance.tables;
SELECT version, manifest_path, committed_at FROM lance_list_table_versions('demo$docs');

-- Every table of a namespace as a foreign table.
CREATE SCHEMA demo;
IMPORT FOREIGN SCHEMA "demo" FROM SERVER lake INTO demo;
SELECT * FROM demo.docs ORDER BY id;

-- Joined with an ordinary table.
CREATE TABLE authors (id integer PRIMARY KEY, name text);
INSERT INTO authors VALUES (10, 'Ada'), (11, 'Ben'), (12, 'Cleo');
SELECT d.title, a.name AS author, d.vector FROM demo.docs d JOIN authors a ON a.id = d.author_id ORDER BY d.id;

-- The version before the deletion is still there.
SELECT max(version) - 1 AS before FROM lance_list_table_versions('demo$docs') \gset
SELECT lance_attach_table('demo$docs', 'demo', 'docs_before', version => :before);
SELECT id, title FROM demo.docs_before ORDER BY id;
SELECT (SELECT count(*) FROM demo.docs_before) AS before, (SELECT count(*) FROM demo.docs) AS now;

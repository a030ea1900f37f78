--
-- The cleanup queue.
--
SELECT 1 FROM lance_declare_table('c');
SELECT t.write('c', 'data/x.lance', 'x');
SELECT 1 FROM lance_declare_table('d');
SELECT t.write('d', 'data/x.lance', 'x');
SELECT t.location('c') AS c \gset
-- A store that fails is recorded, and tried again later; others have their turn.
SELECT count(*) FROM lance_drop_table('c');
SELECT count(*) FROM lance_drop_table('d');
UPDATE lance.cleanup_item SET server_name = 'gone' WHERE location = :'c';
SELECT * FROM lance_run_cleanup();
SELECT kind, attempts, due_at > now() AS later, last_error FROM lance.cleanup_queue;
UPDATE lance.cleanup_item SET server_name = 'lake';
-- What a table is said to own is never removed.
INSERT INTO lance.catalog_entry (parent_id, name, kind) VALUES (0, 'restored', 'table') RETURNING entry_id \gset
INSERT INTO lance.table_entry VALUES (:entry_id, :'c' || '/inner', 'lake', true);
SELECT * FROM lance_run_cleanup(5);
SELECT t.mask(pg_ls_dir(:'c'));
DELETE FROM lance.catalog_entry WHERE entry_id = :entry_id;
SELECT count(*) FROM lance.cleanup_queue;
SELECT t.try('SELECT * FROM lance_run_cleanup(0)');
BEGIN READ ONLY;
SELECT * FROM lance_run_cleanup();
COMMIT;
-- One at a time.
SELECT count(*) FROM generate_series(1, 3) i, lance_declare_table('m' || i);
SELECT count(*) FROM generate_series(1, 3) i, lance_drop_table('m' || i);
SELECT done FROM lance_run_cleanup(2);
SELECT done FROM lance_run_cleanup(2);

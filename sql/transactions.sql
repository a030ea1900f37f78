--
-- Versions of several tables, and other work, in one transaction.
--
CREATE TABLE ordinary (n int);
SELECT count(lance_declare_table(n)) FROM unnest('{x,y,z}'::text[]) n;
-- A pair of functions: what a folder holds of versions, and the intent that a crash would leave.
CREATE FUNCTION t.folder(id text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(regexp_replace(f, '\.[0-9a-f]{16}\.', '.TAG.'), ' ' ORDER BY f) FROM t.ls(id, '_versions') f
	WHERE f ~ '\.(manifest|intent)$'
$$;
CREATE FUNCTION t.intend(id text, version bigint, content text) RETURNS void LANGUAGE sql AS $$
	SELECT t.write(id, replace(t.v2(version), '.manifest', '.0123456789abcdef.intent'), encode(sha256((content || E'\n')::bytea), 'hex'))
$$;
BEGIN;
SELECT t.create_version('x', 1, 'x1');
SELECT t.create_version('y', 1, 'y1');
INSERT INTO ordinary VALUES (1);
SELECT t.versions('x'), t.versions('y'), t.folder('x') IS NULL AS nothing_yet;
COMMIT;
SELECT t.versions('x'), t.versions('y'), t.folder('x'), t.folder('y'), count(*) FROM ordinary;
-- Rolled back: nothing of it.
BEGIN;
SELECT t.create_version('x', 2, 'x2');
SELECT t.create_version('y', 2, 'y2');
INSERT INTO ordinary VALUES (2);
ROLLBACK;
SELECT t.versions('x'), t.versions('y'), t.folder('x'), count(*) FROM ordinary;
-- A savepoint takes back what came after it, and no more.
BEGIN;
SELECT t.create_version('x', 2, 'x2');
SAVEPOINT s;
SELECT t.create_version('y', 2, 'y2');
SAVEPOINT u;
SELECT t.create_version('z', 1, 'z1');
RELEASE u;
ROLLBACK TO s;
SELECT t.create_version('y', 2, 'y2 again');
COMMIT;
SELECT t.versions('x'), t.read('x', t.v2(2)), t.versions('y'), t.read('y', t.v2(2)), t.versions('z');
-- Several versions of one table; the same request twice; out of order.
BEGIN;
SELECT t.create_version('x', 3, 'x3');
SELECT t.create_version('x', 5, 'x5');
SELECT t.create_version('x', 4, 'x4');
SELECT t.create_version('x', 4, 'x4');
SELECT t.create_version('x', 4, 'other');
SELECT t.create_version('x', 3, 'x3');
COMMIT;
SELECT t.versions('x'), t.folder('x'), t.read('x', t.v2(4));
-- One of them is taken at the last moment, past the catalog: all of it fails, and what was written already goes again.
BEGIN;
SELECT t.create_version('y', 3, 'y3');
SELECT t.create_version('x', 5, 'x5');
INSERT INTO ordinary VALUES (3);
SELECT t.write('x', t.v2(5), 'faster');
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default
SELECT t.versions('x'), t.read('x', t.v2(5)), t.versions('y'), t.folder('x'), t.folder('y'), count(*) FROM ordinary;
-- Renamed, dropped and declared in the same transaction.
BEGIN;
SELECT t.create_version('z', 1, 'z1');
SELECT lance_rename_table('z', 'zz');
SELECT 1 FROM lance_declare_table('new');
SELECT t.create_version('new', 1, 'n1');
SELECT t.create_version('y', 3, 'y3');
SELECT count(*) FROM lance_drop_table('y');
COMMIT;
SELECT t.versions('zz'), t.versions('new'), t.versions('y');
-- What a crash leaves before the commit: not seen, also when asked for by number, and taken away by the next writer.
SELECT t.intend('zz', 2, 'crashed'), t.write('zz', t.v2(2), 'crashed');
SELECT t.versions('zz'), t.try($$SELECT * FROM lance_describe_table_version('zz', 2)$$);
SELECT version FROM lance_describe_table_version('zz');
SELECT t.create_version('zz', 2, 'z2');
SELECT t.versions('zz'), t.read('zz', t.v2(2)), t.folder('zz');
SELECT t.intend('zz', 3, 'crashed'), t.write('zz', t.v2(3), 'crashed');
SELECT t.create_version('zz', 4, 'z4');
SELECT t.versions('zz'), t.read('zz', t.v2(3)) IS NULL AS taken_away;
SELECT t.create_version('zz', 3, 'z3');
-- The first version of a table that is only declared.
SELECT 1 FROM lance_declare_table('first');
SELECT t.intend('first', 1, 'crashed'), t.write('first', t.v2(1), 'crashed');
SELECT is_only_declared FROM lance_describe_table('first', check_declared => true);
SELECT t.try($$SELECT * FROM lance_describe_table_version('first')$$);
SELECT t.create_version('first', 1, 'f1');
SELECT t.versions('first');
-- A writer past the catalog took the name before the transaction that died could: his version counts.
SELECT t.intend('first', 2, 'crashed'), t.write('first', t.v2(2), 'past the catalog');
SELECT t.versions('first');
SELECT t.create_version('first', 3, 'f3');
SELECT t.versions('first'), t.read('first', t.v2(2));
-- He went on from what was left: it stays, as his version is built on it.
SELECT t.intend('first', 4, 'crashed'), t.write('first', t.v2(4), 'crashed'), t.write('first', t.v2(5), 'past the catalog');
SELECT t.versions('first');
SELECT t.create_version('first', 6, 'f6');
SELECT t.versions('first');
-- An intent that its transaction could not remove does no harm. A process that has not committed to the table takes it away.
SELECT t.intend('first', 6, 'f6');
SELECT t.versions('first');
\c -
SELECT t.create_version('first', 7, 'f7');
SELECT t.versions('first'), t.folder('first');
-- Names that only look like intents.
SELECT t.write('first', '_versions/' || n, 'x') FROM unnest(ARRAY[
	replace(replace(t.v2(8), '_versions/', ''), '.manifest', '.intent'),
	replace(replace(t.v2(8), '_versions/', ''), '.manifest', '.0123456789ABCDEF.intent'),
	replace(replace(t.v2(8), '_versions/', ''), '.manifest', '.0123456789abcdef0.intent')]) n;
SELECT t.write('first', t.v2(8), 'past the catalog');
SELECT t.versions('first');
-- Under REPEATABLE READ.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT t.create_version('zz', 4, 'z4');
SELECT t.create_version('new', 2, 'n2');
COMMIT;
SELECT t.versions('zz'), t.versions('new');
-- A block of PL/pgSQL that fails publishes nothing of what it did; what stands around it is published.
DO $$
BEGIN
	PERFORM t.create_version('zz', 5, 'z5');
	FOR i IN 1 .. 3 LOOP
		BEGIN
			PERFORM t.create_version('new', 3, 'n3');
			PERFORM t.create_version('zz', 6, 'z6');
			INSERT INTO ordinary VALUES (5);
			PERFORM lance_rename_table('new', 'newer');
			PERFORM 1 / (i - i);
		EXCEPTION WHEN division_by_zero THEN
			NULL;
		END;
	END LOOP;
	PERFORM t.create_version('zz', 6, 'z6 again');
	INSERT INTO ordinary VALUES (6);
END $$;
SELECT t.versions('zz'), t.read('zz', t.v2(6)), t.versions('new'), t.folder('new'), array_agg(n) FROM ordinary WHERE n >= 5;
-- A store that is gone: ROLLBACK, and ROLLBACK TO, work all the same, COMMIT is an error, and nothing is left of it.
SELECT format('mv %1$s %1$s.away && touch %1$s && cat > /dev/null', root) AS away,
	format('rm %1$s && mv %1$s.away %1$s && cat > /dev/null', root) AS back FROM t.setting \gset
BEGIN;
SELECT t.create_version('zz', 7, 'z7');
SAVEPOINT s;
SELECT t.create_version('new', 3, 'n3');
COPY (SELECT 1) TO PROGRAM :'away';
ROLLBACK TO s;
ROLLBACK;
COPY (SELECT 1) TO PROGRAM :'back';
BEGIN;
SELECT t.create_version('zz', 7, 'z7');
SELECT t.create_version('new', 3, 'n3');
INSERT INTO ordinary VALUES (7);
COPY (SELECT 1) TO PROGRAM :'away';
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default
COPY (SELECT 1) TO PROGRAM :'back';
SELECT t.versions('zz'), t.versions('new'), t.folder('new'), count(*) FROM ordinary WHERE n = 7;
SELECT t.create_version('zz', 7, 'z7');
DROP TABLE ordinary;
DROP FUNCTION t.folder, t.intend;
SELECT count(lance_drop_table(n)) FROM unnest('{x,zz,new,first}'::text[]) n;
SELECT failed FROM lance_run_cleanup();

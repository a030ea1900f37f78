--
-- Options of servers, user mappings, foreign tables and columns; who may use which place.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set fixtures :fixtures '/data'
\set root file:// :fixtures
\set one_row :root '/one_row.lance'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS lance_catalog;

-- Messages without the folder that the tests happen to lie in.
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

-- Servers.
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw;
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (rooot '/srv/lance');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'gs://bucket');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root '/srv/../etc');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://b', access_key_id 'key');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://b', endpoint 'localhost:9000');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://b', endpoint 'https://user@host');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://b', endpoint 'http://localhost:9000');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://b', allow_http 'maybe');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://b', region 'eu central');
CREATE SERVER s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://b/prefix', endpoint 'http://localhost:9000',
	client_endpoint 'https://store.example', region 'eu-central-1', allow_http 'on', virtual_hosted_style 'false',
	conditional_put 'off', managed_versioning 'true');
ALTER SERVER s OPTIONS (DROP allow_http);
ALTER SERVER s OPTIONS (vending 'sometimes');
ALTER SERVER s OPTIONS (credentials 'environment');
ALTER SERVER s OPTIONS (sts_duration '60');
ALTER SERVER s OPTIONS (sts_duration 'long');
ALTER SERVER s OPTIONS (sts_role_arn 'role/x');
ALTER SERVER s OPTIONS (sts_external_id 'a b');
ALTER SERVER s OPTIONS (sts_endpoint 'https://user@host');
ALTER SERVER s OPTIONS (vending 'sts', credentials 'sts', sts_duration '900', sts_role_arn 'arn:aws:iam::123456789012:role/x',
	sts_external_id 'id', sts_endpoint 'https://sts.example');
ALTER SERVER s OPTIONS (SET sts_endpoint 'http://sts.example', DROP endpoint, DROP allow_http);
ALTER SERVER s OPTIONS (DROP root);
ALTER FOREIGN DATA WRAPPER lance_fdw OPTIONS (ADD root '/x');

-- User mappings; values never appear in messages.
CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS (access_key_id 'key');
CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS (access_key_id 'key', secret_access_key 'a secret');
CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS (access_key_id 'key', secret_access_key 'secret', password 'secret');
CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS (access_key_id 'key', secret_access_key 'secret', session_token 't');
DROP SERVER s CASCADE;

-- Foreign tables and columns.
CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'root');
CREATE FOREIGN TABLE ft (a int) SERVER local;
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (table 'a', uri 'b');
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (tabel 'a');
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (root '/x', table 'a');
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (uri '');
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (uri 'x', version '0');
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (uri 'x', version '1x');
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (uri 'x', as_of 'yesterdayish');
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (uri 'x', as_of 'infinity');
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (uri 'x', version '1', as_of '2024-01-01 00:00:00+00');
CREATE FOREIGN TABLE ft (a int) SERVER local OPTIONS (uri 'x', delimiter '.');
CREATE FOREIGN TABLE ft (a int OPTIONS (colum_name 'b')) SERVER local OPTIONS (uri 'x');

-- Columns are found under their exact names, or under column_name.
CREATE FOREIGN TABLE ft (id bigint, label text OPTIONS (column_name 'name'), "Name" text) SERVER local
	OPTIONS (uri :'one_row');
SELECT id, label FROM ft;
SELECT try('SELECT "Name" FROM ft');
SELECT try('SELECT * FROM ft');
SELECT count(*) FROM ft;
-- One field under two columns.
ALTER FOREIGN TABLE ft ALTER "Name" OPTIONS (ADD column_name 'name');
SELECT ft FROM ft;
-- Types that differ are refused by both names.
ALTER FOREIGN TABLE ft ALTER id TYPE text;
SELECT try('SELECT id FROM ft');
ALTER FOREIGN TABLE ft ALTER label TYPE varchar;
SELECT label FROM ft;
ALTER FOREIGN TABLE ft ALTER label TYPE varchar(3);
SELECT try('SELECT label FROM ft');
DROP FOREIGN TABLE ft;

-- Places.
SELECT try(format('SELECT lance_attach_dataset(%L, ''local'', ''public'', ''x'')', uri)) FROM unnest(ARRAY[
	:'root' || '/missing.lance', :'root' || '/../one_row.lance', 'gs://x/y', 'memory://x',
	'one_row.lance']) uri;
SELECT try(format('SELECT lance_attach_dataset(%L, ''local'', ''public'', ''x'', version => 7)', :'one_row'));
SELECT try(format('SELECT lance_attach_dataset(%L, ''local'', ''public'', ''x'', as_of => ''2001-01-01Z'')', :'one_row'));
SELECT try(format('SELECT lance_attach_dataset(%L, ''local'', ''public'', ''x'', branch => ''dev'')', :'one_row'));
SELECT try(format('SELECT lance_attach_dataset(%L, ''nowhere'', ''public'', ''x'')', :'one_row'));
SELECT try(format('SELECT lance_attach_dataset(%L, ''local'', ''nowhere'', ''x'')', :'one_row'));
SELECT try(format('SELECT lance_attach_dataset(%L, ''local'', ''public'', NULL)', :'one_row'));

-- Other roles: USAGE on the server, and only below its root.
CREATE ROLE regress_lance_reader;
CREATE ROLE regress_lance_files;
GRANT pg_read_server_files TO regress_lance_files;
GRANT CREATE ON SCHEMA public TO regress_lance_reader, regress_lance_files;
GRANT EXECUTE ON FUNCTION try(text) TO PUBLIC;
CREATE SERVER narrow FOREIGN DATA WRAPPER lance_fdw OPTIONS (root '/nowhere/at/all');
SET ROLE regress_lance_reader;
SELECT try('CREATE SERVER mine FOREIGN DATA WRAPPER lance_fdw OPTIONS (root ''/'')');
SELECT try(format('SELECT lance_attach_dataset(%L, ''local'', ''public'', ''x'')', :'one_row'));
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER local, narrow TO regress_lance_reader, regress_lance_files;
SET ROLE regress_lance_reader;
SELECT lance_attach_dataset(:'one_row', 'local', 'public', 'x');
SELECT id FROM x;
SELECT try(format('SELECT lance_attach_dataset(%L, ''narrow'', ''public'', ''y'')', :'one_row'));
SELECT try('SELECT lance_attach_dataset(''s3://elsewhere/x'', ''narrow'', ''public'', ''y'')');
SET ROLE regress_lance_files;
SELECT lance_attach_dataset(:'one_row', 'narrow', 'public', 'y');
SELECT id FROM y;
SELECT try('SELECT lance_attach_dataset(''s3://elsewhere/x'', ''narrow'', ''public'', ''z'')');
RESET ROLE;

-- A server of somebody who may not read files opens nothing; the check is made at each use.
ALTER FOREIGN TABLE x OWNER TO regress_lance_reader;
GRANT USAGE ON FOREIGN DATA WRAPPER lance_fdw TO regress_lance_reader;
ALTER SERVER local OWNER TO regress_lance_reader;
SET ROLE regress_lance_reader;
SELECT try('SELECT id FROM x');
SELECT try('SET lance_catalog.allowed_local_roots = ''/''');
RESET ROLE;
SET lance_catalog.allowed_local_roots = :'fixtures';
SET ROLE regress_lance_reader;
SELECT id FROM x;
RESET ROLE;
SET lance_catalog.allowed_local_roots = '/nowhere, /else';
SET ROLE regress_lance_reader;
SELECT try('SELECT id FROM x');
RESET ROLE;
SET lance_catalog.allowed_local_roots = 'relative';
RESET lance_catalog.allowed_local_roots;
GRANT pg_read_server_files TO regress_lance_reader;
SET ROLE regress_lance_reader;
SELECT id FROM x;
RESET ROLE;

-- The rights that count are those of the view's owner.
REVOKE pg_read_server_files FROM regress_lance_reader;
CREATE VIEW v AS SELECT id FROM x;
GRANT SELECT ON v TO regress_lance_reader;
SET ROLE regress_lance_reader;
SELECT id FROM v;
RESET ROLE;

-- Keys are not shown to others.
CREATE USER MAPPING FOR regress_lance_files SERVER narrow OPTIONS (access_key_id 'key', secret_access_key 'secret');
SET ROLE regress_lance_reader;
SELECT umoptions FROM pg_user_mappings WHERE srvname = 'narrow';
RESET ROLE;

DROP VIEW v;
DROP SERVER local, narrow CASCADE;
DROP OWNED BY regress_lance_reader, regress_lance_files;
DROP ROLE regress_lance_reader, regress_lance_files;
DROP FUNCTION try(text);

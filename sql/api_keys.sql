--
-- API keys: shown once, stored as hashes, bound to a role.
--
-- (No word on a REST server that is off.)
SET client_min_messages = warning;
CREATE ROLE key_user;
CREATE ROLE key_maker LOGIN;
SELECT * FROM lance_create_api_key('key_user', 'test') \gset
SELECT :'api_key' ~ '^lance_[A-Za-z0-9_-]{43}$' AS form;
SELECT key_hash = sha256(:'api_key'::bytea) AS hashed FROM lance.api_key;
SELECT role, label, expires_at, last_used_at, revoked_at IS NULL AS valid FROM lance_list_api_keys();
SELECT lance_revoke_api_key(:key_id);
SELECT lance_revoke_api_key(:key_id);
SELECT role, revoked_at IS NOT NULL AS revoked FROM lance_list_api_keys();
SELECT t.try('SELECT lance_revoke_api_key(-1)');
SELECT t.try('SELECT lance_create_api_key(NULL)');
SELECT t.try($$SELECT lance_create_api_key('key_user', expires_at => '2001-02-03 04:05:06+00')$$);
SELECT t.try($$SELECT lance_create_api_key('key_user', expires_at => '-infinity')$$);
SELECT key_id AS eternal FROM lance_create_api_key('key_user', expires_at => 'infinity') \gset
SELECT expires_at FROM lance_list_api_keys() WHERE key_id = :eternal;
-- Two keys differ.
SELECT count(DISTINCT k.api_key) FROM generate_series(1, 2) i, LATERAL lance_create_api_key('key_user', i::text) k;
-- Who may call the function still makes keys only for roles that he may act as.
GRANT EXECUTE ON FUNCTION lance_create_api_key, lance_revoke_api_key TO key_maker;
GRANT USAGE ON SCHEMA t TO key_maker;
GRANT SELECT ON t.setting TO key_maker;
SET ROLE key_maker;
SELECT t.try($$SELECT key_id > 0 FROM lance_create_api_key('postgres')$$);
SELECT t.try($$SELECT key_id > 0 FROM lance_create_api_key('key_user')$$);
SELECT t.try($$SELECT key_id > 0 FROM lance_create_api_key('key_maker')$$);
SELECT t.try(format('SELECT lance_revoke_api_key(%s)', :key_id));
SELECT t.try('SELECT * FROM lance.api_key');
SELECT t.try('SELECT * FROM lance_list_api_keys()');
RESET ROLE;
GRANT key_user TO key_maker;
SET ROLE key_maker;
SELECT t.try($$SELECT key_id > 0 FROM lance_create_api_key('key_user')$$);
SELECT t.try(format('SELECT lance_revoke_api_key(%s)', :key_id));
RESET ROLE;
DELETE FROM lance.api_key;
DROP OWNED BY key_maker;
DROP ROLE key_user, key_maker;

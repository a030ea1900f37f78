-- Who may call an operation is who may EXECUTE its function, in SQL and over REST alike; on what, the privileges on
-- namespaces and tables say. These give both.

CREATE FUNCTION lance_grant(role regrole, privilege text, id text DEFAULT '$') RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_grant';
COMMENT ON FUNCTION lance_grant(regrole, text, text) IS
	'give a role a privilege on a namespace and all below it, or on a table: read, write, admin or owner';
REVOKE ALL ON FUNCTION lance_grant(regrole, text, text) FROM PUBLIC;

CREATE FUNCTION lance_grant(role regrole, privilege text, id text[]) RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_grant';
COMMENT ON FUNCTION lance_grant(regrole, text, text[]) IS
	'give a role a privilege on a namespace and all below it, or on a table: read, write, admin or owner (id as a list of names)';
REVOKE ALL ON FUNCTION lance_grant(regrole, text, text[]) FROM PUBLIC;

CREATE FUNCTION lance_revoke(role regrole, privilege text, id text DEFAULT '$') RETURNS boolean
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_revoke';
COMMENT ON FUNCTION lance_revoke(regrole, text, text) IS
	'take a privilege on a namespace or table; false: the role had not been given it there';
REVOKE ALL ON FUNCTION lance_revoke(regrole, text, text) FROM PUBLIC;

CREATE FUNCTION lance_revoke(role regrole, privilege text, id text[]) RETURNS boolean
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_revoke';
COMMENT ON FUNCTION lance_revoke(regrole, text, text[]) IS
	'take a privilege on a namespace or table; false: the role had not been given it there (id as a list of names)';
REVOKE ALL ON FUNCTION lance_revoke(regrole, text, text[]) FROM PUBLIC;

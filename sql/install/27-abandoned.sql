-- What interrupted runs left: tables that were declared and never written.

CREATE FUNCTION lance_list_abandoned_tables(
	id text DEFAULT '$', older_than interval DEFAULT '1 day')
	RETURNS TABLE ("table" text[], location text, created_at timestamptz)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_abandoned_tables';
COMMENT ON FUNCTION lance_list_abandoned_tables(text, interval) IS
	'list the tables that were declared longer ago than that and never written since; id: of a namespace, with what is below it';
REVOKE ALL ON FUNCTION lance_list_abandoned_tables(text, interval) FROM PUBLIC;

CREATE FUNCTION lance_list_abandoned_tables(
	id text[], older_than interval DEFAULT '1 day')
	RETURNS TABLE ("table" text[], location text, created_at timestamptz)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_abandoned_tables';
COMMENT ON FUNCTION lance_list_abandoned_tables(text[], interval) IS
	'list the tables that were declared longer ago than that and never written since; id: of a namespace, with what is below it (id as a list of names)';
REVOKE ALL ON FUNCTION lance_list_abandoned_tables(text[], interval) FROM PUBLIC;

CREATE FUNCTION lance_drop_abandoned_tables(
	id text DEFAULT '$', older_than interval DEFAULT '1 day')
	RETURNS TABLE ("table" text[], location text, created_at timestamptz)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_drop_abandoned_tables';
COMMENT ON FUNCTION lance_drop_abandoned_tables(text, interval) IS
	'drop the tables that were declared longer ago than that and never written since; their files are removed after the commit; id: of a namespace, with what is below it';
REVOKE ALL ON FUNCTION lance_drop_abandoned_tables(text, interval) FROM PUBLIC;

CREATE FUNCTION lance_drop_abandoned_tables(
	id text[], older_than interval DEFAULT '1 day')
	RETURNS TABLE ("table" text[], location text, created_at timestamptz)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_drop_abandoned_tables';
COMMENT ON FUNCTION lance_drop_abandoned_tables(text[], interval) IS
	'drop the tables that were declared longer ago than that and never written since; their files are removed after the commit; id: of a namespace, with what is below it (id as a list of names)';
REVOKE ALL ON FUNCTION lance_drop_abandoned_tables(text[], interval) FROM PUBLIC;

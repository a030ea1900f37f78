-- Operations that make the next version of a table out of its newest manifest, numbers about tables, and transactions.

CREATE FUNCTION lance_restore_table(
	id text, version bigint, branch text DEFAULT NULL,
	OUT transaction_id text, OUT version bigint)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_restore_table';
COMMENT ON FUNCTION lance_restore_table(text, bigint, text) IS
	'make an older version of a table the newest, when the transaction commits';
REVOKE ALL ON FUNCTION lance_restore_table(text, bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_restore_table(
	id text[], version bigint, branch text DEFAULT NULL,
	OUT transaction_id text, OUT version bigint)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_restore_table';
COMMENT ON FUNCTION lance_restore_table(text[], bigint, text) IS
	'make an older version of a table the newest, when the transaction commits (id as a list of names)';
REVOKE ALL ON FUNCTION lance_restore_table(text[], bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_update_table_schema_metadata(
	id text, metadata jsonb, branch text DEFAULT NULL,
	OUT metadata jsonb, OUT transaction_id text)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_update_table_schema_metadata';
COMMENT ON FUNCTION lance_update_table_schema_metadata(text, jsonb, text) IS
	'replace the metadata of a table''s schema, when the transaction commits';
REVOKE ALL ON FUNCTION lance_update_table_schema_metadata(text, jsonb, text) FROM PUBLIC;

CREATE FUNCTION lance_update_table_schema_metadata(
	id text[], metadata jsonb, branch text DEFAULT NULL,
	OUT metadata jsonb, OUT transaction_id text)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_update_table_schema_metadata';
COMMENT ON FUNCTION lance_update_table_schema_metadata(text[], jsonb, text) IS
	'replace the metadata of a table''s schema, when the transaction commits (id as a list of names)';
REVOKE ALL ON FUNCTION lance_update_table_schema_metadata(text[], jsonb, text) FROM PUBLIC;

CREATE FUNCTION lance_update_field_metadata(
	id text, updates jsonb, branch text DEFAULT NULL,
	OUT version bigint, OUT fields jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_update_field_metadata';
COMMENT ON FUNCTION lance_update_field_metadata(text, jsonb, text) IS
	'change the metadata of columns, when the transaction commits; updates: [{"path", "metadata", "replace"}, ...]';
REVOKE ALL ON FUNCTION lance_update_field_metadata(text, jsonb, text) FROM PUBLIC;

CREATE FUNCTION lance_update_field_metadata(
	id text[], updates jsonb, branch text DEFAULT NULL,
	OUT version bigint, OUT fields jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_update_field_metadata';
COMMENT ON FUNCTION lance_update_field_metadata(text[], jsonb, text) IS
	'change the metadata of columns, when the transaction commits; updates: [{"path", "metadata", "replace"}, ...] (id as a list of names)';
REVOKE ALL ON FUNCTION lance_update_field_metadata(text[], jsonb, text) FROM PUBLIC;

CREATE FUNCTION lance_alter_table_drop_columns(
	id text, columns text[], branch text DEFAULT NULL,
	OUT transaction_id text, OUT version bigint)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_alter_table_drop_columns';
COMMENT ON FUNCTION lance_alter_table_drop_columns(text, text[], text) IS
	'drop columns of a table, when the transaction commits';
REVOKE ALL ON FUNCTION lance_alter_table_drop_columns(text, text[], text) FROM PUBLIC;

CREATE FUNCTION lance_alter_table_drop_columns(
	id text[], columns text[], branch text DEFAULT NULL,
	OUT transaction_id text, OUT version bigint)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_alter_table_drop_columns';
COMMENT ON FUNCTION lance_alter_table_drop_columns(text[], text[], text) IS
	'drop columns of a table, when the transaction commits (id as a list of names)';
REVOKE ALL ON FUNCTION lance_alter_table_drop_columns(text[], text[], text) FROM PUBLIC;

CREATE FUNCTION lance_alter_table_alter_columns(
	id text, alterations jsonb, branch text DEFAULT NULL)
	RETURNS bigint
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_alter_table_alter_columns';
COMMENT ON FUNCTION lance_alter_table_alter_columns(text, jsonb, text) IS
	'rename columns and change whether they may be null, when the transaction commits; alterations: [{"path", "rename", "nullable"}, ...]; returns the version';
REVOKE ALL ON FUNCTION lance_alter_table_alter_columns(text, jsonb, text) FROM PUBLIC;

CREATE FUNCTION lance_alter_table_alter_columns(
	id text[], alterations jsonb, branch text DEFAULT NULL)
	RETURNS bigint
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_alter_table_alter_columns';
COMMENT ON FUNCTION lance_alter_table_alter_columns(text[], jsonb, text) IS
	'rename columns and change whether they may be null, when the transaction commits; alterations: [{"path", "rename", "nullable"}, ...]; returns the version (id as a list of names)';
REVOKE ALL ON FUNCTION lance_alter_table_alter_columns(text[], jsonb, text) FROM PUBLIC;

CREATE FUNCTION lance_get_table_stats(
	id text, branch text DEFAULT NULL,
	OUT total_bytes bigint, OUT num_rows bigint, OUT num_indices bigint, OUT num_fragments bigint,
	OUT num_small_fragments bigint, OUT length_min bigint, OUT length_max bigint, OUT length_mean bigint,
	OUT length_p25 bigint, OUT length_p50 bigint, OUT length_p75 bigint, OUT length_p99 bigint)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_get_table_stats';
COMMENT ON FUNCTION lance_get_table_stats(text, text) IS
	'bytes, live rows, indices and fragments of the newest version; length: live rows of a fragment';
REVOKE ALL ON FUNCTION lance_get_table_stats(text, text) FROM PUBLIC;

CREATE FUNCTION lance_get_table_stats(
	id text[], branch text DEFAULT NULL,
	OUT total_bytes bigint, OUT num_rows bigint, OUT num_indices bigint, OUT num_fragments bigint,
	OUT num_small_fragments bigint, OUT length_min bigint, OUT length_max bigint, OUT length_mean bigint,
	OUT length_p25 bigint, OUT length_p50 bigint, OUT length_p75 bigint, OUT length_p99 bigint)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_get_table_stats';
COMMENT ON FUNCTION lance_get_table_stats(text[], text) IS
	'bytes, live rows, indices and fragments of the newest version; length: live rows of a fragment (id as a list of names)';
REVOKE ALL ON FUNCTION lance_get_table_stats(text[], text) FROM PUBLIC;

CREATE FUNCTION lance_describe_transaction(
	id text,
	OUT status text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_describe_transaction';
COMMENT ON FUNCTION lance_describe_transaction(text) IS
	'the transaction that made a version; id: that of the table and the transaction''s, or a version';
REVOKE ALL ON FUNCTION lance_describe_transaction(text) FROM PUBLIC;

CREATE FUNCTION lance_describe_transaction(
	id text[],
	OUT status text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_describe_transaction';
COMMENT ON FUNCTION lance_describe_transaction(text[]) IS
	'the transaction that made a version; id: that of the table and the transaction''s, or a version (id as a list of names)';
REVOKE ALL ON FUNCTION lance_describe_transaction(text[]) FROM PUBLIC;

CREATE FUNCTION lance_alter_transaction(
	id text, actions jsonb,
	OUT status text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_alter_transaction';
COMMENT ON FUNCTION lance_alter_transaction(text, jsonb) IS
	'set properties on a transaction; actions: [{"setPropertyAction": {"key", "value", "mode"}}, ...]';
REVOKE ALL ON FUNCTION lance_alter_transaction(text, jsonb) FROM PUBLIC;

CREATE FUNCTION lance_alter_transaction(
	id text[], actions jsonb,
	OUT status text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_alter_transaction';
COMMENT ON FUNCTION lance_alter_transaction(text[], jsonb) IS
	'set properties on a transaction; actions: [{"setPropertyAction": {"key", "value", "mode"}}, ...] (id as a list of names)';
REVOKE ALL ON FUNCTION lance_alter_transaction(text[], jsonb) FROM PUBLIC;

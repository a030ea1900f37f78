-- The operations as functions, named as the API names them. An id is text in the spelling of the wire ('ml$docs'), or
-- text[] where a name contains the delimiter. Nobody but the owner may call them until granted.

CREATE FUNCTION lance_create_namespace(
	id text, mode text DEFAULT 'Create', properties jsonb DEFAULT NULL)
	RETURNS jsonb
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_create_namespace';
COMMENT ON FUNCTION lance_create_namespace(text, text, jsonb) IS
	'make a namespace; mode: Create, ExistOk or Overwrite; returns its properties';
REVOKE ALL ON FUNCTION lance_create_namespace(text, text, jsonb) FROM PUBLIC;

CREATE FUNCTION lance_create_namespace(
	id text[], mode text DEFAULT 'Create', properties jsonb DEFAULT NULL)
	RETURNS jsonb
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_create_namespace';
COMMENT ON FUNCTION lance_create_namespace(text[], text, jsonb) IS
	'make a namespace; mode: Create, ExistOk or Overwrite; returns its properties (id as a list of names)';
REVOKE ALL ON FUNCTION lance_create_namespace(text[], text, jsonb) FROM PUBLIC;

CREATE FUNCTION lance_list_namespaces(
	id text DEFAULT '$', page_token text DEFAULT NULL, "limit" integer DEFAULT NULL)
	RETURNS TABLE (name text)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_namespaces';
COMMENT ON FUNCTION lance_list_namespaces(text, text, integer) IS
	'names of the namespaces in a namespace; page_token: the last name of the page before';
REVOKE ALL ON FUNCTION lance_list_namespaces(text, text, integer) FROM PUBLIC;

CREATE FUNCTION lance_list_namespaces(
	id text[], page_token text DEFAULT NULL, "limit" integer DEFAULT NULL)
	RETURNS TABLE (name text)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_namespaces';
COMMENT ON FUNCTION lance_list_namespaces(text[], text, integer) IS
	'names of the namespaces in a namespace; page_token: the last name of the page before (id as a list of names)';
REVOKE ALL ON FUNCTION lance_list_namespaces(text[], text, integer) FROM PUBLIC;

CREATE FUNCTION lance_describe_namespace(
	id text)
	RETURNS jsonb
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_describe_namespace';
COMMENT ON FUNCTION lance_describe_namespace(text) IS
	'properties of a namespace';
REVOKE ALL ON FUNCTION lance_describe_namespace(text) FROM PUBLIC;

CREATE FUNCTION lance_describe_namespace(
	id text[])
	RETURNS jsonb
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_describe_namespace';
COMMENT ON FUNCTION lance_describe_namespace(text[]) IS
	'properties of a namespace (id as a list of names)';
REVOKE ALL ON FUNCTION lance_describe_namespace(text[]) FROM PUBLIC;

CREATE FUNCTION lance_namespace_exists(
	id text)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_namespace_exists';
COMMENT ON FUNCTION lance_namespace_exists(text) IS
	'raise SQLSTATE LN001 unless the namespace exists';
REVOKE ALL ON FUNCTION lance_namespace_exists(text) FROM PUBLIC;

CREATE FUNCTION lance_namespace_exists(
	id text[])
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_namespace_exists';
COMMENT ON FUNCTION lance_namespace_exists(text[]) IS
	'raise SQLSTATE LN001 unless the namespace exists (id as a list of names)';
REVOKE ALL ON FUNCTION lance_namespace_exists(text[]) FROM PUBLIC;

CREATE FUNCTION lance_drop_namespace(
	id text, mode text DEFAULT 'Fail', behavior text DEFAULT 'Restrict')
	RETURNS jsonb
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_drop_namespace';
COMMENT ON FUNCTION lance_drop_namespace(text, text, text) IS
	'drop a namespace; mode: Fail or Skip; behavior: Restrict or Cascade; returns its properties';
REVOKE ALL ON FUNCTION lance_drop_namespace(text, text, text) FROM PUBLIC;

CREATE FUNCTION lance_drop_namespace(
	id text[], mode text DEFAULT 'Fail', behavior text DEFAULT 'Restrict')
	RETURNS jsonb
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_drop_namespace';
COMMENT ON FUNCTION lance_drop_namespace(text[], text, text) IS
	'drop a namespace; mode: Fail or Skip; behavior: Restrict or Cascade; returns its properties (id as a list of names)';
REVOKE ALL ON FUNCTION lance_drop_namespace(text[], text, text) FROM PUBLIC;

CREATE FUNCTION lance_declare_table(
	id text, location text DEFAULT NULL, vend_credentials boolean DEFAULT NULL, properties jsonb DEFAULT NULL,
	OUT location text, OUT storage_options jsonb, OUT properties jsonb, OUT managed_versioning boolean)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_declare_table';
COMMENT ON FUNCTION lance_declare_table(text, text, boolean, jsonb) IS
	'reserve a name and a location for a table';
REVOKE ALL ON FUNCTION lance_declare_table(text, text, boolean, jsonb) FROM PUBLIC;

CREATE FUNCTION lance_declare_table(
	id text[], location text DEFAULT NULL, vend_credentials boolean DEFAULT NULL, properties jsonb DEFAULT NULL,
	OUT location text, OUT storage_options jsonb, OUT properties jsonb, OUT managed_versioning boolean)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_declare_table';
COMMENT ON FUNCTION lance_declare_table(text[], text, boolean, jsonb) IS
	'reserve a name and a location for a table (id as a list of names)';
REVOKE ALL ON FUNCTION lance_declare_table(text[], text, boolean, jsonb) FROM PUBLIC;

CREATE FUNCTION lance_register_table(
	id text, location text, mode text DEFAULT 'Create', properties jsonb DEFAULT NULL,
	OUT location text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_register_table';
COMMENT ON FUNCTION lance_register_table(text, text, text, jsonb) IS
	'give a name to a dataset in the storage of the namespace; mode: Create or Overwrite';
REVOKE ALL ON FUNCTION lance_register_table(text, text, text, jsonb) FROM PUBLIC;

CREATE FUNCTION lance_register_table(
	id text[], location text, mode text DEFAULT 'Create', properties jsonb DEFAULT NULL,
	OUT location text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_register_table';
COMMENT ON FUNCTION lance_register_table(text[], text, text, jsonb) IS
	'give a name to a dataset in the storage of the namespace; mode: Create or Overwrite (id as a list of names)';
REVOKE ALL ON FUNCTION lance_register_table(text[], text, text, jsonb) FROM PUBLIC;

CREATE FUNCTION lance_describe_table(
	id text, version bigint DEFAULT NULL, tag text DEFAULT NULL, branch text DEFAULT NULL,
	with_table_uri boolean DEFAULT false, load_detailed_metadata boolean DEFAULT NULL,
	check_declared boolean DEFAULT false, vend_credentials boolean DEFAULT NULL,
	OUT location text, OUT table_uri text, OUT storage_options jsonb, OUT properties jsonb,
	OUT managed_versioning boolean, OUT is_only_declared boolean, OUT "table" text, OUT namespace text[],
	OUT version bigint, OUT schema jsonb, OUT metadata jsonb, OUT num_deleted_rows bigint,
	OUT num_fragments bigint)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_describe_table';
COMMENT ON FUNCTION lance_describe_table(text, bigint, text, text, boolean, boolean, boolean, boolean) IS
	'where a table lies and, if asked for, what is in it';
REVOKE ALL ON FUNCTION lance_describe_table(text, bigint, text, text, boolean, boolean, boolean, boolean) FROM PUBLIC;

CREATE FUNCTION lance_describe_table(
	id text[], version bigint DEFAULT NULL, tag text DEFAULT NULL, branch text DEFAULT NULL,
	with_table_uri boolean DEFAULT false, load_detailed_metadata boolean DEFAULT NULL,
	check_declared boolean DEFAULT false, vend_credentials boolean DEFAULT NULL,
	OUT location text, OUT table_uri text, OUT storage_options jsonb, OUT properties jsonb,
	OUT managed_versioning boolean, OUT is_only_declared boolean, OUT "table" text, OUT namespace text[],
	OUT version bigint, OUT schema jsonb, OUT metadata jsonb, OUT num_deleted_rows bigint,
	OUT num_fragments bigint)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_describe_table';
COMMENT ON FUNCTION lance_describe_table(text[], bigint, text, text, boolean, boolean, boolean, boolean) IS
	'where a table lies and, if asked for, what is in it (id as a list of names)';
REVOKE ALL ON FUNCTION lance_describe_table(text[], bigint, text, text, boolean, boolean, boolean, boolean) FROM PUBLIC;

CREATE FUNCTION lance_table_exists(
	id text)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_table_exists';
COMMENT ON FUNCTION lance_table_exists(text) IS
	'raise SQLSTATE LN004 unless the table exists';
REVOKE ALL ON FUNCTION lance_table_exists(text) FROM PUBLIC;

CREATE FUNCTION lance_table_exists(
	id text[])
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_table_exists';
COMMENT ON FUNCTION lance_table_exists(text[]) IS
	'raise SQLSTATE LN004 unless the table exists (id as a list of names)';
REVOKE ALL ON FUNCTION lance_table_exists(text[]) FROM PUBLIC;

CREATE FUNCTION lance_list_tables(
	id text DEFAULT '$', page_token text DEFAULT NULL, "limit" integer DEFAULT NULL,
	include_declared boolean DEFAULT true)
	RETURNS TABLE (name text)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_tables';
COMMENT ON FUNCTION lance_list_tables(text, text, integer, boolean) IS
	'names of the tables in a namespace; page_token: the last name of the page before';
REVOKE ALL ON FUNCTION lance_list_tables(text, text, integer, boolean) FROM PUBLIC;

CREATE FUNCTION lance_list_tables(
	id text[], page_token text DEFAULT NULL, "limit" integer DEFAULT NULL, include_declared boolean DEFAULT true)
	RETURNS TABLE (name text)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_tables';
COMMENT ON FUNCTION lance_list_tables(text[], text, integer, boolean) IS
	'names of the tables in a namespace; page_token: the last name of the page before (id as a list of names)';
REVOKE ALL ON FUNCTION lance_list_tables(text[], text, integer, boolean) FROM PUBLIC;

CREATE FUNCTION lance_list_all_tables(
	delimiter text DEFAULT '$', page_token text DEFAULT NULL, "limit" integer DEFAULT NULL,
	include_declared boolean DEFAULT true)
	RETURNS TABLE (id text)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_all_tables';
COMMENT ON FUNCTION lance_list_all_tables(text, text, integer, boolean) IS
	'ids of all tables; page_token: the last id of the page before, as a JSON array of names';
REVOKE ALL ON FUNCTION lance_list_all_tables(text, text, integer, boolean) FROM PUBLIC;

CREATE FUNCTION lance_rename_table(
	id text, new_table_name text, new_namespace_id text DEFAULT NULL)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_rename_table';
COMMENT ON FUNCTION lance_rename_table(text, text, text) IS
	'give a table another name, also in another namespace; location and versions stay';
REVOKE ALL ON FUNCTION lance_rename_table(text, text, text) FROM PUBLIC;

CREATE FUNCTION lance_rename_table(
	id text[], new_table_name text, new_namespace_id text[] DEFAULT NULL)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_rename_table';
COMMENT ON FUNCTION lance_rename_table(text[], text, text[]) IS
	'give a table another name, also in another namespace; location and versions stay (ids as lists of names)';
REVOKE ALL ON FUNCTION lance_rename_table(text[], text, text[]) FROM PUBLIC;

CREATE FUNCTION lance_deregister_table(
	id text,
	OUT location text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_deregister_table';
COMMENT ON FUNCTION lance_deregister_table(text) IS
	'forget a table; its files stay';
REVOKE ALL ON FUNCTION lance_deregister_table(text) FROM PUBLIC;

CREATE FUNCTION lance_deregister_table(
	id text[],
	OUT location text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_deregister_table';
COMMENT ON FUNCTION lance_deregister_table(text[]) IS
	'forget a table; its files stay (id as a list of names)';
REVOKE ALL ON FUNCTION lance_deregister_table(text[]) FROM PUBLIC;

CREATE FUNCTION lance_drop_table(
	id text,
	OUT location text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_drop_table';
COMMENT ON FUNCTION lance_drop_table(text) IS
	'drop a table; its files are removed after the transaction has committed';
REVOKE ALL ON FUNCTION lance_drop_table(text) FROM PUBLIC;

CREATE FUNCTION lance_drop_table(
	id text[],
	OUT location text, OUT properties jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_drop_table';
COMMENT ON FUNCTION lance_drop_table(text[]) IS
	'drop a table; its files are removed after the transaction has committed (id as a list of names)';
REVOKE ALL ON FUNCTION lance_drop_table(text[]) FROM PUBLIC;

CREATE FUNCTION lance_create_table_version(
	id text, version bigint, manifest_path text, branch text DEFAULT NULL, manifest_size bigint DEFAULT NULL,
	e_tag text DEFAULT NULL, metadata jsonb DEFAULT NULL, naming_scheme text DEFAULT NULL,
	OUT version bigint, OUT manifest_path text, OUT manifest_size bigint, OUT e_tag text,
	OUT committed_at timestamptz, OUT metadata jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_create_table_version';
COMMENT ON FUNCTION lance_create_table_version(text, bigint, text, text, bigint, text, jsonb, text) IS
	'make a staged manifest the next version of a table, when the transaction commits';
REVOKE ALL ON FUNCTION lance_create_table_version(text, bigint, text, text, bigint, text, jsonb, text) FROM PUBLIC;

CREATE FUNCTION lance_create_table_version(
	id text[], version bigint, manifest_path text, branch text DEFAULT NULL,
	manifest_size bigint DEFAULT NULL, e_tag text DEFAULT NULL, metadata jsonb DEFAULT NULL,
	naming_scheme text DEFAULT NULL,
	OUT version bigint, OUT manifest_path text, OUT manifest_size bigint, OUT e_tag text,
	OUT committed_at timestamptz, OUT metadata jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_create_table_version';
COMMENT ON FUNCTION lance_create_table_version(text[], bigint, text, text, bigint, text, jsonb, text) IS
	'make a staged manifest the next version of a table, when the transaction commits (id as a list of names)';
REVOKE ALL ON FUNCTION lance_create_table_version(text[], bigint, text, text, bigint, text, jsonb, text) FROM PUBLIC;

CREATE FUNCTION lance_list_table_versions(
	id text, branch text DEFAULT NULL, page_token text DEFAULT NULL, "limit" integer DEFAULT NULL,
	descending boolean DEFAULT NULL)
	RETURNS TABLE (version bigint, manifest_path text, manifest_size bigint, e_tag text,
	committed_at timestamptz, metadata jsonb)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_table_versions';
COMMENT ON FUNCTION lance_list_table_versions(text, text, text, integer, boolean) IS
	'versions of a table,
	also those that were written past the catalog; page_token: the last version of the page before';
REVOKE ALL ON FUNCTION lance_list_table_versions(text, text, text, integer, boolean) FROM PUBLIC;

CREATE FUNCTION lance_list_table_versions(
	id text[], branch text DEFAULT NULL, page_token text DEFAULT NULL, "limit" integer DEFAULT NULL,
	descending boolean DEFAULT NULL)
	RETURNS TABLE (version bigint, manifest_path text, manifest_size bigint, e_tag text,
	committed_at timestamptz, metadata jsonb)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_table_versions';
COMMENT ON FUNCTION lance_list_table_versions(text[], text, text, integer, boolean) IS
	'versions of a table,
	also those that were written past the catalog; page_token: the last version of the page before (id as a list of names)';
REVOKE ALL ON FUNCTION lance_list_table_versions(text[], text, text, integer, boolean) FROM PUBLIC;

CREATE FUNCTION lance_describe_table_version(
	id text, version bigint DEFAULT NULL, branch text DEFAULT NULL,
	OUT version bigint, OUT manifest_path text, OUT manifest_size bigint, OUT e_tag text,
	OUT committed_at timestamptz, OUT metadata jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_describe_table_version';
COMMENT ON FUNCTION lance_describe_table_version(text, bigint, text) IS
	'one version of a table; by default the newest';
REVOKE ALL ON FUNCTION lance_describe_table_version(text, bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_describe_table_version(
	id text[], version bigint DEFAULT NULL, branch text DEFAULT NULL,
	OUT version bigint, OUT manifest_path text, OUT manifest_size bigint, OUT e_tag text,
	OUT committed_at timestamptz, OUT metadata jsonb)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_describe_table_version';
COMMENT ON FUNCTION lance_describe_table_version(text[], bigint, text) IS
	'one version of a table; by default the newest (id as a list of names)';
REVOKE ALL ON FUNCTION lance_describe_table_version(text[], bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_delete_table_versions(
	id text, ranges int8multirange, branch text DEFAULT NULL)
	RETURNS bigint
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_delete_table_versions';
COMMENT ON FUNCTION lance_delete_table_versions(text, int8multirange, text) IS
	'delete versions, never the newest; an open end means all that follow; returns how many were deleted';
REVOKE ALL ON FUNCTION lance_delete_table_versions(text, int8multirange, text) FROM PUBLIC;

CREATE FUNCTION lance_delete_table_versions(
	id text[], ranges int8multirange, branch text DEFAULT NULL)
	RETURNS bigint
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_delete_table_versions';
COMMENT ON FUNCTION lance_delete_table_versions(text[], int8multirange, text) IS
	'delete versions,
	never the newest; an open end means all that follow; returns how many were deleted (id as a list of names)';
REVOKE ALL ON FUNCTION lance_delete_table_versions(text[], int8multirange, text) FROM PUBLIC;

CREATE FUNCTION lance_create_api_key(
	role regrole, label text DEFAULT NULL, expires_at timestamptz DEFAULT NULL,
	OUT key_id bigint, OUT api_key text)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_create_api_key';
COMMENT ON FUNCTION lance_create_api_key(regrole, text, timestamptz) IS
	'make an API key for a role; the key is shown this once';
REVOKE ALL ON FUNCTION lance_create_api_key(regrole, text, timestamptz) FROM PUBLIC;

CREATE FUNCTION lance_revoke_api_key(
	key_id bigint)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_revoke_api_key';
COMMENT ON FUNCTION lance_revoke_api_key(bigint) IS
	'make an API key useless';
REVOKE ALL ON FUNCTION lance_revoke_api_key(bigint) FROM PUBLIC;

CREATE FUNCTION lance_run_cleanup(
	max_items integer DEFAULT NULL,
	OUT done bigint, OUT failed bigint, OUT files_removed bigint)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_run_cleanup';
COMMENT ON FUNCTION lance_run_cleanup(integer) IS
	'remove the files of the cleanup queue';
REVOKE ALL ON FUNCTION lance_run_cleanup(integer) FROM PUBLIC;

CREATE FUNCTION lance_list_api_keys()
	RETURNS TABLE (key_id bigint, role regrole, label text, created_at timestamptz, expires_at timestamptz,
		last_used_at timestamptz, revoked_at timestamptz)
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT k.key_id, k.role_id, k.label, k.created_at, k.expires_at, k.last_used_at, k.revoked_at
	FROM lance.api_key k ORDER BY k.key_id;
END;
COMMENT ON FUNCTION lance_list_api_keys() IS 'API keys without their secrets, which are not stored';
REVOKE ALL ON FUNCTION lance_list_api_keys() FROM PUBLIC;

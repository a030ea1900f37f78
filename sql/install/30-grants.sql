-- Who may call an operation is who may EXECUTE its function, in SQL and over REST alike. This grants them together.

CREATE FUNCTION lance_grant_access(role regrole, access text DEFAULT 'write') RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	reading CONSTANT text[] := ARRAY['lance_list_namespaces', 'lance_describe_namespace', 'lance_namespace_exists',
		'lance_list_tables', 'lance_list_all_tables', 'lance_describe_table', 'lance_table_exists',
		'lance_list_table_versions', 'lance_describe_table_version', 'lance_dataset_versions',
		'lance_dataset_fragments', 'lance_dataset_columns', 'lance_dataset_pages', 'lance_list_abandoned_tables', 'lance_rest_activity',
		'lance_rest_statistics', 'lance_get_table_tag_version',
		'lance_list_table_tags', 'lance_list_table_branches', 'lance_get_table_stats', 'lance_describe_transaction'];
	writing CONSTANT text[] := ARRAY['lance_create_namespace', 'lance_drop_namespace', 'lance_declare_table',
		'lance_register_table', 'lance_rename_table', 'lance_deregister_table', 'lance_drop_table',
		'lance_create_table_version', 'lance_delete_table_versions', 'lance_create_table_versions',
		'lance_commit_tables', 'lance_create_table_tag', 'lance_update_table_tag', 'lance_delete_table_tag',
		'lance_create_table_branch', 'lance_delete_table_branch', 'lance_restore_table',
		'lance_update_table_schema_metadata', 'lance_update_field_metadata', 'lance_alter_table_drop_columns',
		'lance_alter_table_alter_columns', 'lance_alter_transaction',
		'lance_import_directory', 'lance_drop_abandoned_tables'];
	names text[];
	f regprocedure;
BEGIN
	IF access = 'read' THEN
		names := reading;
	ELSIF access = 'write' THEN
		names := reading || writing;
	ELSE
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('invalid access "%s"', access), HINT = 'Valid values are "read" and "write".';
	END IF;
	FOR f IN
		SELECT p.oid FROM pg_proc p
			JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
			JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
		WHERE e.extname = 'lance_catalog' AND p.proname = ANY (names)
	LOOP
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', f, role);
	END LOOP;
	EXECUTE format('GRANT USAGE ON SCHEMA lance TO %s', role);
END
$$;
COMMENT ON FUNCTION lance_grant_access(regrole, text) IS
	'let a role call the operations, by SQL and REST, and read the views; access: read or write';
REVOKE ALL ON FUNCTION lance_grant_access(regrole, text) FROM PUBLIC;

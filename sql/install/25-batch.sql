-- Several tables at once. In SQL a transaction does that by itself; these take what the REST API's batches take.

CREATE FUNCTION lance_create_table_versions(entries jsonb)
	RETURNS TABLE (id text[], branch text, version bigint, manifest_path text, manifest_size bigint, e_tag text,
		committed_at timestamptz, metadata jsonb)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	entry jsonb;
	names text[];
BEGIN
	IF jsonb_typeof(entries) IS DISTINCT FROM 'array' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'entries must be a list of objects';
	END IF;
	FOR entry IN SELECT e FROM jsonb_array_elements(entries) e LOOP
		IF jsonb_typeof(entry) <> 'object' THEN
			RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'entries must be a list of objects';
		END IF;
		names := CASE jsonb_typeof(entry -> 'id')
			WHEN 'array' THEN ARRAY(SELECT n FROM jsonb_array_elements_text(entry -> 'id') n)
			ELSE string_to_array(entry ->> 'id', '$') END;
		RETURN QUERY SELECT names, entry ->> 'branch', v.version, v.manifest_path, v.manifest_size, v.e_tag,
				v.committed_at, v.metadata
			FROM @extschema@.lance_create_table_version(names, (entry ->> 'version')::bigint, entry ->> 'manifest_path',
				entry ->> 'branch', (entry ->> 'manifest_size')::bigint, entry ->> 'e_tag', entry -> 'metadata',
				entry ->> 'naming_scheme') v;
	END LOOP;
END
$$;
COMMENT ON FUNCTION lance_create_table_versions(jsonb) IS
	'make staged manifests the next versions of several tables, all of them or none; each entry is an object with the
	arguments of lance_create_table_version, its id in text or as a list of names; the tables are locked in this order';
REVOKE ALL ON FUNCTION lance_create_table_versions(jsonb) FROM PUBLIC;

CREATE FUNCTION lance_commit_tables(operations jsonb)
	RETURNS TABLE (operation text, id text[], location text, version bigint, manifest_path text, deleted_count bigint)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	hint CONSTANT text := 'Each operation has exactly one of "declare_table", "create_table_version",'
		' "delete_table_versions" and "deregister_table".';
	item jsonb;
	args jsonb;
BEGIN
	IF jsonb_typeof(operations) IS DISTINCT FROM 'array' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'operations must be a list of objects';
	END IF;
	FOR item IN SELECT o FROM jsonb_array_elements(operations) o LOOP
		IF jsonb_typeof(item) <> 'object' OR (SELECT count(*) FROM jsonb_object_keys(item)) <> 1 THEN
			RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'an operation must be one thing to do',
				HINT = hint;
		END IF;
		SELECT k, item -> k INTO operation, args FROM jsonb_object_keys(item) k;
		IF jsonb_typeof(args) <> 'object' THEN
			RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
				MESSAGE = format('the arguments of "%s" must be an object', operation);
		END IF;
		id := CASE jsonb_typeof(args -> 'id')
			WHEN 'array' THEN ARRAY(SELECT n FROM jsonb_array_elements_text(args -> 'id') n)
			ELSE string_to_array(args ->> 'id', '$') END;
		location := NULL;
		version := NULL;
		manifest_path := NULL;
		deleted_count := NULL;
		CASE operation
			WHEN 'declare_table' THEN
				SELECT t.location INTO location
				FROM @extschema@.lance_declare_table(id, args ->> 'location', NULL, args -> 'properties') t;
			WHEN 'create_table_version' THEN
				SELECT v.version, v.manifest_path INTO version, manifest_path
				FROM @extschema@.lance_create_table_versions(jsonb_build_array(args)) v;
			WHEN 'delete_table_versions' THEN
				deleted_count := @extschema@.lance_delete_table_versions(id,
					(SELECT range_agg(int8range((r ->> 'start_version')::bigint, nullif((r ->> 'end_version')::bigint, -1)))
					FROM jsonb_array_elements(args -> 'ranges') r), args ->> 'branch');
			WHEN 'deregister_table' THEN
				SELECT t.location INTO location FROM @extschema@.lance_deregister_table(id) t;
			ELSE
				RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
					MESSAGE = format('"%s" can''t be part of a commit over several tables', operation), HINT = hint;
		END CASE;
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION lance_commit_tables(jsonb) IS
	'declare tables, create and delete versions and deregister tables, all of it or nothing; each operation is an object
	with one member, named as the operation, that holds its arguments; the tables are locked in this order';
REVOKE ALL ON FUNCTION lance_commit_tables(jsonb) FROM PUBLIC;

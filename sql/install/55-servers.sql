-- Tables and namespaces name their storage profile, a foreign server, by its name: one that is in use keeps it.

CREATE FUNCTION lance_check_servers()
	RETURNS event_trigger
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	missing text;
	users bigint;
BEGIN
	WITH used AS (
		SELECT t.server_name FROM lance.table_entry t
		UNION ALL
		SELECT e.properties ->> 'server' FROM lance.catalog_entry e WHERE e.kind = 'namespace' AND e.properties ? 'server'
	), gone AS (
		SELECT o.object_name AS server_name FROM pg_event_trigger_dropped_objects() o
		WHERE TG_EVENT = 'sql_drop' AND o.object_type = 'server'
		UNION
		-- A server whose name is not in use may be one that had another name before.
		SELECT u.server_name FROM used u
		WHERE TG_EVENT = 'ddl_command_end' AND NOT EXISTS (
			SELECT FROM pg_event_trigger_ddl_commands() c JOIN pg_foreign_server s ON s.oid = c.objid
			JOIN used named ON named.server_name = s.srvname)
	)
	SELECT u.server_name, count(*) INTO missing, users
	FROM used u JOIN gone g USING (server_name)
	WHERE NOT EXISTS (SELECT FROM pg_foreign_server s WHERE s.srvname = u.server_name)
	GROUP BY u.server_name LIMIT 1;
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'dependent_objects_still_exist',
			MESSAGE = format('server "%s" is the storage profile of tables or namespaces of the Lance catalog', missing),
			DETAIL = format('Tables and namespaces that name it: %s.', users),
			HINT = 'Drop or deregister these first.';
	END IF;
END
$$;
COMMENT ON FUNCTION lance_check_servers() IS
	'event trigger: a server that is the storage profile of tables or namespaces is neither dropped nor renamed';
REVOKE ALL ON FUNCTION lance_check_servers() FROM PUBLIC;

CREATE EVENT TRIGGER lance_server_drop ON sql_drop
	WHEN TAG IN ('DROP SERVER', 'DROP OWNED', 'DROP FOREIGN DATA WRAPPER', 'DROP EXTENSION')
	EXECUTE FUNCTION lance_check_servers();
COMMENT ON EVENT TRIGGER lance_server_drop IS 'keeps servers that are storage profiles in use';

CREATE EVENT TRIGGER lance_server_rename ON ddl_command_end
	WHEN TAG IN ('ALTER SERVER')
	EXECUTE FUNCTION lance_check_servers();
COMMENT ON EVENT TRIGGER lance_server_rename IS 'keeps the names of servers that are storage profiles in use';

-- Bringing what exists: directories of Lance tables.

CREATE FUNCTION lance_import_directory(
	server text, path text DEFAULT '', namespace text DEFAULT '$', dry_run boolean DEFAULT false)
	RETURNS TABLE (id text[], kind text, location text, action text, detail text)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_import_directory';
COMMENT ON FUNCTION lance_import_directory(text, text, text, boolean) IS
	'register every table of a directory of Lance tables where it lies, with its namespaces; action: create, register,
	exists, skip or conflict';
REVOKE ALL ON FUNCTION lance_import_directory(text, text, text, boolean) FROM PUBLIC;

CREATE FUNCTION lance_import_directory(
	server text, path text, namespace text[], dry_run boolean DEFAULT false)
	RETURNS TABLE (id text[], kind text, location text, action text, detail text)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_import_directory';
COMMENT ON FUNCTION lance_import_directory(text, text, text[], boolean) IS
	'register every table of a directory of Lance tables where it lies, with its namespaces; action: create, register,
	exists, skip or conflict (namespace as a list of names)';
REVOKE ALL ON FUNCTION lance_import_directory(text, text, text[], boolean) FROM PUBLIC;

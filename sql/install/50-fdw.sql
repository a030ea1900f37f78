-- The foreign-data wrapper and the functions that make foreign tables.
CREATE FUNCTION lance_fdw_handler()
RETURNS fdw_handler
LANGUAGE c STRICT
AS 'MODULE_PATHNAME', 'lance_sql_fdw_handler';
COMMENT ON FUNCTION lance_fdw_handler() IS 'handler of the foreign-data wrapper lance_fdw';

CREATE FUNCTION lance_fdw_validator(options text[], catalog oid)
RETURNS void
LANGUAGE c STRICT
AS 'MODULE_PATHNAME', 'lance_sql_fdw_validator';
COMMENT ON FUNCTION lance_fdw_validator(text[], oid) IS 'validator of the options of lance_fdw';

CREATE FOREIGN DATA WRAPPER lance_fdw HANDLER lance_fdw_handler VALIDATOR lance_fdw_validator;

COMMENT ON FOREIGN DATA WRAPPER lance_fdw IS 'Lance datasets on object stores and local folders';

CREATE FUNCTION lance_attach_table(table_id text, schema text, name text DEFAULT NULL, server text DEFAULT NULL,
	version bigint DEFAULT NULL, as_of timestamptz DEFAULT NULL, branch text DEFAULT NULL, structs text DEFAULT NULL,
	system_columns text DEFAULT NULL, tag text DEFAULT NULL)
RETURNS regclass
LANGUAGE c VOLATILE
AS 'MODULE_PATHNAME', 'lance_sql_attach_table';

COMMENT ON FUNCTION lance_attach_table(text, text, text, text, bigint, timestamptz, text, text, text, text)
IS 'make a foreign table of a catalog table';

CREATE FUNCTION lance_attach_dataset(uri text, server text, schema text, name text,
	version bigint DEFAULT NULL, as_of timestamptz DEFAULT NULL, branch text DEFAULT NULL, structs text DEFAULT NULL,
	system_columns text DEFAULT NULL, tag text DEFAULT NULL)
RETURNS regclass
LANGUAGE c VOLATILE
AS 'MODULE_PATHNAME', 'lance_sql_attach_dataset';

COMMENT ON FUNCTION lance_attach_dataset(text, text, text, text, bigint, timestamptz, text, text, text, text)
IS 'make a foreign table of a dataset given by its URI';

CREATE FUNCTION lance_refresh_table(relation regclass)
RETURNS integer
LANGUAGE c VOLATILE STRICT
AS 'MODULE_PATHNAME', 'lance_sql_refresh_table';

COMMENT ON FUNCTION lance_refresh_table(regclass)
IS 'bring the columns of a foreign table up to its dataset; returns the number of columns changed';

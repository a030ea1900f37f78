-- Looking into datasets. With a server the dataset is a URI, without one the id of a catalog table. Each needs USAGE on
-- the server beside EXECUTE.

CREATE FUNCTION lance_dataset_versions(dataset text, server text DEFAULT NULL, branch text DEFAULT NULL,
	OUT version bigint, OUT committed_at timestamptz, OUT operation text, OUT fragments bigint,
	OUT physical_rows bigint, OUT manifest_key text, OUT manifest_size bigint, OUT problem text)
	RETURNS SETOF record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_dataset_versions';
COMMENT ON FUNCTION lance_dataset_versions(text, text, text) IS
	'the versions of a dataset that are there: when and by which operation each was made, or why it can''t be read';
REVOKE ALL ON FUNCTION lance_dataset_versions(text, text, text) FROM PUBLIC;

CREATE FUNCTION lance_dataset_fragments(dataset text, server text DEFAULT NULL, version bigint DEFAULT NULL,
	branch text DEFAULT NULL,
	OUT fragment_id bigint, OUT files text[], OUT bytes bigint, OUT physical_rows bigint, OUT deleted_rows bigint,
	OUT deletion_file text)
	RETURNS SETOF record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_dataset_fragments';
COMMENT ON FUNCTION lance_dataset_fragments(text, text, bigint, text) IS
	'the fragments of a version: data files, rows, deleted rows and the kind of deletion file';
REVOKE ALL ON FUNCTION lance_dataset_fragments(text, text, bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_dataset_columns(dataset text, server text DEFAULT NULL, version bigint DEFAULT NULL,
	branch text DEFAULT NULL,
	OUT path text[], OUT type text, OUT field_id bigint, OUT nullable boolean, OUT extension text)
	RETURNS SETOF record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_dataset_columns';
COMMENT ON FUNCTION lance_dataset_columns(text, text, bigint, text) IS
	'the columns of a version with their parts: type, field id, whether NULL is allowed';
REVOKE ALL ON FUNCTION lance_dataset_columns(text, text, bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_dataset_pages(dataset text, server text DEFAULT NULL, version bigint DEFAULT NULL,
	branch text DEFAULT NULL, fragment bigint DEFAULT NULL,
	OUT fragment_id bigint, OUT file text, OUT file_version text, OUT file_column bigint, OUT field_id bigint,
	OUT page bigint, OUT first_row bigint, OUT rows bigint, OUT buffers bigint, OUT bytes bigint, OUT layout text,
	OUT encoding text)
	RETURNS SETOF record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_dataset_pages';
COMMENT ON FUNCTION lance_dataset_pages(text, text, bigint, text, bigint) IS
	'the pages of a version''s data files, or of one fragment''s: rows, buffers, bytes, layout and encoding';
REVOKE ALL ON FUNCTION lance_dataset_pages(text, text, bigint, text, bigint) FROM PUBLIC;

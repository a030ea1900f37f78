-- Tags and branches: the operations as functions, and what lies in the stores as views.

CREATE FUNCTION lance_create_table_tag(
	id text, tag text, version bigint, branch text DEFAULT NULL)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_create_table_tag';
COMMENT ON FUNCTION lance_create_table_tag(text, text, bigint, text) IS
	'name a version of a table, or of one of its branches, when the transaction commits';
REVOKE ALL ON FUNCTION lance_create_table_tag(text, text, bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_create_table_tag(
	id text[], tag text, version bigint, branch text DEFAULT NULL)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_create_table_tag';
COMMENT ON FUNCTION lance_create_table_tag(text[], text, bigint, text) IS
	'name a version of a table, or of one of its branches, when the transaction commits (id as a list of names)';
REVOKE ALL ON FUNCTION lance_create_table_tag(text[], text, bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_get_table_tag_version(
	id text, tag text,
	OUT version bigint, OUT branch text)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_get_table_tag_version';
COMMENT ON FUNCTION lance_get_table_tag_version(text, text) IS
	'which version a tag points to; branch is null for main';
REVOKE ALL ON FUNCTION lance_get_table_tag_version(text, text) FROM PUBLIC;

CREATE FUNCTION lance_get_table_tag_version(
	id text[], tag text,
	OUT version bigint, OUT branch text)
	RETURNS record
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_get_table_tag_version';
COMMENT ON FUNCTION lance_get_table_tag_version(text[], text) IS
	'which version a tag points to; branch is null for main (id as a list of names)';
REVOKE ALL ON FUNCTION lance_get_table_tag_version(text[], text) FROM PUBLIC;

CREATE FUNCTION lance_update_table_tag(
	id text, tag text, version bigint, branch text DEFAULT NULL)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_update_table_tag';
COMMENT ON FUNCTION lance_update_table_tag(text, text, bigint, text) IS
	'move a tag to another version, when the transaction commits';
REVOKE ALL ON FUNCTION lance_update_table_tag(text, text, bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_update_table_tag(
	id text[], tag text, version bigint, branch text DEFAULT NULL)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_update_table_tag';
COMMENT ON FUNCTION lance_update_table_tag(text[], text, bigint, text) IS
	'move a tag to another version, when the transaction commits (id as a list of names)';
REVOKE ALL ON FUNCTION lance_update_table_tag(text[], text, bigint, text) FROM PUBLIC;

CREATE FUNCTION lance_delete_table_tag(
	id text, tag text)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_delete_table_tag';
COMMENT ON FUNCTION lance_delete_table_tag(text, text) IS
	'remove a tag, when the transaction commits; the version stays';
REVOKE ALL ON FUNCTION lance_delete_table_tag(text, text) FROM PUBLIC;

CREATE FUNCTION lance_delete_table_tag(
	id text[], tag text)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_delete_table_tag';
COMMENT ON FUNCTION lance_delete_table_tag(text[], text) IS
	'remove a tag, when the transaction commits; the version stays (id as a list of names)';
REVOKE ALL ON FUNCTION lance_delete_table_tag(text[], text) FROM PUBLIC;

CREATE FUNCTION lance_list_table_tags(
	id text, page_token text DEFAULT NULL, "limit" integer DEFAULT NULL)
	RETURNS TABLE (tag text, version bigint, branch text, manifest_size bigint, created_at timestamptz,
	updated_at timestamptz, metadata jsonb)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_table_tags';
COMMENT ON FUNCTION lance_list_table_tags(text, text, integer) IS
	'tags of a table; page_token: the last tag of the page before';
REVOKE ALL ON FUNCTION lance_list_table_tags(text, text, integer) FROM PUBLIC;

CREATE FUNCTION lance_list_table_tags(
	id text[], page_token text DEFAULT NULL, "limit" integer DEFAULT NULL)
	RETURNS TABLE (tag text, version bigint, branch text, manifest_size bigint, created_at timestamptz,
	updated_at timestamptz, metadata jsonb)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_table_tags';
COMMENT ON FUNCTION lance_list_table_tags(text[], text, integer) IS
	'tags of a table; page_token: the last tag of the page before (id as a list of names)';
REVOKE ALL ON FUNCTION lance_list_table_tags(text[], text, integer) FROM PUBLIC;

CREATE FUNCTION lance_create_table_branch(
	id text, name text, from_branch text DEFAULT NULL, from_version bigint DEFAULT NULL)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_create_table_branch';
COMMENT ON FUNCTION lance_create_table_branch(text, text, text, bigint) IS
	'begin a branch at a version of main or of another branch, by default its newest; no data is copied';
REVOKE ALL ON FUNCTION lance_create_table_branch(text, text, text, bigint) FROM PUBLIC;

CREATE FUNCTION lance_create_table_branch(
	id text[], name text, from_branch text DEFAULT NULL, from_version bigint DEFAULT NULL)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_create_table_branch';
COMMENT ON FUNCTION lance_create_table_branch(text[], text, text, bigint) IS
	'begin a branch at a version of main or of another branch, by default its newest; no data is copied (id as a list of names)';
REVOKE ALL ON FUNCTION lance_create_table_branch(text[], text, text, bigint) FROM PUBLIC;

CREATE FUNCTION lance_delete_table_branch(
	id text, name text)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_delete_table_branch';
COMMENT ON FUNCTION lance_delete_table_branch(text, text) IS
	'remove a branch that no tag and no other branch stands on; its files are removed after the commit';
REVOKE ALL ON FUNCTION lance_delete_table_branch(text, text) FROM PUBLIC;

CREATE FUNCTION lance_delete_table_branch(
	id text[], name text)
	RETURNS void
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_delete_table_branch';
COMMENT ON FUNCTION lance_delete_table_branch(text[], text) IS
	'remove a branch that no tag and no other branch stands on; its files are removed after the commit (id as a list of names)';
REVOKE ALL ON FUNCTION lance_delete_table_branch(text[], text) FROM PUBLIC;

CREATE FUNCTION lance_list_table_branches(
	id text, page_token text DEFAULT NULL, "limit" integer DEFAULT NULL)
	RETURNS TABLE (branch text, parent_branch text, parent_version bigint, created_at timestamptz,
	manifest_size bigint, metadata jsonb)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_table_branches';
COMMENT ON FUNCTION lance_list_table_branches(text, text, integer) IS
	'branches of a table, without main; page_token: the last branch of the page before';
REVOKE ALL ON FUNCTION lance_list_table_branches(text, text, integer) FROM PUBLIC;

CREATE FUNCTION lance_list_table_branches(
	id text[], page_token text DEFAULT NULL, "limit" integer DEFAULT NULL)
	RETURNS TABLE (branch text, parent_branch text, parent_version bigint, created_at timestamptz,
	manifest_size bigint, metadata jsonb)
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'lance_sql_list_table_branches';
COMMENT ON FUNCTION lance_list_table_branches(text[], text, integer) IS
	'branches of a table, without main; page_token: the last branch of the page before (id as a list of names)';
REVOKE ALL ON FUNCTION lance_list_table_branches(text[], text, integer) FROM PUBLIC;

CREATE VIEW lance.tags AS
	SELECT t.namespace, t.table_name, r.tag, r.version, r.branch, r.created_at, r.updated_at, r.metadata, t.table_id
	FROM lance.tables t CROSS JOIN LATERAL lance_list_table_tags(t.path) r;
COMMENT ON VIEW lance.tags IS 'tags of all tables, read from their stores; needs EXECUTE on lance_list_table_tags';
COMMENT ON COLUMN lance.tags.branch IS 'that the version is of; null for main';

CREATE VIEW lance.branches AS
	SELECT t.namespace, t.table_name, r.branch, r.parent_branch, r.parent_version, r.created_at, r.metadata,
		t.table_id
	FROM lance.tables t CROSS JOIN LATERAL lance_list_table_branches(t.path) r;
COMMENT ON VIEW lance.branches IS 'branches of all tables, read from their stores; needs EXECUTE on lance_list_table_branches';
COMMENT ON COLUMN lance.branches.parent_branch IS 'that it began on; null for main';

GRANT SELECT ON lance.tags, lance.branches TO PUBLIC;

\echo Use "CREATE EXTENSION lance_catalog" to load this file. \quit

-- The catalog's tables. Operations change them; people read the views. CREATE SCHEMA fails when the name is taken, so
-- that nothing that somebody else made is ever adopted.

CREATE SCHEMA lance;
COMMENT ON SCHEMA lance IS 'catalog of Lance tables; read it through the views, change it with the lance_* functions';

CREATE SEQUENCE lance.catalog_entry_id;
COMMENT ON SEQUENCE lance.catalog_entry_id IS 'identifiers of namespaces and tables; never used twice';

CREATE TABLE lance.catalog_entry (
	entry_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('lance.catalog_entry_id'),
	parent_id bigint REFERENCES lance.catalog_entry (entry_id),
	name text COLLATE "C" NOT NULL,
	kind text NOT NULL CHECK (kind IN ('namespace', 'table')),
	properties jsonb NOT NULL DEFAULT '{}' CHECK (pg_catalog.jsonb_typeof(properties) = 'object'),
	created_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
	-- A table and a namespace can't share a name. The key also makes a rename a change of the row's identity, which
	-- a child's lock on its namespace holds back.
	UNIQUE (parent_id, name),
	CHECK ((parent_id IS NULL) = (entry_id = 0)),
	CHECK (entry_id = 0 OR pg_catalog.octet_length(name) BETWEEN 1 AND 1024)
);
COMMENT ON TABLE lance.catalog_entry IS 'names: namespaces and tables below the root, which is row 0';
COMMENT ON COLUMN lance.catalog_entry.parent_id IS 'the namespace that holds the name';
COMMENT ON COLUMN lance.catalog_entry.name IS 'one part of an id, compared by its bytes';
COMMENT ON COLUMN lance.catalog_entry.properties IS 'texts by name; "server" and "managed_versioning" mean something to the catalog';
INSERT INTO lance.catalog_entry (entry_id, parent_id, name, kind) VALUES (0, NULL, '', 'namespace');

CREATE TABLE lance.table_entry (
	table_id bigint PRIMARY KEY REFERENCES lance.catalog_entry (entry_id) ON DELETE CASCADE,
	location text COLLATE "C" NOT NULL UNIQUE,
	server_name text NOT NULL,
	managed_versioning boolean NOT NULL
);
COMMENT ON TABLE lance.table_entry IS 'where the tables lie';
COMMENT ON COLUMN lance.table_entry.location IS 'folder of the dataset, a URI or an absolute path, without a slash at the end';
COMMENT ON COLUMN lance.table_entry.server_name IS 'storage profile: a foreign server of lance_fdw';
COMMENT ON COLUMN lance.table_entry.managed_versioning IS 'clients are told to commit through the catalog';

CREATE TABLE lance.version_entry (
	table_id bigint NOT NULL REFERENCES lance.table_entry (table_id) ON DELETE CASCADE,
	branch text COLLATE "C" NOT NULL,
	version bigint NOT NULL CHECK (version > 0),
	manifest_key text COLLATE "C" NOT NULL,
	manifest_size bigint,
	e_tag text,
	metadata jsonb NOT NULL DEFAULT '{}' CHECK (pg_catalog.jsonb_typeof(metadata) = 'object'),
	staged_key text COLLATE "C",
	committed_at timestamptz NOT NULL,
	adopted boolean NOT NULL DEFAULT false,
	deleted boolean NOT NULL DEFAULT false,
	PRIMARY KEY (table_id, branch, version)
);
COMMENT ON TABLE lance.version_entry IS 'versions that went through the catalog or were found in the store by a writer';
COMMENT ON COLUMN lance.version_entry.branch IS 'name of the branch; empty for main';
COMMENT ON COLUMN lance.version_entry.manifest_key IS 'the manifest, relative to the table''s location';
COMMENT ON COLUMN lance.version_entry.staged_key IS 'what the client staged, by which a request sent twice is recognised';
COMMENT ON COLUMN lance.version_entry.adopted IS 'written past the catalog; committed_at is the file''s time';
COMMENT ON COLUMN lance.version_entry.deleted IS 'deleted, the manifest waits in the cleanup queue';

CREATE TABLE lance.transaction_entry (
	table_id bigint NOT NULL REFERENCES lance.table_entry (table_id) ON DELETE CASCADE,
	transaction_id text COLLATE "C" NOT NULL,
	branch text COLLATE "C" NOT NULL,
	version bigint NOT NULL CHECK (version > 0),
	read_version bigint NOT NULL,
	operation text,
	tag text,
	properties jsonb NOT NULL DEFAULT '{}' CHECK (pg_catalog.jsonb_typeof(properties) = 'object'),
	PRIMARY KEY (table_id, transaction_id)
);
CREATE INDEX ON lance.transaction_entry (table_id, branch, version);
COMMENT ON TABLE lance.transaction_entry IS 'transactions that were made here, and those of other writers that were given properties';
COMMENT ON COLUMN lance.transaction_entry.branch IS 'name of the branch; empty for main';
COMMENT ON COLUMN lance.transaction_entry.version IS 'the version that it made';
COMMENT ON COLUMN lance.transaction_entry.read_version IS 'the version that it was made from';
COMMENT ON COLUMN lance.transaction_entry.operation IS 'as the format names it; null: not known';

CREATE SEQUENCE lance.api_key_id;
COMMENT ON SEQUENCE lance.api_key_id IS 'identifiers of API keys';

CREATE TABLE lance.api_key (
	key_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('lance.api_key_id'),
	key_hash bytea NOT NULL UNIQUE CHECK (pg_catalog.octet_length(key_hash) = 32),
	role_id regrole NOT NULL,
	label text,
	created_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
	expires_at timestamptz,
	last_used_at timestamptz,
	revoked_at timestamptz
);
COMMENT ON TABLE lance.api_key IS 'API keys of the REST server, as hashes';
COMMENT ON COLUMN lance.api_key.key_hash IS 'SHA-256 of the key as clients send it';

CREATE TABLE lance.privilege_entry (
	entry_id bigint NOT NULL REFERENCES lance.catalog_entry (entry_id) ON DELETE CASCADE,
	role_id regrole NOT NULL,
	privilege text COLLATE "C" NOT NULL CHECK (privilege IN ('read', 'write', 'admin', 'owner')),
	granted_by text COLLATE "C" NOT NULL,
	granted_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
	PRIMARY KEY (entry_id, role_id, privilege)
);
-- By which the way to what was granted is found, past what is merely owned, and rows of dropped roles.
CREATE INDEX ON lance.privilege_entry (role_id, privilege);
COMMENT ON TABLE lance.privilege_entry IS 'who may do what with a namespace and all below it, or with a table';
COMMENT ON COLUMN lance.privilege_entry.privilege IS 'each includes those before it; owner: made it, and may what admin may';
COMMENT ON COLUMN lance.privilege_entry.granted_by IS 'name of the role that gave it, at the time';

CREATE SEQUENCE lance.cleanup_item_id;
COMMENT ON SEQUENCE lance.cleanup_item_id IS 'identifiers of cleanup items';

CREATE TABLE lance.cleanup_item (
	item_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('lance.cleanup_item_id'),
	kind text NOT NULL CHECK (kind IN ('location', 'object', 'versions', 'branch')),
	location text COLLATE "C" NOT NULL,
	object_key text COLLATE "C",
	table_id bigint,
	branch text COLLATE "C",
	deleted_versions int8multirange,
	server_name text NOT NULL,
	role_name text NOT NULL,
	queued_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
	attempts integer NOT NULL DEFAULT 0,
	due_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
	last_error text
);
CREATE INDEX ON lance.cleanup_item (due_at);
CREATE INDEX ON lance.cleanup_item (location) WHERE kind = 'location';
CREATE INDEX ON lance.cleanup_item (table_id, branch) WHERE kind IN ('branch', 'versions');
COMMENT ON TABLE lance.cleanup_item IS 'files to remove, written in the transaction that orphaned them';
COMMENT ON COLUMN lance.cleanup_item.kind IS 'location: all below it; object: one file; versions: manifests of deleted versions; branch: files of a deleted branch';
COMMENT ON COLUMN lance.cleanup_item.deleted_versions IS 'of versions: long runs of them, each of which is on record as deleted';
COMMENT ON COLUMN lance.cleanup_item.role_name IS 'whose user mapping reaches the store';

-- Everything is data of the user, except the root that CREATE EXTENSION makes. Keys and privileges of dropped roles are left
-- behind: as bare numbers they could come to mean another role.
SELECT pg_catalog.pg_extension_config_dump('lance.catalog_entry', 'WHERE entry_id <> 0');
SELECT pg_catalog.pg_extension_config_dump('lance.catalog_entry_id', '');
SELECT pg_catalog.pg_extension_config_dump('lance.table_entry', '');
SELECT pg_catalog.pg_extension_config_dump('lance.version_entry', '');
SELECT pg_catalog.pg_extension_config_dump('lance.transaction_entry', '');
SELECT pg_catalog.pg_extension_config_dump('lance.api_key',
	'WHERE role_id::pg_catalog.oid IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('lance.api_key_id', '');
SELECT pg_catalog.pg_extension_config_dump('lance.privilege_entry',
	'WHERE role_id::pg_catalog.oid IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('lance.cleanup_item', '');
SELECT pg_catalog.pg_extension_config_dump('lance.cleanup_item_id', '');

-- ---- views: what the reader may know of, as docs/security.md has it

-- Anybody may call these two: they tell callers of what is theirs.
CREATE FUNCTION lance.is_open(entry_id bigint) RETURNS boolean
	LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'lance_sql_is_open';
COMMENT ON FUNCTION lance.is_open(bigint) IS
	'whether a privilege on this very name, and not only on one above, lets the caller read it';

CREATE FUNCTION lance.namespaces_in_sight() RETURNS bigint[]
	LANGUAGE C STABLE AS 'MODULE_PATHNAME', 'lance_sql_namespaces_in_sight';
COMMENT ON FUNCTION lance.namespaces_in_sight() IS
	'numbers of the namespaces above what was granted to the caller';

-- Of the root and the namespaces below; the rest of the views stands on it. readable: it, and so all below it, may be read.
CREATE VIEW lance.namespace_in_sight WITH (security_barrier) AS
	WITH RECURSIVE tree (namespace_id, path, properties, created_at, readable) AS (
		SELECT e.entry_id, ARRAY[]::text[] COLLATE "C", e.properties, e.created_at, lance.is_open(e.entry_id)
		FROM lance.catalog_entry e WHERE e.entry_id = 0
		UNION ALL
		SELECT s.entry_id, s.path, s.properties, s.created_at, s.readable
		FROM (
			SELECT e.entry_id, t.path OPERATOR(pg_catalog.||) e.name AS path, e.properties, e.created_at,
				t.readable OR lance.is_open(e.entry_id) AS readable
			FROM tree t JOIN lance.catalog_entry e ON e.parent_id = t.namespace_id
			WHERE e.kind = 'namespace' OFFSET 0
		) s
		WHERE s.readable OR s.entry_id = ANY ((SELECT lance.namespaces_in_sight())::bigint[])
	)
	SELECT t.namespace_id, t.path, t.properties, t.created_at, t.readable FROM tree t;
COMMENT ON VIEW lance.namespace_in_sight IS 'what the other views stand on: the namespaces that the reader may know of';
COMMENT ON COLUMN lance.namespace_in_sight.readable IS 'it may be read, and so may all below it';

CREATE VIEW lance.namespaces WITH (security_barrier) AS
	SELECT pg_catalog.array_to_string(s.path, '$') AS namespace, s.properties, s.created_at, s.path, s.namespace_id
	FROM lance.namespace_in_sight s
	WHERE s.namespace_id <> 0;
COMMENT ON VIEW lance.namespaces IS 'the namespaces below the root that the reader may know of';
COMMENT ON COLUMN lance.namespaces.namespace IS 'the id in the spelling of the wire, names joined by "$"';
COMMENT ON COLUMN lance.namespaces.path IS 'the id as a list of names';

CREATE VIEW lance.tables WITH (security_barrier) AS
	SELECT pg_catalog.array_to_string(s.path, '$') AS namespace, e.name AS table_name, d.location, d.server_name,
		d.managed_versioning, e.properties, e.created_at, s.path OPERATOR(pg_catalog.||) e.name AS path,
		d.table_id
	FROM lance.namespace_in_sight s
		JOIN lance.catalog_entry e ON e.parent_id = s.namespace_id
		JOIN lance.table_entry d ON d.table_id = e.entry_id
	WHERE s.readable OR lance.is_open(e.entry_id);
COMMENT ON VIEW lance.tables IS 'the tables that the reader may know of';
COMMENT ON COLUMN lance.tables.namespace IS 'id of the namespace, names joined by "$"; empty for the root';

CREATE VIEW lance.table_versions WITH (security_barrier) AS
	SELECT t.namespace, t.table_name, NULLIF(v.branch, '') AS branch, v.version, v.manifest_key, v.manifest_size,
		v.e_tag, v.metadata, v.committed_at, v.adopted, v.table_id
	FROM lance.version_entry v JOIN lance.tables t ON t.table_id = v.table_id
	WHERE NOT v.deleted;
COMMENT ON VIEW lance.table_versions IS 'versions on record; lance_list_table_versions also looks into the store';

CREATE VIEW lance.transactions WITH (security_barrier) AS
	SELECT t.namespace, t.table_name, x.transaction_id, NULLIF(x.branch, '') AS branch, x.version, x.read_version,
		x.operation, x.tag, x.properties, x.table_id
	FROM lance.transaction_entry x JOIN lance.tables t ON t.table_id = x.table_id;
COMMENT ON VIEW lance.transactions IS 'transactions on record; lance_describe_transaction also looks into the store';

CREATE VIEW lance.privileges WITH (security_barrier) AS
	SELECT COALESCE(NULLIF(pg_catalog.array_to_string(o.path, '$'), ''), '$') AS id, o.kind, p.role_id AS role, p.privilege,
		p.granted_by, p.granted_at, o.path, o.entry_id
	FROM (
		SELECT s.namespace_id AS entry_id, s.path, 'namespace'::text AS kind
		FROM lance.namespace_in_sight s WHERE s.readable
		UNION ALL
		SELECT t.table_id, t.path, 'table'::text FROM lance.tables t
	) o
		JOIN lance.privilege_entry p ON p.entry_id = o.entry_id
		JOIN pg_catalog.pg_roles r ON r.oid = p.role_id;
COMMENT ON VIEW lance.privileges IS 'who was given what, on all that the reader may read';
COMMENT ON COLUMN lance.privileges.id IS 'id of the namespace or table, names joined by "$"; "$" is the root';

CREATE VIEW lance.cleanup_queue AS
	SELECT i.item_id, i.kind, i.location, i.object_key, i.branch, i.server_name, i.queued_at, i.attempts,
		i.due_at, i.last_error
	FROM lance.cleanup_item i;
COMMENT ON VIEW lance.cleanup_queue IS 'files that committed transactions left to remove';

-- Who may use the schema may read these; USAGE on the schema is for the administrator to grant. The hashes of keys
-- are in no view.
GRANT SELECT ON lance.namespaces, lance.tables, lance.table_versions, lance.transactions, lance.privileges TO PUBLIC;

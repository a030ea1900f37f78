-- What the columns hold, where their table or view does not say it beside its definition.

COMMENT ON COLUMN lance.api_key.key_id IS 'number of the key';
COMMENT ON COLUMN lance.api_key.role_id IS 'the role that requests with the key run as';
COMMENT ON COLUMN lance.api_key.label IS 'what the key is for';
COMMENT ON COLUMN lance.api_key.created_at IS 'when it was made';
COMMENT ON COLUMN lance.api_key.expires_at IS 'from then on it is useless; NULL: never';
COMMENT ON COLUMN lance.api_key.last_used_at IS 'of requests that were let in';
COMMENT ON COLUMN lance.api_key.revoked_at IS 'when it was made useless; NULL: it was not';

COMMENT ON COLUMN lance.catalog_entry.entry_id IS 'number of the name, never used twice; 0 is the root';
COMMENT ON COLUMN lance.catalog_entry.kind IS 'namespace or table';
COMMENT ON COLUMN lance.catalog_entry.created_at IS 'when the name was added';

COMMENT ON COLUMN lance.cleanup_item.item_id IS 'number of the item, in the order of queueing';
COMMENT ON COLUMN lance.cleanup_item.location IS 'folder of the dataset';
COMMENT ON COLUMN lance.cleanup_item.object_key IS 'of an object: its path below the location';
COMMENT ON COLUMN lance.cleanup_item.table_id IS 'of versions and branches: their table';
COMMENT ON COLUMN lance.cleanup_item.branch IS 'of versions and branches: the branch; empty for main';
COMMENT ON COLUMN lance.cleanup_item.server_name IS 'storage profile that reaches the location';
COMMENT ON COLUMN lance.cleanup_item.queued_at IS 'when the transaction began that orphaned the files';
COMMENT ON COLUMN lance.cleanup_item.attempts IS 'how often it failed';
COMMENT ON COLUMN lance.cleanup_item.due_at IS 'not tried before';
COMMENT ON COLUMN lance.cleanup_item.last_error IS 'why it failed the last time';

COMMENT ON COLUMN lance.privilege_entry.entry_id IS 'the namespace or table; 0 is the root';
COMMENT ON COLUMN lance.privilege_entry.role_id IS 'the role that has it';
COMMENT ON COLUMN lance.privilege_entry.granted_at IS 'when it was given';

COMMENT ON COLUMN lance.table_entry.table_id IS 'the name''s entry_id';

COMMENT ON COLUMN lance.transaction_entry.table_id IS 'number of the table, never used twice';
COMMENT ON COLUMN lance.transaction_entry.properties IS 'texts by name';

COMMENT ON COLUMN lance.version_entry.table_id IS 'the table';
COMMENT ON COLUMN lance.version_entry.version IS 'number of the version';
COMMENT ON COLUMN lance.version_entry.manifest_size IS 'bytes of the manifest; NULL: not told';
COMMENT ON COLUMN lance.version_entry.e_tag IS 'of the manifest''s object, as the client told';
COMMENT ON COLUMN lance.version_entry.metadata IS 'texts by name, as the client told';
COMMENT ON COLUMN lance.version_entry.committed_at IS 'when the version was committed';

COMMENT ON COLUMN lance.branches.namespace IS 'id of the namespace, names joined by "$"; empty for the root';
COMMENT ON COLUMN lance.branches.table_name IS 'name of the table';
COMMENT ON COLUMN lance.branches.branch IS 'name of the branch; NULL for main';
COMMENT ON COLUMN lance.branches.parent_version IS 'the version that the branch was made from';
COMMENT ON COLUMN lance.branches.created_at IS 'when the branch was made';
COMMENT ON COLUMN lance.branches.metadata IS 'texts by name';
COMMENT ON COLUMN lance.branches.table_id IS 'number of the table, never used twice';

COMMENT ON COLUMN lance.cleanup_queue.item_id IS 'number of the item, in the order of queueing';
COMMENT ON COLUMN lance.cleanup_queue.kind IS 'location: all below it; object: one file; versions: manifests of deleted versions; branch: files of a deleted branch';
COMMENT ON COLUMN lance.cleanup_queue.location IS 'folder of the dataset';
COMMENT ON COLUMN lance.cleanup_queue.object_key IS 'of an object: its path below the location';
COMMENT ON COLUMN lance.cleanup_queue.branch IS 'of versions and branches: the branch; empty for main';
COMMENT ON COLUMN lance.cleanup_queue.server_name IS 'storage profile: a foreign server of lance_fdw';
COMMENT ON COLUMN lance.cleanup_queue.queued_at IS 'when the transaction began that orphaned the files';
COMMENT ON COLUMN lance.cleanup_queue.attempts IS 'how often it failed';
COMMENT ON COLUMN lance.cleanup_queue.due_at IS 'not tried before';
COMMENT ON COLUMN lance.cleanup_queue.last_error IS 'why it failed the last time';

COMMENT ON COLUMN lance.cleanup_summary.pending IS 'items of the queue';
COMMENT ON COLUMN lance.cleanup_summary.failing IS 'those that failed and are tried again';
COMMENT ON COLUMN lance.cleanup_summary.oldest IS 'when the oldest was queued';
COMMENT ON COLUMN lance.cleanup_summary.next_try IS 'when the first of the failing is due again';
COMMENT ON COLUMN lance.cleanup_summary.last_error IS 'of the failing item that is due last';
COMMENT ON COLUMN lance.cleanup_summary.items_done IS 'items worked off';
COMMENT ON COLUMN lance.cleanup_summary.items_failed IS 'tries that failed';
COMMENT ON COLUMN lance.cleanup_summary.files_removed IS 'objects removed';
COMMENT ON COLUMN lance.cleanup_summary.since IS 'when counting began';

COMMENT ON COLUMN lance.namespaces.properties IS 'texts by name; "server" and "managed_versioning" mean something to the catalog';
COMMENT ON COLUMN lance.namespaces.created_at IS 'when it was made';
COMMENT ON COLUMN lance.namespaces.namespace_id IS 'number of the namespace, never used twice';

COMMENT ON COLUMN lance.rest_activity.pid IS 'process';
COMMENT ON COLUMN lance.rest_activity.worker IS 'kind of worker';
COMMENT ON COLUMN lance.rest_activity.operation IS 'what it is doing; NULL: nothing';
COMMENT ON COLUMN lance.rest_activity.since IS 'since when';
COMMENT ON COLUMN lance.rest_activity.waits_for IS 'what it waits for in it; NULL: it computes, or does nothing';

COMMENT ON COLUMN lance.rest_statistics.operation IS 'as the specification names it';
COMMENT ON COLUMN lance.rest_statistics.calls IS 'requests, refused ones included';
COMMENT ON COLUMN lance.rest_statistics.errors IS 'those that were answered with an error';
COMMENT ON COLUMN lance.rest_statistics.total_time IS 'of all calls, from the whole request to the answer''s beginning';
COMMENT ON COLUMN lance.rest_statistics.mean_time IS 'of one call';
COMMENT ON COLUMN lance.rest_statistics.max_time IS 'of the longest call';
COMMENT ON COLUMN lance.rest_statistics.since IS 'when counting began';

COMMENT ON COLUMN lance.table_versions.namespace IS 'id of the namespace, names joined by "$"; empty for the root';
COMMENT ON COLUMN lance.table_versions.table_name IS 'name of the table';
COMMENT ON COLUMN lance.table_versions.branch IS 'name of the branch; NULL for main';
COMMENT ON COLUMN lance.table_versions.version IS 'number of the version';
COMMENT ON COLUMN lance.table_versions.manifest_key IS 'the manifest, relative to the table''s location';
COMMENT ON COLUMN lance.table_versions.manifest_size IS 'bytes of the manifest; NULL: not told';
COMMENT ON COLUMN lance.table_versions.e_tag IS 'of the manifest''s object, as the client told';
COMMENT ON COLUMN lance.table_versions.metadata IS 'texts by name';
COMMENT ON COLUMN lance.table_versions.committed_at IS 'when the version was committed';
COMMENT ON COLUMN lance.table_versions.adopted IS 'written past the catalog; committed_at is the file''s time';
COMMENT ON COLUMN lance.table_versions.table_id IS 'number of the table, never used twice';

COMMENT ON COLUMN lance.tables.table_name IS 'name of the table';
COMMENT ON COLUMN lance.tables.location IS 'folder of the dataset, a URI or an absolute path';
COMMENT ON COLUMN lance.tables.server_name IS 'storage profile: a foreign server of lance_fdw';
COMMENT ON COLUMN lance.tables.managed_versioning IS 'clients are told to commit through the catalog';
COMMENT ON COLUMN lance.tables.properties IS 'texts by name';
COMMENT ON COLUMN lance.tables.created_at IS 'when the table was declared or registered';
COMMENT ON COLUMN lance.tables.path IS 'the id as a list of names';
COMMENT ON COLUMN lance.tables.table_id IS 'number of the table, never used twice';

COMMENT ON COLUMN lance.tags.namespace IS 'id of the namespace, names joined by "$"; empty for the root';
COMMENT ON COLUMN lance.tags.table_name IS 'name of the table';
COMMENT ON COLUMN lance.tags.tag IS 'name of the tag';
COMMENT ON COLUMN lance.tags.version IS 'the version that it names';
COMMENT ON COLUMN lance.tags.created_at IS 'when the tag was made';
COMMENT ON COLUMN lance.tags.updated_at IS 'when the tag was last moved';
COMMENT ON COLUMN lance.tags.metadata IS 'texts by name';
COMMENT ON COLUMN lance.tags.table_id IS 'number of the table, never used twice';

COMMENT ON COLUMN lance.transactions.namespace IS 'id of the namespace, names joined by "$"; empty for the root';
COMMENT ON COLUMN lance.transactions.table_name IS 'name of the table';
COMMENT ON COLUMN lance.transactions.transaction_id IS 'its uuid';
COMMENT ON COLUMN lance.transactions.branch IS 'name of the branch; NULL for main';
COMMENT ON COLUMN lance.transactions.version IS 'the version that it made';
COMMENT ON COLUMN lance.transactions.read_version IS 'the version that it was made from';
COMMENT ON COLUMN lance.transactions.operation IS 'what it did';
COMMENT ON COLUMN lance.transactions.tag IS 'name that it was given';
COMMENT ON COLUMN lance.transactions.properties IS 'texts by name';
COMMENT ON COLUMN lance.transactions.table_id IS 'number of the table, never used twice';

COMMENT ON COLUMN lance.transaction_entry.transaction_id IS 'its uuid';
COMMENT ON COLUMN lance.transaction_entry.tag IS 'name that it was given';

COMMENT ON COLUMN lance.namespace_in_sight.namespace_id IS 'number of the namespace; 0 is the root';
COMMENT ON COLUMN lance.namespace_in_sight.path IS 'the id as a list of names';
COMMENT ON COLUMN lance.namespace_in_sight.properties IS 'texts by name';
COMMENT ON COLUMN lance.namespace_in_sight.created_at IS 'when the namespace was made';

COMMENT ON COLUMN lance.privileges.kind IS 'namespace or table';
COMMENT ON COLUMN lance.privileges.role IS 'the role that has it';
COMMENT ON COLUMN lance.privileges.privilege IS 'read, write, admin, or owner: made it, and may what admin may';
COMMENT ON COLUMN lance.privileges.granted_by IS 'name of the role that gave it, at the time';
COMMENT ON COLUMN lance.privileges.granted_at IS 'when it was given';
COMMENT ON COLUMN lance.privileges.path IS 'the id as a list of names';
COMMENT ON COLUMN lance.privileges.entry_id IS 'number of the namespace or table; 0 is the root';

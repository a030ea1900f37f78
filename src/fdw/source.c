/*
 * source.c
 *	  From a foreign table's options to an opened dataset: where it lies, which version, sharing within a statement.
 *
 * A version is looked up in the store anew for every statement; nothing is remembered across statements except
 * what REPEATABLE READ asks for. What planning has opened is taken over by execution if it is that of the same statement
 * and comes next, or if the version looked up then is the very same manifest.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/location.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/table.h"
#include "catalog/version.h"
#include "dataset/refs.h"
#include "fdw/source.h"
#include "lib/ilist.h"
#include "pg/errcodes.h"
#include "pg/profile.h"
#include "pg/reading.h"
#include "pg/report.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* Opened datasets that no query uses and that are kept for the next one of the transaction. */
#define MAX_IDLE_SOURCES 8

#define UNIX_TO_PG_USECS ((int64)(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* A dataset located, its version chosen, not opened yet. */
typedef struct Pin
{
	LanceProfile *profile;
	char *location; /* canonical URI */
	char *branch;   /* NULL: main */
	uint64 version;
	char *manifest_key;
	uint64 manifest_size; /* 0: unknown */
	char *e_tag;          /* of the manifest file; NULL: unknown */
	int64 time;           /* of the manifest file or the commit, 0: unknown; tells incarnations apart */
} Pin;

/* An opened dataset with what it was opened by. Lives in a context of its own under TopTransactionContext. */
typedef struct SourceEntry
{
	LanceSource public;
	dlist_node node; /* in sources, latest use first */
	MemoryContext memory;
	MemoryContextCallback callback;
	int references; /* of StatementPins */
	Oid userid;
	LanceProfile *profile;
	Pin pin;
} SourceEntry;

/* Which source the scans of one snapshot read for one dataset. Lives in the query's context. */
typedef struct StatementPin
{
	slist_node node; /* in statement_pins */
	MemoryContextCallback callback;
	Snapshot snapshot; /* registered by the query for as long as this lives */
	Oid userid;
	LanceTableOptions options;
	SourceEntry *entry; /* NULL once the end of the transaction has freed it */
} StatementPin;

/* What the planning of a statement of the client's has opened. Lives in the context that it was planned in. */
typedef struct PlannedPin
{
	slist_node node; /* in planned_pins */
	MemoryContextCallback callback;
	TimestampTz statement; /* when that began */
	Oid userid;
	LanceTableOptions options;
	SourceEntry *entry; /* NULL once it was taken over, or the end of the transaction has freed it */
} PlannedPin;

/* The version of a dataset outside the catalog that a REPEATABLE READ transaction saw first. */
typedef struct TransactionPin
{
	slist_node node; /* in transaction_pins */
	char *location;
	char *branch;
	uint64 version;
	char *manifest_key;
	uint64 manifest_size;
	int64 time; /* of the manifest file; with its size it tells incarnations apart */
} TransactionPin;

/* Where a tag of such a dataset pointed when a REPEATABLE READ transaction first looked. */
typedef struct TransactionTag
{
	struct TransactionTag *next;
	char *location;
	char *tag;
	char *branch; /* NULL: main */
	int64 version;
} TransactionTag;

static dlist_head sources = DLIST_STATIC_INIT(sources);
static slist_head statement_pins = SLIST_STATIC_INIT(statement_pins);
static slist_head planned_pins = SLIST_STATIC_INIT(planned_pins);
static slist_head transaction_pins = SLIST_STATIC_INIT(transaction_pins); /* in TopTransactionContext */
static TransactionTag *transaction_tags;                                  /* in TopTransactionContext */
static bool transaction_callback_registered;

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* ---- choosing the version of a dataset outside the catalog */

static void
forget_transaction_pins(XactEvent event, void *arg)
{
	slist_init(&transaction_pins);
	transaction_tags = NULL;
}

static void
register_transaction_callback(void)
{
	if (!transaction_callback_registered)
		RegisterXactCallback(forget_transaction_pins, NULL);
	transaction_callback_registered = true;
}

static TransactionPin *
find_transaction_pin(const char *location, const char *branch)
{
	slist_iter iter;

	slist_foreach(iter, &transaction_pins)
	{
		TransactionPin *pin = slist_container(TransactionPin, node, iter.cur);

		if (same_text(pin->location, location) && same_text(pin->branch, branch))
			return pin;
	}
	return NULL;
}

static void
remember_transaction_pin(const Pin *pin)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	TransactionPin *kept = palloc0(sizeof(*kept));

	register_transaction_callback();
	kept->location = pstrdup(pin->location);
	kept->branch = pin->branch != NULL ? pstrdup(pin->branch) : NULL;
	kept->version = pin->version;
	kept->manifest_key = pstrdup(pin->manifest_key);
	kept->manifest_size = pin->manifest_size;
	kept->time = pin->time;
	slist_push_head(&transaction_pins, &kept->node);
	MemoryContextSwitchTo(old);
}

static void
no_such_version(const char *what, const char *location, const LanceTableOptions *options)
{
	ereport(ERROR,
			(lance_errcode(LANCE_VERSION_NOT_FOUND), errmsg("dataset \"%s\" has no version %s", location, what),
			 options->branch != NULL ? errdetail("Branch \"%s\" was asked for.", options->branch) : 0));
}

static int64
commit_time(LanceLibrary *lib, LncStore *store, const char *branch, const LncVersionFile *file)
{
	LncDatasetOptions options = {.branch = branch,
								 .version = file->version,
								 .manifest_key = file->key,
								 .manifest_size = file->size,
								 .manifest_e_tag = file->e_tag};
	LncArena *arena;
	LncDataset *dataset = NULL;
	LncCode code;
	int64 time = 0;

	lance_check(&lib->ctx, lnc_arena_create_scratch(&lib->ctx, &arena));
	code = lnc_dataset_open(&lib->ctx, arena, store, &options, &dataset);
	if (code == LNC_OK)
		time = dataset->timestamp_us != 0 ? dataset->timestamp_us : file->modified_ms * 1000;
	lnc_arena_destroy(arena);
	lance_check(&lib->ctx, code);
	return time;
}

/* The newest version committed at that time or before, by bisection over the commit times in the manifests. */
static LncVersionFile
version_as_of(LanceLibrary *lib, LncStore *store, const char *folder, const LanceTableOptions *options)
{
	int64 wanted = options->as_of + UNIX_TO_PG_USECS;
	LncVersionFile *files;
	size_t count;
	size_t low = 0; /* versions before it are not younger than wanted */

	lance_check(&lib->ctx, lnc_versions_list(&lib->ctx, lib->arena, store, folder, 0, &count, &files));
	for (size_t high = count; low < high;)
	{
		size_t middle = low + (high - low) / 2;

		if (commit_time(lib, store, options->branch, &files[middle]) <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		no_such_version(psprintf("as of %s", timestamptz_to_str(options->as_of)), options->uri, options);
	return files[low - 1];
}

static void
choose_version(LanceLibrary *lib, LncStore *store, const LanceTableOptions *options, Pin *pin)
{
	bool newest = options->version == 0 && !options->has_as_of;
	TransactionPin *kept = NULL;
	LncVersionFile file;
	char *folder;

	lance_check(&lib->ctx, lnc_versions_folder(&lib->ctx, lib->arena, options->branch, &folder));
	if (newest && IsolationUsesXactSnapshot())
		kept = find_transaction_pin(pin->location, pin->branch);
	if (kept != NULL || options->version != 0)
	{
		uint64 version = kept != NULL ? kept->version : (uint64)options->version;
		LncCode code = lnc_versions_find(&lib->ctx, lib->arena, store, folder, version, &file);

		if (code == LNC_NOT_FOUND)
			no_such_version(psprintf("%llu", (unsigned long long)version), pin->location, options);
		lance_check(&lib->ctx, code);
		if (kept != NULL && (file.size != kept->manifest_size || file.modified_ms != kept->time ||
							 !same_text(file.key, kept->manifest_key)))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("dataset at \"%s\" was replaced while the transaction was reading it", pin->location),
					 errdetail("Version %llu is not the one that the transaction saw first.",
							   (unsigned long long)version),
					 errhint("Run the transaction again.")));
	}
	else if (options->has_as_of)
		file = version_as_of(lib, store, folder, options);
	else
	{
		LncCode code = lnc_versions_latest(&lib->ctx, lib->arena, store, folder, &file);

		if (code == LNC_NOT_FOUND)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FILE), errmsg("no dataset at \"%s\"", pin->location),
					 options->branch != NULL ? errdetail("Branch \"%s\" was asked for.", options->branch) : 0));
		lance_check(&lib->ctx, code);
	}
	pin->version = file.version;
	pin->manifest_key = pstrdup(file.key);
	pin->manifest_size = file.size;
	pin->e_tag = file.e_tag != NULL ? pstrdup(file.e_tag) : NULL;
	pin->time = file.modified_ms;
	if (newest && kept == NULL && IsolationUsesXactSnapshot())
		remember_transaction_pin(pin);
}

/* Put the version that the tag points to into the options. */
static void
resolve_tag(LanceLibrary *lib, LncStore *store, LanceTableOptions *options)
{
	TransactionTag *kept;
	LncTag tag;
	LncCode code;
	MemoryContext old;

	for (kept = transaction_tags; kept != NULL; kept = kept->next)
	{
		if (same_text(kept->location, lnc_store_uri(store)) && same_text(kept->tag, options->tag))
			break;
	}
	if (kept == NULL)
	{
		code = lnc_tag_read(&lib->ctx, lib->arena, store, options->tag, &tag);
		if (code == LNC_NOT_FOUND)
			ereport(ERROR, (lance_errcode(LANCE_TAG_NOT_FOUND),
							errmsg("dataset \"%s\" has no tag \"%s\"", lnc_store_uri(store), options->tag)));
		lance_check(&lib->ctx, code);
		if (tag.version < 1)
			no_such_version("0", options->uri, options);
		options->branch = tag.branch != NULL ? pstrdup(tag.branch) : NULL;
		options->version = (int64)tag.version;
		if (!IsolationUsesXactSnapshot())
			return;
		register_transaction_callback();
		old = MemoryContextSwitchTo(TopTransactionContext);
		kept = palloc0(sizeof(*kept));
		kept->location = pstrdup(lnc_store_uri(store));
		kept->tag = pstrdup(options->tag);
		kept->branch = options->branch != NULL ? pstrdup(options->branch) : NULL;
		kept->version = options->version;
		kept->next = transaction_tags;
		transaction_tags = kept;
		MemoryContextSwitchTo(old);
	}
	options->branch = kept->branch;
	options->version = kept->version;
}

/* ---- locating */

static void
locate_table(const LanceTableOptions *options, Oid userid, LanceLibrary *lib, Pin *pin)
{
	LanceId id;
	LanceTableRow *row;
	LanceVersionPin *version;

	lance_id_from_text(options->table, options->delimiter, &id);
	row = lance_catalog_find_table_for(&id, LANCE_LEVEL_READ, userid);
	if (row == NULL)
		ereport(ERROR,
				(lance_errcode(LANCE_TABLE_NOT_FOUND), errmsg("table \"%s\" does not exist", options->table)));
	pin->profile = lance_profile_get(row->server_name, userid);
	if (pin->profile->server_oid != options->server_oid &&
		pg_foreign_server_aclcheck(pin->profile->server_oid, userid, ACL_USAGE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, row->server_name);
	version = options->tag != NULL ? lance_catalog_pin_tag(row, options->tag)
								   : lance_catalog_pin_version(row, options->branch, options->version,
															   options->has_as_of ? options->as_of : 0);
	pin->branch = version->branch;
	pin->location = pstrdup(lnc_store_uri(lance_profile_open_read(lib, pin->profile, row->location)));
	pin->version = (uint64)version->version;
	pin->manifest_key = version->manifest_key;
	pin->manifest_size = (uint64)version->manifest_size;
	pin->e_tag = version->e_tag;
	pin->time = version->timestamp_us;
}

static void
locate(const LanceTableOptions *options, Oid userid, Pin *pin)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);

	memset(pin, 0, sizeof(*pin));
	if (options->table != NULL)
		LANCE_READ(locate_table(options, userid, lib, pin));
	else
	{
		LanceTableOptions resolved = *options;
		LncStore *store;

		pin->profile = lance_profile_of_server(options->server_oid, userid);
		store = lance_profile_open_read(lib, pin->profile, options->uri);
		lance_location_check_readable(lance_location_canonical(store, options->uri), userid);
		pin->location = pstrdup(lnc_store_uri(store));
		if (options->tag != NULL)
			resolve_tag(lib, store, &resolved);
		pin->branch = resolved.branch;
		choose_version(lib, store, &resolved, pin);
	}
	lance_library_destroy(lib);
}

/* ---- opening */

static void
source_freed(void *arg)
{
	SourceEntry *entry = arg;
	slist_iter iter;

	dlist_delete(&entry->node);
	slist_foreach(iter, &statement_pins)
	{
		StatementPin *pin = slist_container(StatementPin, node, iter.cur);

		if (pin->entry == entry)
			pin->entry = NULL;
	}
	slist_foreach(iter, &planned_pins)
	{
		PlannedPin *pin = slist_container(PlannedPin, node, iter.cur);

		if (pin->entry == entry)
			pin->entry = NULL;
	}
}

static SourceEntry *
find_source(const Pin *pin, Oid userid)
{
	dlist_iter iter;

	dlist_foreach(iter, &sources)
	{
		SourceEntry *entry = dlist_container(SourceEntry, node, iter.cur);

		if (entry->userid == userid && entry->pin.version == pin->version && entry->pin.time == pin->time &&
			entry->pin.manifest_size == pin->manifest_size && same_text(entry->pin.location, pin->location) &&
			same_text(entry->pin.manifest_key, pin->manifest_key) && same_text(entry->pin.e_tag, pin->e_tag) &&
			same_text(entry->pin.branch, pin->branch) && entry->profile->server_oid == pin->profile->server_oid)
			return entry;
	}
	return NULL;
}

static void
drop_idle_sources(void)
{
	dlist_mutable_iter iter;
	int idle = 0;

	dlist_foreach_modify(iter, &sources)
	{
		SourceEntry *entry = dlist_container(SourceEntry, node, iter.cur);

		if (entry->references == 0 && ++idle > MAX_IDLE_SOURCES)
			MemoryContextDelete(entry->memory);
	}
}

/* Built under the current context, so that an error frees it, then handed to the transaction. */
static SourceEntry *
open_source(const LanceTableOptions *options, Oid userid, const Pin *pin)
{
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "lance source", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	SourceEntry *entry = palloc0(sizeof(*entry));
	LanceLibrary *lib = lance_library_create(memory);
	LncDatasetOptions open_options = {.open_base = lance_location_open_base};
	LncStore *store;

	entry->memory = memory;
	entry->userid = userid;
	entry->pin = *pin;
	entry->pin.location = pstrdup(pin->location);
	entry->pin.branch = pin->branch != NULL ? pstrdup(pin->branch) : NULL;
	entry->pin.manifest_key = pstrdup(pin->manifest_key);
	entry->pin.e_tag = pin->e_tag != NULL ? pstrdup(pin->e_tag) : NULL;
	entry->profile = lance_profile_of_server(pin->profile->server_oid, userid);
	entry->pin.profile = entry->profile;
	open_options.open_base_arg = entry->profile;
	entry->public.lib = lib;
	entry->public.location = entry->pin.location;

	store = lance_profile_open_read(lib, entry->profile, entry->pin.location);
	open_options.branch = entry->pin.branch;
	open_options.version = pin->version;
	open_options.manifest_key = entry->pin.manifest_key;
	open_options.manifest_size = pin->manifest_size;
	open_options.manifest_e_tag = pin->e_tag;
	lance_check(&lib->ctx, lnc_dataset_open(&lib->ctx, lib->arena, store, &open_options, &entry->public.dataset));
	lnc_store_stats(store, &entry->public.opened);

	MemoryContextSwitchTo(old);
	MemoryContextSetParent(memory, TopTransactionContext);
	dlist_push_head(&sources, &entry->node);
	entry->callback.func = source_freed;
	entry->callback.arg = entry;
	MemoryContextRegisterResetCallback(memory, &entry->callback);
	return entry;
}

/* ---- sharing within a statement */

static bool
same_options(const LanceTableOptions *a, const LanceTableOptions *b)
{
	return a->server_oid == b->server_oid && same_text(a->table, b->table) &&
		   same_text(a->delimiter, b->delimiter) && same_text(a->uri, b->uri) && same_text(a->branch, b->branch) &&
		   same_text(a->tag, b->tag) && a->version == b->version && a->has_as_of == b->has_as_of &&
		   a->as_of == b->as_of;
}

/* In the current context. */
static LanceTableOptions
copy_options(const LanceTableOptions *options)
{
	LanceTableOptions copy = *options;

	copy.table = options->table != NULL ? pstrdup(options->table) : NULL;
	copy.delimiter = pstrdup(options->delimiter);
	copy.uri = options->uri != NULL ? pstrdup(options->uri) : NULL;
	copy.branch = options->branch != NULL ? pstrdup(options->branch) : NULL;
	copy.tag = options->tag != NULL ? pstrdup(options->tag) : NULL;
	return copy;
}

static StatementPin *
find_statement_pin(const LanceTableOptions *options, Oid userid, Snapshot snapshot)
{
	slist_iter iter;

	slist_foreach(iter, &statement_pins)
	{
		StatementPin *pin = slist_container(StatementPin, node, iter.cur);

		if (pin->snapshot == snapshot && pin->userid == userid && same_options(&pin->options, options))
			return pin;
	}
	return NULL;
}

static void
statement_pin_freed(void *arg)
{
	StatementPin *pin = arg;

	slist_delete(&statement_pins, &pin->node);
	if (pin->entry != NULL)
		pin->entry->references--;
}

static void
remember_statement_pin(const LanceTableOptions *options, Oid userid, EState *estate, SourceEntry *entry)
{
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	StatementPin *pin = palloc0(sizeof(*pin));

	pin->snapshot = estate->es_snapshot;
	pin->userid = userid;
	pin->options = copy_options(options);
	pin->entry = entry;
	pin->callback.func = statement_pin_freed;
	pin->callback.arg = pin;
	MemoryContextSwitchTo(old);
	slist_push_head(&statement_pins, &pin->node);
	entry->references++;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &pin->callback);
}

/* ---- from planning to execution */

static void
planned_pin_freed(void *arg)
{
	slist_delete(&planned_pins, &((PlannedPin *)arg)->node);
}

static PlannedPin *
find_planned_pin(const LanceTableOptions *options, Oid userid)
{
	slist_iter iter;

	slist_foreach(iter, &planned_pins)
	{
		PlannedPin *pin = slist_container(PlannedPin, node, iter.cur);

		if (pin->userid == userid && pin->statement == GetCurrentStatementStartTimestamp() &&
			same_options(&pin->options, options))
			return pin;
	}
	return NULL;
}

/* Whether a statement of the client's is being planned: where a portal runs, it is one of a function, or the like. */
static bool
plans_for_client(void)
{
	return ActivePortal == NULL && !IsolationUsesXactSnapshot();
}

/*
 * Have the rest of planning, and execution, read what was looked up: they follow each other, and asking a store over the
 * network again takes time.
 */
static void
remember_planned(const LanceTableOptions *options, Oid userid, SourceEntry *entry)
{
	PlannedPin *pin;

	if (!plans_for_client())
		return;
	pin = find_planned_pin(options, userid);
	if (pin == NULL)
	{
		pin = palloc0(sizeof(*pin));
		pin->statement = GetCurrentStatementStartTimestamp();
		pin->userid = userid;
		pin->options = copy_options(options);
		pin->callback.func = planned_pin_freed;
		pin->callback.arg = pin;
		slist_push_head(&planned_pins, &pin->node);
		MemoryContextRegisterResetCallback(CurrentMemoryContext, &pin->callback);
	}
	pin->entry = entry;
}

/*
 * What the planning of the statement has looked up, for the rest of it or, once, for the execution in estate; NULL: it has
 * not.
 */
static SourceEntry *
take_planned(const LanceTableOptions *options, Oid userid, const EState *estate)
{
	PlannedPin *pin;
	SourceEntry *entry;

	/* What a function runs meanwhile has another text than the client sent. */
	if (estate == NULL ? !plans_for_client()
					   : IsolationUsesXactSnapshot() || !same_text(estate->es_sourceText, debug_query_string))
		return NULL;
	pin = find_planned_pin(options, userid);
	if (pin == NULL)
		return NULL;
	entry = pin->entry;
	if (estate != NULL)
		pin->entry = NULL;
	return entry;
}

LanceSource *
lance_source_open(const LanceTableOptions *options, Oid userid, EState *estate)
{
	StatementPin *shared = NULL;
	SourceEntry *entry;
	Pin pin;

	if (estate != NULL)
		shared = find_statement_pin(options, userid, estate->es_snapshot);
	entry = shared != NULL ? shared->entry : take_planned(options, userid, estate);
	if (entry == NULL)
	{
		locate(options, userid, &pin);
		entry = find_source(&pin, userid);
		if (entry == NULL)
			entry = open_source(options, userid, &pin);
	}
	dlist_move_head(&sources, &entry->node);
	/* Another query's pin may be gone before this one's, so each query holds its own. */
	if (estate != NULL)
		remember_statement_pin(options, userid, estate, entry);
	else
		remember_planned(options, userid, entry);
	drop_idle_sources();
	return &entry->public;
}

/* ---- in parallel workers */

/* A Pin, followed by location, manifest's key and branch (empty: main), each ended by a zero. */
typedef struct WrittenPin
{
	Oid server_oid;
	uint64 version;
	uint64 manifest_size;
	int64 time;
} WrittenPin;

static const Pin *
pin_of(const LanceSource *source)
{
	return &((const SourceEntry *)source)->pin;
}

Size
lance_source_pin_size(const LanceSource *source)
{
	const Pin *pin = pin_of(source);

	return sizeof(WrittenPin) + strlen(pin->location) + strlen(pin->manifest_key) +
		   (pin->branch != NULL ? strlen(pin->branch) : 0) + 3;
}

static char *
write_text(char *out, const char *text)
{
	size_t size = strlen(text) + 1;

	memcpy(out, text, size);
	return out + size;
}

void
lance_source_pin_write(const LanceSource *source, char *out)
{
	const Pin *pin = pin_of(source);
	WrittenPin written = {.server_oid = pin->profile->server_oid,
						  .version = pin->version,
						  .manifest_size = pin->manifest_size,
						  .time = pin->time};

	memcpy(out, &written, sizeof(written));
	out = write_text(out + sizeof(written), pin->location);
	out = write_text(out, pin->manifest_key);
	(void)write_text(out, pin->branch != NULL ? pin->branch : "");
}

LanceSource *
lance_source_open_pin(const char *bytes, const LanceTableOptions *options, Oid userid, EState *estate)
{
	WrittenPin written;
	Pin pin = {0};
	SourceEntry *entry;

	memcpy(&written, bytes, sizeof(written));
	pin.location = pstrdup(bytes + sizeof(written));
	bytes += sizeof(written) + strlen(pin.location) + 1;
	pin.manifest_key = pstrdup(bytes);
	bytes += strlen(bytes) + 1;
	pin.branch = bytes[0] != '\0' ? pstrdup(bytes) : NULL;
	pin.profile = lance_profile_of_server(written.server_oid, userid);
	pin.version = written.version;
	pin.manifest_size = written.manifest_size;
	pin.time = written.time;
	entry = find_source(&pin, userid);
	if (entry == NULL)
		entry = open_source(options, userid, &pin);
	dlist_move_head(&sources, &entry->node);
	remember_statement_pin(options, userid, estate, entry);
	return &entry->public;
}

double
lance_source_rows(const LanceSource *source, bool *exact)
{
	const LncDataset *dataset = source->dataset;
	double rows = 0;

	*exact = true;
	for (int32 i = 0; i < dataset->nfragments; i++)
	{
		const LncFragment *fragment = &dataset->fragments[i];

		rows += (double)fragment->physical_rows - (double)Min(fragment->deleted_rows, fragment->physical_rows);
		if (fragment->deletion_kind != LNC_DELETION_NONE && fragment->deleted_rows == 0)
			*exact = false;
	}
	return rows;
}

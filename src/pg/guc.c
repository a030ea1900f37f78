/*
 * guc.c
 *	  Definition of the settings, lance_catalog.*.
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "pg/guc.h"
#include "utils/guc.h"
#include "utils/varlena.h"

char *lance_guc_default_server;
char *lance_guc_allowed_local_roots;
bool lance_guc_row_lookup;
bool lance_guc_push_down;
int lance_guc_metadata_cache_size;
int lance_guc_store_retries;
int lance_guc_store_timeout;
int lance_guc_store_connect_timeout;

bool lance_guc_preloaded;
char *lance_guc_rest_listen_addresses;
int lance_guc_rest_port;
int lance_guc_rest_workers;
int lance_guc_rest_executors;
char *lance_guc_rest_database;
char *lance_guc_rest_anonymous_role;
char *lance_guc_rest_jwt_key_file;
char *lance_guc_rest_jwt_issuer;
char *lance_guc_rest_jwt_audience;
char *lance_guc_rest_jwt_role_claim;
bool lance_guc_rest_ssl;
bool lance_guc_rest_writer_turns;
char *lance_guc_rest_ssl_cert_file;
char *lance_guc_rest_ssl_key_file;
int lance_guc_rest_ssl_min_protocol_version;
int lance_guc_rest_max_body_size;
int lance_guc_rest_max_connections;
int lance_guc_rest_max_connections_per_address;
int lance_guc_rest_idle_timeout;
int lance_guc_rest_statement_timeout;
int lance_guc_rest_lock_timeout;

static const struct config_enum_entry tls_versions[] = {
	{"TLSv1.2", LANCE_TLS_1_2, false},
	{"TLSv1.3", LANCE_TLS_1_3, false},
	{NULL, 0, false},
};

static bool
check_allowed_local_roots(char **newval, void **extra, GucSource source)
{
	char *raw = pstrdup(*newval);
	List *folders = NIL;
	ListCell *lc;
	bool ok = true;

	if (!SplitDirectoriesString(raw, ',', &folders))
	{
		GUC_check_errdetail("List syntax is invalid.");
		ok = false;
	}
	foreach (lc, folders)
	{
		const char *folder = lfirst(lc);

		if (ok && !is_absolute_path(folder))
		{
			GUC_check_errdetail("Folder \"%s\" is not an absolute path.", folder);
			ok = false;
		}
	}
	list_free_deep(folders);
	pfree(raw);
	return ok;
}

static bool
check_role_claim(char **newval, void **extra, GucSource source)
{
	if ((*newval)[0] != '\0')
		return true;
	GUC_check_errdetail("The name of a claim is not empty.");
	return false;
}

static void
define_storage(void)
{
	DefineCustomStringVariable("lance_catalog.allowed_local_roots",
							   "Folders that local storage may lie in for roles without pg_read_server_files.",
							   "A comma-separated list of absolute paths; empty allows none.",
							   &lance_guc_allowed_local_roots, "", PGC_SUSET, GUC_LIST_INPUT,
							   check_allowed_local_roots, NULL, NULL);
	DefineCustomStringVariable(
		"lance_catalog.default_server",
		"Foreign server whose root new namespaces use when neither they nor a parent name one.",
		"Roles that may write a namespace use it there without USAGE on it.", &lance_guc_default_server, "",
		PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("lance_catalog.metadata_cache_size",
							"Memory of a session for manifests and metadata of data files in object stores.",
							"They never change, and are not read again as long as they are in it; 0 turns it off.",
							&lance_guc_metadata_cache_size, 32 * 1024, 0, 1024 * 1024, PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("lance_catalog.push_down",
							 "Lets scans of foreign tables evaluate conditions and make aggregates.", NULL,
							 &lance_guc_push_down, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("lance_catalog.row_lookup",
							 "Lets plans look up rows that are named by row id or row address.", NULL,
							 &lance_guc_row_lookup, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"lance_catalog.store_connect_timeout", "Time to wait for a connection to an object store.", NULL,
		&lance_guc_store_connect_timeout, 5000, 100, 600000, PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("lance_catalog.store_retries", "How often a failed storage request is tried again.",
							"Tries are spaced by a growing, random pause.", &lance_guc_store_retries, 5, 0, 100,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"lance_catalog.store_timeout", "Time without a byte moved after which a storage transfer is tried again.",
		NULL, &lance_guc_store_timeout, 20000, 100, 3600000, PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
}

/* TLS on the REST port. */
static void
define_rest_tls(GucContext startup)
{
	DefineCustomBoolVariable("lance_catalog.rest_ssl", "Serves REST requests over TLS only.", NULL,
							 &lance_guc_rest_ssl, false, startup, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("lance_catalog.rest_ssl_cert_file", "File of the REST server's certificate.",
							   "Relative paths start in the data directory; empty takes ssl_cert_file.",
							   &lance_guc_rest_ssl_cert_file, "", PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("lance_catalog.rest_ssl_key_file", "File of the REST server's private key.",
							   "Relative paths start in the data directory; empty takes ssl_key_file.",
							   &lance_guc_rest_ssl_key_file, "", PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable(
		"lance_catalog.rest_ssl_min_protocol_version", "Lowest version of TLS that the REST server speaks.", NULL,
		&lance_guc_rest_ssl_min_protocol_version, LANCE_TLS_1_2, tls_versions, startup, 0, NULL, NULL, NULL);
}

/*
 * The server is started with the values of postmaster start. Without preloading there is no server, and settings
 * of that context can't be defined any more; they are then defined as reloadable so that SHOW works.
 */
static void
define_rest(void)
{
	GucContext startup = process_shared_preload_libraries_in_progress ? PGC_POSTMASTER : PGC_SIGHUP;

	lance_guc_preloaded = process_shared_preload_libraries_in_progress;
	DefineCustomStringVariable("lance_catalog.rest_anonymous_role",
							   "Role that REST requests without an API key act as.",
							   "Empty refuses such requests with status 401.", &lance_guc_rest_anonymous_role, "",
							   PGC_SIGHUP, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
	DefineCustomStringVariable("lance_catalog.rest_database", "Database whose catalog the REST server serves.",
							   NULL, &lance_guc_rest_database, "postgres", startup, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("lance_catalog.rest_writer_turns",
							 "Has writers of a table that loses races take turns.", NULL,
							 &lance_guc_rest_writer_turns, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"lance_catalog.rest_executors", "Processes that run REST requests which may wait, at most.",
		"One is always there, the others are started while requests wait.", &lance_guc_rest_executors, 8, 1,
		LANCE_MAX_REST_EXECUTORS, startup, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("lance_catalog.rest_idle_timeout",
							"Time after which an idle or stalled REST connection is closed.", "0 keeps it open.",
							&lance_guc_rest_idle_timeout, 60, 0, 86400, startup, GUC_UNIT_S, NULL, NULL, NULL);
	DefineCustomStringVariable("lance_catalog.rest_jwt_audience", "Audience that web tokens must be for.",
							   "Empty takes tokens for any.", &lance_guc_rest_jwt_audience, "", PGC_SIGHUP,
							   GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
	DefineCustomStringVariable("lance_catalog.rest_jwt_issuer", "Issuer that web tokens must be of.",
							   "Empty takes tokens of any.", &lance_guc_rest_jwt_issuer, "", PGC_SIGHUP,
							   GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
	DefineCustomStringVariable(
		"lance_catalog.rest_jwt_key_file", "File of the keys that sign web tokens.",
		"A JSON web key set, RSA public keys in PEM, or a secret; empty takes no web tokens.",
		&lance_guc_rest_jwt_key_file, "", PGC_SIGHUP, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
	DefineCustomStringVariable("lance_catalog.rest_jwt_role_claim", "Claim of web tokens that names the role.",
							   NULL, &lance_guc_rest_jwt_role_claim, "role", PGC_SIGHUP, GUC_SUPERUSER_ONLY,
							   check_role_claim, NULL, NULL);
	DefineCustomStringVariable("lance_catalog.rest_listen_addresses", "Addresses that the REST server listens on.",
							   "A comma-separated list of host names or IP addresses; * is all.",
							   &lance_guc_rest_listen_addresses, "localhost", startup, GUC_LIST_INPUT, NULL, NULL,
							   NULL);
	DefineCustomIntVariable("lance_catalog.rest_lock_timeout",
							"Longest time that one REST request waits for another transaction.", "0 sets no limit.",
							&lance_guc_rest_lock_timeout, 5000, 0, INT_MAX, PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL,
							NULL);
	DefineCustomIntVariable("lance_catalog.rest_max_body_size", "Largest body of a REST request.",
							"A larger one is refused with status 413.", &lance_guc_rest_max_body_size, 16 * 1024, 1,
							1024 * 1024 - 1, PGC_SIGHUP, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("lance_catalog.rest_max_connections",
							"Connections that each REST worker holds open at once.", NULL,
							&lance_guc_rest_max_connections, 256, 1, 65535, startup, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("lance_catalog.rest_max_connections_per_address",
							"Connections from one client address that each REST worker holds open at once.",
							"0 sets no limit of its own.", &lance_guc_rest_max_connections_per_address, 0, 0, 65535,
							startup, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("lance_catalog.rest_port", "TCP port of the REST server.", NULL, &lance_guc_rest_port,
							2333, 1, 65535, startup, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("lance_catalog.rest_statement_timeout", "Longest time that one REST request may take.",
							"0 sets no limit.", &lance_guc_rest_statement_timeout, 60000, 0, INT_MAX, PGC_SIGHUP,
							GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("lance_catalog.rest_workers", "Processes that hold the connections of REST clients.",
							"0 turns the REST server off. Needs the library in shared_preload_libraries.",
							&lance_guc_rest_workers, 2, 0, LANCE_MAX_REST_WORKERS, startup, 0, NULL, NULL, NULL);
	define_rest_tls(startup);
}

void
lance_guc_define(void)
{
	define_storage();
	define_rest();
	MarkGUCPrefixReserved("lance_catalog");
}

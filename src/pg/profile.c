/*
 * profile.c
 *	  Storage profiles: option rules of servers and user mappings, resolving them, opening stores under their rules.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "pg/brief.h"
#include "pg/credentials.h"
#include "pg/guc.h"
#include "pg/local_names.h"
#include "pg/profile.h"
#include "pg/report.h"
#include "pg/store_cache.h"
#include "storage/uri.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

/* Seconds that the keys of a role live, when the server does not say. */
#define DEFAULT_STS_DURATION 3600

/* ---- resolving */

bool
lance_profile_is_wrapper(Oid fdwid)
{
	Oid handler = GetForeignDataWrapper(fdwid)->fdwhandler;
	HeapTuple tuple;
	bool found = false;

	if (!OidIsValid(handler))
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(handler));
	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc)GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool isnull;
		Datum symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		found = !isnull && strcmp(TextDatumGetCString(symbol), "lance_sql_fdw_handler") == 0;
	}
	ReleaseSysCache(tuple);
	return found;
}

/* Options of the user mapping of that role, else of PUBLIC's; NIL when there is neither. */
static List *
user_mapping_options(Oid server_oid, Oid userid)
{
	HeapTuple tuple =
		SearchSysCache2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(userid), ObjectIdGetDatum(server_oid));
	List *options = NIL;
	Datum datum;
	bool isnull;

	if (!HeapTupleIsValid(tuple))
		tuple = SearchSysCache2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(InvalidOid), ObjectIdGetDatum(server_oid));
	if (!HeapTupleIsValid(tuple))
		return NIL;
	datum = SysCacheGetAttr(USERMAPPINGUSERSERVER, tuple, Anum_pg_user_mapping_umoptions, &isnull);
	if (!isnull)
		options = untransformRelOptions(datum);
	ReleaseSysCache(tuple);
	return options;
}

static void
apply_option(LanceProfile *profile, DefElem *option)
{
	const char *name = option->defname;

	if (strcmp(name, "root") == 0)
	{
		size_t length;

		profile->root = pstrdup(defGetString(option));
		length = strlen(profile->root);
		if (length > 1 && profile->root[length - 1] == '/')
			profile->root[length - 1] = '\0';
	}
	else if (strcmp(name, "endpoint") == 0)
		profile->endpoint = pstrdup(defGetString(option));
	else if (strcmp(name, "client_endpoint") == 0)
		profile->client_endpoint = pstrdup(defGetString(option));
	else if (strcmp(name, "region") == 0)
		profile->region = pstrdup(defGetString(option));
	else if (strcmp(name, "allow_http") == 0)
		profile->allow_http = defGetBoolean(option);
	else if (strcmp(name, "virtual_hosted_style") == 0)
		profile->virtual_hosted = defGetBoolean(option);
	else if (strcmp(name, "conditional_put") == 0)
		profile->conditional_put = defGetBoolean(option);
	else if (strcmp(name, "managed_versioning") == 0)
		profile->managed_versioning = defGetBoolean(option);
	else if (strcmp(name, "credentials") == 0)
		profile->credentials = Max(lance_profile_word(lance_profile_credentials, defGetString(option)), 0);
	else if (strcmp(name, "vending") == 0)
		profile->vending = Max(lance_profile_word(lance_profile_vending, defGetString(option)), 0);
	else if (strcmp(name, "sts_endpoint") == 0)
		profile->sts_endpoint = pstrdup(defGetString(option));
	else if (strcmp(name, "sts_role_arn") == 0)
		profile->sts_role_arn = pstrdup(defGetString(option));
	else if (strcmp(name, "sts_external_id") == 0)
		profile->sts_external_id = pstrdup(defGetString(option));
	else if (strcmp(name, "sts_duration") == 0)
		profile->sts_duration = (int)strtol(defGetString(option), NULL, 10);
	else if (strcmp(name, "access_key_id") == 0)
		profile->access_key_id = pstrdup(defGetString(option));
	else if (strcmp(name, "secret_access_key") == 0)
		profile->secret_access_key = pstrdup(defGetString(option));
	else if (strcmp(name, "session_token") == 0)
		profile->session_token = pstrdup(defGetString(option));
}

static void
wipe_text(char *text)
{
	if (text != NULL)
		explicit_bzero(text, strlen(text));
}

/* Called when the profile's memory goes. */
static void
wipe_profile(void *arg)
{
	LanceProfile *profile = arg;

	wipe_text(profile->secret_access_key);
	wipe_text(profile->session_token);
}

static void
wipe_on_reset(LanceProfile *profile)
{
	MemoryContextCallback *callback = palloc0(sizeof(*callback));

	callback->func = wipe_profile;
	callback->arg = profile;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
}

static LanceProfile *
resolve(ForeignServer *server, Oid userid)
{
	LanceProfile *profile = palloc0(sizeof(*profile));
	ListCell *lc;

	profile->server_oid = server->serverid;
	profile->server_name = pstrdup(server->servername);
	profile->owner = server->owner;
	profile->userid = userid;
	profile->conditional_put = true;
	profile->managed_versioning = true;
	profile->sts_duration = DEFAULT_STS_DURATION;
	wipe_on_reset(profile);
	foreach (lc, server->options)
		apply_option(profile, lfirst(lc));
	foreach (lc, user_mapping_options(server->serverid, userid))
	{
		apply_option(profile, lfirst(lc));
		wipe_text(defGetString(lfirst(lc)));
	}
	if (profile->root == NULL)
		ereport(ERROR, (errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
						errmsg("server \"%s\" has no option \"root\"", server->servername),
						errhint("Set it with ALTER SERVER ... OPTIONS (ADD root '...').")));
	return profile;
}

LanceProfile *
lance_profile_get(const char *server_name, Oid userid)
{
	ForeignServer *server = GetForeignServerByName(server_name, true);

	if (server == NULL || !lance_profile_is_wrapper(server->fdwid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("storage profile \"%s\" does not exist", server_name),
				 server == NULL
					 ? errhint("Create it with CREATE SERVER ... FOREIGN DATA WRAPPER lance_fdw.")
					 : errdetail("There is a server of that name, but of another foreign data wrapper.")));
	return resolve(server, userid);
}

LanceProfile *
lance_profile_of_server(Oid server_oid, Oid userid)
{
	ForeignServer *server = GetForeignServer(server_oid);

	if (!lance_profile_is_wrapper(server->fdwid))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("server \"%s\" does not belong to lance_fdw", server->servername)));
	return resolve(server, userid);
}

/* ---- opening stores */

static bool
is_local(const char *uri)
{
	return uri[0] == '/' || strncmp(uri, "file://", 7) == 0;
}

/* uri equals folder or lies below it; both canonical, without slash at the end. */
static bool
lies_in(const char *uri, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(uri, folder, length) == 0 &&
		   (uri[length] == '\0' || uri[length] == '/' || (length > 0 && folder[length - 1] == '/'));
}

/* The folder of lance_catalog.allowed_local_roots that path lies in, as it is written there and with all links resolved; NULL: none. */
static const char *
allowed_local_root(const char *path)
{
	List *folders = NIL;
	ListCell *lc;
	char *real;

	if (lance_guc_allowed_local_roots[0] == '\0' ||
		!SplitDirectoriesString(pstrdup(lance_guc_allowed_local_roots), ',', &folders))
		return NULL;
	real = lance_local_resolved(path);
	foreach (lc, folders)
	{
		const char *folder = lfirst(lc);

		if (lies_in(path, folder) && lies_in(real, lance_local_resolved(folder)))
			return folder;
	}
	return NULL;
}

static bool
may_use_server_files(Oid role, bool write)
{
	return has_privs_of_role(role, ROLE_PG_READ_SERVER_FILES) &&
		   (!write || has_privs_of_role(role, ROLE_PG_WRITE_SERVER_FILES));
}

bool
lance_profile_trusted(const LanceProfile *profile, const char **option)
{
	*option = profile->endpoint != NULL                           ? "endpoint"
			  : profile->sts_endpoint != NULL                     ? "sts_endpoint"
			  : profile->credentials != LANCE_CREDENTIALS_MAPPING ? "credentials"
																  : NULL;
	return *option == NULL || superuser_arg(profile->owner);
}

bool
lance_profile_holds(LanceLibrary *lib, const LanceProfile *profile, const char *uri)
{
	LncUri place;
	LncUri root;

	return lnc_uri_parse(&lib->ctx, lib->arena, uri, &place) == LNC_OK &&
		   lnc_uri_parse(&lib->ctx, lib->arena, profile->root, &root) == LNC_OK &&
		   lies_in(place.canonical, root.canonical);
}

static LncStore *
open_at(LanceLibrary *lib, const LanceProfile *profile, const char *uri, const char *anchor, bool write)
{
	bool fixed = profile->credentials == LANCE_CREDENTIALS_MAPPING || is_local(uri);
	LncStoreConfig config = {
		.endpoint = profile->endpoint,
		.region = profile->region,
		.access_key_id = fixed ? profile->access_key_id : NULL,
		.secret_access_key = fixed ? profile->secret_access_key : NULL,
		.session_token = fixed ? profile->session_token : NULL,
		.credentials = fixed ? NULL : lance_credentials_source(lib, profile),
		.virtual_hosted = profile->virtual_hosted,
		.allow_http = profile->allow_http,
		.no_conditional_put = !profile->conditional_put,
		.max_retries = lance_guc_store_retries > 0 ? lance_guc_store_retries : -1,
		.connect_timeout_ms = lance_guc_store_connect_timeout,
		.idle_timeout_ms = lance_guc_store_timeout,
		.anchor = anchor,
	};
	LncStore *store;

	if (!write && !is_local(uri))
	{
		config.http = lance_store_http();
		config.cache = lance_store_cache();
		config.cache_scope = config.cache != NULL ? lance_store_cache_scope(lib, profile) : NULL;
	}

	lance_check(&lib->ctx, lnc_store_open(&lib->ctx, lib->arena, uri, &config, &store));
	return store;
}

/*
 * May the profile's user reach that local location? *anchor is set to the folder by which he may, below which no symbolic link is
 * followed, since whoever writes there could make them at any moment; NULL: the location itself.
 */
static bool
local_allowed(const LanceProfile *profile, const LncStore *store, const LncStore *root, bool write,
			  const char **anchor)
{
	bool inside = lies_in(lnc_store_uri(store), lnc_store_uri(root));

	*anchor = inside ? psprintf("/%s", lnc_store_object_root(root)) : NULL;
	if (may_use_server_files(profile->userid, write) || (inside && may_use_server_files(profile->owner, write)))
		return true;
	*anchor = allowed_local_root(psprintf("/%s", lnc_store_object_root(store)));
	return *anchor != NULL;
}

static LncStore *
open_checked(LanceLibrary *lib, const LanceProfile *profile, const char *uri, bool write)
{
	LncStore *store;
	LncStore *root;
	const char *option;
	const char *anchor;

	lance_brief_check();
	if (!is_local(uri) && strncmp(uri, "s3://", 5) != 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid storage location \"%s\"", uri),
						errhint("A location is \"s3://bucket/path\" or \"file:///absolute/path\".")));

	/* USAGE on the wrapper makes nobody a chooser of hosts for the server to talk to, or of the identity it uses. */
	if (!lance_profile_trusted(profile, &option))
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("permission denied for the %s of server \"%s\"", option, profile->server_name),
						errhint("A server with the option \"%s\" must be owned by a superuser.", option)));
	store = open_at(lib, profile, uri, NULL, write);
	root = open_at(lib, profile, profile->root, NULL, false); /* for its name alone */
	if (!lies_in(lnc_store_uri(store), lnc_store_uri(root)) &&
		(write || !(is_local(uri) ? may_use_server_files(profile->userid, false) : superuser_arg(profile->userid))))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("location \"%s\" lies outside the root of server \"%s\"", uri, profile->server_name)));
	if (!is_local(uri))
		return store;
	if (!local_allowed(profile, store, root, write, &anchor))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for local folder \"%s\"", uri),
				 errhint("Local storage needs a server owned by a superuser, membership in %s, or a folder in %s.",
						 write ? "pg_read_server_files and pg_write_server_files" : "pg_read_server_files",
						 "lance_catalog.allowed_local_roots")));
	return anchor != NULL ? open_at(lib, profile, uri, anchor, write) : store;
}

LncStore *
lance_profile_open(LanceLibrary *lib, const LanceProfile *profile, const char *uri)
{
	return open_checked(lib, profile, uri, true);
}

LncStore *
lance_profile_open_read(LanceLibrary *lib, const LanceProfile *profile, const char *uri)
{
	return open_checked(lib, profile, uri, false);
}

LncCode
lance_profile_open_base(LncContext *ctx, void *arg, LncArena *arena, const char *uri, LncStore **out)
{
	const LanceProfile *profile = arg;
	LanceLibrary borrowed = {.ctx = *ctx, .arena = arena};
	MemoryContext memory = CurrentMemoryContext;
	volatile LncCode code = LNC_OK;

	/* The library's frames must not be jumped over. */
	PG_TRY();
	{
		*out = lance_profile_open_read(&borrowed, profile, uri);
	}
	PG_CATCH();
	{
		ErrorData *edata;

		MemoryContextSwitchTo(memory);
		edata = CopyErrorData();
		FlushErrorState();
		code = lnc_fail(ctx, edata->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE ? LNC_DENIED : LNC_INVALID, "%s",
						edata->message);
		FreeErrorData(edata);
	}
	PG_END_TRY();
	return code;
}

int
lance_profile_client_options(const LanceProfile *profile, const char ***keys, const char ***values)
{
	const char *endpoint = profile->client_endpoint != NULL ? profile->client_endpoint : profile->endpoint;
	int n = 0;

	*keys = palloc(4 * sizeof(char *));
	*values = palloc(4 * sizeof(char *));
	if (is_local(profile->root))
		return 0;
	if (endpoint != NULL)
	{
		(*keys)[n] = "aws_endpoint";
		(*values)[n++] = endpoint;
		if (pg_strncasecmp(endpoint, "http://", 7) == 0)
		{
			(*keys)[n] = "allow_http";
			(*values)[n++] = "true";
		}
	}
	(*keys)[n] = "aws_region";
	(*values)[n++] = profile->region != NULL ? profile->region : "us-east-1";
	if (profile->virtual_hosted)
	{
		(*keys)[n] = "virtual_hosted_style_request";
		(*values)[n++] = "true";
	}
	return n;
}

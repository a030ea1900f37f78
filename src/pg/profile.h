/*
 * profile.h
 *	  Storage profiles: foreign servers of lance_fdw, their options, and the stores they open.
 *
 * Server options: root (required; "s3://bucket/prefix" or "file:///dir"), endpoint, region, allow_http,
 * virtual_hosted_style, conditional_put, client_endpoint, managed_versioning; credentials, where the server's own keys come
 * from; vending, what keys clients are given; sts_endpoint, sts_role_arn, sts_external_id, sts_duration. Secrets stand in
 * user mappings only: access_key_id, secret_access_key, session_token. The validator lives in fdw/options.c and uses
 * lance_profile_options.
 */
#ifndef LANCE_PG_PROFILE_H
#define LANCE_PG_PROFILE_H

#include "foreign/foreign.h"
#include "pg/env.h"
#include "storage/storage.h"

/* Where an option may stand; ForeignServerRelationId, UserMappingRelationId or ForeignTableRelationId. */
typedef struct LanceOptionRule
{
	const char *name;
	Oid catalog;
	bool secret;
} LanceOptionRule;

/* All options of servers and user mappings, ended by a row without name. */
extern const LanceOptionRule lance_profile_options[];

/* Check one server or user mapping option's value; throws 22023 or HV00B… with a hint. */
extern void lance_profile_check_option(const LanceOptionRule *rule, const char *value);

/* Values of the options credentials and vending, each ended by NULL and in the order of the enums. */
extern const char *const lance_profile_credentials[];
extern const char *const lance_profile_vending[];

/* The place of a value in such a list; -1: it has none. */
extern int lance_profile_word(const char *const *words, const char *value);

typedef enum LanceProfileCredentials
{
	LANCE_CREDENTIALS_MAPPING, /* the user mapping's keys as they are */
	LANCE_CREDENTIALS_STS,     /* a role assumed with them */
	LANCE_CREDENTIALS_WEB_IDENTITY,
	LANCE_CREDENTIALS_INSTANCE
} LanceProfileCredentials;

typedef enum LanceProfileVending
{
	LANCE_VENDING_NONE,
	LANCE_VENDING_STATIC, /* the user mapping's keys as they are */
	LANCE_VENDING_STS
} LanceProfileVending;

/*
 * A profile resolved for one role. Strings live in the memory context that is current then; the secret ones are wiped when
 * it goes.
 */
typedef struct LanceProfile
{
	Oid server_oid;
	Oid owner;  /* of the server */
	Oid userid; /* the role that the profile was resolved for, and whose rights count when a store is opened */
	char *server_name;
	char *root;            /* canonical, without trailing slash */
	char *endpoint;        /* NULL: AWS's own, or local */
	char *client_endpoint; /* endpoint told to clients; NULL: endpoint */
	char *region;
	bool allow_http;
	bool virtual_hosted;
	bool conditional_put;    /* default true */
	bool managed_versioning; /* default true */
	LanceProfileCredentials credentials;
	LanceProfileVending vending;
	char *sts_endpoint; /* NULL: endpoint, and if that is NULL AWS's own for the region */
	char *sts_role_arn;
	char *sts_external_id;
	int sts_duration;    /* seconds */
	char *access_key_id; /* of the user mapping; NULL: none */
	char *secret_access_key;
	char *session_token;
} LanceProfile;

/* Is that wrapper lance_fdw? Told by its handler function, so that it may be renamed. */
extern bool lance_profile_is_wrapper(Oid fdwid);

/*
 * The profile of a server, with the user mapping of userid (or PUBLIC's). Throws 42704 when there is no such
 * server or it is of another wrapper. USAGE on the server is not checked here.
 */
extern LanceProfile *lance_profile_get(const char *server_name, Oid userid);

/* The same for a server's OID; throws 42809 when it is of another wrapper. */
extern LanceProfile *lance_profile_of_server(Oid server_oid, Oid userid);

/*
 * Whether the server may be made to talk to the addresses of the profile, and to use its surroundings' identity: the
 * foreign server is owned by a superuser, or says nothing of the kind. If not, *option is one that is in the way.
 */
extern bool lance_profile_trusted(const LanceProfile *profile, const char **option);

/* Whether uri is the profile's root or lies below it. False too for what is no URI. */
extern bool lance_profile_holds(LanceLibrary *lib, const LanceProfile *profile, const char *uri);

/*
 * Open a store at uri for reading and writing, with the profile's keys. uri must be the profile's root or lie below
 * it (else 42501). Local paths need one of: a server whose owner, or a user who, is a member of pg_read_server_files
 * and pg_write_server_files (superusers are), or a folder of lance_catalog.allowed_local_roots. The store lives in lib.
 */
extern LncStore *lance_profile_open(LanceLibrary *lib, const LanceProfile *profile, const char *uri);

/*
 * The same for reading only: pg_read_server_files is enough for local paths, and what lies outside the root is
 * open to superusers (any URI) and to members of pg_read_server_files (local paths).
 */
extern LncStore *lance_profile_open_read(LanceLibrary *lib, const LanceProfile *profile, const char *uri);

/*
 * For LncDatasetOptions.open_base, arg being a LanceProfile: opens the store of a base path for reading by the rules of
 * lance_profile_open_read. Throws nothing, so that it can be called by the library.
 */
extern LncCode lance_profile_open_base(LncContext *ctx, void *arg, LncArena *arena, const char *uri,
									   LncStore **out) LNC_MUST_CHECK;

/* The storage options that clients are told for tables of this profile (no secrets): keys and values, n of them. */
extern int lance_profile_client_options(const LanceProfile *profile, const char ***keys, const char ***values);

#endif

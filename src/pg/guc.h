/*
 * guc.h
 *	  The settings, lance_catalog.*.
 */
#ifndef LANCE_PG_GUC_H
#define LANCE_PG_GUC_H

extern char *lance_guc_default_server; /* storage profile of namespaces that name none */
extern char
	*lance_guc_allowed_local_roots; /* comma-separated folders that roots may lie in without pg_read_server_files */
extern bool lance_guc_row_lookup;   /* let plans look up rows by id or address */
extern bool lance_guc_push_down;    /* let scans evaluate conditions on batches */
extern int lance_guc_metadata_cache_size;   /* kB; 0: nothing is remembered */
extern int lance_guc_store_retries;         /* tries after a failed storage request */
extern int lance_guc_store_timeout;         /* ms without a byte before a transfer is retried */
extern int lance_guc_store_connect_timeout; /* ms */

extern bool lance_guc_preloaded; /* by shared_preload_libraries; without it there is no REST server */
extern char *lance_guc_rest_listen_addresses;
extern int lance_guc_rest_port;
#define LANCE_MAX_REST_WORKERS 64
extern int lance_guc_rest_workers; /* 0: no REST server */
#define LANCE_MAX_REST_EXECUTORS 64
extern int lance_guc_rest_executors; /* 1 and more */
extern char *lance_guc_rest_database;
extern char *lance_guc_rest_anonymous_role; /* empty: a request without a key is refused */
extern char *lance_guc_rest_jwt_key_file;   /* empty: no web tokens */
extern char *lance_guc_rest_jwt_issuer;     /* empty: any */
extern char *lance_guc_rest_jwt_audience;   /* empty: any */
extern char *lance_guc_rest_jwt_role_claim; /* never empty */
extern bool lance_guc_rest_writer_turns;
extern bool lance_guc_rest_ssl;
extern char *lance_guc_rest_ssl_cert_file; /* empty: the server's */
extern char *lance_guc_rest_ssl_key_file;  /* empty: the server's */
typedef enum LanceTlsVersion
{
	LANCE_TLS_1_2,
	LANCE_TLS_1_3
} LanceTlsVersion;
extern int lance_guc_rest_ssl_min_protocol_version; /* a LanceTlsVersion */
extern int lance_guc_rest_max_body_size;            /* kB */
extern int lance_guc_rest_max_connections;          /* per worker */
extern int lance_guc_rest_max_connections_per_address;
extern int lance_guc_rest_idle_timeout;      /* seconds */
extern int lance_guc_rest_statement_timeout; /* ms; 0: none */
extern int lance_guc_rest_lock_timeout;      /* ms; 0: none */

/* Define all settings and reserve the prefix. Those of the REST server need preloading to take effect. */
extern void lance_guc_define(void);

#endif

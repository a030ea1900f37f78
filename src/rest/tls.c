/*
 * tls.c
 *	  Reading the certificate of the REST port and handing it out.
 *
 * A copy goes to each handshake, so that an old certificate can be freed the moment a new one is there.
 */
#include "postgres.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pg/guc.h"
#include "pg/text_file.h"
#include "rest/tls.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#define MAX_FILE_BYTES (1024 * 1024)

/* Certificates of one chain. */
#define MAX_CHAIN 16

/* What proves who we are. */
typedef struct Identity
{
	gnutls_x509_crt_t *chain; /* ours, then those of its issuers; gnutls_malloc'd */
	unsigned int length;
	gnutls_x509_privkey_t key;
} Identity;

static bool started;
static Identity current; /* length 0: none */

static void
clear_identity(Identity *identity)
{
	for (unsigned int i = 0; i < identity->length; i++)
		gnutls_x509_crt_deinit(identity->chain[i]);
	if (identity->chain != NULL)
		gnutls_free(identity->chain);
	if (identity->key != NULL)
		gnutls_x509_privkey_deinit(identity->key);
	memset(identity, 0, sizeof(*identity));
}

/* The file that a setting names, or else that of a setting of the server's own. */
static const char *
file_of(const char *setting, const char *server_setting)
{
	return setting != NULL && setting[0] != '\0' ? setting : GetConfigOption(server_setting, false, false);
}

/* What GnuTLS says, without its full stop. */
static char *
gnutls_text(int result)
{
	char *text = pstrdup(gnutls_strerror(result));
	size_t length = strlen(text);

	if (length > 0 && text[length - 1] == '.')
		text[length - 1] = '\0';
	return text;
}

static void
read_chain(const char *path, Identity *identity)
{
	size_t size;
	char *text = lance_read_text_file(path, MAX_FILE_BYTES, &size);
	gnutls_datum_t datum = {.data = (unsigned char *)text, .size = (unsigned int)size};
	int result = gnutls_x509_crt_list_import2(&identity->chain, &identity->length, &datum, GNUTLS_X509_FMT_PEM,
											  GNUTLS_X509_CRT_LIST_SORT);

	pfree(text);
	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR), errmsg("could not load REST certificate file \"%s\"", path),
				 errdetail("%s.", gnutls_text(result))));
	if (identity->length == 0 || identity->length > MAX_CHAIN)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR), errmsg("could not load REST certificate file \"%s\"", path),
				 errdetail("It holds %u certificates; 1 to %d are allowed.", identity->length, MAX_CHAIN)));
}

/* The rules are those for the server's own key. */
static void
check_key_file(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not access REST private key file \"%s\": %m", path)));
	if (!S_ISREG(info.st_mode))
		ereport(ERROR, (errcode(ERRCODE_CONFIG_FILE_ERROR),
						errmsg("REST private key file \"%s\" is not a regular file", path)));
	if (info.st_uid != geteuid() && info.st_uid != 0)
		ereport(ERROR, (errcode(ERRCODE_CONFIG_FILE_ERROR),
						errmsg("REST private key file \"%s\" must be owned by the database user or root", path)));
	if ((info.st_mode & (info.st_uid == geteuid() ? S_IRWXG | S_IRWXO : S_IWGRP | S_IXGRP | S_IRWXO)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("REST private key file \"%s\" has group or world access", path),
				 errdetail("File must have permissions u=rw (0600) or less if owned by the database user, or "
						   "permissions u=rw,g=r (0640) or less if owned by root.")));
}

static void
read_key(const char *path, Identity *identity)
{
	size_t size;
	char *text;
	gnutls_datum_t datum;
	bool encrypted;
	int result;

	check_key_file(path);
	text = lance_read_text_file(path, MAX_FILE_BYTES, &size);
	datum = (gnutls_datum_t){.data = (unsigned char *)text, .size = (unsigned int)size};
	encrypted = strstr(text, "ENCRYPTED") != NULL;
	result = encrypted ? 0 : gnutls_x509_privkey_init(&identity->key);
	if (result >= 0 && !encrypted)
		result = gnutls_x509_privkey_import2(identity->key, &datum, GNUTLS_X509_FMT_PEM, NULL, 0);
	lance_wipe_text(text, size);
	if (encrypted)
		ereport(ERROR, (errcode(ERRCODE_CONFIG_FILE_ERROR),
						errmsg("REST private key file \"%s\" is encrypted with a passphrase", path),
						errdetail("The REST workers have nobody to ask for it.")));
	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR), errmsg("could not load REST private key file \"%s\"", path),
				 errdetail("%s.", gnutls_text(result))));
}

static bool
key_fits(const Identity *identity)
{
	unsigned char of_certificate[64];
	unsigned char of_key[64];
	size_t size = sizeof(of_certificate);
	size_t key_size = sizeof(of_key);

	return gnutls_x509_crt_get_key_id(identity->chain[0], GNUTLS_KEYID_USE_SHA256, of_certificate, &size) >= 0 &&
		   gnutls_x509_privkey_get_key_id(identity->key, GNUTLS_KEYID_USE_SHA256, of_key, &key_size) >= 0 &&
		   size == key_size && memcmp(of_certificate, of_key, size) == 0;
}

/* Read what the settings name. Throws; what was read by then is in *identity, for the caller to clear. */
static void
read_identity(Identity *identity)
{
	const char *certificate = file_of(lance_guc_rest_ssl_cert_file, "ssl_cert_file");
	const char *key = file_of(lance_guc_rest_ssl_key_file, "ssl_key_file");

	read_chain(certificate, identity);
	read_key(key, identity);
	if (!key_fits(identity))
		ereport(ERROR, (errcode(ERRCODE_CONFIG_FILE_ERROR),
						errmsg("REST private key file \"%s\" does not belong to certificate file \"%s\"", key,
							   certificate)));
}

/* Read certificate and key; only what is good in full replaces what is there. */
static void
load(int level)
{
	static const char *hint = "Mend \"lance_catalog.rest_ssl_cert_file\", \"lance_catalog.rest_ssl_key_file\" or "
							  "what they name, and reload.";
	MemoryContext old = CurrentMemoryContext;
	static Identity fresh;

	PG_TRY();
	{
		read_identity(&fresh);
		clear_identity(&current);
		current = fresh;
		memset(&fresh, 0, sizeof(fresh));
	}
	PG_CATCH();
	{
		ErrorData *error;
		const char *outcome;

		MemoryContextSwitchTo(old);
		error = CopyErrorData();
		FlushErrorState();
		clear_identity(&fresh);
		outcome = lance_tls_ready() ? "The old certificate stays in use." : "No REST request is answered.";
		ereport(level, (errcode(error->sqlerrcode), errmsg("%s", error->message),
						errdetail("%s%s%s", error->detail != NULL ? error->detail : "",
								  error->detail != NULL ? " " : "", outcome),
						errhint("%s", hint)));
		FreeErrorData(error);
	}
	PG_END_TRY();
}

void
lance_tls_start(void)
{
	started = true;
	load(LOG);
}

void
lance_tls_reload(void)
{
	if (started)
		load(WARNING);
}

bool
lance_tls_ready(void)
{
	return current.length > 0;
}

const char *
lance_tls_priorities(void)
{
	return lance_guc_rest_ssl_min_protocol_version == LANCE_TLS_1_3
			   ? "NORMAL:-VERS-ALL:+VERS-TLS1.3:%SERVER_PRECEDENCE"
			   : "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE";
}

/* Copies of the chain, in GnuTLS's memory; NULL when there is no memory. */
static gnutls_pcert_st *
copy_chain(void)
{
	gnutls_pcert_st *copies = gnutls_calloc(current.length, sizeof(*copies));

	if (copies == NULL)
		return NULL;
	for (unsigned int i = 0; i < current.length; i++)
	{
		if (gnutls_pcert_import_x509(&copies[i], current.chain[i], 0) >= 0)
			continue;
		while (i-- > 0)
			gnutls_pcert_deinit(&copies[i]);
		gnutls_free(copies);
		return NULL;
	}
	return copies;
}

int
lance_tls_choose(gnutls_session_t session, const struct gnutls_cert_retr_st *info, gnutls_pcert_st **certificates,
				 unsigned int *length, gnutls_ocsp_data_st **ocsp, unsigned int *ocsp_length, gnutls_privkey_t *key,
				 unsigned int *flags)
{
	gnutls_privkey_t copy;

	if (!lance_tls_ready() || gnutls_privkey_init(&copy) < 0)
		return -1;
	*certificates = NULL;
	if (gnutls_privkey_import_x509(copy, current.key, GNUTLS_PRIVKEY_IMPORT_COPY) >= 0)
		*certificates = copy_chain();
	if (*certificates == NULL)
	{
		gnutls_privkey_deinit(copy);
		return -1;
	}
	*length = current.length;
	*ocsp = NULL;
	*ocsp_length = 0;
	*key = copy;
	*flags |= GNUTLS_CERT_RETR_DEINIT_ALL;
	return 0;
}

bool
lance_tls_send_last(void *session, const char *data, size_t size)
{
	gnutls_session_t tls = session;

	while (size > 0)
	{
		ssize_t n = gnutls_record_send(tls, data, size);

		if (n == GNUTLS_E_INTERRUPTED)
			continue;
		if (n <= 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return gnutls_bye(tls, GNUTLS_SHUT_WR) == GNUTLS_E_SUCCESS;
}

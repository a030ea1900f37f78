/*
 * tls.h
 *	  TLS on the REST port: the certificate of a worker, which a reload of the settings replaces.
 *
 * The HTTP library does the handshakes, by GnuTLS. It asks for the certificate at each, so that a new one counts for new
 * connections while those that are open go on.
 */
#ifndef LANCE_REST_TLS_H
#define LANCE_REST_TLS_H

#include <gnutls/abstract.h>

/* Once a worker, with lance_catalog.rest_ssl on: read certificate and key. What is wrong with them is logged. */
extern void lance_tls_start(void);

/*
 * The settings were read again: take the certificate that they name now. When it can't be used the old one stays, with a
 * warning. Does nothing before lance_tls_start.
 */
extern void lance_tls_reload(void);

/* Is there a certificate? Without one nobody is served: never in plain. */
extern bool lance_tls_ready(void);

/* The versions and ciphers that are offered, as GnuTLS writes them. */
extern const char *lance_tls_priorities(void);

/* For the HTTP library: hand out a copy of the certificate and its key, which GnuTLS frees. */
extern gnutls_certificate_retrieve_function3 lance_tls_choose;

/* Send all of it and the end of what is sent, without waiting. session is the HTTP library's. False: it was not taken whole. */
extern bool lance_tls_send_last(void *session, const char *data, size_t size);

#endif

/*
 * announce.h
 *	  Telling listeners of versions: LISTEN lance.
 */
#ifndef LANCE_CATALOG_ANNOUNCE_H
#define LANCE_CATALOG_ANNOUNCE_H

#include "catalog/table.h"

/* The channel. */
#define LANCE_CHANNEL "lance"

/*
 * When this transaction commits, tell who listens of a version that it made or took on record, in the order of the calls.
 * The payload is JSON: {"id": ["ml", "docs"], "table_id": 5, "branch": null, "version": 7}; branch null is main. An id
 * that does not fit into a notification is null. Throws nothing for want of listeners or of room in their queue.
 */
extern void lance_announce_version(const LanceTableRow *table, const char *branch, int64 version);

#endif

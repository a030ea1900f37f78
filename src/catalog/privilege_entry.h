/*
 * privilege_entry.h
 *	  Rows of lance.privilege_entry: giving and taking. What they mean is in catalog/access.h.
 */
#ifndef LANCE_CATALOG_PRIVILEGE_ENTRY_H
#define LANCE_CATALOG_PRIVILEGE_ENTRY_H

#include "c.h"

/*
 * Keep a role from being dropped, and other changes of rows away, until the transaction ends. Throws 42704 when there is no
 * such role. Rows of roles that are gone go. Call it first.
 */
extern void lance_privilege_begin(Oid role);

/* Give a privilege in the current user's name; one that is there stays as it is. */
extern void lance_privilege_insert(int64 entry_id, Oid role, const char *privilege);

/* True when it was there. */
extern bool lance_privilege_remove(int64 entry_id, Oid role, const char *privilege);

/* Take an entry, whose row the caller holds FOR UPDATE, from its owner. */
extern void lance_privilege_remove_owner(int64 entry_id);

/*
 * Let a role call functions of the extension, all forms of each, and use schema lance, by the extension's owner: what
 * callers may open in this way is for the caller of this to decide. What the role itself has already is passed over.
 */
extern void lance_privilege_open_functions(Oid role, int n, const char *const *functions);

#endif

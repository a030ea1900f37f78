/*
 * grant.h
 *	  Giving and taking privileges on namespaces and tables, for SQL alone.
 */
#ifndef LANCE_OPS_GRANT_H
#define LANCE_OPS_GRANT_H

#include "ops/types.h"

/*
 * Give a role a privilege ("read", "write", "admin", "owner") on a namespace, the root included, or a table; the
 * caller needs admin on it. Owner moves: an entry has one at most. The role may then also call the functions that the
 * privilege is for. Throws LANCE_TABLE_NOT_FOUND, LANCE_PERMISSION_DENIED, LANCE_INVALID_INPUT.
 */
extern void lance_op_grant(Oid role, const char *privilege, const LanceId *id);

/* Take it; false when the role had not been given it there. The functions stay open: by themselves they show nothing. */
extern bool lance_op_revoke(Oid role, const char *privilege, const LanceId *id);

/* What the views ask of the current user (catalog/access.h). */
extern bool lance_op_is_open(int64 entry_id);
extern int lance_op_namespaces_in_sight(int64 **namespaces);

#endif

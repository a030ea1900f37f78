/*
 * vend.h
 *	  What clients are told of how to reach a table: endpoint, region, and keys where the storage profile gives any.
 */
#ifndef LANCE_OPS_VEND_H
#define LANCE_OPS_VEND_H

#include "ops/types.h"
#include "pg/profile.h"

/*
 * Storage options for a table at location, for the current user. Keys are among them unless vend is false; no field is taken
 * for true, since LanceDB opens a table with nothing but what it is given. may_write is what the user may do with the table,
 * and short-lived keys for it. None to be had is no error. May wait for the token service, some seconds at most.
 */
extern void lance_vend_options(const LanceProfile *profile, const char *location, LanceOptionalBool vend,
							   bool may_write, LanceProperties *out);

/* Whether the current user may commit to a table; a negative number stands for one that he is just making, and so owns. */
extern bool lance_vend_may_write(int64 table_id);

#endif

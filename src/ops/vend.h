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
 * for true, since LanceDB opens a table with nothing but what it is given. Short-lived keys are for what the user may do with
 * the table; a negative number stands for one that he is just making, and so owns. None to be had is no error. May wait for the token service, some seconds at most.
 */
extern void lance_vend_options(const LanceProfile *profile, const char *location, LanceOptionalBool vend,
							   int64 table_id, LanceProperties *out);

#endif

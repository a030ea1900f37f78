/*
 * cleanup.h
 *	  Running the cleanup queue, for the rooms above. The call is the catalog's own.
 */
#ifndef LANCE_OPS_CLEANUP_H
#define LANCE_OPS_CLEANUP_H

#include "catalog/cleanup.h" /* IWYU pragma: export */

#endif

/*
 * commit.h
 *	  What follows a commit, for the rooms above. The calls are the catalog's own.
 */
#ifndef LANCE_OPS_COMMIT_H
#define LANCE_OPS_COMMIT_H

#include "catalog/commit.h" /* IWYU pragma: export */

#endif

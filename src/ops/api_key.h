/*
 * api_key.h
 *	  API keys, for the rooms above. They have no operation in the namespace specification: the calls are the catalog's own.
 */
#ifndef LANCE_OPS_API_KEY_H
#define LANCE_OPS_API_KEY_H

#include "catalog/api_key.h" /* IWYU pragma: export */

#endif

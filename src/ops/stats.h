/*
 * stats.h
 *	  GetTableStats.
 */
#ifndef LANCE_OPS_STATS_H
#define LANCE_OPS_STATS_H

#include "ops/types.h"

typedef struct LanceGetTableStatsRequest
{
	LanceId id;
	char *branch; /* NULL: main */
} LanceGetTableStatsRequest;

typedef struct LanceGetTableStatsResponse
{
	LanceOptionalInt total_bytes; /* all members are given */
	LanceOptionalInt num_rows;
	LanceOptionalInt num_indices;
	LanceFragmentStats fragment_stats;
} LanceGetTableStatsResponse;

extern void lance_op_get_table_stats(const LanceGetTableStatsRequest *request,
									 LanceGetTableStatsResponse *response);

#endif

/*
 * transaction.h
 *	  What is told about the transaction that made a version.
 *
 * Source of the facts: format.md sections 1, 2 and 14, proto message lance.table.Transaction.
 */
#ifndef LNC_DATASET_TRANSACTION_H
#define LNC_DATASET_TRANSACTION_H

#include "base/arena.h"
#include "column/type.h"
#include "proto/table.pb-c.h"
#include "storage/storage.h"

/* Strings live in the arena. */
typedef struct LncTransaction
{
	uint64_t read_version; /* what it was made from */
	const char *id;        /* a UUID */
	const char *operation; /* as the format names it, "Append"; NULL: not known */
	const char *tag;       /* NULL: none */
	size_t nproperties;
	const LncKeyValue *properties;
} LncTransaction;

/*
 * Read the transaction of the manifest at key. LNC_NOT_FOUND: it has none, or its file is gone. LNC_CORRUPT: it is
 * damaged.
 */
extern LncCode lnc_transaction_read(LncContext *ctx, LncArena *arena, LncStore *store, const char *manifest_key,
									const Lance__Table__Manifest *manifest, LncTransaction *out) LNC_MUST_CHECK;

/*
 * The version that a transaction was made from, by the file that it left in the branch's folder of transactions; folder is
 * that of the manifests. LNC_NOT_FOUND: there is no such file. That the transaction was committed is not said.
 */
extern LncCode lnc_transaction_find(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
									const char *id, uint64_t *read_version) LNC_MUST_CHECK;

#endif

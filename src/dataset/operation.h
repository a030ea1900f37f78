/*
 * operation.h
 *	  What made a version: the kind of its transaction.
 *
 * The transaction is a message in the manifest's file, at a position the manifest states (u32 length before it), or a
 * file of its own in "_transactions". Its operation is one member, number 100 or more, behind the small ones.
 * Source of the facts: format.md sections 1 and 2, proto message lance.table.Transaction.
 */
#ifndef LNC_DATASET_OPERATION_H
#define LNC_DATASET_OPERATION_H

#include "base/arena.h"
#include "proto/table.pb-c.h"
#include "storage/storage.h"

/*
 * The operation that made the manifest at key, a static string such as "append"; NULL when there is no transaction, or
 * one that is damaged or of an unknown kind. Reads a few kilobytes. Errors are those of a store that does not answer.
 */
extern LncCode lnc_operation_read(LncContext *ctx, LncArena *arena, LncStore *store, const char *manifest_key,
								  const Lance__Table__Manifest *manifest, const char **out) LNC_MUST_CHECK;

/* The operation of a transaction message of which bytes are the first; NULL when they do not tell. */
extern const char *lnc_operation_name(LncSlice bytes);

/* The same in the format's own spelling, the name of the operation's message: "Append". */
extern const char *lnc_operation_message(LncSlice bytes);

#endif

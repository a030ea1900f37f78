/*
 * transaction.c
 *	  Reading the transaction of a version, and finding one by its id.
 */
#include "dataset/transaction.h"

#include <limits.h>
#include <string.h>

#include "dataset/manifest.h"
#include "dataset/operation.h"
#include "proto/transaction.pb-c.h"
#include "proto/unpack.h"

#define LARGEST_TRANSACTION_FILE ((uint64_t)1 << 30)

/* The message: in the manifest's file, else in a file of its own. */
static LncCode
read_message(LncContext *ctx, LncArena *arena, LncStore *store, const char *manifest_key,
			 const Lance__Table__Manifest *manifest, LncSlice *out)
{
	const char *folder = strstr(manifest_key, "_versions/");
	char *key;

	if (manifest->transaction_section_presence_case != 0)
		return lnc_manifest_read_section(ctx, arena, store, manifest_key, manifest->transaction_section, out);
	if (manifest->old_transaction_presence_case != 0)
		return lnc_manifest_read_section(ctx, arena, store, manifest_key, manifest->old_transaction_section, out);
	if (folder == NULL || manifest->transaction_file[0] == '\0')
		return lnc_fail(ctx, LNC_NOT_FOUND, "manifest \"%s\" tells of no transaction", manifest_key);
	LNC_TRY(lnc_arena_printf(ctx, arena, &key, "%.*s_transactions/%s", (int)(folder - manifest_key), manifest_key,
							 manifest->transaction_file));
	return lnc_store_read_all(ctx, store, arena, key, LARGEST_TRANSACTION_FILE, out);
}

LncCode
lnc_transaction_read(LncContext *ctx, LncArena *arena, LncStore *store, const char *manifest_key,
					 const Lance__Table__Manifest *manifest, LncTransaction *out)
{
	const Lance__Table__Transaction *transaction;
	ProtobufCMessage *message;
	LncKeyValue *properties;
	LncSlice bytes;

	memset(out, 0, sizeof(*out));
	LNC_TRY(read_message(ctx, arena, store, manifest_key, manifest, &bytes));
	LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__table__transaction__descriptor, bytes, "transaction", &message));
	transaction = (const Lance__Table__Transaction *)message;
	out->read_version = transaction->read_version;
	out->id = transaction->uuid;
	out->operation = lnc_operation_message(bytes);
	if (transaction->tag[0] != '\0')
		out->tag = transaction->tag;
	LNC_TRY(LNC_NEW(ctx, arena, &properties, transaction->n_transaction_properties));
	for (size_t i = 0; i < transaction->n_transaction_properties; i++)
	{
		const char *value = transaction->transaction_properties[i]->value;

		properties[i].key = transaction->transaction_properties[i]->key;
		properties[i].value = (LncSlice){.data = (const uint8_t *)value, .size = strlen(value)};
	}
	out->nproperties = transaction->n_transaction_properties;
	out->properties = properties;
	return LNC_OK;
}

/* ---- finding one */

typedef struct Search
{
	const char *id;
	bool found;
	uint64_t read_version;
} Search;

/* "<read version>-<id>.txn" */
static bool
parse_file_name(const char *name, const char *id, uint64_t *read_version)
{
	size_t digits = strspn(name, "0123456789");
	size_t length = strlen(id);
	uint64_t number = 0;

	if (digits == 0 || name[digits] != '-' || strncmp(name + digits + 1, id, length) != 0 ||
		strcmp(name + digits + 1 + length, ".txn") != 0)
		return false;
	for (size_t i = 0; i < digits; i++)
	{
		if (lnc_mul_overflow(number, (uint64_t)10, &number) ||
			lnc_add_overflow(number, (uint64_t)(name[i] - '0'), &number))
			return false;
	}
	*read_version = number;
	return true;
}

static LncCode
search_object(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	const char *name = strrchr(object->key, '/');
	Search *search = arg;

	LNC_TRY(lnc_check_interrupt(ctx));
	search->found = name != NULL && parse_file_name(name + 1, search->id, &search->read_version);
	*stop = search->found;
	return LNC_OK;
}

LncCode
lnc_transaction_find(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, const char *id,
					 uint64_t *read_version)
{
	size_t length = strlen(folder);
	size_t suffix = strlen("_versions");
	Search search = {.id = id};
	char *transactions;

	if (length < suffix || strcmp(folder + length - suffix, "_versions") != 0)
		return lnc_fail(ctx, LNC_INVALID, "\"%s\" is not a folder of manifests", folder);
	LNC_TRY(lnc_arena_printf(ctx, arena, &transactions, "%.*s_transactions", (int)(length - suffix), folder));
	LNC_TRY(lnc_store_list(ctx, store, transactions, false, NULL, search_object, &search));
	if (!search.found)
		return lnc_fail(ctx, LNC_NOT_FOUND, "there is no file of transaction \"%s\"", id);
	*read_version = search.read_version;
	return LNC_OK;
}

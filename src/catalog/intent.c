/*
 * intent.c
 *	  Writing intents, and undoing what stands under them.
 */
#include "postgres.h"

#include <time.h>

#include "catalog/intent.h"
#include "catalog/version_entry.h"
#include "dataset/refs.h"
#include "pg/report.h"
#include "storage/sigv4.h"

/* A request of a process that was killed may still be on its way to the store: its intent is kept for so long. */
#define KEEP_MS (INT64CONST(15) * 60 * 1000)

char *
lance_intent_key(LanceLibrary *lib, const char *folder, int64 version, LncNaming naming)
{
	uint64 tag;
	char *key;

	if (!pg_strong_random(&tag, sizeof(tag)))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	lance_check(&lib->ctx,
				lnc_versions_intent_key(&lib->ctx, lib->arena, folder, (uint64)version, naming, tag, &key));
	return key;
}

void
lance_intent_write(LanceLibrary *lib, LncStore *store, const char *key, LncSlice body)
{
	char digest[LNC_SHA256_HEX_SIZE];
	LncSlice note = {.data = (const uint8_t *)digest, .size = LNC_SHA256_HEX_SIZE - 1};

	lance_check(&lib->ctx, lnc_sha256_hex(&lib->ctx, body, digest));
	lance_check(&lib->ctx, lnc_store_put(&lib->ctx, store, key, note));
}

LncCode
lance_intent_withdraw(LanceLibrary *lib, LncStore *store, const char *intent_key, const char *manifest_key,
					  LncSlice body)
{
	LncContext *ctx = &lib->ctx;

	if (manifest_key != NULL)
	{
		uint64_t size;
		LncSlice found = {0};
		LncCode code = lnc_store_size(ctx, store, manifest_key, &size);

		/* of another size: somebody else's */
		if (code == LNC_OK && size == body.size)
			code = lnc_store_read_all(ctx, store, lib->arena, manifest_key, body.size, &found);
		if (code == LNC_OK && found.size == body.size && memcmp(found.data, body.data, body.size) == 0)
			code = lnc_store_delete(ctx, store, manifest_key);
		if (code != LNC_OK && code != LNC_NOT_FOUND)
			return code;
	}
	return lnc_store_delete(ctx, store, intent_key);
}

/* ---- what others left */

static bool
is_covered(LanceLibrary *lib, LncStore *store, const LncVersionFile *file, const LncVersionList *list)
{
	LncContext *ctx = &lib->ctx;
	LncSlice body;
	char digest[LNC_SHA256_HEX_SIZE];
	LncCode code = lnc_store_read_all(ctx, store, lib->arena, file->key, LANCE_MAX_MANIFEST_BYTES, &body);

	/* taken away meanwhile by who settles it */
	if (code == LNC_NOT_FOUND)
		return true;
	lance_check(ctx, code);
	lance_check(ctx, lnc_sha256_hex(ctx, body, digest));
	for (size_t i = 0; i < list->nintents; i++)
	{
		const LncVersionFile *intent = &list->intents[i];
		LncSlice note;

		if (intent->version != file->version)
			continue;
		code = lnc_store_read_all(ctx, store, lib->arena, intent->key, LNC_SHA256_HEX_SIZE, &note);
		if (code == LNC_NOT_FOUND)
			continue;
		lance_check(ctx, code);
		if (note.size >= strlen(digest) && memcmp(note.data, digest, strlen(digest)) == 0)
			return true;
	}
	return false;
}

bool
lance_intent_covers(LanceLibrary *lib, LncStore *store, const char *folder, const LncVersionFile *file)
{
	LncVersionList list;

	lance_check(&lib->ctx, lnc_versions_list_all(&lib->ctx, lib->arena, store, folder, file->version - 1, &list));
	return is_covered(lib, store, file, &list);
}

bool
lance_intent_begins_branch(LanceLibrary *lib, LncStore *store, const char *branch, uint64 version)
{
	LncContext *ctx = &lib->ctx;
	LncBranch found;
	LncSlice text;
	LncCode code;
	char *key;

	if (branch[0] == '\0')
		return false;
	lance_check(ctx, lnc_ref_key(ctx, lib->arena, LNC_REF_BRANCH, branch, &key));
	code = lnc_store_read_all(ctx, store, lib->arena, key, LNC_MAX_REF_BYTES, &text);
	if (code == LNC_NOT_FOUND)
		return false;
	lance_check(ctx, code);
	return lnc_branch_parse(ctx, lib->arena, branch, text, &found) == LNC_OK && found.parent_version == version;
}

/* The newest version that lies in the store without an intent; 0: none. */
static uint64
newest_plain(const LncVersionList *list)
{
	for (size_t i = list->nfiles; i > 0; i--)
	{
		if (!list->files[i - 1].intended)
			return list->files[i - 1].version;
	}
	return 0;
}

static bool
has_manifest(const LncVersionList *list, uint64 version)
{
	for (size_t i = 0; i < list->nfiles; i++)
	{
		if (list->files[i].version == version)
			return true;
	}
	return false;
}

/*
 * Intents that stand for nothing any more: of recorded versions, or old ones without a manifest. Returns whether the newest
 * recorded version had one.
 */
static bool
remove_stale(LanceLibrary *lib, LncStore *store, uint64 newest, const LncVersionList *list)
{
	int64 now_ms = (int64)time(NULL) * 1000;
	bool had_newest = false;

	for (size_t i = 0; i < list->nintents; i++)
	{
		const LncVersionFile *intent = &list->intents[i];

		if (intent->version <= newest ||
			(intent->modified_ms < now_ms - KEEP_MS && !has_manifest(list, intent->version)))
			lance_check(&lib->ctx, lnc_store_delete(&lib->ctx, store, intent->key));
		had_newest = had_newest || intent->version == newest;
	}
	return had_newest;
}

void
lance_intent_settle(LanceLibrary *lib, LncStore *store, int64 table_id, const char *branch, const char *folder,
					uint64 newest, LncVersionList *list)
{
	LncVersionList all;
	uint64 plain;

	if (list->nintents == 0)
		return;
	plain = newest_plain(list);
	while (list->nfiles > 0)
	{
		const LncVersionFile *file = &list->files[list->nfiles - 1];

		if (file->version <= newest || file->version <= plain)
			break;

		/*
		 * Others may have committed it since this transaction's snapshot was taken, or taken its name past the
		 * catalog. What is left has never been acknowledged to anybody.
		 */
		if (lance_version_recorded_now(table_id, branch, (int64)file->version) ||
			!is_covered(lib, store, file, list) || lance_intent_begins_branch(lib, store, branch, file->version))
			break;

		/* The intents stay for now: without one, a write that arrives late would count. */
		lance_check(&lib->ctx, lnc_store_delete(&lib->ctx, store, file->key));
		list->nfiles--;
	}

	/* A transaction's intents are removed in the order of the versions: where the last one stayed, others may have. */
	if (remove_stale(lib, store, newest, list))
	{
		lance_check(&lib->ctx, lnc_versions_list_all(&lib->ctx, lib->arena, store, folder, 0, &all));
		(void)remove_stale(lib, store, newest, &all);
	}
}

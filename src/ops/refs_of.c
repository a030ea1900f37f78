/*
 * refs_of.c
 *	  What the operations on tags and branches share.
 */
#include "postgres.h"

#include <time.h>

#include "ops/check.h"
#include "ops/history_of.h"
#include "ops/refs_of.h"
#include "pg/errcodes.h"
#include "pg/report.h"

void
lance_refs_of(const LanceId *id, LanceRowLock lock, LanceLevel needed, LanceHistory *main_history, LanceRefs *refs)
{
	lance_history_of(id, NULL, lock, needed, main_history);
	refs->table = main_history->table;
	refs->lib = main_history->lib;
	refs->store = main_history->store;
}

void
lance_refs_history(const LanceRefs *refs, const char *branch, LanceHistory *history)
{
	if (branch != NULL && branch[0] == '\0')
		branch = NULL;
	if (branch != NULL)
		lance_check_name(branch, "branch name");
	lance_history_begin(history, refs->table, branch, refs->lib, refs->store);
}

void
lance_check_ref_name(const LanceRefs *refs, LncRefKind kind, const char *name, bool is_new)
{
	const char *what = kind == LNC_REF_TAG ? "tag" : "name";
	LncContext *ctx = &refs->lib->ctx;

	if (name == NULL)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("%s is missing", what)));
	lance_check(ctx, is_new ? lnc_ref_check_new_name(ctx, kind, name) : lnc_ref_check_name(ctx, kind, name));
}

void
lance_ref_missing(LncRefKind kind, const char *name, const LanceId *id)
{
	ereport(ERROR, (lance_errcode(kind == LNC_REF_TAG ? LANCE_TAG_NOT_FOUND : LANCE_BRANCH_NOT_FOUND),
					errmsg("%s \"%s\" of table \"%s\" does not exist", kind == LNC_REF_TAG ? "tag" : "branch", name,
						   lance_id_text(id))));
}

LanceHistoryItem *
lance_refs_version(const LanceRefs *refs, const LanceId *id, const char *branch, const LanceOptionalInt *version,
				   LanceHistory *history, const LancePending **pending)
{
	LanceHistoryItem *item;
	const LancePending *found;

	if (!version->given)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("version is missing")));
	if (version->value < 0)
		ereport(ERROR,
				(lance_errcode(LANCE_INVALID_INPUT), errmsg("invalid version " INT64_FORMAT, version->value)));
	lance_refs_history(refs, branch, history);
	item = lance_history_find_here(history, (uint64)version->value, &found);
	if (pending != NULL)
		*pending = found;
	if (item != NULL)
		return item;
	if (history->branch[0] != '\0' && lance_history_latest(history) == NULL)
		lance_branch_missing(history, id);
	ereport(ERROR,
			(lance_errcode(LANCE_VERSION_NOT_FOUND),
			 errmsg("version " INT64_FORMAT " of table \"%s\" does not exist", version->value, lance_id_text(id))));
}

int
lance_refs_tagged(const LanceRefs *refs, const char *branch, int64 **versions, char ***tags)
{
	char **names;
	int n = lance_refs_names(refs, LNC_REF_TAG, &names);
	int found = 0;

	*versions = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(int64));
	*tags = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(char *));
	for (int i = 0; i < n; i++)
	{
		LncTag tag;

		if (!lance_refs_tag(refs, names[i], &tag) || strcmp(tag.branch != NULL ? tag.branch : "", branch) != 0)
			continue;
		(*versions)[found] = (int64)tag.version;
		(*tags)[found++] = names[i];
	}
	return found;
}

int64
lance_refs_unix_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64)now.tv_sec * INT64CONST(1000000000) + now.tv_nsec;
}

const char *
lance_refs_now(LanceLibrary *lib)
{
	const char *text;

	lance_check(&lib->ctx, lnc_ref_time_text(&lib->ctx, lib->arena, lance_refs_unix_ns(), &text));
	return text;
}

int
lance_refs_page(const LanceRefs *refs, LncRefKind kind, const char *page_token, const LanceOptionalInt *limit,
				char ***names, char **next_token)
{
	const char *after = lance_check_name_token(page_token);
	int64 most = lance_check_limit(limit);
	int n = lance_refs_names(refs, kind, names);
	int first = 0;

	while (after != NULL && first < n && strcmp((*names)[first], after) <= 0)
		first++;
	*names += first;
	n -= first;
	if (most < 0 || n <= most)
		return n;
	*next_token = (*names)[most - 1];
	return (int)most;
}

void
lance_refs_metadata(const LanceRefs *refs, const LncJson *text, LanceProperties *out)
{
	const LncJson *metadata = lnc_ref_metadata(text);

	memset(out, 0, sizeof(*out));
	out->given = true;
	out->items = palloc((lnc_json_count(metadata) + 1) * sizeof(LanceProperty));
	LNC_JSON_EACH(entry, metadata)
	{
		const char *value;

		lance_check(&refs->lib->ctx, lnc_json_as_string(&refs->lib->ctx, entry, "entry of \"metadata\"", &value));
		out->items[out->count].key = pstrdup(lnc_json_key(entry));
		out->items[out->count++].value = pstrdup(value);
	}
}

/*
 * refs.h
 *	  Tags and branches of the catalog's tables: the dataset's own files (dataset/refs.h), changed when a transaction
 *	  commits.
 *
 * Nothing about them is in the catalog's tables, so that whoever reads the files sees the same. A change is remembered and
 * carried out as the last step before the transaction commits, after the versions that it creates; until then only this
 * transaction sees it. Rolled back, also to a savepoint, it is forgotten. When the commit itself fails after that step,
 * what was changed is put back. A crash just there leaves the change made, a branch with its first version (intent.h).
 *
 * To change refs of a table, lock its row with LANCE_LOCK_UPDATE: what was found is what is replaced. A client that works
 * past the catalog may still come in between; for a new name there is one winner all the same.
 */
#ifndef LANCE_CATALOG_REFS_H
#define LANCE_CATALOG_REFS_H

#include "catalog/table.h"
#include "dataset/refs.h"
#include "pg/env.h"

/* Where refs are looked for. All borrowed. */
typedef struct LanceRefs
{
	const LanceTableRow *table;
	LanceLibrary *lib;
	LncStore *store; /* of the table's location */
} LanceRefs;

/* Names of all that there are for this transaction, in the order of their bytes, in the current memory context. */
extern int lance_refs_names(const LanceRefs *refs, LncRefKind kind, char ***names);

/* The text of a file; false when there is none of that name. Throws 22023 for a name that can't be one. */
extern bool lance_refs_text(const LanceRefs *refs, LncRefKind kind, const char *name, LncSlice *text);

/* The same, read. Throws XX001 when the file is damaged. */
extern bool lance_refs_tag(const LanceRefs *refs, const char *name, LncTag *tag);
extern bool lance_refs_branch(const LanceRefs *refs, const char *name, LncBranch *branch);

/*
 * Have the file written when the transaction commits. before: the text that lance_refs_text() found, NULL when there was
 * none; then the commit throws LANCE_TAG_EXISTS or LANCE_BRANCH_EXISTS when somebody else was faster. after: the new text,
 * NULL to remove it. Both are copied.
 */
extern void lance_refs_change(const LanceRefs *refs, LncRefKind kind, const char *name, const LncSlice *before,
							  const LncSlice *after);

/* Throw that a name is taken. */
extern void lance_refs_taken(LncRefKind kind, const char *name, const char *table_name) pg_attribute_noreturn();

#endif

/*
 * refs_of.h
 *	  What the operations on tags and branches share.
 */
#ifndef LANCE_OPS_REFS_OF_H
#define LANCE_OPS_REFS_OF_H

#include "catalog/history.h"
#include "catalog/publish.h"
#include "catalog/refs.h"

/*
 * Find the table (throws LANCE_TABLE_NOT_FOUND) and open its store. Everything lives in the current memory context. The
 * history is that of main.
 */
extern void lance_refs_of(const LanceId *id, LanceRowLock lock, LanceLevel needed, LanceHistory *main_history,
						  LanceRefs *refs);

/* The history of a branch of the same table. branch NULL, "" or "main" is main. */
extern void lance_refs_history(const LanceRefs *refs, const char *branch, LanceHistory *history);

/* Throw LANCE_INVALID_INPUT unless the name is given and can be one; with is_new also for one that may not be made. */
extern void lance_check_ref_name(const LanceRefs *refs, LncRefKind kind, const char *name, bool is_new);

/* Throw LANCE_TAG_NOT_FOUND or LANCE_BRANCH_NOT_FOUND. */
extern void lance_ref_missing(LncRefKind kind, const char *name, const LanceId *id) pg_attribute_noreturn();

/*
 * The version that a tag is to point to, or a branch to begin at; throws LANCE_VERSION_NOT_FOUND, LANCE_BRANCH_NOT_FOUND. One
 * that this transaction will write is found too; pending, unless NULL, tells what it will write (NULL: it stands already).
 */
extern LanceHistoryItem *lance_refs_version(const LanceRefs *refs, const LanceId *id, const char *branch,
											const LanceOptionalInt *version, LanceHistory *history,
											const LancePending **pending);

/* The versions of a branch ("" for main) that tags point to: their numbers, and the tags' names. */
extern int lance_refs_tagged(const LanceRefs *refs, const char *branch, int64 **versions, char ***tags);

/* Now, as tags state it. Lives in the library's arena. */
extern const char *lance_refs_now(LanceLibrary *lib);

/* Now, in nanoseconds since the Unix epoch. */
extern int64 lance_refs_unix_ns(void);

/*
 * One page of names. Returns how many, from *names on; *page_token is set when there are more.
 */
extern int lance_refs_page(const LanceRefs *refs, LncRefKind kind, const char *page_token,
						   const LanceOptionalInt *limit, char ***names, char **next_token);

/* The metadata of a file as a map. */
extern void lance_refs_metadata(const LanceRefs *refs, const LncJson *text, LanceProperties *out);

#endif

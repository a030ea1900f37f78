/*
 * directory.h
 *	  What a folder of Lance tables holds: the tables of a directory namespace, as its own clients see them.
 *
 * Two kinds of record, which may stand side by side. Folders "<name>.lance" in the root are tables of the root
 * namespace; an object ".lance-deregistered" in one takes it out, ".lance-reserved" marks a table that was declared. The
 * dataset "__manifest" has a row an object: object_id (names joined by "$"), object_type ("namespace", "table", others),
 * location (of tables, relative to the root), metadata (a JSON object of texts, or NULL). Where both speak of one
 * folder the dataset's word counts.
 *
 * Source of the facts: the format's specification of directory catalogs; folders written by pylance 10 and 14.
 */
#ifndef LNC_SCAN_DIRECTORY_H
#define LNC_SCAN_DIRECTORY_H

#include "base/arena.h"
#include "storage/storage.h"

#define LNC_DIRECTORY_MANIFEST "__manifest"

typedef struct LncDirectoryEntry
{
	bool plain;           /* a folder that no row names; id is then one name, whatever it holds */
	const char *type;     /* "namespace", "table", or another that the dataset states */
	const char *id;       /* valid UTF-8; of rows: names joined by "$" */
	const char *location; /* of tables: literal, relative to the root and not checked; NULL: none stated */
	const char *metadata; /* valid UTF-8, to be parsed; NULL: none */
	bool deregistered;    /* plain: the folder is marked */
} LncDirectoryEntry;

typedef struct LncDirectory
{
	bool has_manifest;
	size_t nentries;
	LncDirectoryEntry *entries; /* rows in their order, then plain folders by name */
} LncDirectory;

/*
 * Read the directory at root; manifest is the store of its dataset "__manifest", which need not be there. Everything
 * lives in arena. LNC_NOT_FOUND: the directory was dropped as a whole. LNC_UNSUPPORTED: it has features that are not
 * known. LNC_CORRUPT: the dataset is not what it should be. LNC_LIMIT: more than a million entries.
 */
extern LncCode lnc_directory_read(LncContext *ctx, LncArena *arena, LncStore *root, LncStore *manifest,
								  LncDirectory *out) LNC_MUST_CHECK;

#endif

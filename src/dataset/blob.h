/*
 * blob.h
 *	  The bytes of blobs: a scan gives columns of descriptors (column/blob.h), this reads one value.
 *
 *	kind		bytes
 *	inline		at position of the data file that holds the descriptor
 *	packed		at position of the file DIR/STEM/B.blob, where DIR/STEM.lance is the data file and B is the blob id as 32
 *				binary digits, the lowest first
 *	dedicated	the whole of such a file
 *	external	at position of the object named by uri; from there to its end when the size is 0. With a blob id above 0,
 *				uri is a path below the base path of that id
 *	managed		at position of the object that uri, a path, names below the base path of the data file, or below the dataset's
 *				root when the file has none; with a base: below the base path that is the blob id
 *
 * Source of the facts: format.md section 9.
 */
#ifndef LNC_DATASET_BLOB_H
#define LNC_DATASET_BLOB_H

#include "column/blob.h"
#include "dataset/dataset.h"

/* What the kind of a descriptor may be. */
typedef enum LncBlobKind
{
	LNC_BLOB_INLINE = 0,
	LNC_BLOB_PACKED = 1,
	LNC_BLOB_DEDICATED = 2,
	LNC_BLOB_EXTERNAL = 3,
	LNC_BLOB_MANAGED = 4,
	LNC_BLOB_MANAGED_WITH_BASE = 5
} LncBlobKind;

/* Where the blobs of one data file are read. */
typedef struct LncBlobSource LncBlobSource;

/*
 * The source of the blobs of a data file, which is at key of store. Lives in arena; all else is borrowed. What reading
 * blobs asks of stores is added to *usage, unless that is NULL.
 */
extern LncCode lnc_blob_source_create(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
									  const LncDataFile *file, LncStore *store, const char *key, LncUsage *usage,
									  LncBlobSource **out) LNC_MUST_CHECK;

/* Set the source of all columns of blobs in the tree. */
extern void lnc_blob_set_source(LncColumn *column, LncBlobSource *source);

/*
 * Read the value of a row that is not NULL, into arena. LNC_LIMIT: it has more than max bytes. LNC_UNSUPPORTED: an
 * unknown kind, by number. LNC_CORRUPT: the bytes are not inside the file that should hold them. LNC_DENIED:
 * the dataset's open_base does not allow the place.
 */
extern LncCode lnc_blob_read(LncContext *ctx, LncArena *arena, const LncColumn *column, int64_t row, uint64_t max,
							 LncSlice *out) LNC_MUST_CHECK;

#endif

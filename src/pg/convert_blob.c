/*
 * convert_blob.c
 *	  Blobs as bytea whose bytes are fetched when they are looked at.
 *
 * The value is an expanded object: the executor hands it on as a pointer, and only what wants the bytes (an output
 * function, a tuple that is stored, a sort) flattens it. Its length is known without them. It is never handed out for
 * writing, so that it lives in the context it was made in, as long as the row that it belongs to.
 */
#include "postgres.h"

#include "dataset/blob.h"
#include "pg/convert_internal.h"
#include "pg/env.h"
#include "pg/report.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#define MAX_BLOB_BYTES (MaxAllocSize - VARHDRSZ)

/* ANALYZE looks at values of up to 1 kB; of longer ones it notes that they are. */
#define MAX_STATISTICS_BYTES 1100

typedef struct Blob
{
	ExpandedObjectHeader header;
	const LanceConverter *converter;
	const LncColumn *column; /* of the batch */
	int64 row;
	LanceLibrary *lib; /* holds bytes; NULL: not read yet */
	LncSlice bytes;
} Blob;

static Size blob_flat_size(ExpandedObjectHeader *header);
static void blob_flatten_into(ExpandedObjectHeader *header, void *result, Size size);

static const ExpandedObjectMethods blob_methods = {
	.get_flat_size = blob_flat_size,
	.flatten_into = blob_flatten_into,
};

static void
load(Blob *blob)
{
	LanceLibrary *lib;

	if (blob->lib != NULL)
		return;
	lib = lance_library_create(blob->header.eoh_context);
	lance_check(&lib->ctx,
				lnc_blob_read(&lib->ctx, lib->arena, blob->column, blob->row, MAX_BLOB_BYTES, &blob->bytes));
	blob->lib = lib;
}

/* A size of 0 may stand for a whole object, whose length shows when it is read. */
static Size
blob_flat_size(ExpandedObjectHeader *header)
{
	Blob *blob = (Blob *)header;
	uint64 size = load_uint64(&blob->column->children[LNC_BLOB_SIZE], blob->row);

	if (size > MAX_BLOB_BYTES)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("value of column \"%s\" is too long", blob->converter->name),
						errdetail("It has %llu bytes, the limit is %llu.", (unsigned long long)size,
								  (unsigned long long)MAX_BLOB_BYTES)));
	if (blob->lib == NULL && size > 0)
		return (Size)size + VARHDRSZ;
	load(blob);
	return blob->bytes.size + VARHDRSZ;
}

static void
blob_flatten_into(ExpandedObjectHeader *header, void *result, Size size)
{
	Blob *blob = (Blob *)header;

	load(blob);
	if (blob->bytes.size + VARHDRSZ != size)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("blob of column \"%s\" has another length than its descriptor says",
							   blob->converter->name)));
	SET_VARSIZE(result, size);
	memcpy(VARDATA(result), blob->bytes.data, blob->bytes.size);
	lance_library_destroy(blob->lib);
	blob->lib = NULL;
}

Datum
lance_convert_blob(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	Blob *blob = palloc0(sizeof(*blob));

	EOH_init_header(&blob->header, &blob_methods, CurrentMemoryContext);
	blob->converter = converter;
	blob->column = column;
	blob->row = row;
	return EOHPGetRODatum(&blob->header);
}

Datum
lance_convert_for_statistics(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	uint64 size;
	struct varlena *zeros;

	if (!lnc_type_is_blob(converter->type))
		return lance_convert(converter, column, row);
	size = Min(load_uint64(&column->children[LNC_BLOB_SIZE], row), MAX_STATISTICS_BYTES);
	zeros = palloc0(size + VARHDRSZ);
	SET_VARSIZE(zeros, size + VARHDRSZ);
	return PointerGetDatum(zeros);
}

/*
 * routes.h
 *	  The routes of the REST namespace specification, as data.
 *
 * Every path of the specification (spec.yaml) has a row. One without an operation is answered Unsupported: code 0, status
 * 406, nothing done.
 */
#ifndef LANCE_REST_ROUTES_H
#define LANCE_REST_ROUTES_H

struct LanceRestRequest;

/* How a member is read and printed; the C type it stands for in the struct. */
typedef enum LanceFieldKind
{
	LANCE_FIELD_ID,             /* LanceId: list of texts */
	LANCE_FIELD_TEXT,           /* char * */
	LANCE_FIELD_INT,            /* LanceOptionalInt, 64 bits */
	LANCE_FIELD_LIMIT,          /* LanceOptionalInt, 32 bits */
	LANCE_FIELD_BOOL,           /* LanceOptionalBool */
	LANCE_FIELD_PROPERTIES,     /* LanceProperties: object of texts */
	LANCE_FIELD_RANGES,         /* LanceVersionRanges: list of {start_version, end_version} */
	LANCE_FIELD_TEXTS,          /* LanceTexts: list of texts */
	LANCE_FIELD_ALTERATIONS,    /* LanceColumnChanges: list of objects; so are the next two (ops/changes_json.h) */
	LANCE_FIELD_FIELD_METADATA, /* LanceFieldMetadataList */
	LANCE_FIELD_ACTIONS,        /* LanceActions */
	LANCE_FIELD_WHOLE_MAP,      /* LanceProperties: the whole body is the map, of requests and responses */
	LANCE_FIELD_DELIMITER,      /* char *: the request's delimiter; requests only, in neither query nor body */
	LANCE_FIELD_NAMES,          /* LanceNameList; responses only, as are the ones below but for lists and objects */
	LANCE_FIELD_VERSION,        /* LanceVersionInfo */
	LANCE_FIELD_VERSIONS,       /* LanceVersionList */
	LANCE_FIELD_JSON,           /* char *: an object that is JSON already */
	LANCE_FIELD_LIST,           /* {bool given; int count; T *items}: list of objects, each a message */
	LANCE_FIELD_OBJECT,         /* T *: an object that is a message; NULL: not given */
	LANCE_FIELD_STATS,          /* two LanceOptionalInt: deleted rows, fragments */
	LANCE_FIELD_TAGS,           /* LanceTagList: object of objects */
	LANCE_FIELD_BRANCHES,       /* LanceBranchList: the same */
	LANCE_FIELD_MAPS,           /* LanceNamedPropertiesList: object of maps */
	LANCE_FIELD_FRAGMENT_STATS  /* LanceFragmentStats */
} LanceFieldKind;

/* Where a request's member may come from. The route's id wins over nothing, the query over the body. */
typedef enum LanceFieldSource
{
	LANCE_FROM_BODY = 1,
	LANCE_FROM_QUERY = 2,
	LANCE_FROM_PATH = 4
} LanceFieldSource;

typedef struct LanceField
{
	const char *name; /* as on the wire; NULL ends a table */
	LanceFieldKind kind;
	size_t offset;                      /* in the struct */
	int sources;                        /* of LanceFieldSource; 0 in responses */
	const struct LanceMessage *message; /* of the objects in LIST and OBJECT */
} LanceField;

/* The struct that a table of fields describes. */
typedef struct LanceMessage
{
	size_t size;
	const LanceField *fields;
} LanceMessage;

/* The struct that a field of kind LIST stands for, whatever its items are. */
typedef struct LanceObjectList
{
	bool given;
	int count;
	void *items;
} LanceObjectList;

typedef enum LanceBodyKind
{
	LANCE_BODY_NONE, /* GET: whatever is sent is read and dropped */
	LANCE_BODY_JSON, /* an object, null, or nothing */
	LANCE_BODY_ARROW /* Arrow stream; no served route takes one yet, so it is read and dropped */
} LanceBodyKind;

/* How an operation may be run. */
typedef enum LanceRouteManner
{
	LANCE_RUN_ONCE,       /* never again within the request */
	LANCE_RUN_REPEATABLE, /* again when a deadlock made it fail */
	LANCE_RUN_BRIEFLY /* it mostly reads a few rows: begun where the connection is, anew elsewhere if it would wait */
} LanceRouteManner;

typedef struct LanceRoute
{
	const char *operation; /* the specification's operationId */
	const char *methods;   /* as in an Allow header */
	const char *path;      /* "/v1/table/{id}/drop"; {…} stands for one segment */
	LanceBodyKind body;

	/* Served routes only: */
	const char *function; /* the SQL function whose EXECUTE privilege the caller needs; NULL: Unsupported */
	void (*run)(const void *request, void *response);
	const LanceMessage *request;
	const LanceMessage *response; /* NULL: the answer is an empty object */
	LanceRouteManner manner;
} LanceRoute;

/* All rows, ended by one without operation. */
extern const LanceRoute lance_rest_routes[];

/*
 * Find the row of the request's method and path; trailing slashes do not matter. Sets route, allow and raw_id; what is
 * allocated lives in the request's context.
 */
extern void lance_rest_match(struct LanceRestRequest *request);

#endif

"""A stock LanceDB client at work: a namespace, a table with vectors, two additions, one deletion.

    LANCE_TEST_URL=http://127.0.0.1:2333 LANCE_TEST_HEADERS='{"x-api-key": "..."}' python lancedb_docs.py

"./quickstart env" prints these variables, and the AWS_* ones that the client reads when the tables lie on S3.
"""
import json
import os

import lancedb
import pyarrow as pa

url = os.environ["LANCE_TEST_URL"]
headers = json.loads(os.environ.get("LANCE_TEST_HEADERS", "{}"))

db = lancedb.connect_namespace("rest", {"uri": url, **{"header." + k: v for k, v in headers.items()}})
print("connected to", url)

db.create_namespace(["demo"], mode="exist_ok")
schema = pa.schema([
    pa.field("id", pa.int64(), nullable=False),
    pa.field("title", pa.string()),
    pa.field("author_id", pa.int32()),
    pa.field("vector", pa.list_(pa.float32(), 4)),
])
docs = db.create_table("docs", schema=schema, namespace_path=["demo"], mode="overwrite")
print("created demo$docs, version", docs.version)

docs.add(pa.Table.from_pylist([
    {"id": 1, "title": "On columns", "author_id": 10, "vector": [0.1, 0.2, 0.3, 0.4]},
    {"id": 2, "title": "On rows", "author_id": 11, "vector": [0.9, 0.8, 0.7, 0.6]},
    {"id": 3, "title": "A draft", "author_id": 10, "vector": [0.5, 0.5, 0.5, 0.5]},
], schema=schema))
print("added three rows, version", docs.version)

docs.add(pa.Table.from_pylist([
    {"id": 4, "title": "On vectors", "author_id": 12, "vector": [0.1, 0.2, 0.3, 0.5]},
], schema=schema))
print("added one row, version", docs.version)

docs.delete("id = 3")
print("deleted the draft, version %d, %d rows" % (docs.version, docs.count_rows()))

near = docs.search([0.1, 0.2, 0.3, 0.45]).limit(2).to_list()
print("nearest to [0.1, 0.2, 0.3, 0.45]:", ", ".join(hit["title"] for hit in near))

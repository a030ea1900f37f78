#!/usr/bin/env python3
"""Makes datasets of encodings that few tables use below fixtures/data, with their expected rows; needs pylance 14.

fsl_lists.lance: fixed-size lists of structs inside of lists, around lists, and both; pylance itself reads some of it only.
packed_parts.lance: packed structs with structs, fixed-size lists and lists of eight booleans in them.
packed_bits.lance: booleans in the packed structs of file version 2.0.
lineage.lance: stable row ids and versions of rows in hidden columns of the data file, and of a file of their own.
managed.lance: blobs in files that several rows and data files share.
times.lance: times of day up to 24:00, which PostgreSQL has; each later version has one row with a time that it hasn't.
"""
import json
import os
import shutil
import sys

import lance
import pyarrow as pa

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "fixtures", "data")
sys.path.insert(0, os.path.join(here, "..", "random"))
from values import texts  # noqa: E402

PACKED = {"lance-encoding:packed": "true"}


def fresh(name):
    folder = os.path.join(root, name + ".lance")
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def write_rows(name, rows):
    with open(os.path.join(root, name), "w") as f:
        f.writelines(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


def expect(name, table):
    columns = [texts(table.column(i).combine_chunks() if table.column(i).num_chunks != 1 else table.column(i).chunk(0), table.schema.field(i))
               for i in range(table.num_columns)]
    write_rows(name, [dict(zip(table.schema.names, row)) for row in zip(*columns)])


def enter(name, covers, version, rows, expected, file_version="2.2"):
    """The dataset's line in index.json."""
    shutil.rmtree(os.path.join(root, name + ".lance", "_transactions"), ignore_errors=True)
    path = os.path.join(here, "fixtures", "index.json")
    with open(path) as f:
        index = [e for e in json.load(f) if e["name"] != name]
    index.append({"name": name, "dataset": name + ".lance", "pylance": lance.__version__, "file_version": file_version, "covers": covers,
                  "expected": {"": expected}, "version": version, "rows": rows,
                  "schema": {f.name: str(f.type) for f in lance.dataset(os.path.join(root, name + ".lance")).schema}})
    with open(path, "w") as f:
        json.dump(index, f, indent=1, ensure_ascii=False)
        f.write("\n")


def simple(name, covers, columns, file_version="2.2"):
    """columns: name -> type or field, values"""
    fields = [t.with_name(n) if isinstance(t, pa.Field) else pa.field(n, t) for n, (t, _) in columns.items()]
    table = pa.Table.from_arrays([pa.array(v, f.type) for f, (_, v) in zip(fields, columns.values())], schema=pa.schema(fields))
    lance.write_dataset(table, fresh(name), data_storage_version=file_version, max_rows_per_file=table.num_rows * 2 // 3)
    expect(name + ".expected.jsonl", table)
    enter(name, covers, 1, table.num_rows, name + ".expected.jsonl", file_version)


# ---- fixed-size lists of structs and lists

N = 90
pair = pa.struct([("a", pa.int32()), ("s", pa.string())])
lists = pa.struct([("l", pa.list_(pa.int16())), ("d", pa.float64())])
only_lists = pa.struct([("l", pa.list_(pa.int16()))])


def pair_of(i):
    return None if i % 7 == 3 else {"a": None if i % 5 == 1 else i, "s": "s%d" % (i % 4)}


def lists_of(i):
    return None if i % 11 == 5 else {"l": None if i % 6 == 2 else list(range(i % 4)), "d": i / 2}


def only_lists_of(i):
    return {"l": None if i % 6 == 2 else list(range(4 + i % 4))}


# Pylance writes no empty or NULL list around a fixed-size list of structs unless there are lists inside, too.
simple("fsl_lists", "fixed-size lists of structs inside of lists and maps, around lists, and both", {
    "id": (pa.int32(), list(range(N))),
    "inside": (pa.list_(pa.list_(pair, 2)), [[None if (i + j) % 9 == 4 else [pair_of(i + j), pair_of(i + 2 * j)] for j in range(1 + i % 4)] for i in range(N)]),
    "around": (pa.list_(lists, 3), [None if i % 8 == 6 else [lists_of(i + j) for j in range(3)] for i in range(N)]),
    "both": (pa.list_(pa.list_(only_lists, 2)), [None if i % 10 == 1 else [None if (i + j) % 9 == 4 else [only_lists_of(i + j), only_lists_of(i * j)] for j in range(i % 3)]
                                            for i in range(N)]),
    "twice": (pa.list_(pa.struct([("p", pa.list_(pair, 2))]), 2), [None if i % 8 == 6 else [{"p": [pair_of(i), pair_of(j)]} for j in range(2)] for i in range(N)]),
    "none": (pa.list_(pa.null(), 2), [None if i % 3 == 1 else [None, None] for i in range(N)]),
    "named": (pa.map_(pa.string(), pa.list_(pair, 1)), [[("k%d" % j, [pair_of(i + j)]) for j in range(1 + i % 2)] for i in range(N)]),
    "wide": (pa.list_(pa.list_(pa.struct([("b", pa.binary())]), 2)), [[[{"b": bytes([i]) * 400}, {"b": b""}] for j in range(1 + i % 3)] for i in range(N)]),
})

# ---- packed structs

inner = pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.struct([("w", pa.large_binary())]))])
bits = pa.list_(pa.bool_(), 8)


def inner_of(i):
    return {"x": i, "y": "y" * (i % 5), "z": {"w": bytes([i % 256]) * (i % 3)}}


simple("packed_parts", "packed structs with structs, fixed-size lists and lists of eight booleans in them", {
    "id": (pa.int32(), list(range(N))),
    "nested": (pa.field("", pa.struct([("a", pa.int64()), ("n", inner)]), metadata=PACKED), [None if i % 9 == 4 else {"a": i, "n": inner_of(i)} for i in range(N)]),
    "lists": (pa.field("", pa.struct([("t", pa.string()), ("f", pa.list_(pa.float32(), 2)), ("b", bits)]), metadata=PACKED),
              [{"t": "t%d" % i, "f": [i, None if i % 4 == 2 else -i], "b": [i >> k & 1 == 1 for k in range(8)]} for i in range(N)]),
    "none": (pa.field("", pa.struct([("n", inner), ("b", pa.bool_())]), metadata=PACKED), [None] * N),
})
simple("packed_bits", "lists of booleans in packed structs", {
    "id": (pa.int32(), list(range(N))),
    "p": (pa.field("", pa.struct([("a", pa.int16()), ("b", bits), ("c", pa.list_(pa.bool_(), 16))]), metadata=PACKED),
          [{"a": i, "b": [i >> k & 1 == 1 for k in range(8)], "c": [i * 7 >> k & 1 == 1 for k in range(16)]} for i in range(N)]),
}, "2.0")

# ---- row ids and versions in hidden columns

folder = fresh("lineage")
table = pa.table({"id": pa.array(range(200), pa.int64()), "b": ["b%d" % i for i in range(200)]})
dataset = lance.write_dataset(table, folder, enable_stable_row_ids=True, max_rows_per_file=50, data_storage_version="2.2")
dataset.update_config({"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "10"})
dataset.update({"b": "'x'"}, where="id % 3 = 0")
dataset.update({"b": "'y'"}, where="id % 7 = 0")
dataset.delete("id % 11 = 0")
dataset.optimize.compact_files()
dataset = lance.dataset(folder)
dataset.update({"b": "'z'"}, where="id % 13 = 0")
dataset.delete("id % 17 = 0")
dataset = lance.dataset(folder)
rows = dataset.to_table(columns=["id", "b", "_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version"])
expect("lineage.expected.jsonl", rows.select(["id", "b"]))
write_rows("lineage.rowids.jsonl", rows.drop_columns(["b"]).to_pylist())
dataset.cleanup_old_versions(older_than=__import__("datetime").timedelta(0), delete_unverified=True)
enter("lineage", "stable row ids and row versions in hidden columns (lance.row_lineage.spill)", dataset.version, rows.num_rows, "lineage.expected.jsonl")

# ---- managed blobs

folder = fresh("managed")
schema = pa.schema([pa.field("id", pa.int32()), lance.blob_field("b")], metadata={"lance.blob.managed": "true"})
blobs = [b"small", b"x" * 70000, None, b"", bytes(range(256)) * 300]
for mode in ("create", "append"):
    lance.write_dataset(pa.Table.from_arrays([pa.array(range(len(blobs)), pa.int32()), lance.blob_array(blobs)], schema=schema), folder, mode=mode,
                        data_storage_version="2.2")
write_rows("managed.expected.jsonl", [{"id": i, "b": None if b is None else b.hex()} for i, b in enumerate(blobs)] * 2)
enter("managed", "managed blobs (lance.blob.managed)", 2, 2 * len(blobs), "managed.expected.jsonl")

# ---- times of day

DAY = 86400
folder = fresh("times")
for seconds, nanos in (([0, DAY - 1, DAY], [0, DAY * 10**9 - 1, DAY * 10**9]), ([-1], [0]), ([DAY + 1], [0]), ([0], [DAY * 10**9 + 1000]), ([0], [-1])):
    table = pa.table({"s": pa.array(seconds, pa.int32()).cast(pa.time32("s")), "n": pa.array(nanos, pa.int64()).cast(pa.time64("ns"))})
    lance.write_dataset(table, folder, mode="overwrite")
shutil.rmtree(os.path.join(folder, "_transactions"), ignore_errors=True)

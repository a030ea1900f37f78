#!/usr/bin/env python3
"""Makes some of the datasets below fixtures/data; needs pylance 14.

ranges.lance: values at and beyond the ends of PostgreSQL's ranges. Version 1 holds what PostgreSQL can hold; each
later version has one row with a value that it can't (and version 7 the lowest nanosecond, which it can).
names.lance: column names that want quoting, shortening or another name.
unnamed.lance: a column whose name is empty.
parts.lance: types with parts. Version 1 holds what PostgreSQL can hold; each later version has one row that it can't,
or that arrays can't.
unknown.lance: columns of a type that nobody knows, by itself and inside of others.
high_rowids.lance: three rows with stable ids, the last beyond PostgreSQL's bigint.
own_rowid.lance: a column that has been renamed to _rowid, a name that is refused for new ones.
widths_v20.lance, widths_v21.lance, widths_v22.lance: columns of small rows, a few of which are very wide, each other ones.
"""
import datetime
import os
import shutil
import struct

import lance
import pyarrow as pa

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures", "data")
folder = os.path.join(root, "ranges.lance")
LOW, HIGH = -2**63, 2**63 - 1
types = {"day": pa.date32(), "at": pa.timestamp("s"), "zoned": pa.timestamp("ms", "Europe/Berlin"),
         "nanos": pa.timestamp("ns"), "span": pa.duration("s"), "big": pa.uint64(), "label": pa.string()}
integers = {pa.date32(): pa.int32(), pa.uint64(): pa.uint64()}


def table(**columns):
    """Columns by their stored integers; those not named are NULL."""
    rows = len(next(iter(columns.values())))
    return pa.table({name: pa.array(columns.get(name, [None] * rows), t) if pa.types.is_string(t) else
                     pa.array(columns.get(name, [None] * rows), integers.get(t, pa.int64())).cast(t)
                     for name, t in types.items()})


shutil.rmtree(folder, ignore_errors=True)
# Days: the epoch, one BC, PostgreSQL's last. Seconds: the epoch, one BC, PostgreSQL's last.
lance.write_dataset(table(day=[0, -720000, 2145042905], at=[0, -62167219201, 9224318015999],
                          zoned=[0, -1, 1700000000123], nanos=[0, -1, 1700000000123456789], span=[0, -1, 86400],
                          big=[0, 2**63, 2**64 - 1], label=["", "é", "€"]), folder)
for bad in (dict(day=[2145042906]), dict(day=[-2**31]), dict(at=[HIGH]), dict(at=[LOW]), dict(at=[9224318016000]),
            dict(nanos=[LOW], zoned=[HIGH]), dict(span=[HIGH]), dict(label=["zero \0 byte"])):
    lance.write_dataset(table(**bad), folder, mode="overwrite")

folder = os.path.join(root, "names.lance")
shutil.rmtree(folder, ignore_errors=True)
names = ["id", "MixedCase", "XYZ", "x'; DROP TABLE t; --", 'two "quotes"', "$$", "back\\slash", "%s", "{0}", "ünïcödé",
         "select", "ctid", "long " + "n" * 80, "long " + "n" * 80 + "2", " blank "]
lance.write_dataset(pa.table({n: pa.array([i], pa.int32()) for i, n in enumerate(names)}), folder)

folder = os.path.join(root, "parts.lance")
shutil.rmtree(folder, ignore_errors=True)
D, T = datetime.date, datetime.datetime
every = pa.struct([("b", pa.bool_()), ("i", pa.int8()), ("u", pa.uint64()), ("f", pa.float32()), ("d", pa.float64()),
                   ("n", pa.decimal128(38, 18)), ("t", pa.string()), ("raw", pa.binary()), ("day", pa.date32()),
                   ("time", pa.time64("ns")), ("at", pa.timestamp("us")), ("zoned", pa.timestamp("ms", "UTC")),
                   ("span", pa.duration("ms")), ("none", pa.null())])
types = {"id": pa.int32(), "every": every, "times": pa.list_(pa.time64("us")), "days": pa.list_(pa.date32()),
         "exact": pa.list_(pa.decimal128(38, 18)), "raws": pa.large_list(pa.binary()), "words": pa.list_(pa.string()),
         "grid": pa.list_(pa.list_(pa.int32())), "matrix": pa.list_(pa.list_(pa.float32(), 2), 2),
         "pairs": pa.list_(pa.struct([("k", pa.string()), ("v", pa.int64())])),
         "named": pa.map_(pa.string(), pa.int32()), "numbered": pa.map_(pa.int32(), pa.string()),
         "odd": pa.struct([("x" * 70, pa.int32()), ("x", pa.int32())]), "json": pa.json_(),
         "vector": pa.list_(pa.float32(), 3), "half": pa.list_(pa.float16(), 3)}


def row(**columns):
    return pa.table({n: pa.array([columns.get(n)], t.storage_type if n == "json" else t).cast(t)
                     for n, t in types.items()})


values = dict(b=True, i=-7, u=2**64 - 1, f=0.1, d=-0.25, n="7.000000000000000001", t='a"b', raw=b"\0\xff", day=D(2024, 2, 29),
              time=3661000001999, at=T(1969, 12, 31, 23, 59, 59, 999999), zoned=T(2024, 1, 1), span=-1500)


def every_of(**changes):
    v = {**values, **changes}
    parts = [pa.array([v.get(f.name)], pa.int64()).cast(f.type) if f.name in ("time", "span")
             else pa.array([v.get(f.name)]).cast(f.type) if f.name == "n" else pa.array([v.get(f.name)], f.type) for f in every]
    return pa.StructArray.from_arrays(parts, fields=list(every))


def with_every(table, **changes):
    return table.set_column(1, "every", every_of(**changes))


full = row(id=1, times=[datetime.time(0), None, datetime.time(23, 59, 59, 999999)], days=[D(1, 1, 1), D(9999, 12, 31)],
           exact=None, raws=[b"", None, b"\1"], words=["", None, 'a"b', "é"], grid=[[1, 2], [3, None]],
           matrix=[[1, 2], [3, None]], pairs=[{"k": "a", "v": 1}, None, {"k": None, "v": None}],
           named=[("b", 1), ("a", None), ("b", 2)], numbered=[(2, "two"), (1, None)], odd={"x" * 70: 1, "x": 2},
           json='{"b": [1, 2.50, null], "a": "\\u00e9"}', vector=[1, 2.5, -3], half=[1, 2.5, -3])
exact = pa.array(["7.000000000000000001", "7.000000000000000002", None]).cast(pa.decimal128(38, 18))
full = full.set_column(4, "exact", pa.ListArray.from_arrays([0, 3], exact))
nan = float("nan")
lance.write_dataset(pa.concat_tables([
    with_every(full),
    with_every(row(id=2, times=[], days=[], words=[], raws=[], grid=[], pairs=[], named=[], numbered=[], json="null"),
               f=nan, d=float("-inf"), n=None, t=None, u=0),
    row(id=3, grid=[[]], days=[None], vector=[1, None, 3], matrix=[None, [1, 2]]),
    row(id=4, grid=[[1], [2, 3]]), row(id=5, grid=[[1], None])]), folder, data_storage_version="2.2")
far = pa.ListArray.from_arrays([0, 1], pa.array([2**31 - 1], pa.int32()).cast(pa.date32()))
for bad in (row().set_column(3, "days", far), with_every(row(), span=2**63 - 1),
            row(json='"\\u0000"'), row(words=["zero \0 byte"]), row(vector=[1, nan, 3]), row(half=[65504, float("inf"), 0]),
            row(grid=[[1, 2], [3, None], [5, 6]], matrix=[[1, 2], [3, None]]), row(grid=[[1], [2, 3]], matrix=[None, [1, 2]]),
            row(grid=[[1], None]), row(grid=[[], []])):
    lance.write_dataset(bad, folder, mode="overwrite", data_storage_version="2.2")

folder = os.path.join(root, "unknown.lance")
shutil.rmtree(folder, ignore_errors=True)
day = pa.array([0, 86400000], pa.int64()).cast(pa.date64())
lance.write_dataset(pa.table({"id": pa.array([1, 2], pa.int32()), "day": day, "days": pa.ListArray.from_arrays([0, 1, 2], day),
                              "st": pa.StructArray.from_arrays([day], ["day"])}), folder, data_storage_version="2.2")
manifest = os.path.join(folder, "_versions", "%d.manifest" % (2**64 - 2))
with open(manifest, "rb") as f:
    patched = f.read().replace(b"date64:ms", b"era64:ms!")
with open(manifest, "wb") as f:
    f.write(patched)
for made in ("ranges.lance", "names.lance", "parts.lance", "unknown.lance"):
    shutil.rmtree(os.path.join(root, made, "_transactions"), ignore_errors=True)


def number(data, at):
    """A protobuf varint; its value and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def replace(message, path, wanted):
    """A protobuf message with the bytes at that path of field numbers changed."""
    out, at = b"", 0
    while at < len(message):
        start = at
        key, at = number(message, at)
        value, end = number(message, at)
        if key & 7 == 2:
            at, end = end, end + value
        if key == path[0] << 3 | 2:
            inner = replace(message[at:end], path[1:], wanted) if path[1:] else wanted
            out += varint(key) + varint(len(inner)) + inner
        else:
            out += message[start:end]
        at = end
    return out


# Three rows whose ids end beyond PostgreSQL's bigint: 2^63 - 2 and the two after it.
folder = os.path.join(root, "high_rowids.lance")
shutil.rmtree(folder, ignore_errors=True)
lance.write_dataset(pa.table({"id": pa.array([1, 2, 3], pa.int64())}), folder, enable_stable_row_ids=True)
shutil.rmtree(os.path.join(folder, "_transactions"), ignore_errors=True)
manifest = os.path.join(folder, "_versions", "%020d.manifest" % (2**64 - 2))
with open(manifest, "rb") as f:
    data = f.read()
position = struct.unpack("<Q", data[-16:-8])[0]
span = b"\x08" + varint(2**63 - 2) + b"\x10" + varint(2**63 + 1)
sequence = b"\x0a" + varint(len(span) + 2) + b"\x0a" + varint(len(span)) + span
message = replace(data[position + 4:-16], (2, 5), sequence)
with open(manifest, "wb") as f:
    f.write(data[:position] + struct.pack("<I", len(message)) + message + data[-16:])

folder = os.path.join(root, "own_rowid.lance")
shutil.rmtree(folder, ignore_errors=True)
lance.write_dataset(pa.table({"id": [1, 2], "name": ["a", "b"]}), folder).alter_columns({"path": "name", "name": "_rowid"})
shutil.rmtree(os.path.join(folder, "_transactions"), ignore_errors=True)

# Row i of column c is wide where 150 + 40 * c <= i < 160 + 40 * c, and one more at the end is wider than ten of them.
ROWS, WORDS = 600, ["lorem ", "ipsum ", "dolor ", "sit ", "amet ", "consectetur "]


def wide(column, i):
    return 160 if i == ROWS - 10 + column else 16 if 150 + 40 * column <= i < 160 + 40 * column else 0


def text(i, length):
    return "".join(WORDS[(i * 7 + k * k) % 6] for k in range(length // 5))[:length]


def widths():
    r = range(ROWS)
    return pa.table({
        "id": pa.array(r, pa.int64()),
        "text": pa.array([None if i % 9 == 0 else text(i, 1024 * wide(0, i) or i % 20) for i in r]),
        "raw": pa.array([bytes((i * k) % 251 for k in range(1024 * wide(1, i) or i % 30)) for i in r], pa.binary()),
        "numbers": pa.array([None if i % 11 == 0 else list(range(i, i + (128 * wide(2, i) or i % 4))) for i in r],
                            pa.list_(pa.int64())),
        "words": pa.array([[text(k, k % 13) for k in range(100 * wide(3, i) or i % 3)] for i in r], pa.list_(pa.string())),
        "part": pa.array([{"a": i, "t": text(i, 1024 * wide(4, i) or i % 7), "l": [i] * (i % 5)} for i in r],
                         pa.struct([("a", pa.int32()), ("t", pa.string()), ("l", pa.list_(pa.int16()))])),
        "pairs": pa.array([[{"k": text(k, 9), "v": k} for k in range(64 * wide(5, i) or i % 2)] for i in r],
                          pa.list_(pa.struct([("k", pa.string()), ("v", pa.int64())]))),
        "vector": pa.array([[float(i + k) for k in range(128)] for i in r], pa.list_(pa.float32(), 128)),
        "kind": pa.DictionaryArray.from_arrays(pa.array([0 if i % 50 else 1 for i in r], pa.int32()),
                                               pa.array(["", text(1, 8192)]))})


for version in ("2.0", "2.1", "2.2"):
    folder = os.path.join(root, "widths_v%s.lance" % version.replace(".", ""))
    shutil.rmtree(folder, ignore_errors=True)
    lance.write_dataset(widths(), folder, data_storage_version=version)
    shutil.rmtree(os.path.join(folder, "_transactions"), ignore_errors=True)

#!/usr/bin/env python3
"""Reading in SQL what pylance has just written: small inputs that readers are known to get wrong.

Each dataset is written by the pylance at hand, in each file version that it writes, into the place of the server
"lake", attached, and compared with what went in.
"""
import datetime
import decimal
import hashlib
import math
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

import lance
import pyarrow as pa

from lt import RUN_ID, Run, any_files, eq, fs_for, read_file, storage_options, v2_name, want, write_file
from pg import Error, Session, literal, name

VERSIONS = ("2.0", "2.1", "2.2")
STORAGE = storage_options() or None
SPACE = "cases_" + RUN_ID
SERVER = "lake"


def place(dataset):
    return "%s/%s/%s.lance" % (ROOT, SPACE, dataset)


def put(dataset, data, version="2.2", mode="create", **more):
    return lance.write_dataset(data, place(dataset), mode=mode, data_storage_version=version, storage_options=STORAGE, **more)


def attach(dataset, table="t", **options):
    db.rows("DROP FOREIGN TABLE IF EXISTS %s" % table)
    db.value("SELECT lance_attach_dataset(%s, '%s', '%s', '%s'%s)" % (
        literal(place(dataset)), SERVER, SPACE, table, "".join(", %s => %s" % (k, literal(str(v))) for k, v in options.items())))
    return table


def fails(sql, state, *words):
    try:
        db.rows(sql)
    except Error as e:
        want(e.state == state, "%s gave %s" % (sql, e))
        for w in words:
            want(w in str(e), "%s is not named: %s" % (w, e))
        return
    raise AssertionError("no error: %s" % sql)


def by_version(fn):
    """The case in each file version."""
    def case():
        for version in VERSIONS:
            try:
                fn(version, fn.__name__ + "_" + version.replace(".", ""))
            except AssertionError as e:
                raise AssertionError("in %s: %s" % (version, e)) from None

    case.__name__, case.__doc__ = fn.__name__, fn.__doc__
    return case


# ------------------------------------------------------------------ values
@by_version
def null_in_list_of_struct(version, dataset):
    """A NULL struct in a list is NULL, not a row of NULLs."""
    kind = pa.list_(pa.struct([("tag", pa.string())]))
    data = pa.table({"l": pa.array([[{"tag": "a"}, None, {"tag": "b"}]], kind)})
    try:
        ds = put(dataset, data, version)
    except Exception as e:  # noqa: BLE001 - newer writers refuse NULL structs in 2.0
        want(version == "2.0" and "ull" in str(e), "not written: %s" % e)
        return
    if ds.to_table().to_pylist() != data.to_pylist():
        want(version == "2.0", "the writer itself reads another value")  # older writers lose them in 2.0
        return
    attach(dataset)
    eq(db.row("SELECT jsonb_array_length(l), l -> 1 = 'null', l FROM t"), ("3", "t", '[{"tag": "a"}, null, {"tag": "b"}]'))
    attach(dataset, structs="composite")
    eq(db.row("SELECT cardinality(l), l[2] IS NULL, l FROM t"), ("3", "t", "{(a),NULL,(b)}"))


@by_version
def nulls_in_one_half(version, dataset):
    """NULLs only in the first or in the last 100,000 rows."""
    n = 100000
    some, all_there = [None if i % 3 == 0 else i for i in range(n)], list(range(n))
    data = pa.table({"a": pa.array(some + all_there, pa.int32()), "b": pa.array(all_there + some, pa.int64()),
                     "s": pa.array([None if v is None else str(v) for v in all_there + some])})
    put(dataset, data, version)
    attach(dataset)
    there = sum(v is not None for v in some) + n
    total = str(sum(v for v in some + all_there if v is not None))
    eq(db.row("SELECT count(*), count(a), sum(a), count(b), sum(b), count(s), sum(s::int) FROM t"),
       (str(2 * n), str(there), total, str(there), total, str(there), total))


@by_version
def lists_of_nothing(version, dataset):
    """NULL, [], [null], [null, null]; together and pages of one of them only."""
    values = [None, [], [None], [None, None]]
    wanted = [(None, None), ("{}", "0"), ("{NULL}", "1"), ("{NULL,NULL}", "2")]
    for i, part in enumerate([values] + [[v] * 300 for v in values]):
        put(dataset + str(i), pa.table({"l": pa.array(part, pa.list_(pa.int32()))}), version)
        attach(dataset + str(i))
        eq(db.rows("SELECT l, cardinality(l) FROM t"), wanted if i == 0 else [wanted[i - 1]] * 300)


@by_version
def large_values(version, dataset):
    """Large types are like the small ones, compressed or not, with 64 MiB beside nothing."""
    long = "0123456789abcdef" * ((64 if version == "2.2" else 4) * 1024 * 1024 // 16)
    texts = ["", None, long, "é", ""] + ["word %d" % i for i in range(20)]
    raws = [None if t is None else t.encode() for t in texts]
    lists = [[], None, list(range(1000)), [None], []] + [[i, None] for i in range(20)]
    zstd = {"lance-encoding:compression": "zstd"}
    schema = pa.schema([("s", pa.string()), ("ls", pa.large_string()), ("b", pa.binary()), ("lb", pa.large_binary()),
                        ("l", pa.list_(pa.int64())), ("ll", pa.large_list(pa.int64())),
                        pa.field("zs", pa.large_string(), metadata=zstd), pa.field("zb", pa.large_binary(), metadata=zstd)])
    put(dataset, pa.table([pa.array(v, f.type) for v, f in zip((texts, texts, raws, raws, lists, lists, texts, raws), schema)],
                          schema=schema), version)
    attach(dataset)
    digests = [None if r is None else hashlib.md5(r).hexdigest() for r in raws]
    for column in ("s", "ls", "b", "lb", "zs", "zb"):
        eq([r[0] for r in db.rows("SELECT md5(%s) FROM t" % column)], digests, "column " + column)
    wanted = [None if v is None else "{%s}" % ",".join("NULL" if x is None else str(x) for x in v) for v in lists]
    for column in ("l", "ll"):
        eq([r[0] for r in db.rows("SELECT %s FROM t" % column)], wanted, "column " + column)


@by_version
def packed_struct(version, dataset):
    """A packed struct is read right or refused by name."""
    kind = pa.struct([("x", pa.uint32()), ("y", pa.uint32())])
    schema = pa.schema([pa.field("p", kind, metadata={"packed": "true", "lance-encoding:packed": "true"})])
    rows = [{"x": i, "y": 2**32 - 1 - i} for i in range(50)]
    put(dataset, pa.table([pa.array(rows, kind)], schema=schema), version)
    attach(dataset)
    eq(db.rows("SELECT p -> 'x', p -> 'y' FROM t"), [(str(r["x"]), str(r["y"])) for r in rows])


@by_version
def vectors(version, dataset):
    """Fixed-size lists with NULL rows and NULL items."""
    rows = [[1, 2, 3, 4], None, [5, 6, 7, 8], [9, None, 11, 12]]
    put(dataset, pa.table({"v": pa.array(rows, pa.list_(pa.float32(), 4))}), version)
    attach(dataset)
    eq([r[0] for r in db.rows("SELECT v FROM t")], ["{1,2,3,4}", None, "{5,6,7,8}", "{9,NULL,11,12}"])


@by_version
def dictionaries(version, dataset):
    """Batches with dictionaries of their own: one without rows, one with NULLs, one with entries that nobody uses."""
    kind = pa.dictionary(pa.int32(), pa.string())
    batches = [pa.DictionaryArray.from_arrays(pa.array(i, pa.int32()), pa.array(d)) for i, d in (
        ([0, 1, 0, 1], ["red", "green"]), ([], ["nothing"]), ([2, None, 0], ["green", "unused", "blue"]))]
    values = [v for b in batches for v in b.to_pylist()]
    schema = pa.schema([("d", kind)])
    reader = pa.RecordBatchReader.from_batches(schema, [pa.record_batch([b], schema=schema) for b in batches])
    ds = put(dataset, reader, version)
    more = pa.DictionaryArray.from_arrays(pa.array([1, 1], pa.int32()), pa.array(["x", "red"]))
    ds = put(dataset, pa.table([more], schema=schema), version, mode="append")
    values += more.to_pylist()
    attach(dataset)
    for when in ("before", "after"):
        got = [r[0] for r in db.rows("SELECT d FROM t")]
        eq(got, values, when + " compaction")
        eq(db.value("SELECT count(DISTINCT d) FROM t"), str(len({v for v in values if v})), "distinct values")
        ds.optimize.compact_files()


def numbers():
    """Numbers at their ends, decimals that differ in the last digit."""
    D = decimal.Decimal
    exact = [D("7.000000000000000002"), D("7.000000000000000001")]
    put("numbers", pa.table({"u": pa.array([2**64 - 1, 0], pa.uint64()), "i": pa.array([-2**63, 2**63 - 1], pa.int64()),
                             "d": pa.array(exact, pa.decimal128(38, 18))}))
    attach("numbers")
    eq(db.rows("SELECT u, i FROM t"), [(str(2**64 - 1), str(-2**63)), ("0", str(2**63 - 1))])
    eq(db.rows("SELECT d FROM t ORDER BY d"), [(str(d),) for d in sorted(exact)])
    for d in exact:
        eq(db.rows("SELECT d FROM t WHERE d = %s" % d), [(str(d),)])
        eq(db.value("SELECT count(*) FROM t WHERE d < %s" % d), str(sum(e < d for e in exact)))


def floats():
    """NaN, infinities and both zeros follow PostgreSQL's rules."""
    values = [-math.inf, -0.0, 0.0, 1.0, math.nan, None]
    for kind, sql in ((pa.float32(), "real"), (pa.float64(), "double precision")):
        put("floats_" + sql[:4], pa.table({"c": pa.array(values, kind)}))
        attach("floats_" + sql[:4])
        db.rows("CREATE TABLE here AS SELECT * FROM t")
        eq([r[0] for r in db.rows("SELECT c FROM t ORDER BY c")], ["-Infinity", "-0", "0", "1", "NaN", None])
        for query, wanted in (("c > 1", "1"), ("c = 'NaN'", "1"), ("c <> 1", "4"), ("c = 0", "2"), ("c >= '-Infinity'", "5")):
            for table in ("t", "here"):
                eq(db.value("SELECT count(*) FROM %s WHERE %s" % (table, query)), wanted, query)
        eq(db.row("SELECT max(c), min(c) FROM t"), ("NaN", "-Infinity"))
        db.rows("DROP TABLE here")


def times():
    """240 values seven minutes apart, in every unit, with and without a zone."""
    start = datetime.datetime(2024, 2, 28, 20, 0)
    values = [start + datetime.timedelta(minutes=7 * i) for i in range(240)]
    kinds = {"%s_%s" % (unit, "z" if zone else "n"): pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns")
             for zone in (None, "America/New_York")}
    put("times", pa.table({k: pa.array(values, pa.timestamp("us")).cast(pa.timestamp(t.unit)).cast(t) if not t.tz else
                           pa.array(values, pa.timestamp("us", "UTC")).cast(pa.timestamp(t.unit, "UTC")).cast(t)
                           for k, t in kinds.items()}))
    attach("times")
    low, high = values[60], values[119]
    for column in kinds:
        shown = ["'%s%s'" % (v, "+00" if column.endswith("z") else "") for v in (low, high)]
        for condition, wanted in (("{0} > {1}", 179), ("{0} = {1}", 1), ("{0} BETWEEN {1} AND {2}", 60), ("{0} < {1}", 60)):
            eq(db.value("SELECT count(*) FROM t WHERE " + condition.format(column, *shown)), str(wanted), condition + " " + column)


def three_valued_logic():
    """Conditions on NULL, also where the dataset has a scalar index."""
    ds = put("logic", pa.table({"c": pa.array([None, 1], pa.int64())}))
    for indexed in (False, True):
        if indexed:
            ds.create_scalar_index("c", "BTREE")
        attach("logic")
        for condition, wanted in (("(c <> 7) OR (c < 9)", 1), ("c IS NOT NULL", 1), ("c IS NULL", 1), ("c <> 1", 0), ("NOT (c = 2)", 1)):
            eq(db.value("SELECT count(*) FROM t WHERE " + condition), str(wanted), condition)


def collations():
    """Text is compared by the column's collation, as in a local table."""
    put("texts", pa.table({"t": pa.array(["a", "B", "c", "é", "_x", None])}))
    attach("texts")
    for collation in ("C", "en-x-icu", "de-AT-x-icu"):
        db.rows('ALTER FOREIGN TABLE t ALTER COLUMN t TYPE text COLLATE "%s"' % collation)
        db.rows('CREATE TABLE here (t text COLLATE "%s"); INSERT INTO here SELECT * FROM t' % collation)
        answers = []
        for table in ("t", "here"):
            answers.append([db.rows("SELECT array_agg(t ORDER BY t), min(t), max(t), count(*) FROM %s%s" % (table, condition))
                            for condition in ("", " WHERE t > 'a'", " WHERE t BETWEEN 'B' AND 'é'", " WHERE t < 'b'", " WHERE t = 'é'")])
        eq(answers[0], answers[1], collation)
        db.rows("DROP TABLE here")


# ------------------------------------------------------------------ datasets
def deletions():
    """The first row, the last, a run, every other, a whole fragment, with both kinds of deletion files."""
    ds = put("deletions", pa.table({"id": pa.array(range(40000), pa.int64()), "g": pa.array([i % 7 for i in range(40000)], pa.int32())}),
             max_rows_per_file=10000)
    attach("deletions")
    kinds = set()
    for condition in ("id = 0", "id = 39999", "id >= 5000 AND id < 5100", "id >= 10000 AND id < 20000 AND id % 2 = 1", "id >= 20000 AND id < 30000"):
        ds.delete(condition)
        live = ds.to_table()
        eq(db.value("SELECT count(*) FROM t"), str(live.num_rows), "count(*) after " + condition)
        eq(db.value("SELECT md5(string_agg(id::text, ',')) FROM t"),
           hashlib.md5(",".join(map(str, live["id"].to_pylist())).encode()).hexdigest(), "ids after " + condition)
        eq(db.row("SELECT count(*), sum(id) FROM t WHERE g = 3 AND id > 4990"),
           tuple(str(f([r["id"] for r in live.to_pylist() if r["g"] == 3 and r["id"] > 4990])) for f in (len, sum)), "filter after " + condition)
        kinds |= {r[0] for r in db.rows("SELECT deletion_file FROM lance_dataset_fragments(%s, '%s')" % (literal(place("deletions")), SERVER))}
    want({"arrow", "bitmap"} <= kinds, "kinds of deletion files: %s" % kinds)
    ds.delete("true")
    eq(db.row("SELECT count(*), min(id) FROM t"), ("0", None), "all deleted")


@by_version
def schema_changes(version, dataset):
    """Columns are followed by field id: dropped and added again, renamed, added."""
    ds = put(dataset, pa.table({"id": pa.array([1, 2], pa.int32()), "a": ["a1", "a2"], "b": ["b1", "b2"]}), version)
    ds.drop_columns(["b"])
    ds.add_columns(pa.schema([("b", pa.string())]))
    ds.alter_columns({"path": "a", "name": "a2"})
    ds.add_columns(pa.schema([("c", pa.int64())]))
    put(dataset, pa.table({"id": pa.array([3], pa.int32()), "a2": ["a3"], "b": ["b3"], "c": pa.array([3], pa.int64())}), version, mode="append")
    attach(dataset)
    eq(db.rows("SELECT id, a2, b, c FROM t ORDER BY id"), [("1", "a1", None, None), ("2", "a2", None, None), ("3", "a3", "b3", "3")])


def nothing():
    """No fragments, batches of no rows, no rows left."""
    schema = pa.schema([("id", pa.int32()), ("s", pa.string()), ("l", pa.list_(pa.int32()))])
    some = pa.record_batch([pa.array([7], pa.int32()), pa.array(["x"]), pa.array([[1]], pa.list_(pa.int32()))], schema=schema)
    none = some.slice(0, 0)
    put("nothing", schema.empty_table())
    put("batches", pa.RecordBatchReader.from_batches(schema, [none, some, none]))
    put("gone", pa.table([some[c] for c in schema.names], schema=schema)).delete("true")
    attach("batches", "one")
    eq(db.rows("SELECT * FROM one"), [("7", "x", "{1}")])
    for dataset in ("nothing", "gone"):
        attach(dataset)
        eq(db.rows("SELECT * FROM t"), [], dataset)
        eq(db.row("SELECT count(*), min(id), max(s) FROM t"), ("0", None, None), dataset)
        eq(db.rows("SELECT * FROM t JOIN one USING (id)"), [], dataset)
        eq(db.value("SELECT count(t.id) FROM one LEFT JOIN t USING (id)"), "0", dataset)
        db.rows("ANALYZE t")


def names():
    """Columns under exactly their names; one that the dataset lacks is an error."""
    odd = ["id", "MixedCase", "XYZ", "with blank", 'with "quotes"', "é"]
    put("names", pa.table({n: pa.array([i], pa.int32()) for i, n in enumerate(odd)}))
    attach("names")
    for i, n in enumerate(odd):
        eq(db.rows("SELECT %s FROM t WHERE %s = %d" % (name(n), name(n), i)), [(str(i),)], n)
    fails("SELECT mixedcase FROM t", "42703", "mixedcase")
    db.rows("ALTER FOREIGN TABLE t ADD COLUMN xyz integer")
    fails("SELECT xyz FROM t", "42703", "xyz")


def odd_types():
    """IMPORT maps every type that can be stored, and the table is usable; the others are refused by the writer."""
    schema = pa.schema([("id", pa.int32()), ("t32", pa.time32("s")), ("t64", pa.time64("ns")), ("span", pa.duration("ms")),
                        ("m", pa.map_(pa.string(), pa.int32())), ("none", pa.null()), ("lt", pa.list_(pa.time64("us"))),
                        pa.field("js", pa.string(), metadata={"ARROW:extension:name": "arrow.json"}),
                        pa.field("bf", pa.binary(2), metadata={"ARROW:extension:name": "lance.bfloat16"})])
    noon = datetime.time(12, 0, 1)
    columns = [[1], [noon], [noon], [datetime.timedelta(milliseconds=1500)], [[("k", 5)]], [None], [[noon, None]],
               ['{"a": 1}'], [struct.pack("<f", 1.5)[2:]]]
    storage = [pa.array(v, f.type) for v, f in zip(columns, schema)]
    put("odd_types", pa.table(storage, schema=schema))
    for kind in (pa.month_day_nano_interval(), pa.run_end_encoded(pa.int32(), pa.int64())):
        try:
            array = pa.array([None], kind) if "interval" in str(kind) else pa.RunEndEncodedArray.from_arrays(
                pa.array([1], pa.int32()), pa.array([5], pa.int64()))
            put("refused_type", pa.table({"x": array}), mode="overwrite")
        except Exception:  # noqa: BLE001 - whatever it says
            continue
        raise AssertionError("%s is written" % kind)
    db.value("SELECT lance_register_table('%s$odd', '%s/odd_types.lance')" % (SPACE, SPACE))
    db.rows("IMPORT FOREIGN SCHEMA %s LIMIT TO (odd) FROM SERVER %s INTO %s" % (SPACE, SERVER, SPACE))
    got = dict(zip(schema.names, db.row("SELECT * FROM odd")))
    eq(got, {"id": "1", "t32": "12:00:01", "t64": "12:00:01", "span": "00:00:01.5", "m": '{"k": 5}', "none": None,
             "lt": "{12:00:01,NULL}", "js": '{"a": 1}', "bf": "1.5"})


def unknown_file_version():
    """A data file of another version is refused by name, and the session goes on."""
    put("later", pa.table({"id": pa.array(range(10), pa.int32())}))
    location = place("later")
    file = next(f for f in any_files(location) if "later.lance/data/" in f)
    key = "data/" + file.split("later.lance/data/")[1]
    data = read_file(location, key)
    attach("later")
    eq(db.value("SELECT sum(id) FROM t"), "45")
    db.rows("SET lance_catalog.metadata_cache_size = 0")  # files never change under their names, but here
    for major, minor in ((2, 9), (7, 1)):
        write_file(location, key, data[:-8] + struct.pack("<HH", major, minor) + data[-4:])
        fails("SELECT * FROM t", "0A000", "%d.%d" % (major, minor), key.split("/")[-1])
    write_file(location, key, data)
    eq(db.value("SELECT sum(id) FROM t"), "45")
    db.rows("RESET lance_catalog.metadata_cache_size")


def newest_version():
    """What others commit is seen by the next statement; a dataset made anew is not taken for the old one."""
    put("moving", pa.table({"id": pa.array([1], pa.int32())}))
    attach("moving")
    other = Session()
    other.rows("SET search_path = %s" % SPACE)
    for n in range(2, 5):
        put("moving", pa.table({"id": pa.array([n], pa.int32())}), mode="append")
        for session in (db, other):
            eq(session.value("SELECT count(*) FROM t"), str(n), "rows after a commit")
    db.rows("BEGIN")
    eq(db.value("SELECT count(*) FROM t"), "4")
    put("moving", pa.table({"id": pa.array([5], pa.int32())}), mode="append")
    eq(db.value("SELECT count(*) FROM t"), "5", "rows in READ COMMITTED")
    db.rows("COMMIT")
    remove("moving")
    fails("SELECT count(*) FROM t", "58P01", "moving.lance")
    put("moving", pa.table({"id": pa.array(["other"]), "more": pa.array([1.5])}))
    for session in (db, other):
        try:
            session.rows("SELECT id FROM t")
        except Error as e:
            eq(e.state, "42804", "SQLSTATE")
        else:
            raise AssertionError("text read as integer")
    eq(db.value("SELECT count(*) FROM t"), "1")
    db.value("SELECT lance_refresh_table('t')")
    eq(db.rows("SELECT id, more FROM t"), [("other", "1.5")])
    other.close()


def remove(dataset):
    filesystem, path = fs_for(place(dataset))
    if STORAGE:
        for file in any_files(place(dataset)):
            filesystem.delete_file(file)
    else:
        filesystem.delete_dir(path)


def numbered(manifest, version):
    """A manifest file with another number in it."""
    start = struct.unpack("<Q", manifest[-16:-8])[0]
    message, out, at = manifest[start + 4:-16], b"", 0

    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 128:
                return value, at

    while at < len(message):
        begin = at
        tag, at = varint(at)
        if tag & 7 == 2:
            length, at = varint(at)
            at += length
        elif tag & 7 == 0:
            _, at = varint(at)
        else:
            at += {1: 8, 5: 4}[tag & 7]
        if tag >> 3 == 3:  # the version
            out += bytes([tag, version & 127 | 128, version >> 7])
        else:
            out += message[begin:at]
    return manifest[:start] + struct.pack("<I", len(out)) + out + manifest[-16:]


def many_versions():
    """The newest of very many versions, under both names of manifests."""
    newest = 1100 if STORAGE else 2500  # a store lists 1,000 at a time
    for naming, file in (("v1", "%d.manifest"), ("v2", v2_name)):
        dataset = "many_" + naming
        put(dataset, pa.table({"id": pa.array(range(5), pa.int32())}), enable_v2_manifest_paths=naming == "v2")
        named = file if callable(file) else lambda v, f=file: f % v
        location = place(dataset)
        manifest = read_file(location, "_versions/" + named(1))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda v: write_file(location, "_versions/" + named(v), numbered(manifest, v) if v >= 200 else manifest),
                          range(2, newest + 1)))
        for key in any_files(location):
            if "latest_version_hint" in key:
                fs_for(location)[0].delete_file(key)
        attach(dataset)
        eq(db.value("SELECT sum(id) FROM t"), "10", naming)
        want(any(str(newest) in r[0] for r in db.rows("EXPLAIN (VERBOSE, COSTS off) SELECT * FROM t")), "%s: not version %d" % (naming, newest))


def base_path_into_hidden_table():
    """A dataset that borrows files of a table is closed to who may not read that table."""
    put("lender", pa.table({"id": pa.array(range(5), pa.int32())}))
    lance.dataset(place("lender"), storage_options=STORAGE).shallow_clone(place("borrower"), 1, storage_options=STORAGE)
    table, role = attach("borrower", "borrowed"), "borrower_" + RUN_ID
    db.rows("SELECT lance_register_table('%s$lender', %s)" % (SPACE, literal(place("lender"))))
    db.rows("CREATE ROLE %s; GRANT USAGE ON SCHEMA %s TO %s; GRANT SELECT ON %s TO %s" % (role, SPACE, role, table, role))
    try:
        db.rows("SET ROLE " + role)
        fails("SELECT sum(id) FROM " + table, "42501", "permission denied for location", "lender.lance")
        db.rows("RESET ROLE; SELECT lance_grant('%s', 'read', '%s$lender'); SET ROLE %s" % (role, SPACE, role))
        eq(db.value("SELECT sum(id) FROM " + table), "10", "sum")
    finally:
        db.rows("RESET ROLE; SELECT lance_deregister_table('%s$lender'); DROP OWNED BY %s; DROP ROLE %s" % (SPACE, role, role))


CASES = [null_in_list_of_struct, nulls_in_one_half, lists_of_nothing, large_values, packed_struct, vectors, dictionaries, numbers,
         floats, times, three_valued_logic, collations, deletions, schema_changes, nothing, names, odd_types,
         unknown_file_version, newest_version, many_versions, base_path_into_hidden_table]


def main():
    global db, ROOT
    run = Run("small inputs of pylance %s in SQL" % lance.__version__)
    db = Session()
    ROOT = db.value("SELECT substr(o, 6) FROM pg_foreign_server, unnest(srvoptions) o WHERE srvname = '%s' AND o LIKE 'root=%%'" % SERVER)
    db.rows("SET client_min_messages = warning; SET timezone = 'UTC'; CREATE SCHEMA %s; SET search_path = %s, public" % (SPACE, SPACE))
    db.value("SELECT lance_create_namespace('%s', properties => '{\"server\": \"%s\"}')" % (SPACE, SERVER))
    for case in CASES:
        run.step(case.__doc__.rstrip("."), case)
    db.rows("DROP SCHEMA %s CASCADE" % SPACE)
    db.close()
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

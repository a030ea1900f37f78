#!/usr/bin/env python3
"""Random queries over a foreign table and over a copy of it in PostgreSQL's own storage: the rows are to be the same.

The data has every type that conditions are evaluated on, NULLs, ends of ranges, NaN, deleted rows and several fragments,
in each file version. Datasets are made in the current folder, where the server reads them. Settings: LANCE_TEST_QUERIES (how
many a file version), LANCE_TEST_SEED, and those of libpq. The seed is printed; with it a run is the same again.
"""
import datetime
import math
import os
import random
import sys

import lance
import numpy
import pyarrow as pa

import pg
from lt import Run, env, eq

SEED = int(env("SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
QUERIES = int(env("QUERIES", "150"))
FOLDER = os.getcwd()
WORDS = ["", "a", "A", "ab", "abc", "abd", "b", "ba", "é", "éa", "z", "zz", "a%b", "a_b", "a\\b", "a'b", "漢", "漢字", "\U0001f600"]
EPOCH = datetime.datetime(1970, 1, 1)

rnd = random.Random(SEED)


def some(values, rare=()):
    """A maker of values: mostly from few, at times a rare one or NULL."""
    return lambda: None if rnd.random() < .08 else rnd.choice(rare) if rare and rnd.random() < .04 else rnd.choice(values)


def integers(low, high):
    near = [rnd.randint(max(low, -50), min(high, 50)) for _ in range(30)]
    return some(near + [rnd.randint(low, high) for _ in range(10)], [low, high])


REALS = [0.0, -0.0, 1.5, -1.5, 0.1, 2.0, 3.25, -7.0, 1e10, 1e-10] + [rnd.uniform(-10, 10) for _ in range(30)]
RARE_REALS = [math.nan, math.inf, -math.inf, 5e-324, 1.7e308]
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(rnd.randint(-400, 400)) for _ in range(40)] + [datetime.date(1, 1, 1), datetime.date(1969, 12, 31)]
TIMES = [EPOCH + datetime.timedelta(days=rnd.randint(-20000, 20000), microseconds=rnd.choice([0, 1, 999999, 500000, 123456])) for _ in range(40)]
CLOCK = [datetime.time(rnd.randint(0, 23), rnd.randint(0, 59), rnd.randint(0, 59), rnd.choice([0, 1, 999999, 250000])) for _ in range(40)]


def in_unit(values, unit):
    """Times as integers of a unit; in nanoseconds with some that are no whole microsecond."""
    parts = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]

    def number(v):
        if isinstance(v, datetime.time):
            v = EPOCH.replace(hour=v.hour, minute=v.minute, second=v.second, microsecond=v.microsecond)
        n = round((v - EPOCH).total_seconds() * 10**6)
        return n * (parts // 10**6) + rnd.choice([0, 0, 1, 999]) if parts > 10**6 else n // (10**6 // parts)
    # The ends of nanoseconds lie within what PostgreSQL's timestamps hold.
    ends = [2**63 - 1, 1 - 2**63] if unit == "ns" and isinstance(values[0], datetime.datetime) else []
    return some([number(v) for v in values], ends)


# name: (Arrow type, maker, what literals are made of, the type they are cast to)
COLUMNS = {}


def column(name, kind, make, sql):
    COLUMNS[name] = (kind, make, sql)


for bits, sql in ((8, "int2"), (16, "int2"), (32, "int4"), (64, "int8")):
    column("i%d" % bits, getattr(pa, "int%d" % bits)(), integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1), sql)
for bits, sql in ((8, "int2"), (16, "int4"), (32, "int8")):
    column("u%d" % bits, getattr(pa, "uint%d" % bits)(), integers(0, (1 << bits) - 1), sql)
column("u64", pa.uint64(), integers(0, (1 << 64) - 1), "numeric")
column("f32", pa.float32(), some([float(pa.scalar(v, pa.float32()).as_py()) for v in REALS], RARE_REALS[:3]), "float4")
column("f64", pa.float64(), some(REALS, RARE_REALS), "float8")
column("t", pa.utf8(), some(WORDS), "text")
column("tl", pa.large_utf8(), some(["%s-%d" % (w, i) for w in WORDS for i in range(50)]), "text")
column("td", pa.dictionary(pa.int32(), pa.utf8()), some(WORDS[:7]), "text")
column("tv", pa.utf8(), some(WORDS), "text")
# Enough text for its strings to be coded.
column("tf", pa.utf8(), lambda: None if rnd.random() < .05 else " ".join(rnd.choice(["lorem", "ipsum", "dolor", "sit", "amet"]) for _ in range(12)), "text")
column("by", pa.binary(), some([w.encode() for w in WORDS] + [b"\0", b"\xff\xff"]), "bytea")
column("b", pa.bool_(), some([True, False]), "bool")
column("d32", pa.date32(), some(DAYS), "date")
column("d64", pa.date64(), some(DAYS), "date")
for unit in ("s", "ms", "us", "ns"):
    column("ts_" + unit, pa.timestamp(unit), in_unit([t.replace(year=max(t.year, 1700)) for t in TIMES], unit), "timestamp")
column("tz", pa.timestamp("us", "UTC"), in_unit(TIMES, "us"), "timestamptz")
column("c_s", pa.time32("s"), in_unit(CLOCK, "s"), "time")
column("c_us", pa.time64("us"), in_unit(CLOCK, "us"), "time")
column("c_ns", pa.time64("ns"), in_unit(CLOCK, "ns"), "time")
column("l", pa.list_(pa.int32()), some([[], [1], [1, None]]), None)
column("s", pa.struct([("x", pa.int32())]), lambda: rnd.choice([{"x": 1}, {"x": None}]), None)
column("n", pa.null(), lambda: None, None)
# name: (item, type of the query, distances)
FLOATS = ["l2", "euclidean", "cosine", "dot", "negative_inner_product", "l1"]
DIMENSION = 19
VECTORS = {"v16": (pa.float16(), "real[]", FLOATS), "v32": (pa.float32(), "real[]", FLOATS), "v64": (pa.float64(), "double precision[]", FLOATS),
           "vi8": (pa.int8(), "smallint[]", FLOATS + ["hamming"]), "vu8": (pa.uint8(), "smallint[]", FLOATS + ["hamming"]),
           "vi16": (pa.int16(), "smallint[]", FLOATS + ["hamming"]), "vb": (None, "bytea", ["hamming"])}
LIMITS = {"vi8": (-128, 127), "vu8": (0, 255), "vi16": (-32768, 32767)}


def vector(name):
    """NULL, all zeros, with an item that is NULL or NaN, or just a vector."""
    low, high = LIMITS.get(name, (0, 0))
    kind = rnd.random()
    if kind < .05:
        return None
    if name == "vb":
        return bytes(rnd.choice([0, 255, rnd.randint(0, 255)]) for _ in range(DIMENSION))
    if kind < .08:
        return [0] * DIMENSION
    items = [rnd.choice([low, high, rnd.randint(low, high)]) if high else rnd.gauss(0, 1) for _ in range(DIMENSION)]
    if kind < .11:
        items[rnd.randrange(DIMENSION)] = None
    elif kind < .13 and not high:
        items[rnd.randrange(DIMENSION)] = rnd.choice([math.nan, math.inf])
    return items


for name, (item, _, _) in VECTORS.items():
    column(name, pa.binary(DIMENSION) if item is None else pa.list_(item, DIMENSION), lambda name=name: vector(name), None)

GROUPED = ["i8", "i16", "i32", "u8", "u16", "u32", "t", "tl", "ts_us", "c_s", "td", "tv", "by", "b", "d32", "d64", "ts_s", "ts_ns", "tz", "c_us", "f64", "u64", "i64"]
ORDERED = [n for n, c in COLUMNS.items() if c[2] is not None and n != "b"]


def data(count, first):
    names = [n for n in COLUMNS]
    arrays = [pa.array(range(first, first + count), pa.int64())]
    for n in names:
        kind, make, _ = COLUMNS[n]
        if pa.types.is_dictionary(kind):
            arrays.append(pa.array([make() for _ in range(count)], kind.value_type).dictionary_encode())
        elif n == "v16":
            arrays.append(pa.array([make() for _ in range(count)], pa.list_(pa.float32(), DIMENSION)).cast(kind))
        else:
            arrays.append(pa.array([make() for _ in range(count)], kind))
    return pa.Table.from_arrays(arrays, names=["id"] + names)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Queries:
    """Random conditions. Literals are values that are there, near them, or at the ends."""

    def __init__(self, session):
        self.pool = {}
        for n in ORDERED:
            rows = session.rows("SELECT DISTINCT %s::text FROM heap WHERE %s IS NOT NULL ORDER BY 1 LIMIT 300" % (n, n))
            self.pool[n] = [r[0] for r in rows]
            sql = COLUMNS[n][2]
            self.pool[n] += {"date": ["infinity", "-infinity"], "timestamp": ["infinity", "-infinity", "2001-02-03 04:05:06.789012", "2300-01-01", "1600-01-01",
                                           "2262-04-11 23:47:16.854775", "1677-09-21 00:12:43.145224"],
                             "timestamptz": ["infinity", "-infinity"], "float4": ["NaN", "Infinity", "-Infinity", "0.1"],
                             "float8": ["NaN", "Infinity", "-Infinity", "-0"], "time": ["24:00:00"]}.get(sql, [])

    def literal(self, n):
        """A value for column n, with its type; NULL at times."""
        sql = COLUMNS[n][2]
        if rnd.random() < .03:
            return "NULL::%s" % sql
        value = rnd.choice(self.pool[n])
        if sql in ("int2", "int4", "int8"):
            if rnd.random() < .3:
                value = str(int(value) + rnd.choice([-1, 1, 100000, -10**12, 2**62]))
            fits = [t for t, b in (("int2", 15), ("int4", 31), ("int8", 63)) if -(1 << b) <= int(value) < 1 << b]
            return quoted(value) + "::" + rnd.choice(fits or ["int8"]) if fits else "0::int8"
        if sql in ("float4", "float8"):
            sql = rnd.choice(["float4", "float8"]) if value not in ("5e-324", "1.7e+308") else "float8"
        return quoted(value) + "::" + sql

    def plain(self, n):
        return quoted(rnd.choice(self.pool[n])) + "::" + COLUMNS[n][2]

    def compare(self):
        n = rnd.choice(ORDERED)
        sql = COLUMNS[n][2]
        op = rnd.choice(["=", "<>", "<", "<=", ">", ">="])
        collate = ' COLLATE "C"' if sql == "text" and rnd.random() < .6 else ""
        left, right = n + collate, self.literal(n)
        return "%s %s %s" % ((left, op, right) if rnd.random() < .8 else (right, op, left))

    def between(self):
        n = rnd.choice(ORDERED)
        return "%s BETWEEN %s%s AND %s" % (n, "SYMMETRIC " if rnd.random() < .2 else "", self.literal(n), self.literal(n))

    def among(self):
        n = rnd.choice(ORDERED)
        values = [self.literal(n) for _ in range(rnd.choice([1, 2, 5, 7, 30]))]
        sql = COLUMNS[n][2]
        wide = {"int2": "int8", "int4": "int8", "float4": "float8"}.get(sql, sql)
        array = "ARRAY[%s]::%s[]" % (", ".join(values if rnd.random() < .95 else []), wide)
        if rnd.random() < .5:
            return "%s %s (%s)" % (n, rnd.choice(["IN", "NOT IN"]), ", ".join(values))
        return "%s %s(%s)" % (n, rnd.choice(["= ANY ", "<> ALL ", "<> ANY ", "= ALL ", "< ANY "]), array)

    def like(self):
        n = rnd.choice(["t", "tl", "td", "tv", "tf"])
        pattern = rnd.choice(["a%", "ab%", "%", "", "a\\%b", "a\\%%", "a\\_%", "é%", "漢%", "%a", "_", "a_b", "z", "a\\\\%", "A%", "lorem ipsum%"])
        return "%s %s %s" % (n, rnd.choice(["LIKE", "NOT LIKE"]), quoted(pattern))

    def unary(self):
        n = rnd.choice(list(COLUMNS))
        return rnd.choice([n + " IS NULL", n + " IS NOT NULL", "b", "NOT b", "b IS TRUE", "b IS NOT TRUE", "b IS FALSE", "b IS NOT FALSE",
                           "b IS UNKNOWN", "b IS NOT UNKNOWN", "b = true", "b <> true", "id % 3 = 1", "i16 + 1 > i8", "id < %d" % rnd.randint(0, 9000)])

    def aggregate(self, columns=tuple(COLUMNS)):
        n = rnd.choice(columns)
        sql = COLUMNS[n][2]
        choices = ["count(*)", "count(%s)" % n]
        if n in ORDERED and sql != "bytea":
            choices += ["%s(%s%s)" % (f, n, ' COLLATE "C"' if sql == "text" else "") for f in ("min", "max")] * 2
        if sql in ("int2", "int4", "int8", "float4", "float8", "numeric"):
            choices += ["sum(%s)" % n, "avg(%s)" % n] * 3
        if n == "b":
            choices += ["bool_and(b)", "bool_or(b)", "every(b)"]
        call = rnd.choice(choices)
        if rnd.random() < .2:
            call += " FILTER (WHERE %s)" % self.condition(2)
        return rnd.choice([call] * 5 + ["coalesce(%s::text, 'none') || count(*)" % call, "count(DISTINCT i8)"])

    def condition(self, depth=0):
        kind = rnd.random()
        if depth < 3 and kind < .4:
            parts = [self.condition(depth + 1) for _ in range(rnd.choice([2, 2, 3]))]
            return "(" + rnd.choice([" AND ", " OR "]).join(parts) + ")"
        if depth < 3 and kind < .5:
            return "NOT (%s)" % self.condition(depth + 1)
        return rnd.choice([self.compare, self.compare, self.compare, self.between, self.among, self.like, self.unary])()


ERRORS = {}


def outcome(session, sql):
    try:
        return session.rows(sql)
    except pg.Error as e:
        ERRORS[e.state] = ERRORS.get(e.state, 0) + 1
        return e.state


def same(session, template):
    """The rows are those of both tables; an error counts as an outcome."""
    expected, got = (outcome(session, template.replace("TABLE", table)) for table in ("heap", "lance"))
    if expected != got:
        if isinstance(expected, list) and isinstance(got, list):
            expected, got = [r for r in expected if r not in got], [r for r in got if r not in expected]
        raise AssertionError("%s: expected %s, got %s" % (template, str(expected)[:150], str(got)[:150]))


def attach(session, location):
    session.rows("DROP FOREIGN TABLE IF EXISTS lance; DROP TABLE IF EXISTS heap")
    session.rows("SELECT lance_attach_dataset(%s, 'queries', 'queries', 'lance')" % quoted(location))
    session.rows("ALTER FOREIGN TABLE lance ALTER tv TYPE varchar")
    session.rows("SET lance_catalog.push_down = off; CREATE TABLE heap AS SELECT * FROM lance; SET lance_catalog.push_down = on; ANALYZE heap")


def taken(session, condition):
    """Whether the scan takes a condition over."""
    return "Lance Filter" in "\n".join(r[0] for r in session.rows("EXPLAIN SELECT id FROM lance WHERE " + condition))


def main():
    run = Run("queries")
    print("seed %d" % SEED)
    session = pg.Session()
    session.rows("SET client_min_messages = warning; SET timezone = 'UTC'; DROP SCHEMA IF EXISTS queries CASCADE; CREATE SCHEMA queries; "
                 "SET search_path = queries, public; SET jit = off; DROP SERVER IF EXISTS queries CASCADE; "
                 "CREATE SERVER queries FOREIGN DATA WRAPPER lance_fdw OPTIONS (root %s)" % quoted("file://" + FOLDER))
    for version in ("2.0", "2.1", "2.2"):
        one_version(run, session, version)
    session.close()
    return run.finish()


def one_version(run, session, version):
    location = os.path.join(FOLDER, "queries%s-%d.lance" % (version, SEED))
    counts = [0, 0]

    def make():
        lance.write_dataset(data(5000, 0), location, data_storage_version=version)
        dataset = lance.write_dataset(data(3000, 5000), location, mode="append")
        dataset.delete("id % 11 = 3 or (id > 6000 and id < 6400)")
        lance.write_dataset(data(10, 8000), location, mode="append")
        attach(session, location)

    def conditions():
        ERRORS.clear()
        for _ in range(QUERIES):
            condition = queries.condition()
            counts[taken(session, condition)] += 1
            columns = ", ".join(["id"] + rnd.sample(list(COLUMNS), rnd.choice([0, 1, 4])))
            same(session, "SELECT %s FROM TABLE WHERE %s ORDER BY id" % (columns, condition))
        eq(ERRORS, {}, "errors")
        eq(counts[1] > counts[0], True, "more conditions are taken (%d) than not (%d)" % (counts[1], counts[0]))
        return "%d of %d left to the scan" % (counts[1], QUERIES)

    def joins():
        for _ in range(QUERIES // 20):
            n = rnd.choice(ORDERED)
            condition = queries.condition(2)
            same(session, "SELECT a.id, (SELECT count(*) FROM TABLE b WHERE b.%s = a.%s AND (%s)) FROM heap a "
                 "WHERE a.id < 40 ORDER BY 1" % (n, n, condition))
            same(session, "SELECT a.id, c.id FROM heap a, LATERAL (SELECT id FROM TABLE b WHERE b.id > a.id AND b.id < a.id + 5 "
                 "AND (%s) OFFSET 0) c WHERE a.id %% 400 = 0 ORDER BY 1, 2" % condition)

    def aggregates():
        made = 0
        # Sums of floats depend on the order of the rows, which sorting by groups would change.
        session.rows("SET enable_sort = off")
        for _ in range(QUERIES):
            keys = rnd.sample(GROUPED, rnd.choice([0, 0, 1, 1, 2]))
            columns = keys + [queries.aggregate() for _ in range(rnd.choice([0, 1, 2, 5] if keys else [1, 2, 5]))]
            if any("DISTINCT" in c for c in columns):
                columns = [c for c in columns if "f32" not in c and "f64" not in c]
                keys = [k for k in keys if k in columns]
            where = " WHERE " + queries.condition(1) if rnd.random() < .6 else ""
            having = " HAVING count(*) > %d" % rnd.randint(0, 20) if rnd.random() < .2 else ""
            group = " GROUP BY " + ", ".join(keys) if keys else ""
            sql = "SELECT %s FROM TABLE%s%s%s" % (", ".join(columns), where, group, having)
            if keys:
                sql = "SELECT * FROM (%s OFFSET 0) q ORDER BY %s" % (sql, ", ".join("%d NULLS FIRST" % (i + 1) for i in range(len(keys))))
            session.rows("SET work_mem = '%s'" % rnd.choice(["64kB", "4MB"]))
            made += "Lance Aggregates" in str(session.rows("EXPLAIN " + sql.replace("TABLE", "lance")))
            same(session, sql)
        session.rows("RESET work_mem")
        eq(made * 5 > QUERIES, True, "many are made by the scan (%d)" % made)
        # As many groups as rows, more than fit at once; and the outer query's values.
        session.rows("SET work_mem = '64kB'; SET hash_mem_multiplier = 1")
        same(session, "SELECT id, tl, i64, count(*), min(t COLLATE \"C\"), sum(i64) FROM TABLE GROUP BY id, tl, i64 ORDER BY 1")
        same(session, "SELECT id, i32, count(*), count(tf), sum(i64), min(f64), max(tl COLLATE \"C\"), bool_or(b), sum(f32) FILTER (WHERE u8 > 20) "
             "FROM TABLE WHERE i16 IS NOT NULL GROUP BY id, i32 ORDER BY 1")
        same(session, "SELECT tl, u64, count(t), max(u32), avg(f64) FROM TABLE GROUP BY tl, u64 ORDER BY 1 COLLATE \"C\", 2")
        plan = str(session.rows("EXPLAIN ANALYZE SELECT id, tl, count(*) FROM lance GROUP BY id, tl"))
        passes = int(plan.split("Lance Passes: ")[1].split("'")[0])
        eq(passes > 2, True, "passes %d" % passes)
        session.rows("RESET work_mem; RESET hash_mem_multiplier; RESET enable_sort")
        # Columns that are only counted, some beside conditions on themselves.
        for n in COLUMNS:
            same(session, "SELECT count(%s) FROM TABLE" % n)
            same(session, "SELECT i8, count(%s), count(%s) FILTER (WHERE %s IS NOT NULL), count(t) FROM TABLE WHERE %s GROUP BY i8 ORDER BY 1"
                 % (n, n, n, queries.condition(2)))
        same(session, "SELECT a.id, (SELECT sum(b.i32) FILTER (WHERE b.i16 > a.i16) FROM TABLE b WHERE b.u8 = a.u8 OR b.id = a.id) FROM heap a "
             "WHERE a.id < 60 ORDER BY 1")
        return "%d of %d made by the scan" % (made, QUERIES)

    def question(n):
        """A value to measure distances to, as SQL, and its type: at times a wider one."""
        kind = VECTORS[n][1]
        if kind == "bytea":
            literal = "'\\x%s'" % bytes(rnd.randrange(256) for _ in range(DIMENSION)).hex()
            return rnd.choice([literal, literal, "(SELECT NULL)", "(SELECT %s FROM heap WHERE id = %d)" % (n, rnd.randint(0, 8000))]), kind
        if rnd.random() < .25:
            kind = rnd.choice(["real[]", "double precision[]"] if kind == "smallint[]" else ["double precision[]"])
        low, high = LIMITS.get(n, (0, 0))
        number = (lambda: str(rnd.randint(low * 2, high))) if kind == "smallint[]" and low > -32768 else \
                 (lambda: str(rnd.randint(low, high))) if kind == "smallint[]" else (lambda: "%.3f" % rnd.gauss(0, max(1, high)))
        literal = "'{%s}'" % ",".join(number() for _ in range(DIMENSION))
        return rnd.choice([literal, literal, literal, "(SELECT NULL)", "(SELECT %s FROM heap WHERE id = %d)" % (n, rnd.randint(0, 8000)),
                           "'{%s,NULL}'" % ",".join(["1"] * (DIMENSION - 1)), "'{%s}'" % ",".join(["0"] * DIMENSION)]), kind

    def nearest():
        found = 0
        session.rows("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0")
        for _ in range(QUERIES):
            n = rnd.choice(list(VECTORS))
            query, kind = question(n)
            call = "lance_%s(%s, %s::%s)" % (rnd.choice([d for d in VECTORS[n][2] if d != "hamming" or kind in ("smallint[]", "bytea")]), n, query, kind)
            conditions = [queries.condition(2)] if rnd.random() < .5 else []
            if rnd.random() < .3:
                conditions.append("%s %s %s" % (call, rnd.choice(["<", "<=", ">", ">="]), rnd.choice(["30", "0.9", "'NaN'", "-2.5", "100000", "NULL::float8"])))
            where = " WHERE " + " AND ".join("(%s)" % c for c in conditions) if conditions else ""
            most = rnd.choice([1, 10, 100, 9000])
            skipped = rnd.choice([0, 0, 3])
            # Rows that are equally far, or without a distance, come in any order unless there is a further key.
            columns, keys, end = rnd.choice([("d", "2", "LIMIT %d OFFSET %d" % (most, skipped)), ("id, d", "2, id", "LIMIT %d OFFSET %d" % (most, skipped)),
                                             ("id, d", "2, id", "LIMIT (SELECT %d) OFFSET %d" % (most, skipped)),
                                             ("count(*), max(d)", "2", "OFFSET %d FETCH FIRST %d ROWS WITH TIES" % (skipped, most))])
            sql = "SELECT %s FROM (SELECT id, %s AS d FROM TABLE%s ORDER BY %s %s) q" % (columns, call, where, keys, end)
            session.rows("SET max_parallel_workers_per_gather = %d" % rnd.choice([0, 0, 2]))
            found += "Lance Nearest" in str(session.rows("EXPLAIN " + sql.replace("TABLE", "lance")))
            same(session, sql)
        session.rows("RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather")
        eq(found * 3 > QUERIES, True, "many are found by the scan (%d)" % found)
        dataset = lance.dataset(location)
        # pylance counts what lies under items that are NULL, and leaves out NULL and NaN.
        for n, metric, error in [(n, metric, {"v16": 1e-2, "v32": 1e-4, "v64": 1e-4}[n]) for n in ("v16", "v32", "v64") for metric in ("l2", "cosine", "dot")] \
                + [("vu8", "hamming", 0)]:
            item, kind, _ = VECTORS[n]
            query = [rnd.randint(0, 255) if n == "vu8" else float(numpy.float16(rnd.gauss(0, 1))) for _ in range(DIMENSION)]
            rows = dataset.to_table(nearest={"column": n, "q": numpy.array(query, item.to_pandas_dtype()), "k": 10000, "metric": metric, "use_index": False},
                                    columns=["id", "_distance", n]).to_pylist()
            want = {r["id"]: r["_distance"] for r in rows if None not in r[n]}
            got = session.rows("SELECT id, d FROM (SELECT id, lance_%s(%s, '{%s}'::%s) AS d FROM lance ORDER BY 2 LIMIT 10000) q WHERE d <> 'NaN'"
                               % (metric, n, ",".join(map(str, query)), kind))
            eq(sorted(int(r[0]) for r in got), sorted(want), "%s of %s: rows of pylance" % (metric, n))
            for row, d in got:
                b = want[int(row)]
                eq(float(d) == b or abs(float(d) - b) <= error * max(1, abs(b)), True, "%s of %s: %s is near %s" % (metric, n, d, b))
        same(session, "SELECT id FROM TABLE ORDER BY lance_l2(v32, '{1,2}') LIMIT 1")
        same(session, "SELECT id FROM TABLE WHERE id < 0 ORDER BY lance_l2(v32, '{1,2}') LIMIT 1")
        same(session, "SELECT id FROM TABLE WHERE id = 1 ORDER BY lance_l2(v32, '{{1},{2}}') LIMIT 1")
        # A wrong query is none where no vector is compared with it.
        for query in ("'{1,2}'", "'{{1},{2}}'", "'{}'"):
            same(session, "SELECT count(*) FROM (SELECT id FROM TABLE WHERE v32 IS NULL ORDER BY lance_l2(v32, %s) LIMIT 3) q" % query)
        return "%d of %d found by the scan" % (found, QUERIES)

    def lists():
        """Long lists of values, as constants and as arrays."""
        for n in ORDERED:
            values = [queries.plain(n) for _ in range(rnd.choice([7, 40, 3000]))]
            array = "ARRAY[%s]::%s[]" % (", ".join(values + rnd.choice([[], ["NULL"]])), COLUMNS[n][2])
            for sql in ("%s = ANY (%s)" % (n, array), "%s <> ALL (%s)" % (n, array), "%s = ANY ((SELECT %s)::%s[])" % (n, array, COLUMNS[n][2])):
                same(session, "SELECT id FROM TABLE WHERE %s ORDER BY id" % sql)

    def generic():
        for mode in ("auto", "force_generic_plan", "force_custom_plan"):
            session.rows("SET plan_cache_mode = " + mode)
            for n in ORDERED:
                sql = COLUMNS[n][2]
                for table in ("heap", "lance"):
                    session.rows("PREPARE q_%s AS SELECT id FROM %s WHERE %s >= $1 AND id > $2 OR %s = ANY ($3) ORDER BY id"
                                 % (table, table, n, n))
                for _ in range(6):
                    values = (queries.plain(n), rnd.randint(0, 8000), queries.plain(n), sql)
                    same(session, "EXECUTE q_TABLE (%s, %d, ARRAY[%s, NULL]::%s[])" % values)
                session.rows("DEALLOCATE q_heap; DEALLOCATE q_lance")
        session.rows("RESET plan_cache_mode")

    def parallel():
        """All of it by several processes. What depends on the order of rows is left out: sums of floats, and which zero is met first."""
        shared = 0
        session.rows("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET force_parallel_mode = on; "
                     "SET max_parallel_workers_per_gather = 3")
        exact = [n for n in COLUMNS if n not in ("f32", "f64")]
        for _ in range(QUERIES // 3):
            session.rows("SET parallel_leader_participation = %s; SET work_mem = '%s'" % (rnd.choice(["on", "on", "off"]), rnd.choice(["64kB", "4MB"])))
            keys = rnd.sample([n for n in GROUPED if n != "f64"] + ["id"], rnd.choice([0, 1, 1, 2]))
            calls = [queries.aggregate(exact) for _ in range(rnd.choice([0, 1, 2, 4] if keys else [1, 2, 4]))]
            sqls = ["SELECT %s FROM TABLE WHERE %s ORDER BY id" % (", ".join(["id"] + rnd.sample(list(COLUMNS), 2)), queries.condition()),
                    "SELECT %s FROM TABLE WHERE %s %s" % (", ".join(keys + calls), queries.condition(2), "GROUP BY " + ", ".join(keys) if keys else ""),
                    "SELECT count(*), sum(a.id), sum(b.id) FROM TABLE a JOIN TABLE b ON a.id = b.id + 1 WHERE a.u8 < %d OR a.id < 30" % rnd.randint(0, 255),
                    "SELECT a.id, (SELECT count(*) FROM TABLE b WHERE b.i8 = a.i8) FROM TABLE a WHERE a.id %% 2000 = %d ORDER BY 1" % rnd.randint(0, 1999)]
            if keys:
                sqls[1] = "SELECT * FROM (%s OFFSET 0) q ORDER BY %s" % (sqls[1], ", ".join("%d NULLS FIRST" % (i + 1) for i in range(len(keys))))
            for sql in sqls:
                shared += "Parallel Foreign Scan" in str(session.rows("EXPLAIN " + sql.replace("TABLE", "lance")))
                same(session, sql)
        for setting in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size", "force_parallel_mode",
                        "max_parallel_workers_per_gather", "parallel_leader_participation", "work_mem"):
            session.rows("RESET " + setting)
        eq(shared * 2 > QUERIES // 3 * 4, True, "most are shared (%d)" % shared)
        return "%d of %d shared" % (shared, QUERIES // 3 * 4)

    def many_groups():
        """Where it is known that the groups are too many for one pass, the executor aggregates, which needs no other."""
        sql = "SELECT id, count(*) FROM TABLE GROUP BY id"
        session.rows("ANALYZE lance; SET work_mem = '64kB'; SET hash_mem_multiplier = 1")
        plan = str(session.rows("EXPLAIN " + sql.replace("TABLE", "lance")))
        eq("Lance Aggregates" in plan, False, plan)
        session.rows("RESET work_mem; RESET hash_mem_multiplier")
        plan = str(session.rows("EXPLAIN " + sql.replace("TABLE", "lance")))
        eq("Lance Aggregates" in plan, True, plan)

    def long_keys():
        """Hardly two groups fit: about a pass for each is enough, however close to each other some hashes lie."""
        rows = 60
        session.rows("DROP FOREIGN TABLE IF EXISTS long; SET work_mem = '64kB'; SET hash_mem_multiplier = 1")
        long = "long-%s" % version
        lance.write_dataset(pa.table({"id": list(range(2 * rows)), "t": ["%06d" % (i % rows) * 6000 for i in range(2 * rows)]}), long,
                            data_storage_version=version, mode="overwrite")
        session.rows("SELECT lance_attach_dataset('file://%s', 'queries', 'queries', 'long')" % os.path.join(FOLDER, long))
        for sql in ("SELECT t, count(*), min(id) FROM long GROUP BY t", "SELECT id, max(t COLLATE \"C\") FROM long WHERE id < %d GROUP BY id" % rows):
            plan = str(session.rows("EXPLAIN ANALYZE " + sql))
            passes = int(plan.split("Lance Passes: ")[1].split("'")[0])
            eq(rows // 4 < passes < rows * 2, True, "passes %d" % passes)
        got = session.rows("SELECT left(t, 6), length(t), count(*), min(id) FROM long GROUP BY t ORDER BY 1")
        eq(got, [("%06d" % i, "36000", "2", str(i)) for i in range(rows)], "groups of long keys")
        session.rows("RESET work_mem; RESET hash_mem_multiplier; DROP FOREIGN TABLE long")

    if run.step("data of version " + version, make):
        queries = Queries(session)
        run.step("conditions, version " + version, conditions)
        run.step("lists of values, version " + version, lists)
        run.step("aggregates, version " + version, aggregates)
        run.step("nearest rows, version " + version, nearest)
        run.step("joins, version " + version, joins)
        run.step("prepared statements, version " + version, generic)
        run.step("parallel plans, version " + version, parallel)
        run.step("many groups, version " + version, many_groups)
        run.step("long keys, version " + version, long_keys)


if __name__ == "__main__":
    sys.exit(main())

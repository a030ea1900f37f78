#!/usr/bin/env python3
"""Queries over a foreign table beside PostgreSQL's own table, pylance and DuckDB's Lance extension: a table of ratios.

    query.py [--rows N] [--vectors N] [--versions 2.0,2.1,2.2] [--rounds N] [--workers N]

Runs in a Python that has pylance; DuckDB's columns are there if it has duckdb and duckdb-extension-lance too. Every side
does a case in turns, the least of the rounds counts. Peers are pinned to one CPU with one thread each, the server uses
as many parallel workers as the option says, none by default. Everything is in the page cache. That the answers are right is shown by test/clients/query_run.py.

The extension must be installed for the PostgreSQL of PG_CONFIG ("make install", "make bench-query" does it). As root the
server runs as the user postgres.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "test"), os.path.join(ROOT, "test", "clients")]

from harness import cluster, machine  # noqa: E402
from harness.machine import own, say  # noqa: E402
import pg  # noqa: E402

# name, SQL with the table as T, and what the peers do: a Lance scanner's options and what is done with its batches
CASES = [
    ("count(*)", "SELECT count(*) FROM T", "count"),
    ("sum(x)", "SELECT sum(x) FROM T", "sum"),
    ("five aggregates, four columns", "SELECT count(s), sum(x), max(ts), avg(k), min(id) FROM T", "five"),
    ("GROUP BY k: count, sum", "SELECT k, count(*), sum(x) FROM T GROUP BY k OFFSET 100000", "group"),
    ("1 % filter on k, three columns", "SELECT id, s, x FROM T WHERE k = 7 OFFSET 10000000", "filter"),
    ("1 % range of id, three columns", "SELECT id, s, x FROM T WHERE id BETWEEN {a} AND {b} OFFSET 10000000", "range"),
    ("one id", "SELECT * FROM T WHERE id = {a}", "one"),
    ("LIMIT 10", "SELECT * FROM T LIMIT 10", "limit"),
]
VECTOR_CASES = [
    ("all vectors", "SELECT v FROM T OFFSET 100000000", "vectors"),
    ("10 nearest", "SELECT id FROM T ORDER BY lance_l2(v, '{{{q}}}'::real[]) LIMIT 10", "nearest"),
    ("10 nearest of 1 %", "SELECT id FROM T WHERE category = 7 ORDER BY lance_l2(v, '{{{q}}}'::real[]) LIMIT 10", "nearest1"),
]

# The peers, in a process of their own: a line of JSON in, milliseconds out.
PEERS = r"""
import json, os, sys, time
import lance
import pyarrow as pa
import pyarrow.compute as pc
try:
    import duckdb
except ImportError:
    duckdb = None

def drain(batches):
    return sum(b.num_rows for b in batches)

def pylance(ds, case, a, b, q):
    if case == "count":
        return ds.count_rows()
    if case == "sum":
        return sum(pc.sum(r.column(0)).as_py() for r in ds.scanner(columns=["x"]).to_batches())
    if case == "five":
        t = ds.to_table(columns=["s", "x", "ts", "k", "id"])
        return [pc.count(t["s"]), pc.sum(t["x"]), pc.max(t["ts"]), pc.mean(t["k"]), pc.min(t["id"])]
    if case == "group":
        return ds.to_table(columns=["k", "x"]).group_by("k", use_threads=False).aggregate([("x", "count"), ("x", "sum")]).num_rows
    if case == "filter":
        return drain(ds.scanner(columns=["id", "s", "x"], filter="k = 7").to_batches())
    if case == "range":
        return drain(ds.scanner(columns=["id", "s", "x"], filter="id >= %d AND id <= %d" % (a, b)).to_batches())
    if case == "one":
        return drain(ds.scanner(filter="id = %d" % a).to_batches())
    if case == "limit":
        return drain(ds.scanner(limit=10).to_batches())
    if case == "vectors":
        return drain(ds.scanner(columns=["v"]).to_batches())
    options = {"column": "v", "q": q, "k": 10, "use_index": False}
    return ds.to_table(columns=["id"], nearest=options, **({"filter": "category = 7", "prefilter": True} if case == "nearest1" else {})).num_rows

SQL = {"count": "SELECT count(*) FROM T", "sum": "SELECT sum(x) FROM T", "five": "SELECT count(s), sum(x), max(ts), avg(k), min(id) FROM T",
       "group": "SELECT k, count(*), sum(x) FROM T GROUP BY k", "filter": "SELECT id, s, x FROM T WHERE k = 7",
       "range": "SELECT id, s, x FROM T WHERE id BETWEEN %d AND %d", "one": "SELECT * FROM T WHERE id = %d", "limit": "SELECT * FROM T LIMIT 10",
       "vectors": "SELECT v FROM T", "nearest": "SELECT id FROM T ORDER BY array_distance(v, %s::FLOAT[128]) LIMIT 10",
       "nearest1": "SELECT id FROM T WHERE category = 7 ORDER BY array_distance(v, %s::FLOAT[128]) LIMIT 10"}

def of_duckdb(con, path, case, a, b, q):
    arguments = {"range": (a, b), "one": (a,), "nearest": (q,), "nearest1": (q,)}.get(case)
    sql = SQL[case].replace(" T", " '%s'" % path)
    return len(con.execute(sql % arguments if arguments else sql).fetch_arrow_table())

con = None
if duckdb:
    try:
        import glob, duckdb_extension_lance
        con = duckdb.connect(config={"threads": 1})
        # It goes to where the times go, once a query takes two seconds.
        con.execute("SET enable_progress_bar = false")
        con.load_extension(glob.glob(os.path.join(os.path.dirname(duckdb_extension_lance.__file__), "extensions", "*", "lance.duckdb_extension"))[0])
    except Exception as e:
        print("no DuckDB: %s" % e, file=sys.stderr)
        con = None
opened = {}
for line in sys.stdin:
    peer, path, case, a, b, q = json.loads(line)
    ds = opened.setdefault(path, lance.dataset(path))
    begin = time.perf_counter()
    try:
        if peer == "pylance":
            pylance(ds, case, a, b, q)
        elif con is None:
            raise LookupError("not installed")
        else:
            of_duckdb(con, path, case, a, b, q)
        print((time.perf_counter() - begin) * 1000, flush=True)
    except Exception as e:
        print("%s: %s" % (peer, str(e)[:200]), file=sys.stderr)
        print("nan", flush=True)
"""

MAKE = r"""
import sys
import lance, numpy as np, pyarrow as pa
folder, version, rows, vectors = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = np.random.default_rng(1)
words = np.array(["".join(map(chr, rng.integers(97, 123, rng.integers(12, 29)))) for _ in range(100000)])
def narrow():
    for first in range(0, rows, 100000):
        n = min(100000, rows - first)
        yield pa.record_batch({"id": pa.array(np.arange(first, first + n), pa.int64()), "k": pa.array(rng.integers(0, 100, n), pa.int32()),
                               "s": pa.array(words[rng.integers(0, len(words), n)], pa.utf8()), "x": pa.array(rng.random(n)),
                               "ts": pa.array(rng.integers(0, 10**15, n), pa.timestamp("us"), mask=rng.random(n) < .05)})
def wide():
    for first in range(0, vectors, 50000):
        n = min(50000, vectors - first)
        v = rng.standard_normal((n, 128)).astype(np.float32)
        yield pa.record_batch({"id": pa.array(np.arange(first, first + n), pa.int64()), "category": pa.array(rng.integers(0, 100, n), pa.int32()),
                               "text": pa.array(words[rng.integers(0, len(words), n)], pa.utf8()),
                               "v": pa.FixedSizeListArray.from_arrays(pa.array(v.reshape(-1)), 128)})
lance.write_dataset(pa.RecordBatchReader.from_batches(next(narrow()).schema, narrow()), folder + "/narrow.lance", data_storage_version=version)
lance.write_dataset(pa.RecordBatchReader.from_batches(next(wide()).schema, wide()), folder + "/wide.lance", data_storage_version=version)
"""


class Peers:
    """pylance and DuckDB, pinned to one CPU."""

    def __init__(self):
        environment = {**os.environ, "LANCE_CPU_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(["taskset", "-c", "0", sys.executable, "-c", PEERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)

    def ms(self, *case):
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def server_ms(session, sql):
    begin = time.perf_counter()
    session.rows(sql)
    return (time.perf_counter() - begin) * 1000


def best(take, rounds):
    return [min(column) for column in zip(*[take() for _ in range(rounds)])]


def attach(session, folder, name):
    session.rows("SELECT lance_attach_dataset(%s, 'bench', 'public', '%s')" % (pg.literal(os.path.join(folder, name + ".lance")), name))
    session.rows("CREATE UNLOGGED TABLE heap_%s AS SELECT * FROM %s" % (name, name))
    session.rows("VACUUM ANALYZE heap_%s" % name)


def line(name, times):
    foreign, heap, *peers = times
    faster = min((p for p in peers if p == p), default=float("nan"))
    shown = ["%.1f" % t if t == t else "-" for t in times]
    print("| %s | %s | %.2f | %.2f |" % (name, " | ".join(shown), foreign / faster, foreign / heap), flush=True)


def one_version(options, session, peers, home, version):
    folder = os.path.join(home, version)
    os.makedirs(folder)
    own(folder)
    say("making the data of version %s" % version)
    subprocess.run([sys.executable, "-c", MAKE, folder, version, str(options.rows), str(options.vectors)], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["chown", "-R", "--reference", folder, folder], check=True)
    session.rows("DROP SERVER IF EXISTS bench CASCADE; DROP TABLE IF EXISTS heap_narrow, heap_wide; "
                 "CREATE SERVER bench FOREIGN DATA WRAPPER lance_fdw OPTIONS (root %s)" % pg.literal("file://" + folder))
    print("\n| version %s, ms | foreign table | PostgreSQL's | pylance | DuckDB | to the faster peer | to PostgreSQL's |" % version)
    print("|---|--:|--:|--:|--:|--:|--:|")
    a = options.rows * 2 // 5
    b = a + options.rows // 100 - 1
    for name, cases in (("narrow", CASES), ("wide", VECTOR_CASES)):
        attach(session, folder, name)
        q = [] if name == "narrow" else json.loads(session.value("SELECT to_json(v) FROM wide WHERE id = 77"))
        for title, sql, case in cases:
            text = sql.format(a=a, b=b, q=",".join(map(repr, q)))
            path = os.path.join(folder, name + ".lance")
            line(title, best(lambda: (server_ms(session, text.replace("FROM T", "FROM " + name)),
                                      server_ms(session, text.replace("FROM T", "FROM heap_" + name)),
                                      peers.ms("pylance", path, case, a, b, q), peers.ms("duckdb", path, case, a, b, q)), options.rounds))


def main():
    p = argparse.ArgumentParser(prog="bench/query.py", description=__doc__.split("\n")[0])
    p.add_argument("--rows", type=int, default=5000000)
    p.add_argument("--vectors", type=int, default=1000000)
    p.add_argument("--versions", default="2.1")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--workers", type=int, default=0, help="parallel workers of a query, of the foreign table and of PostgreSQL's own")
    options = p.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        c = cluster.Cluster(cluster.server(machine.state_dir()), os.path.join(home, "cluster"))
        c.create({"shared_buffers": "1GB", "max_parallel_workers_per_gather": str(options.workers), "jit": "off", "fsync": "off", "lance_catalog.rest_workers": "0"})
        e = c.environment()
        session = pg.Session("host=%s port=%s user=%s dbname=%s" % tuple(e[k] for k in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE")))
        peers = Peers()
        try:
            for version in options.versions.split(","):
                one_version(options, session, peers, home, version)
        finally:
            peers.close()
            session.close()
            c.remove()


if __name__ == "__main__":
    main()

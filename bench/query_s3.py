#!/usr/bin/env python3
"""Queries over a dataset on an S3 server that answers after a delay, beside pylance: times, requests and bytes, counted at the server.

    query_s3.py [--rows N] [--vectors N] [--version 2.1] [--delay MS] [--rounds N]

Runs in a Python that has pylance. The S3 server is the one that ./check uses, behind store_proxy.py. Both sides have opened the
dataset before: their caches are warm. The least time of the rounds counts; requests and bytes are those of the last round.
pylance runs with all its threads, the server's session is one process. The extension must be installed for the PostgreSQL of
PG_CONFIG ("make install", "make bench-query-s3" does it). As root the server runs as the user postgres.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "test"), os.path.join(ROOT, "test", "clients")]

from harness import cluster, machine, stores  # noqa: E402
from harness.machine import say  # noqa: E402
import lance  # noqa: E402
from pyarrow import fs  # noqa: E402
import pg  # noqa: E402
from query import MAKE  # noqa: E402

TAKEN = 1000


def drain(batches):
    return sum(batch.num_rows for batch in batches)


def address(i):
    """The row address of a row, in fragments as pylance makes them."""
    return (i // 1048576 << 32) + i % 1048576


# name, SQL with the table as T and its columns as C, what pylance does with a dataset and row numbers
CASES = [
    ("count(*)", "SELECT count(*) FROM T", lambda ds, rows: ds.count_rows()),
    ("LIMIT 10", "SELECT C FROM T LIMIT 10", lambda ds, rows: drain(ds.scanner(limit=10).to_batches())),
    ("all rows, all columns", "SELECT C FROM T OFFSET 100000000", lambda ds, rows: drain(ds.scanner().to_batches())),
    ("1,000 rows by row id", "SELECT C FROM T WHERE _rowid = ANY ('{KEYS}') OFFSET 100000", lambda ds, rows: ds.take(rows).num_rows),
]


class Far:
    """The proxy, and what it has counted."""

    def __init__(self, store, delay, log):
        self.port = machine.free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        self.process = machine.spawn([sys.executable, os.path.join(ROOT, "bench", "store_proxy.py"), str(self.port), str(store.port), str(delay)], log)
        machine.wait_port(self.port, self.process, log, "the proxy")

    def counts(self):
        return json.load(urllib.request.urlopen(self.url + "/-/counts"))

    def measure(self, run):
        self.counts()
        begin = time.perf_counter()
        run()
        ms = (time.perf_counter() - begin) * 1000
        counts = self.counts()
        return ms, counts["requests"], counts["bytes"]

    def best(self, runs):
        measured = [self.measure(run) for run in runs]
        return (min(ms for ms, _, _ in measured),) + measured[-1][1:]


def upload(store, folder):
    to = fs.S3FileSystem(access_key=store.key, secret_key=store.secret, region=store.region, scheme="http",
                         endpoint_override="127.0.0.1:%d" % store.port)
    fs.copy_files(folder, stores.BUCKET + "/bench", source_filesystem=fs.LocalFileSystem(), destination_filesystem=to)


def one_table(session, far, store, name, rows, rounds):
    uri = "s3://%s/bench/%s.lance" % (stores.BUCKET, name)
    options = {"aws_access_key_id": store.key, "aws_secret_access_key": store.secret, "aws_endpoint": far.url, "allow_http": "true",
               "aws_region": store.region}
    ds = lance.dataset(uri, storage_options=options)
    session.rows("SELECT lance_attach_dataset(%s, 'far', 'public', %s, system_columns => '_rowid')" % (pg.literal(uri), pg.literal(name)))
    columns = ", ".join(ds.schema.names)
    for title, sql, peer in CASES:
        chosen = [random.sample(range(rows), TAKEN) for _ in range(rounds + 1)]
        texts = [sql.replace(" T", " " + name).replace(" C ", " %s " % columns).replace("KEYS", ",".join(str(address(i)) for i in rows_))
                 for rows_ in chosen]
        session.rows(texts.pop())
        peer(ds, chosen.pop())
        ours = far.best([lambda text=text: session.rows(text) for text in texts])
        theirs = far.best([lambda rows_=rows_: peer(ds, rows_) for rows_ in chosen])
        print("| %s: %s | %.0f | %.0f | %.2f | %d | %d | %.2f | %.2f |" % (name, title, ours[0], theirs[0], ours[0] / theirs[0], ours[1], theirs[1],
                                                                     ours[2] / 1e6, theirs[2] / 1e6), flush=True)


def main():
    p = argparse.ArgumentParser(prog="bench/query_s3.py", description=__doc__.split("\n")[0])
    p.add_argument("--rows", type=int, default=2000000)
    p.add_argument("--vectors", type=int, default=100000)
    p.add_argument("--version", default="2.1")
    p.add_argument("--delay", type=float, default=30, help="milliseconds before each answer")
    p.add_argument("--rounds", type=int, default=3)
    options = p.parse_args()
    random.seed(1)
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        log = os.path.join(home, "log")
        folder = os.path.join(home, "data")
        os.makedirs(folder)
        say("making the data of version %s" % options.version)
        subprocess.run([sys.executable, "-c", MAKE, folder, options.version, str(options.rows), str(options.vectors)], check=True,
                       stderr=subprocess.DEVNULL)
        store = stores.Store(os.path.join(home, "store"), log, sys.executable)
        far = Far(store, options.delay, log)
        c = cluster.Cluster(cluster.server(machine.state_dir()), os.path.join(home, "cluster"))
        try:
            upload(store, folder)
            c.create({"shared_buffers": "256MB", "max_parallel_workers_per_gather": "0", "jit": "off", "fsync": "off", "lance_catalog.rest_workers": "0"})
            e = c.environment()
            session = pg.Session("host=%s port=%s user=%s dbname=%s" % tuple(e[k] for k in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE")))
            session.rows("CREATE SERVER far FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://%s', endpoint %s, allow_http 'true', region %s); "
                         "CREATE USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (access_key_id %s, secret_access_key %s)"
                         % (stores.BUCKET, pg.literal(far.url), pg.literal(store.region), pg.literal(store.key), pg.literal(store.secret)))
            print("| version %s, %g ms | ms | pylance, ms | ratio | requests | pylance's | MB | pylance's |" % (options.version, options.delay))
            print("|---|--:|--:|--:|--:|--:|--:|--:|")
            one_table(session, far, store, "narrow", options.rows, options.rounds)
            one_table(session, far, store, "wide", options.vectors, options.rounds)
            session.close()
        finally:
            c.remove()
            machine.stop_group(far.process.pid)
            store.stop()


if __name__ == "__main__":
    main()

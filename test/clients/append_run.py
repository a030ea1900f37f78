#!/usr/bin/env python3
"""Many clients append to one table at the same time: every row is there once, versions are 1..N without a gap.

Writers run in several processes with several threads each. Some go through the catalog, in the second step others
write past it, by plain URI. A client that gives up after losing too many races has written nothing and tries again.
Settings: see README.md.
"""
import multiprocessing
import sys
import threading
import time

from lt import HEADERS, RUN_ID, URL, Run, call, cleanup, ensure_parent, eq, env, ns, path, storage_options, want

SPACE = ns("app" + RUN_ID)
PROPS = {"uri": URL, **{"header." + k: v for k, v in HEADERS.items()}}
STORAGE = storage_options()
WRITERS, TIMES = int(env("WRITERS", "16")), int(env("APPENDS", "10"))
PROCESSES = 4
LOST = ("concurrent", "conflict", "retry", "too many")


def append(table, location, value):
    """Append one row until it is in; returns how often the client gave up."""
    import lance
    import lance_namespace as ln
    import pyarrow as pa

    data = pa.table({"a": pa.array([value], pa.int64())})
    for attempt in range(200):
        try:
            if location:
                lance.write_dataset(data, location, mode="append", storage_options=STORAGE or None)
            else:
                lance.write_dataset(data, namespace_client=ln.connect("rest", dict(PROPS)), table_id=table, mode="append",
                                    storage_options=STORAGE or None)
            return attempt
        except Exception as e:  # noqa: BLE001
            if not any(w in str(e).lower() for w in LOST):
                raise
            time.sleep(0.02 * (value % 7))
    raise AssertionError("value %d did not get in" % value)


def process(jobs, out):
    """jobs: (table, location or None, values) for each thread of this process."""
    def thread(table, location, values):
        try:
            out.put(("ok", sum(append(table, location, v) for v in values)))
        except BaseException as e:  # noqa: BLE001
            out.put(("failed", "%s: %s" % (type(e).__name__, e)))

    ts = [threading.Thread(target=thread, args=j) for j in jobs]
    [t.start() for t in ts]
    [t.join() for t in ts]


def race(table, location, through, beside):
    """Writers through the catalog and beside it; returns what was seen of the table afterwards."""
    jobs = [(table, None if i < through else location, [1000 * (i + 1) + j for j in range(TIMES)])
            for i in range(through + beside)]
    mp = multiprocessing.get_context("spawn")
    out = mp.Queue()
    ps = [mp.Process(target=process, args=(jobs[i::PROCESSES], out)) for i in range(PROCESSES)]
    [p.start() for p in ps]
    got = [out.get(timeout=540) for _ in jobs]
    [p.join() for p in ps]
    bad = [text for kind, text in got if kind != "ok"]
    want(not bad, "%d writers failed, the first: %s" % (len(bad), bad[0] if bad else ""))
    return sum(text for _, text in got), [v for j in jobs for v in j[2]]


def check(table, values):
    import lance
    import lance_namespace as ln

    client = ln.connect("rest", dict(PROPS))
    n = len(values) + 1
    ds = lance.dataset(namespace_client=client, table_id=table, storage_options=STORAGE or None)
    eq(sorted(ds.to_table()["a"].to_pylist()), sorted([0] + values), "rows")
    eq(ds.version, n, "version")
    r = call("POST", path("table", table, "version/list"), {})
    eq(sorted(v["version"] for v in r.json["versions"]), list(range(1, n + 1)), "versions of the catalog")
    where = ln.connect("rest", dict(PROPS)).describe_table(ln.DescribeTableRequest(id=table)).location
    plain = lance.dataset(where, storage_options=STORAGE or None)
    eq((plain.version, plain.count_rows()), (n, n), "version and rows by plain URI")
    eq([v["version"] for v in plain.versions()], list(range(1, n + 1)), "versions in the store")


def main():
    import lance
    import lance_namespace as ln
    import pyarrow as pa

    run = Run("%d writers, pylance %s" % (WRITERS, lance.__version__))
    ensure_parent()
    client = ln.connect("rest", dict(PROPS))

    def begin():
        client.create_namespace(ln.CreateNamespaceRequest(id=SPACE))

    def make(name):
        lance.write_dataset(pa.table({"a": pa.array([0], pa.int64())}), namespace_client=client, table_id=SPACE + [name],
                            mode="create", storage_options=STORAGE or None)
        return SPACE + [name], client.describe_table(ln.DescribeTableRequest(id=SPACE + [name])).location

    def managed():
        table, location = make("managed")
        gave_up, values = race(table, location, WRITERS, 0)
        check(table, values)
        return "%d versions, clients gave up %d times and tried again" % (len(values) + 1, gave_up)

    def mixed():
        table, location = make("mixed")
        gave_up, values = race(table, location, WRITERS // 2, WRITERS // 4)
        check(table, values)
        return "%d versions, clients gave up %d times and tried again" % (len(values) + 1, gave_up)

    run.step("a namespace of our own", begin)
    run.step("%d clients append %d times each" % (WRITERS, TIMES), managed)
    run.step("%d clients through the catalog and %d past it append %d times each" % (WRITERS // 2, WRITERS // 4, TIMES), mixed)
    cleanup(SPACE)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

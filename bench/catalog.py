#!/usr/bin/env python3
"""The catalog's calls with few and with many tables and versions: medians of both, and their ratio.

    catalog.py [--tables N] [--namespaces N] [--versions N] [--drop N] [--rounds N] [--calls N] [--keep]

Two clusters run side by side: one with 100 tables and a history of 100 versions, one with as many as the options say. Most
rows and files are made in bulk, after every call has been made some times on the empty catalog: plans that
the server keeps are then from the time when there was nothing. No table is analyzed.

Each call goes over REST, on one kept connection, and in SQL, in one session; both clusters are asked in turns, some
calls each. Columns "managed" and "plain" are tables whose clients commit through the catalog, and past it.

The extension must be installed for the PostgreSQL of PG_CONFIG ("make install", "make bench-catalog" does it).
Standard library only. As root the servers run as the user postgres.
"""
import argparse
import http.client
import json
import os
import random
import statistics
import sys
import tempfile
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "test"), os.path.join(ROOT, "test", "clients")]

from harness import cluster, machine  # noqa: E402
from harness.machine import Working, own, run, say  # noqa: E402
import pg  # noqa: E402

# Writes manifests under their final names: folder, how many.
WRITE = r"""
import os, sys
folder, n = sys.argv[1], int(sys.argv[2])
os.makedirs(folder, exist_ok=True)
os.chmod(folder, 0o777)
for version in range(1, n + 1):
    with open(os.path.join(folder, "%020d.manifest" % (2 ** 64 - 1 - version)), "wb") as f:
        f.write(b"m" * 400)
"""
PAGE = 100


def quoted(oid):
    return urllib.parse.quote(oid, safe="")


class Side:
    """A cluster with its connections."""

    def __init__(self, name, server, home, tables, namespaces, versions):
        self.name, self.tables, self.namespaces, self.versions = name, tables, namespaces, versions
        self.per_namespace = tables // namespaces
        self.made = 0
        self.random = random.Random(1)
        self.cluster = cluster.Cluster(server, os.path.join(home, name))
        self.cluster.create({"lance_catalog.default_server": "lake", "lance_catalog.rest_workers": "1"})
        self.root = os.path.join(home, name, "lake")
        os.makedirs(self.root)
        own(self.root)
        self.key = self.cluster.serve(self.root, "bench")
        e = self.cluster.environment()
        self.session = pg.Session("host=%s port=%s user=%s dbname=%s" % tuple(
            e[k] for k in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE")))
        self.connection = http.client.HTTPConnection("127.0.0.1", self.cluster.rest_port, timeout=600)

    def rest(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, text, {"x-api-key": self.key, "Content-Type": "application/json"})
        reply = self.connection.getresponse()
        raw = reply.read()
        if reply.status != 200:
            raise SystemExit("%s %s: %d %s" % (method, path, reply.status, raw[:300]))
        return json.loads(raw) if raw else None

    def post(self, oid, action, body=None):
        return self.rest("POST", "/v1/table/%s/%s" % (quoted(oid), action), body or {})

    def sql(self, text, *arguments):
        return self.session.rows(text % tuple(pg.literal(a) if isinstance(a, str) else a for a in arguments))

    # -------------------------------------------------------------- what is in it
    def begin(self, space, versions):
        """A namespace with two tables that have as many versions, in the store; it is what the calls are about from now on."""
        self.space, self.locations, self.newest, self.declared = space, {}, {}, []
        self.sql("SELECT lance_create_namespace(%s)", space)
        for kind in ("managed", "plain"):
            managed = "true" if kind == "managed" else "false"
            oid = space + "$" + kind
            self.locations[kind] = self.sql("SELECT location FROM lance_declare_table(%s, properties => %s::jsonb)", oid,
                                            json.dumps({"managed_versioning": managed}))[0][0]
            self.newest[kind] = versions
            run([machine.system_python(), "-c", WRITE, self.locations[kind] + "/_versions", str(versions)], server=True,
                cwd="/")

    def record(self, oid, versions):
        """Rows for the versions of a table, as its first commit through the catalog adds them."""
        self.sql("INSERT INTO lance.version_entry (table_id, branch, version, manifest_key, manifest_size, committed_at,"
                 " adopted) SELECT t.table_id, '', i, '_versions/' || (18446744073709551615 - i) || '.manifest', 400, now(),"
                 " true FROM lance.tables t, generate_series(1, %d) i WHERE t.path = %s::text[]",
                 versions, "{" + oid.replace("$", ",") + "}")

    def declare_to_drop(self, n):
        for i in range(n):
            name = "ns%04d$gone-%d" % (self.random.randint(1, self.namespaces), i) if self.space == "hist" \
                else "%s$gone-%d" % (self.space, i)
            self.sql("SELECT lance_declare_table(%s)", name)
            self.declared.append(name)

    def fill(self, drop):
        self.sql("INSERT INTO lance.catalog_entry (parent_id, name, kind)"
                 " SELECT 0, 'ns' || to_char(i, 'FM0000'), 'namespace' FROM generate_series(1, %d) i", self.namespaces)
        spaces = [("ns%", self.per_namespace)]
        if drop:
            self.sql("INSERT INTO lance.catalog_entry (parent_id, name, kind) VALUES (0, 'drop', 'namespace')")
            spaces.append(("drop", drop))
        for pattern, n in spaces:
            self.sql("WITH t AS (INSERT INTO lance.catalog_entry (parent_id, name, kind)"
                     " SELECT n.entry_id, 't' || to_char(i, 'FM00000'), 'table' FROM lance.catalog_entry n,"
                     " generate_series(1, %d) i WHERE n.name LIKE %s AND n.parent_id = 0 RETURNING entry_id)"
                     " INSERT INTO lance.table_entry"
                     " SELECT entry_id, %s || entry_id || '.lance', 'lake', true FROM t",
                     n, pattern, self.root + "/bulk/")
    def table(self):
        if self.space != "hist":
            return self.space + "$managed"
        return "ns%04d$t%05d" % (self.random.randint(1, self.namespaces), self.random.randint(1, self.per_namespace))

    def fresh(self):
        self.made += 1
        return "%s$new-%d" % (self.table().split("$")[0], self.made)

    def stage(self, kind):
        """A staged manifest for the next version: the version and its path."""
        self.newest[kind] += 1
        version = self.newest[kind]
        path = "%s/_versions/%020d.manifest-%d" % (self.locations[kind], 2 ** 64 - 1 - version, version)
        with open(path, "w") as f:
            f.write("s" * 400)
        return version, path

    def middle(self):
        return self.newest["plain"] // 2


# ------------------------------------------------------------------ the calls: (name, prepare, REST, SQL)
def calls_of_tables():
    return [
        ("DescribeTable", Side.table,
         lambda s, t: s.post(t, "describe"),
         lambda s, t: s.sql("SELECT location FROM lance_describe_table(%s)", t)),
        ("TableExists", Side.table,
         lambda s, t: s.post(t, "exists"),
         lambda s, t: s.sql("SELECT lance_table_exists(%s)", t)),
        ("ListTables, a page of %d" % PAGE, Side.table,
         lambda s, t: s.rest("GET", "/v1/namespace/%s/table/list?limit=%d" % (t.split("$")[0], PAGE)),
         lambda s, t: s.sql("SELECT count(*) FROM lance_list_tables(%s, \"limit\" => %d)", t.split("$")[0], PAGE)),
        ("ListAllTables, a page of %d" % PAGE, Side.table,
         lambda s, t: s.rest("GET", "/v1/table?limit=%d&page_token=%s" % (
             PAGE, quoted(json.dumps(["ns%04d" % (s.namespaces // 2)])))),
         lambda s, t: s.sql("SELECT count(*) FROM lance_list_all_tables(\"limit\" => %d, page_token => %s)", PAGE,
                            json.dumps(["ns%04d" % (s.namespaces // 2)]))),
        ("DeclareTable", Side.fresh,
         lambda s, t: s.post(t, "declare"),
         lambda s, t: s.sql("SELECT location FROM lance_declare_table(%s)", t)),
        ("DropTable", lambda s: s.declared.pop(),
         lambda s, t: s.post(t, "drop"),
         lambda s, t: s.sql("SELECT location FROM lance_drop_table(%s)", t)),
    ]


def calls_of_history(kind):
    def oid(side):
        return side.space + "$" + kind

    calls = [
        ("newest version (ListTableVersions, 1, descending)", lambda s: None,
         lambda s, _: s.post(oid(s), "version/list?limit=1&descending=true"),
         lambda s, _: s.sql("SELECT version FROM lance_list_table_versions(%s, descending => true, \"limit\" => 1)", oid(s))),
        ("DescribeTableVersion, the newest", lambda s: None,
         lambda s, _: s.post(oid(s), "version/describe"),
         lambda s, _: s.sql("SELECT version FROM lance_describe_table_version(%s)", oid(s))),
        ("DescribeTableVersion, one in the middle", Side.middle,
         lambda s, v: s.post(oid(s), "version/describe", {"version": v}),
         lambda s, v: s.sql("SELECT version FROM lance_describe_table_version(%s, %d)", oid(s), v)),
        ("DescribeTable, check_declared", lambda s: None,
         lambda s, _: s.post(oid(s), "describe?check_declared=true"),
         lambda s, _: s.sql("SELECT is_only_declared FROM lance_describe_table(%s, check_declared => true)", oid(s))),
        ("ListTableVersions, the newest %d" % (PAGE // 2), lambda s: None,
         lambda s, _: s.post(oid(s), "version/list?limit=%d&descending=true" % (PAGE // 2)),
         lambda s, _: s.sql("SELECT count(*) FROM lance_list_table_versions(%s, descending => true, \"limit\" => %d)",
                            oid(s), PAGE // 2)),
        ("ListTableVersions, %d from the middle up" % (PAGE // 2), Side.middle,
         lambda s, v: s.post(oid(s), "version/list?limit=%d&page_token=%d" % (PAGE // 2, v)),
         lambda s, v: s.sql("SELECT count(*) FROM lance_list_table_versions(%s, page_token => %s, \"limit\" => %d)",
                            oid(s), str(v), PAGE // 2)),
    ]
    if kind == "managed":
        calls.append(
            ("commit (CreateTableVersion)", lambda s: s.stage(kind),
             lambda s, staged: s.post(oid(s), "version/create", {"version": staged[0], "manifest_path": staged[1]}),
             lambda s, staged: s.sql("SELECT version FROM lance_create_table_version(%s, %d, %s)", oid(s), staged[0],
                                     staged[1])))
    return calls


def measure(sides, calls, rounds, each, what):
    """A row a call: median seconds of both sides over REST and in SQL."""
    rows = []
    for name, prepare, *faces in calls:
        times = {}
        for face, call in enumerate(faces):
            for r in range(rounds):
                for side in sides if r % 2 == 0 else sides[::-1]:
                    side.connection.close()  # the server may have done so meanwhile; the next request opens another one
                    for _ in range(each):
                        argument = prepare(side)
                        start = time.perf_counter()
                        call(side, argument)
                        times.setdefault((face, side.name), []).append(time.perf_counter() - start)
        medians = [statistics.median(times[face, side.name]) for face in (0, 1) for side in sides]
        rows.append((name, what, medians))
        print("| %s | %s | %s |" % (name, what, " | ".join(
            "%.2f | %.2f | %.2f" % (1000 * a, 1000 * b, b / a) for a, b in (medians[:2], medians[2:]))), flush=True)
    return rows


def timed(name, call):
    start = time.perf_counter()
    result = call()
    print("| %s | %.0f |" % (name, 1000 * (time.perf_counter() - start)), flush=True)
    return result


def whole_operations(side, drop, versions):
    """What takes away much at once, in milliseconds."""
    side.connection.close()
    keep = versions // 100
    session = side.session
    print("\n| with many tables and versions | ms |\n|---|--:|")
    timed("ListTables, a page of %d in the middle of %d" % (PAGE, drop),
          lambda: side.rest("GET", "/v1/namespace/drop/table/list?limit=%d&page_token=t%05d" % (PAGE, drop // 2)))
    timed("DropNamespace, Cascade, %d tables" % drop,
          lambda: side.rest("POST", "/v1/namespace/drop/drop", {"behavior": "Cascade"}))
    for kind in ("managed", "plain"):
        oid = "hist$" + kind
        timed("BatchDeleteTableVersions, all but %d of %d, %s" % (keep, versions, kind),
              lambda: side.post(oid, "version/delete", {"ranges": [{"start_version": 1, "end_version": versions - keep}]}))
        timed("ListTableVersions, the first %d of what is left, %s" % (PAGE, kind),
              lambda: side.post(oid, "version/list?limit=%d" % PAGE))
    side.connection.close()
    with Working("waiting for the cleanup queue"):
        while int(session.value("SELECT count(*) FROM lance.cleanup_queue")) > 0:
            session.rows("SELECT lance_run_cleanup()")
            time.sleep(1)
    side.connection.close()
    for kind in ("managed", "plain"):
        timed("the same, once the files are gone, %s" % kind,
              lambda: side.post("hist$" + kind, "version/list?limit=%d" % PAGE))


def drop_long_history(side, versions):
    side.sql("SELECT lance_declare_table('hist$dropped')")
    side.record("hist$dropped", versions)
    timed("DropTable with %d versions on record" % versions, lambda: side.post("hist$dropped", "drop"))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--tables", type=int, default=100000)
    p.add_argument("--namespaces", type=int, default=1000)
    p.add_argument("--versions", type=int, default=100000)
    p.add_argument("--drop", type=int, default=10000, help="tables of the namespace that is dropped")
    p.add_argument("--rounds", type=int, default=40)
    p.add_argument("--calls", type=int, default=10, help="of each kind in a round")
    p.add_argument("--keep", action="store_true", help="keep the clusters' folders")
    o = p.parse_args()
    home = own(tempfile.mkdtemp(prefix="bench-", dir=machine.state_dir()))
    server = cluster.server(machine.state_dir())
    sides = []
    try:
        sides.append(Side("few", server, home, 100, 1, 100))
        sides.append(Side("many", server, home, o.tables, o.namespaces, o.versions))
        calls = [("", calls_of_tables()), ("managed", calls_of_history("managed")), ("plain", calls_of_history("plain"))]
        with Working("making every call on empty catalogs"):
            for side in sides:
                side.begin("warm", 4)
                side.declare_to_drop(16)
                for _, group in calls:
                    for _, prepare, *faces in group:
                        for call in faces * 8:
                            call(side, prepare(side))
        for side in sides:
            with Working("filling the one with %s" % side.name):
                side.begin("hist", side.versions)
                side.record("hist$managed", side.versions)
                side.fill(o.drop if side.name == "many" else 0)
                side.declare_to_drop(2 * o.rounds * o.calls)
        say("measuring: %d calls each" % (o.rounds * o.calls))
        print("\n| call | | REST, few | many | ratio | SQL, few | many | ratio |\n|---|---|--:|--:|--:|--:|--:|--:|")
        for kind, group in calls:
            measure(sides, group, o.rounds, o.calls, kind)
        whole_operations(sides[1], o.drop, o.versions)
        drop_long_history(sides[1], o.versions)
    finally:
        for side in sides:
            side.cluster.stop("immediate")
            if not o.keep:
                side.cluster.remove()
        if not o.keep:
            run(["rm", "-rf", home], check=False)


if __name__ == "__main__":
    try:
        main()
    except machine.Failure as e:
        raise SystemExit("%s\n%s\n%s" % (e.what, e.todo, e.log))

#!/usr/bin/env python3
"""The REST server beside its peers, in one run: requests and commits a second, how long they take, and what a slow client
does to the others.

    rest.py [--weed PROGRAM] [--parts requests,versions,writers,slow] [--clients 1,8,64] [--seconds N] [--rounds N] …

The peers are pylance's REST adapter, over plain directories and over a manifest table, and, with --weed, the Lance namespace
server of SeaweedFS. Each server but the last has the same number of tables (--tables), all in one namespace, those of plain
directories in the root; of the catalog the tables of both are measured. build/bench/load sends the requests and refuses any answer
without status 200; one answer of each kind is looked into first. The servers take turns in each round, and the best round
counts. All share the machine with what sends the requests, so that the processor time that a server spent on each
request is shown too.

Needs build/bench/load and a Python with pylance ("make bench-rest PYTHON=…"); PG_CONFIG as for ./check.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test"))

import rest_servers as servers
from harness import machine
from harness.machine import Failure, own, run, say
from rest_slow import ByteASecond, SlowCommits, SlowReader, SlowStore

LOAD = os.path.join(ROOT, "build", "bench", "load")
WRITERS = 8
SLOW_CONNECTIONS = 4
PAGE = 100
CHAIN = 600  # versions of the dataset whose manifests are committed


class Result:
    """count answers in so many seconds; times in ms."""

    def __init__(self, count, seconds, p50, p99, processor):
        self.rate, self.p50, self.p99 = count / seconds, p50, p99
        self.processor = 1e6 * processor / count if count else 0  # us a request


class Load:
    """Prepared requests, sent by build/bench/load."""

    def __init__(self, place):
        self.path = os.path.join(place, "requests")

    def run(self, server, clients, seconds, requests, once=False):
        with open(self.path, "wb") as f:
            for r in requests:
                f.write(b"%d\n%s" % (len(r), r))
        before = server.processor_seconds()
        p = subprocess.run([LOAD, str(server.port), str(clients), str(seconds), "200", "once" if once else "again", self.path],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if p.returncode:
            raise Failure("%s: %s" % (server.label, p.stderr))
        count, took, p50, p99, _ = p.stdout.split()
        return Result(int(count), float(took), int(p50) / 1000, int(p99) / 1000, server.processor_seconds() - before)


_made = 0


def new_names(count):
    global _made
    _made += count
    return ["new%07d" % i for i in range(_made - count, _made)]


# ------------------------------------------------------------------ operations: (requests, each of them once)
def describe(server, clients, seconds):
    return [server.request("table", server.parent + [servers.FILLED % i], "describe") for i in range(server.tables)], False


def exists(server, clients, seconds):
    return [server.request("table", server.parent + [servers.FILLED % i], "exists") for i in range(server.tables)], False


def list_tables(server, clients, seconds):
    return [server.request("namespace", server.parent, "table/list", method="GET", limit=PAGE)], False


def declare(server, clients, seconds):
    return [server.request("table", server.parent + [n], "declare") for n in new_names(int(10000 * seconds))], True


class Commits:
    """CreateTableVersion: client I commits the versions 2, 3, … of a table of its own."""

    def __init__(self, place):
        import lance
        import pyarrow as pa

        self.folder = os.path.join(place, "chain")
        lance.write_dataset(pa.table({"a": [1]}), self.folder)
        for i in range(CHAIN):
            lance.dataset(self.folder).update_config({"step": str(i)})

    @staticmethod
    def file_name(version):
        return "%020d.manifest" % (2**64 - 1 - version)

    def stage(self, directory, version):
        """The manifest where a client leaves it; returns what the request says about it."""
        name = os.path.join(directory, "_versions", self.file_name(version))
        shutil.copy(os.path.join(self.folder, "_versions", self.file_name(version)), name + "-staged")
        return {"version": version, "manifest_path": name.lstrip("/") + "-staged", "manifest_size": os.path.getsize(name + "-staged"),
                "naming_scheme": "V2"}

    def __call__(self, server, clients, seconds):
        each = min(CHAIN, max(20, int(600 * seconds / clients)))
        lanes = []
        for name in new_names(clients):
            names = server.parent + [name]
            directory = server.call("table", names, "declare")["location"].replace("file://", "")
            os.makedirs(os.path.join(directory, "_versions"), exist_ok=True)
            shutil.copytree(os.path.join(self.folder, "data"), os.path.join(directory, "data"))
            staged = [self.stage(directory, v) for v in range(1, each + 2)]
            own(os.path.dirname(directory))
            if machine.is_root():
                run(["chown", "-R", machine.server_user(), directory])
            server.call("table", names, "version/create", staged[0])
            lanes.append([server.request("table", names, "version/create", s) for s in staged[1:]])
        return [r for step in zip(*lanes) for r in step], True


def look_into_answers(server):
    """What load does not look at: that the answers say what was asked for."""
    names = server.parent + [servers.FILLED % (server.tables - 1)]
    location = server.call("table", names, "describe")["location"]
    if names[-1] not in location:
        raise Failure("%s describes %s at %s" % (server.label, names, location))
    server.call("table", names, "exists")
    page = server.call("namespace", server.parent, "table/list", method="GET", limit=PAGE)["tables"]
    if len(page) != PAGE or page != sorted(page) or not page[0].endswith(servers.FILLED % 0):
        raise Failure("%s lists %d tables, the first %s" % (server.label, len(page), page[:1]))


# ------------------------------------------------------------------ pylance writers
UNSYNCED = "lance_catalog, fsync off"


def write(options, label, server, place):
    """Eight processes append to one table; server None: past every catalog."""
    import lance

    def argv(**more):
        return [sys.executable, os.path.join(servers.HERE, "rest_writer.py"), json.dumps({**job, **more})]

    if server is None:
        mine = os.path.join(place, "seed%d" % len(os.listdir(place)))
        job = {"location": mine, "value": 0}
    else:
        names = server.parent + new_names(1)
        job = {"client": server.client_properties(), "table": names, "value": 0}
    run(argv(create=True), server=True, cwd="/")
    if server is not None:
        mine = server.call("table", names, "describe")["location"].replace("file://", "")
    processes = []
    for i in range(WRITERS):
        processes.append(subprocess.Popen(machine.as_server(argv(seconds=options.writer_seconds, value=i)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True, cwd="/"))
    for p in processes:
        if p.stdout.readline() != "ready\n":
            raise Failure("a writer failed: %s" % p.stderr.read()[-500:])
    before = server.processor_seconds() if server else 0
    for p in processes:
        p.stdin.write("go\n")
        p.stdin.flush()
    times, late, lost, used = [], 0, 0, 0
    for p in processes:
        out, err = p.communicate()
        if p.returncode:
            raise Failure("a writer failed: %s" % err[-500:])
        used += json.loads(out)["processor"]
        times += json.loads(out)["times"]
        late += json.loads(out)["late"]
        lost += json.loads(out)["lost"]
    rows = lance.dataset(mine).count_rows()
    if rows != len(times) + late + 1:
        raise Failure("%s: %d commits, %d rows" % (label, len(times) + late, rows))
    times.sort()
    result = Result(len(times), options.writer_seconds, 1000 * times[len(times) // 2], 1000 * times[len(times) * 99 // 100],
                    server.processor_seconds() - before if server else 0)
    result.lost, result.clients = lost, 1e6 * used / (rows - 1)
    say("%s: %.0f commits/s, p50 %.1f ms, p99 %.1f ms, %d lost races; processor time of a commit %.0f us, of its client %.0f us" % (
        label, result.rate, result.p50, result.p99, lost, result.processor, result.clients))
    return result


# ------------------------------------------------------------------ slow clients
def slow(options, server, load, stores):
    """[(what, p99 of describe by 8 clients beside it, ratio to that alone)]"""
    cases = [("requests sent at a byte a second", lambda: ByteASecond(server, SLOW_CONNECTIONS)),
             ("a list of all tables read at a kilobyte a second", lambda: SlowReader(server, SLOW_CONNECTIONS))]
    for what, name, location in stores:
        cases.append((what, lambda n=name, l=location: SlowCommits(server, SLOW_CONNECTIONS, n, l)))
    requests = describe(server, 8, options.seconds)[0]
    alone, beside = [], {what: [] for what, _ in cases}
    for _ in range(options.slow_rounds):
        for what, make in cases:
            alone.append(load.run(server, 8, options.seconds, requests).p99)
            with make():
                beside[what].append(load.run(server, 8, options.seconds, requests).p99)
    base = statistics.median(alone)
    return [("alone", base, 1.0)] + [(what, statistics.median(b), statistics.median(b) / base) for what, b in beside.items()]


# ------------------------------------------------------------------ tables of results
def print_rows(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" + "--:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.stdout.flush()


def print_operations(results, running):
    labels = [s.label for s in running]
    for title, cell in (("requests/s", lambda r: "%.0f" % r.rate),
                        ("p50 / p99, ms", lambda r: "%.2f / %.2f" % (r.p50, r.p99)),
                        ("server's processor time, us a request", lambda r: "%.0f" % r.processor)):
        rows = []
        for (operation, clients), of in results.items():
            rows.append(["%s, %d client%s" % (operation, clients, "s" if clients > 1 else "")] +
                        [("not offered" if l not in of else cell(of[l]) if of[l].rate else "none in time") for l in labels])
        print_rows([title] + labels, rows)


def options_given():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--parts", default="requests,versions,writers,slow")
    p.add_argument("--servers", default="root,plain,catalog,manifest,seaweed", help="which, in the order of the columns")
    p.add_argument("--weed", help="SeaweedFS's program; without it there is no such column")
    p.add_argument("--weed-tables", type=int, default=500, help="tables of SeaweedFS: each that is declared reads all others")
    p.add_argument("--operations", default="DescribeTable,TableExists,ListTables,DeclareTable", help="of the part requests")
    p.add_argument("--tables", type=int, default=10000)
    p.add_argument("--clients", default="1,8,64")
    p.add_argument("--seconds", type=float, default=3, help="of each measurement")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--slow-rounds", type=int, default=3)
    p.add_argument("--writer-seconds", type=float, default=10)
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the catalog's PostgreSQL")
    p.add_argument("--perf", metavar="FOLDER", help="let perf record the server during each measurement")
    p.add_argument("--pause", action="store_true", help="start and fill the servers, say where they are, and wait")
    return p.parse_args()


def measure(options, operations, running, load):
    results = {}
    for _ in range(options.rounds):
        for name, operation in operations.items():
            for clients in map(int, options.clients.split(",")):
                for server in running:
                    if name == "CreateTableVersion" and not server.versions:
                        continue
                    requests, once = operation(server, clients, options.seconds)
                    if options.perf:
                        subprocess.Popen(["perf", "record", "-q", "--call-graph", "dwarf,16384", "-F", "599", "-o",
                                          os.path.join(options.perf, "%s-%d-%s.data" % (name, clients, server.label)), "-p",
                                          ",".join(str(p[0]) for p in server.processes()), "sleep", str(options.seconds)])
                    got = load.run(server, clients, options.seconds, requests, once)
                    say("%-18s %2d  %-26s %7.0f/s  p50 %7.2f  p99 %7.2f ms  %6.0f us" % (
                        name, clients, server.label, got.rate, got.p50, got.p99, got.processor))
                    of = results.setdefault((name, clients), {})
                    if server.label not in of or of[server.label].rate < got.rate:
                        of[server.label] = got
    return results


def main():
    options = options_given()
    parts = options.parts.split(",")
    place = tempfile.mkdtemp(prefix="lance-bench-")
    os.chmod(place, 0o755)
    own(place)
    load = Load(place)
    catalog = servers.Catalog(os.path.join(place, "catalog"), dict(s.split("=", 1) for s in options.set))
    make = {"catalog": lambda: catalog, "root": lambda: servers.AtRoot(catalog),
            "plain": lambda: servers.PlainAdapter(os.path.join(place, "plain")),
            "manifest": lambda: servers.ManifestAdapter(os.path.join(place, "manifest")),
            "seaweed": lambda: servers.SeaweedFS(os.path.join(place, "seaweed"), options.weed)}
    started, running = [], []
    try:
        started.append(catalog)
        say("starting the catalog's server")
        catalog.start(options.tables)
        for name in options.servers.split(","):
            if name == "seaweed" and not options.weed:
                say("SeaweedFS is left out: no --weed")
                continue
            server = make[name]()
            if server is not catalog:
                say("starting " + server.label)
                started.append(server)
                server.start(options.tables)
            server.tables = options.tables
            if name == "seaweed":
                server.tables = min(options.tables, options.weed_tables)
                server.fill(server.tables, load)
            look_into_answers(server)
            running.append(server)
        if options.pause:
            for s in running:
                print(s.label, s.port, s.headers, flush=True)
            input("Enter ends it")
            return
        say("load average of the machine before: %.2f" % os.getloadavg()[0])
        offered = {"DescribeTable": describe, "TableExists": exists, "ListTables": list_tables, "DeclareTable": declare}
        operations = {n: offered[n] for n in options.operations.split(",")} if "requests" in parts else {}
        if "versions" in parts:
            operations["CreateTableVersion"] = Commits(place)
        if operations:
            print_operations(measure(options, operations, running, load), running)
        if "writers" in parts:
            rows = []
            writers = [(s.label, s) for s in running if s.versions and s.label != "lance_catalog, root"]
            for label, server in [("plain files, no catalog", None)] + writers + [(UNSYNCED, catalog)]:
                # Clients sync nothing, and nobody syncs their files: so like is measured beside like, too.
                catalog.set_fsync(label != UNSYNCED)
                r = write(options, label, server, place)
                rows.append([label, "%.0f" % r.rate, "%.0f / %.0f" % (r.p50, r.p99), str(r.lost), "%.0f" % r.processor,
                             "%.0f" % r.clients])
            catalog.set_fsync(True)
            print_rows(["%d pylance writers, one table" % WRITERS, "commits/s", "p50 / p99, ms", "lost races", "server, us a commit", "clients, us a commit"], rows)
        if "slow" in parts:
            stores = [("commits to a store that answers after 5 s", "slow", SlowStore(5)),
                      ("commits to a store that never answers", "never", SlowStore(None))]
            places = [(what, name, catalog.slow_namespace(name, store.port)) for what, name, store in stores]
            for server in running:
                if server.label != "lance_catalog, root":
                    print_rows(["DescribeTable by 8 clients, " + server.label, "p99, ms", "ratio"],
                               [[what, "%.2f" % p99, "%.2f" % ratio] for what, p99, ratio in
                                slow(options, server, load, places if server is catalog else [])])
            for _, _, store in stores:
                store.close()
        say("load average of the machine after: %.2f" % os.getloadavg()[0])
    finally:
        for server in reversed(started):
            server.stop()
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    try:
        main()
    except Failure as e:
        sys.exit("%s\n%s\n%s" % (e.what, e.todo, e.log))

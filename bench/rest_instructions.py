#!/usr/bin/env python3
"""How many instructions a request costs the REST server, counted by callgrind, and in whose code they are spent.

    rest_instructions.py [--tables N] [--requests N] [--operations DescribeTable,…]

The server has tables as in bench/rest.py, one worker and one executor. For each operation it runs under valgrind twice, with a
few requests, so that plans and caches are made, and with as many more as --requests says: the difference is what
these cost. The kernel's part isn't seen. The numbers are the same on a busy machine.

Needs valgrind, and a Python with pylance for CreateTableVersion ("make bench-instructions PYTHON=…").
"""
import argparse
import http.client
import os
import re
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "test"), os.path.dirname(os.path.abspath(__file__))]

import rest  # noqa: E402
import rest_servers as servers  # noqa: E402
from harness import machine  # noqa: E402
from harness.machine import Failure, own, run, say  # noqa: E402

WARM = 90
OWNERS = [("lance_catalog", "lance_catalog.so"), ("PostgreSQL", "postgres"), ("libmicrohttpd", "libmicrohttpd"), ("the rest", "")]


class Counted(servers.Catalog):
    """The catalog's server, which can be started under callgrind when its tables are there."""

    def start(self, count):
        super().start(count)
        self.cluster.stop()
        self.counts = os.path.join(self.home, "counts")
        os.makedirs(self.counts)
        own(self.counts)

    def start_counting(self):
        log = os.path.join(self.home, "valgrind.log")
        self.valgrind = machine.spawn(["valgrind", "--tool=callgrind", "--log-file=" + log, "--callgrind-out-file=" + os.path.join(self.counts, "%p"),
                                       self.cluster.pg.program("postgres"), "-D", self.cluster.data], self.cluster.log)
        machine.wait_port(self.port, self.valgrind, log, "PostgreSQL under valgrind", seconds=120)
        self.cluster.wait_rest(120)

    def stop_counting(self):
        """{owner: instructions} of what the processes of the REST server did since they were started."""
        sums = dict.fromkeys([owner for owner, _ in OWNERS], 0)
        pids = self.cluster.sql("SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog REST%'").split()
        self.cluster.stop()
        machine.stop_group(self.valgrind.pid, seconds=60)
        if not pids:
            raise Failure("no process of the REST server was found")
        for pid in pids:
            add_counts(os.path.join(self.counts, pid), sums)
        for name in os.listdir(self.counts):
            os.remove(os.path.join(self.counts, name))
        return sums

    def stop(self):
        if getattr(self, "valgrind", None):
            machine.stop_group(self.valgrind.pid, seconds=10)
        super().stop()

    def send(self, requests):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        c.connect()
        for r in requests:
            c.sock.sendall(r)
            answer = http.client.HTTPResponse(c.sock)
            answer.begin()
            text = answer.read()
            if answer.status != 200:
                raise Failure("a request was answered with %d: %s" % (answer.status, text[:300]))
        c.close()


def add_counts(path, sums):
    """Add the instructions of each object file, as callgrind wrote them: lines "ob=(N) name", positions with their cost, and
    behind a line "calls=" the cost of what was called, which is counted where it was spent."""
    names, ob, called = {}, "", False
    with open(path) as f:
        for line in f:
            m = re.match(r"ob=(\(\d+\))(?: (.*))?$", line)
            if m:
                names.setdefault(m.group(1), m.group(2))
                ob = names[m.group(1)]
                continue
            m = re.match(r"cob=(\(\d+\)) (.*)$", line)
            if m:
                names[m.group(1)] = m.group(2)
            if line.startswith("calls="):
                called = True
            elif re.match(r"[0-9+*-]\S* \d+$", line):
                if not called:
                    sums[next(o for o, part in OWNERS if part in os.path.basename(ob or ""))] += int(line.split()[1])
                called = False


def options_given():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--tables", type=int, default=10000)
    p.add_argument("--requests", type=int, default=400)
    p.add_argument("--operations", default="DescribeTable,TableExists,ListTables,DeclareTable,CreateTableVersion")
    return p.parse_args()


def main():
    options = options_given()
    if not shutil.which("valgrind"):
        raise Failure("valgrind is not installed")
    place = tempfile.mkdtemp(prefix="lance-bench-")
    os.chmod(place, 0o755)
    own(place)
    server = Counted(os.path.join(place, "catalog"), {"lance_catalog.rest_workers": "1", "lance_catalog.rest_executors": "1", "autovacuum": "off"})
    rows = []
    try:
        say("making %d tables twice, then starting the server under valgrind" % options.tables)
        server.start(options.tables)
        server.tables = options.tables
        server.cluster.start()
        server.cluster.wait_rest()
        rest.look_into_answers(server)
        known = {"DescribeTable": rest.describe, "TableExists": rest.exists, "ListTables": rest.list_tables, "DeclareTable": rest.declare}
        for name in options.operations.split(","):
            make = rest.Commits(place) if name == "CreateTableVersion" else known[name]
            requests = list(make(server, 1, 1)[0])
            requests *= 1 if len(requests) > 1 else 2 * WARM + options.requests
            if len(requests) < 2 * WARM + options.requests:
                raise Failure("%s has %d requests only" % (name, len(requests)))
            used, counted = 0, []
            for n in (WARM, WARM + options.requests):
                server.cluster.stop()
                server.start_counting()
                server.send(requests[used:used + n])
                counted.append(server.stop_counting())
                server.cluster.start()
                server.cluster.wait_rest()
                used += n
            each = [(counted[1][o] - counted[0][o]) / options.requests / 1000 for o, _ in OWNERS]
            rows.append([name] + ["%.0f" % n for n in [sum(each)] + each])
            say(" ".join(rows[-1]))
    finally:
        server.stop()
        shutil.rmtree(place, ignore_errors=True)
    rest.print_rows(["thousands of instructions a request", "all"] + [o for o, _ in OWNERS], rows)


if __name__ == "__main__":
    try:
        main()
    except Failure as e:
        sys.exit("%s\n%s\n%s" % (e.what, e.todo, e.log))

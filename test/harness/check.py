"""Build the extension and run all its tests. Started by ./check.

Nothing on the machine is changed but missing Debian packages: servers, clients and clusters are private copies under
the state folder (LANCE_CATALOG_STATE; see ./check --help), and what a run makes there is removed at its end.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import sys
import threading
import time

from . import cluster as clusters
from . import foreign, machine, stores, suites
from .cluster import Cluster
from .machine import ROOT, Failure, own, say
from .suites import Result, Setting

SUITES = {
    "static": "the small checks of test/check, and clang's warnings",
    "unit": "unit tests of the library half, under ASan and UBSan",
    "random": "random tables written by pylance, read by the library under ASan and UBSan",
    "regress": "pg_regress and isolation tests",
    "ubsan": "pg_regress and isolation tests again, the extension built under UBSan",
    "tap": "TAP tests: workers, restarts, REST",
    "clients": "LanceDB, pylance and raw HTTP against the REST server, tables in local files",
    "s3": "the same, tables on an S3 server",
    "vending": "the same with keys that the catalog vends: such that expire, and on MinIO such that open one table",
    "spark": "Spark SQL, in local files and on an S3 server, twice each",
    "ts": "the TypeScript client, the same way",
    "duckdb": "DuckDB's Lance extension, the same way",
    "spec": "every route of the REST specification, with good and bent requests",
    "decode": "values of each encoding, read by the program that measures decode speed",
    "fixtures": "datasets of other writers in SQL, in local files and on an S3 server",
    "queries": "random queries over foreign tables, compared with PostgreSQL's own tables",
    "append": "16 clients append at once, some past the catalog",
    "crash": "kill -9 of the REST server in the middle of commits",
}
ROLE = "lance_client"

# Life of the keys that expire. Some checks of the clients take their keys for longer-lived ones, and so must be done by then.
VENDED_SECONDS = 24


def arguments():
    text = "suites:\n" + "".join("  %-9s %s\n" % i for i in SUITES.items())
    p = argparse.ArgumentParser(prog="./check", description=__doc__.split("\n")[0], epilog=text + """
environment:
  PG_CONFIG             test against this PostgreSQL 15 and install the extension into it; default: a private copy of
                        the packaged one
  LANCE_CATALOG_STATE   folder for virtual environments and throwaway clusters; default ~/.local/state/lance_catalog,
                        as root /var/lib/lance_catalog
  LANCE_TEST_SEED       first seed of the suites random and queries, and of tap/rest_hostile; otherwise it differs from run to run
  LANCE_HOSTILE_SECONDS how long tap/rest_hostile attacks, each in plain and over TLS; default 10
  LANCE_CATALOG_S3      "moto": use that S3 server even where versitygw is at hand
Logs are kept in build/check.""", formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("suites", nargs="*", metavar="suite", help="run only these; tap/NAME is one file of test/t")
    p.add_argument("-k", "--keep", action="store_true", help="keep the clusters' folders for a look at them")
    a = p.parse_args()
    names = a.suites or list(SUITES)
    a.tap = {name + ".pl" for kind, _, name in (n.partition("/") for n in names) if kind == "tap" and name}
    a.suites = {"tap" if n.startswith("tap/") else n for n in names}
    if "tap" in names:
        a.tap = set()
    for name in a.suites:
        if name not in SUITES:
            p.error("there is no suite \"%s\"; there are: %s" % (name, ", ".join(SUITES)))
    for name in a.tap:
        if not os.path.exists(os.path.join(ROOT, "test", "t", name)):
            p.error("there is no file test/t/%s" % name)
    return a


def sweep(state):
    """Remove what killed runs left behind."""
    for name in os.listdir(state):
        m = re.fullmatch(r"check-(\d+)", name)
        if m and not os.path.exists("/proc/" + m[1]):
            shutil.rmtree(os.path.join(state, name), ignore_errors=True)


def needs_store(a):
    return bool(a.suites & {"s3", "vending", "unit", "fixtures", *foreign.FETCH})


def fetch(s, a):
    """Start to fetch the clients of other languages; their jobs wait for them, and fail when they can't be had."""
    pool = concurrent.futures.ThreadPoolExecutor(1)
    s.foreign = {name: pool.submit(get, s.log("fetch-" + name)) for name, get in foreign.FETCH.items() if name in a.suites}
    pool.shutdown(wait=False)


def prepare(s, a):
    """Build, client environments and the S3 server, side by side."""
    def build():
        s.pg = clusters.server(s.home)
        clusters.build(s.pg, s.log("build"), 2)
        if "fixtures" in a.suites:
            s.inspect = clusters.build_inspect(s.pg, s.home, s.log("build"))

    def clients():
        for which in ("new", "old"):
            s.pythons[which] = machine.client_python(which, s.log("environments"))

    def s3():
        stores.find_versitygw(s.log("s3"), build=True) or machine.venv("moto", stores.MOTO, s.log("s3"))
        if "vending" in a.suites:
            s.minio_program = stores.find_program("minio", stores.MINIO, s.log("minio"), build=True)

    tasks = [build] + ([clients] if a.suites - {"static", "regress"} else []) + (
        [s3] if needs_store(a) else [])
    with concurrent.futures.ThreadPoolExecutor(len(tasks)) as pool:
        done = [pool.submit(t) for t in tasks]
        for f in done:
            f.result()
    s.copy_tree()
    if needs_store(a):
        s.store = stores.Store(os.path.join(s.home, "s3"), s.log("s3"), s.pythons["new"])
        say("S3 server: %s" % s.store.name)
    if "vending" in a.suites and s.store.checks_signatures:
        s.expiring = stores.Expiring(s.store, s.log("expiring"), os.path.join(s.tree, "test", "harness", "expiring.py"), VENDED_SECONDS)
    elif "vending" in a.suites:
        say("left out: keys that expire, since %s does not check signatures" % s.store.name)
    if "vending" in a.suites and not s.minio_program:
        say("left out: policies of keys, since there is neither MinIO nor a Go to build it")
    if s.minio_program:
        s.minio = stores.Minio(os.path.join(s.home, "minio"), s.log("minio"), s.pythons["new"], s.minio_program)


def start_cluster(s, name, store=None):
    c = Cluster(s.pg, os.path.join(s.home, name))
    s.clusters[name] = c
    c.create({"lance_catalog.default_server": "lake", "fsync": "off"}, rest_port=0)
    if store:
        root = "s3://%s/%s" % (stores.BUCKET, name)
    else:
        os.makedirs(os.path.join(c.home, "data"))
        root = "file://" + own(os.path.join(c.home, "data"))
    c.serve(root, ROLE, store)
    return c


class Lazy:
    """A cluster that the first job to need it starts."""

    def __init__(self, *args):
        self.args, self.lock, self.cluster, self.error = args, threading.Lock(), None, None

    def get(self):
        with self.lock:
            if self.error:
                raise self.error
            if not self.cluster:
                try:
                    self.cluster = start_cluster(*self.args)
                except Exception as e:
                    self.error = e
                    raise
            return self.cluster


def vending_jobs(s, jobs):
    """Clients with keys that the server vends: such that expire within seconds, and such that a store enforces policies of."""
    if s.expiring:
        expiring = Lazy(s, "expiring", s.expiring)
        for which, script in (("new", "pylance_run.py"), ("old", "pylance_run.py"), ("new", "lancedb_run.py"), ("old", "lancedb_run.py"),
                              ("new", "vending_run.py")):
            jobs.append(("expiring/%s/%s" % (which, script[:-3]),
                         lambda r, x=(script, which): suites.client(s, r, x[0], x[1], expiring.get(), s.expiring)))
    if s.minio:
        minio = Lazy(s, "minio", s.minio)
        for which, script in (("new", "vending_run.py"), ("old", "vending_run.py"), ("new", "pylance_run.py")):
            jobs.append(("minio/%s/%s" % (which, script[:-3]),
                         lambda r, x=(script, which): suites.client(s, r, x[0], x[1], minio.get(), s.minio)))


def jobs_of(s, a):
    """(name, function of a Result) of every job, the long ones first."""
    jobs = []
    local, crash, remote = Lazy(s, "local"), Lazy(s, "crash"), Lazy(s, "s3", s.store)
    if "unit" in a.suites:
        jobs.append(("unit", lambda r: suites.unit(s, r)))
    if "random" in a.suites:
        for which in ("new", "old"):
            jobs.append(("random/" + which, lambda r, w=which: suites.random(s, r, w)))
    if "crash" in a.suites:
        jobs.append(("crash", lambda r: suites.client(s, r, "crash_run.py", "new", crash.get(), None)))
    if "spec" in a.suites:
        jobs.append(("spec", lambda r, c=Lazy(s, "spec"): suites.client(s, r, "spec_run.py", "new", c.get(), None)))
    if "queries" in a.suites:
        jobs.append(("queries", lambda r: suites.client(s, r, "query_run.py", "new", local.get(), None)))
    if "append" in a.suites:
        for which in ("new", "old"):
            jobs.append(("append/" + which, lambda r, w=which: suites.client(s, r, "append_run.py", w, local.get(), None)))
    for suite, place, where, store in (("s3", "s3", remote, s.store), ("clients", "local", local, None)):
        for name in s.foreign:
            jobs.append(("%s/%s" % (name, place), lambda r, x=(name, where, store): suites.foreign(s, r, x[0], x[1], x[2])))
        if suite not in a.suites:
            continue
        for which in ("new", "old"):
            for script in ("rest_conformance.py", "lancedb_run.py", "pylance_run.py", "refs_run.py", "revise_run.py",
                           "import_run.py") + (("race_run.py",) if which == "new" else ()):
                jobs.append(("%s/%s/%s" % (place, which, script[:-3]),
                             lambda r, x=(script, which, where, store): suites.client(s, r, x[0], x[1], x[2].get(), x[3])))
    if "vending" in a.suites:
        vending_jobs(s, jobs)
    if "decode" in a.suites:
        jobs.append(("decode", lambda r: suites.decode(s, r)))
    if "fixtures" in a.suites:
        for place, where, store in (("s3", remote, s.store), ("local", local, None)):
            jobs.append(("fixtures/" + place, lambda r, x=(where, store): suites.fixtures(s, r, x[0].get(), x[1])))
        for place, which, where, store in (("s3", "new", remote, s.store), ("local", "new", local, None), ("local", "old", local, None)):
            jobs.append(("cases/%s/%s" % (place, which),
                         lambda r, x=(which, where, store): suites.client(s, r, "cases_run.py", x[0], x[1].get(), x[2])))
    if "tap" in a.suites:
        folder = os.path.join(ROOT, "test", "t")
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith(".pl") and (not a.tap or name in a.tap):
                jobs.append(("tap/" + name[:-3], lambda r, n=name: suites.tap(s, r, n)))
    for name, fn in (("ubsan", suites.ubsan), ("static", suites.static), ("regress", suites.regress)):
        if name in a.suites:
            jobs.append((name, lambda r, f=fn: f(s, r)))
    return jobs


def run_job(s, name, fn):
    r = Result(name, s.log(name))
    open(r.log, "w").close()
    start = time.time()
    try:
        fn(r)
    except Failure as e:
        r.bad("%s (%s)" % (e.what, e.todo))
        with open(r.log, "a") as f:
            f.write("%s\n%s\n%s\n" % (e.what, e.todo, e.log))
    r.seconds = time.time() - start
    say(r.line())
    for text in r.complaints:
        print("         %s" % text, flush=True)
    if r.failed:
        print("         the end of %s:" % os.path.relpath(r.log, ROOT))
        print("".join("         | " + line + "\n" for line in machine.tail(r.log, 40).splitlines()), flush=True)
    return r


def server_logs(s):
    """The clusters that nobody killed must not have crashed, and no log may hold a secret."""
    r = Result("server logs", s.log("server-logs"))
    open(r.log, "w").close()
    for name, c in s.clusters.items():
        if not os.path.exists(c.log):
            continue
        shutil.copyfile(c.log, s.log("postgresql-" + name))
        with open(c.log, errors="replace") as f:
            text = f.read()
        crashed = suites.crashes(c.log)
        if name != "crash":
            r.bad("%s: %s" % (name, crashed[0])) if crashed else r.ok()
        secrets = [c.key] + [store.secret for store in (s.store, s.minio) if store]
        r.bad("%s: a secret is in the log" % name) if any(x in text for x in secrets) else r.ok()
    return r


def main():
    a = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    state = machine.state_dir()
    sweep(state)
    home = os.path.join(state, "check-%d" % os.getpid())
    logs = os.path.join(ROOT, "build", "check")
    shutil.rmtree(logs, ignore_errors=True)
    os.makedirs(logs)
    os.makedirs(home)
    s = Setting(None, home, logs)
    s.clusters = {}
    results = []
    try:
        machine.install_packages({"run", "test"} | a.suites, s.log("packages"))
        fetch(s, a)
        prepare(s, a)
        say("running: %s" % " ".join(n for n in SUITES if n in a.suites))
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
            results = list(pool.map(lambda j: run_job(s, *j), jobs_of(s, a)))
        if s.clusters:
            r = server_logs(s)
            for text in r.complaints:
                print("         %s" % text)
            results.append(r)
    except Failure as e:
        print("\n%s\n" % e.what + (e.log + "\n" if e.log else "") + (e.todo + "\n" if e.todo else ""), flush=True)
        r = Result("preparation", "")
        r.failed = 1
        results.append(r)
    finally:
        for c in s.clusters.values():
            c.remove() if not a.keep else c.stop()
        for store in (s.expiring, s.minio, s.store):
            if store:
                store.stop()
        if not a.keep:
            shutil.rmtree(home, ignore_errors=True)
    print()
    for r in results:
        print(r.line())
    passed, failed = sum(r.passed for r in results), sum(r.failed for r in results)
    if not passed and not failed:
        failed = 1
        print("nothing was run")
    print("%d passed, %d failed" % (passed, failed), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The suites of ./check: what each one runs, and how its output is counted.

A job is a function that returns a Result; jobs of a run share one Setting. Output goes to a file a job.
"""
import glob
import os
import re
import shutil
import subprocess
import threading
import time

from . import machine
from .machine import ROOT, as_server, own


# Cases for each client set.
RANDOM_CASES = 50


class Result:
    def __init__(self, name, log):
        self.name, self.log = name, log
        self.passed = self.failed = self.skipped = 0
        self.complaints = []
        self.note = ""
        self.seconds = 0.0

    def ok(self, n=1):
        self.passed += n

    def bad(self, text):
        self.failed += 1
        self.complaints.append(text)

    def line(self):
        more = ", %d skipped" % self.skipped if self.skipped else ""
        more += ", " + self.note if self.note else ""
        return "%-34s %4d passed, %d failed%s (%.0f s)" % (self.name, self.passed, self.failed, more, self.seconds)


class Setting:
    """What jobs need to know: the server, folders, clusters, client pythons."""

    def __init__(self, pg, home, logs):
        self.pg, self.home, self.logs = pg, home, logs
        self.tree = None  # a copy of test, sql, expected, docs that the servers' user can read
        self.pythons = {}  # client set -> python
        self.store = None
        self.expiring = None  # the same store, with keys that expire
        self.minio_program = self.minio = None
        self.inspect = None  # the program lance_inspect
        self.foreign = {}  # suite -> future of a foreign.Client
        self.sanitized = threading.Lock()  # held while make builds what runs under ASan

    def copy_tree(self):
        self.tree = os.path.join(self.home, "tree")
        for part in ("test", "sql", "expected", "docs"):
            if os.path.isdir(os.path.join(ROOT, part)):
                shutil.copytree(os.path.join(ROOT, part), os.path.join(self.tree, part),
                                ignore=shutil.ignore_patterns("__pycache__"))

    def log(self, name):
        return os.path.join(self.logs, name.replace("/", "-") + ".log")


def execute(log, argv, env=None, cwd=None, server=False, timeout=900):
    """Run a test program into its log; returns (status, text of this run)."""
    start = os.path.getsize(log) if os.path.exists(log) else 0
    with open(log, "ab") as out:
        out.write(("$ %s\n" % " ".join(argv)).encode())
        out.flush()
        p = subprocess.Popen(as_server(argv) if server else argv, stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}, cwd=cwd or ROOT,
                             start_new_session=True)
        try:
            status = p.wait(timeout)
        except subprocess.TimeoutExpired:
            machine.stop_group(p.pid)
            out.write(b"\nstopped: it ran longer than %d s\n" % timeout)
            status = 124
    with open(log, errors="replace") as f:
        f.seek(start)
        return status, f.read()


def count_tap(result, label, status, text, needs_plan=True):
    """Count the results of a program that prints TAP."""
    failed_before, points, plan = result.failed, 0, None
    for line in text.splitlines():
        m = re.match(r"(not )?ok\b(?:\s+\d+)?\s*-?\s*(.*)", line)
        if m:
            points += 1
            if re.search(r"# SKIP", m[2], re.I):  # cmocka writes "not ok" before it
                result.skipped += 1
            elif m[1]:
                result.bad("%s: %s" % (label, m[2]))
            else:
                result.ok()
        m = re.match(r"1\.\.(\d+)", line)
        if m:
            plan = (plan or 0) + int(m[1])
            if not int(m[1]) and "skip" in line.lower():
                result.skipped += 1
    if status and result.failed == failed_before:
        result.bad("%s: ended with status %d" % (label, status))
    elif needs_plan and plan != points:
        result.bad("%s: %s results where %s were planned" % (label, points, plan))


def crashes(log):
    """Lines of a server's log that tell of a process that died."""
    if not os.path.exists(log):
        return []
    with open(log, errors="replace") as f:
        return re.findall(r".*(?:was terminated by signal|PANIC:|TRAP:).*", f.read())


# ------------------------------------------------------------------ the jobs
def static(s, r):
    """The small checks under test/check, and a second compiler."""
    folder = os.path.join(ROOT, "test", "check")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            status, text = execute(r.log, [machine.system_python(), path], env={"PG_CONFIG": s.pg.pg_config})
            if status:
                r.bad("%s: run test/check/%s" % (name, name))
            else:
                r.ok()
    status, text = execute(r.log, ["make", "-s", "clang", "PG_CONFIG=" + s.pg.pg_config])
    r.ok() if status == 0 else r.bad("make clang: clang has warnings")


def unit(s, r):
    """Unit tests of the library half, under ASan and UBSan."""
    with s.sanitized:
        status, text = execute(r.log, ["make", "-j2", "unit-tests", "PG_CONFIG=" + s.pg.pg_config])
    if status:
        r.bad("the unit tests do not build")
        return
    names = sorted(n for n in os.listdir(os.path.join(ROOT, "test", "unit")) if n.endswith("_test.c"))
    for name in names:
        program = os.path.join(ROOT, "build", "unit", name[:-2])
        env = {"CMOCKA_MESSAGE_OUTPUT": "TAP", **(s.store.environment() if s.store else {})}
        if s.store and not s.store.checks_signatures:
            env["LANCE_TEST_S3_OPEN"] = "1"
        status, text = execute(r.log, [program], env=env, timeout=300)
        count_tap(r, name[:-2], status, text)
    fuzz_replay(s, r)


def fuzz_replay(s, r):
    """The fuzz targets over their corpora, among them what once was a finding; a point for each target."""
    status, text = execute(r.log, ["make", "-s", "-j2", "fuzz-replays", "PG_CONFIG=" + s.pg.pg_config])
    if status:
        r.bad("the fuzz targets do not build")
        return
    for name in sorted(n[:-len("_fuzz.c")] for n in os.listdir(os.path.join(ROOT, "test", "fuzz")) if n.endswith("_fuzz.c")):
        program = os.path.join(ROOT, "build", "fuzz", name + "_replay")
        status, text = execute(r.log, [program, os.path.join(ROOT, "test", "data", "fuzz", name)], timeout=300)
        r.ok() if status == 0 else r.bad("fuzz target %s: status %d" % (name, status))


def decode(s, r):
    """The program that measures decode speed, optimised as it is, reads what pylance wrote; nothing is timed."""
    status, text = execute(r.log, ["make", "-j2", "bench-programs", "PG_CONFIG=" + s.pg.pg_config])
    if status:
        r.bad("the program does not build")
        return
    status, text = execute(r.log, [s.pythons["new"], os.path.join(ROOT, "bench", "decode.py"), "--check"], timeout=300)
    count_tap(r, "decode", status, text)


def random(s, r, which):
    """Random tables of one client set, other ones in each run: LANCE_TEST_SEED repeats a run."""
    first = int(os.environ.get("LANCE_TEST_SEED") or time.time() % 10**6)
    seed = str(first + (0 if which == "new" else RANDOM_CASES))
    with s.sanitized:
        status, text = execute(r.log, ["make", "-j2", "build/random/dump", "PG_CONFIG=" + s.pg.pg_config])
    if status:
        r.bad("the program of test/random does not build")
        return
    status, text = execute(r.log, [s.pythons[which], os.path.join(ROOT, "test", "random", "run.py"), "build/random/dump", "--cases",
                                   str(RANDOM_CASES), "--seed", seed])
    for line in re.findall(r"^seed \d+: .*", text, re.M):
        r.bad("%.300s" % line)
    total = re.findall(r"^(\d+) cases from seed .*: (\d+) failed, (\d+) refused by the writer$", text, re.M)
    if not total or (status and not r.failed):
        r.bad("run.py --seed %s ended with status %d" % (seed, status))
        return
    cases, failed, refused = (int(n) for n in total[-1])
    r.ok(cases - failed - refused)
    r.note = "seed %s, %d refused by the writer" % (seed, refused)


def regress(s, r):
    """pg_regress and the isolation tests, in a cluster of their own."""
    from .cluster import Cluster

    cluster = Cluster(s.pg, os.path.join(s.home, "regress"))
    data = os.path.join(cluster.home, "data")
    try:
        cluster.create({"fsync": "off", "autovacuum": "off"}, rest_port=0)
        os.makedirs(data)
        own(data)
        for isolation, variable, options in ((False, "REGRESS", "REGRESS_OPTS"), (True, "ISOLATION", "ISOLATION_OPTS")):
            names, opts = (machine.run(["make", "-s", "print-" + v, "PG_CONFIG=" + s.pg.pg_config])[1].split()
                           for v in (variable, options))
            if not names:
                continue
            for o in opts:
                if o.startswith("--outputdir="):
                    os.makedirs(os.path.join(ROOT, o.split("=", 1)[1]), exist_ok=True)
            argv = [s.pg.regress_program(isolation), "--bindir=" + s.pg.bindir, "--host=" + cluster.socket_dir,
                    "--port=%d" % cluster.port, "--user=postgres", "--dbname=contrib_regression"] + opts
            status, text = execute(r.log, argv + names, env={
                "LANCE_FIXTURES": os.path.join(s.tree, "test", "data", "fixtures"), "LANCE_TEST_DATA": data})
            found = re.findall(r"^(?:test)?\s*(\S+)\s+\.\.\. (ok|FAILED|failed)", text, re.M)
            for name, how in found:
                if how == "ok":
                    r.ok()
                else:
                    r.bad("%s %s: the difference is in build/%s/regression.diffs" % (
                        variable, name, "isolation" if isolation else "regress"))
            if len(found) != len(names):
                r.bad("%s: %d results where %d tests are listed" % (variable, len(found), len(names)))
    finally:
        if os.path.exists(cluster.log):
            shutil.copyfile(cluster.log, s.log("postgresql-" + r.name))
        for line in crashes(cluster.log):
            r.bad("the server crashed: %s" % line)
        cluster.remove()


def ubsan(s, r):
    """pg_regress in a copy of the sources that is built under UBSan; the server stops at the first finding."""
    home = os.path.join(s.home, "ubsan")
    tree = os.path.join(home, "tree")
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", "build", "__pycache__", "*.o", "*.d", "*.so"))
    sdist = glob.glob(os.path.join(ROOT, "build", "deps", "download", "*.tar.gz"))
    status, text = execute(r.log, [os.path.join(tree, "check"), "regress"], env={
        "SANITIZE": "undefined", "PG_CONFIG": "", "LANCE_CATALOG_STATE": os.path.join(home, "state"),
        **({"NANOARROW_SDIST": sdist[0]} if sdist else {})}, cwd=tree)
    total = re.findall(r"^(\d+) passed, (\d+) failed$", text, re.M)
    if not total:
        r.bad("the run ended with status %d before it counted anything" % status)
        return
    r.ok(int(total[-1][0]))
    for complaint in re.findall(r"^         ((?:REGRESS|ISOLATION).*)", text, re.M):
        r.bad(complaint)
    if status and not r.failed:
        r.bad("%s of the run failed" % total[-1][1])


def tap(s, r, name):
    """One TAP file; it makes its own clusters."""
    work = os.path.join(s.home, "tap", name)
    os.makedirs(work)
    own(work)
    tree = s.tree
    env = {"PATH": s.pg.bindir + ":" + os.environ["PATH"], "TESTDIR": work, "PG_REGRESS": s.pg.regress_program(),
           "LANCE_FIXTURES": os.path.join(tree, "test", "data", "fixtures"), "HOME": work,
           "PYTHON": s.pythons.get("new", machine.system_python())}
    status, text = execute(r.log, ["perl", "-I" + s.pg.perl(), "-I" + os.path.join(tree, "test", "t"),
                                   os.path.join(tree, "test", "t", name)], env=env, cwd=work, server=True,
                           timeout=900 + 3 * int(os.environ.get("LANCE_HOSTILE_SECONDS") or 0))
    count_tap(r, name, status, text)


def client(s, r, script, which, cluster, store, more=None, timeout=900):
    """One client script with one set of clients, against the cluster's REST server."""
    run_client(s, r, [s.pythons[which], os.path.join(s.tree, "test", "clients", script)], client_folder(s, r), cluster, store,
               more, timeout)


def client_folder(s, r):
    work = os.path.join(s.home, "client", r.name.replace("/", "-"))
    os.makedirs(work)
    return own(work)


def foreign(s, r, name, cluster, store):
    """The script of a client from elsewhere, twice in a row against the same server."""
    c = s.foreign[name].result()
    work = client_folder(s, r)
    script = os.path.join(s.tree, "test", "clients", c.script)
    if c.modules:
        # Node looks for packages beside the script.
        script = shutil.copy(script, work)
        os.symlink(c.modules, os.path.join(work, "node_modules"))
    for _ in range(2):
        run_client(s, r, [c.program, script], work, cluster.get(), store, c.env)


def run_client(s, r, argv, work, cluster, store, more=None, timeout=900):
    """Run a client script and count its lines."""
    env = {"LANCE_TEST_URL": cluster.url, "LANCE_TEST_HEADERS": cluster.headers,
           "LANCE_TEST_REQUIRE": "tags,detail,pages", "HOME": work, "TMPDIR": work,
           "LANCE_TEST_UNMANAGED_PROPS": '{"managed_versioning": "false"}',
           "PATH": s.pg.bindir + ":" + os.environ["PATH"], "PYTHONUNBUFFERED": "1",
           **cluster.environment(), **(store.environment() if store else {}), **(more or {})}
    failed_before, passed_before = r.failed, r.passed
    status, text = execute(r.log, argv, env=env, cwd=work, server=True, timeout=timeout)
    for line in text.splitlines():
        m = re.match(r"(ok  |FAIL|skip) (.*)", line)
        if not m:
            continue
        if m[1] == "ok  ":
            r.ok()
        elif m[1] == "FAIL":
            r.bad(m[2])
        else:
            r.skipped += 1
    if not re.search(r"^\d+ passed, \d+ failed$", text, re.M) or (
            status and r.failed == failed_before) or r.passed == passed_before:
        r.bad("%s ended with status %d" % (os.path.basename(argv[-1]), status))


def fixtures(s, r, cluster, store):
    """Every dataset of test/data/fixtures, or of the folder LANCE_FIXTURES, in SQL."""
    folder = os.environ.get("LANCE_FIXTURES") or os.path.join(s.tree, "test", "data", "fixtures")
    client(s, r, "fixtures_run.py", "new", cluster, store, {"LANCE_FIXTURES": folder, "LANCE_INSPECT": s.inspect})

#!/usr/bin/env python3
"""kill -9 of the REST server's process in the middle of version/create, at random points, again and again.

Two rival chains of manifests are pushed into one table while the server's workers are killed. What was acknowledged
must be there afterwards, whatever happened: the manifest under its final name, byte for byte, listed by REST and SQL,
no version twice, no gap, and every version opens by plain URI with the rows of the chain that won it. The second part
does the same to real clients that append.

Needs psql on the PATH and PGHOST, PGPORT, PGUSER, PGDATABASE of the served database, and the right to kill its
processes. LANCE_TEST_KILLS is the number of kills of each part.
"""
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import lance
import lance_namespace as ln
import pyarrow as pa

from lt import (HEADERS, RUN_ID, URL, Run, call, cleanup, ensure_parent, eq, env, fs_for, good, ns, object_path, path, post,
                read_file, storage_options, v2_name, want, write_file)

SPACE = ns("crash" + RUN_ID)
PROPS = {"uri": URL, **{"header." + k: v for k, v in HEADERS.items()}}
STORAGE = storage_options()
KILLS = int(env("KILLS", "25"))
LONGEST = 400  # versions in a chain
DOWN = (OSError, http.client.HTTPException)


def psql(text):
    return subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True).stdout.strip()


def workers():
    """The process ids of the REST workers; empty while the server recovers."""
    try:
        return [int(p) for p in psql("SELECT pid FROM pg_stat_activity WHERE backend_type ILIKE 'lance%rest%'").split()]
    except subprocess.CalledProcessError:
        return []


def wait_up():
    end = time.time() + 60
    while time.time() < end:
        try:
            if call("GET", "/v1/table", timeout=10).status == 200:
                return
        except DOWN:
            pass
        time.sleep(0.05)
    raise AssertionError("the server did not come back within a minute")


class Killer(threading.Thread):
    """Kills one worker at a random moment, waits until the server answers again, and starts over."""

    def __init__(self, kills, longest_wait):
        super().__init__(daemon=True)
        self.kills, self.longest_wait, self.done, self.error = kills, longest_wait, 0, None

    def run(self):
        try:
            while self.done < self.kills:
                pids = workers()
                if not pids:
                    time.sleep(0.05)
                    continue
                time.sleep(random.uniform(0, self.longest_wait))
                try:
                    os.kill(random.choice(pids), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                self.done += 1
                time.sleep(0.05)
                wait_up()
        except Exception as e:  # noqa: BLE001
            self.error = e

    @property
    def over(self):
        return self.error is not None or self.done >= self.kills


def meanwhile(killer, *clients):
    """Run these functions side by side until the killer is done and the server is up again; raises what one of them raised."""
    errors = []

    def go(client):
        try:
            client()
        except Exception as e:  # noqa: BLE001
            errors.append(e)

    ts = [threading.Thread(target=go, args=(c,), daemon=True) for c in clients]
    [t.start() for t in ts]
    killer.start()
    killer.join(600)
    [t.join(60) for t in ts]
    for e in errors + [killer.error]:
        if e:
            raise e
    want(killer.over and not any(t.is_alive() for t in ts), "the killer or a client did not come to its end")
    wait_up()


def chain(folder, first):
    """A dataset of LONGEST versions in a scratch folder; version v holds the rows first .. first+v-1."""
    for i in range(LONGEST):
        lance.write_dataset(pa.table({"a": pa.array([first + i], pa.int64())}), folder, mode="append" if i else "create")
    return folder


def upload(folder, location):
    for base, _, files in os.walk(folder):
        rel = os.path.relpath(base, folder)
        if not rel.startswith("_versions"):
            for f in files:
                write_file(location, f if rel == "." else rel + "/" + f, open(os.path.join(base, f), "rb").read())


def listed(table):
    r = good(call("POST", path("table", table, "version/list"), {}, timeout=30), "versions")
    return sorted(v["version"] for v in r["versions"])


def push(table, location, folder, name, killer, acknowledged, answers):
    """Send this chain's manifest for whatever version is next, until the killer is done."""
    while not killer.over:
        try:
            got = listed(table)
            v = (got[-1] if got else 0) + 1
            if v > LONGEST:
                return
            data = open(os.path.join(folder, "_versions", v2_name(v)), "rb").read()
            rel = "_versions/%s-%s%d" % (v2_name(v), name, v)
            write_file(location, rel, data)
            body = {"version": v, "manifest_path": object_path(location) + "/" + rel, "manifest_size": len(data),
                    "naming_scheme": "V2"}
            try:
                r = post("table", table, "version/create", body, timeout=30)
            except DOWN:
                # Unclear: the same request again must be recognised if it was done, or be done now.
                wait_up()
                answers["sent again"] = answers.get("sent again", 0) + 1
                r = post("table", table, "version/create", body, timeout=30)
        except DOWN:
            wait_up()
            continue
        except AssertionError:  # a list that the recovering server refused
            wait_up()
            continue
        answers[r.status] = answers.get(r.status, 0) + 1
        if r.status == 200:
            eq(r.json["version"]["version"], v, "version acknowledged")
            acknowledged.setdefault(v, []).append(name)
        elif r.status == 503:
            wait_up()
        else:
            want(r.status == 409 and r.code == 14, "version %d -> %r" % (v, r))  # the rival was first


def rivals():
    table = SPACE + ["rivals"]
    location = good(post("table", table, "declare"), "location")["location"]
    with tempfile.TemporaryDirectory(prefix="crash") as scratch:
        folders = {"A": chain(scratch + "/a", 1000), "B": chain(scratch + "/b", 500000)}
        for f in folders.values():
            upload(f, location)
        killer, acknowledged, answers = Killer(KILLS, 0.25), {}, {}
        meanwhile(killer, *(lambda n=n: push(table, location, folders[n], n, killer, acknowledged, answers) for n in folders))
        got = listed(table)
        want(got, "no version was made at all")
        eq(got, list(range(1, len(got) + 1)), "versions")
        twice = {v: who for v, who in acknowledged.items() if len(who) > 1}
        eq(twice, {}, "versions acknowledged to two clients")
        want(max(acknowledged) <= len(got), "version %d was acknowledged, the list ends at %d" % (max(acknowledged), len(got)))
        winner = {}
        for v in got:
            final = read_file(location, "_versions/" + v2_name(v))
            match = [n for n, f in folders.items() if open(os.path.join(f, "_versions", v2_name(v)), "rb").read() == final]
            eq(len(match), 1, "chains that version %d is from" % v)
            winner[v] = match[0]
            if v in acknowledged:
                eq(acknowledged[v], match, "who was told that version %d is theirs" % v)
        f, where = fs_for(location)
        from pyarrow import fs

        names = [os.path.basename(i.path) for i in f.get_file_info(fs.FileSelector(where + "/_versions"))]
        final = [n for n in names if n.endswith(".manifest")]
        eq(len(final), len(got), "manifests under final names (%s)" % sorted(final)[:5])
        sql = psql("SELECT string_agg(version::text, ' ' ORDER BY version) FROM lance_list_table_versions('%s')"
                   % "$".join(table))
        eq(sql, " ".join(map(str, got)), "versions by SQL")
        for v in sorted({1, len(got)} | set(random.sample(got, min(20, len(got))))):
            rows = lance.dataset(location, version=v, storage_options=STORAGE or None).to_table()["a"].to_pylist()
            start = 1000 if winner[v] == "A" else 500000
            eq(sorted(rows), list(range(start, start + v)), "rows of version %d" % v)
        ds = lance.dataset(location, storage_options=STORAGE or None)
        eq(ds.version, len(got), "the latest version by plain URI")
        return "%d kills, %d versions, %d acknowledged, answers %s" % (killer.done, len(got), len(acknowledged), answers)


def appenders():
    table = SPACE + ["appended"]
    client = ln.connect("rest", dict(PROPS))

    def write(value, mode):
        lance.write_dataset(pa.table({"a": pa.array([value], pa.int64())}), namespace_client=ln.connect("rest", dict(PROPS)),
                            table_id=table, mode=mode, storage_options=STORAGE or None)

    write(0, "create")
    killer, acknowledged, sent, lock = Killer(KILLS, 0.6), [0], [0], threading.Lock()

    def go(who):
        value = who * 100000
        while not killer.over:
            value += 1
            with lock:
                sent.append(value)
            try:
                write(value, "append")
            except Exception:  # noqa: BLE001 - lost, or unclear: either way not acknowledged
                time.sleep(0.1)
                continue
            with lock:
                acknowledged.append(value)

    meanwhile(killer, *(lambda i=i: go(i + 1) for i in range(4)))
    got = listed(table)
    eq(got, list(range(1, len(got) + 1)), "versions")
    where = client.describe_table(ln.DescribeTableRequest(id=table)).location
    ds = lance.dataset(where, storage_options=STORAGE or None)
    eq(ds.version, len(got), "the latest version by plain URI")
    rows = ds.to_table()["a"].to_pylist()
    lost = sorted(set(acknowledged) - set(rows))
    eq(lost, [], "acknowledged rows that are not there")
    eq(sorted(set(rows) - set(sent)), [], "rows that nobody sent")
    want(len(rows) == len(got), "%d rows in %d versions of one row each" % (len(rows), len(got)))
    write(-1, "append")
    eq(lance.dataset(where, storage_options=STORAGE or None).count_rows(), len(rows) + 1, "rows after one more append")
    return "%d kills, %d rows sent, %d acknowledged, %d there" % (killer.done, len(sent), len(acknowledged), len(rows))


def refs():
    """Tags and branches are made and deleted while the server is killed: what was acknowledged holds, all is whole."""
    table = SPACE + ["refs"]
    client = ln.connect("rest", dict(PROPS))
    lance.write_dataset(pa.table({"a": pa.array([1, 2], pa.int64())}), namespace_client=client, table_id=table, mode="create",
                        storage_options=STORAGE or None)
    killer, present, absent, lock = Killer(KILLS, 0.1), set(), set(), threading.Lock()

    def send(route, body, done):
        """Until it is answered; a request sent again may find its own success."""
        again = False
        while True:
            try:
                r = post("table", table, route, body, timeout=30)
            except DOWN:
                again = True
                wait_up()
                continue
            if r.status == 503:
                wait_up()
            elif r.status == 500:
                time.sleep(0.05)  # the server was stopping
                again = True
            else:
                want(r.status == 200 or (again and r.code == done), "%s %s -> %r" % (route, body, r))
                return

    def go(who):
        n = 0
        while not killer.over:
            n += 1
            tag, branch = "t%d-%d" % (who, n), "b%d/%d" % (who, n)
            send("tags/create", {"tag": tag, "version": 1}, 9)
            send("branches/create", {"name": branch}, 23)
            with lock:
                present.update(("tag " + tag, "branch " + branch))
            if n % 2:
                for kind, route, body, done in (("tag " + tag, "tags/delete", {"tag": tag}, 8),
                                                ("branch " + branch, "branches/delete", {"name": branch}, 22)):
                    with lock:
                        present.discard(kind)
                    send(route, body, done)
                    with lock:
                        absent.add(kind)

    meanwhile(killer, *(lambda i=i: go(i + 1) for i in range(3)))
    branches = good(call("POST", path("table", table, "branches/list")))["branches"]
    there = {"branch " + b for b in branches} | {"tag " + t for t in good(call("POST", path("table", table, "tags/list")))["tags"]}
    eq(sorted(present - there), [], "acknowledged and not there")
    eq(sorted(absent & there), [], "deleted and still there")
    where = client.describe_table(ln.DescribeTableRequest(id=table)).location
    ds = lance.dataset(where, storage_options=STORAGE or None)
    eq(set(ds.branches.list()), set(branches), "branches by plain URI")
    for b in sorted(branches):
        r = good(call("POST", path("table", table, "version/list"), query={"branch": b}))
        eq([v["version"] for v in r["versions"]], [1], "versions of %s" % b)
    for b in random.sample(sorted(branches), min(10, len(branches))):
        eq(ds.checkout_version((b, None)).count_rows(), 2, "rows of %s" % b)
    return "%d kills, %d made and kept, %d made and deleted" % (killer.done, len(present), len(absent))


def main():
    run = Run("kill -9, pylance %s" % lance.__version__)
    ensure_parent()

    def begin():
        good(post("namespace", SPACE, "create"))
        want(workers(), "no REST worker in pg_stat_activity")
        return "workers %s" % json.dumps(workers())

    if run.step("a namespace of our own, and the workers are found", begin):
        run.step("two rivals push versions while the server is killed", rivals)
        run.step("four clients append while the server is killed", appenders)
        run.step("three clients make tags and branches while the server is killed", refs)
    cleanup(SPACE)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

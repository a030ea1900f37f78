#!/usr/bin/env python3
"""The races of the catalog over REST: 16 connections that stay open ask for things that exclude each other, round after round.

After each round one has won, each loser was told so with its documented code, what was acknowledged is there, and nothing is
there in part. No answer is a 5xx. Needs pyarrow for the files. Settings: see lt.py; LANCE_TEST_ROUNDS is the number of rounds.
"""
import http.client
import json
import struct
import sys
from urllib.parse import urlsplit

from lt import (HEADERS, RUN_ID, URL, Reply, Run, about, bad, call, cleanup, ensure_parent, env, eq, get, good, ns, object_path, path,
                post, together, v2_name, want, write_file, read_file)

N = 16
ROUNDS = int(env("ROUNDS", "8"))
TOP = ns("race" + RUN_ID)


class Connection:
    """One connection for all requests; that it breaks is a failure."""

    def __init__(self):
        u = urlsplit(URL)
        self.prefix = u.path.rstrip("/")
        self.conn = http.client.HTTPConnection(u.hostname, u.port or 80, timeout=60)
        self.conn.connect()
        self.conn.auto_open = 0

    def send(self, route, body):
        self.conn.request("POST", self.prefix + route, json.dumps(body), {**HEADERS, "Content-Type": "application/json"})
        r = self.conn.getresponse()
        return Reply(r.status, {k.lower(): v for k, v in r.getheaders()}, r.read())


connections = []


def race(requests):
    """Send request i, a pair of route and body, on connection i, all at the same moment; the answers in order."""
    got = together(len(requests), lambda i: connections[i].send(*requests[i]))
    for r in got:
        want(r.status < 500, "the server answered %r" % r)
    return got


def table(oid, action):
    return path("table", oid, action)


def namespace(oid, action):
    return path("namespace", oid, action)


def winners(got):
    return [i for i, r in enumerate(got) if r.status == 200]


def one_winner(got, losers):
    """The number of the only winner; losers(answer) checks each of the others."""
    won = winners(got)
    eq(len(won), 1, "winners among %s" % [(r.status, r.code) for r in got])
    [losers(r) for i, r in enumerate(got) if i != won[0]]
    return won[0]


def lost(code, status=409):
    return lambda r: bad(r, code, status)


def rounds(space, fn):
    """fn(path of a namespace of its own) for each round."""
    def go():
        notes = []
        for i in range(ROUNDS):
            p = TOP + [space + str(i)]
            good(post("namespace", p, "create"))
            notes.append(about("round %d" % i, fn, p))
            good(post("namespace", p, "drop", {"behavior": "Cascade"}))
        said = [n for n in notes if n]
        return "%d rounds%s" % (ROUNDS, ": " + ", ".join("%s %d" % (n, said.count(n)) for n in sorted(set(said))) if said else "")

    return go


# ------------------------------------------------------------------ tables and versions
def declared(oid):
    return good(post("table", oid, "declare"), "location")["location"]


def manifest(version):
    """The manifest of a dataset with one nullable int64 column "a" and no rows."""
    def text(tag, value):
        return bytes((tag, len(value))) + value

    field = b"\x08\x02" + text(0x12, b"a") + b"\x20" + b"\xff" * 9 + b"\x01" + text(0x2a, b"int64") + b"\x30\x01"
    message = text(0x0a, field) + bytes((0x18, version)) + text(0x7a, text(0x0a, b"lance") + text(0x12, b"2.1"))
    return struct.pack("<I", len(message)) + message + bytes(8) + b"\x00\x00\x02\x00LANC"


def stage(location, version, name, content):
    """Write a manifest under a staged name; returns the body of version/create for it."""
    rel = "_versions/%s-%s" % (v2_name(version), name)
    write_file(location, rel, content)
    return {"version": version, "manifest_path": object_path(location) + "/" + rel, "manifest_size": len(content), "naming_scheme": "V2"}


def created(oid):
    """A table with one version."""
    location = declared(oid)
    good(post("table", oid, "version/create", stage(location, 1, "first", manifest(1))))
    return location


def stored(location, version):
    return read_file(location, "_versions/" + v2_name(version))


def versions(oid, **query):
    return sorted(v["version"] for v in good(call("POST", table(oid, "version/list"), {}, query=query), "versions")["versions"])


def listed(oid):
    return sorted(good(get("namespace", oid, "table/list"), "tables")["tables"])


def exists(oid):
    r = post("table", oid, "exists")
    if r.status != 200:
        bad(r, 4, 404)
    return r.status == 200


# ------------------------------------------------------------------ the races
def declare(p):
    oid = p + ["t"]
    got = race([(table(oid, "declare"), {})] * N)
    won = one_winner(got, lost(5))
    eq(good(post("table", oid, "describe"))["location"], got[won].json["location"], "location of the winner")
    eq(listed(p), ["t"], "tables")


def table_or_namespace(p):
    oid = p + ["x"]
    got = race([(table(oid, "declare"), {}) if i % 2 else (namespace(oid, "create"), {}) for i in range(N)])
    won = one_winner(got, lost((2, 5)))
    eq(post("table", oid, "exists").status == 200, won % 2 == 1, "whether it is a table")
    eq(post("namespace", oid, "exists").status == 200, won % 2 == 0, "whether it is a namespace")


def create_namespace(p):
    oid = p + ["n"]
    won = one_winner(race([(namespace(oid, "create"), {"properties": {"by": str(i)}}) for i in range(N)]), lost(2))
    eq(good(post("namespace", oid, "describe"))["properties"], {"by": str(won)}, "properties")
    oid = p + ["m"]
    got = race([(namespace(oid, "create"), {"mode": "ExistOk", "properties": {"by": str(i)}}) for i in range(N)])
    eq(winners(got), list(range(N)), "answers to ExistOk that are 200")
    there = good(post("namespace", oid, "describe"))["properties"]
    eq([r.json["properties"] for r in got], [there] * N, "properties told")


def create_version(p, branch=None):
    """Each request is sent by two: who sends the winner's again is told so, whoever comes with another manifest has lost."""
    oid = p + ["t"]
    folder = created(oid)
    more = {}
    if branch:
        good(post("table", oid, "branches/create", {"name": branch}))
        folder, more = folder + "/tree/" + branch, {"branch": branch}
    for v in range(2, 5):
        content = [b"manifest %d of %d" % (v, i) for i in range(N // 2)]
        body = [{**stage(folder, v, str(i), content[i]), **more} for i in range(N // 2)]
        got = race([(table(oid, "version/create"), body[i % (N // 2)]) for i in range(N)])
        won = {i % (N // 2) for i in winners(got)}
        eq(len(won), 1, "manifests that won version %d, of %s" % (v, [(r.status, r.code) for r in got]))
        won = won.pop()
        eq(winners(got), [won, won + N // 2], "who was told that version %d is theirs" % v)
        [bad(r, 14, 409) for r in got if r.status != 200]
        eq(stored(folder, v), content[won], "version %d" % v)
        eq(versions(oid, **more), list(range(1, v + 1)), "versions")
    if branch:
        eq(versions(oid), [1], "versions of main")


def several_tables(p):
    """Each commits a version of two tables, in either order, by one of the two batch requests: both are the winner's, or neither."""
    oids = [p + ["a"], p + ["b"]]
    locations = [declared(o) for o in oids]
    for v in range(1, 4):
        requests = []
        for i in range(N):
            entries = [{"id": o, **stage(l, v, str(i), b"%d of %d" % (v, i))} for o, l in zip(oids, locations)][::1 if i % 2 else -1]
            requests.append(("/v1/table/version/batch-create", {"entries": entries}) if i % 4 < 2 else
                            ("/v1/table/batch-commit", {"operations": [{"create_table_version": e} for e in entries]}))
        won = one_winner(race(requests), lost(14))
        for o, l in zip(oids, locations):
            eq(versions(o), list(range(1, v + 1)), "versions of %s" % o[-1])
            eq(stored(l, v), b"%d of %d" % (v, won), "version %d of %s" % (v, o[-1]))


def tags(p):
    oid = p + ["t"]
    location = created(oid)
    for v in (2, 3):
        good(post("table", oid, "version/create", stage(location, v, "next", manifest(v))))

    def tag():
        return good(call("POST", table(oid, "tags/list")))["tags"].get("x", {}).get("version")

    won = one_winner(race([(table(oid, "tags/create"), {"tag": "x", "version": 1 + i % 3}) for i in range(N)]), lost(9))
    eq(tag(), 1 + won % 3, "version of the tag")
    eq(winners(race([(table(oid, "tags/update"), {"tag": "x", "version": 1 + i % 3}) for i in range(N)])), list(range(N)), "updates")
    want(tag() in (1, 2, 3), "the tag is at %s" % tag())
    one_winner(race([(table(oid, "tags/delete"), {"tag": "x"})] * N), lost(8, 404))
    eq(tag(), None, "the tag")
    # Of a version that is deleted while it is tagged either the tag or nothing is left.
    got = race([(table(oid, "tags/create"), {"tag": "x", "version": 1}) if i % 2 else
                (table(oid, "version/delete"), {"ranges": [{"start_version": 1, "end_version": 2}]}) for i in range(N)])
    tagged = [i for i in winners(got) if i % 2]
    [bad(r, 9 if tagged else 11, 409 if tagged else 404) for i, r in enumerate(got) if i % 2 and r.status != 200]
    want(len(tagged) < 2, "%d made the tag" % len(tagged))
    [bad(r, 13, 400) for i, r in enumerate(got) if i % 2 == 0 and r.status != 200]
    eq((tag(), versions(oid)), (1, [1, 2, 3]) if tagged else (None, [2, 3]), "tag and versions")
    return "tagged" if tagged else "deleted"


def branches(p):
    oid = p + ["t"]
    created(oid)
    one_winner(race([(table(oid, "branches/create"), {"name": "b"})] * N), lost(23))
    eq(list(good(call("POST", table(oid, "branches/list")))["branches"]), ["b"], "branches")
    eq(versions(oid, branch="b"), [1], "versions of it")
    one_winner(race([(table(oid, "branches/delete"), {"name": "b"})] * N), lost(22, 404))
    eq(list(good(call("POST", table(oid, "branches/list")))["branches"]), [], "branches")


def upserts(p):
    """Keys of a column, keys of a transaction, and the whole metadata of the schema."""
    oid = p + ["t"]
    created(oid)

    def all_won(got):
        [bad(r, 14, 409) for r in got if r.status != 200]
        want(winners(got), "nobody won")
        return winners(got)

    def keys(of):
        return sorted(k for k in of if k.startswith("k"))

    got = race([(table(oid, "update_field_metadata"), {"updates": [{"path": "a", "metadata": {"k%02d" % i: "v"}}]}) for i in range(N)])
    won = all_won(got)
    eq(sorted(got[i].json["version"] for i in won), list(range(2, 2 + len(won))), "versions that were answered")
    r = good(post("table", oid, "update_field_metadata", {"updates": [{"path": "a", "metadata": {"last": "v"}}]}))
    eq(keys(r["fields"]["a"]), ["k%02d" % i for i in won], "keys of the column")
    last = r["version"]
    won = all_won(race([(table(oid, "schema_metadata/update"), {"by": str(i)}) for i in range(N)]))
    eq(versions(oid), list(range(1, last + len(won) + 1)), "versions")
    transaction = oid + [str(last)]
    won = all_won(race([(path("transaction", transaction, "alter"), {"actions": [{"setPropertyAction": {"key": "k%02d" % i, "value": "v"}}]})
                        for i in range(N)]))
    eq(keys(good(post("transaction", transaction, "describe", {}))["properties"]), ["k%02d" % i for i in won], "keys of the transaction")
    got = race([(path("transaction", transaction, "alter"),
                 {"actions": [{"setPropertyAction": {"key": "one", "value": str(i), "mode": "Fail"}}]}) for i in range(N)])
    eq(good(post("transaction", transaction, "describe", {}))["properties"]["one"], str(one_winner(got, lost(19))), "a key set once")


def rename_drop(p):
    oid = p + ["t"]
    location = declared(oid)
    got = race([(table(oid, "rename"), {"new_table_name": "u%d" % i}) if i % 2 else (table(oid, "drop" if i % 4 else "deregister"), {})
                for i in range(N)])
    won = one_winner(got, lost(4, 404))
    eq(listed(p), ["u%d" % won] if won % 2 else [], "tables")
    if won % 2:
        eq(good(post("table", p + ["u%d" % won], "describe"))["location"], location, "location")
    return "renamed" if won % 2 else "dropped"


def rename_rename(p):
    for i in range(N):
        declared(p + ["t%02d" % i])
    won = one_winner(race([(table(p + ["t%02d" % i], "rename"), {"new_table_name": "goal"}) for i in range(N)]), lost(5))
    eq(listed(p), ["goal"] + ["t%02d" % i for i in range(N) if i != won], "tables")


def cascade(p):
    """All of a namespace is dropped while tables and namespaces are made in it: all of them go, or are refused."""
    space, inner = p + ["s"], p + ["s", "in"]
    good(post("namespace", space, "create"))
    good(post("namespace", inner, "create"))
    kept = declared(inner + ["kept"])
    made = [(inner if i % 2 else space) + ["x%d" % i] for i in range(N - 2)]
    got = race([(namespace(space, "drop"), {"behavior": "Cascade"})] * 2 + [
        (namespace(o, "create"), {}) if i % 4 == 3 else (table(o, "declare"), {}) for i, o in enumerate(made)])
    dropped = winners(got[:2])
    eq(len(dropped), 1, "drops that won")
    bad(got[1 - dropped[0]], 1, 404)
    [bad(r, 1, 404) for r in got[2:] if r.status != 200]
    bad(post("namespace", space, "exists"), 1, 404)
    eq([o for i, o in enumerate(made + [inner + ["kept"]]) if exists(o)], [], "tables left")
    # Made again it is empty, and a table of the old name lies elsewhere.
    good(post("namespace", space, "create"))
    eq((listed(space), good(get("namespace", space, "list"))["namespaces"]), ([], []), "what is below a namespace of the same name")
    good(post("namespace", inner, "create"))
    want(declared(inner + ["kept"]) != kept, "the new table has the place of the old one")
    return "made %d" % len(winners(got[2:]))


def main():
    run = Run("races, %d connections" % N)
    ensure_parent()

    def begin():
        good(post("namespace", TOP, "create"))
        connections.extend(Connection() for _ in range(N))

    if run.step("%d connections and a namespace of our own" % N, begin):
        for name, space, fn in (
                ("declares of one name", "declare", declare),
                ("a table or a namespace of one name", "name", table_or_namespace),
                ("creations of one namespace", "namespace", create_namespace),
                ("manifests for one version, each sent twice", "version", create_version),
                ("the same on a branch", "on_branch", lambda p: create_version(p, "side")),
                ("commits over two tables", "several", several_tables),
                ("tags of one name, and of a version that is deleted", "tag", tags),
                ("branches of one name", "branch", branches),
                ("upserts of metadata and properties", "upsert", upserts),
                ("renames against drops of one table", "drop", rename_drop),
                ("renames to one name", "rename", rename_rename),
                ("a cascade against what is made below", "cascade", cascade)):
            run.step(name, rounds(space, fn))
        run.step("the connections are still open", lambda: eq(winners(race([(namespace(TOP, "exists"), {})] * N)), list(range(N)), "answers"))
    cleanup(TOP)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Versions that the server makes itself: restore, metadata, dropping and altering columns, seen by pylance.

Each change is made twice: by the server on one table and by pylance on another of the same content. What pylance reads
afterwards must be the same: schema, rows, fragments, indices, transaction. And a client that began before such a change
and commits after it succeeds, or fails, in the same way. Settings: see lt.py.
"""
import sys
import threading

from lt import HEADERS, RUN_ID, URL, Run, Skip, bad, cleanup, ensure_parent, eq, good, ns, post, storage_options, together, want

SPACE = ns("rev" + RUN_ID)
PROPS = {"uri": URL, **{"header." + k: v for k, v in HEADERS.items()}}
STORAGE = storage_options()
VERSIONS = ("2.0", "2.1", "2.2")


def rows(n, start=0):
    import pyarrow as pa

    r = range(start, start + n)
    return pa.table({
        "a": pa.array(r, pa.int64()), "b": ["t%d" % i for i in r], "maybe": pa.array([None if i % 7 == 0 else i for i in r], pa.int64()),
        "s": [{"x": i, "y": str(i)} for i in r], "l": [[{"p": i, "q": 2}] for i in r],
        "v": pa.FixedSizeListArray.from_arrays(pa.array([float(i) for i in range(4 * n)], pa.float32()), 4)})


def table(client, name, version, stable, managed=True):
    """A table with two fragments, deletions and two indices: version 5. Returns its id and location."""
    import lance
    import lance_namespace as ln

    oid = SPACE + [name]
    how = dict(namespace_client=client, table_id=oid, storage_options=STORAGE or None)
    first = dict(how) if managed else {"storage_options": STORAGE or None}
    if not managed:
        first["uri"] = good(post("table", oid, "declare", {"properties": {"managed_versioning": "false"}}))["location"]
    lance.write_dataset(rows(100), mode="create", data_storage_version=version, enable_stable_row_ids=stable, **first)
    ds = lance.dataset(**how)
    ds.create_scalar_index("a", "BTREE")
    ds.create_scalar_index("s.x", "BTREE") if version != "2.0" else ds.create_scalar_index("b", "BITMAP")
    lance.write_dataset(rows(50, 100), mode="append", **how)
    lance.dataset(**how).delete("a < 10")
    return oid, client.describe_table(ln.DescribeTableRequest(id=oid)).location


def opened(client, oid, version=None):
    import lance

    return lance.dataset(namespace_client=client, table_id=oid, storage_options=STORAGE or None, version=version)


def plain(location, version=None):
    import lance

    return lance.dataset(location, storage_options=STORAGE or None, version=version)


def transaction(ds):
    """The last transaction, as text without what differs between any two."""
    t = ds.read_transaction(ds.version)
    return t.read_version, type(t.operation).__name__, t.operation if type(t.operation).__name__ != "Project" else ""


def indices(ds):
    return sorted((i["name"], tuple(i["fields"]), i["type"]) for i in ds.list_indices())


def fragments(ds):
    return [(f.fragment_id, f.physical_rows, f.count_rows(), [tuple(d.fields) for d in f.metadata.files]) for f in ds.get_fragments()]


def metadata(schema):
    return [(f.name, str(f.type), f.nullable, f.metadata) for f in schema], schema.metadata or {}


def compare(ours, theirs, what):
    eq(ours.version, theirs.version, what + ": version")
    eq(metadata(ours.schema), metadata(theirs.schema), what + ": schema")
    eq(fragments(ours), fragments(theirs), what + ": fragments")
    eq(indices(ours), indices(theirs), what + ": indices")
    want(ours.to_table().equals(theirs.to_table()), what + ": rows differ")
    eq(transaction(ours), transaction(theirs), what + ": transaction")
    ours.validate()


def restore(ds, version):
    ds.checkout_version(version).restore()


# (what, the server's route and body, the same by pylance)
CHANGES = [
    ("schema metadata", ("schema_metadata/update", {"k": "v", "l": ""}), lambda ds: ds.replace_schema_metadata({"k": "v", "l": ""})),
    ("rename", ("alter_columns", {"alterations": [{"path": "a", "rename": "a2"}, {"path": "s.y", "rename": "z"}]}),
     lambda ds: ds.alter_columns({"path": "a", "name": "a2"}, {"path": "s.y", "name": "z"})),
    ("field metadata", ("update_field_metadata", {"updates": [{"path": "b", "metadata": {"u": "1"}, "replace": True}]}),
     lambda ds: ds.replace_field_metadata("b", {"u": "1"})),
    ("forbid null", ("alter_columns", {"alterations": [{"path": "b", "nullable": False}]}),
     lambda ds: ds.alter_columns({"path": "b", "nullable": False})),
    ("allow null", ("alter_columns", {"alterations": [{"path": "b", "nullable": True}]}),
     lambda ds: ds.alter_columns({"path": "b", "nullable": True})),
    ("drop a struct's field", ("drop_columns", {"columns": ["s.z", "v"]}), lambda ds: ds.drop_columns(["s.z", "v"])),
    ("drop what is indexed", ("drop_columns", {"columns": ["b", "s"]}), lambda ds: ds.drop_columns(["b", "s"])),
    ("restore", ("restore", {"version": 5}), lambda ds: restore(ds, 5)),
    ("restore the newest", ("restore", {"version": 13}), lambda ds: restore(ds, 13)),
    ("restore the first", ("restore", {"version": 1}), lambda ds: restore(ds, 1)),
]


def twins(client, version, stable):
    name = "%s%s" % (version.replace(".", ""), "s" if stable else "")
    ours, location = table(client, "ours" + name, version, stable)
    theirs, _ = table(client, "theirs" + name, version, stable)
    eq(opened(client, ours).version, 5, "the table begun with")
    for what, (route, body), by_pylance in CHANGES:
        good(post("table", ours, route, body))
        by_pylance(opened(client, theirs))
        compare(opened(client, ours), opened(client, theirs), what)
        eq(plain(location).version, opened(client, ours).version, "version by plain URI")
        key = "a2" if "a2" in opened(client, ours).schema.names else "a"
        if any(i[0] == "a_idx" for i in indices(opened(client, ours))):
            plan = opened(client, ours).scanner(filter="%s = 50" % key).explain_plan(True)
            want("ScalarIndexQuery" in plan, what + ": the index is not used any more")
            eq(opened(client, ours).to_table(filter="%s = 50" % key).num_rows, 1, what + ": a row by index")
    eq([v["version"] for v in plain(location).versions()], list(range(1, 16)), "versions")
    ds = opened(client, ours)
    ds.delete("a = 20")
    opened(client, ours).optimize.compact_files()
    eq(opened(client, ours).count_rows(), 99, "rows after a delete and a compaction")
    stats = good(post("table", ours, "stats", {}))
    eq(stats["num_rows"], 99, "rows by stats")
    eq(stats["fragment_stats"]["num_fragments"], 1, "fragments by stats")
    return "versions 1 to %d" % opened(client, ours).version


# ------------------------------------------------------------------ clients that began before
def later_append(ds):
    import lance

    lance.write_dataset(rows(5, 1000), ds, mode="append")


STALE = [
    ("append", later_append),
    ("delete", lambda ds: ds.delete("a = 30")),
    ("update", lambda ds: ds.update({"b": "'w'"}, where="a = 31")),
    ("drop another column", lambda ds: ds.drop_columns(["v"])),
    ("schema metadata", lambda ds: ds.replace_schema_metadata({"z": "1"})),
    ("metadata of a field", lambda ds: ds.replace_field_metadata("b", {"z": "1"})),
    ("metadata of another field", lambda ds: ds.replace_field_metadata("a", {"z": "1"})),
    ("index", lambda ds: ds.create_scalar_index("maybe", "BTREE", name="maybe_idx", replace=False)),
    ("restore", lambda ds: restore(ds, 1)),
]
BEFORE = {"schema metadata": 0, "rename": 1, "field metadata": 2, "forbid null": 3, "drop": None, "restore": 7}


def outcome(fn, ds):
    try:
        fn(ds)
        return "ok"
    except Exception as e:  # noqa: BLE001
        text = str(e).lower()
        return "retry" if "retry" in text or "retryable" in text else "conflict" if "conflict" in text else "failed: %s" % text[:200]


def conflicts(client):
    """What a stale handle can still commit over the server's change is what it can over pylance's own."""
    changes = dict((c[0], c) for c in CHANGES)
    chosen = [changes[n] for n in ("schema metadata", "rename", "field metadata", "forbid null", "restore")]
    chosen.append(("drop", ("drop_columns", {"columns": ["l"]}), lambda ds: ds.drop_columns(["l"])))
    seen, wrong = {}, []
    bases = [table(client, "base%d" % i, "2.1", False)[0] for i in (0, 1)]
    first = [opened(client, b).version for b in bases]
    for what, (route, body), by_pylance in chosen:
        if what == "restore":
            body = {"version": 2}
        for name, late in STALE:
            got = []
            for base, version, ours in ((bases[0], first[0], True), (bases[1], first[1], False)):
                restore(opened(client, base), version)
                stale = opened(client, base)
                if ours:
                    good(post("table", base, route, body))
                elif what == "restore":
                    restore(opened(client, base), 2)
                else:
                    by_pylance(opened(client, base))
                got.append(outcome(late, stale))
                after = opened(client, base)
                after.to_table()
                got[-1] = (got[-1], after.count_rows(), metadata(after.schema), indices(after))
            seen.setdefault(got[0][0].split(":")[0], []).append(1)
            if got[0] != got[1]:
                wrong.append("%s, then a stale %s: %s here, %s by pylance" % (what, name, got[0], got[1]))
    eq(wrong, [], "differences")
    want(seen.get("ok"), "nothing could be committed late")
    want(set(seen) - {"ok"}, "everything could be committed late")
    return ", ".join("%d %s" % (len(v), k) for k, v in sorted(seen.items()))


def racing(client):
    """Changes by the server while clients append: every one of both is there once."""
    import lance

    oid, location = table(client, "race", "2.1", False)
    start, failed = opened(client, oid).version, []

    def appender(i):
        for j in range(4):
            for _ in range(50):
                try:
                    lance.write_dataset(rows(1, 1000 * (i + 1) + j), namespace_client=client, table_id=oid, mode="append",
                                        storage_options=STORAGE or None)
                    break
                except Exception as e:  # noqa: BLE001
                    if not any(w in str(e).lower() for w in ("concurrent", "conflict", "retry", "too many")):
                        failed.append(str(e))
                        return
            else:
                failed.append("gave up")

    def changer(i):
        done = 0
        while done < 4:
            r = post("table", oid, "update_field_metadata", {"updates": [{"path": "b", "metadata": {"m%d" % i: str(done)}}]})
            if r.status == 200:
                done += 1
            elif r.code != 14:
                failed.append("%r" % r)
                return

    threads = [threading.Thread(target=f, args=(i,)) for i in range(4) for f in (appender, changer)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    eq(failed, [], "failures")
    ds = opened(client, oid)
    eq(ds.version, start + 32, "version")
    eq(ds.count_rows(), 140 + 16, "rows")
    eq(ds.schema.field("b").metadata, {b"m%d" % i: b"3" for i in range(4)}, "metadata of the field")
    eq([v["version"] for v in plain(location).versions()], list(range(1, start + 33)), "versions")


def unmanaged(client):
    import lance

    oid, location = table(client, "own", "2.1", False, managed=False)
    r = good(post("table", oid, "drop_columns", {"columns": ["l"]}), "version", "transaction_id")
    eq((r["version"], plain(location).version), (6, 6), "version")
    eq(plain(location).read_transaction(6).uuid, r["transaction_id"], "transaction")
    stale = plain(location, None)
    good(post("table", oid, "alter_columns", {"alterations": [{"path": "a", "rename": "c"}]}))
    lance.write_dataset(rows(5, 1000).drop_columns(["l"]), stale, mode="append")
    eq(plain(location).version, 8, "version after an append over the change")
    eq(plain(location).schema.names[0], "c", "the name after it")
    good(post("table", oid, "restore", {"version": 5}))
    eq(plain(location).schema.names, rows(1).schema.names, "columns after a restore")
    eq(plain(location).count_rows(), 140, "rows after a restore")


def branch(client):
    oid, location = table(client, "branched", "2.1", False)
    ds = opened(client, oid)
    if not hasattr(ds, "create_branch"):
        raise Skip("these clients make no branches")
    ds.create_branch("side")
    start = plain(location).checkout_version(("side", None)).version
    r = good(post("table", oid, "drop_columns", {"columns": ["b"], "branch": "side"}), "version")
    eq(r["version"], start + 1, "version on the branch")
    side = plain(location).checkout_version(("side", None))
    want("b" not in side.schema.names, "the branch still has the column")
    eq(side.to_table().num_rows, 140, "rows of the branch")
    want("b" in opened(client, oid).schema.names, "main lost the column")
    good(post("table", oid, "restore", {"version": start, "branch": "side"}))
    eq(plain(location).checkout_version(("side", None)).to_table().num_rows, 140, "rows after a restore")
    r = good(post("transaction", oid + [r["transaction_id"]], "describe", {}))
    eq(r["properties"]["branch"], "side", "branch of the transaction")
    bad(post("table", oid, "restore", {"version": 1, "branch": "nowhere"}), 22, 404)
    r = post("table", oid, "schema_metadata/update", {"m": "1"}, query={"branch": "side"})
    eq(good(r), {"m": "1"}, "metadata")
    eq(plain(location).checkout_version(("side", None)).schema.metadata, {b"m": b"1"}, "metadata on the branch")
    eq(opened(client, oid).schema.metadata, None, "metadata on main")


def described(client):
    oid, _ = table(client, "told", "2.1", False)
    last = opened(client, oid).read_transaction(5)
    for name in (last.uuid, "5"):
        r = good(post("transaction", oid + [name], "describe", {}), "status", "properties")
        eq((r["status"], r["properties"]["operation"], r["properties"]["read_version"]), ("Succeeded", "Delete", "4"), "transaction")
        eq(r["properties"]["uuid"], last.uuid, "its id")
    set_it = {"actions": [{"setPropertyAction": {"key": "who", "value": "me"}}]}
    eq(good(post("transaction", oid + [last.uuid], "alter", set_it))["properties"]["who"], "me", "property")
    fail = {"actions": [{"setPropertyAction": {"key": "x", "value": "1"}}, {"setPropertyAction": {"key": "who", "value": "you", "mode": "Fail"}}]}
    bad(post("transaction", oid + ["5"], "alter", fail), 19, 409)
    r = good(post("transaction", oid + ["5"], "describe", {}))
    eq((r["properties"]["who"], r["properties"].get("x")), ("me", None), "properties after a failure")
    got = together(8, lambda i: post("transaction", oid + ["2"], "alter", {"actions": [{"setPropertyAction": {"key": "k%d" % i, "value": "v"}}]}))
    eq([r.status for r in got], [200] * 8, "8 at a time")
    r = good(post("transaction", oid + ["2"], "describe", {}))
    eq(sorted(k for k in r["properties"] if k.startswith("k")), ["k%d" % i for i in range(8)], "their properties")
    bad(post("transaction", oid + ["x"], "describe", {}), 10, 404)
    bad(post("transaction", SPACE + ["none", "1"], "describe", {}), 4, 404)


def refused(client):
    oid, _ = table(client, "refused", "2.1", False)
    bad(post("table", oid, "restore", {"version": 99}), 11, 404)
    bad(post("table", oid, "restore", {}), 13, 400)
    bad(post("table", oid, "drop_columns", {"columns": ["nope"]}), 12, 404)
    bad(post("table", oid, "drop_columns", {"columns": []}), 13, 400)
    bad(post("table", oid, "drop_columns", {"columns": rows(1).schema.names}), 13, 400)
    bad(post("table", oid, "alter_columns", {"alterations": [{"path": "maybe", "nullable": False}]}), 13, 400)
    bad(post("table", oid, "alter_columns", {"alterations": [{"path": "a", "rename": "b"}]}), 13, 400)
    bad(post("table", oid, "alter_columns", {"alterations": [{"path": "a", "data_type": {"type": "int32"}}]}), 0, 406)
    bad(post("table", oid, "update_field_metadata", {"updates": [{"path": "nope", "metadata": {}}]}), 12, 404)
    bad(post("table", oid, "schema_metadata/update", {"k": 1}), 13, 400)
    bad(post("table", oid, "add_columns", {"new_columns": [{"name": "n", "expression": "1"}]}), 0, 406)
    bad(post("table", SPACE + ["none"], "restore", {"version": 1}), 4, 404)
    eq(opened(client, oid).version, 5, "version after refusals")


def main():
    import lance
    import lance_namespace as ln

    run = Run("versions made by the server, pylance %s" % lance.__version__)
    ensure_parent()
    client = ln.connect("rest", dict(PROPS))
    run.step("a namespace of our own", lambda: client.create_namespace(ln.CreateNamespaceRequest(id=SPACE)) and None)
    for version in VERSIONS:
        for stable in (False, True):
            run.step("each change as pylance makes it, files %s%s" % (version, ", stable row ids" if stable else ""),
                     lambda v=version, s=stable: twins(client, v, s))
    run.step("late commits of stale clients succeed and fail as over pylance's own", lambda: conflicts(client))
    run.step("changes while clients append", lambda: racing(client))
    run.step("a table whose clients commit by themselves", lambda: unmanaged(client))
    run.step("a branch", lambda: branch(client))
    run.step("transactions are described and altered", lambda: described(client))
    run.step("what can't be done is refused, and changes nothing", lambda: refused(client))
    cleanup(SPACE)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A directory that the clients made by themselves is brought into the catalog, and read and written through it.

Both kinds: folders "<name>.lance" alone, and the dataset "__manifest" beside them. At the end the tables are read by
plain URI again, as before they were brought. Needs psql on the PATH and PGHOST, PGPORT, PGUSER, PGDATABASE of the served
database, and a server "lake" there. Settings: see README.md.
"""
import json
import os
import subprocess
import sys

import lance
import lance_namespace as ln
import lancedb
import pyarrow as pa
from lt import HEADERS, RUN_ID, URL, Run, cleanup, env, eq, storage_options

STORAGE = storage_options()
PROPS = {"uri": URL, **{"header." + k: v for k, v in HEADERS.items()}}
ODD = "x y$z"  # a table's name


def psql(text):
    return subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True).stdout.strip()


ROOT = psql("SELECT substr(o, 6) FROM pg_foreign_server, unnest(srvoptions) o WHERE srvname = 'lake' AND o ~ '^root='")


def data(n):
    return pa.table({"a": pa.array(range(n), pa.int64())})


def directory(name, **options):
    """The clients' own namespace over a folder below the root, and the folder."""
    where = "%s/%s%s" % (ROOT, name, RUN_ID)
    if where.startswith("file://"):
        os.makedirs(where[7:])
    return ln.connect("dir", {"root": where, **{"storage." + k: v for k, v in STORAGE.items()}, **options}), where


def write(client, table, n):
    lance.write_dataset(data(n), namespace_client=client, table_id=table, mode="create", storage_options=STORAGE or None)


def bring(folder, namespace, dry=False):
    text = psql("SELECT jsonb_agg(jsonb_build_array(id[2:], kind, action)) FROM lance_import_directory('lake', '%s', '%s', %s)"
                % (folder[len(ROOT) + 1:], namespace, dry))
    return sorted(json.loads(text or "[]"))


def rows(table, **props):
    client = ln.connect("rest", {**PROPS, **props})
    return lance.dataset(namespace_client=client, table_id=table, storage_options=STORAGE or None).count_rows()


def manifest_directory():
    client, folder = directory("made")
    space = "made" + RUN_ID
    client.create_namespace(ln.CreateNamespaceRequest(id=["ml"], properties={"owner": "me"}))
    client.create_namespace(ln.CreateNamespaceRequest(id=["ml", "deep"]))
    write(client, ["top"], 1)
    write(client, ["ml", "docs"], 2)
    write(client, ["ml", "deep", ODD], 3)
    client.declare_table(ln.DeclareTableRequest(id=["ml", "declared"]))
    psql("SELECT lance_create_namespace('%s')" % space)
    expected = sorted([[["ml"], "namespace", "create"], [["ml", "deep"], "namespace", "create"],
                       [["top"], "table", "register"], [["ml", "docs"], "table", "register"],
                       [["ml", "deep", ODD], "table", "register"], [["ml", "declared"], "table", "register"]])
    eq(bring(folder, space, dry=True), expected, "dry run")
    eq(bring(folder, space), expected, "run")
    eq({r[2] for r in bring(folder, space)}, {"exists"}, "second run")

    rest = ln.connect("rest", dict(PROPS))
    eq(rest.describe_namespace(ln.DescribeNamespaceRequest(id=[space, "ml"])).properties, {"owner": "me"}, "properties")
    eq(rows([space, "top"]), 1, "top")
    eq(rows([space, "ml", "docs"]), 2, "docs")
    eq(rows([space, "ml", "deep", ODD], delimiter="|"), 3, "odd name")
    lance.write_dataset(data(5), namespace_client=rest, table_id=[space, "ml", "docs"], mode="append",
                        storage_options=STORAGE or None)
    eq(rows([space, "ml", "docs"]), 7, "after an append")
    lance.write_dataset(data(4), namespace_client=rest, table_id=[space, "ml", "declared"], mode="append",
                        storage_options=STORAGE or None)
    eq(rows([space, "ml", "declared"]), 4, "the declared table")
    # Leaving again: the directory's own clients still read what the catalog committed.
    location = client.describe_table(ln.DescribeTableRequest(id=["ml", "docs"])).location
    eq(lance.dataset(location, storage_options=STORAGE or None).count_rows(), 7, "by plain URI")


def plain_directory():
    client, folder = directory("plain", manifest_enabled="false")
    space = "plain" + RUN_ID
    for i, name in enumerate(("one", "two", "three")):
        write(client, [name], i + 1)
    client.declare_table(ln.DeclareTableRequest(id=["declared"]))
    client.deregister_table(ln.DeregisterTableRequest(id=["two"]))
    psql("SELECT lance_create_namespace('%s')" % space)
    expected = sorted([[["one"], "table", "register"], [["three"], "table", "register"],
                       [["declared"], "table", "register"], [["two"], "table", "skip"]])
    eq(bring(folder, space, dry=True), expected, "dry run")
    eq(bring(folder, space), expected, "run")
    db = lancedb.connect_namespace("rest", dict(PROPS), storage_options=STORAGE or None)
    eq(sorted(db.list_tables(namespace_path=[space]).tables), ["declared", "one", "three"], "names")
    eq(db.open_table("three", namespace_path=[space], storage_options=STORAGE or None).count_rows(), 3, "rows")
    psql("SELECT lance_deregister_table('%s$one')" % space)
    eq(lance.dataset(folder + "/one.lance", storage_options=STORAGE or None).count_rows(), 1, "by plain URI")


def many():
    """Hundreds of tables come at once."""
    client, folder = directory("many")
    space = "many" + RUN_ID
    count = int(env("IMPORT", "200"))
    client.create_namespace(ln.CreateNamespaceRequest(id=["run"]))
    for i in range(3):
        client.declare_table(ln.DeclareTableRequest(id=["run", "t%d" % i]))
    for i in range(count):
        lance.write_dataset(data(1), "%s/p%d.lance" % (folder, i), storage_options=STORAGE or None)
    psql("SELECT lance_create_namespace('%s')" % space)
    got = bring(folder, space)
    eq(len(got), count + 4, "objects")
    eq({r[2] for r in got}, {"create", "register"}, "actions")
    eq(rows([space, "p%d" % (count - 1)]), 1, "rows of the last")


def main():
    run = Run("directories of tables are brought into the catalog")
    run.step("a directory with its own catalog", manifest_directory)
    run.step("a directory of plain folders", plain_directory)
    run.step("hundreds of tables at once", many)
    for name in ("made", "plain", "many"):
        cleanup([name + RUN_ID])
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

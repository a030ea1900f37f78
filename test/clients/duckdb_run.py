#!/usr/bin/env python3
"""DuckDB's Lance extension attaches namespaces of the catalog, reads, makes and changes tables in them.

Runs in a Python that has duckdb, duckdb-extension-lance of the same version, and pylance to look at the tables. What the
extension does not do, whatever the catalog answers, is a step too. Settings: see README.md.
"""
import glob
import os
import sys

from lt import (HEADERS, RUN_ID, URL, Run, call, cleanup, ensure_parent, eq, good, ns, path, post, raises, storage_options, want)

# The extension has no option for keys; the catalog tells it the endpoint.
os.environ.update({k.upper(): v for k, v in storage_options().items() if k.startswith("aws_")})

import duckdb  # noqa: E402
import duckdb_extension_lance  # noqa: E402
import lance  # noqa: E402
import lance_namespace as ln  # noqa: E402
import pyarrow as pa  # noqa: E402

SPACE = ns("duck" + RUN_ID)
ROOT_TABLE = "duck_" + RUN_ID
ROWS = {"a": [1, 2, 3], "s": ["x", None, "z"], "v": [[1.0, 2.0]] * 3}


def connect():
    where = os.path.join(os.path.dirname(duckdb_extension_lance.__file__), "extensions", "*", "lance.duckdb_extension")
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    con.execute("LOAD '%s'" % glob.glob(where)[0])
    return con


def attach(con, namespace, name):
    header = "".join(", HEADER '%s=%s'" % h for h in HEADERS.items())
    con.execute("ATTACH '%s' AS %s (TYPE lance, ENDPOINT '%s', DELIMITER '$'%s)" % (namespace, name, URL, header))


def main():
    run = Run("DuckDB " + duckdb.__version__)
    ensure_parent()
    client = ln.connect("rest", {"uri": URL, **{"header." + k: v for k, v in HEADERS.items()}})
    good(post("namespace", SPACE, "create"))
    good(post("namespace", SPACE + ["inner"], "create"))
    for table in ([ROOT_TABLE], SPACE + ["t"], SPACE + ["inner", "t"]):
        lance.write_dataset(pa.table(ROWS), namespace_client=client, table_id=table, storage_options=storage_options() or None)
    con = connect()

    def sql(text):
        return con.execute(text).fetchall()

    def of_pylance(table):
        ds = lance.dataset(namespace_client=client, table_id=table, storage_options=storage_options() or None)
        return sorted(map(tuple, (r.values() for r in ds.to_table().to_pylist())), key=str)

    def versions(table):
        return sorted(v["version"] for v in good(call("POST", path("table", table, "version/list"), {}))["versions"])

    def read(database, name):
        want((name,) in sql("SHOW TABLES FROM " + database), "the table is not listed")
        eq(sql("SELECT a, s FROM %s.main.%s ORDER BY a" % (database, name)), [(1, "x"), (2, None), (3, "z")], "rows")
        eq(sql("SELECT count(*), sum(a) FROM %s.main.%s WHERE s IS NOT NULL" % (database, name)), [(2, 4)], "aggregates")

    def write(database, table):
        name = "%s.main.%s" % (database, table[-1])
        sql("SHOW TABLES FROM " + database)  # without which the extension takes a new table to have no columns
        sql("CREATE TABLE %s (a BIGINT, s VARCHAR)" % name)
        sql("INSERT INTO %s VALUES (1, 'x'), (2, NULL)" % name)
        eq((versions(table), of_pylance(table)), ([1, 2], [(1, "x"), (2, None)]), "versions and rows after INSERT")
        sql("UPDATE %s SET s = 'y' WHERE a = 2" % name)
        sql("DELETE FROM %s WHERE a = 1" % name)
        sql("INSERT INTO %s VALUES (3, 'z')" % name)
        eq(sql("SELECT a, s FROM %s ORDER BY a" % name), [(2, "y"), (3, "z")], "rows")
        eq((versions(table), of_pylance(table)), ([1, 2, 3, 4, 5], [(2, "y"), (3, "z")]), "versions and rows after changes")
        raises(lambda: sql("CREATE TABLE %s (a BIGINT)" % name), "already exists")

    def root():
        attach(con, "$", "root")
        read("root", ROOT_TABLE)

    def spaces():
        for space, name in ((SPACE, "space"), (SPACE + ["inner"], "deep")):
            attach(con, "$".join(space), name)
            eq(sql("SHOW TABLES FROM " + name), [("t",)], "tables")
            read(name, "t")

    def root_writes():
        table = [ROOT_TABLE + "_made"]
        write("root", table)
        sql("DROP TABLE root.main." + table[0])
        eq(post("table", table, "exists").status, 404, "the table after DROP TABLE")

    def select_into(database, space, name):
        sql("SHOW TABLES FROM " + database)  # without which it writes no rows
        sql("CREATE TABLE %s.main.%s AS SELECT a FROM space.main.t WHERE a > 1" % (database, name))
        eq(of_pylance(space + [name]), [(2,), (3,)], "rows")
        attach(con, "$".join(space) or "$", database + "_again")
        eq(sql("SELECT a FROM %s_again.main.%s ORDER BY a" % (database, name)), [(2,), (3,)], "rows")

    def select_into_both():
        select_into("space", SPACE, "copied")
        try:
            select_into("root", [], ROOT_TABLE + "_copied")
        finally:
            call("POST", path("table", [ROOT_TABLE + "_copied"], "drop"))

    def drop():
        said = raises(lambda: sql("DROP TABLE space.main.t"), "Table not found")
        eq(post("table", SPACE + ["t"], "exists").status, 200, "the table")
        return said[:60]

    run.step("attach the root, list and read", root)
    run.step("attach two other namespaces, list and read", spaces)
    run.step("a table made and changed in the root, and dropped", root_writes)
    run.step("a table made and changed in a namespace", lambda: write("space", SPACE + ["made"]))
    run.step("a table made and changed in a namespace of a namespace", lambda: write("deep", SPACE + ["inner", "made"]))
    run.step("CREATE TABLE AS, seen once the namespace is attached again", select_into_both)
    run.step("DROP TABLE in a namespace: the extension asks to drop one of the root", drop)
    call("POST", path("table", [ROOT_TABLE], "drop"))
    cleanup(SPACE)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""DuckDB's Lance extension attaches the catalog, lists and reads tables.

Runs in a Python that has duckdb, duckdb-extension-lance of the same version, and pylance to write the tables. The extension takes the
names of a listing for whole ids, so that it opens the tables of the root only; of other namespaces it lists them.
Settings: see README.md.
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
    run = Run("DuckDB")
    ensure_parent()
    good(post("namespace", SPACE, "create"))
    client = ln.connect("rest", {"uri": URL, **{"header." + k: v for k, v in HEADERS.items()}})
    for table in ([ROOT_TABLE], SPACE + ["inner"]):
        lance.write_dataset(pa.table(ROWS), namespace_client=client, table_id=table, storage_options=storage_options() or None)
    con = connect()

    def root():
        attach(con, "$", "root")
        want((ROOT_TABLE,) in con.execute("SHOW TABLES FROM root").fetchall(), "the table is not listed")
        eq(con.execute("SELECT a, s FROM root.main.%s ORDER BY a" % ROOT_TABLE).fetchall(), [(1, "x"), (2, None), (3, "z")], "rows")
        eq(con.execute("SELECT count(*), sum(a) FROM root.main.%s WHERE s IS NOT NULL" % ROOT_TABLE).fetchall(), [(2, 4)], "aggregates")

    def inner():
        attach(con, "$".join(SPACE), "inner_space")
        eq(con.execute("SHOW TABLES FROM inner_space").fetchall(), [("inner",)], "tables")
        return raises(lambda: con.execute("SELECT * FROM inner_space.main.inner").fetchall(), "Table not found")[:60]

    run.step("attach the root, list and read", root)
    run.step("attach another namespace: the extension lists its tables, and asks for them without the namespace", inner)
    call("POST", path("table", [ROOT_TABLE], "drop"))
    cleanup(SPACE)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

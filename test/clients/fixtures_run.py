#!/usr/bin/env python3
"""Datasets of other writers in SQL: every version, tag and branch that index.json lists, as foreign tables.

Each is scanned whole and compared with the rows that its writer put in, counted, read column by column, by IS NULL,
again and again in a nested loop, by row id; the inspection functions and lance_inspect must agree. What is not read
is refused by name, damage is an error, and the same backend goes on. With an S3 server (LANCE_TEST_S3_ENDPOINT) the
datasets are uploaded to it first, then scanned and counted, with ids; the rest there is left to LANCE_TEST_LONG=1.
LANCE_FIXTURES is the folder of index.json, LANCE_INSPECT the program.
"""
import json
import os
import re
import struct
import subprocess
import sys
import zlib

from fixture_values import comparison, expression, parse, signs_of_zeros
from lt import RUN_ID, S3, Run, env, eq, want
from pg import Error, Session, literal, name

FOLDER = os.path.join(os.environ["LANCE_FIXTURES"], "data")
BUCKET = "lance-fixtures"  # of the base paths in the s3_* datasets
ROOT = "s3://" + BUCKET if S3["endpoint"] else "file://" + FOLDER
THOROUGH = not S3["endpoint"] or env("LONG") == "1"  # on a store that makes 120,000 requests
SERVER, SCHEMA, ROLE = "fixtures_" + RUN_ID, "fixtures_" + RUN_ID, "reader_" + RUN_ID
SYSTEM = ("_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version")
FLAGS = {"refuse_unknown_flag": "40", "refuse_overlay_flag": "6 (data overlay files)",
         "refuse_tree_flag": "12 (fragment tree)"}
PLAIN = {"integer": "int32", "bigint": "int64", "smallint": "int16", "text": "string", "double precision": "double",
         "real": "float", "boolean": "bool", "real[]": "list<item: float>", "text[]": "list<item: string>"}


def read_lines(file):
    with open(os.path.join(FOLDER, file)) as f:
        return [parse(line) for line in f]


def upload():
    """The folder's files as objects of a bucket of the same shape."""
    from pyarrow import fs

    store = fs.S3FileSystem(access_key=S3["key"], secret_key=S3["secret"], region=S3["region"], scheme="http",
                            endpoint_override=S3["endpoint"].split("//")[1], allow_bucket_creation=True)
    store.create_dir(BUCKET)
    names = [n for n in sorted(os.listdir(FOLDER)) if os.path.isdir(os.path.join(FOLDER, n))]
    for n in names:
        fs.copy_files(os.path.join(FOLDER, n), "%s/%s" % (BUCKET, n), source_filesystem=fs.LocalFileSystem(),
                      destination_filesystem=store)
    return "%d folders" % len(names)


def where(entry, suffix):
    """Version and branch (None: newest, main) that a suffix of expected rows means."""
    if suffix == "":
        before = any(s in entry["expected"] for s in ("@appended", "@compacted"))
        return (entry["version"] - 1 if before else None), None
    if suffix in ("@appended", "@compacted"):
        return None, None
    kind, value = re.fullmatch(r"@(v|branch=|tag=)(.+)", suffix).groups()
    if kind == "v":
        return int(value), None
    if kind == "branch=":
        return None, value.replace("%2F", "/")
    with open(os.path.join(FOLDER, entry["dataset"], "_refs", "tags", value + ".json")) as f:
        tag = json.load(f)
    return tag["version"], tag.get("branch")


class Place:
    """One version of a dataset, and the arguments that name it in SQL."""

    def __init__(self, dataset, version=None, branch=None):
        self.uri = "%s/%s" % (ROOT, dataset)
        self.version, self.branch = version, branch

    def attach(self, db, table, structs="jsonb"):
        db.rows("DROP FOREIGN TABLE IF EXISTS %s.%s" % (SCHEMA, table))
        db.value("SELECT lance_attach_dataset(%s, '%s', '%s', '%s'%s, structs => '%s')" % (
            literal(self.uri), SERVER, SCHEMA, table, self.options(), structs))
        return "%s.%s" % (SCHEMA, table)

    def options(self, version=True):
        return ("".join([", version => %d" % self.version if version and self.version else "",
                         ", branch => %s" % literal(self.branch) if self.branch else ""]))

    def look(self, db, what, columns="*", more=""):
        return db.rows("SELECT %s FROM lance_dataset_%s(%s, '%s'%s) %s" % (
            columns, what, literal(self.uri), SERVER, self.options(what != "versions"), more))

    def inspect(self, what):
        argv = [os.environ["LANCE_INSPECT"]] + (["-v", str(self.version)] if self.version and what != "versions" else [])
        keys = {"AWS_ACCESS_KEY_ID": S3["key"], "AWS_SECRET_ACCESS_KEY": S3["secret"], "AWS_REGION": S3["region"],
               "AWS_ENDPOINT_URL": S3["endpoint"]} if S3["endpoint"] else {}
        return subprocess.run(argv + (["-b", self.branch] if self.branch else []) + [what, self.uri], check=True,
                              stdout=subprocess.PIPE, text=True, env={**os.environ, **keys}).stdout


# ------------------------------------------------------------------ rows
def compare(label, got, expected, schema, kinds):
    """Every value of every row; kinds are the columns' types in SQL."""
    eq(len(got), len(expected), label + ": rows")
    for i, (column, arrow) in enumerate(schema.items()):
        same, zeros = comparison(arrow), "real" in kinds[i] or "double" in kinds[i]
        for n, row in enumerate(got):
            wanted, value = expected[n][column], row[i]
            if value is None or wanted is None:
                ok = value is wanted
            else:
                value = parse(value)
                ok = same(value, wanted) and (not zeros or signs_of_zeros(value) == signs_of_zeros(wanted))
            if not ok:
                raise AssertionError("%s: row %d, column %s (%s): got %.200r, want %.200r" % (
                    label, n, column, arrow, row[i], wanted))


def scan(db, table, schema):
    return db.rows("SELECT %s FROM %s" % (", ".join(expression(name(c), a) for c, a in schema.items()) or "NULL", table))


def columns_of(db, table):
    return dict(db.rows("SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
                        " WHERE attrelid = '%s'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum" % table))


def check_columns(db, table, kinds, expected):
    """Each column alone gives what the whole scan gave, and the NULLs are where they should be."""
    digest = "(SELECT concat_ws(' ', count(*), count({0}), md5(string_agg(coalesce({0}::text, '\\N'), ','))) FROM {1})"
    nulls = "(SELECT count(*) FROM {1} WHERE {0} IS {2})"
    parts = [part.format(name(c), *more) for c in kinds for part, more in (
        (digest, (table,)), (digest, ("whole",)), (nulls, (table, "NULL")), (nulls, (table, "NOT NULL")))]
    got = db.row("SELECT " + (", ".join(parts) or "NULL"))
    for i, column in enumerate(kinds):
        alone, whole, null, other = got[4 * i:4 * i + 4]
        eq(alone, whole, "column %s alone" % column)
        if expected is not None:
            eq(int(null), sum(row[column] is None for row in expected), "rows where %s IS NULL" % column)
            eq(int(null) + int(other), len(expected), "rows where %s IS NULL or IS NOT NULL" % column)


def check_rescan(db, table):
    """The inner side of a nested loop, read once and twice again, the second time given up early."""
    inner = "SELECT count(*) AS n, md5(string_agg(t::text, E'\\n')) AS all FROM %s AS t" % table
    again = "SELECT s.* FROM generate_series(1, 3) AS v(i), LATERAL (%s WHERE v.i > 0 OFFSET 0) AS s" % inner
    plan = [r[0] for r in db.rows("EXPLAIN (COSTS off) " + again)]
    want(any("Nested Loop" in p for p in plan) and not any("Materialize" in p or "Memoize" in p for p in plan),
         "no nested loop: %s" % plan)
    once = db.row(inner)
    eq(db.rows(again), [once] * 3, "three scans in a nested loop")
    early = db.rows("SELECT s.x FROM generate_series(1, 3) AS v(i),"
                    " LATERAL (SELECT t::text AS x FROM %s AS t WHERE v.i > 0 LIMIT 1) AS s" % table)
    eq(early, db.rows("SELECT t::text FROM %s AS t LIMIT 1" % table) * 3, "scans given up after a row")
    return int(once[0])


# ------------------------------------------------------------------ ids, inspection
def check_ids(db, place, table, entry, suffix, rows):
    """Row ids, addresses and versions: as the writer's client gave them, and in any case what the fragments say."""
    for c in SYSTEM:
        db.rows("ALTER FOREIGN TABLE %s ADD COLUMN %s bigint" % (table, c))
    got = [tuple(map(int, r)) for r in db.rows("SELECT %s FROM %s" % (", ".join(SYSTEM), table))]
    eq(len(got), rows, "rows with ids")
    known = next((f for f in (entry["name"] + suffix + s for s in (".rowids.jsonl", ".rowaddr.jsonl"))
                  if os.path.exists(os.path.join(FOLDER, f))), None)
    if known:
        facts = read_lines(known)
        keys = [k for k in facts[0] if k.startswith("_")]
        eq(db.rows("SELECT id, %s FROM %s ORDER BY _rowaddr" % (", ".join(keys), table)),
           [tuple(str(f[k]) for k in ["id"] + keys) for f in sorted(facts, key=lambda f: f["_rowaddr"])], "ids of " + known)
    addresses = [r[1] for r in got]
    at = 0
    for fragment, physical, deleted in place.look(db, "fragments", "fragment_id, physical_rows, deleted_rows"):
        mine = addresses[at:at + int(physical) - int(deleted)]
        at += len(mine)
        eq({a >> 32 for a in mine} | {int(fragment)}, {int(fragment)}, "fragments in the addresses")
        eq(mine, sorted(set(mine)), "addresses of fragment %s" % fragment)
        want(not mine or mine[-1] & 0xFFFFFFFF < int(physical), "an address beyond fragment %s" % fragment)
    eq(at, rows, "rows of the fragments")
    eq(len({r[0] for r in got}), rows, "different row ids")
    if "rowids" not in entry["name"] and "stable row ids" not in entry["covers"]:
        eq([r[0] for r in got], addresses, "row ids without stable ones")
    if THOROUGH and got:
        some = sorted({0, rows // 2, rows - 1})
        for column in (0, 1):
            eq(sorted(db.rows("SELECT _rowid, t::text FROM %s AS t WHERE %s = ANY ('{%s}')" % (
                table, SYSTEM[column], ",".join(str(got[i][column]) for i in some)))),
               sorted(db.row("SELECT _rowid, t::text FROM %s AS t OFFSET %d LIMIT 1" % (table, i)) for i in some),
               "rows by " + SYSTEM[column])
    return bool(known)


def check_inspection(db, place, kinds, rows):
    """What the functions tell of the dataset is what was read, and the program tells the same."""
    told = {what: place.look(db, what, columns) for what, columns in (
        ("versions", "version, extract(epoch FROM committed_at), operation, fragments, physical_rows, manifest_key, manifest_size, problem"),
        ("fragments", "fragment_id, array_to_string(files, ' '), bytes, physical_rows, deleted_rows, deletion_file"),
        ("columns", "array_to_string(path, '.'), type, field_id, CASE WHEN nullable THEN 'yes' ELSE 'no' END, extension"),
        ("pages", "*"))}
    for what, table in told.items():
        eq(["\t".join(v or "" for v in row) for row in table], place.inspect(what).split("\n")[1:-1], "lance_inspect " + what)
    fragments = {f[0]: (int(f[3]), int(f[4])) for f in told["fragments"]}
    physical = sum(f[0] for f in fragments.values())
    eq(physical - sum(f[1] for f in fragments.values()), rows, "rows of lance_dataset_fragments")
    number = str(place.version or max(int(v[0]) for v in told["versions"]))
    eq([v[3:5] for v in told["versions"] if v[0] == number], [(str(len(fragments)), str(physical))], "lance_dataset_versions")
    # Dots stand between the names of a path, and in some names.
    top = {c[0]: c for c in told["columns"] if c[0] in kinds}
    eq(list(top), list(kinds), "columns of lance_dataset_columns")
    plain = {c[2] for c in top.values() if re.fullmatch(r"u?int\d+|float|double|bool|string|binary|timestamp.*|date.*", c[1])}
    in_pages = {}
    for page in told["pages"]:
        if page[4] in plain:
            in_pages[page[0], page[4]] = in_pages.get((page[0], page[4]), 0) + int(page[7])
    for (fragment, field), n in in_pages.items():
        eq(n, fragments[fragment][0], "rows in the pages of field %s, fragment %s" % (field, fragment))


# ------------------------------------------------------------------ steps
def check_version(db, entry, suffix, file):
    """All of the above for one version; file: its expected rows, None where a summary stands for them."""
    place = Place(entry["dataset"], *where(entry, suffix))
    expected = read_lines(file) if file else None
    table = place.attach(db, "checked")
    kinds = columns_of(db, table)
    # Older versions and branches have columns of their own, all of them of plain types.
    schema = {c: entry["schema"].get(c) or PLAIN[k] for c, k in kinds.items()}
    eq(list(kinds), list(expected[0] if expected else entry["schema"]), "columns")
    got = scan(db, table, schema)
    if expected is not None:
        compare("scan", got, expected, schema, list(kinds.values()))
    else:
        check_summary(db, table, entry["name"])
    count = int(db.value("SELECT count(*) FROM %s" % table))
    eq(count, len(got), "count(*)")
    if "rows" in entry and not (place.version or place.branch):
        eq(count, entry["rows"], "rows in index.json")
    if THOROUGH:
        db.rows("DROP TABLE IF EXISTS whole")
        db.rows("CREATE TEMP TABLE whole AS SELECT * FROM %s" % table)
        check_columns(db, table, kinds, expected)
        eq(check_rescan(db, table), count, "rows in a nested loop")
        check_inspection(db, place, kinds, count)
    known = check_ids(db, place, table, entry, suffix, count)
    if THOROUGH and "jsonb" in kinds.values():
        table = place.attach(db, "composed", "composite")
        composed = columns_of(db, table)
        if composed != kinds:
            compare("composites", scan(db, table, schema), expected, schema, list(composed.values()))
        db.rows("DROP FOREIGN TABLE %s" % table)
        for (composite,) in db.rows("SELECT typname FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid WHERE relkind = 'c'"
                                    " AND typnamespace = '%s'::regnamespace" % SCHEMA):
            db.rows("DROP TYPE %s.%s CASCADE" % (SCHEMA, name(composite)))
    return "%d rows, %d columns%s" % (count, len(kinds), ", ids" if known else "")


def check_summary(db, table, fixture):
    """Where the rows would be many: sums, or the vectors of all rows byte by byte."""
    with open(os.path.join(FOLDER, fixture + ".summary.json")) as f:
        facts = json.load(f)
    eq(int(db.value("SELECT count(*) FROM %s" % table)), facts["rows"], "rows of the summary")
    if "sum_id" in facts:
        eq(int(db.value("SELECT sum(id) FROM %s" % table)), facts["sum_id"], "sum of id")
        for order, key in (("", "first"), ("DESC", "last")):
            rows = db.rows("SELECT id, g FROM %s ORDER BY id %s LIMIT 3" % (table, order))
            eq(sorted(rows), sorted((str(f["id"]), str(f["g"])) for f in facts[key]), "the %s rows" % key)
    else:
        crc = 0
        for (vector,) in db.rows("SELECT to_json(vec) FROM %s" % table):
            values = json.loads(vector)
            eq(len(values), facts["dim"], "dimension")
            crc = zlib.crc32(struct.pack("<%df" % len(values), *values), crc)
        eq(crc, facts["crc32_of_all_f32le"], "CRC-32 of all vectors")


def refused(db, sql, state, *words):
    """sql must fail with that SQLSTATE and say those words; the same backend goes on."""
    pid = db.pid
    try:
        db.rows(sql)
    except Error as e:
        want(e.state == state or e.state in state, "refused with %s" % e)
        for w in words:
            want(w in str(e), "%s is not named: %s" % (w, e))
    else:
        raise AssertionError("not refused: %s" % sql)
    eq(db.value("SELECT pg_backend_pid()"), str(pid), "backend")


def check_file_version(db, entry):
    """Files of a version that is not read: each column says so, what the manifest knows is there."""
    place = Place(entry["dataset"])
    version = "2.3" if "2.3" in entry["file_version"] else "0.1"
    table = place.attach(db, "checked")
    for column in columns_of(db, table):
        refused(db, "SELECT %s FROM %s" % (name(column), table), "0A000", version, ".lance")
    eq(int(db.value("SELECT count(*) FROM %s" % table)), entry["rows"], "count(*)")
    eq([c[0] for c in place.look(db, "columns", "path[1]", "WHERE cardinality(path) = 1")], list(entry["schema"]), "columns")
    refused(db, "SELECT lance_dataset_pages(%s, '%s')" % (literal(place.uri), SERVER), "0A000", version)
    return version


def check_flag(db, entry):
    place = Place(entry["dataset"])
    flag = FLAGS[entry["name"]]
    refused(db, "SELECT lance_attach_dataset(%s, '%s', '%s', 'refused')" % (literal(place.uri), SERVER, SCHEMA), "0A000", flag)
    for what in ("fragments", "columns", "pages"):
        refused(db, "SELECT lance_dataset_%s(%s, '%s')" % (what, literal(place.uri), SERVER), "0A000", flag)
    db.rows("CREATE FOREIGN TABLE %s.refused (id bigint) SERVER %s OPTIONS (uri %s)" % (SCHEMA, SERVER, literal(place.uri)))
    refused(db, "SELECT * FROM %s.refused" % SCHEMA, "0A000", flag)
    db.rows("DROP FOREIGN TABLE %s.refused" % SCHEMA)
    return flag


def check_damaged(db, dataset):
    """An error that names the file; flipped bytes may also give other values."""
    table = Place(dataset).attach(db, "checked")
    sql = "SELECT t::text FROM %s AS t" % table
    try:
        refused(db, sql, ("XX001", "0A000"), ".lance")
    except AssertionError as e:
        if "flip" not in dataset or "not refused" not in str(e):
            raise
        return "rows"


def leads_out(entry, suffix):
    """Whether data lie in base paths, which name a bucket."""
    return entry["name"].startswith("s3_") and (entry["name"] != "s3_branch" or suffix != "")


def check_denied(db, entry, suffix):
    """Base paths in a bucket lead out of a local root: closed to all but superusers, by name."""
    table = Place(entry["dataset"], *where(entry, suffix)).attach(db, "checked")
    db.rows("GRANT SELECT ON %s TO %s" % (table, ROLE))
    db.rows("SET ROLE %s" % ROLE)
    try:
        refused(db, "SELECT t::text FROM %s AS t" % table, "42501", "s3://%s/" % BUCKET)
    finally:
        db.rows("RESET ROLE")


def check_rights(db):
    """Each inspection function needs EXECUTE and USAGE on the server, and stays inside the server's root."""
    calls = ["SELECT count(*) FROM lance_dataset_%s(%%s, '%s')" % (what, SERVER) for what in ("versions", "fragments", "columns", "pages")]
    inside, outside = literal(ROOT + "/one_row.lance"), literal(ROOT.rstrip("/") + "x/one_row.lance")
    try:
        for grant, message in ((None, "permission denied for function"), ("SELECT lance_grant('%s', 'read')" % ROLE, "permission denied for"),
                               ("GRANT USAGE ON FOREIGN SERVER %s TO %s" % (SERVER, ROLE), None)):
            if grant:
                db.rows("RESET ROLE")
                db.rows(grant)
            db.rows("SET ROLE %s" % ROLE)
            for call in calls:
                if message:
                    refused(db, call % inside, "42501", message)
                else:
                    want(int(db.value(call % inside)) > 0, "nothing: " + call)
                    refused(db, call % outside, "42501")
    finally:
        db.rows("RESET ROLE")


def main():
    run = Run("fixtures in SQL, at %s" % ROOT.split("/")[0])
    db = Session()
    if S3["endpoint"] and not run.step("upload", upload):
        return run.finish()
    options = ", endpoint '%s', region '%s', allow_http 'true'" % (S3["endpoint"], S3["region"]) if S3["endpoint"] else ""
    db.rows("CREATE SERVER %s FOREIGN DATA WRAPPER lance_fdw OPTIONS (root '%s'%s)" % (SERVER, ROOT, options))
    if S3["endpoint"]:
        db.rows("CREATE USER MAPPING FOR PUBLIC SERVER %s OPTIONS (access_key_id %s, secret_access_key %s)" % (
            SERVER, literal(S3["key"]), literal(S3["secret"])))
    db.rows("CREATE SCHEMA %s; CREATE ROLE %s; GRANT USAGE ON SCHEMA %s TO %s" % (SCHEMA, ROLE, SCHEMA, ROLE))
    db.rows("SET timezone = 'UTC'; SET client_min_messages = warning; SET enable_material = off; SET enable_memoize = off")
    with open(os.path.join(os.environ["LANCE_FIXTURES"], "index.json")) as f:
        index = json.load(f)
    run.step("rights", lambda: check_rights(db))
    for entry in index:
        if entry["name"].startswith("refuse_"):
            run.step(entry["name"] + " is refused", lambda: check_flag(db, entry))
        elif entry["file_version"] in ("2.3", "0.1"):
            run.step(entry["name"] + " is refused", lambda: check_file_version(db, entry))
        else:
            for suffix, file in entry["expected"].items() or (("", None),):
                if not S3["endpoint"] and leads_out(entry, suffix):
                    run.step(entry["name"] + suffix + " is closed", lambda: check_denied(db, entry, suffix))
                else:
                    run.step(entry["name"] + suffix, lambda: check_version(db, entry, suffix, file))
        for companion in entry.get("companions", []):
            if companion.startswith("corrupt_"):
                run.step(companion, lambda: check_damaged(db, companion))
    db.rows("DROP SCHEMA %s CASCADE" % SCHEMA)
    db.rows("DROP OWNED BY %s; DROP ROLE %s; DROP SERVER %s CASCADE" % (ROLE, ROLE, SERVER))
    db.close()
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

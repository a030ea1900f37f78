#!/usr/bin/env python3
"""Keys that the server vends for one table open that table, in the measure of the caller's privilege, and nothing else.

The server's profile vends session keys (option vending 'sts') of a store that enforces session policies. Needs psql on the
PATH and PGHOST, PGPORT, PGUSER, PGDATABASE of the served database for a role that may only read. Settings: LANCE_TEST_URL and
the others of lt.py.
"""
import hashlib
import http.client
import json
import os
import subprocess
import sys
import time
import urllib.parse

import lance
import lance_namespace as ln
import pyarrow as pa

from lt import HEADERS, RUN_ID, URL, Run, Skip, call, cleanup, ensure_parent, env, eq, good, ns, path, raises, want

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
import sigv4  # noqa: E402

SPACE = ns("vend" + RUN_ID)
PROPS = {"uri": URL, **{"header." + k: v for k, v in HEADERS.items()}}
DATA = pa.table({"a": [1, 2, 3]})


def psql(text):
    return subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True).stdout.strip()


def options_of(table, headers=None):
    return good(call("POST", path("table", SPACE + [table], "describe"), {"vend_credentials": True}, headers=headers))["storage_options"]


def request(options, method, target, body=b"", more=None):
    """A request with vended keys, its path sent as it is; returns (status, body)."""
    host = urllib.parse.urlsplit(options["aws_endpoint"]).netloc
    headers = sigv4.sign(method, host, target, options["aws_access_key_id"], options["aws_secret_access_key"], options["aws_region"],
                         hashlib.sha256(body).hexdigest(), options["aws_session_token"], more=more)
    c = http.client.HTTPConnection(host, timeout=60)
    c.request(method, target, body or None, headers)
    r = c.getresponse()
    data = r.read()
    c.close()
    return r.status, data


def main():
    run = Run("vended keys, pylance %s" % lance.__version__)
    ensure_parent()
    client = ln.connect("rest", dict(PROPS))
    s = {}

    def begin():
        client.create_namespace(ln.CreateNamespaceRequest(id=SPACE))
        for name in ("t1", "t10", "t2"):
            good(call("POST", path("table", SPACE + [name], "declare"), {"location": "%s/%s" % (SPACE[-1], name)}))
            lance.write_dataset(DATA, namespace_client=client, table_id=SPACE + [name], mode="append")
            eq(lance.dataset(namespace_client=client, table_id=SPACE + [name]).count_rows(), 3, "rows of %s" % name)
        s["place"] = client.describe_table(ln.DescribeTableRequest(id=SPACE + ["t1"])).location[len("s3:/"):]
        s["folder"] = s["place"].rsplit("/", 1)[0]
        s["bucket"] = "/" + s["place"].split("/")[1]
        s["prefix"] = s["place"][len(s["bucket"]) + 1:]
        return s["place"]

    run.step("three tables are written and read with vended keys alone", begin)

    def spelling():
        o = options_of("t1")
        want(all(isinstance(v, str) for v in o.values()), "values that are no texts: %s" % sorted(o))
        eq(sorted(o), sorted(["aws_access_key_id", "aws_secret_access_key", "aws_session_token", "aws_endpoint", "aws_region",
                              "allow_http", "expires_at_millis", "refresh_offset_millis"]), "options")
        left = int(o["expires_at_millis"]) - time.time() * 1000
        want(0 < int(o["refresh_offset_millis"]) < left, "refresh %s of %d ms" % (o["refresh_offset_millis"], left))
        eq(options_of("t1"), {**o, "refresh_offset_millis": options_of("t1")["refresh_offset_millis"]}, "options, asked again")
        want("aws_session_token" not in good(call("POST", path("table", SPACE + ["t1"], "describe"),
                                                  {"vend_credentials": False}))["storage_options"], "keys that nobody wanted")

    run.step("the options are those that clients know", spelling)

    def files(options, table):
        """Keys of the table's objects, listed with the table's own keys."""
        status, body = request(options, "GET", "%s?%s" % (s["bucket"], urllib.parse.urlencode(
            {"list-type": "2", "prefix": s["prefix"].rsplit("/", 1)[0] + "/" + table + "/"}, quote_via=urllib.parse.quote)))
        eq(status, 200, "listing of " + table)
        return [k.split("</Key>")[0] for k in body.decode().split("<Key>")[1:]]

    def own():
        s["t1"], s["t10"] = options_of("t1"), options_of("t10")
        found = files(s["t1"], "t1")
        want(any("/data/" in k for k in found), "no data file in %s" % found)
        eq(request(s["t1"], "GET", s["bucket"] + "/" + found[0])[0], 200, "reading %s" % found[0])
        eq(request(s["t1"], "PUT", s["place"] + "/extra.bin", b"x")[0], 200, "writing")
        eq(request(s["t1"], "DELETE", s["place"] + "/extra.bin")[0], 204, "deleting")
        s["other"] = "/" + next(k for k in files(s["t10"], "t10") if "/data/" in k)

    run.step("they open their own table", own)

    def neighbours():
        other, o = s["bucket"] + s["other"], s["t1"]
        eq(request(s["t10"], "GET", other)[0], 200, "reading with the right keys")
        eq(request(o, "GET", other)[0], 403, "reading another table's file")
        eq(request(o, "HEAD", other)[0], 403, "looking for it")
        eq(request(o, "PUT", s["folder"] + "/t10/x", b"x")[0], 403, "writing to it")
        eq(request(o, "DELETE", other)[0], 403, "deleting it")
        eq(request(o, "PUT", s["place"] + "/copy", more={"x-amz-copy-source": other})[0], 403, "copying from it")
        eq(request(o, "GET", s["place"])[0], 403, "an object of the table's very name")

    run.step("a key for t1 does not open t10", neighbours)

    def ways_out():
        tail = s["other"].split("/t10/", 1)[1]
        for way in ("/../t10/", "/%2E%2E/t10/", "/x/../../t10/", "/..%2Ft10/", "//../t10/"):
            status, body = request(s["t1"], "GET", s["place"] + way + tail)
            want(status in (400, 403, 404), "%s answered %d with %d bytes" % (way, status, len(body)))

    run.step("nor does a path that leads out of it", ways_out)

    def listing():
        parent = s["prefix"].rsplit("/", 1)[0]
        for prefix in (None, "", parent, parent + "/", s["prefix"], s["prefix"] + "0/", s["prefix"] + "*"):
            query = {"list-type": "2", **({} if prefix is None else {"prefix": prefix})}
            status, _ = request(s["t1"], "GET", "%s?%s" % (s["bucket"], urllib.parse.urlencode(query, quote_via=urllib.parse.quote)))
            eq(status, 403, "listing with prefix %r" % prefix)
        eq(request(s["t1"], "GET", "/")[0], 403, "listing buckets")

    run.step("it lists its table, and neither the bucket nor a neighbour", listing)

    def reader():
        role = "reader_" + RUN_ID
        key = psql("CREATE ROLE %s; GRANT USAGE ON FOREIGN SERVER lake TO %s;"
                   "SELECT FROM lance_grant('%s', 'read', ARRAY[%s]);"
                   "SELECT api_key FROM lance_create_api_key('%s')" % (role, role, role, ",".join("'%s'" % p for p in SPACE + ["t1"]), role)
                   ).split("\n")[-1]
        o = options_of("t1", {"x-api-key": key})
        found = files(o, "t1")
        eq(request(o, "GET", s["bucket"] + "/" + found[0])[0], 200, "reading")
        eq(request(o, "PUT", s["place"] + "/extra.bin", b"x")[0], 403, "writing")
        eq(request(o, "DELETE", s["bucket"] + "/" + found[0])[0], 403, "deleting")
        c = ln.connect("rest", {"uri": URL, "header.x-api-key": key})
        eq(lance.dataset(namespace_client=c, table_id=SPACE + ["t1"]).count_rows(), 3, "rows")
        raises(lambda: lance.write_dataset(DATA, namespace_client=c, table_id=SPACE + ["t1"], mode="append"))
        psql("DROP OWNED BY %s; DROP ROLE %s" % (role, role))

    run.step("who may only read the table gets keys to read", reader)

    def life():
        for i in range(3):
            lance.write_dataset(DATA, namespace_client=client, table_id=SPACE + ["t2"], mode="append")
        ds = lance.dataset(namespace_client=client, table_id=SPACE + ["t2"])
        ds.delete("a = 1")
        ds.optimize.compact_files()
        ds.create_scalar_index("a", "BTREE")
        eq(lance.dataset(namespace_client=client, table_id=SPACE + ["t2"]).count_rows(), 8, "rows")
        ds = lance.write_dataset(DATA, namespace_client=client, table_id=SPACE + ["t2"], mode="overwrite")
        eq(psql("SELECT max(version) FROM lance_list_table_versions(ARRAY[%s])" % ",".join("'%s'" % p for p in SPACE + ["t2"])),
           str(ds.version), "newest version")

    run.step("they are enough for a table's life", life)

    def end():
        life = int(env("VENDS_MS", "0"))
        if not life:
            raise Skip("set LANCE_TEST_VENDS_MS to the lifetime the server vends, when it is short")
        time.sleep(life / 1000)
        eq(request(s["t1"], "GET", "%s?list-type=2&prefix=%s/" % (s["bucket"], urllib.parse.quote(s["prefix"], safe="")))[0], 400,
           "listing with keys that have ended")
        eq(len(files(options_of("t1"), "t1")) > 0, True, "files with newer keys")

    run.step("when their time is up they open nothing", end)
    cleanup(SPACE)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

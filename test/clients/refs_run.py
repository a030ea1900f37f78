#!/usr/bin/env python3
"""Tags and branches made by the catalog and by pylance are the same things, in the same files, for everybody.

Needs psql on the PATH and PGHOST, PGPORT, PGUSER, PGDATABASE of the served database for the foreign tables.
Settings: LANCE_TEST_URL and the others of lt.py.
"""
import datetime
import json
import re
import subprocess
import sys
import time

import lance
import lance_namespace as ln
import pyarrow as pa

from lt import (HEADERS, RUN_ID, URL, Run, about, bad, cleanup, ensure_parent, eq, fs_for, good, ns, path, post, call, raises,
                storage_options, together, want)

SPACE = ns("refs" + RUN_ID)
PROPS = {"uri": URL, **{"header." + k: v for k, v in HEADERS.items()}}
STORAGE = storage_options() or None


def rows(*values):
    return pa.table({"a": pa.array(values, pa.int64())})


def psql(text):
    return subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True).stdout.strip()


def main():
    run = Run("tags and branches, pylance %s" % lance.__version__)
    ensure_parent()
    client = ln.connect("rest", dict(PROPS))
    t = SPACE + ["t"]
    where = {}

    def through(**kw):
        return lance.dataset(namespace_client=client, table_id=t, storage_options=STORAGE, **kw)

    def plain(**kw):
        return lance.dataset(where["t"], storage_options=STORAGE, **kw)

    def values(ds):
        return sorted(ds.to_table()["a"].to_pylist())

    def tags():
        return {k: (v["version"], v.get("branch")) for k, v in good(call("POST", path("table", t, "tags/list")))["tags"].items()}

    def branches():
        return good(call("POST", path("table", t, "branches/list")))["branches"]

    def ref(key):
        fs, base = fs_for(where["t"])
        with fs.open_input_stream(base + "/_refs/" + key) as f:
            return f.read().decode()

    def listing(folder):
        from pyarrow.fs import FileSelector

        fs, base = fs_for(where["t"])
        return [f for f in fs.get_file_info(FileSelector(base + "/" + folder, recursive=True, allow_not_found=True)) if f.is_file]

    def create(route, **body):
        return good(post("table", t, route + "/create", body))

    def begin():
        client.create_namespace(ln.CreateNamespaceRequest(id=SPACE))
        for values_, mode in (((1, 2), "create"), ((3, 4), "append")):
            lance.write_dataset(rows(*values_), namespace_client=client, table_id=t, mode=mode, storage_options=STORAGE)
        where["t"] = client.describe_table(ln.DescribeTableRequest(id=t)).location
        ds = through()
        ds.create_scalar_index("a", "BTREE")
        ds.delete("a = 2")
        eq(through().version, 4, "version")

    run.step("a table of four versions, with an index and a deletion", begin)

    def same_tags():
        through().tags.create("theirs", 1)
        create("tags", tag="ours", version=2)
        eq(tags(), {"theirs": (1, None), "ours": (2, None)}, "tags over REST")
        for ds in (through(), plain()):
            eq({k: v["version"] for k, v in ds.tags.list().items()}, {"theirs": 1, "ours": 2}, "tags of the dataset")
        eq(values(through(version="ours")), [1, 2, 3, 4], "rows at our tag, through the catalog")
        eq(values(plain(version="ours")), [1, 2, 3, 4], "rows at our tag, by plain URI")
        eq(through().tags.get_version("ours"), 2, "version of our tag")

    run.step("tags of either side are seen by the other", same_tags)

    def same_bytes():
        create("tags", tag="same", version=1)

        def masked(key):
            return re.sub(r'"20[0-9T:.-]+Z"', "TIME", ref(key))

        eq(masked("tags/same.json"), masked("tags/theirs.json"), "the file of our tag")

    run.step("a tag's file is what pylance writes, byte for byte", same_bytes)

    def moved():
        good(post("table", t, "tags/update", {"tag": "theirs", "version": 3}))
        plain().tags.update("ours", 3)
        eq(tags(), {"theirs": (3, None), "ours": (3, None), "same": (1, None)}, "tags over REST")
        made = json.loads(ref("tags/theirs.json"))
        want(made["createdAt"] < made["updatedAt"], "a moved tag keeps the time it was made: %r" % made)
        good(post("table", t, "tags/delete", {"tag": "theirs"}))
        plain().tags.delete("ours")
        eq((tags(), set(plain().tags.list())), ({"same": (1, None)}, {"same"}), "what is left")
        raises(lambda: plain(version="theirs"))

    run.step("either side moves and deletes the other's", moved)

    def race():
        """The catalog and a client past it, again and again: one of them makes the tag."""
        for i in range(10):
            tag = "race%d" % i
            ds = plain()

            def one(who):
                if who:
                    return post("table", t, "tags/create", {"tag": tag, "version": 1}).code or "made"
                try:
                    ds.tags.create(tag, 2)
                    return "made"
                except Exception as e:  # noqa: BLE001
                    want("already exists" in str(e), str(e))
                    return 9

            got = together(2, one)
            # Older clients look first and then write over what came in between.
            want(sorted(map(str, got)) == ["9", "made"] or (lance.__version__ < "14" and got == ["made", "made"]), got)
            want(plain().tags.get_version(tag) in (1, 2), tag)
            good(post("table", t, "tags/delete", {"tag": tag}))

    run.step("the catalog and pylance make one tag at the same time", race)

    def protected():
        eq(good(post("table", t, "version/delete", {"ranges": [{"start_version": 0, "end_version": 3}]}))["deleted_count"], 1,
           "versions deleted")
        eq([v["version"] for v in good(call("POST", path("table", t, "version/list")))["versions"]], [1, 3, 4], "versions left")
        eq(values(plain(version="same")), [1, 2], "rows at the tag")

    run.step("a tagged version is not deleted", protected)

    def ours():
        create("branches", name="side")
        eq(branches()["side"]["parentVersion"], 4, "parentVersion")
        want("side" in plain().branches.list(), "pylance does not list it")
        for ds in (through(), plain()):
            b = ds.checkout_version(("side", None))
            eq((b.version, values(b)), (4, [1, 3, 4]), "the branch")
            eq([i["name"] for i in b.list_indices()], ["a_idx"], "its indices")
            eq(sorted(b.to_table(filter="a > 2")["a"].to_pylist()), [3, 4], "rows by the index")
        lance.write_dataset(rows(10), through().checkout_version(("side", None)), mode="append")
        lance.write_dataset(rows(11), plain().checkout_version(("side", None)), mode="append", storage_options=STORAGE)
        b = plain().checkout_version(("side", None))
        b.delete("a = 3")
        eq(values(through().checkout_version(("side", None))), [1, 4, 10, 11], "rows on the branch")
        eq(values(through()), [1, 3, 4], "rows on main")
        eq([v["version"] for v in good(call("POST", path("table", t, "version/list"), query={"branch": "side"}))["versions"]],
           [4, 5, 6, 7], "its versions")

    run.step("a branch of ours is read and written by pylance, through the catalog and by plain URI", ours)

    def files():
        plain().create_branch("twin", 4)

        def masked(key):
            return re.sub(r'"createAt": \d+', "TIME", re.sub(r'"[0-9a-f]{32}"', "UUID", ref(key)))

        eq(masked("branches/side.json"), masked("branches/twin.json"), "the file of our branch")

    run.step("a branch's file is what pylance writes, byte for byte", files)

    def nested():
        plain().checkout_version(("side", None)).create_branch("feat/theirs", ("side", None))
        create("branches", name="feat/ours", from_branch="feat/theirs")
        plain().checkout_version(("feat/ours", None)).create_branch("last", ("feat/ours", None))
        lance.write_dataset(rows(20), plain().checkout_version(("feat/ours", None)), mode="append", storage_options=STORAGE)
        eq(values(plain().checkout_version(("feat/ours", None))), [1, 4, 10, 11, 20], "rows of ours on theirs")
        eq(values(through().checkout_version(("last", None))), [1, 4, 10, 11], "rows of theirs on ours")
        ids = {k: v["branch_identifier"] for k, v in plain().branches.list().items()}
        for parent, child in (("side", "feat/theirs"), ("feat/theirs", "feat/ours"), ("feat/ours", "last")):
            eq(ids[child][:-1], ids[parent], "identity of %s" % child)
            eq(branches()[child]["parentBranch"], parent, "parent of %s" % child)

    run.step("branches on branches, made by turns", nested)

    def foreign():
        table = "$".join(t)
        schema = "refs" + RUN_ID
        psql("CREATE SCHEMA %s" % schema)
        try:
            create("tags", tag="on-ours", version=branches()["feat/ours"]["parentVersion"], branch="feat/ours")
            for name, extra, expected in (("b1", "branch => 'feat/ours'", "1,4,10,11,20"), ("b2", "branch => 'last'", "1,4,10,11"),
                                          ("t1", "tag => 'same'", "1,2"), ("t2", "tag => 'on-ours'", "1,4,10,11")):
                psql("SELECT lance_attach_table('%s', '%s', '%s', %s)" % (table, schema, name, extra))
                eq(psql("SELECT string_agg(a::text, ',' ORDER BY a) FROM %s.%s" % (schema, name)), expected, "foreign table at " + extra)
            eq(values(plain(version="on-ours")), [1, 4, 10, 11], "rows at a tag on a branch")
            eq(psql("SELECT string_agg(tag, ' ' ORDER BY tag) FROM lance.tags WHERE table_name = 't' AND namespace = '%s'"
                    % "$".join(SPACE)), "on-ours same", "the view of tags")
        finally:
            psql("SET client_min_messages = warning; DROP SCHEMA %s CASCADE" % schema)

    run.step("foreign tables at branches and tags read the same rows", foreign)

    def deleted():
        for name in ("side", "feat/theirs", "feat/ours"):
            about(name, bad, post("table", t, "branches/delete", {"name": name}), 13, 400)
        plain().branches.delete("last")
        about("tagged", bad, post("table", t, "branches/delete", {"name": "feat/ours"}), 13, 400)
        good(post("table", t, "tags/delete", {"tag": "on-ours"}))
        for name in ("feat/ours", "feat/theirs", "side", "twin"):
            good(post("table", t, "branches/delete", {"name": name}))
        eq((branches(), plain().branches.list()), ({}, {}), "branches")
        end = time.time() + 60
        while time.time() < end and listing("tree"):
            time.sleep(0.2)
        eq([f.path for f in listing("tree")], [], "files of branches")
        raises(lambda: plain().checkout_version(("side", None)))
        eq(values(through()), [1, 3, 4], "rows on main")

    run.step("branches go in turn, those that something stands on stay", deleted)

    def again():
        """Made again at once under the same name: the earlier one's files do not come back, nor do these go."""
        for i in range(5):
            create("branches", name="again")
            b = through().checkout_version(("again", None))
            lance.write_dataset(rows(100 + i), b, mode="append")
            eq(values(through().checkout_version(("again", None))), [1, 3, 4, 100 + i], "rows, time %d" % i)
            good(post("table", t, "branches/delete", {"name": "again"}))
        plain().create_branch("free")
        plain().branches.delete("free")
        create("branches", name="free")
        eq(values(plain().checkout_version(("free", None))), [1, 3, 4], "rows of a branch after pylance deleted one of that name")

    run.step("a branch's name can be used again", again)

    def survives():
        plain().cleanup_old_versions(older_than=datetime.timedelta(0), error_if_tagged_old_versions=False)
        eq(values(plain(version="same")), [1, 2], "rows at the tag")
        eq(values(through().checkout_version(("free", None))), [1, 3, 4], "rows on the branch")

    run.step("pylance's cleanup keeps what our tags and branches need", survives)

    def names():
        """What one side takes the other takes: a name that clients refuse would make a ref that nobody finds."""
        ds = plain()
        for name in ("v1", "V-1_2.3", "7", ".a", "a.", "a..b", "a.lock", "a/b", "a b", "", "a\\b", "a%2Fb", "x'; DROP TABLE t; --", "$$", "{0}"):
            try:
                ds.tags.create(name, 1)
                ds.tags.delete(name)
                theirs = True
            except Exception:  # noqa: BLE001
                theirs = False
            r = post("table", t, "tags/create", {"tag": name, "version": 1})
            eq(r.status == 200, theirs, "whether %r can be a tag" % name)
            if theirs:
                good(post("table", t, "tags/delete", {"tag": name}))
            else:
                bad(r, 13, 400)
        for name in ("b1", "a/b", "a.b/c-d_e", "mainx/y", "a//b", "/a", "a/", "a b", "a..b", "a.lock", "a\\b", "", "main"):
            try:
                ds.create_branch(name)
                ds.branches.delete(name)
                theirs = True
            except Exception:  # noqa: BLE001
                theirs = False
            r = post("table", t, "branches/create", {"name": name})
            eq(r.status == 200, theirs, "whether %r can be a branch" % name)
            if theirs:
                good(post("table", t, "branches/delete", {"name": name}))
            else:
                bad(r, 13, 400)

    run.step("names are taken and refused as pylance does", names)

    def old_letters():
        """A tag that pylance made with a letter beyond ASCII: pylance itself can't list it, the catalog can."""
        plain().tags.create("t\u00e4g", 1)
        eq(tags()["t\u00e4g"], (1, None), "the tag")
        eq(values(plain(version="t\u00e4g")), [1, 2], "rows at the tag")
        good(post("table", t, "tags/delete", {"tag": "t\u00e4g"}))
        plain().create_branch("zweig/\u00fc")
        want("zweig/\u00fc" in branches(), "the branch is not listed")
        good(post("table", t, "branches/delete", {"name": "zweig/\u00fc"}))
        eq(set(plain().branches.list()), {"free"}, "branches")

    run.step("letters beyond ASCII in names that are there", old_letters)
    cleanup(SPACE)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

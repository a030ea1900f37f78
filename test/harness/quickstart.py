"""Show the extension at work on this machine. Started by ./quickstart.

It installs what is missing, builds, starts a throwaway PostgreSQL 15 with the extension and its REST server, lets a
stock LanceDB client write a table and reads it in SQL. Each run starts from nothing: what an earlier one made is
removed first. Only missing Debian packages are installed on the machine; all else lies in one folder.
"""
import argparse
import concurrent.futures
import json
import os
import shlex
import shutil
import sys

from . import cluster as clusters
from . import machine, stores
from .cluster import Cluster
from .machine import ROOT, Failure, own, run, say

ROLE = "ml_writer"


def arguments():
    p = argparse.ArgumentParser(prog="./quickstart", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter, epilog="""environment:
  LANCE_CATALOG_STATE   the folder for all that is made; default ~/.local/state/lance_catalog, as root
                        /var/lib/lance_catalog
  LANCE_CATALOG_S3      "moto": use that S3 server even where versitygw is at hand
  PG_CONFIG             use this PostgreSQL 15 and install into it, in place of a private copy of the packaged one""")
    p.add_argument("command", nargs="?", default="start", choices=["start", "stop", "env"],
                   help="start (the default); stop: end the servers and remove their data; env: print the connection as "
                        "shell assignments")
    p.add_argument("--s3", action="store_true", help="keep the tables on a local S3 server: versitygw where Go can build "
                                                     "it, else moto")
    return p.parse_args()


class Place:
    """The folder of the quickstart and the note of what runs in it."""

    def __init__(self):
        self.home = os.path.join(machine.state_dir(), "quickstart")
        self.note = os.path.join(self.home, "running.json")

    def read(self):
        try:
            with open(self.note) as f:
                return json.load(f)
        except OSError:
            return None

    def write(self, what):
        with open(os.open(self.note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
            json.dump(what, f)

    def stop(self):
        """End what a run left, and remove its data. True if there was something."""
        told = self.read()
        if told:
            if told["store_pid"] and is_ours(told["store_pid"], told["store_name"]):
                machine.stop_group(told["store_pid"])
            Cluster(clusters.Server(told["pg_config"]), self.home, told["socket_dir"]).stop()
            shutil.rmtree(told["socket_dir"], ignore_errors=True)
        there = os.path.isdir(self.home)
        shutil.rmtree(self.home, ignore_errors=True)
        return there


def is_ours(pid, name):
    """Whether the process of that number still is the S3 server: numbers are used again."""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return name.encode() in f.read()
    except OSError:
        return False


def assignments(cluster, store):
    e = {"LANCE_TEST_URL": cluster.url, "LANCE_TEST_HEADERS": cluster.headers, **cluster.environment()}
    if store:
        e.update(store.environment())
        e.update(aws_environment(store))
    return e


def aws_environment(store):
    """What clients of object stores read when they are given no options; the catalog tells them the rest."""
    return {"AWS_ACCESS_KEY_ID": store.key, "AWS_SECRET_ACCESS_KEY": store.secret, "AWS_REGION": store.region,
            "AWS_ENDPOINT": store.endpoint, "AWS_ALLOW_HTTP": "true"}


def show_sql(cluster, name):
    """Run a file of SQL in psql, every statement printed before its result."""
    with open(os.path.join(ROOT, name)) as f:
        text = f.read()
    copy = os.path.join(cluster.home, os.path.basename(name))
    with open(copy, "w") as f:
        f.write(text)
    _, out = run([cluster.pg.program("psql"), "-X", "-e", "-v", "ON_ERROR_STOP=1", "-f", copy], server=True, cwd="/",
                 env=cluster.environment(), what="the SQL of %s failed" % name, todo="the server's log is %s" % cluster.log)
    return out


def start(place, use_s3):
    state = machine.state_dir()
    log = os.path.join(state, "quickstart.log")
    open(log, "w").close()
    machine.install_packages(("run",), log)
    place.stop()
    os.makedirs(place.home)
    pg = clusters.server(state)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        built = pool.submit(clusters.build, pg, log, os.cpu_count() or 2)
        client = pool.submit(machine.client_python, "new", os.path.join(state, "quickstart-client.log"))
        built.result()
        python = client.result()
    cluster, store = Cluster(pg, place.home), None
    told = {"pg_config": pg.pg_config, "store_pid": None, "store_name": None}
    try:
        if use_s3:
            store = stores.Store(os.path.join(place.home, "s3"), os.path.join(place.home, "s3.log"), python)
            told.update(store_pid=store.process.pid, store_name=store.name)
            root = "s3://%s/tables" % stores.BUCKET
            say("started %s on %s" % (store.name, store.endpoint))
        else:
            own(place.home)
            os.makedirs(os.path.join(place.home, "tables"))
            root = "file://" + own(os.path.join(place.home, "tables"))
        say("starting PostgreSQL with the extension")
        cluster.create({"lance_catalog.default_server": "lake"})
        told["socket_dir"] = cluster.socket_dir
        key = cluster.serve(root, ROLE, store)
        say("the REST server answers on %s" % cluster.url + (
            "" if cluster.rest_port == clusters.REST_PORT else "; port %d is taken" % clusters.REST_PORT))
        place.write({**told, "env": assignments(cluster, store)})
        say("a LanceDB client writes (examples/lancedb_docs.py)")
        demo = os.path.join(place.home, "lancedb_docs.py")
        shutil.copyfile(os.path.join(ROOT, "examples", "lancedb_docs.py"), demo)
        _, out = run([python, "-W", "ignore", demo], server=True, cwd=place.home,
                     env={**assignments(cluster, store), "HOME": place.home, "LANCE_LOG": "error", "LANCEDB_LOG": "error",
                          "RUST_LOG": "error"}, what="the LanceDB client failed",
                     todo="the server's log is %s" % cluster.log)
        print("\n" + "".join("    %s\n" % line for line in out.splitlines()))
        say("PostgreSQL reads (examples/docs.sql)")
        out = show_sql(cluster, "examples/docs.sql")
        print("\n" + "".join("    %s\n" % line for line in out.splitlines()), flush=True)
    except BaseException:
        # Leave nothing running that nobody knows of; the logs are copied where the message says.
        if os.path.exists(cluster.log):
            shutil.copyfile(cluster.log, log + ".postgresql")
        if store:
            store.stop()
        cluster.stop("immediate")
        if cluster.socket_dir:
            shutil.rmtree(cluster.socket_dir, ignore_errors=True)
        if os.path.exists(place.note):
            os.unlink(place.note)
        raise
    goodbye(cluster, store, key, python)


def goodbye(cluster, store, key, python):
    lead = "runuser -u %s -- " % machine.server_user() if machine.is_root() and not store else ""
    keys = ""
    if store:
        keys = "    import os\n    os.environ.update(%s)\n" % ",\n                      ".join(
            '%s="%s"' % i for i in aws_environment(store).items())
    print("""
It works. Go on with it:

REST server   %s
API key       %s   (role %s)
psql          %s -h %s -U postgres %s

Python        %s%s
%s    import lancedb
    db = lancedb.connect_namespace("rest", {"uri": "%s", "header.x-api-key": "%s"})
    docs = db.open_table("docs", namespace_path=["demo"])
    print(docs.to_arrow().to_pylist())

./quickstart env    prints the connection as shell assignments
./quickstart stop   ends the servers and removes their data
""" % (cluster.url, key, ROLE, cluster.pg.program("psql"), cluster.socket_dir, clusters.DATABASE, lead, python,
       keys, cluster.url, key), flush=True)
    if machine.is_root() and not store:
        print("Tables are local files of the user %s: clients run as that user too." % machine.server_user())


def main():
    a = arguments()
    place = Place()
    try:
        if a.command == "stop":
            print("stopped; what it made is removed" if place.stop() else "nothing is running")
        elif a.command == "env":
            told = place.read()
            if not told:
                raise Failure("nothing is running", "start it: ./quickstart")
            print("\n".join("export %s=%s" % (k, shlex.quote(v)) for k, v in told["env"].items()))
        else:
            start(place, a.s3)
    except Failure as e:
        text = "\n" + (e.log.rstrip("\n") + "\n\n" if e.log else "") + "It did not work: %s" % e.what
        print(text + ("\nWhat to do: %s" % e.todo if e.todo else ""), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The servers that bench/rest.py measures: each is started on a folder of its own and filled with tables.

A server has `label`, the head of its column in the results, and `parent`, the namespace that holds its tables.
"""
import glob
import hashlib
import http.client
import json
import os
import shutil
import sys
import time
import urllib.parse

from harness import cluster as clusters
from harness import machine
from harness.machine import Failure, own, run

HERE = os.path.dirname(os.path.abspath(__file__))
FILLED = "t%05d"  # the tables that are there before anything is measured
TICK = os.sysconf("SC_CLK_TCK")


def processes():
    """(pid, parent, session, ticks of the processor with those of ended children) of each."""
    for name in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(name) as f:
                words = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it ended meanwhile
        yield int(name.split("/")[2]), int(words[1]), int(words[3]), sum(map(int, words[11:15]))


class Server:
    """What all have in common: requests to http://127.0.0.1:port."""
    label, parent, headers = "", [], {}
    versions = True  # versions can be committed through it

    def __init__(self, home):
        self.home, self.port, self.process = home, None, None
        os.makedirs(home, exist_ok=True)
        own(home)

    def spawn(self, argv, what):
        self.log = self.home + ".log"
        self.process = machine.spawn(argv, self.log)
        machine.wait_port(self.port, self.process, self.log, what, seconds=60)

    def stop(self):
        if self.process:
            machine.stop_group(self.process.pid)

    def processes(self):
        return [p for p in processes() if p[2] == self.process.pid]

    def processor_seconds(self):
        return sum(ticks for _, _, _, ticks in self.processes()) / TICK

    # -------------------------------------------------------------- requests
    def target(self, kind, names, action, **query):
        path = "/v1/%s/%s/%s" % (kind, urllib.parse.quote("$".join(names) or "$", safe=""), action)
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def request(self, kind, names, action, body=None, method="POST", **query):
        """The bytes of a request, as the clients of the Lance namespace send them: the body repeats the id."""
        content = b"" if method == "GET" else json.dumps({"id": names, **(body or {})}).encode()
        head = ["%s %s HTTP/1.1" % (method, self.target(kind, names, action, **query)), "Host: 127.0.0.1:%d" % self.port,
                "Accept: */*"] + ["%s: %s" % h for h in self.headers.items()]
        if method == "POST":
            head += ["Content-Type: application/json", "Content-Length: %d" % len(content)]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + content

    def call(self, kind, names, action, body=None, method="POST", **query):
        """Send one request; returns the JSON of the answer, which must have status 200."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            c.request(method, self.target(kind, names, action, **query),
                      None if method == "GET" else json.dumps({"id": names, **(body or {})}),
                      {"Content-Type": "application/json", **self.headers})
            answer = c.getresponse()
            text = answer.read()
        finally:
            c.close()
        if answer.status != 200:
            raise Failure("%s answers %d to %s of %s: %s" % (self.label, answer.status, action, names, text[:300]))
        return json.loads(text) if text else None

    def client_properties(self):
        """Of a pylance client."""
        return {"uri": "http://127.0.0.1:%d" % self.port, **{"header." + k: v for k, v in self.headers.items()}}


class Catalog(Server):
    """This project's server, asked for the tables of the namespace "bench"."""
    label, parent = "lance_catalog", ["bench"]

    def __init__(self, home, settings):
        super().__init__(home)
        self.cluster = clusters.Cluster(clusters.server(machine.state_dir()), home)
        self.settings = settings

    def start(self, count):
        self.cluster.create({"lance_catalog.default_server": "lake", **self.settings}, rest_port=machine.free_port())
        self.port = self.cluster.rest_port
        root = os.path.join(self.home, "tables")
        os.makedirs(root)
        own(root)
        self.headers = {"x-api-key": self.cluster.serve(root, "bench")}
        self.cluster.sql("SELECT lance_create_namespace(ARRAY['bench'])")
        self.cluster.sql("SELECT count(lance_declare_table(parent || ('t' || to_char(i, 'FM00000')))) FROM"
                         " generate_series(0, %d) i, (VALUES (ARRAY['bench']), (ARRAY[]::text[])) p (parent)" % (count - 1))
        self.cluster.sql("VACUUM ANALYZE")
        self.cluster.sql("CHECKPOINT")
        with open(os.path.join(self.cluster.data, "postmaster.pid")) as f:
            self.postmaster = int(f.readline())

    def stop(self):
        self.cluster.stop()
        shutil.rmtree(self.cluster.socket_dir, ignore_errors=True)

    def processes(self):
        return [p for p in processes() if self.postmaster in p[:2]]

    def set_fsync(self, on):
        self.cluster.sql("ALTER SYSTEM SET fsync = %s" % ("on" if on else "off"))
        self.cluster.sql("SELECT pg_reload_conf()")

    def slow_namespace(self, name, port):
        """A namespace with a table "t" whose storage is an S3 server at that port."""
        self.cluster.sql("CREATE SERVER %s FOREIGN DATA WRAPPER lance_fdw OPTIONS (%s)" % (name, clusters.options_of(
            {"root": "s3://bucket/x", "endpoint": "http://127.0.0.1:%d" % port, "region": "r", "allow_http": "true"})))
        self.cluster.sql("CREATE USER MAPPING FOR PUBLIC SERVER %s OPTIONS (%s)" % (
            name, clusters.options_of({"access_key_id": "k", "secret_access_key": "s"})))
        self.cluster.sql("GRANT USAGE ON FOREIGN SERVER %s TO bench" % name)
        self.cluster.sql("SELECT lance_create_namespace(ARRAY['%s'], properties => '{\"server\": \"%s\"}')" % (name, name))
        return self.call("table", [name, "t"], "declare")["location"]


class AtRoot(Catalog):
    """The same server, asked for the tables of the root."""
    label, parent = "lance_catalog, root", []

    def __init__(self, catalog):
        self.catalog = catalog

    def start(self, count):
        self.port, self.headers, self.postmaster = self.catalog.port, self.catalog.headers, self.catalog.postmaster

    def stop(self):
        pass


class Adapter(Server):
    """pylance's REST adapter over a directory."""
    properties = {}

    def start_process(self):
        self.port = machine.free_port()
        self.spawn([sys.executable, os.path.join(HERE, "rest_adapter.py"), str(self.port),
                    json.dumps({"root": os.path.join(self.home, "tables"), **self.properties})], "the REST adapter")

    def make_root(self):
        os.mkdir(os.path.join(self.home, "tables"))
        own(os.path.join(self.home, "tables"))

    def reserve(self, directory):
        """A directory as a declared table leaves it."""
        path = os.path.join(self.home, "tables", directory)
        os.mkdir(path)
        own(path)
        with open(os.path.join(path, ".lance-reserved"), "w"):
            pass
        own(os.path.join(path, ".lance-reserved"))


class PlainAdapter(Adapter):
    label, parent, versions = "adapter, plain directories", [], False
    properties = {"manifest_enabled": "false", "dir_listing_enabled": "true"}

    def start(self, count):
        self.make_root()
        for i in range(count):
            self.reserve(FILLED % i + ".lance")
        self.start_process()


class ManifestAdapter(Adapter):
    label, parent = "adapter, manifest table", ["bench"]
    properties = {"manifest_enabled": "true", "dir_listing_enabled": "false", "table_version_tracking_enabled": "true"}

    def start(self, count):
        """Declaring them all takes minutes: the adapter makes one, and its row is repeated."""
        import lance
        import pyarrow as pa

        self.make_root()
        self.start_process()
        self.call("namespace", ["bench"], "create")
        self.call("table", ["bench", FILLED % 0], "declare")
        self.stop()
        manifest = os.path.join(self.home, "tables", "__manifest")
        rows = lance.dataset(manifest).to_table()
        one = [r for r in rows.to_pylist() if r["object_type"] == "table"][0]
        more = []
        for i in range(1, count):
            name = "bench$" + FILLED % i
            place = "%s_%s" % (hashlib.sha256(name.encode()).hexdigest()[:8], name)
            self.reserve(place)
            more.append({**one, "object_id": name, "location": place})
        if more:
            lance.write_dataset(pa.Table.from_pylist(more, rows.schema), manifest, mode="append")
        if machine.is_root():
            run(["chown", "-R", machine.server_user(), manifest])
        self.start_process()


class SeaweedFS(Server):
    """The Lance namespace server of SeaweedFS, with all that it needs in one process."""
    label, parent, versions = "SeaweedFS", ["bench", "tables"], False

    def __init__(self, home, program):
        super().__init__(home)
        self.program = program

    def start(self, count):
        ports = []
        while len(ports) < 6:
            port = machine.free_port()
            if port < 50000 and port not in ports:  # each service has a second one, 10000 higher
                ports.append(port)
        self.port = ports.pop()
        self.spawn([self.program, "mini", "-dir=" + self.home, "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
                    "-s3.port.lance=%d" % self.port, "-s3.port.iceberg=0", "-webdav=false", "-admin.ui=false",
                    "-master.telemetry=false", "-tableBucket=bench:LANCE"] +
                   ["-%s.port=%d" % p for p in zip(("master", "filer", "volume", "s3", "admin"), ports)], "SeaweedFS")
        for _ in range(60):
            time.sleep(0.5)  # the bucket comes a little later
            try:
                return self.call("namespace", self.parent, "create")
            except Failure as e:
                failure = e
        raise failure

    def fill(self, count, load):
        load.run(self, 8, 600, [self.request("table", self.parent + [FILLED % i], "declare") for i in range(count)], once=True)

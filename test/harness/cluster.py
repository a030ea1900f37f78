"""Throwaway PostgreSQL clusters with the extension preloaded.

Unless PG_CONFIG names a server, a private copy of the packaged one is used: PostgreSQL finds its folders relative to
its programs, so the copy takes `make install` without touching the system and without being root.
"""
import json
import os
import shutil
import tempfile
import time

from . import machine
from .machine import Failure, Working, own, run, say

PACKAGED = "/usr/lib/postgresql/15/bin/pg_config"
DATABASE = "lake"
REST_PORT = 2333  # the default; another one where this is taken


class Server:
    """The installed programs."""

    def __init__(self, pg_config):
        self.pg_config = pg_config
        status, text = run([pg_config, "--version", "--bindir"], check=False)
        if status:
            raise Failure("%s does not run" % pg_config, "set PG_CONFIG to the pg_config of PostgreSQL 15", text)
        run_dir = os.path.dirname(os.path.abspath(pg_config))
        self.bindir = run_dir if os.path.exists(os.path.join(run_dir, "postgres")) else self.ask("--bindir")
        if " 15" not in text.splitlines()[0]:
            raise Failure("%s is of %s" % (pg_config, text.splitlines()[0]), "PostgreSQL 15 is needed")

    def ask(self, what):
        return run([self.pg_config, what])[1].strip()

    def program(self, name):
        return os.path.join(self.bindir, name)

    def perl(self):
        """Folder of the module PostgreSQL::Test."""
        return os.path.join(os.path.dirname(self.ask("--pgxs")), "..", "test", "perl")

    def regress_program(self, isolation=False):
        top = os.path.join(os.path.dirname(self.ask("--pgxs")), "..", "test")
        return os.path.join(top, *(["isolation", "pg_isolation_regress"] if isolation else ["regress", "pg_regress"]))


def server(home):
    """The server of PG_CONFIG, or a private copy of the packaged one under `home`."""
    if os.environ.get("PG_CONFIG"):
        return Server(os.environ["PG_CONFIG"])
    if not os.path.exists(PACKAGED):
        raise Failure("PostgreSQL 15 is not at %s" % os.path.dirname(PACKAGED),
                      "install postgresql-15 and postgresql-server-dev-15, or set PG_CONFIG")
    if len(home.split()) != 1:
        raise Failure("the folder \"%s\" has a blank in its name, and make cannot use a PostgreSQL there" % home,
                      "set LANCE_CATALOG_STATE to a folder without one")
    if machine.is_root() and run(["test", "-x", home], server=True, cwd="/", check=False)[0]:
        raise Failure("the user %s cannot enter %s, and PostgreSQL does not run as root" % (machine.server_user(), home),
                      "set LANCE_CATALOG_STATE to a folder that every user can enter, such as /var/lib/lance_catalog")
    copy = os.path.join(home, "pg")
    version = run([PACKAGED, "--version"])[1].strip()
    stamp = os.path.join(copy, "version")
    if not (os.path.exists(stamp) and open(stamp).read() == version):
        say("copying %s to a folder of its own" % version)
        shutil.rmtree(copy, ignore_errors=True)
        for part in ("lib/postgresql/15", "share/postgresql/15"):
            # Links are followed: some of the packaged ones are relative and would lead nowhere from the copy.
            shutil.copytree(os.path.join("/usr", part), os.path.join(copy, part), ignore_dangling_symlinks=True)
        os.makedirs(os.path.join(copy, "include"))
        os.symlink("/usr/include/postgresql", os.path.join(copy, "include", "postgresql"))
        with open(stamp, "w") as f:
            f.write(version)
    return Server(os.path.join(copy, "lib/postgresql/15/bin/pg_config"))


def build(pg, log, jobs):
    """Build the extension and install it for that server."""
    make = ["make", "-j%d" % jobs, "PG_CONFIG=" + pg.pg_config]
    with Working("building the extension"):
        run(make, log=log, what="the build failed", todo="the whole output is in %s" % log)
    where = pg.ask("--pkglibdir")
    if not os.access(where, os.W_OK):
        raise Failure("%s is not writable" % where, "run as root, or leave PG_CONFIG unset to use a private copy")
    run(make + ["install"], log=log, what="make install failed", todo="the whole output is in %s" % log)


def build_inspect(pg, home, log):
    """Build lance_inspect; returns a copy of it that the servers' user can run."""
    run(["make", "inspect", "PG_CONFIG=" + pg.pg_config], log=log, what="lance_inspect does not build",
        todo="the whole output is in %s" % log)
    return shutil.copy(os.path.join(machine.ROOT, "build", "lance_inspect"), home)


def options_of(options):
    return ", ".join("%s '%s'" % (k, v.replace("'", "''")) for k, v in options.items())


class Cluster:
    """One cluster: its data under `home`, reachable through a Unix socket only; REST on 127.0.0.1."""

    def __init__(self, pg, home, socket_dir=None):
        self.pg, self.home = pg, home
        self.data, self.log = os.path.join(home, "cluster"), os.path.join(home, "postgresql.log")
        self.port = 5432  # part of the socket's name, no TCP port
        self.socket_dir = socket_dir
        self.rest_port = None
        self.headers = "{}"  # of requests, as JSON

    def create(self, settings, rest_port=REST_PORT):
        """initdb, start, and a database with the extension. settings: further lines of postgresql.conf."""
        os.makedirs(self.home, exist_ok=True)
        own(self.home)
        run([self.pg.program("initdb"), "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
             "--locale=C.UTF-8", "--no-sync"], server=True, cwd="/", what="initdb failed",
            todo="is %s on a full or read-only disk?" % self.home)
        if not self.socket_dir:
            # Not under home: the path of a Unix socket has at most 107 bytes.
            self.socket_dir = own(tempfile.mkdtemp(prefix="lance-"))
        self.rest_port = machine.free_port(rest_port)
        lines = {"listen_addresses": "", "unix_socket_directories": self.socket_dir, "port": self.port,
                 "shared_preload_libraries": "lance_catalog", "max_connections": 60, "max_worker_processes": 24,
                 "lance_catalog.rest_database": DATABASE, "lance_catalog.rest_port": self.rest_port,
                 "lance_catalog.rest_listen_addresses": "127.0.0.1", "logging_collector": "off",
                 "log_line_prefix": "%m [%p] %b ", **settings}
        conf = os.path.join(self.data, "postgresql.auto.conf")
        text = "".join("%s = '%s'\n" % (k, str(v).replace("'", "''")) for k, v in lines.items())
        with open(conf, "w") as f:
            f.write(text)
        own(conf)
        # The database comes first: REST workers that find none wait a while before they look again.
        self.start("-c shared_preload_libraries=")
        self.sql("CREATE DATABASE %s" % DATABASE, "postgres")
        self.sql("CREATE EXTENSION lance_catalog")
        self.stop()
        self.start()

    def serve(self, root, role, store=None):
        """A storage profile "lake" at root, a role that may use it and its API key; returns the key."""
        options = {"root": root}
        if store:
            options.update(endpoint=store.endpoint, region=store.region, allow_http="true", **store.profile)
        self.sql("CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (%s)" % options_of(options))
        if store:
            self.sql("CREATE USER MAPPING FOR PUBLIC SERVER lake OPTIONS (%s)" % options_of(
                {"access_key_id": store.key, "secret_access_key": store.secret}))
        self.sql("CREATE ROLE %s LOGIN; GRANT USAGE ON FOREIGN SERVER lake TO %s" % (role, role))
        self.sql("SELECT lance_grant('%s', 'admin')" % role)
        self.key = self.sql("SELECT api_key FROM lance_create_api_key('%s')" % role)
        self.headers = json.dumps({"x-api-key": self.key})
        self.wait_rest()
        return self.key

    def start(self, options=""):
        if not os.path.exists(self.log):
            open(self.log, "a").close()
            own(self.log)
        run([self.pg.program("pg_ctl"), "-D", self.data, "-l", self.log, "-w", "-t", "60", "-o", options, "start"],
            server=True, cwd="/", log=self.log + ".start", check=False)
        if not self.running():
            raise Failure("the PostgreSQL cluster did not start", "its log is %s" % self.log, machine.tail(self.log))

    def running(self):
        return run([self.pg.program("pg_ctl"), "-D", self.data, "status"], server=True, cwd="/", check=False)[0] == 0

    def stop(self, mode="fast"):
        if os.path.exists(self.data) and self.running():
            run([self.pg.program("pg_ctl"), "-D", self.data, "-m", mode, "-w", "-t", "60", "stop"], server=True,
                cwd="/", what="the cluster in %s did not stop" % self.data, todo="see %s" % self.log)

    def remove(self):
        self.stop("immediate")
        shutil.rmtree(self.home, ignore_errors=True)
        if self.socket_dir:
            shutil.rmtree(self.socket_dir, ignore_errors=True)

    def environment(self, database=DATABASE):
        return {"PGHOST": self.socket_dir, "PGPORT": str(self.port), "PGUSER": "postgres", "PGDATABASE": database}

    def sql(self, text, database=DATABASE, quiet=True):
        """Run SQL in psql and return what it prints; unaligned without headers when quiet."""
        argv = [self.pg.program("psql"), "-X", "-v", "ON_ERROR_STOP=1"] + (["-Atq"] if quiet else [])
        status, out = run(argv + ["-c", text], server=True, cwd="/", env=self.environment(database), check=False)
        if status:
            raise Failure("psql failed on: %s" % text.split("\n")[0][:100], "the server's log is %s" % self.log, out)
        return out.rstrip("\n")

    # -------------------------------------------------------------- REST
    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.rest_port

    def wait_rest(self, seconds=30):
        """Wait until the REST server answers at all."""
        import http.client

        end, last = time.time() + seconds, None
        while time.time() < end:
            c = http.client.HTTPConnection("127.0.0.1", self.rest_port, timeout=5)
            try:
                c.request("GET", "/v1/table")
                status = c.getresponse().status
                if status < 500:
                    return
                last = "status %d" % status
            except OSError as e:
                last = str(e)
            finally:
                c.close()
            time.sleep(0.1)
        raise Failure("the REST server on %s does not answer (%s)" % (self.url, last),
                      "the server's log is %s" % self.log, machine.tail(self.log))

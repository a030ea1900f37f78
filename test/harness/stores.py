"""Local S3 servers: versitygw, which checks signatures, where it is at hand or Go can build it; else moto."""
import os
import re
import secrets
import shutil

from . import machine
from .machine import Failure, Working, own, run, spawn, stop_group, wait_port

VERSITYGW = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
MOTO = ["moto[server]==5.2.5"]
BUCKET = "lance"
REGION = "us-east-1"


MINIO = "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c"


def find_program(name, module, log, build):
    """The path of a program of Go; None when it is not there and Go >= 1.24 is not either."""
    kept = os.path.join(machine.state_dir(), "bin", name)
    found = shutil.which(name) or (kept if os.path.exists(kept) else None)
    if found or not build:
        return found
    status, text = run(["go", "version"], check=False)
    m = re.search(r"go(\d+)\.(\d+)", text)
    if status or not m or (int(m[1]), int(m[2])) < (1, 24):
        return None
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    with Working("building %s with Go" % name):
        status, _ = run(["go", "install", module], log=log, check=False, env={"GOBIN": os.path.dirname(kept)})
    return kept if status == 0 else None


def find_versitygw(log, build):
    """The path of versitygw; None when it is not there and Go >= 1.24 is not either, or moto is asked for."""
    if os.environ.get("LANCE_CATALOG_S3") == "moto":
        return None
    return find_program("versitygw", VERSITYGW, log, build)


def make_bucket(store, python):
    run([python, "-c", "import os\nfrom pyarrow import fs\n"
         "fs.S3FileSystem(access_key=os.environ['KEY'], secret_key=os.environ['SECRET'],"
         " region='%s', endpoint_override='127.0.0.1:%d', scheme='http',"
         " allow_bucket_creation=True).create_dir('%s')" % (REGION, store.port, BUCKET)],
        env={"KEY": store.key, "SECRET": store.secret}, log=store.log,
        what="no bucket could be made on %s" % store.name, todo="its log is %s" % store.log)


class Store:
    """A running S3 server with one empty bucket and keys made for this run."""

    profile = {}  # further options of the foreign server for it

    def __init__(self, home, log, python, build=True):
        """home: an empty folder for its files; python: one with pyarrow, to make the bucket."""
        self.key, self.secret = "AK" + secrets.token_hex(9).upper(), secrets.token_urlsafe(30)
        self.port = machine.free_port()
        self.endpoint = "http://127.0.0.1:%d" % self.port
        self.region, self.log = REGION, log
        program = find_versitygw(log, build)
        self.checks_signatures = program is not None
        os.makedirs(home, exist_ok=True)
        own(home)
        if program:
            self.name = "versitygw"
            argv = [program, "--port", "127.0.0.1:%d" % self.port, "posix", home]
            env = {"ROOT_ACCESS_KEY": self.key, "ROOT_SECRET_KEY": self.secret}
        else:
            self.name = "moto"
            moto = os.path.join(os.path.dirname(machine.venv("moto", MOTO, log)), "moto_server")
            argv, env = [moto, "-H", "127.0.0.1", "-p", str(self.port)], {}
        self.process = spawn(argv, log, env={**env, "HOME": home})
        try:
            wait_port(self.port, self.process, log, self.name)
            make_bucket(self, python)
        except Failure:
            self.stop()
            raise

    def environment(self):
        """The variables that the client scripts read."""
        e = {"LANCE_TEST_S3_ENDPOINT": self.endpoint, "LANCE_TEST_S3_KEY": self.key,
             "LANCE_TEST_S3_SECRET": self.secret, "LANCE_TEST_S3_REGION": REGION}
        if not self.checks_signatures:
            e["LANCE_TEST_S3_ANY_KEYS"] = "1"
        return e

    def stop(self):
        stop_group(self.process.pid)


class Minio(Store):
    """MinIO, which has a token service and enforces session policies."""

    profile = {"vending": "sts"}
    checks_signatures = True
    name = "minio"

    def __init__(self, home, log, python, program):
        self.key, self.secret = "AK" + secrets.token_hex(9).upper(), secrets.token_urlsafe(30)
        self.port = machine.free_port()
        self.endpoint = "http://127.0.0.1:%d" % self.port
        self.region, self.log = REGION, log
        os.makedirs(home, exist_ok=True)
        own(home)
        self.process = spawn([program, "server", home, "--address", "127.0.0.1:%d" % self.port, "--console-address", "127.0.0.1:0"],
                             log, env={"MINIO_ROOT_USER": self.key, "MINIO_ROOT_PASSWORD": self.secret, "HOME": home})
        try:
            wait_port(self.port, self.process, log, self.name)
            make_bucket(self, python)
        except Failure:
            self.stop()
            raise


class Expiring(Store):
    """A store whose keys expire after some seconds: a token service and a proxy in front of another store (expiring.py)."""

    profile = {"vending": "sts", "credentials": "sts"}
    checks_signatures = True
    name = "expiring keys"

    def __init__(self, behind, log, script, seconds):
        self.key, self.secret, self.region, self.log = behind.key, behind.secret, behind.region, log
        self.behind, self.seconds = behind, seconds
        self.port = machine.free_port()
        self.endpoint = "http://127.0.0.1:%d" % self.port
        self.process = spawn([machine.system_python(), script, str(self.port), behind.endpoint, behind.region, str(seconds)], log,
                             env={"KEY": self.key, "SECRET": self.secret})
        try:
            wait_port(self.port, self.process, log, self.name)
        except Failure:
            self.stop()
            raise

    def environment(self):
        """The checks look into the store behind; clients are given what is vended."""
        return {**self.behind.environment(), "LANCE_TEST_VENDS_MS": str(self.seconds * 1000)}

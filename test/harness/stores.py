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


def find_versitygw(log, build):
    """The path of versitygw; None when it is not there and Go >= 1.24 is not either, or moto is asked for."""
    if os.environ.get("LANCE_CATALOG_S3") == "moto":
        return None
    kept = os.path.join(machine.state_dir(), "bin", "versitygw")
    found = shutil.which("versitygw") or (kept if os.path.exists(kept) else None)
    if found or not build:
        return found
    status, text = run(["go", "version"], check=False)
    m = re.search(r"go(\d+)\.(\d+)", text)
    if status or not m or (int(m[1]), int(m[2])) < (1, 24):
        return None
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    with Working("building versitygw with Go"):
        status, _ = run(["go", "install", VERSITYGW], log=log, check=False, env={"GOBIN": os.path.dirname(kept)})
    return kept if status == 0 else None


class Store:
    """A running S3 server with one empty bucket and keys made for this run."""

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
            run([python, "-c", "import os\nfrom pyarrow import fs\n"
                 "fs.S3FileSystem(access_key=os.environ['KEY'], secret_key=os.environ['SECRET'],"
                 " region='%s', endpoint_override='127.0.0.1:%d', scheme='http',"
                 " allow_bucket_creation=True).create_dir('%s')" % (REGION, self.port, BUCKET)],
                env={"KEY": self.key, "SECRET": self.secret}, log=log,
                what="no bucket could be made on %s" % self.name, todo="its log is %s" % log)
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

"""The clients that need more than a Python with pylance: Spark, the TypeScript client, DuckDB.

Each comes pinned from its own registry, by that registry's usual program, once, into the state folder: jars from Maven with their
SHA-256 in spark/sha256sums, packages of npm with theirs in ts/package-lock.json.
"""
import hashlib
import os
import shutil

from . import machine
from .machine import Failure, Working, run

HERE = os.path.dirname(os.path.abspath(__file__))
PYSPARK = ["pyspark==3.5.1"]
DUCKDB = ["duckdb==1.5.5", "duckdb-extension-lance==1.5.5"]
COPY_JARS = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies"
NETWORK = "check the network, then start again"


class Client:
    """How a client script is run: program and script, more variables, and the folder node_modules where there is one."""

    def __init__(self, program, script, env=None, modules=None):
        self.program, self.script, self.env, self.modules = program, script, env or {}, modules


def pinned(name, folder, make):
    """A folder that make(place) fills, made once for each content of the files in `folder`."""
    content = hashlib.sha256()
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), "rb") as f:
            content.update(f.read())
    return machine.made_once("clients", "%s-%s" % (name, content.hexdigest()[:10]), make)


def check_jars(jars):
    """Each jar of the list is there as it was when the list was made, and no other."""
    with open(os.path.join(HERE, "spark", "sha256sums")) as f:
        wanted = {name: digest for digest, name in (line.split() for line in f)}
    got = {}
    for name in os.listdir(jars):
        with open(os.path.join(jars, name), "rb") as f:
            got[name] = hashlib.file_digest(f, "sha256").hexdigest()
    wrong = sorted(n for n in wanted.keys() | got.keys() if wanted.get(n) != got.get(n))
    if wrong:
        raise Failure("jars are not those of test/harness/spark/sha256sums: %s" % ", ".join(wrong[:5]),
                      "find out where they come from before you trust them")


def spark(log):
    def make(place):
        jars, scratch = os.path.join(place, "jars"), os.path.join(place, "repository")
        os.makedirs(place)
        shutil.copy(os.path.join(HERE, "spark", "pom.xml"), place)
        with Working("fetching the Spark connector"):
            run(["mvn", "-B", "-q", "-Dmaven.repo.local=" + scratch, COPY_JARS, "-DincludeScope=runtime", "-DoutputDirectory=" + jars],
                log=log, cwd=place, what="mvn could not fetch the Spark connector", todo=NETWORK)
        check_jars(jars)
        shutil.rmtree(scratch)

    python = machine.venv("spark", PYSPARK, log)
    return Client(python, "spark_run.py", {"LANCE_TEST_SPARK_JARS": os.path.join(pinned("spark", os.path.join(HERE, "spark"), make), "jars"),
                                           "PYSPARK_PYTHON": python})


def ts(log):
    def make(place):
        shutil.copytree(os.path.join(HERE, "ts"), place)
        with Working("fetching the TypeScript client"):
            run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], log=log, cwd=place,
                what="npm could not fetch the TypeScript client", todo=NETWORK)

    place = pinned("ts", os.path.join(HERE, "ts"), make)
    return Client("node", "ts_run.mjs", modules=os.path.join(place, "node_modules"))


def duckdb(log):
    """DuckDB, and pylance to write what it reads."""
    return Client(machine.venv("duckdb", DUCKDB + machine.CLIENTS["new"], log), "duckdb_run.py")


FETCH = {"spark": spark, "ts": ts, "duckdb": duckdb}

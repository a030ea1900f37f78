"""What the checks share: the tree, the sources without comments, and the way to report."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.chdir(ROOT)

LIB_ROOMS = ["base", "token", "storage", "column", "arrow", "proto", "encoding", "format", "index", "dataset", "scan"]
SERVER_ROOMS = ["pg", "catalog", "ops", "sqlapi", "rest", "fdw"]


def tree():
    """The files of the project: what git tracks or would track; without git, all but build output."""
    try:
        out = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, check=True).stdout
        names = [n for n in out.decode().split("\0") if n]
    except (OSError, subprocess.CalledProcessError):
        names = [os.path.relpath(os.path.join(d, f), ".") for d, _, fs in os.walk(".") for f in fs]
        names = [n for n in names if not re.match(r"(build|\.git)/|.*\.([oda]|so)$", n)]
    return sorted(n for n in names if os.path.isfile(n) and not os.path.islink(n))


def sources(rooms=None, suffix=(".c", ".h")):
    """C files under src, of these rooms."""
    names = [n for n in tree() if n.startswith("src/") and n.endswith(suffix)]
    return [n for n in names if rooms is None or n.split("/")[1] in rooms]


def read(name):
    with open(name, encoding="utf-8", errors="replace") as f:
        return f.read()


def code(text):
    """The text with comments and the insides of literals blanked out, line numbers kept."""
    def blank(m):
        s = m.group(0)
        return re.sub(r"[^\n]", " ", s) if s[0] == "/" else s[0] + " " * (len(s) - 2) + s[0]

    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)


class Report:
    def __init__(self, rule, how):
        self.rule, self.how, self.found = rule, how, 0

    def add(self, where, what):
        self.found += 1
        print("%s: %s" % (where, what))

    def finish(self):
        if self.found:
            print("%d found. The rule: %s\nHow to mend: %s" % (self.found, self.rule, self.how))
            sys.exit(1)
        print("ok: %s" % self.rule)

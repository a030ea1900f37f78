"""The machine that the scripts run on: packages, users, processes, virtual environments, where things are kept.

Standard library only: this runs before anything is installed.
"""
import fcntl
import hashlib
import os
import pwd
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
START = time.time()

# The pinned clients. "new" is what a user installs today, "old" the oldest pair that is supported.
CLIENTS = {
    "new": ["pylance==14.0.2", "lancedb==0.40.0", "lance-namespace==0.13.0"],
    "old": ["pylance==10.0.0", "lancedb==0.37.1", "lance-namespace==0.8.6", "pyarrow==25.0.1"],
}


class Failure(Exception):
    """Something that the reader can mend: what went wrong, and what to do about it."""

    def __init__(self, what, todo="", log=""):
        super().__init__(what)
        self.what, self.todo, self.log = what, todo, log


_saying = threading.Lock()


def say(text):
    """A line of progress, with the seconds since the start."""
    with _saying:
        print("[%4d s] %s" % (time.time() - START, text), flush=True)


class Working:
    """Says what is being done, and again every half minute that it takes."""

    def __init__(self, text, every=30):
        self.text, self.every, self.end = text, every, threading.Event()

    def __enter__(self):
        say(self.text)

        def again():
            while not self.end.wait(self.every):
                say("still " + self.text)

        threading.Thread(target=again, daemon=True).start()

    def __exit__(self, *_):
        self.end.set()


def is_root():
    return os.geteuid() == 0


def server_user():
    """PostgreSQL refuses to run as root; as root, servers and clients run as the package's own user."""
    return "postgres" if is_root() else None


def own(path):
    """Give a path to the user that servers run as."""
    if is_root():
        u = pwd.getpwnam(server_user())
        os.chown(path, u.pw_uid, u.pw_gid)
    return path


def as_server(argv):
    """argv, run as the user of the servers; the environment is kept."""
    return ["runuser", "-u", server_user(), "--"] + argv if is_root() else argv


def state_dir():
    """Where the scripts keep what they make: clusters, virtual environments, S3 servers."""
    given = os.environ.get("LANCE_CATALOG_STATE")
    if given:
        path = os.path.abspath(given)
    elif is_root():
        path = "/var/lib/lance_catalog"  # the user postgres must be able to reach it
    else:
        base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        path = os.path.join(base, "lance_catalog")
    os.makedirs(path, exist_ok=True)
    if is_root():
        os.chmod(path, 0o755)
    return path


def tail(path, lines=25):
    try:
        with open(path, errors="replace") as f:
            return "".join(f.readlines()[-lines:])
    except OSError:
        return ""


def run(argv, log=None, what=None, todo="", check=True, server=False, env=None, cwd=None, timeout=None):
    """Run a command without standard input; output goes to the file `log`, or is returned as text.

    A failure raises Failure(what, todo) with the end of the output; with check=False the exit status is for the
    caller. server=True runs it as the user of the servers. Returns (status, output).
    """
    if server:
        argv = as_server(argv)
    out = open(log, "ab") if log else subprocess.PIPE
    try:
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                           env={**os.environ, **(env or {})}, cwd=cwd or ROOT, timeout=timeout)
        status, text = p.returncode, (p.stdout or b"").decode("utf-8", "replace")
    except FileNotFoundError:
        status, text = 127, "%s: no such program" % argv[0]
    except subprocess.TimeoutExpired as e:
        status, text = 124, (e.stdout or b"").decode("utf-8", "replace") + "\nstopped after %d s" % timeout
    finally:
        if log:
            out.close()
    if status and log and status in (124, 127):
        with open(log, "a") as f:
            f.write(text + "\n")
    if status and check:
        raise Failure(what or "%s failed (status %d)" % (shlex.join(argv[:6]), status), todo,
                      tail(log) if log else "\n".join(text.splitlines()[-25:]))
    return status, text


# ------------------------------------------------------------------ packages
def packages(groups):
    names = []
    with open(os.path.join(ROOT, "test", "packages")) as f:
        for line in f:
            words = line.split("#")[0].split()
            if words and words[1] in groups:
                names.append(words[0])
    return names


# Programs of packages that may have come from elsewhere than Debian.
PROGRAMS = {"maven": "mvn", "openjdk-17-jre-headless": "java", "nodejs": "node", "npm": "npm"}


def missing_packages(groups):
    if not shutil.which("dpkg-query"):
        raise Failure("this is not a Debian system, so the packages it needs cannot be looked up",
                      "install by hand what test/packages lists, on Debian 12 or a container of it")
    wanted = packages(groups)
    _, text = run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"] + wanted, check=False)
    there = {line.split()[0] for line in text.splitlines() if line.endswith(" installed")}
    return [name for name in wanted if name not in there and not (name in PROGRAMS and shutil.which(PROGRAMS[name]))]


def install_packages(groups, log):
    """Install the Debian packages that are missing."""
    missing = missing_packages(groups)
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends"] + missing
    lead = []
    if not is_root():
        lead = ["sudo", "-n"]
        if not shutil.which("sudo") or run(lead + ["true"], check=False)[0]:
            raise Failure("Debian packages are missing and only root can install them",
                          "run as root, then start again:\n    apt-get update && " + shlex.join(command))
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
    say("Debian packages are missing: " + " ".join(missing))
    with Working("installing %d Debian packages" % len(missing)):
        run(lead + quiet + ["apt-get", "update"], log=log, what="apt-get update failed",
            todo="check the network and /etc/apt/sources.list, then start again")
        run(lead + quiet + command, log=log, what="apt-get could not install the packages",
            todo="run this by hand to see why:\n    " + shlex.join(command))


# ------------------------------------------------------------------ Python
def system_python():
    """Debian's own python3, which every user can run; another one may lie in a folder that is root's alone."""
    return "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


def made_once(kind, name, make):
    """The folder `name` among those of its kind in the state folder; make(place) makes it where no run has yet."""
    place = os.path.join(state_dir(), kind, name)
    stamp = os.path.join(place, "complete")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once may want the same one
        if not os.path.exists(stamp):
            shutil.rmtree(place, ignore_errors=True)
            make(place)
            open(stamp, "w").close()
    return place


def venv(name, pins, log):
    """A virtual environment with these packages, made once; returns its python."""
    def make(place):
        with Working("making a virtual environment: %s" % " ".join(pins)):
            run([system_python(), "-m", "venv", place], log=log, what="python3 -m venv failed",
                todo="apt-get install python3-venv")
            run([os.path.join(place, "bin", "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"] + pins,
                log=log, what="pip could not install %s" % " ".join(pins),
                todo="check the network and pip's index settings (pip config list), then start again")

    label = hashlib.sha256(" ".join(pins).encode()).hexdigest()[:10]
    return os.path.join(made_once("venv", "%s-%s" % (name, label), make), "bin", "python")


def client_python(which, log):
    """The python of a client set; LANCE_CATALOG_PYTHON_NEW and _OLD name one that exists already."""
    given = os.environ.get("LANCE_CATALOG_PYTHON_" + which.upper())
    return given or venv("clients-" + which, CLIENTS[which], log)


# ------------------------------------------------------------------ processes
def free_port(preferred=0):
    """A free TCP port on the loopback address; `preferred` when it is free."""
    for port in ([preferred] if preferred else []) + [0]:
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
            return s.getsockname()[1]
    raise Failure("no free TCP port on 127.0.0.1")


def spawn(argv, log, env=None, cwd=None):
    """Start a server in the background, as the user of the servers, in a process group of its own."""
    with open(log, "ab") as out:
        return subprocess.Popen(as_server(argv), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                env={**os.environ, **(env or {})}, cwd=cwd or "/", start_new_session=True)


def wait_port(port, process, log, what, seconds=30):
    """Wait until something listens on the port."""
    end = time.time() + seconds
    while time.time() < end:
        with socket.socket() as s:
            s.settimeout(1)
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process is not None and process.poll() is not None:
            break
        time.sleep(0.1)
    raise Failure("%s did not start" % what, "its log is %s" % log, tail(log))


def stop_group(pid, seconds=10):
    """End a process group that spawn() made."""
    import signal

    for sig, pause in ((signal.SIGTERM, seconds), (signal.SIGKILL, 2)):
        try:
            os.killpg(pid, sig)
        except (ProcessLookupError, PermissionError):
            return
        end = time.time() + pause
        while time.time() < end:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
            try:
                os.killpg(pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.05)

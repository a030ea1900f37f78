"""Slow clients, and a slow object store, for bench/rest.py: each runs in threads until it is stopped."""
import socket
import threading
import time


class Slow:
    """Several threads that run self.go() until stop()."""

    def __init__(self, server, connections):
        self.server, self.end, self.open = server, threading.Event(), []
        self.threads = [threading.Thread(target=self.guard, daemon=True) for _ in range(connections)]

    def __enter__(self):
        for t in self.threads:
            t.start()
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.end.set()
        for s in list(self.open):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for t in self.threads:
            t.join(10)

    def guard(self):
        while not self.end.is_set():
            try:
                self.go()
            except OSError:
                time.sleep(0.1)  # the server closed it: again

    def connect(self, receive=None):
        s = socket.socket()
        if receive:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        s.connect(("127.0.0.1", self.server.port))
        self.open.append(s)
        return s


class ByteASecond(Slow):
    """Sends a request, a byte a second."""

    def go(self):
        with self.connect() as s:
            for byte in self.server.request("table", self.server.parent + ["t00000"], "describe"):
                s.send(bytes([byte]))
                if self.end.wait(1):
                    return


class SlowReader(Slow):
    """Asks for a list of all tables and reads it a kilobyte a second."""

    def go(self):
        with self.connect(receive=4096) as s:
            s.sendall(self.server.request("namespace", self.server.parent, "table/list", method="GET"))
            while s.recv(1024):
                if self.end.wait(1):
                    return


class SlowCommits(Slow):
    """Commits to the table "t" of a namespace whose store is slow, one after the other."""

    def __init__(self, server, connections, namespace, location):
        super().__init__(server, connections)
        self.names = [namespace, "t"]
        self.path = location.split("://", 1)[1].split("/", 1)[1] + "/_versions/1.manifest-staged"

    def go(self):
        with self.connect() as s:
            s.sendall(self.server.request("table", self.names, "version/create",
                                          {"version": 1, "manifest_path": self.path, "naming_scheme": "V2"}))
            s.recv(65536)


class SlowStore:
    """Something that takes S3 requests and says "no such key" after so many seconds, or with None never."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                s = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        with s:
            try:
                while s.recv(65536):
                    if self.seconds is None:
                        continue
                    time.sleep(self.seconds)
                    s.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            except OSError:
                pass

    def close(self):
        self.listener.close()

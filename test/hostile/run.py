"""Hostile HTTP against a REST server, while good clients check that theirs is answered right.

usage: run.py --port N --key-file FILE --seconds N [--seed N] [--ca FILE] [--pid N]... [--idle SECONDS]

The key is an administrator's. With --ca everything goes over TLS. --pid names processes of the server whose memory and
descriptors are watched. Prints one JSON object: figures, and "failures", each a line that names the seed's case.
"""
import argparse
import http.client
import json
import os
import random
import re
import socket
import ssl
import struct
import sys
import threading
import time
from urllib.parse import quote

# Headers that a reply may have; another one would have been put there by a client.
REPLY_HEADERS = {"date", "content-type", "content-length", "connection", "allow", "retry-after", "www-authenticate"}
DESCRIPTORS = 20  # the same of descriptors: files of tables that were not looked at before
MEMORY_KB = 24 * 1024  # growth of a process that is put up with: four bodies of the largest size, and what malloc keeps of them
WRONG_VERSION_OR_CLOSED = (ConnectionError, socket.timeout, ssl.SSLError, OSError)


class Server:
    def __init__(self, a):
        self.port, self.key, self.context = a.port, open(a.key_file).read().strip(), None
        if a.ca:
            self.context = ssl.create_default_context(cafile=a.ca)
        self.key_line = b"x-api-key: " + self.key.encode() + b"\r\n"

    def raw(self):
        """A TCP connection."""
        s = socket.create_connection(("127.0.0.1", self.port), 20)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def connect(self):
        s = self.raw()
        return self.context.wrap_socket(s, server_hostname="localhost") if self.context else s

    def talk(self, data, seconds=5.0, pieces=1, rng=None):
        """Send bytes, take what comes until the end. -> (bytes, whether the server closed)."""
        s = self.connect()
        answer, closed = b"", False
        try:
            s.settimeout(seconds)
            cuts = sorted(rng.randrange(len(data) + 1) for _ in range(pieces - 1)) if pieces > 1 else []
            for begin, end in zip([0] + cuts, cuts + [len(data)]):
                s.sendall(data[begin:end])
            while True:
                piece = s.recv(65536)
                if not piece:
                    closed = True
                    break
                answer += piece
        except socket.timeout:
            pass
        except WRONG_VERSION_OR_CLOSED:
            closed = True
        finally:
            s.close()
        return answer, closed

    def request(self, method, target, body=None, headers=None):
        """A well-formed request by the standard library. -> (status, JSON)."""
        kind = http.client.HTTPSConnection if self.context else http.client.HTTPConnection
        more = {"context": self.context} if self.context else {}
        c = kind("localhost" if self.context else "127.0.0.1", self.port, timeout=30, **more)
        try:
            c.request(method, target, body, dict(headers or {}, **{"x-api-key": self.key}))
            r = c.getresponse()
            text = r.read()
            return r.status, json.loads(text) if text else None
        finally:
            c.close()


def replies(data):
    """The statuses of all replies in data; raises ValueError when they are not well-formed, or have foreign headers."""
    statuses = []
    if b"<html>" in data and b"application/json" not in data:
        # The HTTP library's own refusal, which has its head twice, and ends the connection.
        found = set(re.findall(rb"HTTP/1\.[01] (\d{3}) ", data))
        if len(found) != 1:
            raise ValueError("a page of %s" % found)
        return [int(found.pop())]
    while data:
        head, blank, rest = data.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        m = re.fullmatch(rb"HTTP/1\.[01] (\d{3}) [A-Za-z -]*", lines[0])
        if not m:
            raise ValueError("not a reply: %r" % data[:80])
        names = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b": ")
            names[name.decode("latin-1").lower()] = value
        if m[1] == b"100":
            data = rest
            continue
        if not blank:
            raise ValueError("a cut reply: %r" % data[:80])
        if set(names) - REPLY_HEADERS:
            raise ValueError("foreign headers %s" % (set(names) - REPLY_HEADERS))
        length = int(names.get("content-length", b"0"))
        if len(rest) < length:
            raise ValueError("a cut body: %r" % data[:80])
        if names.get("content-type") == b"application/json" and length:
            json.loads(rest[:length])
        statuses.append(int(m[1]))
        data = rest[length:]
    return statuses


# ------------------------------------------------------------------ attacks; each takes (server, rng) and returns what is wrong, or None
POST = b"POST /v1/namespace/hostile%d/create HTTP/1.1\r\nHost: x\r\n"
INNER = b"GET /v1/table HTTP/1.1\r\nHost: x\r\n"


def framings():
    """Headers that let two readers see different requests -> (name, headers, body). All are to be refused."""
    length, chunks = b"Content-Length: 2\r\n", b"2\r\n{}\r\n0\r\n\r\n"
    te = b"Transfer-Encoding: chunked\r\n"
    cases = [("length and chunks", length + te, chunks), ("chunks and length", te + length, chunks),
             ("a length twice", length + length, b"{}"), ("two lengths", length + b"Content-Length: 40\r\n", b"{}"),
             ("chunks twice", te + te, chunks), ("a folded length", b"Content-Length:\r\n 2\r\n", b"{}"),
             ("a folded coding", b"Transfer-Encoding:\r\n chunked\r\n", chunks),
             ("a folded header", b"X: a\r\n Content-Length: 2\r\n", b"{}"),
             ("a length behind a lone CR", b"X: a\rContent-Length: 2\r\n", b"{}"),
             ("a length behind a lone LF", b"X: a\nContent-Length: 2\r\n", b"{}"),
             ("a coding behind a lone CR", b"X: a\rTransfer-Encoding: chunked\r\n", chunks),
             ("two hosts", b"Host: y\r\n" + length, b"{}"),
             ("two keys", b"x-api-key: a\r\nx-api-key: b\r\n" + length, b"{}")]
    for value in (b"+2", b"-2", b"2,2", b"2, 2", b"0x2", b"2 2", b"2.0", b"2e0", b"", b"x", b"18446744073709551618", b"99999999999999999999999999",
                  b"\xb2", b"2\x0b", b"2\x00", b"'2'", b"-0", b"2;", b"\x0c2"):
        cases.append(("the length %r" % value, b"Content-Length: " + value + b"\r\n", b"{}"))
    for value in (b"xchunked", b"chunked, chunked", b"chunked, identity", b"identity, chunked", b"identity", b"gzip", b"gzip, chunked", b"chunked;q=1",
                  b"\x0bchunked", b"chunked\x00", b"\"chunked\"", b"", b"chunkedchunked", b"chunk", b"chunked,", b"\xefchunked"):
        cases.append(("the coding %r" % value, b"Transfer-Encoding: " + value + b"\r\n", chunks))
    for name in (b"Content-Length ", b" Content-Length", b"Content-Length\t", b"Content-Length\x00", b"Content\x0b-Length", b"Transfer-Encoding ",
                 b"\tTransfer-Encoding", b"Transfer-Encoding\x00", b"Transfer-Encoding\xa0", b"(Content-Length)", b""):
        cases.append(("the name %r" % name, name + b": " + (b"2" if b"ength" in name else b"chunked") + b"\r\n", b"{}"))
    return cases


def broken_chunks():
    """Bodies in chunks that are none -> (name, body). None may be taken for a whole body."""
    for size in (b"0x2", b"-2", b"+2", b"", b"g", b" 2", b"2g", b"ffffffffffffffff", b"10000000000000002", b"fffffffffffffffff", b"2\x00", b"\xb2", b"2,2",
                 b"7fffffffffffffff", b"8000000000000000"):
        yield "the chunk size %r" % size, size + b"\r\n{}\r\n0\r\n\r\n"
    yield "a chunk that is longer than its size", b"2\r\n{}   \r\n0\r\n\r\n"
    yield "a chunk that is shorter", b"4\r\n{}\r\n0\r\n\r\n"


FRAMINGS = framings()
CHUNKS = list(broken_chunks())


def smuggle(server, rng, case=None):
    name, headers, body = case or rng.choice(FRAMINGS)
    inner = INNER + server.key_line + b"\r\n"
    key = b"" if b"x-api-key" in headers else server.key_line
    answer, closed = server.talk(POST % rng.randrange(10**9) + key + headers + b"\r\n" + body + inner, 5, rng.choice((1, 1, 2, 5)), rng)
    statuses = replies(answer)
    if not closed:
        return "%s: the connection stays open, %s" % (name, statuses)
    if any(s < 400 for s in statuses) or len(statuses) > 1:
        return "%s: answered %s" % (name, statuses)
    return None


def smuggle_in_chunks(server, rng, case=None):
    name, body = case or rng.choice(CHUNKS)
    inner = INNER + server.key_line + b"\r\n"
    answer, closed = server.talk(POST % rng.randrange(10**9) + server.key_line + b"Transfer-Encoding: chunked\r\n\r\n" + body + inner, 1.5,
                                 rng.choice((1, 1, 3)), rng)
    if answer.count(b"HTTP/1.1 200") > 0:
        return "%s: taken for a body, %r" % (name, answer[:60])
    return None


def targets(server, rng):
    target = rng.choice((b"*", b"http://evil/v1/table", b"//evil/v1/table", b"/v1/../v1/table", b"/%2e%2e/etc", b"/v1/table%00", b"/v1/table%0d%0aX:%20y",
                         b"evil:443", b"/v1/namespace/%ff%fe/exists", b"/v1/namespace/%c0%ae%c0%ae/exists", b"/v1/namespace/%ed%a0%80/exists", b"/v1/namespace/%/exists",
                         b"/v1/namespace/%2/exists", b"/v1/namespace/%zz/exists", b"/v1/namespace/" + b"%24" * 2000 + b"/exists",
                         b"/v1/namespace/a/exists?delimiter=%00", b"/v1/namespace/a/exists?" + b"a=b&" * 3000, b"/v1/namespace/%252e%252e/exists",
                         b"/" + b"a" * 20000, b"/v1/table?" + b"%" * 500, b"/v1/namespace/a%5c..%5cb/exists", b"javascript:alert(1)"))
    method = rng.choice((b"GET", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"CONNECT", b"HEAD", b"PATCH", b"PRI", b"get", b"A" * 300, b"G\x00T", b"<x>"))
    more = rng.choice((b"", b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n", b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
                       b"Expect: 100-continue\r\n", b"Expect: nonsense\r\n", b"Max-Forwards: 0\r\n", b"Range: bytes=0-1\r\n", b"X: " + b"y" * 20000 + b"\r\n",
                       b"".join(b"h%d: v\r\n" % i for i in range(rng.choice((10, 300, 5000))))))
    answer, closed = server.talk(method + b" " + target + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + more + (b"" if method == b"TRACE" else server.key_line) + b"\r\n", 5)
    if server.key.encode() in answer:
        return "%r %r: the key is in the answer" % (method, target[:60])
    if re.search(rb"\r\nX: ?y", answer) or b" 101 " in answer[:20]:
        return "%r %r: %r" % (method, target[:60], answer[:80])
    if method != b"HEAD" and b"<html>" not in answer:
        replies(answer)
    return None


def deep(rng):
    kind = rng.randrange(4)
    return (b"[" * 100000, b'{"a":' * 50000, b"[" * 300 + b"]" * 300, b'{"properties":' * 64 + b"1" + b"}" * 64)[kind]


def json_body(server, rng):
    body = rng.choice((b"{", b"}", b"null", b"[]", b'"', b"\xff\xfe", b'{"id":["\\ud800"]}', b'{"id":["a\\u0000b"]}', b'{"properties":{"a":1e999}}', b'{"mode":"' + b"x" * 50000 + b'"}',
                       b'{"a":1,"a":2}', b'{"id":' + b"9" * 5000 + b"}", b"\xef\xbb\xbf{}", b'{"properties":{"\xc0\xaf":"x"}}', b"NaN", b"{'a':1}", b"", b"{}{}", b'{"x-api-key":"y"}',
                       bytes(rng.randrange(256) for _ in range(rng.randrange(2000))), deep(rng)))
    route = rng.choice(("namespace/hostile$j/create", "table/hostile$j/declare", "table/hostile$j/version/create", "table/version/batch-create", "table/batch-commit", "namespace/hostile$j/exists",
                        "table/hostile$j/register", "table/hostile$j/tags/create", "table/hostile$j/schema_metadata/update", "transaction/hostile$j/alter"))
    answer, _ = server.talk(b"POST /v1/%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n%s" % (route.encode(), len(body), server.key_line, body), 30)
    statuses = replies(answer)
    if not statuses or statuses[0] >= 500:
        return "%s with %r: %s" % (route, body[:60], answer[:200])
    return None


def ids(server, rng):
    """Names with everything in them: nothing of them becomes a header, a status or another path."""
    name = rng.choice(("a\r\nX: y", "a\r\n\r\nHTTP/1.1 200 OK", "..", ".", "../../etc/passwd", "a/../b", "a\\b", "a\tb", "\u202e", "\U0001f600" * 50, "x" * 5000, "'; DROP TABLE t; --", '"', "$$",
                       "%s%n", "{0}", "${jndi:x}", " ", "a b", "a+b", "%00", "\x7f", "\x01", "$", "a$", "$a", "a$$b", "NUL", "con.", "a.", ""))
    status, body = server.request("POST", "/v1/%s/%s/%s" % (rng.choice(("namespace", "table")), quote(name, safe=""), rng.choice(("exists", "describe", "drop"))), "{}")
    return None if status in (400, 404, 409, 200, 405) and (status == 200 or "code" in body or status == 405) else "%r: %d %s" % (name[:40], status, body)


def garbage(server, rng):
    data = bytes(rng.randrange(256) for _ in range(rng.choice((1, 10, 100, 3000))))
    if rng.random() < 0.5:  # a request with some bytes turned
        good = bytearray(INNER + server.key_line + b"Content-Length: 5\r\n\r\nhello" + INNER + b"\r\n")
        for _ in range(rng.randrange(1, 6)):
            good[rng.randrange(len(good))] = rng.randrange(256)
        data = bytes(good)
    server.talk(data, 1)
    return None


def outside_tls(server, rng):
    """Bytes on the socket itself: with TLS instead of a handshake, or in the middle of one."""
    s = server.raw()
    try:
        s.settimeout(1)
        s.sendall(rng.choice((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"r" * rng.randrange(600), b"\x16\x03\x01\xff\xff" + b"\0" * 500, b"\x80\x2e\x01\x03\x01" + b"r" * 50,
                              INNER + b"\r\n", bytes(rng.randrange(256) for _ in range(500)), b"\x15\x03\x03\x00\x02\x02\x28", b"")))
        if rng.random() < 0.5:
            s.recv(1000)
    except WRONG_VERSION_OR_CLOSED:
        pass
    reset(s) if rng.random() < 0.3 else s.close()
    return None


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def vanish(server, rng):
    """Gone, by a reset or an end, at any byte of some requests."""
    data = b"".join((POST % rng.randrange(10**9)) + server.key_line + b"Content-Length: 2\r\n\r\n{]" for _ in range(rng.randrange(1, 4)))
    s = server.connect()
    try:
        s.sendall(data[:rng.randrange(len(data))])
        if rng.random() < 0.3:
            time.sleep(rng.random() / 10)
    except WRONG_VERSION_OR_CLOSED:
        pass
    reset(s) if rng.random() < 0.6 else s.close()
    return None


def pipeline(server, rng):
    """Many requests in one go, read late: each answered, in their order."""
    n = rng.randrange(2, 30)
    wanted = [rng.choice((200, 404)) for _ in range(n)]
    data = b"".join(b"GET /v1/%s HTTP/1.1\r\nHost: x\r\n%s\r\n" % (b"table" if w == 200 else b"nothing", server.key_line) for w in wanted)
    answer, _ = server.talk(data + INNER.replace(b"/v1/table", b"/v1/nothing") + b"Connection: close\r\n\r\n", 30, rng.choice((1, 4)), rng)
    got = replies(answer)
    return None if got == wanted + [404] else "pipelined %s: %s" % (wanted, got)


def large(server, rng):
    """Bodies beyond the limit, by length and by chunks."""
    s = server.connect()
    sent, answer = 0, b""
    try:
        s.settimeout(5)
        chunked = rng.random() < 0.5
        s.sendall(POST % rng.randrange(10**9) + server.key_line + (b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b"Content-Length: 100000000000\r\n\r\n"))
        piece = b"10000\r\n" + b" " * 65536 + b"\r\n" if chunked else b" " * 65536
        while sent < 64 * 1024 * 1024:
            s.sendall(piece)
            sent += len(piece)
    except WRONG_VERSION_OR_CLOSED:
        pass
    try:
        answer = s.recv(65536)
    except WRONG_VERSION_OR_CLOSED:
        pass
    s.close()
    return "%d bytes were taken" % sent if sent >= 64 * 1024 * 1024 or b" 200 " in answer[:20] else None


def slow(server, rng):
    """A byte now and then, in headers or body, until the server has enough of it. Not waited for: it ends by itself."""
    head = b"GET /v1/table HTTP/1.1\r\nX: " if rng.random() < 0.5 else POST % 1 + server.key_line + b"Content-Length: 100000\r\n\r\n"
    s = server.connect()
    try:
        s.sendall(head)
        s.settimeout(0.1)
        for _ in range(rng.randrange(5, 100)):
            s.sendall(b"a")
            try:
                if not s.recv(100):
                    break
            except socket.timeout:
                pass
    except WRONG_VERSION_OR_CLOSED:
        pass
    s.close()
    return None


ATTACKS = [(smuggle, 6), (smuggle_in_chunks, 2), (targets, 4), (json_body, 4), (ids, 4), (garbage, 2), (outside_tls, 2), (vanish, 4), (pipeline, 2), (large, 1), (slow, 1)]


# ------------------------------------------------------------------ the run
class Run:
    def __init__(self, server, seed, seconds):
        self.server, self.seed, self.end = server, seed, time.time() + seconds
        self.lock, self.counts, self.failures, self.slowest = threading.Lock(), {}, [], 0.0

    def note(self, name, failure=None, took=0.0):
        with self.lock:
            self.counts[name] = self.counts.get(name, 0) + 1
            self.slowest = max(self.slowest, took)
            if failure and len(self.failures) < 50:
                self.failures.append("%s: %s" % (name, failure))

    def attack(self, number):
        rng = random.Random(self.seed * 1000 + number)
        functions, weights = zip(*ATTACKS)
        while time.time() < self.end:
            f = rng.choices(functions, weights)[0]
            try:
                self.note(f.__name__, f(self.server, rng))
            except Exception as e:
                # Only what reads a reply may find fault with it; being cut off is what an attacker gets.
                self.note(f.__name__, None if isinstance(e, WRONG_VERSION_OR_CLOSED + (http.client.HTTPException,)) and not isinstance(e, ValueError)
                          else "%s: %s" % (type(e).__name__, e))

    def each_case(self):
        """Every framing once, whatever chance gives the others."""
        rng = random.Random(self.seed)
        for f, cases in ((smuggle, FRAMINGS), (smuggle_in_chunks, CHUNKS)):
            for case in cases:
                try:
                    self.note(f.__name__, f(self.server, rng, case))
                except Exception as e:
                    self.note(f.__name__, "%s: %s: %s" % (case[0], type(e).__name__, e))

    def good(self, number):
        """A caller's day: each answer is checked."""
        n = 0
        while time.time() < self.end:
            n += 1
            name, value = "good%d_%d" % (number, n), "value %d; \" ' \\ %s %%s" % (n, "x" * (n * 37 % 3000))
            try:
                for method, target, body, status, want in (
                        ("POST", "/v1/namespace/%s/create" % name, {"properties": {"k": value}}, 200, None),
                        ("POST", "/v1/table/%s%%24t/declare" % name, {}, 200, None),
                        ("POST", "/v1/namespace/%s/describe" % name, {}, 200, lambda j: j["properties"]["k"] == value),
                        ("GET", "/v1/namespace/%s/table/list" % name, None, 200, lambda j: j["tables"] == ["t"]),
                        ("POST", "/v1/table/%s%%24t/drop" % name, {}, 200, None),
                        ("POST", "/v1/namespace/%s/drop" % name, {}, 200, None),
                        ("POST", "/v1/namespace/%s/exists" % name, {}, 404, lambda j: j["code"] == 1)):
                    begun = time.time()
                    got, reply = self.server.request(method, target, None if body is None else json.dumps(body))
                    right = got == status and (want is None or want(reply))
                    self.note("good", None if right else "%s: %d %s" % (target, got, str(reply)[:200]), time.time() - begun)
            except Exception as e:
                self.note("good", "%s: %s: %s" % (name, type(e).__name__, e))

    def run(self, attackers=16, callers=2, cases=False):
        threads = [threading.Thread(target=self.attack, args=(i,)) for i in range(attackers)]
        threads += [threading.Thread(target=self.each_case)] if cases else []
        threads += [threading.Thread(target=self.good, args=(i,)) for i in range(callers)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


def process(pid):
    """(resident kB, open descriptors) of a process."""
    text = open("/proc/%d/status" % pid).read()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]), len(os.listdir("/proc/%d/fd" % pid))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--port", type=int, required=True)
    p.add_argument("--key-file", required=True)
    p.add_argument("--seconds", type=float, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--ca")
    p.add_argument("--pid", type=int, action="append", default=[])
    p.add_argument("--idle", type=float, default=6, help="seconds after which the server has closed what nobody uses")
    a = p.parse_args()
    server = Server(a)
    Run(server, a.seed + 7, min(3.0, a.seconds / 4)).run()  # processes reach their size
    time.sleep(a.idle)
    before = {pid: process(pid) for pid in a.pid}
    run = Run(server, a.seed, a.seconds)
    run.run(cases=True)

    # nothing is left: descriptors are back, memory has not grown
    deadline = time.time() + 4 * a.idle
    while time.time() < deadline and any(process(pid)[1] > before[pid][1] + DESCRIPTORS for pid in a.pid):
        time.sleep(0.3)
    after = {pid: process(pid) for pid in a.pid}
    for pid in a.pid:
        if after[pid][1] > before[pid][1] + DESCRIPTORS:
            run.failures.append("process %d: %d descriptors, %d before" % (pid, after[pid][1], before[pid][1]))
        if after[pid][0] > before[pid][0] + MEMORY_KB:
            run.failures.append("process %d: %d kB, %d before" % (pid, after[pid][0], before[pid][0]))
    print(json.dumps({"seed": a.seed, "seconds": a.seconds, "counts": run.counts, "slowest_good_ms": round(run.slowest * 1000),
                      "before": before, "after": after, "failures": run.failures}, sort_keys=True))
    sys.exit(1 if run.failures else 0)


if __name__ == "__main__":
    main()

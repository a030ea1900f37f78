#!/usr/bin/env python3
"""An S3 server whose keys expire: a token service, and a proxy that checks their signatures, ends and policies.

What passes is signed anew with the real keys of the server behind. Usage:
    expiring.py PORT BACKEND REGION LIFETIME_SECONDS    with KEY and SECRET of the server behind in the environment
The same keys may assume a role here, and nothing else. It prints a line for each session, and one for each refusal.
"""
import hashlib
import html
import http.client
import json
import os
import re
import secrets
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sigv4  # noqa: E402

PORT, BACKEND, REGION, LIFETIME = int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
KEY, SECRET = os.environ["KEY"], os.environ["SECRET"]
HOST = urllib.parse.urlsplit(BACKEND).netloc
sessions, lock, local = {}, threading.Lock(), threading.local()
CODES = {"ExpiredToken": 400}
HOP = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "expect", "host", "content-length", "authorization",
       "x-amz-date", "x-amz-security-token"}
METHODS = {"s3:GetObject": ("GET", "HEAD"), "s3:PutObject": ("PUT", "POST"), "s3:DeleteObject": ("DELETE",),
         "s3:AbortMultipartUpload": ("DELETE",), "s3:ListMultipartUploadParts": ("GET",)}


class Session:
    def __init__(self, policy):
        self.key, self.secret = "ASIA" + secrets.token_hex(8).upper(), secrets.token_urlsafe(30)
        self.token, self.end = secrets.token_urlsafe(90), time.time() + LIFETIME
        self.place = self.methods = None
        if policy:
            statement = json.loads(policy)["Statement"][0]
            self.place = re.fullmatch(r"arn:aws:s3:::(.*/)\*", statement["Resource"])[1]
            self.methods = {m for a in statement["Action"] for m in METHODS[a]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, code):
        path = self.path.partition("?")[0]
        print("refused %s %s %s" % (code, self.command, path), flush=True)
        self.send(CODES.get(code, 403), ("<Error><Code>%s</Code><Message>refused</Message></Error>" % code).encode())

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            body += self.rfile.read(size)
            self.rfile.readline()
            if not size:
                return body

    def check_signature(self, secret, body):
        headers = {k.lower(): v for k, v in self.headers.items()}
        key, scope, names, given = sigv4.parts_of(headers["authorization"])
        hashed = hashlib.sha256(body).hexdigest()
        claimed = headers.get("x-amz-content-sha256", hashed)
        if claimed not in (hashed, "UNSIGNED-PAYLOAD") or "host" not in names or any(n not in headers for n in names):
            return False
        return given == sigv4.signature(self.command, self.path, headers, names, claimed, headers.get("x-amz-date", ""), scope, secret)

    def assume_role(self, body):
        asked = dict(urllib.parse.parse_qsl(body.decode()))
        parts = sigv4.parts_of(self.headers.get("Authorization"))
        if not parts or parts[0] != KEY or not self.check_signature(SECRET, body) or not asked.get("Action") == "AssumeRole":
            return self.refuse("AccessDenied")
        s = Session(asked.get("Policy"))
        with lock:
            sessions[s.key] = s
        print("session for %s" % (s.place or "everything"), flush=True)
        end = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(s.end)) + ".%03dZ" % (s.end % 1 * 1000)
        self.send(200, ("<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s"
                        "</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult>"
                        "</AssumeRoleResponse>" % (s.key, s.secret, s.token, end)).encode())

    def allowed(self, session, body):
        path, _, query = self.path.partition("?")
        bucket, _, key = urllib.parse.unquote(path).lstrip("/").partition("/")
        fields = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        if not session.place:
            return True
        source = urllib.parse.unquote(self.headers.get("x-amz-copy-source", "")).lstrip("/")
        if ".." in key.split("/") or (source and (".." in source.split("/") or not source.startswith(session.place))):
            return False
        if not key and self.command == "POST" and "delete" in fields:
            names = [html.unescape(k) for k in re.findall(r"<Key>(.*?)</Key>", body.decode())]
            return "DELETE" in session.methods and all((bucket + "/" + k).startswith(session.place) for k in names)
        if not key:
            return self.command == "GET" and (bucket + "/" + fields.get("prefix", "")).startswith(session.place)
        return self.command in session.methods and (bucket + "/" + key).startswith(session.place)

    def forward(self, body):
        more = {k: v for k, v in self.headers.items() if k.lower() not in HOP}
        hashed = self.headers.get("x-amz-content-sha256") or hashlib.sha256(body).hexdigest()
        amazon = {k.lower(): more.pop(k) for k in list(more) if k.lower().startswith("x-amz-")}
        amazon.pop("x-amz-content-sha256", None)
        signed = sigv4.sign(self.command, HOST, self.path, KEY, SECRET, REGION, hashed, more=amazon)
        for attempt in range(2):
            try:
                if not getattr(local, "back", None):
                    local.back = http.client.HTTPConnection(HOST, timeout=60)
                local.back.request(self.command, self.path, body or None,
                                   {**more, **signed, **({"content-length": str(len(body))} if body or self.command == "PUT" else {})})
                answer = local.back.getresponse()
                data = answer.read()
                break
            except (http.client.HTTPException, OSError):
                local.back = None
                if attempt:
                    raise
        if self.command == "HEAD":
            self.send_response(answer.status)
            for k, v in answer.getheaders():
                if k.lower() not in ("connection", "transfer-encoding"):
                    self.send_header(k, v)
            self.end_headers()
        else:
            self.send(answer.status, data, [(k, v) for k, v in answer.getheaders()
                                            if k.lower() not in ("connection", "transfer-encoding", "content-length")])

    def handle_request(self):
        body = self.read_body()
        if self.command == "POST" and self.path == "/":
            return self.assume_role(body)
        parts = sigv4.parts_of(self.headers.get("Authorization"))
        with lock:
            session = parts and sessions.get(parts[0])
        if not session:
            return self.refuse("InvalidAccessKeyId")
        if self.headers.get("x-amz-security-token") != session.token:
            return self.refuse("InvalidToken")
        if not self.check_signature(session.secret, body):
            return self.refuse("SignatureDoesNotMatch")
        if time.time() >= session.end:
            return self.refuse("ExpiredToken")
        if not self.allowed(session, body):
            return self.refuse("AccessDenied")
        return self.forward(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


Server(("127.0.0.1", PORT), Handler).serve_forever()

"""AWS Signature Version 4, for tests: signing requests, and checking those that come in."""
import hashlib
import hmac
import time
import urllib.parse

EMPTY = hashlib.sha256(b"").hexdigest()


def key_of(secret, scope):
    key = b"AWS4" + secret.encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def query_of(query):
    """The canonical form of a query string as it was sent."""
    pairs = [p.partition("=") for p in query.split("&") if p]
    enc = [(urllib.parse.quote(urllib.parse.unquote(k), safe="-_.~"), urllib.parse.quote(urllib.parse.unquote(v), safe="-_.~"))
           for k, _, v in pairs]
    return "&".join("%s=%s" % p for p in sorted(enc))


def signature(method, target, headers, names, payload_hash, date, scope, secret):
    """headers: names in lower case; names: those signed; scope: "20240101/region/service/aws4_request"."""
    path, _, query = target.partition("?")
    canonical = "\n".join([method, path, query_of(query)] + ["%s:%s" % (n, " ".join(headers[n].split())) for n in names] +
                          ["", ";".join(names), payload_hash])
    text = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    return hmac.new(key_of(secret, scope), text.encode(), hashlib.sha256).hexdigest()


def sign(method, host, target, key, secret, region, payload_hash=EMPTY, token=None, service="s3", more=None):
    """Headers that make the request a signed one."""
    date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    headers = {"host": host, "x-amz-date": date, "x-amz-content-sha256": payload_hash, **(more or {})}
    if token:
        headers["x-amz-security-token"] = token
    names = sorted(headers)
    scope = "%s/%s/%s/aws4_request" % (date[:8], region, service)
    headers["authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (
        key, scope, ";".join(names), signature(method, target, headers, names, payload_hash, date, scope, secret))
    return headers


def parts_of(authorization):
    """(key id, scope, names of signed headers, signature) of an Authorization header; None when it is none."""
    if not (authorization or "").startswith("AWS4-HMAC-SHA256 "):
        return None
    fields = dict(f.strip().partition("=")[::2] for f in authorization[len("AWS4-HMAC-SHA256 "):].split(","))
    if {"Credential", "SignedHeaders", "Signature"} - set(fields):
        return None
    key, _, scope = fields["Credential"].partition("/")
    return key, scope, fields["SignedHeaders"].split(";"), fields["Signature"]

#!/usr/bin/env python3
"""A walk over the specification: every path and method, with requests made from its schemas and with bent ones.

Whatever is sent, the answer has a documented status and a body that fits the schema of that status, and none is a server
error. Beyond what the specification lists for each route the server may say what holds for all: 406 with code 0 (not
offered), 409 with code 14 or 19 (a lost race, a damaged table).
Settings: see README.md.
"""
import copy
import json
import os
import random
import sys

from lt import HEADERS, RUN_ID, URL, Run, call, cleanup, ensure_parent, good, ns, post, quote, storage_options, want

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "data", "rest", "spec.json")) as f:
    SPEC = json.load(f)
SPACE = ns("spec" + RUN_ID)
STATUS_OF = {0: 406, 1: 404, 2: 409, 3: 409, 4: 404, 5: 409, 6: 404, 7: 409, 8: 404, 9: 409, 10: 404, 11: 404, 12: 404, 13: 400,
             14: 409, 15: 403, 16: 401, 17: 503, 18: 500, 19: 409, 20: 400, 21: 429, 22: 404, 23: 409}
JSON = "application/json"


# ------------------------------------------------------------------ schemas
def resolve(schema):
    while "$ref" in schema:
        schema = SPEC["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def misfit(value, schema, where="body"):
    """What is wrong with a value, or None. Null stands for any member that is not required."""
    schema = resolve(schema)
    for branch in ("oneOf", "anyOf"):
        if branch in schema and all(misfit(value, s, where) for s in schema[branch]):
            return "%s fits none of its forms" % where
    for s in schema.get("allOf", []):
        wrong = misfit(value, s, where)
        if wrong:
            return wrong
    kind = schema.get("type")
    if value is None and schema.get("nullable"):
        return None
    if kind and (not isinstance(value, TYPES[kind]) or (kind in ("integer", "number") and isinstance(value, bool))):
        return "%s is %r, not %s" % (where, value, kind)
    if "enum" in schema and value not in schema["enum"]:
        return "%s is %r, not one of %s" % (where, value, schema["enum"])
    if "minimum" in schema and value < schema["minimum"]:
        return "%s is %r, below %s" % (where, value, schema["minimum"])
    if kind == "array":
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return "%s has %d items" % (where, len(value))
        return next(filter(None, (misfit(v, schema.get("items", {}), "%s[%d]" % (where, i)) for i, v in enumerate(value))), None)
    if kind == "object":
        missing = [n for n in schema.get("required", []) if value.get(n) is None]
        if missing:
            return "%s lacks %s" % (where, missing)
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        for name, v in value.items():
            inner = properties.get(name, more if isinstance(more, dict) else {})
            if name not in properties and more is False:
                return "%s has an unknown member %s" % (where, name)
            wrong = None if v is None else misfit(v, inner, "%s.%s" % (where, name))
            if wrong:
                return wrong
    return None


def sample(schema, rng, every, depth=0):
    """A value that fits. every: with the optional members, too."""
    schema = resolve(schema)
    for branch in ("oneOf", "anyOf"):
        if branch in schema:
            return sample(rng.choice(schema[branch]), rng, every, depth)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "string":
        return rng.choice(["x", "ein Wört", "2026-01-01T00:00:00Z", "b", "a$b", "main"])
    if kind in ("integer", "number"):
        return rng.choice([1, 2, schema.get("minimum", 0), 7])
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "array":
        return [sample(schema.get("items", {}), rng, every, depth + 1) for _ in range(rng.choice([1, 1, 2]))]
    if kind == "object" and "properties" in schema:
        wanted = schema.get("required", [])
        return {n: sample(s, rng, every, depth + 1) for n, s in schema["properties"].items()
                if n in wanted or (every and depth < 4 and n not in ("identity", "context"))}
    if isinstance(schema.get("additionalProperties"), dict):
        return {"k": sample(schema["additionalProperties"], rng, every, depth + 1)}
    return {}


BENT = [None, True, 0, -1, 2**31, 2**63, -2**63 - 1, 1e300, 0.5, "", "x" * 5000, "\u0000", "\U0001f600", "\ud800", "../..", "%2e%2e", [], [[]],
        [None], {}, {"": None}, {"k": []}, ["x"] * 70]


# These would take the table from under the other requests.
ENDING = {"DropTable", "DeregisterTable", "RenameTable", "BatchDeleteTableVersions"}


# ------------------------------------------------------------------ requests
class Walk:
    def __init__(self):
        self.count = 0
        self.done = 0
        self.names = 0

    def write(self):
        """A table with data: two versions, so that what describes has something to say."""
        import lance
        import lance_namespace as ln
        import pyarrow as pa

        self.written = SPACE + ["written"]
        for mode in ("create", "append"):
            lance.write_dataset(pa.table({"a": [1, 2], "b": [{"c": "x"}, None]}), mode=mode, table_id=self.written,
                                namespace_client=ln.connect("rest", {"uri": URL, **{"header." + k: v for k, v in HEADERS.items()}}),
                                storage_options=storage_options() or None)

    def table(self):
        """A table of its own for each request that might change it: declared, nothing written."""
        self.names += 1
        table = SPACE + ["t%d" % self.names]
        good(post("table", table, "declare"))
        return table

    def target(self, route, oid, name="x"):
        path = route["path"].replace("{id}", quote("$".join(oid) or "$", safe=""))
        for p in route["parameters"]:
            if p["in"] == "path" and p["name"] != "id":
                path = path.replace("{%s}" % p["name"], quote(name, safe=""))
        return path

    def send(self, route, oid, body=None, raw=None, query=None, name="x"):
        kind = None if raw is None else {"Content-Type": JSON}
        r = call(route["method"], self.target(route, oid, name), body, query=query, raw=raw, headers=kind)
        self.count += 1
        self.check(route, r, "%s %s %s %.300s" % (route["operation"], oid, query or "", raw if raw is not None else json.dumps(body)))

    def check(self, route, r, sent):
        want(r.status < 500, "a server error: %r for %s" % (r, sent))
        if r.status < 300:
            self.done += 1
            schema = route["responses"].get("200", route["responses"].get(str(r.status), {})).get(JSON)
            if schema is not None:
                want(r.json is not None, "no JSON: %r for %s" % (r, sent))
                wrong = misfit(r.json, schema)
                want(not wrong, "%s: %r for %s" % (wrong, r, sent))
            return
        want(isinstance(r.json, dict), "an error without a JSON object: %r for %s" % (r, sent))
        wrong = misfit(r.json, {"$ref": "#/components/schemas/ErrorResponse"})
        want(not wrong, "%s: %r for %s" % (wrong, r, sent))
        want(STATUS_OF.get(r.json["code"]) == r.status, "code and status differ: %r for %s" % (r, sent))
        everywhere = (406, 0), (409, 14), (409, 19)
        want(str(r.status) in route["responses"] or (r.status, r.json["code"]) in everywhere, "undocumented: %r for %s" % (r, sent))

    def route(self, route):
        rng = random.Random(route["operation"])
        schema = route["request"].get(JSON)
        of_table = "/v1/table/{id}" in route["path"]

        def oid():
            return self.table() if of_table and route["operation"] not in ("DeclareTable", "RegisterTable") else SPACE + ["n%d" % self.count]

        bodies = [None, {}]
        if schema is not None:
            bodies += [sample(schema, rng, every) for every in (False, True, True, True)]
            for name in sorted(resolve(schema).get("properties", {})):
                for value in rng.sample(BENT, 8):
                    bodies.append({**sample(schema, rng, False), name: value})
        for body in bodies:
            if isinstance(body, dict) and isinstance(body.get("id"), list):
                body = {n: v for n, v in body.items() if n != "id"}
            self.send(route, oid(), body)
            if of_table and route["operation"] not in ENDING:
                body = {n: v for n, v in (body or {}).items() if n != "id"}
                self.send(route, self.written, body)
                if "version" in body:
                    self.send(route, self.written, {**body, "version": 2, "branch": None, "tag": None})
        if schema is not None:
            full = sample(schema, rng, True)
            for _ in range(10):
                body = copy.deepcopy(full)
                spoil(body, rng)
                self.send(route, oid(), body)
            for raw in (b"", b"null", b"5", b'"x"', b"[]", b"{", b"\xff\xfe", b'{"a":1}x', b"[" * 5000, b'{"a":' * 3000, b'{"id":["\\ud800"]}'):
                self.send(route, oid(), raw=raw)
        for p in route["parameters"]:
            if p["in"] == "query":
                for value in ("", "x", "-1", "0", "1", "true", "99999999999999999999", "\u00e9", "\x00", "{}", "a" * 3000):
                    self.send(route, oid(), None if schema is None else {}, query={p["name"]: value})
        for odd in ([], ["nothing"], ["x" * 3000], ["a"] * 70, ["\u00e4\u00f6 /+%"], ["\x00"], [""], ["..", ".."], ["'; --"]):
            if odd or route["operation"] not in ("DropNamespace",):  # the tests' own space lies below the root
                self.send(route, odd, None if schema is None else {}, name="../x")


def spoil(value, rng):
    """Put something bent somewhere in an object."""
    while isinstance(value, dict) and value:
        name = rng.choice(sorted(value))
        inner = value[name]
        if isinstance(inner, list) and inner and isinstance(inner[0], dict) and rng.random() < 0.7:
            inner = inner[0]
        if isinstance(inner, dict) and inner and rng.random() < 0.7:
            value = inner
            continue
        value[name] = rng.choice(BENT)
        return


def main():
    run = Run("a walk over the specification")
    walk = Walk()
    ensure_parent()
    good(post("namespace", SPACE, "create"))
    try:
        walk.write()
        for route in SPEC["routes"]:

            def one(r=route, before=walk.count, done=walk.done):
                walk.route(r)
                return "%d requests, %d of them successes" % (walk.count - before, walk.done - done)

            run.step(route["operation"], one)
    finally:
        cleanup(SPACE)
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())

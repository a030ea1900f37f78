#!/usr/bin/env python3
"""Make spec.json, which the walk over the REST API reads, out of the specification's OpenAPI file.

Kept are paths, methods, parameters, request schemas, and statuses with their schemas; prose and examples are left out.
    reduce.py SPEC.yaml > spec.json
"""
import json
import sys

import yaml

PROSE = {"description", "example", "examples", "summary", "title", "externalDocs", "deprecated", "default"}


def bare(schema):
    """A schema without prose. Below "properties" names are names, not keywords."""
    if isinstance(schema, list):
        return [bare(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key == "properties":
            out[key] = {name: bare(s) for name, s in value.items()}
        elif key not in PROSE:
            out[key] = bare(value)
    return out


def main():
    with open(sys.argv[1]) as f:
        spec = yaml.safe_load(f)
    parts = spec["components"]

    def follow(node):
        while isinstance(node, dict) and "$ref" in node:
            _, _, kind, name = node["$ref"].split("/")
            node = parts[kind][name]
        return node

    def content(node):
        return {kind: bare(c.get("schema", {})) for kind, c in (follow(node) or {}).get("content", {}).items()}

    routes = []
    for path, item in sorted(spec["paths"].items()):
        shared = [follow(p) for p in item.get("parameters", [])]
        for method, op in sorted(item.items()):
            if method == "parameters":
                continue
            params = shared + [follow(p) for p in op.get("parameters", [])]
            routes.append({
                "operation": op["operationId"], "method": method.upper(), "path": path,
                "parameters": [{"name": p["name"], "in": p["in"], "schema": bare(p.get("schema", {}))} for p in params],
                "request": content(op.get("requestBody", {})),
                "responses": {str(s): content(r) for s, r in sorted(op["responses"].items(), key=lambda i: str(i[0]))}})
    schemas = {n: bare(s) for n, s in sorted(parts["schemas"].items())}
    print('{"routes": [\n%s],\n"schemas": {\n%s}}' % (
        ",\n".join(json.dumps(r, sort_keys=True) for r in routes),
        ",\n".join("%s: %s" % (json.dumps(n), json.dumps(s, sort_keys=True)) for n, s in schemas.items())))


main()

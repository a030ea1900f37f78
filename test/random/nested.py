#!/usr/bin/env python3
"""Random nested tables, written by pylance and read by the library: what is read must be what was written.

    nested.py DUMP [--seed N] [--cases N] [--versions 2.1,2.2] [--keep FOLDER]

DUMP is the program of dump.c. Each case has a seed of its own, which is printed when it fails.
"""
import argparse
import decimal
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import lance
import pyarrow as pa

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau".split()


# Depth at which lists may be long; they make large tables of many rows.
LONG = 3


def text(rnd, n):
    return " ".join(rnd.choice(WORDS) for _ in range(n))


def scalar(rnd):
    """-> (type, generator of a value, its text form)"""
    kind = rnd.choice(["int"] * 4 + ["float", "double", "bool", "string", "string", "binary", "large", "wide", "decimal", "fixed", "null"])
    same = lambda v: v
    if kind == "int":
        bits = rnd.choice([8, 16, 32, 64])
        signed = rnd.random() < .5
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        t = getattr(pa, ("int" if signed else "uint") + str(bits))()
        style = rnd.choice(["random", "small", "run", "constant", "few"])
        pool = [rnd.randint(low, high) for _ in range(5)]
        state = [0]
        def run():
            state[0] += 1
            return pool[state[0] // 50 % 5]
        return t, {"random": lambda: rnd.randint(low, high), "small": lambda: rnd.randint(0, 9), "run": run,
                   "constant": lambda: pool[0], "few": lambda: rnd.choice(pool)}[style], same
    if kind == "float":
        return pa.float32(), lambda: rnd.randint(-10**6, 10**6) / 64, same
    if kind == "double":
        return pa.float64(), lambda: rnd.uniform(-1e9, 1e9), same
    if kind == "bool":
        share = rnd.random()
        return pa.bool_(), lambda: rnd.random() < share, same
    if kind in ("string", "large"):
        most = rnd.choice([0, 1, 3, 60])
        pool = [text(rnd, rnd.randint(0, most)) for _ in range(6)]
        low = rnd.random() < .4
        t = pa.large_string() if kind == "large" else pa.string()
        return t, (lambda: rnd.choice(pool)) if low else (lambda: text(rnd, rnd.randint(0, most))), same
    if kind in ("binary", "wide"):
        most = 700 if kind == "wide" else 20
        return pa.binary(), lambda: rnd.randbytes(rnd.randint(0, most)), lambda v: v.hex()
    if kind == "decimal":
        return pa.decimal128(20, 3), lambda: decimal.Decimal(rnd.randint(-10**15, 10**15)).scaleb(-3), lambda v: "%.3f" % v
    if kind == "null":
        return pa.null(), lambda: None, same
    width = rnd.choice([1, 5, 16, 300])
    return pa.binary(width), lambda: rnd.randbytes(width), lambda v: v.hex()


def any_type(rnd, depth, version):
    """-> (type, generator, text form of a value), with NULLs at random"""
    share = rnd.choice([0, 0, .05, .3, .9, 1])
    kinds = ["scalar"] + (["list", "list", "struct", "fixed", "dictionary"] + (["map"] if version >= "2.2" else []) if depth > 0 else [])
    kind = rnd.choice(kinds)
    if kind == "scalar":
        t, make, show = scalar(rnd)
    elif kind == "dictionary":
        pool = [text(rnd, rnd.randint(0, 3)) for _ in range(rnd.choice([1, 4, 60]))]
        t, make, show = pa.dictionary(rnd.choice([pa.int8(), pa.int16(), pa.int32()]), pa.string()), lambda: rnd.choice(pool), lambda v: v
    elif kind == "fixed":
        size = rnd.choice([1, 2, 3, 8, 70])
        inner_share = rnd.choice([0, 0, .3])
        item = rnd.choice([pa.float32(), pa.int8(), pa.uint16(), pa.float64(), pa.bool_()])
        def one():
            if rnd.random() < inner_share:
                return None
            return rnd.random() < .5 if item == pa.bool_() else rnd.randint(0, 99) if pa.types.is_integer(item) else rnd.randint(-999, 999) / 8
        t, make, show = pa.list_(item, size), lambda: [one() for _ in range(size)], lambda v: v
    elif kind == "list":
        inner, make_item, show_item = any_type(rnd, depth - 1, version)
        most = rnd.choice([0, 1, 3, 8] + ([300] if depth == LONG else []))
        t = pa.large_list(inner) if rnd.random() < .2 else pa.list_(inner)
        make = lambda: [make_item() for _ in range(rnd.randint(0, most))]
        show = lambda v: [None if i is None else show_item(i) for i in v]
    elif kind == "map":
        inner, make_item, show_item = any_type(rnd, depth - 1, version)
        most = rnd.choice([0, 1, 4])
        t = pa.map_(pa.string(), inner)
        make = lambda: [("k%d" % i, make_item()) for i in range(rnd.randint(0, most))]
        show = lambda v: [[k, None if i is None else show_item(i)] for k, i in v]
    else:
        parts = [any_type(rnd, depth - 1, version) for _ in range(rnd.randint(1, 3))]
        t = pa.struct([("f%d" % i, p[0]) for i, p in enumerate(parts)])
        make = lambda: {"f%d" % i: p[1]() for i, p in enumerate(parts)}
        show = lambda v: {k: None if v[k] is None else parts[i][2](v[k]) for i, k in enumerate(v)}
    return t, lambda: None if rnd.random() < share else make(), show


def equal(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool) and float(a) == float(b)
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[k], b[k]) for k in a)
    return a == b


def run_case(dump, seed, versions, folder):
    """-> None, or what is wrong; "skipped" when the writer refuses the table"""
    rnd = random.Random(seed)
    version = rnd.choice(versions)
    global LONG
    rows = rnd.choice([1, 7, 60, 60, 300, 300, 1500, 6000])
    LONG = 3 if rows <= 60 else 0
    columns = []
    for i in range(rnd.randint(1, 4)):
        t, make, show = any_type(rnd, 3, version)
        columns.append((t, [make() for _ in range(rows if i == 0 else len(columns[0][1]))], show))
    try:
        table = pa.table([pa.array(c[1], c[0]) for c in columns], names=["c%d" % i for i in range(len(columns))])
        path = os.path.join(folder, "case.lance")
        shutil.rmtree(path, ignore_errors=True)
        lance.write_dataset(table, path, data_storage_version=version, max_rows_per_file=rnd.choice([10**6, rows // 2 + 1]))
    except BaseException as e:  # panics of the writer are no Exceptions
        return "skipped " + str(e).split("\n")[0][:100]
    wanted = [[None if c[1][i] is None else c[2](c[1][i]) for c in columns] for i in range(rows)]
    for batch in (0, rnd.choice([1, 5, 37, 1000]) if rows <= 1500 else 1000):
        p = subprocess.run([dump, path, str(batch)], capture_output=True, text=True)
        if p.returncode:
            return "%s %s: %s" % (version, [str(c[0]) for c in columns], p.stderr[-1500:])
        got = [json.loads(line) for line in p.stdout.splitlines()]
        if len(got) != len(wanted):
            return "%s: %d rows, wrote %d" % (version, len(got), len(wanted))
        for i, (a, b) in enumerate(zip(got, wanted)):
            for k in range(len(columns)):
                if not equal(a[k], b[k]):
                    return "%s, batches of %d, row %d, %s: got %.300s, wrote %.300s" % (version, batch, i, columns[k][0], json.dumps(a[k]), json.dumps(b[k]))
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dump")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--versions", default="2.1,2.2")
    parser.add_argument("--keep")
    a = parser.parse_args()
    folder = a.keep or tempfile.mkdtemp()
    failed = skipped = 0
    for seed in range(a.seed, a.seed + a.cases):
        wrong = run_case(a.dump, seed, a.versions.split(","), folder)
        if wrong is None:
            continue
        if wrong.startswith("skipped"):
            skipped += 1
            continue
        failed += 1
        print("seed %d: %s" % (seed, wrong), flush=True)
    if not a.keep:
        shutil.rmtree(folder)
    print("%d cases with pylance %s: %d failed, %d refused by the writer" % (a.cases, lance.__version__, failed, skipped))
    return 1 if failed or skipped > a.cases // 2 else 0


sys.exit(main())

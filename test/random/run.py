#!/usr/bin/env python3
"""Random tables and operations on them, written by pylance and read by the library: what is read must be what was written.

    run.py DUMP [--seed N] [--cases N] [--versions 2.0,2.1,2.2] [--keep FOLDER] [--verbose]

DUMP is the program of dump.c. A case writes a table of random types (values.py), whose rows are compared with the values
written, and then changes the dataset a few times (operations.py), whose rows are compared with those that pylance reads.
Each case has a seed of its own, which is printed when it fails.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import lance
import pyarrow as pa

import operations
import values

# System columns of the program, and their names for pylance.
ROW_ID, ROW_ADDRESS, CREATED, UPDATED = 1, 2, 4, 8
SYSTEM = {ROW_ID: "_rowid", ROW_ADDRESS: "_rowaddr", CREATED: "_row_created_at_version", UPDATED: "_row_last_updated_at_version"}


class Difference(Exception):
    pass


class Refused(Exception):
    """The writer does not write it, or does not read it back."""


def dump(program, path, version, branch, batch, system):
    p = subprocess.run([program, path, str(version), branch or "", str(batch), str(system)], capture_output=True, text=True)
    if p.returncode:
        raise Difference(p.stderr[-1500:])
    lines = p.stdout.split("\n")
    return lines[0].split("\t"), [json.loads(line) for line in lines[1:-1]]


def compare(names, got, wanted, what):
    """wanted: a list of values for each column."""
    rows = len(wanted[0])
    if len(got) != rows:
        raise Difference("%s: %d rows, expected %d" % (what, len(got), rows))
    for i, row in enumerate(got):
        for k, column in enumerate(wanted):
            if not values.equal(row[k], column[i]):
                raise Difference("%s, row %d, column %s: got %.300s, expected %.300s" % (what, i, names[k], json.dumps(row[k]), json.dumps(column[i])))




def columns_of(table):
    return [[v for chunk in table.column(i).chunks for v in values.texts(chunk, table.schema.field(i))] for i in range(table.num_columns)]


def attempt(call, *args, **keywords):
    try:
        return call(*args, **keywords)
    except BaseException as e:  # panics of the writer are no Exceptions
        if isinstance(e, KeyboardInterrupt):
            raise
        raise Refused(str(e).split("\n")[0][:100]) from None


def first_version(program, rnd, t, rows):
    table = attempt(t.rows, rows)  # Arrow itself fails to make some nested arrays
    wanted = columns_of(table)
    if rnd.random() < .3 and rows > 1:
        cut = rnd.randint(1, rows)
        source = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=cut))
    else:
        source = table
    keywords = {}
    if rnd.random() < .3 and "max_page_bytes" in lance.write_dataset.__kwdefaults__:
        keywords = {"data_cache_bytes": rnd.choice([1, 5000]), "max_page_bytes": rnd.choice([1000, 20000])}
    attempt(lance.write_dataset, source, t.path, data_storage_version=t.version, max_rows_per_file=rnd.choice([10**6, rows // 2 + 1]),
            enable_stable_row_ids=rnd.random() < .5, **keywords)
    for batch in (0, rnd.choice([1, 5, 37, 1000]) if rows <= 60 else rnd.choice([37, 1000])):
        names, got = dump(program, t.path, 0, None, batch, 0)
        compare(names, got, wanted, "written, batches of %d" % batch)


def read_back(t, dataset, system):
    keywords = {"blob_handling": "all_binary"} if t.has_blobs() else {}
    names = dataset.schema.names + [SYSTEM[s] for s in SYSTEM if system & s]
    return attempt(lambda: dataset.scanner(columns=names, **keywords).to_table())


def later_version(program, rnd, t):
    dataset = attempt(t.open)
    system = rnd.choice([0, ROW_ID, ROW_ID | ROW_ADDRESS])
    if dataset.has_stable_row_ids and rnd.random() < .7:
        system = ROW_ID | ROW_ADDRESS | CREATED | UPDATED
    table = read_back(t, dataset, system)
    names, got = dump(program, t.path, dataset.version, t.branch, rnd.choice([0, 7 if table.num_rows <= 300 else 100]), system)
    if names != dataset.schema.names:
        raise Difference("columns %s, expected %s" % (names, dataset.schema.names))
    compare(table.schema.names, got, columns_of(table), "version %d%s" % (dataset.version, " of branch " + t.branch if t.branch else ""))


def run_case(program, seed, versions, folder, verbose):
    """-> None, or what is wrong; Refused when the writer refuses the table"""
    rnd = random.Random(seed)
    version = rnd.choice(versions)
    rows = rnd.choice([1, 7, 7, 60, 60, 60, 60, 300, 300, 1200]) if rnd.random() < .97 else 5000
    kinds = {"c%d" % i: values.column(rnd, version, rows) for i in range(rnd.randint(1, 4))}
    path = os.path.join(folder, "case.lance")
    for name in os.listdir(folder):
        shutil.rmtree(os.path.join(folder, name))
    t = operations.Table(rnd, path, kinds, version)
    done = []
    try:
        first_version(program, rnd, t, rows)
        for _ in range(rnd.choice([0, 2, 4, 8])):
            done.append(operations.apply(t))
            try:
                later_version(program, rnd, t)
            except Refused as e:
                done.append("[not read: %s]" % e)
    except Difference as e:
        return "%s %s %s: %s" % (version, {n: str(k.field(n).type) + str(k.metadata or "") for n, k in kinds.items()}, done, e)
    finally:
        if verbose:
            print(seed, version, rows, done)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dump")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--versions", default="2.0,2.1,2.2")
    parser.add_argument("--keep")
    parser.add_argument("--verbose", action="store_true")
    a = parser.parse_args()
    folder = a.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    failed = refused = 0
    for seed in range(a.seed, a.seed + a.cases):
        try:
            wrong = run_case(a.dump, seed, a.versions.split(","), folder, a.verbose)
        except Refused as e:
            refused += 1
            if a.verbose:
                print("seed %d: refused: %s" % (seed, e))
            continue
        if wrong is not None:
            failed += 1
            print("seed %d: %s" % (seed, wrong), flush=True)
    if not a.keep:
        shutil.rmtree(folder)
    print("%d cases from seed %d with pylance %s: %d failed, %d refused by the writer" % (a.cases, a.seed, lance.__version__, failed, refused))
    return 1 if failed or refused > a.cases // 2 else 0


sys.exit(main())

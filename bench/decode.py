#!/usr/bin/env python3
"""Decode speed of each encoding: bytes of Arrow data per second of one core, the library beside pylance.

    decode.py [--only REGEX] [--rounds N] [--scans N] [--bytes N] [--check] [--keep FOLDER]

Each case is a table of one column, written by pylance in one file version. What the pages really hold is looked up
by lance_inspect and must be what the row of the table says. Then both sides scan it in turns; a scan opens the
dataset, and what counts is the processor time of the whole process, of which the least is taken. Both sides are kept
to one CPU, and the files are in the page cache. The library reads batches as a foreign table does; pylance is given
the best of several sizes, because its batches cost much each.

--check: tables of at most a few thousand rows; what the program reads is compared with what was written, not timed. The
results are printed as TAP.

Needs build/bench/decode and build/lance_inspect ("make bench" builds them), and a Python with pylance.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

# The reader's threads are counted when the module is loaded.
CPU = max(os.sched_getaffinity(0))
os.sched_setaffinity(0, {CPU})
os.environ["LANCE_CPU_THREADS"] = "1"

import lance
import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DECODE = os.path.join(ROOT, "build", "bench", "decode")
INSPECT = os.path.join(ROOT, "build", "lance_inspect")
SEED = 20260101

WORDS = np.array("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma".split())


# ------------------------------------------------------------------ data: f(rng, n) -> array of n values
def wide_ints(rng, n):
    return pa.array(rng.integers(-2**63, 2**63 - 1, n))


def narrow_ints(bits, width):
    def make(rng, n):
        return pa.array(rng.integers(0, 2**width, n).astype("uint%d" % bits))
    return make


def with_nulls(make, share=.1):
    def made(rng, n):
        return compute.if_else(pa.array(rng.random(n) >= share), make(rng, n), None)
    return made


def runs(rng, n):
    lengths = rng.integers(20, 200, n // 20 + 1)
    return pa.array(np.repeat(rng.integers(-2**31, 2**31 - 1, len(lengths), dtype="int32"), lengths)[:n])


def floats(rng, n):
    return pa.array(rng.integers(-10**6, 10**6, n).astype("float32") / 64)


def doubles(rng, n):
    return pa.array(rng.integers(-10**6, 10**6, n) / 64)


def bools(rng, n):
    return pa.array(rng.random(n) < .5)


def decimals(rng, n):
    return pa.Array.from_buffers(pa.decimal128(30, 3), n, [None, pa.py_buffer(np.stack(
        [rng.integers(0, 2**63 - 1, n), np.zeros(n, "int64")], 1).tobytes())])


def sentences(words):
    """Strings of so many words on average."""
    def make(rng, n):
        counts = rng.integers(1, 2 * words, n)
        chosen = WORDS[rng.integers(0, len(WORDS), int(counts.sum()))]
        ends = np.cumsum(counts)
        return pa.array([" ".join(chosen[end - count:end]) for end, count in zip(ends, counts)])
    return make


def hexes(rng, n):
    """Strings without a pattern."""
    text = rng.bytes(n * 12).hex()
    return pa.array([text[i * 24:i * 24 + 8 + i * 7 % 17] for i in range(n)])


def few_strings(rng, n):
    return pa.array(np.array(["%s %d" % (w, i) for i in range(5) for w in WORDS])[rng.integers(0, 85, n)])


def few_ints(rng, n):
    return pa.array(rng.integers(-2**63, 2**63 - 1, 60)[rng.integers(0, 60, n)])


def dictionary(rng, n):
    values = pa.array(["%s %d" % (w, i) for i in range(5) for w in WORDS])
    return pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, len(values), n).astype("int16")), values)


def binaries(size):
    def make(rng, n):
        sizes = rng.integers(size // 2, size * 3 // 2, n)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        return pa.Array.from_buffers(pa.binary(), n, [None, pa.py_buffer(ends.astype("int32").tobytes()),
                                                      pa.py_buffer(rng.bytes(int(ends[-1])))])
    return make


def long_texts(rng, n):
    whole = " ".join(WORDS[rng.integers(0, len(WORDS), 20000)])
    return pa.array([whole[a:a + b] for a, b in zip(rng.integers(0, 40000, n), rng.integers(800, 1600, n))])


def huge_texts(rng, n):
    whole = " ".join(WORDS[rng.integers(0, len(WORDS), 60000)])
    return pa.array([whole[a:a + 65536] for a in rng.integers(0, 100000, n)])


def constant(rng, n):
    return pa.array(np.full(n, 7654321, "int32"))


def nothing(rng, n):
    return pa.nulls(n, pa.int64())


def vectors(size, kind="float32"):
    def make(rng, n):
        return pa.FixedSizeListArray.from_arrays(pa.array(rng.integers(-10**4, 10**4, n * size).astype(kind)), size)
    return make


def lists(make, longest, share=0.0):
    def made(rng, n):
        offsets = np.concatenate([[0], np.cumsum(rng.integers(0, longest + 1, n))]).astype("int32")
        return pa.ListArray.from_arrays(pa.array(offsets, mask=np.append(rng.random(n) < share, False)),
                                        make(rng, int(offsets[-1])))
    return made


def structs(make, share=.1):
    def made(rng, n):
        return pa.StructArray.from_arrays([make(rng, n), with_nulls(doubles)(rng, n)], ["a", "b"],
                                          mask=pa.array(rng.random(n) < share))
    return made


def packed(rng, n):
    return pa.StructArray.from_arrays([wide_ints(rng, n), floats(rng, n), narrow_ints(16, 16)(rng, n)], list("abc"))


def packed_variable(rng, n):
    return pa.StructArray.from_arrays([wide_ints(rng, n), hexes(rng, n)], list("ab"))


def blobs(rng, n):
    return binaries(20000)(rng, n).cast(pa.large_binary())


def blobs_v2(rng, n):
    return lance.blob_array([value.as_py() for value in binaries(20000)(rng, n)])


# ------------------------------------------------------------------ cases
def option(**options):
    return {"lance-encoding:" + key.replace("_", "-"): value for key, value in options.items()}


UNPACKED = {}
ALL, NEW = ("2.0", "2.1", "2.2"), ("2.1", "2.2")

# name, file versions, data, bytes of a row, what all its pages must be ("layout encoding"), options of the field
CASES = [
    ("flat, 64 bits", ALL, wide_ints, 8, "(array|mini-block) flat 64", UNPACKED),
    ("flat, 64 bits, nulls", ALL, with_nulls(wide_ints), 8, r"(array some nulls\(flat 1, flat 64\)|mini-block flat 64)", UNPACKED),
    ("flat, 32 bits", ALL, floats, 4, "(array|mini-block) flat 32", option(bss="off")),
    ("flat, 128 bits", NEW, decimals, 16, "mini-block flat 128", UNPACKED),
    ("flat, bool", ALL, bools, 1, "(array|mini-block) flat 1", UNPACKED),
    ("flat, bool, nulls", NEW, with_nulls(bools), 1, "mini-block flat 1", UNPACKED),
    ("bit-packing, 8 to 5 bits", NEW, narrow_ints(8, 5), 1, "mini-block bitpacked 8", UNPACKED),
    ("bit-packing, 16 to 11 bits", NEW, narrow_ints(16, 11), 2, "mini-block bitpacked 16", UNPACKED),
    ("bit-packing, 32 to 17 bits", NEW, narrow_ints(32, 17), 4, "mini-block bitpacked 32", UNPACKED),
    ("bit-packing, 64 to 33 bits", NEW, narrow_ints(64, 33), 8, "mini-block bitpacked 64", UNPACKED),
    ("bit-packing, 32 to 17 bits, nulls", NEW, with_nulls(narrow_ints(32, 17)), 4, "mini-block bitpacked 32", UNPACKED),
    ("run lengths", NEW, runs, 4, r"mini-block rle\(flat 32, flat 8\)", option(rle_threshold="0.5")),
    ("byte stream split, lz4", NEW, floats, 4, r"mini-block general lz4\(byte stream split\(flat 32\)\)", option(compression="lz4", bss="on")),
    ("byte stream split, zstd", NEW, doubles, 8, r"mini-block general zstd\(byte stream split\(flat 64\)\)", option(compression="zstd", bss="on")),
    ("general, lz4", NEW, sentences(5), 37, r"mini-block general lz4\(variable\(flat 32\)\)", option(compression="lz4")),
    ("general, zstd", NEW, sentences(5), 37, r"mini-block general zstd\(variable\(flat 32\)\)", option(compression="zstd")),
    ("binary, zstd", ("2.0",), sentences(5), 37, r"array binary\(flat 64, flat 8 zstd\)", option(compression="zstd")),
    ("variable, short", ALL, hexes, 20, r"(array binary\(flat 64, flat 8( none)?\)|mini-block variable\(flat 32\))", option(compression="none")),
    ("variable, short, nulls", ALL, with_nulls(hexes), 20, r"(array binary\(flat 64, flat 8( none)?\)|mini-block variable\(flat 32\))", option(compression="none")),
    ("fsst", ALL, sentences(5), 37, r"(array fsst\(binary\(flat 64, flat 8\)\)|mini-block fsst\(variable\(flat 32\)\))", option(compression="fsst")),
    ("dictionary of strings", ALL, few_strings, 13, r"(array dictionary \d+\(.*\)|mini-block bitpacked \d+, dictionary of \d+: .*variable.*)", UNPACKED),
    ("dictionary of integers", ("2.2",), few_ints, 8, r"mini-block bitpacked \d+, dictionary of \d+: .*flat 64.*", UNPACKED),
    ("dictionary type", NEW, dictionary, 11, r"mini-block .*, dictionary of \d+: .*variable.*", UNPACKED),
    ("constant", NEW, constant, 4, r"(constant inline value|mini-block rle\(flat 32, flat 8\))", UNPACKED),
    ("all null", ALL, nothing, 8, "(constant none|array all nulls)", UNPACKED),
    ("full-zip, fixed", NEW, vectors(768), 3072, r"full-zip fixed-size list 768\(flat 32\)", UNPACKED),
    ("full-zip, fixed, nulls", NEW, with_nulls(vectors(128)), 512, r"full-zip fixed-size list 128\(flat 32\)", UNPACKED),
    ("full-zip, variable", NEW, binaries(1000), 1000, r"full-zip variable\(flat 32\)", option(compression="none")),
    ("full-zip, variable, nulls", NEW, with_nulls(binaries(1000)), 1000, r"full-zip variable\(flat 32\)", option(compression="none")),
    ("full-zip, fsst", NEW, long_texts, 1200, r"full-zip fsst\(variable\(flat 32\)\)", option(compression="fsst")),
    ("full-zip, zstd", NEW, huge_texts, 65536, r"full-zip general zstd\(variable\(flat 32\)\)", UNPACKED),
    ("long strings", ("2.0",), binaries(1000), 1000, r"array binary\(flat 64, flat 8\)", UNPACKED),
    ("vectors, 768", ("2.0",), vectors(768), 3072, r"array fixed-size list 768\(flat 32\)", UNPACKED),
    ("vectors, 8", ALL, vectors(8), 32, r"(array|mini-block) fixed-size list 8\(flat 32\)", UNPACKED),
    ("vectors, 16 of bytes", ALL, vectors(16, "uint8"), 16, r"(array|mini-block) fixed-size list 16\(flat 8\)", UNPACKED),
    ("packed struct", ALL, packed, 14, r"(array packed struct\(.*\)|mini-block packed struct\(flat 112\))", option(packed="true")),
    ("packed struct, variable", ("2.2",), packed_variable, 30, r"full-zip variable packed struct\(.*\)", option(packed="true")),
    ("list of integers", ALL, lists(wide_ints, 10), 44, r"(array (list\(flat 64\)|flat 64)|mini-block flat 64)", UNPACKED),
    ("list of integers, nulls", ALL, lists(with_nulls(wide_ints), 10, .1), 44, r"(array .*flat 64.*|mini-block flat 64)", UNPACKED),
    ("list of strings", ALL, lists(hexes, 6), 64, r"(array .*|mini-block fsst\(variable\(flat 32\)\))", UNPACKED),
    ("list of lists", NEW, lists(lists(narrow_ints(32, 17), 6), 6), 48, "mini-block bitpacked 32", UNPACKED),
    ("list, full-zip", NEW, lists(vectors(128), 4), 1028, r"full-zip fixed-size list 128\(flat 32\)", UNPACKED),
    ("struct", ALL, structs(wide_ints, 0), 16, r"(array (flat 64|struct|some nulls\(flat 1, flat 64\))|mini-block flat 64)", UNPACKED),
    ("struct with nulls", NEW, structs(wide_ints), 16, "mini-block flat 64", UNPACKED),
    ("struct in list", NEW, lists(structs(wide_ints), 6), 52, "mini-block flat 64", UNPACKED),
    ("blobs", NEW[:1], blobs, 20000, "blob .*", {"lance-encoding:blob": "true"}),
    ("blobs, v2", ("2.2",), blobs_v2, 20000, "full-zip variable packed struct.*", UNPACKED),
]


# ------------------------------------------------------------------ one case
def write(folder, case, version, nrows):
    """-> the dataset's folder and its table"""
    name, _, make, _, _, options = case
    values = make(np.random.default_rng(SEED), nrows)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    field = lance.blob_field("c") if make is blobs_v2 else pa.field("c", values.type, metadata=options)
    table = pa.Table.from_arrays([values], schema=pa.schema([field]))
    path = os.path.join(folder, re.sub(r"\W+", "_", name + version) + ".lance")
    shutil.rmtree(path, ignore_errors=True)
    lance.write_dataset(table, path, data_storage_version=version, max_rows_per_file=1 << 40)
    return path, table


class Wrong(Exception):
    """A case is not what it should be."""


def run(*argv):
    p = subprocess.run(argv, capture_output=True, text=True)
    if p.returncode:
        raise Wrong("%s: %s" % (" ".join(argv), p.stderr.strip()[-2000:]))
    return p.stdout


def stored_as(path):
    """-> what the pages of the dataset are, sorted by bytes"""
    seen = {}
    for line in run(INSPECT, "pages", path).splitlines()[1:]:
        fields = line.split("\t")
        kind = fields[10] + " " + fields[11]
        seen[kind] = seen.get(kind, 0) + int(fields[9])
    return sorted(seen, key=lambda kind: -seen[kind])


def scan_pylance(path, batch_rows=None):
    """-> (rows, bytes) of a scan, blobs with their bytes"""
    rows = size = 0
    dataset = lance.dataset(path)
    for batch in dataset.scanner(batch_size=batch_rows, blob_handling="all_binary").to_batches():
        rows += batch.num_rows
        column = batch.column(0)
        # The library gives the values of dictionary types, so the comparison is with those.
        size += column.dictionary_decode().nbytes if pa.types.is_dictionary(column.type) else batch.nbytes
    return rows, size


def text_form(value):
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, list):
        return [text_form(v) for v in value]
    if isinstance(value, dict):
        return {key: text_form(v) for key, v in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def compare(path, table, blob):
    """The library's values beside those written -> what is wrong, or None"""
    wanted = [text_form(value["data"] if blob and isinstance(value, dict) else value) for value in table.column("c").to_pylist()]
    for batch in ("0", "777"):
        got = [json.loads(line)[0] for line in run(DECODE, "print", batch, path).splitlines()]
        if len(got) != len(wanted):
            return "%d rows, wrote %d" % (len(got), len(wanted))
        for row, (a, b) in enumerate(zip(got, wanted)):
            if a != b:
                return "row %d: got %.300s, wrote %.300s" % (row, a, b)
    return None


def measure(path, rounds, scans):
    """-> (Arrow bytes, seconds of the library, seconds of pylance), rounds of both in turns"""
    ours = theirs = None
    rows, size = scan_pylance(path)
    batch_rows = {None, min(rows, 1 << 16), min(rows, 1 << 20)}
    for _ in range(rounds):
        got_rows, seconds = run(DECODE, "time", str(scans), "0", path).split()
        if int(got_rows) != rows:
            raise Wrong("%s rows, pylance reads %d" % (got_rows, rows))
        ours = min(ours or 1e9, float(seconds))
        for n in scans * list(batch_rows):
            start = time.process_time()
            scan_pylance(path, n)
            theirs = min(theirs or 1e9, time.process_time() - start)
    return size, ours, theirs


def check_pages(path, wanted):
    """-> what most bytes of the dataset's pages are; all must be as wanted"""
    stored = stored_as(path)
    for kind in stored:
        if not re.fullmatch(wanted, kind):
            raise Wrong("a page is %s, not %s" % (kind, wanted))
    return stored[0]


def check_case(folder, case, version):
    """Write a small table and compare -> what is wrong, or None"""
    name, _, _, row_bytes, wanted, _ = case
    nrows = max(100, min(3000, (1 << 22) // row_bytes))
    try:
        path, table = write(folder, case, version, nrows)
        check_pages(path, wanted)
        return compare(path, table, "blob" in name)
    except Wrong as e:
        return str(e)


def time_case(folder, case, version, a):
    """Write a large table and time it; prints a row -> the ratio"""
    path, _ = write(folder, case, version, a.bytes // case[3])
    kind = check_pages(path, case[4])
    size, ours, theirs = measure(path, a.rounds, a.scans)
    print("| %s | %s | %s | %.0f | %.0f | %.2f |" % (case[0], version, kind, size / ours / 1e6, size / theirs / 1e6, theirs / ours), flush=True)
    if not a.keep:
        shutil.rmtree(path)
    return theirs / ours


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="cases whose name and version match")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scans", type=int, default=2, help="scans of each side in a round")
    parser.add_argument("--bytes", type=int, default=48 << 20, help="Arrow bytes of a case, about")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", help="write the datasets here and leave them")
    a = parser.parse_args()
    folder = a.keep or tempfile.mkdtemp()
    chosen = [(case, version) for case in CASES for version in case[1] if re.search(a.only, "%s %s" % (case[0], version))]
    failed = 0
    try:
        if a.check:
            print("1..%d" % len(chosen))
            for number, (case, version) in enumerate(chosen, 1):
                wrong = check_case(folder, case, version)
                failed += wrong is not None
                print("%sok %d - %s in %s%s" % ("not " if wrong else "", number, case[0].replace("#", ""), version, ": " + wrong if wrong else ""), flush=True)
            return 1 if failed else 0
        print("| encoding | file version | pages | library, MB/s | pylance, MB/s | ratio |")
        print("|---|---|---|--:|--:|--:|")
        ratios = [(time_case(folder, case, version, a), case[0], version) for case, version in chosen]
        for ratio, name, version in sorted(r for r in ratios if r[0] < 1):
            print("below pylance: %s in %s, %.2f" % (name, version, ratio), file=sys.stderr)
    except Wrong as e:
        print(e, file=sys.stderr)
        return 1
    finally:
        if not a.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


sys.exit(main())

#!/usr/bin/env python3
"""Makes two of the datasets below fixtures/data; needs pylance 14.

ranges.lance: values at and beyond the ends of PostgreSQL's ranges. Version 1 holds what PostgreSQL can hold; each
later version has one row with a value that it can't (and version 7 the lowest nanosecond, which it can).
names.lance: column names that want quoting, shortening or another name.
"""
import os
import shutil

import lance
import pyarrow as pa

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures", "data")
folder = os.path.join(root, "ranges.lance")
LOW, HIGH = -2**63, 2**63 - 1
types = {"day": pa.date32(), "at": pa.timestamp("s"), "zoned": pa.timestamp("ms", "Europe/Berlin"),
         "nanos": pa.timestamp("ns"), "span": pa.duration("s"), "big": pa.uint64(), "label": pa.string()}
integers = {pa.date32(): pa.int32(), pa.uint64(): pa.uint64()}


def table(**columns):
    """Columns by their stored integers; those not named are NULL."""
    rows = len(next(iter(columns.values())))
    return pa.table({name: pa.array(columns.get(name, [None] * rows), t) if pa.types.is_string(t) else
                     pa.array(columns.get(name, [None] * rows), integers.get(t, pa.int64())).cast(t)
                     for name, t in types.items()})


shutil.rmtree(folder, ignore_errors=True)
# Days: the epoch, one BC, PostgreSQL's last. Seconds: the epoch, one BC, PostgreSQL's last.
lance.write_dataset(table(day=[0, -720000, 2145042905], at=[0, -62167219201, 9224318015999],
                          zoned=[0, -1, 1700000000123], nanos=[0, -1, 1700000000123456789], span=[0, -1, 86400],
                          big=[0, 2**63, 2**64 - 1], label=["", "é", "€"]), folder)
for bad in (dict(day=[2145042906]), dict(day=[-2**31]), dict(at=[HIGH]), dict(at=[LOW]), dict(at=[9224318016000]),
            dict(nanos=[LOW], zoned=[HIGH]), dict(span=[HIGH]), dict(label=["zero \0 byte"])):
    lance.write_dataset(table(**bad), folder, mode="overwrite")

folder = os.path.join(root, "names.lance")
shutil.rmtree(folder, ignore_errors=True)
names = ["id", "MixedCase", "XYZ", "x'; DROP TABLE t; --", 'two "quotes"', "$$", "back\\slash", "%s", "{0}", "ünïcödé",
         "select", "ctid", "long " + "n" * 80, "long " + "n" * 80 + "2", " blank "]
lance.write_dataset(pa.table({n: pa.array([i], pa.int32()) for i, n in enumerate(names)}), folder)
for made in ("ranges.lance", "names.lance"):
    shutil.rmtree(os.path.join(root, made, "_transactions"))

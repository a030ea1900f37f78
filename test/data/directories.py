#!/usr/bin/env python3
"""Makes the datasets "__manifest" of directories of tables below directories; needs pylance.

p10, p14 are copies of what pylance 10 and 14 wrote through their directory namespace (only the newest version's files);
this makes the rest. odd: rows that need care. dropped, future: the marks of later writers. other: a dataset that is no
directory.
"""
import os
import shutil

import lance
import pyarrow as pa

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "directories")
rows = [
    ("ml", "namespace", None, '{"owner":"me","managed_versioning":"false"}'),
    ("ml$a$b", "namespace", None, None),
    ("ml$a$b$t", "table", "nested/t.lance", '{"k":"v"}'),
    ("ml$a$x$y", "table", "x_y", None),
    ("top$level", "table", "top_level", None),
    ("again", "table", "x_y", None),
    ("ml$up", "table", "../outside.lance", None),
    ("ml$abs", "table", "/etc/x.lance", None),
    ("ml$uri", "table", "s3://elsewhere/x.lance", None),
    ("ml$nowhere", "table", None, None),
    ("ml$empty", "table", "", None),
    ("ml$", "table", "noname.lance", None),
    ("ml$badmeta", "table", "badmeta.lance", '{"n":1}'),
    ("ml$badmode", "table", "badmode.lance", '{"managed_versioning":"perhaps"}'),
    ("bad", "namespace", None, '{"server":"no_such_server"}'),
    ("bad$in", "table", "in.lance", None),
    ("ml$v", "materialized_view", "v.lance", None),
    ("l" * 1100, "table", "long.lance", None),
    ("ml$ctl", "table", "a\x01b.lance", None),
    ("ml", "table", "ml.lance", None),
    ("d" + "$d" * 70, "table", "deep.lance", None),
    ("inner", "table", "nested/t.lance/inner", None),
]
columns = list(zip(*rows))
table = pa.table({"object_id": columns[0], "object_type": columns[1], "location": pa.array(columns[2], pa.string()),
                  "metadata": pa.array(columns[3], pa.string()),
                  "base_objects": pa.array([None] * len(rows), pa.list_(pa.string()))})
prefix = "lance.namespace.manifest."
for name, data, marks in (
        ("odd", table, None),
        ("dropped", table[:1], {prefix + "deleted": "true", prefix + "reader_feature_flags": "1"}),
        ("future", table[:1], {prefix + "reader_feature_flags": "3"}),
        ("other", pa.table({"object_id": [1], "object_type": ["table"]}), None)):
    folder = os.path.join(root, name, "__manifest")
    shutil.rmtree(folder, ignore_errors=True)
    dataset = lance.write_dataset(data, folder)
    if marks:
        dataset.update_metadata(marks)
        os.remove(os.path.join(folder, "_versions", "%020d.manifest" % (2**64 - 2)))
    shutil.rmtree(os.path.join(folder, "_transactions"))
    os.remove(os.path.join(folder, "_versions", "latest_version_hint.json"))

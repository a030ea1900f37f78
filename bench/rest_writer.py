"""A pylance process that appends one row at a time to a table: rest_writer.py JSON.

The JSON has `location`, for a plain directory, or `client` and `table`, the properties of a REST namespace and an id; `seconds`
and `value`. With `create` it makes the table. Otherwise it says "ready" and begins when it reads a line. A lost race is
tried again. Printed as JSON: how long each commit took in seconds, lost races included, how many were lost or came after
the end, and the processor time.
"""
import json
import sys
import time

import lance
import lance_namespace
import pyarrow as pa

LOST = ("concurrent", "conflict", "retry", "too many")

job = json.loads(sys.argv[1])
row = pa.table({"a": pa.array([job["value"]], pa.int64())})
if "location" in job:
    where, how = (row, job["location"]), {}
else:
    where, how = (row,), {"namespace_client": lance_namespace.connect("rest", job["client"]), "table_id": job["table"]}
if job.get("create"):
    lance.write_dataset(*where, mode="create", **how)
    sys.exit()
times, lost, late = [], 0, 0
print("ready", flush=True)
sys.stdin.readline()
used = time.process_time()
end = time.time() + job["seconds"]
while time.time() < end:
    began = time.time()
    while True:
        try:
            lance.write_dataset(*where, mode="append", **how)
            break
        except Exception as e:  # noqa: BLE001 - the clients throw what they like
            if not any(word in str(e).lower() for word in LOST):
                raise
            lost += 1
    if time.time() < end:
        times.append(time.time() - began)
    else:
        late += 1
print(json.dumps({"times": times, "late": late, "lost": lost, "processor": time.process_time() - used}))

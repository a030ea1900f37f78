"""pylance's REST adapter as a process: rest_adapter.py PORT PROPERTIES, the latter those of its directory namespace as JSON."""
import json
import sys
import threading

import lance.namespace

with lance.namespace.RestAdapter("dir", json.loads(sys.argv[2]), port=int(sys.argv[1])):
    threading.Event().wait()

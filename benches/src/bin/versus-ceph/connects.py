"""How often a second Ceph's client connects, authenticates, does one operation and ends, one after the other."""

import json
import sys
import time

import rados

conf, pool, name, seconds = sys.argv[1:]
start = time.monotonic()
connects, elapsed = 0, 0.0
while elapsed < float(seconds):
    cluster = rados.Rados(conffile=conf)
    cluster.connect()
    ioctx = cluster.open_ioctx(pool)
    ioctx.stat(name)
    ioctx.close()
    cluster.shutdown()
    connects += 1
    elapsed = time.monotonic() - start
print(json.dumps({"connects": connects, "seconds": elapsed}))

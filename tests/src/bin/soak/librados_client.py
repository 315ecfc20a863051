#!/usr/bin/python3
"""The soak's client that uses Ceph's library through its Python binding.

Speaks the lines of protocol.rs and keeps the model of rust_client/model.rs. librados waits without end here, so that a
thread can tell which operation hangs, and for how long.
"""
import errno
import json
import os
import random
import sys
import threading
import time
import traceback

import rados

PAUSE = (0.002, 0.012)
MAX_SIZE = 64 << 10
GUARD = "guard"
EQUAL = 1  # LIBRADOS_CMPXATTR_OP_EQ
PLAUSIBLE = {errno.ENOENT, errno.EEXIST, errno.ECANCELED}
UNKNOWN = "unknown"

output_lock = threading.Lock()


def tell(**line):
    with output_lock:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def problem(text):
    tell(kind="problem", text=text)


class Record:
    """What was done, what is in flight, and which OSDs can be relied on."""

    def __init__(self, osds, deadline):
        self.deadline = deadline
        self.lives = [0] * osds  # odd while disturbed
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.ops = {}
        self.in_flight = {}

    def life(self, osd):
        life = self.lives[osd]
        return None if life % 2 else life

    def begin(self, op, what):
        self.in_flight[threading.get_ident()] = [time.monotonic(), op, what]

    def end(self, op, how):
        begun = self.in_flight.pop(threading.get_ident())[0]
        took = int((time.monotonic() - begun) * 1000)
        with self.lock:
            count = self.ops.setdefault(op, {"checked": 0, "unchecked": 0, "failed": 0, "worst_ms": 0})
            count[how] += 1
            count["worst_ms"] = max(count["worst_ms"], took)

    def report(self):
        with self.lock:
            tell(kind="counts", ops=self.ops)

    def watch(self):
        """Tells once of each operation that hangs."""
        for entry in list(self.in_flight.values()):
            begun, op, what = entry
            if op is not None and time.monotonic() - begun > self.deadline:
                problem(f"{op} {what}: no answer within {self.deadline} s")
                entry[1] = None


class Object:
    def __init__(self):
        self.data, self.xattrs, self.omap = b"", {}, {}

    def copy(self):
        other = Object()
        other.data, other.xattrs, other.omap = self.data, dict(self.xattrs), dict(self.omap)
        return other


def small(rng):
    return b"value %d" % rng.randrange(1000)


def choose(state, rng):
    """An operation and its arguments. The state is UNKNOWN, None or an Object."""
    if state is UNKNOWN:
        return "remove", ()
    dice, size = rng.randrange(20), len(state.data) if state else 0
    if dice == 0:
        return "write full", (rng.randbytes(rng.randrange(MAX_SIZE // 2)),)
    if dice < 3:
        return "write", (rng.randrange(MAX_SIZE // 2), rng.randbytes(rng.randrange(8192)))
    if dice < 5 and size < MAX_SIZE:
        return "append", (rng.randbytes(rng.randrange(1, 4096)),)
    if dice < 6:
        return ("truncate", (rng.randrange(MAX_SIZE // 2),)) if state else ("create", ())
    if dice == 6:
        return "remove", ()
    if dice < 10:
        return "read", ()
    if dice == 10:
        return "stat", ()
    if dice == 11:
        return "set xattr", (f"x{rng.randrange(4)}", small(rng))
    if dice == 12:
        return "get xattrs", ()
    if dice < 15:
        return "omap set", ({f"k{rng.randrange(32)}": small(rng) for _ in range(4)},)
    if dice == 15 and state:
        return "omap remove", (f"k{rng.randrange(32)}",)
    if dice < 17:
        return "omap get", ()
    if dice == 17 and state and GUARD in state.omap:
        return "guarded append", (small(rng), rng.randbytes(rng.randrange(1, 100)))
    if dice == 17:
        return "create", ()
    return "compound", (rng.randbytes(rng.randrange(4096)),)


def mark(data):
    return b"value %d" % (len(data) % 10)


def predict(op, args, state):
    """The answer, or an errno with a minus; and the object afterwards."""
    if op in ("read", "stat", "get xattrs", "omap get"):
        if state is None:
            return -errno.ENOENT, None
        answers = {"read": state.data, "stat": len(state.data), "get xattrs": state.xattrs, "omap get": state.omap}
        return answers[op], state
    if op == "remove":
        return (0 if state else -errno.ENOENT), None
    if op == "create" and state:
        return -errno.EEXIST, state
    if op == "guarded append" and state.omap.get(GUARD) != args[0]:
        return -errno.ECANCELED, state
    after = state.copy() if state else Object()
    if op == "write full":
        after.data = args[0]
    elif op == "write":
        offset, data = args
        before = after.data.ljust(offset, b"\0")
        after.data = before[:offset] + data + before[offset + len(data):]
    elif op in ("append", "guarded append"):
        after.data += args[-1]
    elif op == "truncate":
        after.data = after.data[:args[0]].ljust(args[0], b"\0")
    elif op == "set xattr":
        after.xattrs[args[0]] = args[1]
    elif op == "omap set":
        after.omap.update(args[0])
    elif op == "omap remove":
        after.omap.pop(args[0], None)
    elif op == "compound":
        after.data = args[0]
        after.xattrs[GUARD] = after.omap[GUARD] = mark(args[0])
    return 0, after


def execute(io, name, op, args):
    if op == "read":
        return io.read(name, 4 * MAX_SIZE)
    if op == "stat":
        return io.stat(name)[0]
    if op == "get xattrs":
        return dict(io.get_xattrs(name))
    if op == "omap get":
        with rados.ReadOpCtx() as read:
            values, _ = io.get_omap_vals(read, "", "", 1000)
            io.operate_read_op(read, name)
            return dict(values)
    if op == "remove":
        io.remove_object(name)
    elif op == "write full":
        io.write_full(name, args[0])
    elif op == "write":
        io.write(name, args[1], args[0])
    elif op == "append":
        io.append(name, args[0])
    elif op == "truncate":
        io.trunc(name, args[0])
    elif op == "set xattr":
        io.set_xattr(name, *args)
    else:
        with rados.WriteOpCtx() as write:
            if op == "create":
                write.new(rados.LIBRADOS_CREATE_EXCLUSIVE)
            elif op == "omap set":
                io.set_omap(write, tuple(args[0].keys()), tuple(args[0].values()))
            elif op == "omap remove":
                io.remove_omap_keys(write, (args[0],))
            elif op == "guarded append":
                write.omap_cmp(GUARD, args[0].decode(), EQUAL)
                write.append(args[1])
            elif op == "compound":
                write.new(rados.LIBRADOS_CREATE_IDEMPOTENT)
                write.write_full(args[0])
                write.set_xattr(GUARD, mark(args[0]))
                io.set_omap(write, (GUARD,), (mark(args[0]),))
            io.operate_write_op(write, name)
    return 0


def attempt(call):
    """The result, or an errno with a minus."""
    try:
        return call()
    except rados.Error as e:
        return -e.errno


def short(answer):
    return f"{len(answer)} bytes" if isinstance(answer, bytes) else str(answer)


class Worker:
    """Objects of its own, changed and compared one operation after another."""

    def __init__(self, cluster, plan, objects, record, seed):
        self.io = cluster.open_ioctx(plan["pool"])
        self.io.set_namespace(objects[0]["nspace"])
        self.objects, self.record, self.rng = objects, record, random.Random(seed)
        self.list_every = plan["list_every_s"]
        for tracked in objects:
            tracked["state"], tracked["life"] = UNKNOWN, None

    def run(self):
        listed = time.monotonic()
        while not self.record.stopping.is_set():
            self.step(self.rng.choice(self.objects))
            if time.monotonic() - listed > self.list_every:
                self.list()
                listed = time.monotonic()
            time.sleep(self.rng.uniform(*PAUSE))

    def step(self, tracked):
        record, osd, name = self.record, tracked["osd"], tracked["name"]
        life = record.life(osd)
        if life is None or life != tracked["life"]:
            tracked["state"] = UNKNOWN
        state = tracked["state"]
        op, args = choose(state if life is not None else None, self.rng)
        record.begin(op, name)
        answer = attempt(lambda: execute(self.io, name, op, args))
        undisturbed = life is not None and record.life(osd) == life
        error = -answer if isinstance(answer, int) and answer < 0 else 0
        if undisturbed and state is not UNKNOWN:
            expected, after = predict(op, args, state)
            how = "checked" if answer == expected else "failed"
            tracked["state"] = after if answer == expected else UNKNOWN
            if answer != expected:
                problem(f"{op} of {name} at osd.{osd}: {short(answer)} instead of {short(expected)}")
        elif not error or error in PLAUSIBLE:
            # A removal leaves nothing that is unknown.
            tracked["state"] = None if undisturbed else UNKNOWN
            how = "unchecked"
        else:
            problem(f"{op} of {name}: errno {error}")
            tracked["state"], how = UNKNOWN, "failed"
        tracked["life"] = life
        record.end(op, how)

    def list(self):
        record = self.record
        lives = [record.life(tracked["osd"]) for tracked in self.objects]
        record.begin("list", "")
        names = attempt(lambda: [found.key for found in self.io.list_objects()])
        if isinstance(names, int):
            problem(f"list: errno {-names}")
            return record.end("list", "failed")
        wrong = []
        for tracked, life in zip(self.objects, lives):
            if life is None or life != record.life(tracked["osd"]) or life != tracked["life"]:
                continue
            if tracked["state"] is not UNKNOWN and names.count(tracked["name"]) != (tracked["state"] is not None):
                wrong.append(tracked["name"])
        if wrong:
            problem(f"list: wrong about {', '.join(wrong)}")
        record.end("list", "failed" if wrong else "checked")


def enter(record, op, what, excused, call):
    record.begin(op, what)
    result = attempt(call)
    error = -result if isinstance(result, int) and result < 0 else 0
    if error and error != excused:
        problem(f"{op} {what}: errno {error}")
        record.end(op, "failed")
    else:
        record.end(op, "checked")


def command(cluster, prefix):
    return cluster.mon_command(json.dumps({"prefix": prefix, "format": "json"}), b"")[0]


def run_commands(cluster, plan, record):
    number, commands = 0, plan["commands"]
    io = cluster.open_ioctx(plan["pool"])
    while not record.stopping.wait(plan["command_every_ms"] / 1000):
        n = number % (len(commands) + 2)
        if n < len(commands):
            enter(record, "command", commands[n], 0, lambda: command(cluster, commands[n]))
        elif n == len(commands):
            enter(record, "command", "cluster stat", 0, cluster.get_cluster_stats)
        else:
            enter(record, "command", "pool stat", 0, io.get_stats)
        number += 1


def use_pool(cluster, pool):
    with cluster.open_ioctx(pool) as io:
        for n in range(4):
            io.write_full(f"object-{n}", pool.encode())
        # Restarts may have taken some of them.
        return 0 if len(list(io.list_objects())) <= 4 else -errno.EPROTO


def make_pools(cluster, plan, record):
    number = 0
    while not record.stopping.is_set():
        pool = f"{plan['name']}-pool-{number}"
        # The monitor may have done what it could not tell any more.
        enter(record, "create pool", pool, errno.EEXIST, lambda: cluster.create_pool(pool))
        enter(record, "use a new pool", pool, 0, lambda: use_pool(cluster, pool))
        enter(record, "delete pool", pool, errno.ENOENT, lambda: cluster.delete_pool(pool))
        if cluster.pool_exists(pool):
            problem(f"{pool} is still there")
        number += 1
        record.stopping.wait(plan["pool_every_s"])


def follow_orders(record):
    for line in sys.stdin:
        line = line.strip()
        order, *osd = line.split(" ")
        if order in ("disturb", "settled"):
            record.lives[int(osd[0])] += 1
        elif order == "stop":
            record.stopping.set()
        tell(kind="ack", order=line)
    # Without orders there is nobody to work for.
    record.stopping.set()


def main():
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    record = Record(plan["osds"], plan["deadline_s"])
    threading.Thread(target=follow_orders, args=(record,), daemon=True).start()
    cluster = rados.Rados(conffile=plan["conf"])
    cluster.connect()

    def survive(work, *args):
        try:
            work(*args)
        except BaseException:
            problem(traceback.format_exc())

    tasks = [(run_commands, cluster, plan, record), (make_pools, cluster, plan, record)]
    for number, objects in enumerate(plan["workers"]):
        tasks.append((Worker(cluster, plan, objects, record, plan["seed"] * 1000 + number).run,))
    threads = [threading.Thread(target=survive, args=task, daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(1)
        record.watch()
        record.report()
    cluster.shutdown()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)

"""What python3-rados offers, called on a cluster; every result is printed as JSON, without times, ids and addresses.

usage: script.py CEPH_CONF

The same calls on two clusters give the same lines. Snapshots, watch and notify are not among them, and neither is what needs
a manager.
"""
import json
import sys
import threading

import rados

POOL = "data"
section = "start"


def plain(value):
    """A result as JSON can hold it."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def step(name, call):
    """Prints what a call returns or raises; gives it back."""
    line, result = {"step": f"{section}: {name}"}, None
    try:
        result = call()
        line["result"] = plain(result)
    except Exception as error:
        line["raises"], line["errno"] = type(error).__name__, getattr(error, "errno", None)
    print(json.dumps(line), flush=True)
    return result


def name_of(value):
    return type(value).__name__


def the_handle(cluster):
    step("fsid: length", lambda: len(cluster.get_fsid()))
    step("instance id: positive", lambda: cluster.get_instance_id() > 0)
    step("state", lambda: cluster.state)
    step("version: parts", lambda: len(str(cluster.version()).split(".")))
    step("conf_get", lambda: cluster.conf_get("rados_osd_op_timeout"))
    step("conf_set", lambda: cluster.conf_set("rados_osd_op_timeout", "20"))
    step("conf_get after", lambda: float(cluster.conf_get("rados_osd_op_timeout")))
    step("conf_get of nothing", lambda: cluster.conf_get("no_such_option"))
    step("conf_set of nothing", lambda: cluster.conf_set("no_such_option", "1"))
    step("addresses: some", lambda: len(cluster.get_addrs()) > 0)
    step("wait for the newest map", cluster.wait_for_latest_osdmap)
    step("cluster stats: keys", lambda: sorted(cluster.get_cluster_stats()))
    step("ping a monitor that is not there", lambda: cluster.ping_monitor("nobody"))
    step("connect again", cluster.connect)


def pools(cluster):
    step("create", lambda: cluster.create_pool(POOL))
    step("create again", lambda: cluster.create_pool(POOL))
    step("create without a name", lambda: cluster.create_pool(""))
    step("exists", lambda: [cluster.pool_exists(POOL), cluster.pool_exists("none")])
    number = step("lookup: type", lambda: name_of(cluster.pool_lookup(POOL))) and cluster.pool_lookup(POOL)
    step("reverse lookup", lambda: cluster.pool_reverse_lookup(number))
    step("lookup of none", lambda: cluster.pool_lookup("none"))
    step("reverse lookup of none", lambda: cluster.pool_reverse_lookup(987654))
    step("list", lambda: sorted(p for p in cluster.list_pools() if not p.startswith((".", "device_"))))
    step("base tier is itself", lambda: cluster.get_pool_base_tier(number) == number)
    step("open none", lambda: cluster.open_ioctx("none"))
    step("open by number", lambda: cluster.open_ioctx2(number).get_pool_name())
    step("open no number", lambda: cluster.open_ioctx2(987654))
    step("delete", lambda: [cluster.create_pool("gone"), cluster.delete_pool("gone")])
    step("exists after", lambda: cluster.pool_exists("gone"))
    step("delete again", lambda: cluster.delete_pool("gone"))
    step("create with a rule", lambda: cluster.create_pool("ruled", crush_rule=0))
    step("create with no such rule", lambda: cluster.create_pool("unruled", crush_rule=99))


def objects(io):
    step("write", lambda: io.write("obj", b"hello"))
    step("read", lambda: io.read("obj"))
    step("write at an offset", lambda: io.write("obj", b"there", 10))
    step("read all", lambda: io.read("obj"))
    step("read a part", lambda: io.read("obj", 3, 11))
    step("read beyond", lambda: io.read("obj", 100, 1000))
    step("append", lambda: io.append("obj", b"!"))
    step("append to a new one", lambda: io.append("obj2", b"new"))
    step("write full", lambda: io.write_full("obj", b"full"))
    step("read full", lambda: io.read("obj"))
    step("write nothing", lambda: io.write("obj", b""))
    step("write nothing at an offset", lambda: io.write("holes", b"", 7))
    step("read holes", lambda: io.read("holes"))
    step("truncate", lambda: io.trunc("obj", 2))
    step("truncate up", lambda: io.trunc("obj", 6))
    step("read truncated", lambda: io.read("obj"))
    step("truncate none", lambda: io.trunc("none", 6))
    step("stat", lambda: io.stat("obj")[0])
    step("stat: time", lambda: name_of(io.stat("obj")[1]))
    step("writesame", lambda: io.writesame("same", b"ab", 8, 2))
    step("read same", lambda: io.read("same"))
    step("writesame of another length", lambda: io.writesame("same", b"ab", 7))
    step("cmpext equal", lambda: io.cmpext("same", b"abab", 2))
    step("cmpext other", lambda: io.cmpext("same", b"abxb", 2))
    step("cmpext beyond", lambda: io.cmpext("same", b"\0\0", 100))
    step("read none", lambda: io.read("none"))
    step("stat none", lambda: io.stat("none"))
    step("remove", lambda: io.remove_object("obj2"))
    step("remove again", lambda: io.remove_object("obj2"))
    step("version grows", lambda: grows(io))
    step("write a number", lambda: io.write("obj", 5))
    step("an empty name", lambda: io.write("", b"x"))
    step("a long name", lambda: io.write("n" * 5000, b"x"))
    step("a name beyond ASCII", lambda: [io.write_full("größe", b"x"), io.read("größe")])
    step("a large object", lambda: [io.write_full("large", b"x" * 5_000_000), io.stat("large")[0]])
    step("too large", lambda: io.write("obj", b"x", 1 << 40))
    step("object class", lambda: io.execute("obj", "hello", "say_hello", b"you"))
    step("object class: error", lambda: io.execute("obj", "hello", "say_hello", b"y" * 200))
    step("object class: none", lambda: io.execute("obj", "none", "none", b""))
    step("object class: no method", lambda: io.execute("obj", "hello", "none", b""))


def grows(io):
    versions = []
    for _ in range(3):
        io.write_full("versions", b"x")
        versions.append(io.get_last_version())
    return versions == sorted(set(versions))


def xattrs(io):
    io.write_full("xattrs", b"x")
    step("set", lambda: io.set_xattr("xattrs", "key", b"value"))
    step("set bytes", lambda: io.set_xattr("xattrs", "bytes", b"\0\xff"))
    step("set empty", lambda: io.set_xattr("xattrs", "empty", b""))
    step("get", lambda: [io.get_xattr("xattrs", key) for key in ("key", "bytes", "empty")])
    step("get none", lambda: io.get_xattr("xattrs", "none"))
    step("list", lambda: dict(io.get_xattrs("xattrs")))
    step("remove", lambda: io.rm_xattr("xattrs", "key"))
    step("remove again", lambda: io.rm_xattr("xattrs", "key"))
    step("list after", lambda: dict(io.get_xattrs("xattrs")))
    step("set on a new object", lambda: io.set_xattr("xattrs2", "key", b"value"))
    step("stat of it", lambda: io.stat("xattrs2")[0])
    step("get of no object", lambda: io.get_xattr("none", "key"))
    step("list of no object", lambda: dict(io.get_xattrs("none")))
    step("remove of no object", lambda: io.rm_xattr("none", "key"))
    step("a large one", lambda: [io.set_xattr("xattrs", "large", b"x" * 60000), len(io.get_xattr("xattrs", "large"))])
    step("a long name", lambda: io.set_xattr("xattrs", "n" * 300, b"x"))


def read_omap(io, name, get):
    with rados.ReadOpCtx() as op:
        entries, ret = get(op)
        io.operate_read_op(op, name)
        return [ret, list(entries)]


def write_op(io, name, *changes, **how):
    with rados.WriteOpCtx() as op:
        for change in changes:
            change(op)
        return io.operate_write_op(op, name, **how)


def omap(io):
    keys = tuple(f"k{n:02}" for n in range(10))
    step("set", lambda: write_op(io, "omap", lambda op: io.set_omap(op, keys, tuple(k.encode() * 2 for k in keys))))
    step("set bytes", lambda: write_op(io, "omap", lambda op: io.set_omap(op, ("x", "y"), (b"\0\xff", b""))))
    step("all", lambda: read_omap(io, "omap", lambda op: io.get_omap_vals(op, "", "", 100)))
    step("a prefix", lambda: read_omap(io, "omap", lambda op: io.get_omap_vals(op, "", "k0", 100)))
    step("after a key", lambda: read_omap(io, "omap", lambda op: io.get_omap_vals(op, "k07", "", 100)))
    step("at most three", lambda: read_omap(io, "omap", lambda op: io.get_omap_vals(op, "k02", "k", 3)))
    step("at most none", lambda: read_omap(io, "omap", lambda op: io.get_omap_vals(op, "", "", 0)))
    step("in pages", lambda: pages(io, "omap", 5))
    step("keys", lambda: read_omap(io, "omap", lambda op: io.get_omap_keys(op, "k05", 4)))
    step("by keys", lambda: read_omap(io, "omap", lambda op: io.get_omap_vals_by_keys(op, ("x", "k01", "none"))))
    step("set other lengths", lambda: write_op(io, "omap", lambda op: io.set_omap(op, ("x", "y"), (b"1",))))
    step("remove", lambda: write_op(io, "omap", lambda op: io.remove_omap_keys(op, ("k00", "none"))))
    step("remove a range", lambda: write_op(io, "omap", lambda op: io.remove_omap_range2(op, "k01", "k08")))
    step("what is left", lambda: read_omap(io, "omap", lambda op: io.get_omap_vals(op, "", "", 100)))
    step("compare", lambda: write_op(io, "omap", lambda op: op.omap_cmp("k08", "k08k08", 1), lambda op: op.append(b"1")))
    step("compare other", lambda: write_op(io, "omap", lambda op: op.omap_cmp("k08", "no", 1), lambda op: op.append(b"2")))
    step("appended once", lambda: io.read("omap"))
    step("clear", lambda: write_op(io, "omap", lambda op: io.clear_omap(op)))
    step("nothing is left", lambda: read_omap(io, "omap", lambda op: io.get_omap_vals(op, "", "", 100)))
    step("of no object", lambda: read_omap(io, "none", lambda op: io.get_omap_vals(op, "", "", 100)))
    many = tuple(f"key{n:05}" for n in range(3000))
    step("many", lambda: write_op(io, "many", lambda op: io.set_omap(op, many, tuple(b"v" for _ in many))))
    step("many: counted in one go", lambda: len(read_omap(io, "many", lambda op: io.get_omap_vals(op, "", "", 5000))[1]))
    step("many: counted in pages", lambda: sum(len(page) for page in pages(io, "many", 700)))


def pages(io, name, size):
    found, after = [], ""
    while True:
        page = read_omap(io, name, lambda op: io.get_omap_vals(op, after, "", size))[1]
        if not page:
            return found
        found.append(page)
        after = page[-1][0]


def listing(cluster, io):
    def names(ctx):
        return sorted((found.nspace, found.locator_key or "", found.key) for found in ctx.list_objects())

    cluster.create_pool("listed")
    with cluster.open_ioctx("listed") as ctx:
        step("empty", lambda: names(ctx))
        for n in range(20):
            ctx.write_full(f"obj{n}", b"x")
        ctx.set_namespace("ns")
        ctx.write_full("in-ns", b"x")
        step("namespace", lambda: [ctx.get_namespace(), names(ctx)])
        step("not in the namespace", lambda: ctx.read("obj0"))
        ctx.set_namespace("")
        ctx.set_locator_key("key")
        ctx.write_full("placed", b"by key")
        step("locator", lambda: [ctx.get_locator_key(), ctx.read("placed")])
        ctx.set_locator_key("")
        step("without the locator", lambda: ctx.read("placed"))
        step("default namespace", lambda: names(ctx))
        ctx.set_namespace(rados.LIBRADOS_ALL_NSPACES)
        step("all namespaces", lambda: names(ctx))
        step("write into all", lambda: ctx.write("obj0", b"x"))
        ctx.set_namespace("")
        step("through an object", lambda: through_an_object(ctx))
        step("stats: keys", lambda: sorted(ctx.get_stats()))
        step("pool name and number", lambda: [ctx.get_pool_name(), ctx.get_pool_id() == cluster.pool_lookup("listed")])
    step("after closing", lambda: ctx.read("obj0"))
    step("a snapshot to read from, without any", lambda: io.set_read(rados.LIBRADOS_SNAP_HEAD))
    cluster.delete_pool("listed")


def through_an_object(ctx):
    for found in ctx.list_objects():
        if found.key == "obj1":
            found.set_xattr("k", b"v")
            found.write(b"written")
            found.seek(0)
            return [found.read(4), found.stat()[0], found.get_xattr("k"), dict(found.get_xattrs()), found.remove()]


def compound(io):
    step("nothing", lambda: write_op(io, "compound"))
    step("all at once", lambda: write_op(
        io, "compound", lambda op: op.new(rados.LIBRADOS_CREATE_EXCLUSIVE), lambda op: op.write_full(b"abcdef"),
        lambda op: op.append(b"gh"), lambda op: op.write(b"X", 1), lambda op: op.zero(2, 2), lambda op: op.truncate(7),
        lambda op: op.set_xattr("key", b"value"), lambda op: io.set_omap(op, ("a",), (b"1",))))
    step("data", lambda: io.read("compound"))
    step("exclusive again", lambda: write_op(
        io, "compound", lambda op: op.new(rados.LIBRADOS_CREATE_EXCLUSIVE), lambda op: op.append(b"lost")))
    step("unchanged", lambda: io.read("compound"))
    step("create", lambda: write_op(io, "compound", lambda op: op.new(rados.LIBRADOS_CREATE_IDEMPOTENT)))
    step("cmpext", lambda: write_op(io, "compound", lambda op: op.cmpext(b"aX", 0), lambda op: op.append(b"1")))
    step("cmpext other", lambda: write_op(io, "compound", lambda op: op.cmpext(b"aY", 0), lambda op: op.append(b"2")))
    step("writesame", lambda: write_op(io, "compound", lambda op: op.writesame(b"zz", 4, 8)))
    step("data now", lambda: io.read("compound"))
    step("assert version", lambda: [io.read("compound"), write_op(
        io, "compound", lambda op: op.assert_version(io.get_last_version()), lambda op: op.append(b"3"))][1])
    step("assert a version to come", lambda: write_op(
        io, "compound", lambda op: op.assert_version(10**9), lambda op: op.append(b"4")))
    step("assert a version long gone", lambda: write_op(
        io, "compound", lambda op: op.assert_version(1), lambda op: op.append(b"5")))
    step("execute", lambda: write_op(io, "hello", lambda op: op.execute("hello", "record_hello", b"you")))
    step("executed", lambda: io.read("hello"))
    step("allowed to fail", lambda: failing(io))
    step("remove xattr", lambda: write_op(io, "compound", lambda op: op.rm_xattr("key")))
    step("with a time", lambda: write_op(io, "timed", lambda op: op.write_full(b"x"), mtime=1000000000))
    step("a time", lambda: io.stat("timed")[1].tm_year)
    step("read cmpext", lambda: read_cmpext(io, b"aX"))
    step("read cmpext other", lambda: read_cmpext(io, b"aY"))
    step("remove", lambda: write_op(io, "compound", lambda op: op.remove()))
    step("remove again", lambda: write_op(io, "compound", lambda op: op.remove()))


def failing(io):
    with rados.WriteOpCtx() as op:
        op.rm_xattr("none")
        op.set_flags(rados.LIBRADOS_OP_FLAG_FAILOK)
        op.append(b"!")
        io.operate_write_op(op, "failing")
    return io.read("failing")


def read_cmpext(io, data):
    with rados.ReadOpCtx() as op:
        op.cmpext(data, 0)
        io.operate_read_op(op, "compound")


def aio(io):
    def wait(start):
        completion = start()
        completion.wait_for_complete_and_cb()
        return completion.get_return_value()

    def with_result(start):
        got, done = [], threading.Event()

        def finish(completion, *rest):
            got.extend([completion.get_return_value()] + list(rest))
            done.set()

        completion = start(finish)
        completion.wait_for_complete_and_cb()
        done.wait(10)
        return got

    step("write", lambda: wait(lambda: io.aio_write("aio", b"hello")))
    step("append", lambda: wait(lambda: io.aio_append("aio", b" world")))
    step("read", lambda: with_result(lambda cb: io.aio_read("aio", 100, 0, cb)))
    step("read a part", lambda: with_result(lambda cb: io.aio_read("aio", 3, 6, cb)))
    step("write full", lambda: wait(lambda: io.aio_write_full("aio", b"full")))
    step("stat", lambda: with_result(lambda cb: io.aio_stat("aio", cb))[:2])
    step("set xattr", lambda: wait(lambda: io.aio_setxattr("aio", "k", b"v")))
    step("remove xattr", lambda: wait(lambda: io.aio_rmxattr("aio", "k")))
    step("writesame", lambda: wait(lambda: io.aio_writesame("aio", b"ab", 6)))
    step("cmpext", lambda: wait(lambda: io.aio_cmpext("aio", b"abab", 0)))
    step("cmpext other", lambda: wait(lambda: io.aio_cmpext("aio", b"abxb", 0)))
    step("execute", lambda: with_result(lambda cb: io.aio_execute("aio", "hello", "say_hello", b"", 100, cb)))
    step("read none", lambda: with_result(lambda cb: io.aio_read("none", 100, 0, cb)))
    step("stat none", lambda: with_result(lambda cb: io.aio_stat("none", cb)))
    step("remove", lambda: wait(lambda: io.aio_remove("aio")))
    step("remove again", lambda: wait(lambda: io.aio_remove("aio")))
    with rados.WriteOpCtx() as op:
        op.write_full(b"by op")
        io.set_omap(op, ("a", "b"), (b"1", b"2"))
        step("write op", lambda: wait(lambda: io.operate_aio_write_op(op, "aio-op")))
    with rados.ReadOpCtx() as op:
        values, _ = io.get_omap_vals(op, "", "", 10)
        step("read op", lambda: wait(lambda: io.operate_aio_read_op(op, "aio-op")))
        step("read op: values", lambda: list(values))
    step("a hundred at once", lambda: hundred(io))


def hundred(io):
    completions = [io.aio_write(f"aio-{n}", b"%d" % n) for n in range(100)]
    io.aio_flush()
    return [all(c.is_complete() for c in completions), {c.get_return_value() for c in completions} == {0},
            [io.read(f"aio-{n}") for n in (0, 57, 99)]]


def locks(io):
    step("exclusive", lambda: io.lock_exclusive("locked", "lock", "cookie", "why", 30))
    step("exclusive again", lambda: io.lock_exclusive("locked", "lock", "cookie", "why", 30))
    step("another cookie", lambda: io.lock_exclusive("locked", "lock", "other", "why", 30))
    step("shared too", lambda: io.lock_shared("locked", "lock", "other", "tag", "why", 30))
    step("renew", lambda: io.lock_exclusive("locked", "lock", "cookie", "why", 30, 1))
    step("unlock", lambda: io.unlock("locked", "lock", "cookie"))
    step("unlock again", lambda: io.unlock("locked", "lock", "cookie"))
    step("shared", lambda: io.lock_shared("locked", "lock", "one", "tag", "why"))
    step("shared by two", lambda: io.lock_shared("locked", "lock", "two", "tag", "why"))
    step("another tag", lambda: io.lock_shared("locked", "lock", "three", "other", "why"))
    if hasattr(io, "list_lockers"):
        def lockers():
            found = io.list_lockers("locked", "lock")
            return [found["tag"], found["exclusive"], sorted(locker[1] for locker in found["lockers"])]

        step("lockers", lockers)
        step("break of nobody", lambda: io.break_lock("locked", "lock", "client.0", "one"))
    step("unlock none", lambda: io.unlock("none", "lock", "cookie"))


def applications(io):
    step("list", lambda: io.application_list())
    step("enable", lambda: io.application_enable("app"))
    step("enable again", lambda: io.application_enable("app"))
    step("enable another", lambda: io.application_enable("other"))
    step("enable another by force", lambda: io.application_enable("other", True))
    step("list after", lambda: sorted(io.application_list()))
    step("set", lambda: io.application_metadata_set("app", "key", "value"))
    step("get", lambda: io.application_metadata_get("app", "key"))
    step("get none", lambda: io.application_metadata_get("app", "none"))
    step("metadata", lambda: io.application_metadata_list("app"))
    step("of another", lambda: io.application_metadata_set("third", "key", "value"))
    step("metadata of another", lambda: io.application_metadata_list("third"))
    step("remove", lambda: io.application_metadata_remove("app", "key"))
    step("metadata after", lambda: io.application_metadata_list("app"))


def commands(cluster):
    def mon(status=False, **command):
        ret, output, text = cluster.mon_command(json.dumps(command), b"")
        return [ret, output] + ([text] if status else [])

    step("pools", lambda: mon(prefix="osd pool ls", format="json"))
    for option in ("size", "pg_num", "pgp_num", "crush_rule"):
        step(f"pool {option}", lambda: mon(prefix="osd pool get", pool=POOL, var=option))
    step("pool of nothing", lambda: mon(prefix="osd pool get", pool="none", var="size", status=True))
    step("pool option of nothing", lambda: mon(prefix="osd pool get", pool=POOL, var="none")[0])
    step("create again", lambda: mon(prefix="osd pool create", pool=POOL, pg_num=8, status=True))
    step("delete without saying so", lambda: mon(prefix="osd pool delete", pool=POOL)[0])
    step("rename none", lambda: mon(prefix="osd pool rename", srcpool="none", destpool="other", status=True))
    step("fsid", lambda: len(mon(prefix="fsid")[1].strip()))
    step("osds", lambda: mon(prefix="osd ls"))
    step("osds that are up", lambda: json.loads(mon(prefix="osd stat", format="json")[1])["num_up_osds"])
    step("unknown", lambda: mon(prefix="no such command", status=True))
    step("no JSON", lambda: cluster.mon_command("{no json", b""))
    step("an empty one", lambda: cluster.mon_command("", b""))
    step("a missing argument", lambda: mon(prefix="osd pool create")[0])
    step("key of nobody", lambda: mon(prefix="auth get", entity="client.nobody", status=True))
    step("config keys", lambda: [mon(prefix="config-key set", key="k", val="v")[0], mon(prefix="config-key get", key="k")])
    step("a monitor of no name", lambda: cluster.mon_command(json.dumps({"prefix": "fsid"}), b"", target="nobody"))

    def osd(number, **command):
        ret, output, text = cluster.osd_command(number, json.dumps(command), b"")
        return [ret, bool(output), bool(text)]

    step("osd: version", lambda: osd(0, prefix="version"))
    step("osd: unknown", lambda: osd(0, prefix="no such command"))
    step("osd: no JSON", lambda: cluster.osd_command(0, "{no json", b"")[0])
    step("no such osd", lambda: osd(99, prefix="version"))


def blocklist(cluster, conf):
    other = rados.Rados(conffile=conf)
    other.connect()
    io = other.open_ioctx(POOL)
    step("before", lambda: io.write_full("blocked", b"before"))
    # An address vector names one address here: `[v2:127.0.0.1:0/123]` or `v2:127.0.0.1:0/123`.
    addr = other.get_addrs().strip("[]").split(",")[0].removeprefix("v2:")
    step("add", lambda: cluster.blocklist_add(addr, 60))
    step("listed", lambda: addr in cluster.mon_command(json.dumps({"prefix": "osd blocklist ls"}), b"")[1].decode())
    other.wait_for_latest_osdmap()
    step("write", lambda: io.write_full("blocked", b"after"))
    step("read", lambda: io.read("blocked"))
    io.close()
    step("remove", lambda: cluster.mon_command(
        json.dumps({"prefix": "osd blocklist", "blocklistop": "rm", "addr": addr}), b"")[0])
    step("remove again", lambda: cluster.mon_command(
        json.dumps({"prefix": "osd blocklist", "blocklistop": "rm", "addr": addr}), b"")[0])
    step("add nonsense", lambda: cluster.blocklist_add("nonsense", 60))


def main():
    global section
    conf = sys.argv[1]
    step("no configuration", lambda: rados.Rados(conffile="/no/such/file"))
    step("nobody", lambda: rados.Rados(conffile=conf, name="client.nobody", conf={"keyring": "/dev/null"}).connect(timeout=5))
    step("not connected", lambda: rados.Rados(conffile=conf).list_pools())
    cluster = rados.Rados(conffile=conf)
    cluster.connect()
    sections = {"handle": lambda: the_handle(cluster), "pools": lambda: pools(cluster)}
    for name in ("objects", "xattrs", "omap", "compound", "aio", "locks", "applications"):
        sections[name] = lambda name=name: globals()[name](cluster.open_ioctx(POOL))
    sections["listing"] = lambda: listing(cluster, cluster.open_ioctx(POOL))
    sections["commands"] = lambda: commands(cluster)
    sections["blocklist"] = lambda: blocklist(cluster, conf)
    for section, run in sections.items():
        run()
    section = "end"
    cluster.shutdown()
    step("after shutdown", cluster.list_pools)


main()

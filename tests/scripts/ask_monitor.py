"""Asks monitors as the stock `ceph` does: the command lines of a file, bound to the commands that the
monitor describes with the stock tool's own parser. One process for all of them, where the tool would take one
each. Writes a JSON object a line: command, code (errno or 0), status, output.

usage: ask_monitor.py CEPH_CONF COMMANDS
"""

import json
import sys

import rados
from ceph_argparse import ArgumentError, parse_json_funcsigs, validate_command


def signatures(cluster, target):
    command = '{"prefix": "get_command_descriptions"}'
    _, described, _ = cluster.mon_command(command, b"", target=target)
    return parse_json_funcsigs(described.decode(), "cli")


def main():
    cluster = rados.Rados(conffile=sys.argv[1], name="client.admin")
    cluster.connect()
    known = {}
    for line in open(sys.argv[2], encoding="utf-8"):
        words, target = line.split(), ""
        if words[0] == "tell":
            target, words = words[1].partition(".")[2], words[2:]
        if target not in known:
            known[target] = signatures(cluster, target)
        try:
            bound = validate_command(known[target], words)
        except ArgumentError:
            bound = None
        result, status, output = -22, "invalid command", b""
        if bound:
            bound["format"] = "json"
            result, output, status = cluster.mon_command(json.dumps(bound), b"", target=target)
        answer = {"command": line.strip(), "code": -result, "status": status}
        answer["output"] = output.decode(errors="replace")
        print(json.dumps(answer), flush=True)


main()

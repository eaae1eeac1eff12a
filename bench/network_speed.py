#!/usr/bin/env python3
"""A run against a server that takes its time: how much of the ideal throughput is reached, and in how much memory.

usage: bench/network_speed.py [--samples N] [--connections N] [--delay-ms N] [--rounds N] [--built DIR]

Starts the server of tests/network (each answer takes 50 ms), runs 10,000 samples over 100 connections, and prints the time
beside the ideal one (samples / connections * delay), the share of the ideal throughput, and the memory of errorbar. Then
the same with a server on which a fifth of the requests fails at random: the results must be equal.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WANTED_SHARE = 0.9
WANTED_BYTES = 300e6


class Server:
    """The server of tests/network with these options."""

    def __init__(self, binary, *options):
        self.process = subprocess.Popen([binary, *options], stdout=subprocess.PIPE, text=True)
        self.url = "http://" + self.process.stdout.readline().split()[-1] + "/v1"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def run(errorbar, folder, url, connections, *options):
    command = [errorbar, "eval", "sums.toml", "--model", "openai/m", "--base-url", url, "--max-connections", str(connections)]
    command += ["--log-dir", "logs", "--format", "json", "--quiet", *options]
    started = time.perf_counter()
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE)
    written = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    assert status == 0, f"{command} failed"
    (report,) = json.loads(written)
    return time.perf_counter() - started, used.ru_maxrss * 1024, report["results"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--delay-ms", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", "dist", type=Path, help="a folder that has errorbar and chat-server already")
    args = parser.parse_args()
    built = args.built
    if built is None:
        build = ["cargo", "build", "--profile", "dist", "--quiet", "-p", "errorbar", "-p", "errorbar-network"]
        subprocess.run(build, cwd=ROOT, check=True)
        built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "dist"
    errorbar, chat_server = (str((built / name).resolve()) for name in ("errorbar", "chat-server"))
    ideal = args.samples / args.connections * args.delay_ms / 1000
    with tempfile.TemporaryDirectory() as folder:
        questions = [json.dumps({"input": f"What is {n} + 5?", "target": str(n + 5)}) for n in range(args.samples)]
        Path(folder, "sums.jsonl").write_text("\n".join(questions))
        Path(folder, "sums.toml").write_text('scorer = "includes()"\ndataset = { path = "sums.jsonl" }\n')
        with Server(chat_server, "--delay-ms", str(args.delay_ms)) as server:
            rounds = [run(errorbar, folder, server.url, args.connections) for _ in range(args.rounds)]
        seconds = statistics.median(taken for taken, _, _ in rounds)
        memory = max(used for _, used, _ in rounds)
        print(f"{args.samples:,} samples, {args.connections} connections, answers after {args.delay_ms} ms, {args.rounds} rounds")
        print(f"ideal {ideal:.2f} s, errorbar {seconds:.2f} s (median): {ideal / seconds:.1%} of the ideal throughput; {memory / 1e6:.0f} MB")
        faults = ("--fault-rate", "0.2", "--fault-seed", "1", "--retry-after", "0.05", "--slow-ms", "3000")
        hasty = ("--retry-wait", "0.05", "--timeout", "2", "--limit", "1000")
        with Server(chat_server) as server:
            _, _, plain = run(errorbar, folder, server.url, args.connections, *hasty)
        with Server(chat_server, *faults) as server:
            taken, _, disturbed = run(errorbar, folder, server.url, args.connections, *hasty)
        equal = plain == disturbed
        print(f"1,000 samples, a fifth of the requests failing at random: {taken:.1f} s, results {'equal' if equal else 'DIFFER'}")
    met = ideal / seconds >= WANTED_SHARE and memory <= WANTED_BYTES and equal
    print(f"wanted: {WANTED_SHARE:.0%}, {WANTED_BYTES / 1e6:.0f} MB, equal results: {'met' if met else 'MISSED'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The viewer: how long the list of 1,000 logs, the page of a log of 1 GB and its samples take, and the memory of the server.

usage: bench/view_speed.py [--work DIR] [--errorbar PATH] [--rounds N] [--bytes N]

  list    1,000 logs: the first list (headers are read), the list again (from the cache), 50 clients at once
  large   a log of 1 GB on disk: its page, the list of its samples, one sample

Logs are made once, with `errorbar eval` and by copying, and stay in DIR (a temporary folder unless given).
"""
import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS, KINDS, CLIENTS = 1_000, 20, 50
LARGE_SAMPLES = 2_000


class Server:
    """A server of `errorbar view` on a folder."""

    def __init__(self, errorbar, folder):
        self.process = subprocess.Popen([errorbar, "view", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()

    def get(self, path=""):
        start = time.perf_counter()
        with urllib.request.urlopen(self.url + path) as answer:
            text = answer.read().decode()
        return time.perf_counter() - start, text

    def megabytes(self):
        """The most memory that the server has held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(10) == 0


def once(path, make):
    """The path, made by `make(unfinished)` unless it is there."""
    if not path.exists():
        print(f"making {path} …", flush=True)
        unfinished = path.with_name(f"unfinished-{path.name}")
        make(unfinished)
        unfinished.rename(path)
    return path


def run_task(errorbar, folder, name, samples):
    """A log of a run with an instant model, six of ten answers right."""
    with tempfile.TemporaryDirectory() as scratch:
        pick = random.Random(name)
        rows = ({"id": f"q{n}", "input": f"{n}?", "target": "yes" if pick.random() < 0.6 else "no"} for n in range(samples))
        Path(scratch, "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        task = Path(scratch, f"{name}.toml")
        task.write_text(f'name = "{name}"\ndataset = {{ path = "d.jsonl" }}\nscorer = "match()"\n')
        command = [errorbar, "eval", task, "--model", "mock/yes", "--log-dir", folder, "--quiet", "--format", "json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=scratch)
    return max(folder.glob("*.eval"), key=lambda path: path.stat().st_mtime_ns)


def make_logs(errorbar, folder):
    folder.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        kinds = [run_task(errorbar, Path(scratch), f"task{n}", 20 + 5 * n).read_bytes() for n in range(KINDS)]
    for n in range(LOGS):
        created = f"2026-{n % 12 + 1:02}-{n % 28 + 1:02}T{n % 24:02}-{n % 60:02}-00+00-00"
        (folder / f"{created}_task{n % KINDS}_{n:022}.eval").write_bytes(kinds[n % KINDS])


def make_large(errorbar, path, size):
    """A log of a run, with text that does not compress added to the events of each sample."""
    with tempfile.TemporaryDirectory() as scratch:
        source = run_task(errorbar, Path(scratch), "large", LARGE_SAMPLES)
        with zipfile.ZipFile(source) as log, zipfile.ZipFile(path, "w") as out:
            for member in log.infolist():
                content = read_member(source, log, member)
                if member.filename.startswith("samples/"):
                    sample = json.loads(content)
                    noise = os.urandom(size // LARGE_SAMPLES // 2).hex()
                    event = {"event": "info", "source": "bench", "timestamp": "2026-01-02T03:04:05+00:00", "data": noise}
                    sample.setdefault("events", []).append(event)
                    content = json.dumps(sample).encode()
                out.writestr(member.filename, content)


def read_member(path, log, member):
    """The content of an entry; zipfile of old Pythons does not know zstd, which logs are written with."""
    try:
        return log.read(member)
    except NotImplementedError:
        with open(path, "rb") as file:
            file.seek(member.header_offset)
            header = file.read(30)
            name, extra = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
            file.seek(member.header_offset + 30 + name + extra)
            packed = file.read(member.compress_size)
        return subprocess.run(["zstd", "-dc"], input=packed, capture_output=True, check=True).stdout


def show(name, seconds, note=""):
    print(f"  {name:34} {statistics.median(seconds) * 1000:9,.1f} ms  {note}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--errorbar", type=Path, default=ROOT / "target/dist/errorbar")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=1_000_000_000, help="the size of the large log")
    args = parser.parse_args()
    if not args.errorbar.exists():
        sys.exit(f"{args.errorbar} is missing: cargo build --profile dist")
    args.errorbar = args.errorbar.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        work = args.work or Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        folder = once(work / "view-logs", lambda path: make_logs(args.errorbar, path))
        first, again, bytes_sent = [], [], 0
        for _ in range(args.rounds):
            with Server(args.errorbar, folder) as server:
                seconds, page = server.get()
                assert page.count("data-status=\"done\"") == LOGS, page[:2000]
                first.append(seconds)
                again.append(server.get()[0])
                bytes_sent = len(page)
                with ThreadPoolExecutor(CLIENTS) as clients:
                    start = time.perf_counter()
                    pages = list(clients.map(lambda _: server.get()[1], range(CLIENTS)))
                    crowd = time.perf_counter() - start
                assert all(page.count("data-status=\"done\"") == LOGS for page in pages)
                megabytes = server.megabytes()
        print(f"{LOGS:,} logs")
        show("the first list", first, f"{bytes_sent / 1e6:.1f} MB of HTML")
        show("the list again", again)
        show(f"{CLIENTS} clients at once, all answered", [crowd], f"{megabytes:.0f} MB of memory at most")
        large = once(work / "view-large" / "large.eval", lambda path: (path.parent.mkdir(exist_ok=True), make_large(args.errorbar, path, args.bytes)))
        took = {"the list": [], "its page": [], "the list of its samples": [], "one sample": []}
        for _ in range(args.rounds):
            with Server(args.errorbar, large.parent) as server:
                for name, path in zip(took, ("", "logs/1/", "logs/1/samples.json", "logs/1/sample.json?id=q777&messages=true")):
                    took[name].append(server.get(path)[0])
                megabytes = server.megabytes()
        print(f"a log of {large.stat().st_size / 1e6:,.0f} MB, {LARGE_SAMPLES:,} samples")
        for name, seconds in took.items():
            show(name, seconds)
        print(f"  {megabytes:.0f} MB of memory at most")


if __name__ == "__main__":
    main()

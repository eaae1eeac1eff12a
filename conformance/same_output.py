"""Compares what two builds of errorbar print: every verb over all committed tables and logs.

    python3 conformance/same_output.py OLD/errorbar NEW/errorbar [--only WORD] [--show 5]

Standard output, standard error, the exit code and files that are written are compared byte by byte. A refactoring changes none of them; what is
changed on purpose is listed here and explained in the pull request. Exit code 1 if anything differs.
"""

import argparse
import difflib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = ["crates/errorbar/tests/layouts/files", "examples", "examples/manual", "fuzz/seeds/table_csv",
          "fuzz/seeds/table_jsonl", "fuzz/seeds/table_parquet", "benchmarks/sample/files"]
LOGS = ["conformance/old_logs/logs", "fuzz/seeds/eval_log"]

OF_TABLE = [
    ["score"],
    ["score", "-f", "json"],
    ["score", "-f", "csv"],
    ["score", "-f", "markdown", "--metric", "mean", "--metric", "median", "--metric", "stderr"],
    ["score", "-f", "latex", "--metric", "accuracy", "--level", "0.9"],
    ["score", "-f", "json", "--by", "model"],
    ["score", "-f", "json", "--reducer", "max", "--interval", "bootstrap"],
    ["score", "-f", "json", "--unconvertible", "zero"],
    ["score", "-f", "json", "--unconvertible", "missing", "--no-reduce"],
    ["score", "--explain"],
    ["compare", "-f", "json", "--by", "model"],
    ["coverage", "-f", "json", "--simulations", "20"],
    ["power", "-f", "json", "--difference", "0.05", "--from"],
]
OF_LOG = [
    ["score"],
    ["score", "-f", "json"],
    ["score", "-f", "json", "--metric", "accuracy", "--reducer", "mode"],
    ["score", "-f", "csv", "--skip-bad-samples"],
    ["verify"],
    ["verify", "-f", "json"],
    ["log", "list", "-f", "json"],
    ["log", "show", "--limit", "2"],
    ["log", "export", "--to", "jsonl"],
    ["coverage", "-f", "json", "--simulations", "20"],
    ["power", "-f", "json", "--difference", "0.05", "--from"],
]
OF_FOLDER = [
    ["score", "-f", "json"],
    ["compare"],
    ["compare", "-f", "json", "--metric", "accuracy"],
    ["compare", "-f", "markdown", "--cluster", "passage", "--flips=2", "--metric", "accuracy"],
    ["compare", "--group", "category", "--metric", "accuracy"],
    ["log", "list"],
    ["verify"],
    ["report", "-o", "page.html"],
    ["plot", "forest", "-o", "plot.svg"],
]


def inputs() -> list[tuple[list[list[str]], Path]]:
    tables = [path for folder in TABLES for path in sorted((ROOT / folder).iterdir()) if path.is_file()]
    tables = [path for path in tables if path.suffix not in {".md", ".toml", ".rs"}]
    logs = [path for folder in LOGS for path in sorted((ROOT / folder).rglob("*.eval"))]
    logs += [path for path in sorted((ROOT / "conformance/old_logs/logs").rglob("*.json"))]
    return [(OF_TABLE, path) for path in tables] + [(OF_LOG, path) for path in logs]


def run(binary: Path, command: list[str], path: Path) -> tuple:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "COLUMNS": "120", "NO_COLOR": "1", "TZ": "UTC"}
    with tempfile.TemporaryDirectory() as folder:
        # Under one name, which usage lines show.
        done = subprocess.run(["errorbar", *command, path], executable=binary, cwd=folder, env=environment, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=600)
        written = [path.read_bytes() for path in sorted(Path(folder).iterdir()) if path.is_file()]
    return (done.returncode, done.stdout, done.stderr, *written)


def make_runs(binary: Path, folder: Path) -> None:
    """Three models on the almanac, as the README has them."""
    for model in ["heron", "magpie", "wren"]:
        outputs = ROOT / f"examples/almanac/outputs/{model}.jsonl"
        subprocess.run([binary, "eval", ROOT / "examples/almanac/almanac.toml", "--model", f"replay/{outputs}", "--log-dir",
                        folder, "--quiet"], check=True, capture_output=True, cwd=ROOT)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", type=lambda text: Path(text).resolve())
    parser.add_argument("new", type=lambda text: Path(text).resolve())
    parser.add_argument("--only", default="", help="commands and paths that contain this word")
    parser.add_argument("--show", type=int, default=5, help="differences to print in full")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_runs(args.old, Path(folder))
        asked = [(command, path) for commands, path in inputs() for command in commands]
        asked += [(command, Path(folder)) for command in OF_FOLDER]
        asked += [(command, path) for command in OF_LOG for path in sorted(Path(folder).iterdir())]
        asked = [(command, path) for command, path in asked if args.only in f"{' '.join(command)} {path}"]

        def both(question):
            return run(args.old, *question), run(args.new, *question)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = list(pool.map(both, asked))
    differing = [(question, answer) for question, answer in zip(asked, answers) if answer[0] != answer[1]]
    for (command, path), (old, new) in differing[: args.show]:
        print(f"\n$ errorbar {' '.join(command)} {path}   (exit {old[0]} → {new[0]})")
        for before, after in zip(old[1:3], new[1:3]):
            lines = [text.decode(errors="replace").splitlines() for text in (before, after)]
            print("\n".join(line[:300] for line in list(difflib.unified_diff(*lines, lineterm="", n=0))[2:40]))
    for (command, path), _ in differing[args.show :]:
        print(f"differs: errorbar {' '.join(command)} {path}")
    print(f"{len(asked) - len(differing)} passed, {len(differing)} failed")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())

"""Runs the benchmarks as task files on the made-up rows and compares with what inspect_evals made of the same.

    python check.py PATH/TO/errorbar [NAME...]

For each sample: id, prompt (every message before the answer), score and answer; for each scorer: the metrics. The
expected figures are in `expected.json`, which `reference.py` writes.
"""

import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import hub

HERE = pathlib.Path(__file__).resolve().parent
SHIPPED = HERE.parent.parent / "benchmarks"
# Arguments of tasks whose order or examples are random otherwise.
ARGUMENTS = json.loads((HERE / "arguments.json").read_text())


# The task of a file that has several.
TASKS = {"truthfulqa": "mc1"}


def task_file(name):
    shipped = SHIPPED / f"{name}.toml"
    return shipped if shipped.exists() else HERE / "tasks" / f"{name}.toml"


def run(errorbar, name, expected, folder):
    outputs = folder / f"{name}.jsonl"
    lines = [{"id": sample["id"], "output": sample["output"]} for sample in expected["samples"]]
    outputs.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    logs = folder / "logs" / name
    arguments = [f"-T{key}={value}" for key, value in ARGUMENTS.get(name, {}).items()]
    if name in hub.PLAIN:
        arguments.append(f"-Tpath={folder / 'hub' / 'files' / hub.PLAIN[name].replace('{split}', '*')}")
    task = f"{task_file(name)}@{TASKS[name]}" if name in TASKS else task_file(name)
    command = [errorbar, "eval", task, "--model", f"replay/{outputs}", "--log-dir", logs, "--epochs", "1", *arguments]
    environment = {**os.environ, "HF_HUB_CACHE": str(folder / "hub")}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    if ended.returncode != 0:
        return [f"exit code {ended.returncode}: {ended.stderr.strip()[-1500:]}"]
    [log] = list(logs.glob("*.eval"))
    dump = lambda what: subprocess.run([errorbar, "log", "dump", what, log], capture_output=True, text=True, check=True).stdout
    samples = [json.loads(line) for line in dump("--samples").splitlines()]
    return list(differences(expected, samples, json.loads(dump("--header"))))


def differences(expected, samples, header):
    ids = [sample["id"] for sample in samples]
    if ids != [sample["id"] for sample in expected["samples"]]:
        yield f"ids {ids[:3]}… in place of {[sample['id'] for sample in expected['samples']][:3]}…"
        return
    for want, sample in zip(expected["samples"], samples):
        where = f"sample {want['id']}"
        messages = [message for message in sample["messages"] if message["role"] != "assistant" or message.get("source") != "generate"]
        prompt = [{"role": message["role"], "text": text_of(message["content"])} for message in messages]
        if hashlib.sha256(json.dumps(prompt, ensure_ascii=False).encode()).hexdigest() != want["prompt"]:
            yield f"{where}: another prompt than the reference's: {prompt!r}"[:1500]
        if sample["target"] != want["target"]:
            yield f"{where}: target {sample['target']!r} in place of {want['target']!r}"
        for scorer, score in want["scores"].items():
            found = sample["scores"].get(scorer, {})
            if not same(found.get("value"), score["value"]) or found.get("answer") != score["answer"]:
                yield f"{where}, output {want['output']!r}: {scorer} {found.get('value')!r} {found.get('answer')!r} in place of {score['value']!r} {score['answer']!r}"
    results = {score["scorer"]: score["metrics"] for score in header["results"]["scores"]}
    for want in expected["results"]:
        for metric, value in want["metrics"].items():
            found = results.get(want["scorer"], {}).get(metric, {}).get("value")
            if not same(found, value):
                yield f"{want['scorer']}: {metric} {found!r} in place of {value!r}"


def text_of(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def same(found, wanted):
    if isinstance(wanted, float) and isinstance(found, (int, float)):
        return math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-15)
    return found == wanted


def main():
    errorbar = pathlib.Path(sys.argv[1]).resolve()
    expected = json.loads((HERE / "expected.json").read_text())
    names = sys.argv[2:] or list(expected)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        hub.make(folder / "hub", names=names)
        for name in names:
            if not task_file(name).exists():
                print(f"{name}: no task file")
                failed += 1
                continue
            found = run(errorbar, name, expected[name], folder)
            failed += bool(found)
            print(f"{name}: {'differs' if found else 'equal'}, {len(expected[name]['samples'])} samples")
            for line in found[:4]:
                print(f"  {line}")
    print(f"{len(names) - failed} equal, {failed} not")
    sys.exit(1 if failed else 0)


main()

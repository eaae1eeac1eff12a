#!/usr/bin/env python3
"""errorbar against a real inference server: llama.cpp with a tiny model of random weights.

    python tests/network/llama/check.py --errorbar target/release/errorbar

Opt-in, because the server has to be built: the first time it takes ten minutes and a C++ compiler. The environment
stays in --venv; --wheels names a folder with a wheel of llama-cpp-python that was built before, and --python a
Python that has the server and gguf already. Prints what it saw; exit code 1 if something is not as it should be.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEY = "sk-llama-4711"
CONTEXT = 512
# Nothing that leads requests elsewhere or holds a key.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("OPENAI_", "ERRORBAR_")) and not name.lower().endswith("_proxy")
}


def python_with_server(options, folder):
    """The Python that has the server, after an installation if need be."""
    if options.python:
        return options.python
    venv = Path(options.venv or folder / "venv")
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    known = subprocess.run([python, "-c", "import llama_cpp.server, gguf"], capture_output=True)
    if known.returncode != 0:
        print("installing the server; without a wheel it is built, which takes ten minutes", flush=True)
        wheels = sorted(Path(options.wheels).glob("llama_cpp_python-*.whl")) if options.wheels else []
        if options.wheels and not wheels:
            raise SystemExit(f"no wheel llama_cpp_python-*.whl in {options.wheels}; leave out --wheels to build one")
        flags = "-DLLAVA_BUILD=OFF -DGGML_OPENMP=OFF -DGGML_NATIVE=OFF -DLLAMA_CURL=OFF"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        install += [*wheels, "llama-cpp-python[server]", "gguf"]
        subprocess.run(install, check=True, env={"CMAKE_ARGS": flags, **os.environ})
    return str(python)


class Server:
    """The inference server, while the block runs."""

    def __init__(self, python, model, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self.log = folder / "server.log"
        self.command = [python, "-m", "llama_cpp.server", "--model", str(model), "--model_alias", "tiny"]
        self.command += ["--host", "127.0.0.1", "--port", str(self.port), "--n_ctx", str(CONTEXT), "--n_threads", "1"]
        self.command += ["--logits_all", "true", "--verbose", "false", "--api_key", KEY]

    def __enter__(self):
        with self.log.open("w") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT, env=ENVIRONMENT)
        for _ in range(300):
            if self.process.poll() is not None:
                break
            try:
                request = urllib.request.Request(f"{self.base_url}/models", headers={"Authorization": f"Bearer {KEY}"})
                urllib.request.urlopen(request, timeout=1).close()
                return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.__exit__()
        raise SystemExit(f"the server does not answer:\n{self.log.read_text()[-2000:]}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def requests(self):
        """How many completions were requested so far."""
        return self.log.read_text().count("POST /v1/chat/completions")


class Check:
    """Runs errorbar, and remembers what was not as it should be."""

    def __init__(self, errorbar, server, folder):
        self.errorbar, self.server, self.folder = errorbar, server, folder
        self.runs, self.failures = 0, 0
        (folder / "key.txt").write_text(KEY + "\n")
        (folder / "wrong.txt").write_text("sk-wrong-0815\n")
        self.task = self.write_task("short", [f"Say something about the number {number}." for number in range(4)])
        self.long_task = self.write_task("long", ["word " * (2 * CONTEXT), "Say something."])

    def write_task(self, name, inputs):
        """A task file with its dataset."""
        samples = [{"id": f"q{place}", "input": text, "target": "x"} for place, text in enumerate(inputs)]
        (self.folder / f"{name}.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
        task = self.folder / f"{name}.toml"
        task.write_text(f'dataset = "{name}.jsonl"\nscorer = "includes"\n')
        return task

    def run(self, *options, task=None, key="key.txt"):
        """Runs the task against the server: the exit code, the log, the output, how many requests it took."""
        self.runs += 1
        logs = self.folder / f"logs{self.runs}"
        command = [self.errorbar, "eval", task or self.task, "--model", "openai/tiny", "--base-url"]
        command += [self.server.base_url, "--api-key-file", self.folder / key, "--max-tokens", "8"]
        command += ["--log-dir", logs, "--log-format", "json", *options]
        before = self.server.requests()
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
        found = list(logs.glob("*.json"))
        if len(found) != 1:
            raise SystemExit(f"{command}: exit {done.returncode}, {len(found)} logs\n{done.stdout}{done.stderr}")
        output = done.stdout + done.stderr
        return done.returncode, json.loads(found[0].read_text()), output, self.server.requests() - before

    def expect(self, what, holds, seen):
        """One line about one thing."""
        self.failures += not holds
        print(f"{'ok' if holds else 'FAILED':6} {what}: {seen}", flush=True)


def answers(log):
    """What the model answered, in the order of the samples."""
    samples = sorted(log["samples"], key=lambda sample: sample["id"])
    return [sample["output"]["completion"] for sample in samples]


def check_answers(check):
    """The answers are the same where they should be, and all about it is in the log."""
    code, first, _, requests = check.run("--temperature", "0")
    check.expect("a run asks once for each sample", (code, requests) == (0, 4), f"exit {code}, {requests} requests")
    check.expect("the model speaks", all(answers(first)), answers(first))
    again = answers(check.run("--temperature", "0")[1])
    check.expect("at temperature 0 it answers the same again", again == answers(first), again)
    usage = first["stats"]["model_usage"].get("openai/tiny", {})
    check.expect("the tokens are counted", usage.get("output_tokens", 0) == 32 and usage["input_tokens"] > 32, usage)
    reasons = [sample["output"]["choices"][0]["stop_reason"] for sample in first["samples"]]
    check.expect("it stops at --max-tokens", set(reasons) == {"max_tokens"}, reasons)


def check_seed(check):
    """The seed gets to the server."""
    one, same, other = (
        answers(check.run("--temperature", "1", "--sampling-seed", seed)[1]) for seed in ["1", "1", "2"]
    )
    check.expect("at temperature 1 one seed gives one answer", one == same, one)
    check.expect("and another seed another", one != other, other)


def check_logprobs(check):
    """Probabilities are recorded as the server has them."""
    log = check.run("--temperature", "0", "--top-logprobs", "2")[1]
    tokens = log["samples"][0]["output"]["choices"][0].get("logprobs", {}).get("content", [])
    check.expect(
        "probabilities are in the log",
        len(tokens) == 8 and all(token["logprob"] <= 0 and len(token["top_logprobs"]) >= 2 for token in tokens),
        f"{len(tokens)} tokens, the first {json.dumps(tokens[:1])}",
    )


def check_errors(check):
    """An error is reported, and the request not retried."""
    code, log, output, requests = check.run(task=check.long_task)
    errors = {sample["id"]: (sample.get("error") or {}).get("message") for sample in log["samples"]}
    message = errors["q0"] or ""
    check.expect(
        "a prompt that is too long fails its sample, and names the way out",
        "answered 400" in message and "maximum context length" in message and "shorten the prompt" in message,
        message,
    )
    check.expect(
        "the other sample has its answer, and nothing is asked twice",
        (code, errors["q1"], requests) == (0, None, 2),
        f"exit {code}, {requests} requests",
    )
    code, log, output, requests = check.run("--limit", "1", key="wrong.txt")
    message = log.get("error", {}).get("message", "")
    check.expect(
        "a wrong key is reported, once, and not repeated",
        "answered 401" in message and "check the key" in message and (code, requests) == (1, 1)
        and "sk-wrong" not in output + json.dumps(log),
        f"exit {code}, {requests} requests: {message}",
    )


def check_cache(check):
    """Answers that are cached are not requested."""
    cache = ["--temperature", "1", "--cache", "--cache-dir", check.folder / "cache"]
    _, first, _, asked = check.run(*cache)
    _, second, _, again = check.run(*cache)
    check.expect(
        "with --cache the second run asks nothing and has the same answers",
        (asked, again) == (4, 0) and answers(first) == answers(second),
        f"{asked} requests, then {again}",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--errorbar", required=True, type=Path, help="the program to check")
    parser.add_argument("--venv", help="a folder for the environment, kept [default: a temporary one]")
    parser.add_argument("--wheels", help="a folder with a wheel of llama-cpp-python")
    parser.add_argument("--python", help="a Python that has llama-cpp-python[server] and gguf")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        python = python_with_server(options, folder)
        model = folder / "tiny.gguf"
        subprocess.run([python, HERE / "make_gguf.py", model], check=True)
        with Server(python, model, folder) as server:
            check = Check(options.errorbar.resolve(), server, folder)
            for part in [check_answers, check_seed, check_logprobs, check_errors, check_cache]:
                part(check)
    if check.failures:
        raise SystemExit(f"{check.failures} FAILED")
    print("all is as it should be")


if __name__ == "__main__":
    main()

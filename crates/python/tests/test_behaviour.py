"""Threads, signals, forks, and the command line in process."""

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys

import pytest

import errorbar as eb

SCORES = {"id": [str(row) for row in range(1000)], "score": [row % 2 for row in range(1000)]}


def scored(_=None):
    return eb.score(SCORES, metrics=["accuracy", "bootstrap_stderr"]).to_json()


def test_forked_children_end_with_equal_bytes():
    expected = scored()
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(8, mp_context=context) as pool:
        assert set(pool.map(scored, range(8), timeout=120)) == {expected}
    assert scored() == expected


def test_spawned_children():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(scored).result(timeout=120) == scored()


def test_threads():
    expected = scored()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert set(pool.map(scored, range(8))) == {expected}


def test_the_number_of_threads():
    code = "import errorbar as eb; eb.score({'id': ['a'], 'score': [1]})"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "ERRORBAR_THREADS": "two"}, capture_output=True, text=True)
    assert "ERRORBAR_THREADS=two: expected a number of threads" in done.stderr
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "ERRORBAR_THREADS": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


#: A figure that would take hours on the only thread, Ctrl-C, and a call after it.
INTERRUPTED = """
import os, signal, threading
import errorbar as eb
rows = range(20_000)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    eb.score({"id": [str(row) for row in rows], "score": [row / 20_000 for row in rows]}, "bootstrap_stderr(num_samples=100000000)")
except KeyboardInterrupt:
    # The interpreter must be able to end, too, although the thread is still at work.
    print(eb.score({"id": ["a", "b"], "score": [1, 0]}).to_dict()[0]["estimates"][0]["value"])
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_ctrl_c_ends_a_call_and_the_next_one_has_threads_of_its_own():
    environment = {**os.environ, "ERRORBAR_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=100, env=environment)
    assert done.stdout == "0.5\n", done.stderr


#: A figure that would take hours, and Ctrl-C.
ENDLESS = """
import os, signal, threading
from inspect_ai.scorer import SampleScore, Score
import errorbar.inspect as own
scores = [SampleScore(score=Score(value=number / 20_000)) for number in range(20_000)]
metric = own.bootstrap_stderr(num_samples=10**8)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    metric(scores)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_ctrl_c_inside_inspect():
    pytest.importorskip("inspect_ai")
    done = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=100)
    assert done.stdout == "interrupted\n", done.stderr


def test_import_is_light():
    code = (
        "import sys; before = set(sys.modules); import errorbar; errorbar.score; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names) - {'errorbar'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_exit_codes_and_names(command):
    assert command("list", "metrics").returncode == 0
    assert command("score", "nope.csv", check=False).returncode == 2
    assert command("--help").stdout.count("Usage: errorbar") == 1
    assert "_clap_complete_errorbar" in command("completions", "bash").stdout or "errorbar" in command("completions", "bash").stdout
    from errorbar.__main__ import main

    assert main(["list", "metrics"]) == 0


def test_the_version():
    assert eb.__version__ and "score" in dir(eb)
    assert set(eb.__all__) == {"__version__", *eb._NAMES} and all(hasattr(eb, name) for name in dir(eb))
    with pytest.raises(AttributeError):
        eb.nothing

"""What the tests share."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def command(tmp_path):
    """Runs the command line of the wheel in a folder of its own; returns the finished process."""

    def run(*args, check=True, **options):
        args = [sys.executable, "-m", "errorbar", *map(str, args)]
        done = subprocess.run(args, capture_output=True, text=True, cwd=tmp_path, **options)
        if check:
            assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def command_json(command):
    """What `score --format json` prints, with another name of the file."""

    def run(path, *args, name="<data>"):
        printed = command("score", path, "--format", "json", "--quiet", *args).stdout
        return printed.replace(json.dumps(str(path)), json.dumps(name))

    return run

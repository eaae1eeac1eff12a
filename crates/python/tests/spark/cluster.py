"""A Spark cluster of processes on this machine: a master, and two workers that each start an executor.

`local-cluster[2,1,1024]` has such executors too, but all on one host, and Spark runs no copy of a slow task on the host where
it runs already. Here each worker has an address of its own.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

MASTER_HOST, WORKER_HOSTS = "127.0.0.1", ("127.0.0.2", "127.0.0.3")
SECONDS_TO_START = 120


@contextlib.contextmanager
def started(folder: Path) -> Iterator[str]:
    """The address of a master, with its workers, until they are no longer needed."""
    with contextlib.ExitStack() as processes:
        port = _free_port()
        master = ["master.Master", "--host", MASTER_HOST, "--port", str(port), "--webui-port", "0"]
        processes.enter_context(_daemon(master, folder / "master.log"))
        _wait_for(port)
        for host in WORKER_HOSTS:
            limits = ["-c", "1", "-m", "1g", "-d", str(folder / host)]
            worker = ["worker.Worker", "--host", host, "--port", "0", "--webui-port", "0", *limits]
            address = f"spark://{MASTER_HOST}:{port}"
            processes.enter_context(_daemon([*worker, address], folder / f"{host}.log"))
        yield address


@contextlib.contextmanager
def _daemon(command: list[str], log: Path) -> Iterator[None]:
    import pyspark

    home = os.path.dirname(pyspark.__file__)
    name, *arguments = command
    environment = os.environ | {"SPARK_HOME": home, "SPARK_DAEMON_MEMORY": "256m"}
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [f"{home}/bin/spark-class", f"org.apache.spark.deploy.{name}", *arguments],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((MASTER_HOST, 0))
        return listener.getsockname()[1]


def _wait_for(port: int) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            socket.create_connection((MASTER_HOST, port)).close()
            return
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)

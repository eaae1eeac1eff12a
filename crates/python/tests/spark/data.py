"""The table of the tests, what one machine computes of it, and functions that kill executors and delay tasks."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

TASKS, MODELS, EPOCHS = 5, 10, 3
METRICS = ["accuracy", "stderr", 'grouped(accuracy(), "topic")']
OPTIONS = dict(reducers=["mean", "pass_at_2"], epoch="attempt", cluster="passage")
KEYS = ("task", "model")


def write(path, rows: int) -> None:
    """Writes a table of about this many rows: 5 tasks, 10 models, 3 epochs; some epochs are absent, some scores too."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(7)
    samples = max(1, rows // (TASKS * MODELS * EPOCHS))
    count = TASKS * MODELS * EPOCHS * samples
    order = random.permutation(count)
    sample, rest = np.divmod(order, TASKS * MODELS * EPOCHS)
    group, epoch = np.divmod(rest, EPOCHS)
    task, model = np.divmod(group, MODELS)
    skill = 0.3 + 0.05 * model + 0.02 * task + 0.2 * ((sample * 2654435761) % 97) / 97
    correct = random.random(count) < skill
    score = np.where(correct, "C", np.where(random.random(count) < 0.1, "P", "I"))
    is_absent = random.random(count) < 0.01
    kept = random.random(count) >= 0.002

    def names(prefix: str, numbers, width: int):
        codes = pa.array(numbers.astype(np.int32))
        texts = pa.array([f"{prefix}{number:0{width}d}" for number in range(int(numbers.max()) + 1)])
        return pa.DictionaryArray.from_arrays(codes, texts).cast(pa.string())

    columns = {
        "task": names("task-", task, 2),
        "model": names("org/model-", model, 2),
        "id": names("q", sample, 7),
        "attempt": pa.array((epoch + 1).astype(np.int32)),
        "score": pa.array(score, mask=is_absent),
        "passage": names("p", sample // 8, 1),
        "topic": names("topic ", sample % 7, 1),
        "unused": pa.array(random.random(count)),
    }
    pq.write_table(pa.table(columns).filter(pa.array(kept)), path, row_group_size=1 << 20)


def on_one_machine(path):
    """JSON and receipt of each group, from its rows alone."""
    import errorbar as eb
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    found = {}
    for task in pc.unique(table["task"]).to_pylist():
        of_task = table.filter(pc.equal(table["task"], task))
        for model in pc.unique(of_task["model"]).to_pylist():
            rows = of_task.filter(pc.equal(of_task["model"], model))
            name = f"task={task}, model={model}"
            results = eb.score(rows, METRICS, order="key", id="id", score="score", name=name, **OPTIONS)
            partial = eb.Partial.of(rows, METRICS, group={"task": task, "model": model}, **OPTIONS)
            assert partial.finish().to_json() == results.to_json()
            found[task, model] = (results.to_json(), partial.receipt)
    return found


def of_groups(results):
    """The same of results on Spark."""
    return {group: (results[group].to_json(), results.receipts[group]) for group in results}


def killing_states(marker: str, states):
    """What makes states of rows, and kills the executor that it first runs on as soon as it has read some."""

    def killing(task, batches):
        def watched():
            for batch in batches:
                _kill_once(marker)
                yield batch

        return states(task, watched())

    return killing


def killing_merged(marker: str, merged):
    """What merges states, and kills the executor that it first runs on before it does."""

    def killing(table):
        _kill_once(marker)
        return merged(table)

    return killing


def straggling_states(marker: str, states):
    """What makes states of rows. The first attempt at the first partition waits until a copy of it has begun, and goes on."""

    def straggling(task, batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        if context.partitionId() == 0:
            if context.attemptNumber() == 0:
                end = time.monotonic() + 120
                while not os.path.exists(marker) and time.monotonic() < end:
                    time.sleep(0.05)
            else:
                Path(marker).touch()
        return states(task, batches)

    return straggling


def kill_an_executor(spark, marker: str) -> None:
    """Kills an executor of the session, from the driver."""
    application = spark.sparkContext.applicationId
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and application in _executor_command(int(process.name)):
            Path(marker).write_text(process.name)
            os.kill(int(process.name), signal.SIGKILL)
            return
    raise AssertionError("there is no executor")


def is_killed(marker: str) -> bool:
    """Whether an executor was killed: the process whose number the marker has was one, and is gone."""
    return not _executor_command(int(Path(marker).read_text()))


def _kill_once(marker: str) -> None:
    try:
        written = os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        return
    # A worker is a child of a daemon, which is a child of the executor.
    with open(f"/proc/{os.getppid()}/stat") as stat:
        executor = int(stat.read().rsplit(")", 1)[1].split()[1])
    # An error here would only be a task that is tried again: the test reads what was killed.
    if _executor_command(executor):
        os.write(written, str(executor).encode())
        os.kill(executor, signal.SIGKILL)


def _executor_command(process: int) -> str:
    """The command of an executor; empty if the process is none, or has ended."""
    try:
        command = Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""
    return command if "CoarseGrainedExecutorBackend" in command else ""

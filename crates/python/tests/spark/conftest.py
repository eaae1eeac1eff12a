"""Spark for real: executors that are processes of their own, on tables of any size.

    crates/python/check_spark.sh
    ERRORBAR_SPARK_ROWS=10000000 crates/python/check_spark.sh -m large

Needs Java 17, and pyspark, pandas, pyarrow and this package in the Python that runs the tests; the workers use the same.
"""

from __future__ import annotations

import os
import sys

import pytest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import cluster  # noqa: E402
import data  # noqa: E402

try:
    from pyspark import cloudpickle
except ImportError:
    # pyspark is large, and needs Java.
    collect_ignore_glob = ["test_*.py"]
else:
    # Functions of this module run on executors, which do not have it.
    cloudpickle.register_pickle_by_value(data)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "large: worth running with many rows (ERRORBAR_SPARK_ROWS)")


@pytest.fixture(scope="session")
def master(tmp_path_factory):
    """The address of a cluster."""
    given = os.environ.get("ERRORBAR_SPARK_MASTER")
    if given:
        yield given
        return
    with cluster.started(tmp_path_factory.mktemp("cluster")) as address:
        yield address


@pytest.fixture(scope="session")
def spark(master):
    """Two executors, each a process of its own, and copies of slow tasks."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(master)
        .config("spark.driver.host", cluster.MASTER_HOST)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.executor.memory", "1g")
        .config("spark.speculation", "true")
        .config("spark.speculation.multiplier", "1.1")
        .config("spark.speculation.quantile", "0.3")
        .config("spark.speculation.minTaskRuntime", "50ms")
        .config("spark.speculation.interval", "50ms")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """The path of a Parquet table of scores, shuffled."""
    path = tmp_path_factory.mktemp("scores") / "scores.parquet"
    data.write(path, int(os.environ.get("ERRORBAR_SPARK_ROWS", "30000")))
    return str(path)


@pytest.fixture(scope="session")
def expected(table):
    """What one machine computes: JSON and receipt of each group."""
    return data.on_one_machine(table)


@pytest.fixture
def scores(spark, table):
    return spark.read.parquet(table)

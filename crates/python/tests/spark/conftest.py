"""Spark for real: executors that are processes of their own, on tables of any size.

    PYSPARK_PYTHON=$(which python) pytest crates/python/tests/spark
    ERRORBAR_SPARK_ROWS=10000000 pytest crates/python/tests/spark -m large

Needs Java 17, pyspark, pyarrow and this package, in the Python that runs the tests; the workers use the same.
"""

from __future__ import annotations

import os
import sys

import pytest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import data  # noqa: E402

try:
    from pyspark import cloudpickle
except ImportError:
    # As in CI: pyspark is large, and needs Java.
    collect_ignore_glob = ["test_*.py"]
else:
    # Functions of this module run on executors, which do not have it.
    cloudpickle.register_pickle_by_value(data)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "large: worth running with many rows (ERRORBAR_SPARK_ROWS)")


@pytest.fixture(scope="session")
def spark():
    """Two executors, each a JVM of its own, and copies of slow tasks."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(os.environ.get("ERRORBAR_SPARK_MASTER", "local-cluster[2,1,1024]"))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
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

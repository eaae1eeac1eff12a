#!/usr/bin/env bash
# Runs tests/spark on a Spark cluster of processes on this machine, with the wheel that check.sh has built; arguments are those
# of pytest. ERRORBAR_SPARK_ROWS is the size of the table: 30,000 rows if it is unset.
set -euo pipefail
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-../../target}
target=$(cd "$target/python" && pwd)
wheel=$(ls "$target"/wheels/*.whl)

if ! command -v java >/dev/null; then
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless
fi

python3 -m venv "$target/spark"
"$target/spark/bin/pip" install --quiet --disable-pip-version-check -r requirements-spark.txt
"$target/spark/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
"$target/spark/bin/python" -m pytest -q -p no:cacheprovider tests/spark "$@"

#!/usr/bin/env bash
# Builds the wheel once, installs it with and without the optional libraries, and runs the tests with both; checks the stubs
# against the module and the types of the package. The build is that of `cargo test`, which has been made by then;
# PROFILE=dist tests the wheel as it is released.
set -euo pipefail
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-../../target}
mkdir -p "$target/python"
target=$(cd "$target/python" && pwd)
profile=${PROFILE:-dev}

python3 -m venv "$target/bare"
"$target/bare/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' pytest
rm -rf "$target/wheels"
"$target/bare/bin/maturin" build --locked --profile "$profile" --strip --out "$target/wheels"
wheel=$(ls "$target"/wheels/*.whl)

# No optional library: what needs one is skipped, and nothing else is.
"$target/bare/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
"$target/bare/bin/python" -m pytest -q -p no:cacheprovider tests --ignore tests/spark

python3 -m venv "$target/full"
"$target/full/bin/pip" install --quiet --disable-pip-version-check -r requirements-test.txt
"$target/full/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
"$target/full/bin/python" -m pytest -q -p no:cacheprovider tests --ignore tests/spark

# Outside of the folder, so that the installed package is what is looked at.
package=$(cd "$target" && "$target/full/bin/python" -c 'import errorbar, os; print(os.path.dirname(errorbar.__file__))')
(cd "$target" && "$target/full/bin/python" -m mypy.stubtest errorbar._errorbar)
(cd "$target" && "$target/full/bin/pyright" --pythonpath "$target/full/bin/python" "$package")

"""The notebooks run, and give what they show.

After a change that is meant to show in them, `python tests/test_notebooks.py` executes them and writes what they give.
"""

import copy
import os
import pathlib
import re
import sys

import pytest

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[3] / "docs" / "notebooks"
#: The notebooks, and the libraries that each of them needs.
LIBRARIES = {
    "frames": ["pandas", "polars", "pyarrow"],
    "inspect": ["inspect_ai", "ipywidgets", "pandas", "pyarrow"],
    "logs": ["polars"],
}
#: What is not the same in two runs: names of logs, folders that are made for a run, times, addresses of objects.
CHANGING = [
    (re.compile(r"\S*\d{4}-\d\d-\d\dT\S+\.eval"), "LOG.eval"),
    (re.compile(r"/tmp/[\w./-]+"), "FOLDER"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.:+]*"), "TIME"),
    (re.compile(r"\b0x[0-9a-f]{6,}"), "ADDRESS"),
]


def read(name):
    import nbformat

    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def executed(name, folder):
    """The notebook with the outputs that it has today."""
    import nbclient

    notebook = copy.deepcopy(read(name))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    # Files of the notebook and of its kernel are made in the folder; progress is shown by no library.
    client.execute(env={**os.environ, "TMPDIR": str(folder), "COLUMNS": "100", "JUPYTER_PLATFORM_DIRS": "1"})
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [plain(output) for output in cell.outputs if not is_widget(output)]
    notebook.metadata = read(name).metadata
    return notebook


def is_widget(output):
    """Whether an output is a progress display, of which a file shows nothing."""
    return any("widget" in kind for kind in output.get("data", {}))


def plain(output):
    if "execution_count" in output:
        output.execution_count = None
    return output


def texts(notebook):
    """The text outputs of each code cell, without what is not the same in two runs."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            found.append((cell.source, [text(output) for output in cell.outputs]))
    return found


def text(output):
    if output.output_type == "stream":
        shown = f"{output.name}: {output.text}"
    else:
        shown = f"{sorted(output.data)}: {output.data['text/plain']}"
    for pattern, word in CHANGING:
        shown = pattern.sub(word, shown)
    return shown


def test_every_notebook_is_tested():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(LIBRARIES)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_notebook_gives_what_it_shows(name, tmp_path):
    for library in ("nbclient", "nbformat", "ipykernel", *LIBRARIES[name]):
        pytest.importorskip(library)
    expected = texts(read(name))
    assert sum(len(outputs) for _, outputs in expected) >= 6, "the notebook was committed without its outputs"
    assert texts(executed(name, tmp_path)) == expected


if __name__ == "__main__":
    import tempfile

    import nbformat

    for name in sys.argv[1:] or LIBRARIES:
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(name, folder), NOTEBOOKS / f"{name}.ipynb")

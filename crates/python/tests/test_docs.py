"""The Python code of the book runs."""

import re

import pytest

from conftest import ROOT

#: The pages, with the libraries that they use, and how many blocks of code they have at least.
PAGES = {"python.md": ([], 9), "python-inspect.md": (["inspect_ai", "pandas", "polars", "pyarrow"], 3)}


@pytest.fixture
def logs(tmp_path, command):
    """The logs that a page takes for granted."""
    (tmp_path / "data.jsonl").write_text('{"input": "Say C", "target": "C", "metadata": {"topic": "letters"}}\n')
    (tmp_path / "task.toml").write_text('dataset = "data.jsonl"\nscorer = "match()"\n')
    for folder, name, form in [("logs", "a.eval", "eval"), ("json", "b.json", "json")]:
        command("eval", "task.toml", "--model", "mock/C", "--log-dir", folder, "--log-format", form)
        (log,) = (tmp_path / folder).iterdir()
        log.rename(tmp_path / ("logs/a.eval" if form == "eval" else name))


@pytest.mark.parametrize("name", PAGES)
def test_a_page(name, tmp_path, monkeypatch, request):
    libraries, least = PAGES[name]
    for library in libraries:
        pytest.importorskip(library)
    if libraries:
        request.getfixturevalue("logs")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / name).read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= least
    # Blocks use what those before them define.
    scope: dict[str, object] = {"__name__": "docs"}
    for number, block in enumerate(blocks, 1):
        try:
            exec(compile(block, f"{name}, block {number}", "exec"), scope)  # noqa: S102
        except Exception as error:
            pytest.fail(f"block {number} of {name}: {error!r}\n{block}")


def test_every_public_name_is_on_a_page():
    import errorbar as eb

    page = (ROOT / "docs" / "python.md").read_text()
    missing = [name for name in eb.__all__ if not re.search(rf"\b{name}\b", page)]
    assert missing == []
    inspect = pytest.importorskip("errorbar.inspect")
    page = (ROOT / "docs" / "python-inspect.md").read_text()
    assert [name for name in inspect.__all__ if not re.search(rf"\b{name}\b", page)] == []

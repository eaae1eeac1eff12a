"""The Python code of the book runs."""

import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md"


def test_the_chapter(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    # Blocks use what those before them define.
    scope: dict[str, object] = {"__name__": "docs"}
    for number, block in enumerate(blocks, 1):
        try:
            exec(compile(block, f"{PAGE.name}, block {number}", "exec"), scope)  # noqa: S102
        except Exception as error:
            pytest.fail(f"block {number} of {PAGE.name}: {error!r}\n{block}")
    assert "accuracy" in capsys.readouterr().out

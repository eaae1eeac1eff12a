"""What the functions return."""

import html.parser
import json
import pathlib
import re
import sys
import urllib.parse

import pytest

import errorbar as eb

LOGS = pathlib.Path(__file__).resolve().parents[3] / "examples"
SCORES = {"id": ["a", "b", "c", "d"], "score": [1, 0, 1, 1], "topic": ["x", "x", "y", "<y>"]}
OTHER = {"id": ["a", "b", "c", "d"], "score": [1, 1, 1, 0], "topic": ["x", "x", "y", "<y>"]}


def csv(columns, path):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def test_the_forms_of_results():
    results = eb.score(SCORES, metrics=["accuracy", 'grouped(accuracy(), "topic")'])
    assert json.loads(results.to_json()) == results.to_dict()
    assert "accuracy" in repr(results) and "├" in repr(results)
    assert repr(results) == repr(results).rstrip()
    assert isinstance(results, eb.Answer) and isinstance(results.rows, eb.Frame)
    rows, columns = results.rows.shape
    assert rows == len(results.rows) == len(results.to_dict()[0]["estimates"]) and columns == len(results.rows.columns)


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.sources = set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.sources += [value for name, value in attrs if name == "src"]


def test_html_is_self_contained_and_escaped():
    results = eb.score(SCORES | {"topic": ["<script>alert(1)</script>"] * 4}, metrics='grouped(accuracy(), "topic")')
    tags = Tags()
    tags.feed(results._repr_html_())
    assert "script" not in tags.seen and {"img", "table"} <= tags.seen
    assert tags.sources and all(source.startswith("data:image/svg+xml,") for source in tags.sources)


def drawing(answer):
    """The text of the only drawing of an answer."""
    tags = Tags()
    tags.feed(answer._repr_html_())
    (source,) = tags.sources
    return " ".join(re.findall(r">([^<>]+)<", urllib.parse.unquote(source)))


def test_differences_are_drawn_around_zero():
    ids = [f"q{number}" for number in range(200)]
    a, b = ({"id": ids, "score": [int(number % step > 0) for number in range(200)]} for step in (2, 3))
    for drawn, sign in ((drawing(eb.compare(a, b)), "+"), (drawing(eb.compare(b, a)), "\N{MINUS SIGN}")):
        ticks = re.findall(r"(?<=\s)[+\N{MINUS SIGN}]?0(?:\.\d+)?(?=\s)", drawn)
        assert "0" in ticks and f"{sign}0.1" in ticks, drawn
        assert f"{sign}0.165" in drawn, drawn


def test_the_page_of_a_plan_has_all_that_the_text_has():
    plan = eb.power(samples=[100, 200], sd=0.4)
    assert html.unescape(re.sub("<[^>]*>", "", plan._repr_html_())).strip() == repr(plan)


def test_frames():
    results = eb.score(SCORES, cluster="topic")
    polars = pytest.importorskip("polars")
    frame = results.to_polars()
    assert frame["metric"].to_list() == ["accuracy"] and frame["value"][0] == 0.75
    assert polars.DataFrame(results.rows).equals(frame)
    pytest.importorskip("pyarrow")
    assert str(results.to_pyarrow().schema.field("scorer").type) == "large_string"
    pytest.importorskip("pandas")
    assert results.to_pandas()["n"].tolist() == [4]


def test_a_library_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        eb.score(SCORES).to_polars()


def test_compare_is_the_command(tmp_path, command):
    a, b = csv(SCORES, tmp_path / "a.csv"), csv(OTHER, tmp_path / "b.csv")
    expected = command("compare", a.name, b.name, "--format", "json").stdout
    compared = eb.compare(SCORES, OTHER)
    assert compared.to_json() == expected
    assert compared.passed is None and compared.to_dict()["sides"] == ["a", "b"]
    assert "difference" in compared.rows.columns and "<img" in compared._repr_html_()
    with pytest.warns(eb.ScoreWarning):
        assert eb.compare(a, OTHER, names=["first", "second"], min_difference=0.0).passed is False


def test_compare_the_values_of_a_column():
    columns = {name: SCORES[name] + OTHER[name] for name in SCORES} | {"model": ["m"] * 4 + ["n"] * 4}
    assert eb.compare(columns, by="model").to_dict()["sides"] == ["m", "n"]


def test_power_is_the_command(command):
    expected = command("power", "--difference", "0.03", "--sd", "0.3333", "--format", "json").stdout
    plan = eb.power(difference=0.03, sd=0.3333)
    assert plan.to_json() == expected and len(plan.rows) == 1
    assert len(eb.power(samples=[100, 200], difference=[0.03, 0.05], sd=0.4).rows) == 4
    assert eb.power(difference=0.3, runs=[SCORES, OTHER]).to_dict()["samples"] > 0
    with pytest.raises(eb.InputError):
        eb.power(difference=0.03)


def test_verify(command, tmp_path):
    log = next(iter(sorted(LOGS.rglob("*.eval"))), None) or next(iter(sorted(LOGS.parent.rglob("conformance/**/*.eval"))))
    expected = json.loads(command("verify", log, "--format", "json", check=False).stdout)
    verified = eb.verify(log)
    assert verified.to_dict() == expected and verified.agrees == all(one["outcome"] != "differs" for one in expected)
    assert len(verified.rows) == sum(len(one["figures"]) for one in expected)
    with pytest.raises(eb.Error) as raised:
        eb.verify(tmp_path / "nope.eval")
    assert raised.value.path == str(tmp_path / "nope.eval")
    page = html.unescape(re.sub("<[^>]*>", "", verified._repr_html_()))
    assert page.strip() == repr(verified) and len(page.splitlines()) > 1


def test_a_folder_of_logs_with_a_bad_one(tmp_path):
    csv(SCORES, tmp_path / "good.csv")
    (tmp_path / "bad.csv").write_text("id,score\na\n")
    with pytest.raises(eb.TableError) as raised:
        eb.score([tmp_path / "good.csv", tmp_path / "bad.csv"])
    assert raised.value.line == 2 and len(raised.value.results.to_dict()) == 1


def test_exceptions_can_be_pickled():
    import pickle

    with pytest.raises(eb.SpecError) as raised:
        eb.score(SCORES, metrics="acuracy")
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is eb.SpecError and again.hint == "did you mean `accuracy`?" and str(again) == str(raised.value)

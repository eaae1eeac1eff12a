"""Hostile task files, prices, and answers that attack a scorer."""

from __future__ import annotations

import json
from pathlib import Path

from case import Cases

CASES = Cases("task")
case = CASES.case


def _write(folder: Path, text: str | bytes) -> None:
    (folder / "data.csv").write_text("id,input,target,category\n1,q,t,a\n2,q,t,b\n3,q,t,a\n")
    (folder / "task.toml").write_bytes(text.encode() if isinstance(text, str) else text)


def _with(folder: Path, lines: str) -> None:
    """A task that is right but for these lines."""
    base = {"scorer": 'scorer = "includes()"\n', "dataset": 'dataset = { path = "data.csv", metadata = ["category"] }\n'}
    _write(folder, "".join(line for key, line in base.items() if not lines.startswith(key)) + lines)


def _nested_spec(name: str, inner: str, depth: int, rest: str) -> str:
    return f"{name}(" * depth + inner + rest * depth


TOML = {
    "toml_arrays": ("arrays nested 5,000,000 deep", lambda: "metadata = " + "[" * 5_000_000),
    "toml_arrays_closed": ("arrays nested 100,000 deep", lambda: "metadata = { a = " + "[" * 100_000 + "]" * 100_000 + " }"),
    "toml_tables": ("inline tables nested 1,000,000 deep", lambda: "metadata = " + "{a=" * 1_000_000),
    "toml_dotted": ("a dotted key of 1,000,000 parts", lambda: "metadata." + ".".join(["a"] * 1_000_000) + " = 1"),
    "toml_keys": ("1,000,000 keys", lambda: "[metadata]\n" + "".join(f"k{n} = 1\n" for n in range(1_000_000))),
    "toml_unknown_keys": ("100,000 keys that no task has: a mistake for each", lambda: "".join(f"k{n} = 1\n" for n in range(100_000))),
    "toml_same_key": ("a key 1,000,000 times", lambda: "version = 1\n" * 1_000_000),
    "toml_headers": ("100,000 headers", lambda: "".join(f"[metadata.k{n}]\n" for n in range(100_000))),
    "toml_string": ("a string of 10 MB that never closes", lambda: 'name = "' + "x" * 10_000_000),
    "toml_comment": ("a comment of 10 MB", lambda: "# " + "x" * 10_000_000),
    "toml_number": ("a number of 5,000,000 digits", lambda: "epochs = " + "1" * 5_000_000),
    "toml_long_line": ("a mistake in a line of 10 MB", lambda: 'scorer = "nothing()" # ' + "x" * 10_000_000),
    "toml_escapes": ("escape sequences in names", lambda: 'name = "\\u001b]0;evil\\u0007\\u202e"\nversion = "\\u001b[2J"'),
    "metrics_nested": ("grouped() nested 10,000 deep", lambda: "metrics = '" + _nested_spec("grouped", "accuracy()", 10_000, ", \"c\")") + "'"),
    "metrics_nested_16": ("grouped() nested 16 deep", lambda: "metrics = '" + _nested_spec("grouped", "accuracy()", 16, ", \"category\")") + "'"),
    "metrics_brackets": ("a spec of 5,000,000 brackets", lambda: "metrics = '" + "(" * 5_000_000 + "'"),
    "metrics_lists": ("a spec of lists nested 100,000 deep", lambda: "metrics = 'accuracy(" + "[" * 100_000 + "]" * 100_000 + ")'"),
    "metrics_100000": ("100,000 metrics", lambda: "metrics = [" + '"accuracy()",' * 100_000 + "]"),
    "metrics_wrong_100000": ("100,000 metrics that there are not", lambda: "metrics = [" + '"acuracy()",' * 100_000 + "]"),
    "metrics_long_name": ("the name of a metric of 1 MB, with suggestions", lambda: "metrics = '" + "a" * 1_000_000 + "'"),
    "metrics_num_samples": ("num_samples=100000000", lambda: "metrics = 'bootstrap_stderr(num_samples=100000000)'"),
    "metrics_ci_samples": ("ci() by 10**9 resamples", lambda: "metrics = 'ci(method=\"bootstrap\", num_samples=1000000000)'"),
    "scorers_nested": ("multi_scorer() nested 5,000 deep", lambda: "scorer = '" + "multi_scorer([" * 5000 + "includes()" + "], \"mode\")" * 5000 + "'"),
    "scorers_10000": ("10,000 scorers", lambda: "scorer = [" + '"includes()",' * 10_000 + "]"),
    "solvers_100000": ("100,000 solvers", lambda: "solver = [" + "\"user_message('x')\"," * 100_000 + "]"),
    "solvers_generate": ("10,000 generations for each sample", lambda: "solver = [" + '"generate()",' * 10_000 + "]"),
    "epochs_max": ("4294967295 epochs", lambda: "epochs = 4294967295"),
    "epochs_beyond": ("2**63 epochs", lambda: "epochs = 9223372036854775807"),
    "epochs_100000": ("100,000 epochs of three samples", lambda: "epochs = 100000"),
    "reducers_10000": ("10,000 reducers", lambda: "epochs = { count = 3, reducers = [" + '"mean",' * 10_000 + "] }"),
    "template_10mb": ("a template of 10 MB", lambda: "solver = [\"prompt_template('" + "{prompt}" * 1_250_000 + "')\", \"generate()\"]"),
    "template_doubles": ("30 templates that each double the prompt", lambda: "solver = [" + "\"prompt_template('{prompt}{prompt}')\"," * 30 + '"generate()"]'),
    "template_braces": ("a template of 1,000,000 braces that never close", lambda: "solver = [\"prompt_template('{prompt}" + "{" * 1_000_000 + "')\"]"),
    "critique_1000": ("self_critique() 1,000 times", lambda: "solver = [" + '"self_critique()",' * 1_000 + "]"),
    "regex_repeats": ("a pattern a{1000000}", lambda: "scorer = \"pattern('(a{1000000})')\""),
    "regex_repeats_nested": ("a pattern (((a{1000}){1000}){1000})", lambda: "scorer = \"pattern('(((a{1000}){1000}){1000})')\""),
    "regex_nested": ("a pattern of 100,000 groups in each other", lambda: "scorer = \"pattern('" + "(" * 100_000 + "a" + ")" * 100_000 + "')\""),
    "regex_alternatives": ("a pattern of 1,000,000 alternatives", lambda: "scorer = \"pattern('(" + "a|" * 1_000_000 + "b)')\""),
    "regex_unicode": ("a pattern of large classes, repeated", lambda: "scorer = \"pattern('(" + r"\\\\w{500}" * 50 + ")')\""),
    "regex_look_nested": ("a pattern of 20,000 look-aheads in each other", lambda: "scorer = \"pattern('" + "(?=" * 20_000 + "(a)" + ")" * 20_000 + "')\""),
    "extra_body": ("an extra body of 1,000,000 keys", lambda: "[generate.extra_body]\n" + "".join(f"k{n} = 1\n" for n in range(1_000_000))),
    "stop_seqs": ("1,000,000 stop sequences", lambda: "generate = { stop_seqs = [" + '"x",' * 1_000_000 + "] }"),
    "dataset_path": ("a path of 1 MB", lambda: 'dataset = { path = "' + "x/" * 500_000 + '" }'),
    "dataset_fields": ("100,000 fields of metadata", lambda: "dataset = { path = \"data.csv\", metadata = [" + '"input",' * 100_000 + "] }"),
    "dataset_limit": ("a limit of 2**63", lambda: 'dataset = { path = "data.csv", limit = 9223372036854775807, shuffle = -1 }'),
}  # fmt: skip


def _task(lines):
    return lambda folder: _with(folder, lines())


# What these ask for is done, which takes its time.
PATIENT = {"epochs_100000", "solvers_generate", "critique_1000"}

for _name, (_about, _lines) in TOML.items():
    case(_name, _about, **({"seconds": "60"} if _name in PATIENT else {}))(_task(_lines))


@case("toml_zeros", "10 MB of zeros")
def toml_zeros(folder: Path) -> None:
    _write(folder, bytes(10_000_000))


@case("toml_utf8", "bytes that are no UTF-8")
def toml_utf8(folder: Path) -> None:
    _write(folder, b'name = "\xff\xfe"\n')


@case("toml_device", "a task file that is /dev/zero")
def toml_device(folder: Path) -> None:
    link = folder / "task.toml"
    if not link.is_symlink():
        link.symlink_to("/dev/zero")


# --- answers that attack a scorer ---


def _write_answer(folder: Path, scorer: str, answer: str, target: str = "t", more: str = "") -> None:
    """A recorded answer to one question. The sample may take a second."""
    _write(folder, f'scorer = {json.dumps(scorer)}\ntime_limit = 1\ndataset = {{ path = "data.json" }}\n{more}')
    data = [{"id": "1", "input": "q", "target": target, "choices": ["a", "b"]}]
    (folder / "data.json").write_text(json.dumps(data))
    (folder / "outputs.jsonl").write_text(json.dumps({"id": "1", "output": answer}) + "\n")


LETTERS = 'solver = "multiple_choice(multiple_correct=true)"'
NUMERIC = 'match(numeric=true, location="any")'
ANSWERS = {
    "regex_plus_plus": ("(a+)+$ on 200 kB of a", lambda: ("pattern('(a+)+$')", "a" * 200_000 + "b")),
    "regex_back": ("a pattern with a back reference, exponential", lambda: ("pattern('(a|aa)+\\\\1$')", "a" * 100_000 + "b")),
    "regex_look": ("look-aheads, quadratic on 200 kB", lambda: ("pattern('(?=.*x)(?=.*y)(z)')", "a" * 200_000)),
    "regex_look_behind": ("look-behind on 200 kB", lambda: ("pattern('(?<!b)(a*)(?=c)')", "a" * 200_000)),
    "regex_look_long": ("look-ahead on 2.5 MB", lambda: ("pattern('(?=.*x)(z)')", "a" * 2_500_000)),
    "regex_all": ("match_all of an empty pattern on 2.5 MB", lambda: ("pattern('(a?)', match_all=true)", "b" * 2_500_000)),
    "regex_groups": ("a pattern with 5,000 groups on 1 MB", lambda: ("pattern('" + "(a)?" * 5000 + "', match_all=true)", "a" * 1_000_000)),
    "match_numeric": ("match(numeric=true) on 10 MB of digits", lambda: (NUMERIC, "1" * 10_000_000, "7")),
    "match_numeric_words": ("match(numeric=true) on 2,000,000 numbers", lambda: (NUMERIC, "1,1 " * 2_000_000, "7")),
    "match_any": ("match() of a long target in a long answer", lambda: ('match(location="any")', "a" * 5_000_000, "a" * 2_000_000 + "b")),
    "includes_long": ("includes() of a target that nearly occurs everywhere", lambda: ("includes()", "a" * 5_000_000, "a" * 2_000_000 + "b")),
    "f1_words": ("f1() on 2,000,000 words", lambda: ("f1()", "w " * 2_000_000, "w " * 2_000_000)),
    "f1_words_differ": ("f1() on 500,000 words, all different", lambda: ("f1()", _words("w"), _words("v"))),
    "exact_punctuation": ("exact() on 10 MB of punctuation", lambda: ("exact()", "., " * 3_000_000)),
    "answer_lines": ("answer('line') on 10 MB of ANSWER:", lambda: ('answer("line")', "ANSWER:" * 1_400_000)),
    "answer_words": ("answer('word') on 5 MB of blanks", lambda: ('answer("word")', "ANSWER: " + " \n" * 2_500_000)),
    "choice_letters": ("multiple_choice() on 10 MB of letters", lambda: ("choice()", "ANSWER: " + "A, " * 3_000_000, "A", LETTERS)),
    "unicode_case": ("letters that grow when their case changes", lambda: ("includes()", "\u0130\ufb03\u0390" * 500_000, "\u0130")),
    "grade_pattern": ("a grade pattern with look-ahead on 200 kB", lambda: ("model_graded_qa(grade_pattern='(?=.*x)GRADE: (z)')", "GRADE:" * 33_000)),
}  # fmt: skip


def _words(letter: str) -> str:
    return " ".join(f"{letter}{n}" for n in range(500_000))


def _answer(parts):
    return lambda folder: _write_answer(folder, *parts())


for _name, (_about, _parts) in ANSWERS.items():
    case(_name, _about, kind="replay")(_answer(_parts))


# --- prices ---


def _prices(name: str, content):
    def make(folder: Path) -> None:
        _with(folder, "version = 1")
        (folder / name).write_bytes(content())

    return make


PRICES = {
    "prices_keys": ("prices of 500,000 models", "prices.toml", lambda: b"".join(b'["m/%d"]\ninput = 1\n' % n for n in range(500_000))),
    "prices_nested": ("prices nested 1,000,000 deep", "prices.json", lambda: b'{"mock/x":' * 1_000_000),
    "prices_nested_toml": ("prices nested 1,000,000 deep, TOML", "prices.toml", lambda: b"a = " + b"[" * 1_000_000),
    "prices_numbers": ("prices that are NaN, infinite or negative", "prices.toml", lambda: b'["mock/x"]\ninput = nan\noutput = -inf\n'),
    "prices_huge": ("prices of 1e308", "prices.json", lambda: b'{"mock/x":{"input":1e308,"output":1e308}}'),
    "prices_digits": ("a price with 5,000,000 digits", "prices.json", lambda: b'{"mock/x":{"input":' + b"1" * 5_000_000 + b"}}"),
    "prices_zeros": ("10 MB of zeros", "prices.json", lambda: bytes(10_000_000)),
    "prices_types": ("prices that are lists", "prices.json", lambda: b'[{"mock/x":[[]]}]'),
}  # fmt: skip

for _name, (_about, _file, _content) in PRICES.items():
    case(_name, _about, kind="prices", prices=_file)(_prices(_file, _content))

#!/usr/bin/env python3
"""Makes the pictures of the README and the book from what errorbar really shows: `docs/pictures/make.py target/dist/errorbar`.

terminal.svg is the coloured output of two commands; report.png is the report of their logs in Chromium,
samples.png its samples in the dark theme, index.png the list of `errorbar view`. Pages need what tests/browser/run.sh needs, and
`npm ci` in that folder. `make.py BINARY samples index` makes some of them."""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PICTURES = pathlib.Path(__file__).resolve().parent
ROOT = PICTURES.parent.parent
COMMANDS = [
    "errorbar eval examples/almanac/almanac.toml",
    "errorbar compare logs --base wren --metric accuracy --cluster passage",
]
# The other sides of the comparison.
BEFORE = [f"eval examples/almanac/almanac.toml --model replay/examples/almanac/outputs/{name}.jsonl --quiet" for name in ("wren", "magpie")]
# The end of a comparison is a legend, which the picture has no room for.
LINES = {COMMANDS[1]: 15}

ADVANCE, LINE, SIZE, MARGIN = 7.8, 18, 13, 18
STYLES = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c"}
STYLE = """text { font: 13px ui-monospace, SFMono-Regular, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d6dbe0; white-space: pre }
.b { font-weight: 600; fill: #fff } .d { fill: #8d99a5 } .c { fill: #56b6d3 } .g { fill: #7cc38a } .r { fill: #ef8a80 } .y { fill: #d9b65c }
.p { fill: #7cc38a }"""


def run(binary, folder, arguments):
    environment = {**os.environ, "PATH": f"{binary.parent}:{os.environ['PATH']}"}
    done = subprocess.run([binary, *arguments], cwd=folder, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"errorbar {' '.join(arguments)} ends with {done.returncode}:\n{done.stderr}")
    return done.stdout


def spans(line):
    """The parts of a line with the class of each, from its escape sequences."""
    style = ""
    for at, part in enumerate(re.split(r"\x1b\[([0-9;]*)m", line)):
        if at % 2:
            codes = [code for code in part.split(";") if code not in ("", "0")]
            style = STYLES.get(codes[-1], "") if codes else ""
        elif part:
            yield part, style


def text(line, row):
    """A line of SVG text; each part is as wide as its characters are in a terminal, whatever the font."""
    column, y, out = 0, MARGIN + 26 + row * LINE, []
    for part, style in spans(line):
        # Blanks are left out, as fonts and viewers differ about them.
        for word in re.finditer(r"\S+(?: \S+)*", part):
            x, width = MARGIN + (column + word.start()) * ADVANCE, len(word[0]) * ADVANCE
            kind = f' class="{style}"' if style else ""
            out.append(f'<text{kind} x="{x:.1f}" y="{y}" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs">{html.escape(word[0])}</text>')
        column += len(part)
    return "".join(out)


def terminal(binary, folder):
    lines = []
    for command in COMMANDS:
        printed = run(binary, folder, command.split()[1:] + ["--color", "always", "--quiet"]).splitlines()
        # The name of the log has the time and an id, which nobody needs to see.
        printed = [re.sub(r"logs/\S+_(\w+)_\w+\.eval", r"logs/…_\1_….eval", line) for line in printed]
        lines += [""] * bool(lines) + [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", *printed[: LINES.get(command)]]
    width = MARGIN * 2 + 100 * ADVANCE
    height = MARGIN * 2 + 10 + len(lines) * LINE
    dots = "".join(f'<circle cx="{MARGIN + 4 + at * 18}" cy="16" r="5" fill="#3c4650"/>' for at in range(3))
    body = "\n".join(text(line, row) for row, line in enumerate(lines) if line)
    label = "errorbar in a terminal: a benchmark with its accuracy by category, each with error and interval; three models compared and ranked"
    (PICTURES / "terminal.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" role="img" aria-label="{label}">\n'
        f'<style>{STYLE}</style>\n<rect width="100%" height="100%" rx="8" fill="#1b2127"/>{dots}\n{body}\n</svg>\n'
    )


def screenshot(address, name, width, height, theme="light"):
    """What a window shows of a page, as docs/pictures/NAME.png."""
    script = ROOT / "tests/browser/picture.js"
    picture = ["node", script, address, PICTURES / f"{name}.png", str(width), str(height), theme]
    subprocess.run(picture, check=True, timeout=120)


def report(binary, folder):
    run(binary, folder, ["report", "logs", "-o", "report.html", "--force"])
    screenshot((folder / "report.html").as_uri(), "report", 1100, 840)


def samples(binary, folder):
    run(binary, folder, ["report", "logs", "-o", "report.html", "--force"])
    address = (folder / "report.html").as_uri() + "#samples?show=disagree&id=geo-4-a"
    screenshot(address, "samples", 1100, 760, "dark")


def index(binary, folder):
    server = subprocess.Popen([binary, "view", "logs"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        found = (re.search(r"http://\S+", line) for line in server.stdout)
        screenshot(next(address[0] for address in found if address), "index", 1100, 470)
    finally:
        server.terminate()
        server.wait()


def main():
    binary, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or ["terminal", "report", "samples", "index"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        for command in BEFORE:
            run(binary, folder, command.split())
        # The commands of the terminal write the log that the report is of.
        terminal(binary, folder)
        for name, make in [("report", report), ("samples", samples), ("index", index)]:
            if name in names:
                make(binary, folder)


main()

#!/usr/bin/env python3
"""Writes the recorded outputs of finch, a made-up model, for the word problems.

There is no such model: every text below is drawn here, at random, with a fixed seed. Running the script again writes the
same bytes.

For each problem a chance of being right is drawn once: some problems always come out right, some never, most lie in
between. Each of the five epochs then draws whether it is right. A wrong epoch gives one of the slips listed below for
the problem, mostly the first, so that the same error comes back. Last, the number is written in one of many shapes; it is
always the last number of the text. About 2 % of the texts give no number at all.
"""

import json
import random
from pathlib import Path

HERE = Path(__file__).parent
SEED = "sums 1"
EPOCHS = 5

# For each problem the sum behind it and wrong results that a careless reader might get.
SUMS = {
    1: ("50 × 25", ["125", "1225"]),
    2: ("20 − (3 × 4.50 + 2)", ["13.50", "6.50"]),
    3: ("18,400 × 3/4", ["4600", "9200"]),
    4: ("12 + 90 × 0.05", ["462", "12.45"]),
    5: ("86.40 ÷ 4", ["21.40", "22.60"]),
    6: ("40 × 16.50 + 4 × 24.75", ["726", "1089"]),
    7: ("(160 − 120) ÷ 160 × 100", ["33.3", "40"]),
    8: ("2,000 × 1.03 × 1.03", ["2120", "2060"]),
    9: ("24 ÷ 3 × 2", ["48", "36"]),
    10: ("85 × 14 − 640", ["1190", "650"]),
    11: ("270 ÷ 2.5", ["135", "105"]),
    12: ("18 ÷ 12 × 60", ["150", "40"]),
    13: ("80 + 6 × 60 + 15", ["515", "985"]),
    14: ("6.5 × 3.4", ["221", "19.5"]),
    15: ("21 ÷ (4 + 3)", ["21", "5.25"]),
    16: ("14 × 2 × 9", ["126", "242"]),
    17: ("780 × (3 + 20/60)", ["2496", "2340"]),
    18: ("14.4 × 2.5", ["5.76", "35"]),
    19: ("450 ÷ 6 × 10", ["4500", "270"]),
    20: ("1,800 ÷ 150", ["120", "8"]),
    21: ("17 × 24 − 30", ["408", "368"]),
    22: ("4 × 3/5", ["1.5", "6.67"]),
    23: ("2.5 × 40 + 20", ["100", "150"]),
    24: ("15 ÷ 8, rounded up", ["1.875", "3"]),
    25: ("500 ÷ 18, rounded down", ["28", "27.8"]),
    26: ("32 × 28 − 117", ["896", "789"]),
    27: ("5 × 64 × 3/4", ["320", "80"]),
    28: ("18 + 14 − (30 − 6)", ["2", "32"]),
    29: ("12 × 11 ÷ 2", ["132", "144"]),
    30: ("9 × 1 + 90 × 2 + 51 × 3", ["339", "450"]),
    31: ("10 × 9", ["45", "100"]),
    32: ("(14 − 3) × 2", ["25", "28"]),
    33: ("1,340 × 1.15", ["1355", "1474"]),
    34: ("2 × (12.5 + 8)", ["100", "20.5"]),
    35: ("1,200 ÷ 15", ["160", "90"]),
    36: ("720 ÷ 45", ["15", "1.6"]),
    37: ("14 × 10", ["42", "126"]),
    38: ("6 − 4 × 2.5", ["4", "-10"]),
    39: ("4 × 2.5 × 2", ["20,000", "200"]),
    40: ("4 × 3.4 − 10.8", ["3.6", "3.4"]),
}

# How problems are spread over chances of being right: (lowest, highest), weight.
CHANCES = [((1.0, 1.0), 30), ((0.75, 0.95), 25), ((0.4, 0.65), 25), ((0.1, 0.3), 10), ((0.0, 0.0), 10)]

# How often a wrong epoch makes the first slip.
FIRST_SLIP = 0.7

# How often there is no number.
NO_NUMBER = 0.02

SHAPES = [
    "{sum} = {number}",
    "{sum} = {number}\n\nThe result is {money}.",
    "The total is {money}.",
    "Answer: {number}",
    "I compute {sum}, which comes to {money}.",
    "Let me go step by step. The quantity asked for is {sum}.\n\n**{money}**",
    "First I write down the sum: {sum}. That gives {grouped}.\n\nAnswer: {grouped}",
    "{money}",
    "It comes to {grouped} in all.",
    "Setting it up as {sum}, we find the answer to be **{grouped}**.",
    "So that makes {money}!",
    "ANSWER: {grouped}",
]

NUMBERLESS = [
    "I am not certain how to read this problem. Could you say more?",
    "There seems to be something missing, so I cannot give a number.",
    "That depends on details that are not given.",
]


def pick(source, items):
    return items[int(source.random() * len(items))]


def pick_weighted(source, pairs):
    left = source.random() * sum(weight for _, weight in pairs)
    for item, weight in pairs:
        left -= weight
        if left < 0:
            return item
    return pairs[-1][0]


def draws(*name):
    """Random draws for one named thing, independent of all others."""
    return random.Random("/".join([SEED, *map(str, name)]))


def probability_right(problem):
    """The chance of a right result, the same in every epoch."""
    source = draws("chance", problem["id"])
    low, high = pick_weighted(source, CHANCES)
    return low + (high - low) * source.random()


def result(problem, epoch):
    """The number that the model arrives at in this epoch, as plain digits."""
    source = draws("result", problem["id"], epoch)
    slips = SUMS[problem["id"]][1]
    if source.random() < probability_right(problem):
        number = problem["answer"].lstrip("$£€")
    elif source.random() < FIRST_SLIP:
        number = slips[0]
    else:
        number = pick(source, slips[1:])
    return number.replace(",", "")


def with_separators(number):
    """The number with a comma between thousands."""
    whole, point, decimals = number.partition(".")
    return f"{int(whole):,}{point}{decimals}"


def written(problem, epoch):
    """The text that the model writes in this epoch."""
    source = draws("text", problem["id"], epoch)
    if source.random() < NO_NUMBER:
        return pick(source, NUMBERLESS)
    number = result(problem, epoch)
    currency = next((sign for sign in "$£€" if sign in problem["problem"]), "")
    fields = {
        "sum": SUMS[problem["id"]][0],
        "number": number,
        "grouped": with_separators(number),
        "money": currency + with_separators(number),
    }
    return pick(source, SHAPES).format(**fields)


def main():
    with open(HERE / "problems.jsonl", encoding="utf-8") as file:
        problems = [json.loads(line) for line in file]
    (HERE / "outputs").mkdir(exist_ok=True)
    with open(HERE / "outputs" / "finch.jsonl", "w", newline="\n", encoding="utf-8") as file:
        for problem in problems:
            for epoch in range(1, EPOCHS + 1):
                record = {"id": problem["id"], "epoch": epoch, "output": written(problem, epoch)}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

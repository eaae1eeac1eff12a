#!/usr/bin/env python3
"""Writes the recorded outputs of three made-up models for the almanac questions.

The models do not exist: heron, magpie and wren are names for three levels of skill, and every text below is drawn
here, at random, with a fixed seed. Running the script again writes the same bytes. Of a dozen seeds this one was kept,
since with it the three levels came out about as far apart as they were meant to be.

For each model and question a chance of being right is drawn once, from a sum on the log-odds scale of

- the model's skill and its strength or weakness in the category,
- how hard the passage is: a part that all models share and a part of the model's own, so that the questions on a
  passage fail together,
- how hard the question is for the model.

Each of the three epochs then draws its answer with that chance. A wrong answer is mostly the model's favourite wrong
letter for that question, so that errors repeat over epochs too. Last, the answer is written down in one of the shapes
that chat models use; about 2 % of the texts give no answer in the shape that was asked for.
"""

import csv
import json
import math
import random
from pathlib import Path
from statistics import NormalDist

HERE = Path(__file__).parent
SEED = "almanac 10"
EPOCHS = 3
LETTERS = "ABCD"

# The log-odds of a right answer to an average question, and what a category adds to them.
MODELS = {
    "heron": {
        "skill": 3.0,
        "categories": {"geography": 0.5, "history": 0.4, "physics": -1.3, "biology": 0.6, "trade": -0.5, "sport": 0.3},
        "bare": 0.5,
    },
    "magpie": {
        "skill": 1.55,
        "categories": {"geography": 0.3, "history": 0.9, "physics": -1.2, "biology": 0.2, "trade": 0.1, "sport": -0.3},
        "bare": 0.25,
    },
    "wren": {
        "skill": 0.3,
        "categories": {"geography": 0.6, "history": -0.2, "physics": -0.8, "biology": 0.5, "trade": -0.6, "sport": 0.5},
        "bare": 0.7,
    },
}

# Standard deviations on the log-odds scale.
SPREAD_PASSAGE_SHARED = 1.0
SPREAD_PASSAGE_OWN = 1.4
SPREAD_QUESTION = 1.6

# How often a wrong answer is the favourite one.
FAVOURITE = 0.75

# How often there is no answer line.
NO_LINE = 0.02

REASONS = [
    "The passage settles this: {text}",
    "Only option {letter} agrees with the passage.",
    "Reading the passage again, the statement that fits is \"{text}\"",
    "The question turns on one detail of the passage, and that detail points to {letter}.",
    "Three of the options are not supported by the text. The one that is supported reads: {text}",
    "First I look for the sentence that the question is about.\n\nComparing it with the four options leaves {letter}.",
    "Let me check each option against the passage. {others} do not match what it says; {letter} does.",
    "From what the passage states, I would pick \"{text}\"",
]

LINES = [
    ("ANSWER: {letter}", 12),
    ("**ANSWER: {letter}**", 3),
    ("ANSWER: {letter}.", 2),
    ("ANSWER: {letter}) {text}", 2),
    ("Answer: {letter}", 2),
    ("ANSWER: **{letter}**", 1),
    ("answer: {small}", 1),
    ("ANSWER: ({letter})", 1),
]

LINELESS = [
    "I am sorry, but the passage does not give me enough to choose one of these options.",
    "I would rather not guess here.",
    "It is {letter}, I think.",
    "{text}",
    "Both {letter} and another option could be defended, so I cannot name a single letter.",
]


class Draws:
    """Random draws for one named thing, independent of all others, so that an added question moves no other."""

    def __init__(self, *name):
        self.source = random.Random("/".join([SEED, *map(str, name)]))

    def chance(self, probability):
        return self.source.random() < probability

    def normal(self, spread):
        # random() may be 0, where the inverse is not defined
        return spread * NormalDist().inv_cdf(max(self.source.random(), 1e-12))

    def pick(self, items):
        return items[int(self.source.random() * len(items))]

    def pick_weighted(self, pairs):
        left = self.source.random() * sum(weight for _, weight in pairs)
        for item, weight in pairs:
            left -= weight
            if left < 0:
                return item
        return pairs[-1][0]


def probability_right(model, question):
    """The chance that the model answers the question rightly, the same in every epoch."""
    passage, traits = question["passage"], MODELS[model]
    log_odds = (
        traits["skill"]
        + traits["categories"][question["category"]]
        + Draws("passage", passage).normal(SPREAD_PASSAGE_SHARED)
        + Draws("passage", passage, model).normal(SPREAD_PASSAGE_OWN)
        + Draws("question", question["id"], model).normal(SPREAD_QUESTION)
    )
    return 1 / (1 + math.exp(-log_odds))


def answer_letter(model, question, epoch):
    """The letter that the model settles on in this epoch."""
    right = question["answer"]
    wrong = [letter for letter in LETTERS if letter != right]
    draws = Draws("answer", question["id"], model, epoch)
    if draws.chance(probability_right(model, question)):
        return right
    favourite = Draws("favourite", question["id"], model).pick(wrong)
    return favourite if draws.chance(FAVOURITE) else draws.pick(wrong)


def written(model, question, epoch):
    """The text that the model writes in this epoch."""
    letter = answer_letter(model, question, epoch)
    others = [other for other in LETTERS if other != letter]
    fields = {
        "letter": letter,
        "small": letter.lower(),
        "text": question[letter.lower()],
        "others": "{}, {} and {}".format(*others),
    }
    draws = Draws("text", question["id"], model, epoch)
    if draws.chance(NO_LINE):
        return draws.pick(LINELESS).format(**fields)
    line = draws.pick_weighted(LINES).format(**fields)
    if draws.chance(MODELS[model]["bare"]):
        return line
    return draws.pick(REASONS).format(**fields) + "\n\n" + line


def main():
    with open(HERE / "questions.csv", newline="", encoding="utf-8") as file:
        questions = list(csv.DictReader(file))
    (HERE / "outputs").mkdir(exist_ok=True)
    for model in MODELS:
        with open(HERE / "outputs" / f"{model}.jsonl", "w", newline="\n", encoding="utf-8") as file:
            for question in questions:
                for epoch in range(1, EPOCHS + 1):
                    record = {"id": question["id"], "epoch": epoch, "output": written(model, question, epoch)}
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

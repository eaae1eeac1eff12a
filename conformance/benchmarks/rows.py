"""Made-up rows in the true columns of public benchmarks, and made-up model outputs of many kinds.

`ROWS[name]()` gives the files of a benchmark: {split: rows}. The words are invented; the columns, their types and
their nesting are those of the published datasets.
"""

import random

PLACES = ["Arbel", "Benno", "Corvid", "Dunmere", "Eskil", "Fallow", "Gorse", "Hadley"]
THINGS = ["kettle", "lantern", "ferry", "orchard", "compass", "windmill", "violin", "ladder", "anvil", "sail"]
LETTERS = "ABCDEFGHIJ"
COUNT = 20


def _words(number, salt=""):
    draw = random.Random(f"{salt}{number}")
    return draw.choice(PLACES), draw.choice(THINGS), draw.randrange(2, 90)


def _question(number, salt):
    place, thing, amount = _words(number, salt)
    return f"In {place}, which statement about {thing} number {number} of {amount} is right?"


def _options(number, salt, count):
    draw = random.Random(f"options {salt}{number}")
    return [f"{name} by {amount}" for name, amount in zip(draw.sample(THINGS, count), draw.sample(range(2, 99), count))]


def _passage(number, salt):
    place, thing, amount = _words(number // 2, salt)
    return f"The people of {place} built a {thing} in {1700 + amount}. It took {amount} days; {amount % 7} of them it rained."


def arc():
    def row(number):
        labels = list("ABCD") if number % 3 else list("1234")
        return {
            "id": f"Made_{number}",
            "question": _question(number, "arc"),
            "choices": {"text": _options(number, "arc", 4), "label": labels},
            "answerKey": labels[number % 4],
        }

    return {"test": [row(number) for number in range(COUNT)]}


def bbq():
    def row(number):
        answers = _options(number, "bbq", 3)
        info = {f"ans{at}": [answer, "unknown"] for at, answer in enumerate(answers)}
        return {
            "example_id": number, "question_index": str(number // 4), "question_polarity": "neg" if number % 2 else "nonneg",
            "context_condition": "ambig", "category": "Age", "answer_info": info,
            "additional_metadata": {"subcategory": "None", "stereotyped_groups": ["old"], "version": "a", "source": "made up"},
            "context": _passage(number, "bbq"), "question": _question(number, "bbq"),
            "ans0": answers[0], "ans1": answers[1], "ans2": answers[2], "label": number % 3,
        }

    return {"test": [row(number) for number in range(COUNT)]}


def boolq():
    def row(number):
        return {"question": f"is {_question(number, 'boolq').lower()}", "answer": number % 3 == 0, "passage": _passage(number, "boolq")}

    return {"validation": [row(number) for number in range(COUNT)]}


def commonsense_qa():
    def row(number):
        return {
            "id": f"{number:032x}", "question": _question(number, "csqa"), "question_concept": _words(number, "csqa")[1],
            "choices": {"label": list("ABCDE"), "text": _options(number, "csqa", 5)}, "answerKey": "ABCDE"[number % 5],
        }

    return {"validation": [row(number) for number in range(COUNT)]}


def cybermetric():
    def row(number):
        return {
            "question": _question(number, "cyber"), "answers": dict(zip("ABCD", _options(number, "cyber", 4))),
            "solution": "ABCD"[number % 4],
        }

    return {"test": [row(number) for number in range(COUNT)]}


def drop():
    date = lambda day="", month="", year="": {"day": day, "month": month, "year": year}

    def answer(number, kind):
        place, thing, amount = _words(number, "drop")
        if kind == 0:
            return str(amount), date(), []
        if kind == 1:
            return "", date(), [f"the {thing}", place]
        return "", date("3", "May", str(1700 + amount)), []

    def row(number):
        first = answer(number, number % 3)
        others = [first, answer(number + 1, number % 2), answer(number, 0)]
        return {
            "section_id": f"made_{number // 2}", "query_id": f"{number:08x}-made", "passage": _passage(number, "drop"),
            "question": _question(number, "drop"),
            "answer": {"number": first[0], "date": first[1], "spans": first[2], "worker_id": "", "hit_id": ""},
            "validated_answers": {
                "number": [other[0] for other in others], "date": [other[1] for other in others],
                "spans": [other[2] for other in others], "worker_id": ["", "", ""], "hit_id": ["", "", ""],
            },
        }

    return {"validation": [row(number) for number in range(COUNT)], "train": [row(number) for number in range(100, 106)]}


def gpqa():
    def row(number):
        right, *wrong = _options(number, "gpqa", 4)
        return {
            "Question": _question(number, "gpqa"), "Correct Answer": right, "Incorrect Answer 1": wrong[0],
            "Incorrect Answer 2": wrong[1], "Incorrect Answer 3": wrong[2], "Record ID": f"rec{number:05}",
            "High-level domain": ["Biology", "Chemistry", "Physics"][number % 3], "Subdomain": "Genetics",
        }

    return {"test": [row(number) for number in range(COUNT)]}


def gsm8k():
    def row(number):
        place, thing, amount = _words(number, "gsm8k")
        total = amount * (number + 1) * (101 if number % 4 == 0 else 1)
        return {
            "question": f"A shop in {place} sells {amount} {thing}s a day. How many are that in {number + 1} days?",
            "answer": f"Each day {amount}.\n<<{amount}*{number + 1}={total}>>Together {total}.\n#### {total:,}",
        }

    return {"test": [row(number) for number in range(COUNT)], "train": [row(number) for number in range(200, 212)]}


def hellaswag():
    def row(number):
        start = _passage(number * 2, "hellaswag")
        return {
            "ind": number, "activity_label": "Building", "ctx_a": start, "ctx_b": "then", "ctx": f"{start} Then", "endings": _options(number, "hella", 4),
            "source_id": f"made~v_{number}", "split": "val", "split_type": "indomain", "label": str(number % 4),
        }

    return {"validation": [row(number) for number in range(COUNT)]}


def medqa():
    def row(number):
        options = _options(number, "medqa", 5)
        return {
            "id": f"test_{number}", "question_id": f"test_{number}", "document_id": "NULL", "question": _question(number, "medqa"), "type": "multiple_choice",
            "choices": options, "context": "", "answer": [options[number % 5]],
        }

    return {"test": [row(number) for number in range(COUNT)]}


def mgsm():
    def row(number):
        place, thing, amount = _words(number, "mgsm")
        return {"input": f"{place}: {amount} {thing}, {number + 2} x ?", "target": f"{amount * (number + 2) * 37:,}"}

    return {"en": [row(number) for number in range(COUNT)]}


def mmlu():
    def row(number):
        return {
            "question": _question(number, "mmlu"), "subject": ["anatomy", "astronomy", "virology"][number % 3],
            "choices": _options(number, "mmlu", 4), "answer": number % 4,
        }

    return {"test": [row(number) for number in range(COUNT)], "dev": [row(number) for number in range(300, 315)]}


def mmlu_pro():
    def row(number):
        options = _options(number, "pro", 10 if number % 2 else 7)
        return {
            "question_id": number, "question": _question(number, "pro"), "options": options, "answer": LETTERS[number % 7],
            "answer_index": number % 7, "cot_content": f"A: Let's think. The answer is ({LETTERS[number % 7]}).",
            "category": ["law", "Business", "health"][number % 3], "src": "made up",
        }

    return {"test": [row(number) for number in range(COUNT)], "validation": [row(number) for number in range(400, 409)]}


def musr():
    def row(number):
        options = _options(number, "musr", 3)
        if number % 4 == 0:
            options[0] = "Arbel's kettle"
        return {
            "narrative": _passage(number * 2, "musr"), "question": _question(number, "musr"), "choices": str(options),
            "answer_index": number % 3, "answer_choice": options[number % 3],
        }

    return {"murder_mysteries": [row(number) for number in range(COUNT)]}


def paws():
    def row(number):
        return {"id": number + 1, "sentence1": _passage(number * 2, "paws"), "sentence2": _passage(number * 2 + 5, "paws"), "label": number % 2}

    return {"test": [row(number) for number in range(COUNT)]}


def piqa():
    def row(number):
        first, second = _options(number, "piqa", 2)
        return {"goal": _question(number, "piqa"), "sol1": first, "sol2": second, "label": number % 2}

    return {"validation": [row(number) for number in range(COUNT)]}


def pre_flight():
    def row(number):
        return {"id": number, "input": _question(number, "flight"), "choices": _options(number, "flight", 4), "target": "ABCD"[number % 4]}

    return {"test": [row(number) for number in range(COUNT)]}


def pubmedqa():
    def row(number):
        decision = ["yes", "no", "maybe"][number % 3]
        return {
            "pubid": 10_000 + number, "question": _question(number, "pubmed"),
            "context": {"contexts": [_passage(number, "pubmed"), _passage(number + 9, "pubmed")], "labels": ["BACKGROUND", "RESULTS"], "meshes": ["Made Up"],
                        "reasoning_required_pred": list(decision), "reasoning_free_pred": list(decision)},
            "long_answer": _passage(number + 3, "pubmed"), "final_decision": decision,
        }

    return {"train": [row(number) for number in range(COUNT)]}


def race_h():
    def row(number):
        return {
            "example_id": f"high{number}.txt", "article": _passage(number, "race"), "answer": "ABCD"[number % 4], "question": _question(number, "race"),
            "options": _options(number, "race", 4),
        }

    return {"test": [row(number) for number in range(COUNT)]}


def sec_qa():
    def row(number):
        options = dict(zip("ABCD", _options(number, "secqa", 4)))
        return {"Question": _question(number, "secqa"), **options, "Answer": "ABCD"[number % 4], "Explanation": "made up"}

    return {"test": [row(number) for number in range(COUNT)]}


def squad():
    def row(number):
        place, thing, amount = _words(number, "squad")
        texts = [[], [f"a {thing}", f"the {thing}"], [place]][number % 3]
        return {
            "id": f"{number:024x}", "title": place, "context": _passage(number, "squad"), "question": _question(number, "squad"),
            "answers": {"text": texts, "answer_start": [3 for _ in texts]},
        }

    return {"validation": [row(number) for number in range(COUNT)]}


def truthfulqa():
    def row(number):
        options = _options(number, "truthful", 6)
        one = {"choices": options[:4], "labels": [1 if at == number % 4 else 0 for at in range(4)]}
        two = {"choices": options, "labels": [1 if (at + number) % 2 else 0 for at in range(6)]}
        return {"question": _question(number, "truthful"), "mc1_targets": one, "mc2_targets": two}

    return {"validation": [row(number) for number in range(COUNT)]}


def winogrande():
    def row(number):
        first, second = _options(number, "wino", 2)
        place, thing, amount = _words(number, "wino")
        return {
            "sentence": f"The {thing} number {number} of {place} was not moved because the _ was too heavy.", "option1": first, "option2": second,
            "answer": str(number % 2 + 1),
        }

    return {"validation": [row(number) for number in range(COUNT)], "train": [row(number) for number in range(500, 508)]}


def wmdp():
    def row(number):
        return {"question": _question(number, "wmdp"), "choices": _options(number, "wmdp", 4), "answer": number % 4}

    return {"test": [row(number) for number in range(COUNT)]}


ROWS = {
    function.__name__: function
    for function in [
        arc, bbq, boolq, commonsense_qa, cybermetric, drop, gpqa, gsm8k, hellaswag, medqa, mgsm, mmlu, mmlu_pro, musr, paws, piqa,
        pre_flight, pubmedqa, race_h, sec_qa, squad, truthfulqa, winogrande, wmdp,
    ]
}


def outputs(target, choices, kind):
    """What a model may answer, one for each of many kinds; `target` is the list of right answers."""
    right = target[0] if target else ""
    if choices:
        letters = LETTERS[: len(choices)]
        wrong = next(letter for letter in letters if letter not in target)
        several = ",".join(target)
        return [
            f"ANSWER: {several}", f"ANSWER: {wrong}", f"**ANSWER: {several}**", f"\\boxed{{{right}}}", "",
            f"ANSWER: {wrong}\n\nNo, that is wrong.\n\nANSWER: {several}", f"answer: {several.lower()}", f"ANSWER: ({right})",
            f"ANSWER: {several}.", right, f"The answer is {right}.", "I cannot answer that.", f"\n\n  ANSWER:   {several}  \n\n",
            f"ANSWER: {','.join(letters)}", choices[LETTERS.index(right)], "ANSWER: Z", f"Reasoning {wrong}.\nANSWER: {right}) {choices[0]}",
            f"ANSWER: {right} and {wrong}", f"**Answer:** {right}", f"ANSWER: {' '.join(target)}",
        ][kind % 20]
    if kind_of(right) == "number":
        plain = right.replace(",", "")
        other = str(int(plain) + 1)
        return [
            f"Reasoning.\n\nANSWER: {right}", f"ANSWER: {other}", f"**ANSWER: {right}**", f"ANSWER: \\boxed{{{plain}}}", "",
            f"ANSWER: {other}\nWait.\nANSWER: {right}", f"ANSWER: {plain}.00", f"ANSWER: ${right}", f"ANSWER: {right} apples", plain,
            f"The answer is {right}.", "I cannot answer that.", f"ANSWER:\n{plain}\n", f"ANSWER: -{plain}", f"ANSWER: {plain}%",
            f"{right} is what I get, not {other}", f"ANSWER: {float(plain)}", f"ANSWER: {plain}/1", f"ANSWER: {plain}e0", f"Answer: {plain}.",
        ][kind % 20]
    other = {"Yes": "No", "No": "Yes"}.get(right, "something else")
    return [
        f"Answer: {right}" if right not in ("Yes", "No") else right, other, f"**{right}**", f"\\boxed{{{right}}}", "", f"{other}. Answer: {right}",
        right.lower(), f"({right})", f"{right}.", right.upper(), f"The answer is {right}.", "I cannot answer that.", f"\n\n{right}\n\n",
        f"{right} {right}", f"{right}, because it is.", "unanswerable", f"Answer: {other}\nAnswer: {right}", f"_{right}_", f"\u201c{right}\u201d", f"answer:{right}!",
    ][kind % 20]


def kind_of(text):
    return "number" if text and text.replace(",", "").isdigit() else "text"

"""What inspect_evals makes of the rows of `rows.py`: prompts, scores and metrics, as facts for `check.py`.

    pip install inspect_ai==0.3.285 inspect_evals==0.26.0
    python reference.py expected.json

Its tasks are run as they are. Only what loads a dataset from the network is replaced, by the made-up rows, and the
model, by one that gives the recorded outputs.
"""

import hashlib
import importlib
import json
import pathlib
import sys
import tempfile

import inspect_ai.model._model
import inspect_ai.model._tokens
from inspect_ai import eval as run
from inspect_ai.dataset import FieldSpec, MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model

from rows import ROWS, outputs


def count_tokens(text, *_):
    return max(1, len(text) // 4)


inspect_ai.model._model.count_text_tokens = count_tokens
inspect_ai.model._tokens.count_text_tokens = count_tokens

# Module, task and arguments of each benchmark. Shuffling is off: their order is that of Python's random numbers.
TASKS = {
    "arc": ("arc.arc", "arc_easy", {}),
    "bbq": ("bbq.bbq", "bbq", {"subsets": "Age"}),
    "boolq": ("boolq.boolq", "boolq", {"shuffle": False}),
    "commonsense_qa": ("commonsense_qa.commonsense_qa", "commonsense_qa", {"shuffle": False}),
    "cybermetric": ("cybermetric.cybermetric", "cybermetric_80", {}),
    "drop": ("drop.drop", "drop", {"fewshot": 3, "fewshot_shuffle": False}),
    "gpqa": ("gpqa.gpqa", "gpqa_diamond", {"shuffle_choices": False}),
    "gsm8k": ("gsm8k.gsm8k", "gsm8k", {"fewshot": 10, "shuffle_fewshot": False}),
    "hellaswag": ("hellaswag.hellaswag", "hellaswag", {}),
    "medqa": ("medqa.medqa", "medqa", {}),
    "mgsm": ("mgsm.mgsm", "mgsm", {"languages": ["en"]}),
    "mmlu": ("mmlu.mmlu", "mmlu_0_shot", {"shuffle": False}),
    "mmlu_pro": ("mmlu_pro.mmlu_pro", "mmlu_pro", {"shuffle": False}),
    "musr": ("musr.musr", "musr", {"shuffle": False}),
    "paws": ("paws.paws", "paws", {"shuffle": False}),
    "piqa": ("piqa.piqa", "piqa", {}),
    "pre_flight": ("pre_flight.pre_flight", "pre_flight", {}),
    "pubmedqa": ("pubmedqa.pubmedqa", "pubmedqa", {}),
    "race_h": ("race_h.race_h", "race_h", {"shuffle": False}),
    "sec_qa": ("sec_qa.sec_qa", "sec_qa_v1", {}),
    "squad": ("squad.squad", "squad", {"shuffle": False}),
    "truthfulqa": ("truthfulqa.truthfulqa", "truthfulqa", {"shuffle": False, "shuffle_choices": False}),
    "winogrande": ("winogrande.winogrande", "winogrande", {"fewshot_shuffle": False}),
    "wmdp": ("wmdp.wmdp", "wmdp_bio", {}),
}


def replace_datasets(name, module):
    """Gives the module the made-up rows in place of what it would fetch."""
    files = ROWS[name]()

    def samples(rows, to_sample, limit=None):
        made = [to_sample(row) if to_sample else Sample(**row) for row in rows[:limit]]
        return [one for sample in made for one in (sample if isinstance(sample, list) else [sample])]

    def hf_dataset(*_, split, sample_fields=None, limit=None, **__):
        return MemoryDataset(samples(files[split], None if isinstance(sample_fields, FieldSpec) else sample_fields, limit), name=name)

    def with_script(*_, record_to_sample, split="test", **__):
        return MemoryDataset(samples(files[split], record_to_sample), name=name)

    def local(*_, sample_fields=None, cache_tag=None, json_key=None, **__):
        rows = files.get(cache_tag) or files["test"]
        return MemoryDataset(samples(rows, sample_fields), name=name)

    replaced = {
        "hf_dataset": hf_dataset,
        "load_hf_dataset_with_script": with_script,
        "load_csv_dataset": local,
        "load_json_dataset": local,
        "download": lambda *_, **__: None,
    }
    for attribute, value in replaced.items():
        if hasattr(module, attribute):
            setattr(module, attribute, value)
    if name == "cybermetric":
        module.load_dataset = lambda _: MemoryDataset(samples(files["test"], module.record_to_sample), name=name)
    if name == "pubmedqa":
        module.json.load = lambda _: {str(row["pubid"]): "yes" for row in files["train"]}


def facts(name, folder):
    module_name, task_name, args = TASKS[name]
    module = importlib.import_module(f"inspect_evals.{module_name}")
    load = json.load
    replace_datasets(name, module)
    task = getattr(module, task_name)(**args)
    json.load = load
    task.epochs = None
    answers = [
        outputs([sample.target] if isinstance(sample.target, str) else list(sample.target), sample.choices, kind)
        for kind, sample in enumerate(task.dataset)
    ]
    model = get_model("mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", answer) for answer in answers])
    [log] = run(task, model=model, log_dir=str(folder), display="none", max_samples=1, max_connections=1, epochs=1)
    assert log.status == "success", (name, log.error and log.error.message)
    by_id = {str(sample.id): sample for sample in log.samples}
    samples = []
    for answer, source in zip(answers, task.dataset):
        sample = by_id[str(source.id)]
        assert sample.output.completion == answer, name
        prompt = [
            {"role": message.role, "text": message.text}
            for message in sample.messages
            if message.role != "assistant" or message.source != "generate"
        ]
        text = json.dumps(prompt, ensure_ascii=False)
        samples.append(
            {
                "id": sample.id,
                "output": answer,
                "target": sample.target,
                "prompt": hashlib.sha256(text.encode()).hexdigest(),
                "scores": {key: {"value": score.value, "answer": score.answer} for key, score in sample.scores.items()},
            }
        )
        if "--prompts" in sys.argv:
            samples[-1]["text"] = prompt
    metrics = [
        {"scorer": score.scorer, "metrics": {key: metric.value for key, metric in score.metrics.items()}}
        for score in log.results.scores
    ]
    return {"samples": samples, "results": metrics}


def main():
    names = [name for name in sys.argv[2:] if not name.startswith("--")] or list(TASKS)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            found[name] = facts(name, pathlib.Path(folder))
            print(name, len(found[name]["samples"]), found[name]["results"], file=sys.stderr)
    pathlib.Path(sys.argv[1]).write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")


main()

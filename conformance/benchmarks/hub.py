"""Puts the made-up rows of `rows.py` where a Hugging Face download would be: a hub cache with Parquet snapshots.

    python hub.py FOLDER [ROWS_PER_FILE]
"""

import csv
import json
import pathlib
import sys

import pyarrow
import pyarrow.parquet

from rows import ROWS

REVISION = "0" * 40

# Where each dataset keeps a split: repository, and the file of the split in it.
FILES = {
    "arc": ("allenai/ai2_arc", "ARC-Easy/{split}-00000-of-00001.parquet"),
    "bbq": ("heegyu/bbq", "data/Age.jsonl"),
    "boolq": ("google/boolq", "data/{split}-00000-of-00001.parquet"),
    "commonsense_qa": ("tau/commonsense_qa", "data/{split}-00000-of-00001.parquet"),
    "drop": ("EleutherAI/drop", "data/{split}-00000-of-00001.parquet"),
    "gsm8k": ("openai/gsm8k", "main/{split}-00000-of-00001.parquet"),
    "hellaswag": ("Rowan/hellaswag", "data/{split}-00000-of-00001.parquet"),
    "medqa": ("bigbio/med_qa", "med_qa_en_bigbio_qa/{split}-00000-of-00001.parquet"),
    "mmlu": ("cais/mmlu", "all/{split}-00000-of-00001.parquet"),
    "mmlu_pro": ("TIGER-Lab/MMLU-Pro", "data/{split}-00000-of-00001.parquet"),
    "musr": ("TAUR-Lab/MuSR", "{split}.csv"),
    "paws": ("google-research-datasets/paws", "labeled_final/{split}-00000-of-00001.parquet"),
    "piqa": ("ybisk/piqa", "plain_text/{split}-00000-of-00001.parquet"),
    "pre_flight": ("AirsideLabs/pre-flight-06", "{split}.jsonl"),
    "pubmedqa": ("qiaojin/PubMedQA", "pqa_labeled/{split}-00000-of-00001.parquet"),
    "race_h": ("ehovy/race", "high/{split}-00000-of-00001.parquet"),
    "sec_qa": ("zefang-liu/secqa", "data/secqa_v1_{split}.csv"),
    "squad": ("rajpurkar/squad_v2", "squad_v2/{split}-00000-of-00001.parquet"),
    "truthfulqa": ("truthfulqa/truthful_qa", "multiple_choice/{split}-00000-of-00001.parquet"),
    "winogrande": ("allenai/winogrande", "winogrande_xl/{split}-00000-of-00001.parquet"),
    "wmdp": ("cais/wmdp", "wmdp-bio/{split}-00000-of-00001.parquet"),
}

# Datasets that are no repositories of the hub: the file that people download.
PLAIN = {"gpqa": "gpqa_diamond.csv", "mgsm": "mgsm_{split}.tsv", "cybermetric": "CyberMetric-80-v1.json"}


def write(path, rows, name):
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix:
        case ".parquet":
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        case ".jsonl":
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        case ".json":
            path.write_text(json.dumps({"questions": rows}, ensure_ascii=False, indent=2))
        case ".tsv":
            with path.open("w", newline="") as file:
                csv.writer(file, dialect="excel-tab").writerows(row.values() for row in rows)
        case ".csv":
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)


def make(folder, most=None, names=None):
    """The hub cache, with at most this number of rows in a file; other files are in `folder/files`."""
    folder = pathlib.Path(folder)
    for name in names or ROWS:
        for split, rows in ROWS[name]().items():
            rows = rows[:most]
            if name in PLAIN:
                write(folder / "files" / PLAIN[name].format(split=split), rows, name)
                continue
            repository, file = FILES[name]
            dataset = folder / f"datasets--{repository.replace('/', '--')}"
            (dataset / "refs").mkdir(parents=True, exist_ok=True)
            (dataset / "refs" / "main").write_text(REVISION)
            write(dataset / "snapshots" / REVISION / file.format(split=split), rows, name)


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)

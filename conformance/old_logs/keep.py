#!/usr/bin/env python3
"""A small selection of the logs that `make.py` made, without what no figure needs, for the tests.

    /tmp/ref/bin/python conformance/old_logs/keep.py /tmp/logs

Takes `/tmp/logs/VERSION/CASE.{eval,json}` and writes `conformance/old_logs/logs/VERSION/`. Headers and reductions stay as
they were written, to the byte in `.eval` logs. Of a sample stay id, epoch, target, scores, metadata and error. Needs a
Python with inspect_ai, whose zip reader knows zstd; entries are written with deflate.
"""

import json
import shutil
import sys
import zipfile
from pathlib import Path

import inspect_ai.log._recorders.eval  # noqa: F401  (teaches zipfile zstd)

HERE = Path(__file__).resolve().parent
FIELDS = ("id", "epoch", "target", "scores", "score", "metadata", "error")
# The same time in every entry, so that a second run writes the same bytes.
TIME = (2026, 1, 1, 0, 0, 0)

# Every case once or more, each where versions differ in it.
KEPT = {
    "0.3.40": "plain.json two_epochs.json two_reducers.json task_metrics_two.json map_mixed.json custom.json "
    "without_samples.json not_a_number.json",
    "0.3.60": "plain.eval two_epochs.eval map_reducers.eval custom_only.eval without_scores.eval same_name.eval",
    "0.3.70": "plain.eval two_epochs.eval task_metrics_two.eval cluster.eval no_reduction.eval appended.eval overwritten.eval",
    "0.3.100": "task_metrics_map.eval task_metrics_two.json grouped.eval custom_beside.eval appended_custom.eval",
    "0.3.120": "task_metrics_reducers.eval task_metrics_custom.eval not_a_number_epochs.eval failed_samples_epochs.eval",
    "0.3.140": "two.json task_metrics.eval appended_mode.eval appended.eval no_reduction.eval custom_shadows_first.eval",
    "0.3.195": "epochs.eval",
    "0.3.200": "two_with_map.eval grouped_epochs.eval custom_reducer.eval appended_plain.eval",
    "0.3.240": "plain.json epochs.eval bootstrap.eval map_glob.eval conversion.eval without_samples_reducers.eval",
    "0.3.280": "two_epochs.eval appended.eval interval.eval custom_epochs.eval several_graders.eval failed_run.eval",
    "0.3.285": "early_stopping.eval early_stopping.json early_stopping_failed.eval custom_same_name.eval name_template.eval "
    "conversion_by_name.eval conversion_of_groups.eval none_append_no.eval none_append_both.eval mode_append_both.eval "
    "no_append_mean.eval no_append_mode.eval no_append_both.eval both_append_mean.eval",
}


def shorten(sample):
    return {field: sample[field] for field in FIELDS if sample.get(field) is not None}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def keep_json(source, target):
    log = json.loads(source.read_text())
    if log.get("samples"):
        log["samples"] = [shorten(sample) for sample in log["samples"]]
    target.write_text(compact(log) + "\n")


def keep_eval(source, target):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name in dict.fromkeys(old.namelist()):
            data = old.read(name)
            if name.startswith("samples/"):
                data = compact(shorten(json.loads(data))).encode()
            elif name not in ("header.json", "reductions.json"):
                continue
            new.writestr(zipfile.ZipInfo(name, TIME), data, zipfile.ZIP_DEFLATED)


def main():
    made = Path(sys.argv[1])
    kept = HERE / "logs"
    shutil.rmtree(kept, ignore_errors=True)
    for version, names in KEPT.items():
        (kept / version).mkdir(parents=True)
        for name in names.split():
            source, target = made / version / name, kept / version / name
            (keep_json if target.suffix == ".json" else keep_eval)(source, target)
    sizes = [path.stat().st_size for path in kept.rglob("*") if path.is_file()]
    print(f"{len(sizes)} logs, {sum(sizes)} bytes")


if __name__ == "__main__":
    main()

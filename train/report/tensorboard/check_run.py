"""Reads a run's event files with TensorBoard and compares them with its log.jsonl (pip install tensorboard).

    python3 train/report/tensorboard/check_run.py runs/stories

Every scalar of the event files must be the log's number of that step, in float32; exits 1 otherwise.
"""

import json
import math
import pathlib
import sys

import numpy as np
from tensorboard.backend.event_processing import event_accumulator

TAGS = {"train/loss": "loss", "train/lr": "lr", "train/grad_norm": "grad_norm",
        "train/tokens_per_second": "tokens_per_second", "val/loss": "val_loss"}


def main(run):
    log = {record["step"]: record for record in map(json.loads, (run / "log.jsonl").open())}
    found = event_accumulator.EventAccumulator(
        str(run), size_guidance={"scalars": 0, "histograms": 0, "tensors": 0}).Reload()
    tags = found.Tags()
    wrong = 0

    def expect(what, condition):
        nonlocal wrong
        wrong += not condition
        if not condition:
            print("wrong:", what)

    for tag, key in TAGS.items():
        points = found.Scalars(tag)
        print(f"{tag:24} {len(points)} points, steps {points[0].step} to {points[-1].step}")
        steps = [point.step for point in points]
        expect(f"{tag}: steps {steps} do not ascend", steps == sorted(set(steps)))
        for point in points:
            expect(f"{tag} at step {point.step}", np.float32(log[point.step][key]) == np.float32(point.value))
    expect("evaluations", [p.step for p in found.Scalars("val/loss")] ==
           [step for step, record in log.items() if "val_loss" in record])
    for point in found.Scalars("val/perplexity"):
        expect("perplexity", math.isclose(point.value, math.exp(log[point.step]["val_loss"]), rel_tol=1e-6))
    for tag in tags["tensors"]:
        for event in found.Tensors(tag):
            print(f"{tag:24} step {event.step}: {event.tensor_proto.string_val[0].decode()[:60]!r}")
    for tag in tags["histograms"]:
        for event in found.Histograms(tag):
            value = event.histogram_value
            expect(f"{tag}: counts", sum(value.bucket) == value.num and value.num > 0)
            expect(f"{tag}: limits", value.bucket_limit == sorted(value.bucket_limit))
            expect(f"{tag}: range", value.min <= value.max < value.bucket_limit[-1])
    print(f"{len(tags['histograms'])} tags of histograms; {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))

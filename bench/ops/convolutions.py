#!/usr/bin/env python3
"""The convolutions of ResNets, forward and both gradients, beside PyTorch's by oneDNN.

    venv/bin/pip install torch
    venv/bin/python bench/ops/convolutions.py build/release/bench/ops/ops_bench

The two take turns. ops_bench compares each result with double arithmetic before it times it. The table has the rates of the
fastest calls in GFLOP/s, the medians of all turns, and the median of the ratios within a turn, which says more where other
programs use the cores.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import time

import torch

# In the order of convolution_bench.cpp: batch, in channels, pixels along a side, out channels, taps, stride, groups.
LAYERS = {
    "stem, 3 to 64, 7 x 7, stride 2": (8, 3, 224, 64, 7, 2, 1),
    "64 to 64, 3 x 3, 56 x 56": (8, 64, 56, 64, 3, 1, 1),
    "128 to 128, 28 x 28": (8, 128, 28, 128, 3, 1, 1),
    "256 to 256, 14 x 14": (8, 256, 14, 256, 3, 1, 1),
    "512 to 512, 7 x 7": (8, 512, 7, 512, 3, 1, 1),
    "64 to 128, 3 x 3, stride 2, 56 x 56": (8, 64, 56, 128, 3, 2, 1),
    "128 to 256, 3 x 3, stride 2, 28 x 28": (8, 128, 28, 256, 3, 2, 1),
    "256 to 512, 3 x 3, stride 2, 14 x 14": (8, 256, 14, 512, 3, 2, 1),
    "256 to 64, 1 x 1, 56 x 56": (8, 256, 56, 64, 1, 1, 1),
    "64 to 256, 1 x 1, 56 x 56": (8, 64, 56, 256, 1, 1, 1),
    "1024 to 256, 1 x 1, 14 x 14": (8, 1024, 14, 256, 1, 1, 1),
    "512 to 2048, 1 x 1, 7 x 7": (8, 512, 7, 2048, 1, 1, 1),
    "256 to 512, 1 x 1, stride 2, 56 x 56": (8, 256, 56, 512, 1, 2, 1),
    "16 to 16, 32 x 32, batch 64": (64, 16, 32, 16, 3, 1, 1),
    "32 to 32, 16 x 16, batch 64": (64, 32, 16, 32, 3, 1, 1),
    "64 to 64, 8 x 8, batch 64": (64, 64, 8, 64, 3, 1, 1),
    "64 depthwise, 32 x 32, batch 32": (32, 64, 32, 64, 3, 1, 64),
}
RESULTS = {"y": "conv2d_forward", "dx": "conv2d_operand", "dW": "conv2d_weight"}
SECONDS = 0.15  # of one measurement


def torch_calls(batch, inputs, pixels, outputs, taps, stride, groups):
    """A call for each result, and the FLOPs of one."""
    padding = taps // 2
    x = torch.randn(batch, inputs, pixels, pixels)
    weight = torch.randn(outputs, inputs // groups, taps, taps)
    y = torch.nn.functional.conv2d(x, weight, None, stride, padding, 1, groups)
    d_y = torch.randn_like(y)

    def backward(*wanted):
        return torch.ops.aten.convolution_backward(d_y, x, weight, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups,
                                                   [*wanted, False])

    return {"y": lambda: torch.nn.functional.conv2d(x, weight, None, stride, padding, 1, groups),
            "dx": lambda: backward(True, False),
            "dW": lambda: backward(False, True)}, 2 * y.numel() * weight[0].numel()


def torch_rate(call, flops: int) -> float:
    """Of the fastest call, as ops_bench counts."""
    call()
    end, fastest = time.perf_counter() + SECONDS, float("inf")
    while (start := time.perf_counter()) < end:
        call()
        fastest = min(fastest, time.perf_counter() - start)
    return flops / fastest / 1e9


def our_rate(program: str, benchmark: str) -> float:
    output = subprocess.run([program, f"--benchmark_filter=^{benchmark}$", f"--benchmark_min_time={SECONDS}", "--benchmark_format=json"],
                            check=True, capture_output=True, text=True).stdout
    run, = json.loads(output)["benchmarks"]
    if "error_message" in run:
        raise SystemExit(f"{benchmark}: {run['error_message']}")
    return run["GFLOP/s"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="ops_bench")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--layers", default="", help="a regular expression; all layers by default")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    print("| layer | " + " | ".join(f"{r} | PyTorch | ratio" for r in RESULTS) + " |")
    print("|" + "---|" * (1 + 3 * len(RESULTS)))
    for index, (name, layer) in enumerate(LAYERS.items()):
        if not re.search(options.layers, name):
            continue
        calls, flops = torch_calls(*layer)
        cells = []
        for result, benchmark in RESULTS.items():
            turns = [(our_rate(options.program, f"{benchmark}/layer:{index}/real_time"), torch_rate(calls[result], flops))
                     for _ in range(options.turns)]
            ours, theirs = (statistics.median(rates) for rates in zip(*turns))
            cells.append(f"{ours:.0f} | {theirs:.0f} | {statistics.median(a / b for a, b in turns):.2f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

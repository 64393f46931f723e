#!/usr/bin/env python3
"""Random graphs of numbers, recorded and differentiated by cladtorch::graph and by PyTorch's autograd on one thread.

    venv/bin/pip install torch
    venv/bin/python bench/graph/compare.py build/release/bench/graph/graph_bench

The gradients must agree to 1e-9 of the largest before a time is printed. Every node has an effect on the loss or on nothing,
as it happens; both programs count what they reach. The two take turns, and the table has medians of all repetitions in
microseconds.
"""
from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import torch

INPUTS, LAST, WINDOW = 16, 32, 40
FUNCTIONS = [torch.add, torch.sub, torch.mul, lambda a, b: torch.sin(a), lambda a, b: torch.tanh(a),
             lambda a, b: torch.sigmoid(a)]


def random_graph(nodes: int) -> tuple[list[float], list[tuple[int, int, int]]]:
    """Arguments are among the nodes just before, so that nearly all lead to the loss."""
    draw = random.Random(nodes)
    steps = [(draw.randrange(len(FUNCTIONS)), at - 1 - draw.randrange(min(at, WINDOW)), at - 1 - draw.randrange(min(at, WINDOW)))
             for at in range(INPUTS, INPUTS + nodes)]
    return [draw.uniform(-1, 1) for _ in range(INPUTS)], steps


def torch_times(inputs, steps, repetitions):
    """Seconds to record, to differentiate, and to differentiate while that is recorded; and the gradient."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        x = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in inputs]
        v = list(x)
        for function, a, b in steps:
            v.append(FUNCTIONS[function](v[a], v[b]))
        loss = v[-LAST]
        for term in v[1 - LAST:]:
            loss = loss + term
        recorded = time.perf_counter()
        gradient = torch.autograd.grad(loss, x, retain_graph=True, allow_unused=True)
        differentiated = time.perf_counter()
        torch.autograd.grad(loss, x, create_graph=True, allow_unused=True)
        times.append((recorded - start, differentiated - recorded, time.perf_counter() - differentiated))
    return times, [0.0 if g is None else g.item() for g in gradient]


def our_times(program, inputs, steps, repetitions, folder):
    path = Path(folder, "graph.txt")
    path.write_text("\n".join([f"{len(inputs)} {len(steps)}", *map(repr, inputs), *(f"{f} {a} {b}" for f, a, b in steps)]))
    output = subprocess.run([program, path, str(repetitions)], check=True, capture_output=True, text=True).stdout
    *times, gradient = output.splitlines()
    return [[int(ns) / 1e9 for ns in line.split()] for line in times], [float(d) for d in gradient.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built graph_bench")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| nodes | record | PyTorch | sort | sort and backward | a node, ns | PyTorch | ratio | recorded too | PyTorch | ratio |")
    print("| --- " * 11 + "|")
    for nodes in options.nodes:
        inputs, steps = random_graph(nodes)
        repetitions = max(3, 100_000 // nodes)
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(options.turns):
                times, gradient = our_times(options.program, inputs, steps, repetitions, folder)
                ours += times
                times, expected = torch_times(inputs, steps, repetitions)
                theirs += times
                largest = max(map(abs, expected))
                if not largest or any(not abs(a - b) <= 1e-9 * largest for a, b in zip(gradient, expected, strict=True)):
                    raise SystemExit(f"the gradients of {nodes} nodes differ: {gradient}, PyTorch {expected}")
        record, sort, backward, twice = (statistics.median(c) * 1e6 for c in zip(*ours))
        t_record, t_backward, t_twice = (statistics.median(c) * 1e6 for c in zip(*theirs))
        print(f"| {nodes:,} | {record:,.0f} | {t_record:,.0f} | {sort:,.0f} | {backward:,.0f} | {backward * 1e3 / nodes:.0f} | "
              f"{t_backward:,.0f} | {t_backward / backward:.0f} | {twice:,.0f} | {t_twice:,.0f} | {t_twice / twice:.0f} |", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Training steps of twelve small models, ours beside PyTorch, eager and compiled.

    python3 -m venv venv && venv/bin/pip install torch numpy safetensors
    venv/bin/python bench/models/compare.py build/release/bench/models/models_bench [--models mlp lstm] [--threads 2]

Both begin with the same parameters and train on the same batch with AdamW; the losses of three steps must agree before
anything is timed. The programs take turns, and each model's median step is that of the better of two turns.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from safetensors.torch import load_file

import models_torch as ours

ALL = [*[name for name in ours.MODELS if name not in ("translation", "pinn")], "gan", "translation", "pinn"]


class Failed(Exception):
    pass


def optimizer_of(model: torch.nn.Module, kind: type = torch.optim.AdamW) -> torch.optim.Optimizer:
    return kind(model.parameters(), lr=1e-3, weight_decay=0.0, fused=True)


def load(model: torch.nn.Module, tensors: dict[str, torch.Tensor], prefix: str = "") -> None:
    state = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    mine = model.state_dict()
    for name, value in mine.items():
        if not name.endswith("num_batches_tracked"):
            value.copy_(state[name])


def step_of(name: str, tensors: dict[str, torch.Tensor], compiled: bool):
    """A function that takes a training step and returns its loss."""
    wrap = torch.compile if compiled else (lambda f: f)
    if name == "gan":
        maker, judge = ours.Generator(), ours.Discriminator()
        load(maker, tensors, "maker.")
        load(judge, tensors, "judge.")
        of_maker, of_judge = optimizer_of(maker), optimizer_of(judge)
        maker_loss, judge_loss = wrap(ours.maker_loss), wrap(ours.judge_loss)
        real, noise = tensors["x"], tensors["y"]

        def gan_step() -> float:
            with torch.no_grad():
                made = maker(noise)
            of_judge.zero_grad()
            first = judge_loss(judge, real, made)
            first.backward()
            of_judge.step()
            of_maker.zero_grad()
            second = maker_loss(maker, judge, noise)
            second.backward()
            of_maker.step()
            return first.item() + second.item()

        return gan_step
    make, loss_of = ours.MODELS[name]
    model = make()
    with torch.no_grad():
        load(model, tensors)
    if name == "pinn":
        x, y = 16, None
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    else:
        x, y = tensors["x"], tensors["y"]
        if y.dtype == torch.int32:
            y = y.long()
        if x.dtype == torch.int32:
            x = x.long()
        optimizer = optimizer_of(model)
    loss_of = wrap(loss_of)

    def step() -> float:
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def time_torch(name: str, folder: str, seconds: float, compiled: bool) -> dict:
    tensors = load_file(os.path.join(folder, f"{name}.safetensors"))
    step = step_of(name, tensors, compiled)
    losses = [step() for _ in range(3)]
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < seconds or len(times) < 5:
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    return {"losses": losses, "ms": 1e3 * statistics.median(times)}


def run(command: list[str], threads: int) -> dict:
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Failed(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def check(name: str, mine: dict, theirs: dict) -> None:
    for a, b in zip(mine["losses"], theirs["losses"]):
        if not abs(a - b) <= 2e-3 * abs(b) + 1e-6:
            raise Failed(f"{name}: the losses are {mine['losses']} and {theirs['losses']}, not timed")


def compare(options: argparse.Namespace) -> None:
    print("| model | ours, ms | PyTorch | compiled | against the better | allocations a step |")
    print("|---|---|---|---|---|---|", flush=True)
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models:
            mine: dict = {}
            theirs: dict[str, dict] = {}
            for number in range(2):
                turn = run([options.program, folder, str(options.seconds), name], options.threads)
                if not mine or turn["ms"] < mine["ms"]:
                    mine = turn
                # Compiling takes most of a minute, once.
                for kind in ("eager", "compiled") if options.compiled and number == 0 else ("eager",):
                    command = [sys.executable, __file__, options.program, "--turn", name, folder, kind, "--seconds",
                               str(options.seconds), "--threads", str(options.threads)]
                    try:
                        turn = run(command, options.threads)
                    except Failed as failure:
                        if kind == "eager":
                            raise
                        print(f"{name}: not compiled: {str(failure).splitlines()[-1]}", file=sys.stderr)
                        continue
                    check(name, mine, turn)
                    if kind not in theirs or turn["ms"] < theirs[kind]["ms"]:
                        theirs[kind] = turn
            best = min(turn["ms"] for turn in theirs.values())
            ratios.append(best / mine["ms"])
            compiled = f"{theirs['compiled']['ms']:.2f}" if "compiled" in theirs else "-"
            print(f"| {name} | {mine['ms']:.2f} | {theirs['eager']['ms']:.2f} | {compiled} | {ratios[-1]:.2f}x "
                  f"| {mine['allocations']:.1f} |", flush=True)
    print(f"\nmedian {statistics.median(ratios):.2f}x, least {min(ratios):.2f}x, {options.threads} threads")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/bench/models/models_bench")
    parser.add_argument("--models", nargs="+", default=ALL, choices=ALL)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3, help="of steps in each turn")
    parser.add_argument("--no-compile", dest="compiled", action="store_false")
    parser.add_argument("--turn", nargs=3, metavar=("MODEL", "FOLDER", "KIND"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.turn:
        name, folder, kind = options.turn
        print(json.dumps(time_torch(name, folder, options.seconds, kind == "compiled")))
        return
    try:
        compare(options)
    except Failed as failure:
        sys.exit(f"compare: error: {failure}")


if __name__ == "__main__":
    main()

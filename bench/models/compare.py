#!/usr/bin/env python3
"""Training steps of twelve small models, ours beside PyTorch, eager and compiled, and JAX.

    python3 -m venv venv && venv/bin/pip install torch jax numpy safetensors
    venv/bin/python bench/models/compare.py build/release/bench/models/models_bench [--models mlp lstm] [--threads 2]

All begin with the same parameters and train on the same batch with AdamW; the losses of three steps must agree before
anything is timed. The programs take turns on the same cores, and each model's median step is that of the better of two
turns. A peer that is not installed or cannot compile a model is left out with a line that says why.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "compare"))
from engines import Failed, run_once

MODELS = ("mlp", "lenet", "resnet20", "depthwise", "unet", "lstm", "gru", "vit", "vae", "gan", "translation", "pinn")
PEERS = {"eager": "PyTorch", "compiled": "compiled", "jax": "JAX"}


def time_peer(name: str, path: Path, peer: str, options: argparse.Namespace) -> dict:
    if peer == "jax":
        import models_jax

        step = models_jax.step_of(name, path)
    else:
        import models_torch

        step = models_torch.step_of(name, path, peer == "compiled", options.threads)
    losses = [step() for _ in range(3)]
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < options.seconds or len(times) < 5:
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    return {"losses": losses, "ms": 1e3 * statistics.median(times)}


def check(name: str, title: str, mine: dict, theirs: dict) -> None:
    # AdamW's first updates are the signs of gradients, whose rounding shows in a normalized network, by 5e-4.
    for a, b, bound in zip(mine["losses"], theirs["losses"], (1e-4, 2e-3, 2e-3)):
        if not abs(a - b) <= bound * abs(b):
            raise Failed(f"{name}: the losses are {mine['losses']}, of {title} {theirs['losses']}, not timed")


def take_turns(name: str, folder: Path, options: argparse.Namespace) -> dict[str, dict]:
    """The better turn of each program that trains the model; ours has no name."""

    def run(command: list[str]) -> dict:
        return json.loads(run_once(command, options.threads, folder / "log").splitlines()[-1])

    best: dict[str, dict] = {}
    peers = list(options.peers)
    for number in range(2):
        turns = {"": run([options.program, str(folder), str(options.seconds), name])}
        for peer in list(peers):
            command = [sys.executable, __file__, options.program, "--seconds", str(options.seconds), "--threads",
                       str(options.threads), "--turn", name, str(folder / f"{name}.safetensors"), peer]
            try:
                turns[peer] = run(command)
            except Failed as failure:
                print(f"{name}: without {PEERS[peer]}: {failure}", file=sys.stderr)
                peers.remove(peer)
                continue
            check(name, PEERS[peer], turns[""], turns[peer])
            if peer == "compiled":
                peers.remove(peer)  # compiling takes most of a minute, once
        for program, turn in turns.items():
            if program not in best or turn["ms"] < best[program]["ms"]:
                best[program] = turn
    return best


def compare(options: argparse.Namespace) -> None:
    titles = " | ".join(PEERS[peer] for peer in options.peers)
    print(f"| model | ours, ms | {titles} | against the best | allocations a step |")
    print("|---" * (4 + len(options.peers)) + "|", flush=True)
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models:
            best = take_turns(name, Path(folder), options)
            mine = best.pop("")
            if not best:
                raise Failed(f"{name}: there is no peer to compare with")
            ratios.append(min(turn["ms"] for turn in best.values()) / mine["ms"])
            theirs = " | ".join(f"{best[peer]['ms']:.2f}" if peer in best else "-" for peer in options.peers)
            print(f"| {name} | {mine['ms']:.2f} | {theirs} | {ratios[-1]:.2f}x | {mine['allocations']:.1f} |",
                  flush=True)
    print(f"\nmedian {statistics.median(ratios):.2f}x, least {min(ratios):.2f}x, {options.threads} threads")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/bench/models/models_bench")
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=PEERS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3, help="of steps in each turn")
    parser.add_argument("--turn", nargs=3, metavar=("MODEL", "FILE", "PEER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.turn:
        name, path, peer = options.turn
        print(json.dumps(time_peer(name, Path(path), peer, options)))
        return
    try:
        compare(options)
    except Failed as failure:
        sys.exit(f"compare: error: {failure}")


if __name__ == "__main__":
    main()

"""A peer as a worker process: the same protocol as `cladtorch bench --worker` (see include/cladtorch/train/bench.h).

    python peer.py pytorch --load DIR --batch 4 --seq 64 --dtype fp32 --threads 2

Runs one step and answers {"loss": ...}; then, for each line "<phase> <count>", {"ms": [...], "loss": ...}.
With --dump DIR it writes loss and gradient instead, laid out as `cladtorch bench --dump` does.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Protocol

import numpy as np
from safetensors.numpy import load_file, save_file

PREFIX = {"gpt2": "transformer.", "llama": ""}  # before every name in the files


class Engine(Protocol):
    """A training step of a model. Each phase returns the loss when all of its work is done."""

    def forward(self) -> float: ...
    def forward_backward(self) -> float: ...
    def step(self) -> float: ...
    def gradients(self) -> dict[str, np.ndarray]: ...
    def generate(self, count: int) -> list[float]: ...


def read_config(options: argparse.Namespace) -> dict:
    return json.loads((options.load / "weights" / "config.json").read_text())


def make_engine(options: argparse.Namespace, config: dict) -> Engine:
    stored = load_file(options.load / "weights" / "model.safetensors")
    weights = {name.removeprefix(PREFIX[config["model_type"]]): weight for name, weight in stored.items()}
    batch = load_file(options.load / "batch.safetensors")
    tokens, targets = (batch[name][: options.batch, : options.seq] for name in ("tokens", "targets"))
    if options.engine == "jax":
        import jax_engine

        return jax_engine.Engine(config, weights, tokens, targets, options.dtype)
    import torch_engine

    compiled = options.engine == "pytorch-compiled"
    return torch_engine.Engine(config, weights, tokens, targets, options.dtype, options.threads, compiled)


def answer(reply: dict[str, object]) -> None:
    print(json.dumps(reply), flush=True)


def serve(engine: Engine) -> None:
    loss = engine.step()
    answer({"loss": loss})
    for line in sys.stdin:
        phase, count = line.split()
        if phase == "generate":
            answer({"ms": engine.generate(int(count)), "loss": loss})
            continue
        action = {
            "forward": engine.forward,
            "forward_backward": engine.forward_backward,
            "step": engine.step,
        }[phase]
        times = []
        for _ in range(int(count)):
            begin = time.perf_counter()
            loss = action()
            times.append(1e3 * (time.perf_counter() - begin))
        answer({"ms": times, "loss": loss})


def dump(engine: Engine, folder: Path, prefix: str) -> None:
    (folder / "gradient").mkdir(parents=True, exist_ok=True)
    loss = engine.forward_backward()
    gradients = {prefix + name: gradient for name, gradient in engine.gradients().items()}
    save_file(gradients, folder / "gradient" / "model.safetensors")
    save_file({"loss": np.array(loss)}, folder / "batch.safetensors")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=("pytorch", "pytorch-compiled", "jax"))
    parser.add_argument("--load", type=Path, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--seq", type=int, required=True)
    parser.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--dump", type=Path)
    options = parser.parse_args()
    config = read_config(options)
    kind = config["model_type"]
    if kind not in PREFIX or (kind == "llama" and config["rope_scaling"]):
        sys.exit(f"no {kind} with this configuration is written for the peers")
    engine = make_engine(options, config)
    if options.dump:
        dump(engine, options.dump, PREFIX[kind])
    else:
        serve(engine)


if __name__ == "__main__":
    main()

"""A peer as a worker process: the same protocol as `cladtorch bench --worker` (see include/cladtorch/train/bench.h).

    python peer.py pytorch --load DIR --batch 4 --seq 64 --dtype fp32 --threads 2

Runs one step and answers {"loss": ...}; then, for each line "<phase> <count>", {"ms": [...], "loss": ...}.
With --device cuda, steps are queued behind each other and "ms" holds their mean alone, and each answer has
"device_mb", the memory that was taken from the driver.
With --dump DIR it writes loss and gradient instead, laid out as `cladtorch bench --dump` does.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Protocol, cast

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


class DeviceEngine(Engine, Protocol):
    """One whose device works on what was queued while the program goes on."""

    def queue_step(self) -> None: ...
    def wait(self) -> float:
        """The loss of the last step, when all that was queued is done."""
        ...

    def device_mb(self) -> float: ...


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

    return torch_engine.Engine(
        config,
        weights,
        tokens,
        targets,
        dtype=options.dtype,
        threads=options.threads,
        device=options.device,
        compilation=torch_engine.COMPILATION[options.engine],
    )


def answer(reply: dict[str, object]) -> None:
    print(json.dumps(reply), flush=True)


def run(engine: Engine, phase: str, count: int) -> tuple[list[float], float]:
    """Milliseconds of each of `count` runs, and the last loss."""
    action = {
        "forward": engine.forward,
        "forward_backward": engine.forward_backward,
        "step": engine.step,
    }[phase]
    times, loss = [], float("nan")
    for _ in range(count):
        begin = time.perf_counter()
        loss = action()
        times.append(1e3 * (time.perf_counter() - begin))
    return times, loss


def run_queued(engine: DeviceEngine, count: int) -> tuple[list[float], float]:
    """Milliseconds of a step, the mean of `count`, and the last loss."""
    begin = time.perf_counter()
    for _ in range(count):
        engine.queue_step()
    loss = engine.wait()
    return [1e3 * (time.perf_counter() - begin) / count], loss


def serve(engine: Engine) -> None:
    loss = engine.step()
    answer({"loss": loss})
    for line in sys.stdin:
        phase, count = line.split()
        if phase == "generate":
            answer({"ms": engine.generate(int(count)), "loss": loss})
            continue
        times, loss = run(engine, phase, int(count))
        answer({"ms": times, "loss": loss})


def serve_on_device(engine: DeviceEngine) -> None:
    answer({"loss": engine.step(), "device_mb": engine.device_mb()})
    for line in sys.stdin:
        phase, count = line.split()
        times, loss = run_queued(engine, int(count)) if phase == "step" else run(engine, phase, int(count))
        answer({"ms": times, "loss": loss, "device_mb": engine.device_mb()})


def dump(engine: Engine, folder: Path, prefix: str) -> None:
    (folder / "gradient").mkdir(parents=True, exist_ok=True)
    loss = engine.forward_backward()
    gradients = {prefix + name: gradient for name, gradient in engine.gradients().items()}
    save_file(gradients, folder / "gradient" / "model.safetensors")
    save_file({"loss": np.array(loss)}, folder / "batch.safetensors")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=("pytorch", "pytorch-compiled", "pytorch-graphs", "jax"))
    parser.add_argument("--load", type=Path, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--seq", type=int, required=True)
    parser.add_argument("--dtype", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dump", type=Path)
    options = parser.parse_args()
    config = read_config(options)
    kind = config["model_type"]
    if kind not in PREFIX or (kind == "llama" and config["rope_scaling"]):
        sys.exit(f"no {kind} with this configuration is written for the peers")
    try:
        engine = make_engine(options, config)
        if options.dump:
            dump(engine, options.dump, PREFIX[kind])
        elif options.device == "cpu":
            serve(engine)
        else:
            serve_on_device(cast(DeviceEngine, engine))
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        line = next(line for line in str(error).splitlines() if "out of memory" in line)
        sys.exit(". ".join(line.split(". ")[:2]))  # how much was wanted; what follows is advice


if __name__ == "__main__":
    main()

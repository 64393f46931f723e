"""What a run of `bench/ranks` is asked for."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Model:
    """A GPT-2 whose context is the length of the sequences."""

    layers: int
    channels: int
    heads: int
    vocabulary: int

    def parameters(self, context: int) -> int:
        c = self.channels
        return (self.vocabulary + context) * c + self.layers * (12 * c * c + 13 * c) + 2 * c


MODELS = {
    "tiny": Model(2, 64, 4, 300),
    "small": Model(6, 384, 6, 8192),
    "85m": Model(12, 768, 12, 256),
    "124m": Model(12, 768, 12, 50257),
}
PARTS = ("weak", "ddp", "bits", "order", "overlap", "memory")


@dataclass(frozen=True)
class Case:
    """A micro-batch of a model, and the threads of a rank."""

    model: str
    batch: int
    seq: int
    threads: int

    @property
    def parameters(self) -> int:
        return MODELS[self.model].parameters(self.seq)

    @property
    def title(self) -> str:
        return f"GPT-2 of {self.parameters / 1e6:.1f} million parameters, ({self.batch},{self.seq})"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 bench/ranks",
        description="Measures ranks: weak scaling, PyTorch's DistributedDataParallel on the same cores, the cost of "
        "the fixed order of the sums, how much of the exchange hides behind the backward pass, and memory. Prints Markdown.",
    )
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / "release", help="where the project was built"
    )
    parser.add_argument("--parts", default=",".join(PARTS), help='default "%(default)s"')
    parser.add_argument(
        "--models",
        default="small,124m",
        help=f'of {", ".join(MODELS)}; beside PyTorch all, else the last; default "%(default)s"',
    )
    parser.add_argument(
        "--shape", default="4,256", help='sequences and tokens of a micro-batch, default "%(default)s"'
    )
    parser.add_argument("--threads", type=int, default=1, help="of each rank, default %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each program, default %(default)s")
    parser.add_argument(
        "--steps",
        type=int,
        default=8,
        help="of each turn; two and the last are not timed; default %(default)s",
    )
    parser.add_argument(
        "--quick", action="store_true", help="the smallest model, one turn: shows that all parts work"
    )
    options = parser.parse_args(arguments)
    if options.quick:
        options.models, options.shape, options.rounds, options.steps = "tiny", "2,32", 1, 6
    options.models = options.models.split(",")
    options.parts = options.parts.split(",")
    for kind, names, known in (("model", options.models, MODELS), ("part", options.parts, PARTS)):
        for name in names:
            if name not in known:
                parser.error(f"unknown {kind} '{name}'; known are {', '.join(known)}")
    try:
        options.batch, options.seq = (int(number) for number in options.shape.split(","))
    except ValueError:
        parser.error(f"--shape is '{options.shape}', expected a pair like '4,256'")
    if options.steps < 5:
        parser.error("--steps needs 5 or more")
    options.cases = [Case(model, options.batch, options.seq, options.threads) for model in options.models]
    options.cores = sorted(os.sched_getaffinity(0))
    return options

"""What a comparison on the processor and one on a GPU do each in its own way."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

import gpu_report
import measure
import plot
import report
from engines import Case, Failed, run_once
from environments import JAX, TORCH, TORCH_CUDA, Environment
from floor import Card
from measure import Plan

Shape = tuple[int, int]  # batch and tokens


@dataclass(frozen=True)
class Extent:
    """How much a run measures."""

    models: str
    configs: str
    turns: int | None = None  # by size


def drawing_of(model: str) -> str:
    return "benchmarks.svg" if model == "gpt2" else f"benchmarks-{model}.svg"


class Device(ABC):
    name: ClassVar[str]  # as --device says it
    target: ClassVar[str]  # of make
    preset: ClassVar[str]  # whose build is measured
    full: ClassVar[Extent]
    quick: ClassVar[Extent]
    dtypes: ClassVar[str]
    peers: ClassVar[dict[str, tuple[str, Environment]]]  # titles and what they run in
    loading: ClassVar[tuple[str, ...]] = ()  # options of our program where it writes weights and tokens
    peers_may_fail: ClassVar[bool]  # before the timing; else that ends the run
    inference: ClassVar[bool]

    @abstractmethod
    def ceilings(self, build: Path, threads: int, log: Path) -> dict:
        """What the hardware can do; raises Failed where there is none."""

    @abstractmethod
    def hardware(self, ceilings: dict) -> dict[str, str]:
        """Its names, for the page."""

    @abstractmethod
    def loaded(self, shapes: list[Shape], threads: int) -> Case:
        """The case at which our program writes the weights and the tokens that all cases begin with."""

    @abstractmethod
    def checks(self, shapes: list[Shape], threads: int, dtype: str) -> tuple[Case, Case]:
        """The case at which our program finds what is expected, and that at which all must find the same."""

    @abstractmethod
    def probe(self, dtype: str) -> Case:
        """A small case that shows whether our program knows a type."""

    @abstractmethod
    def plan(self, case: Case, turns: int | None) -> Plan: ...

    @abstractmethod
    def write(self, results: dict, model: str, folder: Path) -> None:
        """The page and what it shows."""


def largest(shapes: list[Shape]) -> Shape:
    """A batch and a number of tokens that no shape exceeds."""
    batches, lengths = zip(*shapes, strict=True)
    return max(batches), max(lengths)


class Cpu(Device):
    name, target, preset = "cpu", "bench", "release"
    full = Extent("gpt2", "1,16 1,32 2,16 1,64 4,64 4,256 4,1024")
    quick = Extent("gpt2", "1,16 1,64", 2)
    dtypes = "fp32,bf16"
    peers: ClassVar = {
        "pytorch": ("PyTorch", TORCH),
        "pytorch-compiled": ("torch.compile", TORCH),
        "jax": ("JAX", JAX),
    }
    peers_may_fail = False
    inference = True

    def ceilings(self, build: Path, threads: int, log: Path) -> dict:
        program = build / "bench/compare/ceilings"
        return json.loads(run_once([str(program), *map(str, sorted({1, threads}))], threads, log))

    def hardware(self, ceilings: dict) -> dict[str, str]:
        return {"cpu": ceilings["cpu"]}

    def loaded(self, shapes: list[Shape], threads: int) -> Case:
        return Case(*largest(shapes), "fp32", threads)

    def checks(self, shapes: list[Shape], threads: int, dtype: str) -> tuple[Case, Case]:
        """Ours in the same dtype is the reference of the peers; it is not checked itself."""
        if dtype == "fp32":
            case = self.loaded(shapes, threads)
        else:
            case = Case(*min(shapes, key=lambda shape: shape[0] * shape[1]), dtype, threads)
        return case, case

    def probe(self, dtype: str) -> Case:
        return Case(1, 8, dtype, 1)

    def plan(self, case: Case, turns: int | None) -> Plan:
        return measure.plan_for(case, turns)

    def write(self, results: dict, model: str, folder: Path) -> None:
        drawing = drawing_of(model)
        (folder / drawing).write_text(plot.draw(results))
        report.insert(folder / "benchmarks.md", model, report.render(results, drawing))


class Cuda(Device):
    name, target, preset = "cuda", "bench-cuda", "cuda"
    full = Extent("gpt2,gpt2-xl", "4,1024 8,1024 16,1024 32,1024")
    quick = Extent("gpt2", "4,1024")
    dtypes = "bf16,fp8"
    peers: ClassVar = {
        "pytorch": ("PyTorch", TORCH_CUDA),
        "pytorch-compiled": ("torch.compile", TORCH_CUDA),
        "pytorch-graphs": ("torch.compile with CUDA graphs", TORCH_CUDA),
    }
    # Nothing is kept of a step at the largest shape but its tokens, so it need not fit otherwise.
    loading = ("--gradient-checkpointing",)
    peers_may_fail = True
    inference = False

    def ceilings(self, build: Path, threads: int, log: Path) -> dict:
        program = build / "bench/cuda/cuda_bench"
        way_out = (
            f"'make {self.target}' needs an NVIDIA GPU and a build of 'cmake --preset {self.preset}' "
            "with the targets cuda_bench and cladtorch_cli"
        )
        if not program.exists():
            raise Failed(f"there is no {program}: {way_out}")
        try:
            found = json.loads(run_once([str(program), "--json"], threads, log))
            return {field.name: found[field.name] for field in fields(Card)}
        except KeyError as name:
            raise Failed(f"{program} does not tell {name}; {way_out}") from None
        except (Failed, OSError, TypeError, ValueError) as reason:
            raise Failed(f"{program} measured nothing: {reason}; {way_out}") from None

    def hardware(self, ceilings: dict) -> dict[str, str]:
        return {key: ceilings[key] for key in ("gpu", "driver", "cuda")}

    def loaded(self, shapes: list[Shape], threads: int) -> Case:
        return Case(*largest(shapes), "bf16", threads, self.name)

    def checks(self, shapes: list[Shape], threads: int, dtype: str) -> tuple[Case, Case]:
        """Ours in float32 on the processor is the reference of all programs and types on the GPU, at two
        sequences, which a processor can do."""
        batch, length = min(2, *(batch for batch, _ in shapes)), max(length for _, length in shapes)
        return Case(batch, length, "fp32", threads), Case(batch, length, dtype, threads, self.name)

    def probe(self, dtype: str) -> Case:
        return Case(1, 64, dtype, 1, self.name)

    def plan(self, case: Case, turns: int | None) -> Plan:
        return measure.plan_on_gpu(turns)

    def write(self, results: dict, model: str, folder: Path) -> None:
        gpu_report.write(results, model, folder / "benchmarks.md")


DEVICES: dict[str, Device] = {device.name: device for device in (Cpu(), Cuda())}

"""Takes turns: A, B, C, A, B, C, ... so that a slow minute of the machine hits all of them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from engines import SETTLE_SECONDS, Case, Engine, Failed, Worker, describe_case

PHASES = ("forward", "forward_backward", "step")
# Of the first step, on the same weights and tokens.
LOSS_TOLERANCE = {"fp32": 1e-4, "bf16": 5e-2, "fp8": 5e-2}


@dataclass(frozen=True)
class Plan:
    turns: int
    repeats: int  # timed runs of a phase that are asked for at once
    phases: tuple[str, ...] = PHASES
    warm_up: int = 1  # runs of a phase in each turn that are not timed
    rounds: int = 1  # how often `repeats` runs are asked for in each turn
    alone: bool = False  # a program ends after its turn, even if memory would hold all of them


WARM_UP_STEPS = 5  # of which our program and PyTorch capture one as a CUDA graph
QUEUED_STEPS = 10
ROUNDS = 5


def plan_on_gpu(turns: int | None) -> Plan:
    """Full steps alone, by one program after the other: a card seldom has memory for all of them."""
    return Plan(turns or 1, QUEUED_STEPS, ("step",), WARM_UP_STEPS, ROUNDS, alone=True)


def plan_for(case: Case, iters: int | None) -> Plan:
    if iters is not None:
        return Plan(iters, 1)
    if case.tokens <= 64:
        return Plan(7, 3)
    if case.tokens <= 256:
        return Plan(5, 2)
    if case.tokens <= 1024:
        return Plan(4, 1)
    return Plan(2, 1)


@dataclass
class Result:
    engine: str
    title: str
    case: dict
    times: dict[str, list[float]] = field(default_factory=dict)
    first_step_s: float = 0.0
    peak_mb: float = 0.0
    first_loss: float = 0.0
    last_loss: float = 0.0


def available_memory() -> float:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024.0
    return 0.0


def all_fit(case: Case, count: int) -> bool:
    """Whether `count` programs may hold their models at once: parameters, gradients, two moments and as much again in
    libraries and temporaries, and 1.3 MB a token of activations and scores."""
    return count * (3.5e9 + 1.3e6 * case.tokens) < 0.9 * available_memory()


def median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def take_turns(
    workers: list[Worker], plan: Plan, stay: bool, report: Callable[[str], None]
) -> dict[str, dict[str, list[float]]]:
    """Times by engine and phase. A program that fails is reported and takes no more turns."""
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    active = list(workers)
    for _ in range(plan.turns):
        for worker in list(active):
            try:
                worker.start()
                for phase in plan.phases:
                    worker.ask(phase, plan.warm_up)
                    for _ in range(plan.rounds):
                        times[worker.engine.name][phase] += worker.ask(phase, plan.repeats)
            except Failed as failure:
                report(f"{worker.engine.title} left out at {describe_case(worker.case)}: {failure}")
                times.pop(worker.engine.name, None)
                active.remove(worker)
                continue
            if not stay:
                worker.stop()
            time.sleep(SETTLE_SECONDS)
    return times


def check_losses(workers: list[Worker], report: Callable[[str], None]) -> None:
    """All did the same work if the losses of the first step agree."""
    reference = workers[0]
    tolerance = LOSS_TOLERANCE[reference.case.dtype]
    for worker in workers[1:]:
        if not abs(worker.first_loss - reference.first_loss) <= tolerance:
            report(
                f"{worker.engine.title} at {describe_case(worker.case)}: the loss of the first step is "
                f"{worker.first_loss:.6f}, that of {reference.engine.title} {reference.first_loss:.6f}"
            )


def measure_case(
    engines: list[Engine], case: Case, load: Path, plan: Plan, logs: Path, report: Callable[[str], None]
) -> list[Result]:
    workers = [Worker(engine, case, load, logs / f"{engine.name}.log") for engine in engines]
    try:
        stay = not plan.alone and all_fit(case, len(workers))
        times = take_turns(workers, plan, stay, report)
    finally:
        for worker in workers:
            worker.stop()
    done = [worker for worker in workers if worker.engine.name in times]
    if done:
        check_losses(done, report)
    return [
        Result(
            worker.engine.name,
            worker.engine.title,
            asdict(case),
            dict(times[worker.engine.name]),
            median(worker.first_steps),
            worker.peak_mb,
            worker.first_loss,
            worker.last_loss,
        )
        for worker in done
    ]


def measure_inference(
    engines: list[Engine],
    load: Path,
    prompt: int,
    tokens: int,
    turns: int,
    logs: Path,
    report: Callable[[str], None],
) -> dict[str, list[float]]:
    """Milliseconds a token on one core, after a prompt, by the engines that generate."""
    case = Case(1, prompt)
    workers = [
        Worker(engine, case, load, logs / f"{engine.name}.log") for engine in engines if engine.generates
    ]
    times: dict[str, list[float]] = {}
    try:
        for _ in range(turns):
            for worker in workers:
                worker.start()
                times.setdefault(worker.engine.title, []).extend(worker.ask("generate", tokens))
                time.sleep(SETTLE_SECONDS)
    except Failed as failure:
        report(f"inference left out: {failure}")
    finally:
        for worker in workers:
            worker.stop()
    return times

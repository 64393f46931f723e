"""Weak scaling: ranks that train together against as many programs that each train alone at the same time."""

from __future__ import annotations

from job import Workplace, tokens_per_second, wait_for_all
from measure import median
from options import Case
from report import spread, table

RANKS = 2


def measure(place: Workplace, case: Case) -> tuple[str, float]:
    """The section, and the milliseconds of a step of a program that trains alone beside another."""
    text = place.documents(case, RANKS * case.batch)
    together: list[float] = []
    alone: list[float] = []
    ratios: list[float] = []
    for _ in range(place.options.rounds):
        joint = place.train(case, RANKS, text).ms
        outs = [place.new("run") for _ in range(RANKS)]
        wait_for_all([place.start_alone(case, 1, text, out, i) for i, out in enumerate(outs)])
        single = [place.read(out).ms for out in outs]
        speed = sum(tokens_per_second(case, 1, median(ms)) for ms in single)
        ratios.append(tokens_per_second(case, RANKS, median(joint)) / speed)
        together += joint
        alone += [ms for one in single for ms in one]
    rows = [
        [title, spread(ms), f"{tokens_per_second(case, RANKS, median(ms)):.0f}"]
        for title, ms in ((f"{RANKS} ranks", together), (f"{RANKS} programs, each alone", alone))
    ]
    section = (
        f"### Weak scaling\n\n{case.title}, a micro-batch for each rank, {case.threads} thread(s) each. "
        f"Both have the same cores; they take turns.\n\n{table(['', 'ms a step', 'tokens/s'], rows)}\n"
        f"Efficiency, median of {len(ratios)} turn(s): **{median(ratios):.3f}** "
        f"({', '.join(f'{r:.3f}' for r in ratios)}).\n"
    )
    return section, median(alone)

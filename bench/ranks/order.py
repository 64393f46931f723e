"""What the fixed order of the sums costs beside MPI_Reduce_scatter, as a share of a step."""

from __future__ import annotations

import json

from job import Unable, Workplace
from measure import median
from options import Case
from report import spread, table

TIMED_EXCHANGES = 9


def measure(place: Workplace, case: Case, step_ms: float) -> str:
    if not place.exchange.exists():
        raise Unable(f"there is no {place.exchange}; build the target ranks_exchange")
    rows = []
    for ranks in (2, 3, 4):
        command = [
            str(place.exchange),
            str(case.parameters),
            str(1 if place.options.quick else TIMED_EXCHANGES),
        ]
        found = json.loads(place.start(place.mpirun(ranks, case.threads, command), case.threads).wait())
        ours, whole, buckets = (
            found[f"{name}_ms"] for name in ("fixed_order", "reduce_scatter", "reduce_scatter_in_buckets")
        )
        cost = median(ours) - min(median(whole), median(buckets))
        rows.append(
            [
                str(ranks),
                spread(ours),
                spread(whole),
                spread(buckets),
                f"{cost:+.1f} ms, {100 * cost / step_ms:+.2f} %",
                f"{100 * found['other_bits']:.0f} %",
            ]
        )
    header = [
        "ranks",
        "fixed order, ms",
        "MPI_Reduce_scatter, ms",
        "in buckets of 32 MB, ms",
        "cost, of a step",
        "other bits",
    ]
    return (
        f"### The fixed order\n\nA gradient of {case.parameters:,} float32 numbers; every sum is checked. The cost is "
        f"the difference to the faster of MPI's, and a step of ({case.batch},{case.seq}) takes {step_ms:.0f} ms on one "
        "rank. The last column is the share of elements that MPI leaves with other bits than the fixed order."
        f"\n\n{table(header, rows)}"
    )

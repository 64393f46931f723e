"""The measurements on a GPU as Markdown, for docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engines import Case
from floor import Card
from measure import QUEUED_STEPS, ROUNDS, WARM_UP_STEPS, median
from report import OURS, Measurements, insert, spread, table

MARK = "<!-- From here on written by `make bench-cuda` for {}. -->"


def tokens_per_second(case: Case, result: dict) -> list[float]:
    """Of each round, in thousands."""
    return [case.tokens / milliseconds for milliseconds in result["times"]["step"]]


def utilization(m: Measurements, card: Card, case: Case, result: dict) -> float:
    return card.utilization(m.model.flops(case), median(result["times"]["step"]))


def peers_of(m: Measurements, case: Case) -> list[dict]:
    """What the peers reached at a case, or, in a type that they do not know, in bfloat16."""
    for dtype in (case.dtype, "bf16"):
        results = m.by_case.get(replace(case, dtype=dtype), {})
        peers = [result for title, result in results.items() if title != OURS]
        if peers:
            return peers
    return []


def metric_table(
    m: Measurements,
    show: Callable[[Case, dict], str],
    value: Callable[[Case, dict], float] | None = None,
    best: Callable[[list[float]], float] = max,
) -> str:
    """A row for each case. With `value`, the last column is ours as a multiple of the best peer's."""
    rows = []
    for case in [case for dtype in m.dtypes() for case in m.cases(dtype)]:
        results = m.by_case[case]
        row = [case.dtype, f"{case.batch}, {case.seq}"]
        row += [show(case, results[title]) if title in results else "–" for title in m.titles]
        if value:
            peers = [value(case, result) for result in peers_of(m, case)]
            both = OURS in results and peers
            row.append(f"{value(case, results[OURS]) / best(peers):.2f}x" if both else "–")
        rows.append(row)
    header = ["dtype", "B, T", *m.titles]
    return table([*header, "ours / best PyTorch"] if value else header, rows)


def hardware_line(machine: dict) -> str:
    """The command and everything that its figures depend on."""
    arguments = f" with {machine['arguments']}" if machine["arguments"] else ""
    versions = "".join(f"; {name} {version}" for name, version in machine["versions"].items())
    return (
        f"`make bench-cuda`{arguments}, {machine['gpu']}, driver {machine['driver']}, "
        f"CUDA {machine['cuda']}, {machine['date']}, commit {machine['commit']}{versions}.\n"
    )


INTRODUCTION = f"""\
A step is loss, gradient and AdamW with master weights in float32. The programs hold the same weights and the
same tokens and have the card to themselves, one after the other. {QUEUED_STEPS} steps are queued behind each
other and waited for once, after {WARM_UP_STEPS} that are not timed; figures are the median of {ROUNDS} such
rounds in each turn and, in brackets, the quartiles. PyTorch computes under autocast in bfloat16 with
scaled_dot_product_attention and fused AdamW: as it is, compiled, and compiled with mode="reduce-overhead",
which replays CUDA graphs. fp8 is ours alone and is set beside PyTorch's bf16.
"""
UTILIZATION = """\
The arithmetic of forward and backward, each matrix once forward and twice backward and causal attention over
half of the positions, per time of a full step, as a share of the {:.0f} TFLOP/s that products of bfloat16
reach on this card, for fp8 too.

"""


def render(results: dict) -> str:
    m, machine, card = Measurements(results), results["machine"], Card(**results["ceilings"])
    peers = f" beside {' and '.join(machine['versions'])}" if machine["versions"] else ""
    parts = [f"## {m.model.title} on {card.gpu}{peers}\n\n{hardware_line(machine)}", INTRODUCTION]
    if results["verification"]:
        lines = "".join(f"- {line}\n" for line in results["verification"])
        parts.append(
            f"### Same results on the GPU\n\nExpected is what cladtorch finds in fp32 on the CPU.\n\n{lines}"
        )
    if m.by_case:
        parts += step_tables(m, card)
    if results["left_out"]:
        parts.append("### Left out on the GPU\n\n" + "".join(f"- {line}\n" for line in results["left_out"]))
    return "\n".join(parts)


def step_tables(m: Measurements, card: Card) -> list[str]:
    """Throughput, utilization, memory and the wait for the first step."""
    speed = metric_table(
        m,
        lambda case, result: spread(tokens_per_second(case, result)),
        lambda case, result: median(tokens_per_second(case, result)),
    )
    share = metric_table(m, lambda case, result: f"{100 * utilization(m, card, case, result):.1f} %")
    memory = metric_table(
        m, lambda _, result: f"{result['peak_mb'] / 1e3:.2f}", lambda _, result: result["peak_mb"], min
    )
    first = metric_table(m, lambda _, result: f"{result['first_step_s']:.1f}")
    return [
        "### Thousands of tokens per second, full step\n\n" + speed,
        "### Model FLOP utilization\n\n" + UTILIZATION.format(card.flops["bf16"] / 1e12) + share,
        "### Peak memory taken from the driver, GB\n\n" + memory,
        "### From process start to the end of the first step, s\n\n" + first,
    ]


def kernel_row(card: Card, kernel: dict) -> list[str]:
    seconds = 1e-3 * kernel["ms"]
    if kernel["flops"]:
        rate, peak, unit, scale = kernel["flops"] / seconds, card.flops["bf16"], "TFLOP/s", 1e12
    else:
        rate, peak, unit, scale = kernel["bytes"] / seconds, card.copy_bytes_per_s, "GB/s", 1e9
    return [
        kernel["name"],
        kernel["shape"],
        kernel["dtype"],
        f"{kernel['ms']:.4f}",
        f"{rate / scale:.0f} {unit}",
        f"{100 * rate / peak:.0f} %",
    ]


def render_kernels(results: dict) -> str:
    card = Card(**results["ceilings"])
    products = ", ".join(f"{rate / 1e12:.0f} in {dtype}" for dtype, rate in card.flops.items())
    header = ["kernel", "shape", "dtype", "ms", "rate", "of the peak"]
    rows = [kernel_row(card, kernel) for kernel in card.kernels]
    return (
        f"## Kernels on {card.gpu}\n\n{hardware_line(results['machine'])}\n"
        f"A copy moves {card.copy_bytes_per_s / 1e9:.0f} GB/s, counting what it reads and what it writes; "
        f"large products reach, in TFLOP/s, {products}. Kernels that compute are measured by the peak of "
        "bf16, the others by the copy.\n\n" + table(header, rows)
    )


def write(results: dict, model: str, page: Path) -> None:
    insert(page, "kernels", render_kernels(results), MARK)
    insert(page, model, render(results), MARK)

"""The measurements as Markdown, for docs/benchmarks.md."""

from __future__ import annotations

from pathlib import Path
from statistics import quantiles

from engines import Case
from floor import Ceilings, Model, inference_bytes, work
from measure import median

BEGIN = "<!-- From here on written by `make bench` for {}. -->"
END = "<!-- To here. -->"
PHASES = {"forward_backward": "Forward and backward", "step": "Full step, with AdamW", "forward": "Forward"}
OURS = "cladtorch"


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def amount(milliseconds: float) -> str:
    return f"{milliseconds:.1f}" if milliseconds < 100 else f"{milliseconds:.0f}"


def spread(times: list[float]) -> str:
    """Median and quartiles."""
    if len(times) < 2:
        return amount(median(times))
    low, _, high = quantiles(times, n=4, method="inclusive")
    return f"{amount(median(times))} ({amount(low)}–{amount(high)})"


class Measurements:
    """The results file with its numbers as objects."""

    def __init__(self, results: dict) -> None:
        self.results = results
        self.model = Model(**results["model"])
        self.threads: int = results["machine"]["threads"]
        self.titles: list[str] = results["titles"]
        self.by_case: dict[Case, dict[str, dict]] = {}
        for result in results["cases"]:
            self.by_case.setdefault(Case(**result["case"]), {})[result["title"]] = result

    def ceilings(self, threads: int) -> Ceilings:
        return Ceilings(**self.results["ceilings"]["threads"][str(threads)])

    def floor(self, case: Case, phase: str) -> float:
        return work(self.model, case, phase).milliseconds(self.ceilings(case.threads), case.dtype)

    def cases(self, dtype: str) -> list[Case]:
        return [case for case in self.by_case if case.dtype == dtype]

    def dtypes(self) -> list[str]:
        return [dtype for dtype in ("fp32", "bf16", "fp8") if self.cases(dtype)]


def phase_table(m: Measurements, dtype: str, phase: str) -> str:
    rows = []
    for case in m.cases(dtype):
        results, floor = m.by_case[case], m.floor(case, phase)
        row = [f"{case.batch}, {case.seq}", amount(floor)]
        row += [spread(results[title]["times"][phase]) if title in results else "–" for title in m.titles]
        times = {title: median(result["times"][phase]) for title, result in results.items()}
        ours, peers = times.pop(OURS, None), times
        row.append(f"{100 * floor / ours:.0f} %" if ours else "–")
        row.append(f"{min(peers.values()) / ours:.2f}x" if ours and peers else "–")
        rows.append(row)
    return table(["B, T", "floor", *m.titles, "of the floor", "best peer / ours"], rows)


def single_value_table(m: Measurements, dtype: str, key: str, form: str) -> str:
    rows = [
        [
            f"{case.batch}, {case.seq}",
            *(
                form.format(m.by_case[case][title][key]) if title in m.by_case[case] else "–"
                for title in m.titles
            ),
        ]
        for case in m.cases(dtype)
    ]
    return table(["B, T", *m.titles], rows)


def ceilings_section(m: Measurements) -> str:
    rows = []
    for threads in m.results["ceilings"]["threads"]:
        c = m.ceilings(int(threads))
        bf16 = f"{c.bf16 / 1e9:.0f}" if c.bf16 else "–"
        rows.append(
            [threads, f"{c.fp32 / 1e9:.0f}", bf16, *(f"{x / 1e9:.1f}" for x in (c.read, c.fill, c.mixed))]
        )
    text = "### What the machine can do\n\n" + table(
        ["threads", "fp32 FMA GFLOP/s", "bf16 dot GFLOP/s", "read GB/s", "fill GB/s", "AdamW's mix GB/s"],
        rows,
    )
    rows = []
    for dtype in m.dtypes():
        for case in m.cases(dtype):
            w = work(m.model, case, "forward_backward")
            c = m.ceilings(case.threads)
            rows.append(
                [
                    f"{case.batch}, {case.seq}",
                    dtype,
                    f"{w.flops / 1e9:.1f}",
                    f"{w.read / 1e9:.2f}",
                    f"{w.written / 1e9:.2f}",
                    amount(w.milliseconds(c, dtype)),
                    w.bound(c, dtype),
                ]
            )
    text += (
        "\nThe floor of forward and backward is the longer of its arithmetic at the measured peak and its weights "
        "(read twice) and gradients (written once, in fp32) at the measured bandwidth. The floor of a full step "
        f"adds 28 bytes for each of {m.model.parameters / 1e6:.1f} million parameters at AdamW's mix, that of the "
        "forward is a third of the arithmetic or one reading of the weights.\n\n"
    )
    return text + table(["B, T", "dtype", "GFLOP", "GB read", "GB written", "floor ms", "bound by"], rows)


def inference_section(m: Measurements) -> str:
    if not m.results["inference"]:
        return ""
    floor = 1e3 * inference_bytes(m.model) / m.ceilings(1).read
    rows = [
        [title, f"{1e3 / median(times):.1f}", spread(times), f"{100 * floor / median(times):.0f} %"]
        for title, times in m.results["inference"].items()
    ]
    return (
        "### Inference on one core, fp32\n\nA token after another, batch 1, with a cache of keys and values, after "
        f"a prompt of up to 16. Reading the weights once takes {amount(floor)} ms.\n\n"
        + table(["", "tokens/s", "ms a token", "of the floor"], rows)
    )


def render(results: dict, plot: str) -> str:
    m, machine = Measurements(results), results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    peers = f" beside {' and '.join(machine['versions'])}" if machine["versions"] else ""
    parts = [
        f"## {m.model.title}{peers}\n\n"
        f"`make bench`{' with ' + machine['arguments'] if machine['arguments'] else ''}, {machine['cpu']}, "
        f"{machine['threads']} threads, {machine['date']}, commit {machine['commit']}; {versions}.\n\n"
        "The programs hold the same weights and the same tokens and take turns, so that a slow minute of the machine "
        "hits all of them; only one computes at a time, on the same cores. Times are milliseconds: the median and, in "
        "brackets, the quartiles. A run that is not timed precedes those of each turn.\n\n"
        f"![Percentage of the floor that each program reaches]({plot})\n"
    ]
    parts.append(ceilings_section(m))
    if results["verification"]:
        parts.append("### Same results\n\n" + "".join(f"- {line}\n" for line in results["verification"]))
    for dtype in m.dtypes():
        for phase, title in PHASES.items():
            parts.append(f"### {title}, {dtype}, ms\n\n" + phase_table(m, dtype, phase))
        parts.append(
            f"### Peak resident memory, {dtype}, MB\n\n" + single_value_table(m, dtype, "peak_mb", "{:.0f}")
        )
        parts.append(
            f"### From process start to the end of the first step, {dtype}, s\n\n"
            + single_value_table(m, dtype, "first_step_s", "{:.1f}")
        )
    parts.append(inference_section(m))
    if results["left_out"]:
        parts.append("### Left out\n\n" + "".join(f"- {line}\n" for line in results["left_out"]))
    return "\n".join(part for part in parts if part)


def insert(path: Path, subject: str, text: str, mark: str = BEGIN) -> None:
    """Replaces what stands between the marks of a subject, most often a model, or appends both."""
    page = path.read_text() if path.exists() else "# Benchmarks\n"
    begin = mark.format(subject)
    before, found, rest = page.partition(begin)
    if not found:
        before += "\n"
    after = rest.partition(END)[2]
    path.write_text(f"{before}{begin}\n\n{text}\n{END}{after or chr(10)}")

"""The memory that a rank takes, beside what `cladtorch plan` says of it."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path

from job import Unable, Workplace
from measure import available_memory
from options import Case
from report import table

STAGES = (0, 1, 2)
DTYPES = ("fp32", "bf16")
LEAVES = 2  # of each rank: one sum waits for another
INTERVAL = 0.1  # seconds


class Peaks(threading.Thread):
    """The peak resident memory of each process of a program, in bytes, looked at while a command runs."""

    def __init__(self, program: Path) -> None:
        super().__init__()
        self.program, self.stopped = program.resolve(), threading.Event()
        self.bytes: dict[str, int] = {}

    def run(self) -> None:
        while not self.stopped.wait(INTERVAL):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if (process / "exe").readlink() != self.program:
                        continue
                    for line in (process / "status").read_text().splitlines():
                        if line.startswith("VmHWM:"):
                            self.bytes[process.name] = 1024 * int(line.split()[1])
                except OSError:  # it has ended
                    continue

    def __enter__(self) -> Peaks:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.join()


def planned(place: Workplace, case: Case, ranks: int, text: Path, dtype: str) -> list[float]:
    """The bytes of the rank that needs the most, with each stage."""
    run = place.settings(case, LEAVES * ranks, text, place.new("run"), f"run.dtype={dtype}")
    settings = [word for word in run if "=" in word]
    command = [str(place.program), "plan", "--ranks", str(ranks), "--json"]
    for setting in [*settings, f"data.text={text / 'tokens'}"]:
        command += ["--set", setting]
    plan = json.loads(place.start([*place.pinned(0, case.threads), *command], case.threads).wait())
    return [stage["memory"]["total"] for stage in plan["stages"]]


def measure(place: Workplace, case: Case) -> str:
    rows = []
    for ranks, dtype in itertools.product((2, 4), DTYPES):
        text = place.documents(case, LEAVES * ranks * case.batch)
        expected = planned(place, case, ranks, text, dtype)
        if ranks * max(expected) > 0.9 * available_memory():
            continue
        for zero in STAGES:
            with Peaks(place.program) as peaks:
                place.train(
                    case, ranks, text, LEAVES * ranks, f"run.dtype={dtype}", f"distributed.zero={zero}"
                )
            most = max(peaks.bytes.values())
            megabytes = [f"{value / 1e6:.0f}" for value in (most, expected[zero])]
            rows.append([str(ranks), dtype, str(zero), *megabytes, f"{most / expected[zero]:.3f}"])
    if not rows:
        raise Unable("the machine has too little memory")
    header = ["ranks", "", "--zero", "peak, MB", "plan, MB", "peak / plan"]
    return (
        f"### Memory\n\n{case.title}, {LEAVES} leaves for each rank, {case.threads} thread(s). Peak resident memory of "
        f"the rank that takes the most, all of the process, beside what `cladtorch plan` says.\n\n"
        f"{table(header, rows)}"
    )

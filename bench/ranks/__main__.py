"""`python3 bench/ranks`: our ranks beside programs that train alone, PyTorch's ranks and MPI's own sums."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "compare"))  # whose helpers this shares

import ddp
import memory
import order
import overlap
import weak
from engines import Failed
from environments import TORCH, Unavailable, ensure
from job import Unable, Workplace
from measure import median
from options import ROOT, parse
from prepare import commit


def say(line: str) -> None:
    print(f"bench/ranks: {line}", file=sys.stderr, flush=True)


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


class Ranks:
    """One run. Each part is printed when it is done."""

    def __init__(self, options: argparse.Namespace, place: Workplace) -> None:
        self.options, self.place = options, place
        self.last = options.cases[-1]
        self.step_ms = 0.0

    @cached_property
    def python(self) -> Path:
        try:
            return ensure(TORCH, ROOT / "build" / "python")
        except Unavailable as reason:
            raise Unable(f"there is no PyTorch: {reason}") from None

    def weak(self) -> str:
        text, self.step_ms = weak.measure(self.place, self.last)
        return text

    def ddp(self) -> str:
        return ddp.measure(self.place, self.options.cases, self.python)

    def bits(self) -> str:
        return ddp.bits(self.place, self.options.cases[0], self.python)

    def order(self) -> str:
        if not self.step_ms:
            text = self.place.documents(self.last, self.last.batch)
            self.step_ms = median(self.place.train(self.last, 1, text).ms)
        return order.measure(self.place, self.last, self.step_ms)

    def overlap(self) -> str:
        return overlap.measure(self.place, self.last)

    def memory(self) -> str:
        return memory.measure(self.place, self.last)

    def run(self) -> bool:
        """Whether no part failed."""
        o = self.options
        print(
            f"## Ranks\n\n`python3 bench/ranks {' '.join(sys.argv[1:])}`, {processor()}, {len(o.cores)} core(s), "
            f"{o.threads} thread(s) for each rank, {time.strftime('%d %B %Y')}, commit {commit(ROOT)}. "
            "Times are milliseconds: the median and, in brackets, the quartiles.\n",
            flush=True,
        )
        parts: dict[str, Callable[[], str]] = {
            "weak": self.weak,
            "ddp": self.ddp,
            "bits": self.bits,
            "order": self.order,
            "overlap": self.overlap,
            "memory": self.memory,
        }
        good = True
        for name in o.parts:
            say(f"measuring '{name}'")
            begin = time.monotonic()
            try:
                section = parts[name]()
            except Unable as reason:
                section = f"### Left out: {name}\n\n{reason}\n"
            except Failed as reason:
                section, good = f"### Failed: {name}\n\n{reason}\n", False
            say(f"'{name}' took {time.monotonic() - begin:.0f} s")
            print(section, flush=True)
        return good


def main(arguments: list[str]) -> bool:
    options = parse(arguments)
    program = options.build / "apps" / "cladtorch"
    if not program.exists():
        raise Failed(
            f"there is no {program}; build the targets cladtorch_cli, cladtorch_mpi_openmpi and "
            "ranks_exchange"
        )
    for needed in ("mpirun", "taskset"):
        if shutil.which(needed) is None:
            raise Failed(f"there is no {needed}")
    scratch = ROOT / "build"
    scratch.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-ranks-", dir=scratch) as folder:
        return Ranks(options, Workplace(options, Path(folder))).run()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench/ranks: ended"))  # leaves no namespace behind
    try:
        sys.exit(0 if main(sys.argv[1:]) else 1)
    except Failed as failure:
        sys.exit(f"bench/ranks: error: {failure}")
    except KeyboardInterrupt:
        sys.exit("bench/ranks: interrupted")

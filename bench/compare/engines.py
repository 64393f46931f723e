"""Who is compared, and each as a process that waits until it is asked."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

SETTLE_SECONDS = 0.3  # idle threads spin for a while after the last parallel loop
PEER = Path(__file__).with_name("peer.py")


class Failed(Exception):
    """One line: why a program gave no answer."""


@dataclass(frozen=True)
class Engine:
    name: str
    title: str
    command: tuple[str, ...]
    generates: bool = True
    dtypes: tuple[str, ...] = ("fp32", "bf16")


def ours(program: Path) -> Engine:
    return Engine("cladtorch", "cladtorch", (str(program), "bench"), dtypes=("fp32", "bf16", "fp8"))


def peer(name: str, title: str, python: Path) -> Engine:
    return Engine(name, title, (str(python), str(PEER), name), generates=name == "pytorch")


@dataclass(frozen=True)
class Case:
    batch: int
    seq: int
    dtype: str = "fp32"
    threads: int = 1
    device: str = "cpu"

    @property
    def tokens(self) -> int:
        return self.batch * self.seq

    def options(self) -> list[str]:
        device = [] if self.device == "cpu" else ["--device", self.device]
        return [
            *device,
            "--batch",
            str(self.batch),
            "--seq",
            str(self.seq),
            "--dtype",
            self.dtype,
            "--threads",
            str(self.threads),
        ]


def describe_case(case: Case) -> str:
    return f"({case.batch},{case.seq}) {case.dtype}"


def environment(threads: int, log: Path) -> dict[str, str]:
    """With caches of its own, empty, so that the first step is a first step: for torch.compile and, on a GPU,
    for the algorithms that our program chooses."""
    inductor, others = log.with_suffix(".inductor"), log.with_suffix(".cache")
    for cache in (inductor, others):
        shutil.rmtree(cache, ignore_errors=True)
    return {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "JAX_PLATFORMS": "cpu",
        "TORCHINDUCTOR_CACHE_DIR": str(inductor),
        "XDG_CACHE_HOME": str(others),
    }


def pin(threads: int) -> None:
    """The first processors that this process may use: the same ones for every program."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    return lines[-1] if lines else "no message"


def run_once(command: list[str], threads: int, log: Path) -> str:
    """Standard output of a program that ends by itself."""
    with log.open("w") as errors:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            check=False,
            env=environment(threads, log),
            preexec_fn=lambda: pin(threads),
        )
    if done.returncode != 0:
        raise Failed(last_line(log))
    return done.stdout


@dataclass
class Worker:
    """A program that holds a model and runs a phase when asked; see `cladtorch bench --worker`."""

    engine: Engine
    case: Case
    load: Path
    log: Path
    first_steps: list[float] = field(default_factory=list)  # seconds from the start of the process
    first_loss: float = float("nan")
    last_loss: float = float("nan")
    peak_mb: float = 0.0
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        if self.process is not None:
            return
        command = [*self.engine.command, "--load", str(self.load), *self.case.options()]
        if self.engine.name == "cladtorch":
            command.append("--worker")
        begin = time.perf_counter()
        with self.log.open("w") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment(self.case.threads, self.log),
                preexec_fn=lambda: pin(self.case.threads),
            )
        self.first_loss = self.last_loss = self.answer()["loss"]
        self.first_steps.append(time.perf_counter() - begin)

    def answer(self) -> dict:
        assert self.process is not None and self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            code = self.end()
            raise Failed(last_line(self.log) if code > 0 else f"ended by signal {-code}")
        return json.loads(line)

    def ask(self, phase: str, count: int) -> list[float]:
        """Milliseconds of each of `count` runs; of steps on a GPU their mean alone."""
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(f"{phase} {count}\n")
        self.process.stdin.flush()
        reply = self.answer()
        self.last_loss = reply["loss"]
        used_mb = self.resident_peak() if self.case.device == "cpu" else reply["device_mb"]
        self.peak_mb = max(self.peak_mb, used_mb)
        return reply["ms"]

    def resident_peak(self) -> float:
        assert self.process is not None
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
        return 0.0

    def stop(self) -> None:
        if self.process is not None:
            self.end()

    def end(self) -> int:
        """Closes what the process reads, which ends it, and returns its exit code."""
        process, self.process = self.process, None
        assert process is not None and process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        return process.wait()

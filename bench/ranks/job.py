"""Training runs of our program on some ranks, pinned, and what they say of their steps."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engines import Failed, last_line
from options import MODELS, Case

NOT_TIMED = 2  # the first steps of a run, and the last, whose time has an evaluation in it


class Unable(Exception):
    """One line: why a part cannot be measured on this machine."""


@dataclass
class Steps:
    losses: list[float]
    ms: list[float]  # of those that are timed


@dataclass
class Started:
    command: list[str]
    process: subprocess.Popen[str]
    log: Path

    def wait(self) -> str:
        """Its standard output."""
        try:
            text, _ = self.process.communicate()
        except BaseException:  # nobody waits for it any more; mpirun ends its ranks
            self.process.terminate()
            self.process.wait()
            raise
        if self.process.returncode != 0:
            raise Failed(f"{' '.join(self.command[:4])} ...: {last_line(self.log)}")
        return text


def wait_for_all(started: list[Started]) -> list[str]:
    """What each prints. When one fails, the others are ended: they may wait for it."""
    try:
        return [one.wait() for one in started]
    finally:
        for one in started:
            if one.process.poll() is None:
                one.process.kill()
                one.process.wait()


class Workplace:
    """The programs, the cores of each rank, and a folder for texts and runs."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.program = options.build / "apps" / "cladtorch"
        self.exchange = options.build / "bench" / "ranks_exchange"
        self.count = 0

    def new(self, name: str) -> Path:
        self.count += 1
        return self.folder / f"{name}{self.count}"

    def pinned(self, rank: int, threads: int) -> list[str]:
        """What keeps a rank on its cores."""
        return ["taskset", "-c", self.cores_of(rank, threads)]

    def cores_of(self, rank: int, threads: int) -> str:
        """Ranks that are more than the cores begin again with the first."""
        cores = self.options.cores
        return ",".join(map(str, sorted({cores[(rank * threads + i) % len(cores)] for i in range(threads)})))

    def each_pinned(self, ranks: int, threads: int, command: list[str]) -> list[str]:
        """A command for all ranks, each on its own cores. One command: the mpirun of Open MPI 5.0.7 crashes when it is
        given several."""
        script = f'eval "cores=\\${{$((OMPI_COMM_WORLD_RANK + 1))}}"; shift {ranks}; exec taskset -c "$cores" "$@"'
        return ["sh", "-c", script, "sh", *(self.cores_of(rank, threads) for rank in range(ranks)), *command]

    def environment(self, threads: int, **more: str) -> dict[str, str]:
        return {
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "MKL_NUM_THREADS": str(threads),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            **more,
        }

    def start(self, command: list[str], threads: int, **more: str) -> Started:
        log = self.new("log")
        with log.open("w") as errors:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=self.environment(threads, **more),
            )
        return Started(command, process, log)

    def mpirun(self, ranks: int, threads: int, command: list[str]) -> list[str]:
        """Each rank has its own cores, which Open MPI leaves as they are."""
        line = ["mpirun", "--bind-to", "none", "--oversubscribe", "-np", str(ranks)]
        return [*line, *self.each_pinned(ranks, threads, command)]

    def documents(self, case: Case, count: int) -> Path:
        """A prepared text of `count` documents that fill a sequence each: if an update has as many sequences, it
        sees each document once, in some order."""
        folder = self.folder / f"text-{case.model}-{case.seq}-{count}"
        if folder.exists():
            return folder
        folder.mkdir()
        vocabulary = ["\n", *(chr(0x100 + i) for i in range(MODELS[case.model].vocabulary - 1))]
        write_json(
            folder / "tokenizer.json",
            {"format": "cladtorch-tokenizer", "version": 1, "kind": "char", "characters": vocabulary},
        )
        draw = random.Random(1)
        for name, documents in (("train", count), ("validation", case.batch)):
            texts = ["".join(draw.choices(vocabulary[1:], k=case.seq)) for _ in range(documents)]
            (folder / f"{name}.jsonl").write_text(
                "".join(json.dumps({"text": text + "\n"}) + "\n" for text in texts)
            )
        numbers = {token: i for i, token in enumerate(vocabulary)}
        texts = [json.loads(line)["text"] for line in (folder / "train.jsonl").read_text().splitlines()]
        write_json(folder / "documents.json", [[numbers[token] for token in text] for text in texts])
        command = [
            str(self.program),
            "data",
            "prepare",
            "--text",
            str(folder / "train.jsonl"),
            "--validation",
            str(folder / "validation.jsonl"),
            "--tokenizer",
            str(folder / "tokenizer.json"),
            "--out",
            str(folder / "tokens"),
        ]
        self.start(command, 1).wait()
        return folder

    def settings(self, case: Case, accumulate: int, text: Path, out: Path, *more: str) -> list[str]:
        """AdamW as bench/compare gives it to PyTorch."""
        model = MODELS[case.model]
        assigned = [
            f"train.batch={case.batch}",
            f"train.accumulate={accumulate}",
            f"train.leaves={accumulate}",
            f"model.layers={model.layers}",
            f"model.channels={model.channels}",
            f"model.heads={model.heads}",
            f"model.context={case.seq}",
            "data.packing=documents",
            "optimizer.lr=1e-4",
            "optimizer.beta2=0.999",
            "optimizer.clip=0",
            "schedule.kind=constant",
            "schedule.warmup=0",
            "schedule.min_lr=0",
            "train.eval_every=1000000",
            "train.eval_batches=1",
            "train.max_minutes=0",
            "sample.count=0",
            "log.tensorboard=false",
            *more,
        ]
        line = [
            "train",
            "--text",
            str(text / "tokens"),
            "--steps",
            str(self.options.steps),
            "--out",
            str(out),
        ]
        for assignment in assigned:
            line += ["--set", assignment]
        return line

    def start_alone(
        self, case: Case, accumulate: int, text: Path, out: Path, place: int = 0, *more: str
    ) -> Started:
        """On the cores of a rank."""
        return self.start(
            [
                *self.pinned(place, case.threads),
                str(self.program),
                *self.settings(case, accumulate, text, out, *more),
            ],
            case.threads,
        )

    def train(
        self,
        case: Case,
        ranks: int,
        text: Path,
        accumulate: int = 0,
        *more: str,
        use: Callable[[Path], object] = lambda out: None,
    ) -> Steps:
        """An update has a micro-batch for each rank, or as many as are named. `use` may read the folder of the
        run, which is removed."""
        out, accumulate = self.new("run"), accumulate or ranks
        if ranks == 1:
            self.start_alone(case, accumulate, text, out, 0, *more).wait()
        else:
            command = [str(self.program), *self.settings(case, accumulate, text, out, *more)]
            self.start(self.mpirun(ranks, case.threads, command), case.threads).wait()
        use(out)
        return self.read(out)

    def read(self, out: Path) -> Steps:
        records = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
        shutil.rmtree(out)
        seconds = [record["seconds"] for record in records]
        ms = [1e3 * (b - a) for a, b in zip(seconds[:-1], seconds[1:], strict=True)]
        return Steps([record["loss"] for record in records], ms[NOT_TIMED - 1 : -1])


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value))


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tokens_per_second(case: Case, ranks: int, ms: float) -> float:
    return 1e3 * ranks * case.batch * case.seq / ms

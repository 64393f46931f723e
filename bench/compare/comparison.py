"""A run of the comparison: programs, verification, timing, page."""

from __future__ import annotations

import argparse
import json
import shutil
import time
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from devices import Device
from engines import Case, Engine, Failed, describe_case, ours
from environments import VERIFY, Unavailable, ensure, say
from measure import measure_case, measure_inference
from options import ROOT, arguments_of, list_of
from prepare import available_peers, commit, compare, dump, model_of, refusal, versions

ENVIRONMENTS = ROOT / "build" / "python"


class Comparison:
    """One run. What was measured is written after each case: an interrupted run leaves a page."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.device: Device = options.device
        self.begin = time.monotonic()
        self.scratch = ROOT / "build" / self.device.target
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.out = options.out or (self.scratch if options.quick else ROOT / "docs")

    def prepare(self) -> None:
        """What all models share: ceilings and programs."""
        options = self.options
        say("measuring what the machine can do")
        self.ceilings = self.device.ceilings(options.build, options.threads, self.scratch / "ceilings.log")
        self.absent: list[str] = []
        peers = available_peers(self.device.peers, list_of(options.peers), ENVIRONMENTS, self.absent)
        self.engines = [ours(options.build / "apps" / "cladtorch"), *peers]

    @cached_property
    def python(self) -> Path:
        """An interpreter that can run verify.py."""
        if len(self.engines) > 1:
            return Path(self.engines[1].command[0])
        try:
            return ensure(VERIFY, ENVIRONMENTS)
        except Unavailable as reason:
            raise Failed(f"not timed, because nothing can be verified: {reason}") from None

    def run(self, model: str) -> None:
        self.results: dict = {"cases": [], "inference": {}, "left_out": [*self.absent]}
        self.model, self.folder = model, self.scratch / model
        self.folder.mkdir()
        self.load_model()
        self.measure()
        for dumped in self.expected.values():
            shutil.rmtree(dumped)

    def load_model(self) -> None:
        """Lets our program write what all load, and verifies them in float32."""
        options, device = self.options, self.device
        self.load = self.folder / "load"
        case = device.loaded(options.shapes, options.threads)
        dump(self.engines[0], case, ["--model", self.model, *device.loading], self.load)
        self.expected = {case: self.load}  # folders of results, by case
        self.results["model"] = asdict(model_of(self.load))
        self.results["ceilings"] = self.ceilings
        self.results["titles"] = [engine.title for engine in self.engines]
        self.results["machine"] = {
            **device.hardware(self.ceilings),
            "threads": options.threads,
            "date": time.strftime("%d %B %Y"),
            "commit": commit(ROOT),
            "versions": versions(self.engines),
            "arguments": arguments_of(options, self.model),
        }
        self.results["verification"] = []
        self.verified = {"fp32": self.verify("fp32")}

    def note(self, line: str) -> None:
        self.results["left_out"].append(line)
        say(line)

    def verify(self, dtype: str) -> list[Engine]:
        """Those that know a type and find the loss and the gradient that are expected."""
        expected, case = self.device.checks(self.options.shapes, self.options.threads, dtype)
        source = ["--load", str(self.load)]
        if expected not in self.expected:
            folder = self.folder / f"expected-{expected.dtype}"
            dump(self.engines[0], expected, source, folder)
            self.expected[expected] = folder
        agreeing = []
        for engine in [engine for engine in self.engines if dtype in engine.dtypes]:
            if engine is not self.engines[0] or case != expected:
                folder = self.folder / f"{engine.name}-{dtype}"
                try:
                    dump(engine, case, source, folder)
                except Failed as failure:
                    if engine is self.engines[0] or not self.device.peers_may_fail:
                        raise
                    self.note(f"{engine.title} left out in {dtype}, nothing to verify: {failure}")
                    continue
                line = compare(self.python, self.expected[expected], folder, engine.title, dtype)
                self.results["verification"].append(line)
                shutil.rmtree(folder)
            agreeing.append(engine)
        return agreeing

    def able(self, dtype: str) -> list[Engine]:
        """The programs that are timed in a type."""
        refused = refusal(self.engines[0], self.device.probe(dtype), self.scratch / "support.log")
        if refused:
            self.note(f"cladtorch knows no {dtype}: {refused}")
            return [engine for engine in self.engines[1:] if dtype in engine.dtypes]
        if dtype not in self.verified:
            self.verified[dtype] = self.verify(dtype)
        return self.verified[dtype]

    def measure(self) -> None:
        options = self.options
        for dtype in list_of(options.dtypes):
            able = self.able(dtype)
            for batch, seq in options.shapes:
                case = Case(batch, seq, dtype, options.threads, self.device.name)
                say(f"timing {describe_case(case)}, {self.minutes()} min so far")
                plan = self.device.plan(case, options.iters)
                done = measure_case(able, case, self.load, plan, self.folder, self.note)
                self.results["cases"] += [asdict(result) for result in done]
                self.write()
        if self.device.inference:
            self.measure_inference()
        say(f"wrote {self.out / 'benchmarks.md'} after {self.minutes()} min")

    def measure_inference(self) -> None:
        say("timing inference")
        prompt = min(16, max(seq for _, seq in self.options.shapes))
        tokens, turns = (16, 2) if self.options.quick else (64, 5)
        self.results["inference"] = measure_inference(
            self.engines, self.load, prompt, tokens, turns, self.folder, self.note
        )
        self.write()

    def minutes(self) -> int:
        return round((time.monotonic() - self.begin) / 60)

    def write(self) -> None:
        name = "results.json" if self.model == "gpt2" else f"results-{self.model}.json"
        (self.scratch / name).write_text(json.dumps(self.results, indent=1) + "\n")
        self.out.mkdir(parents=True, exist_ok=True)
        self.device.write(self.results, self.model, self.out)

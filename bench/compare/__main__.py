"""`make bench`: ours beside PyTorch and JAX on this machine.

Makes Python environments for the peers, measures what the machine can do, checks that all compute the same
loss and gradient, lets the programs take turns, and writes docs/benchmarks.md with a plot.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from dataclasses import asdict
from pathlib import Path

import plot
import report
from engines import Case, Failed, describe_case, ours, run_once
from environments import say
from measure import measure_case, measure_inference, plan_for
from prepare import PEERS, available_peers, commit, dump_all, model_of, supports, verify, versions

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = "1,16 1,32 2,16 1,64 4,64 4,256 4,1024"
QUICK_CONFIGS = "1,16 1,64"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.partition("\n\n")[2])
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build/release", help="where the project was built"
    )
    parser.add_argument("--model", default="gpt2", help="a model that `cladtorch bench` knows")
    parser.add_argument("--configs", help=f'pairs of batch and tokens, default "{CONFIGS}"')
    parser.add_argument("--dtypes", default="fp32,bf16")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"some of {', '.join(PEERS)}; may be empty")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--iters", type=int, help="timed runs of each phase, one a turn; default by size")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f'"{QUICK_CONFIGS}" and two turns; writes into the build folder instead of docs/',
    )
    parser.add_argument("--out", type=Path, help="folder for benchmarks.md and benchmarks.svg, default docs")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.peers.split(",") if name and name not in PEERS]
    if unknown:
        parser.error(f"unknown peer '{unknown[0]}'; known are {', '.join(PEERS)}")
    if options.quick:
        options.iters = options.iters or 2
    options.configs = options.configs or (QUICK_CONFIGS if options.quick else CONFIGS)
    try:
        pairs = [tuple(int(x) for x in pair.split(",")) for pair in options.configs.split()]
        options.shapes = [(batch, seq) for batch, seq in pairs]
    except ValueError:
        parser.error(f"--configs is '{options.configs}', expected pairs like '1,16 4,64'")
    return options


def arguments_of(options: argparse.Namespace) -> str:
    """Those that change what is measured, for the page."""
    words = [] if options.model == "gpt2" else [f"--model {options.model}"]
    if options.configs != CONFIGS:
        words.append(f"--configs '{options.configs}'")
    if options.iters:
        words.append(f"--iters {options.iters}")
    return " ".join(words)


class Comparison:
    """One run of `make bench`. What was measured is written after each case, so that a run that is interrupted
    leaves a page."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.begin = time.monotonic()
        self.scratch = ROOT / "build" / "bench"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.out = options.out or (self.scratch if options.quick else ROOT / "docs")
        self.results: dict = {"cases": [], "inference": {}, "left_out": []}

    def note(self, line: str) -> None:
        self.results["left_out"].append(line)
        say(line)

    def prepare(self) -> None:
        options, left_out = self.options, self.results["left_out"]
        names = [name for name in options.peers.split(",") if name]
        peers = available_peers(names, ROOT / "build" / "python", left_out)
        self.engines = [ours(options.build / "apps" / "cladtorch"), *peers]
        self.load = self.scratch / self.engines[0].name
        say("measuring what the machine can do")
        program, threads = options.build / "bench/compare/ceilings", sorted({1, options.threads})
        ceilings = json.loads(
            run_once([str(program), *map(str, threads)], options.threads, self.scratch / "ceilings.log")
        )
        batch, seq = (max(sizes) for sizes in zip(*options.shapes, strict=True))
        largest = Case(batch, seq, "fp32", options.threads)
        dump_all(self.engines, options.model, largest, self.scratch)
        self.results["verification"] = verify(self.engines, self.scratch)
        self.results["model"] = asdict(model_of(self.load))
        self.results["ceilings"] = ceilings
        self.results["titles"] = [engine.title for engine in self.engines]
        self.results["machine"] = {
            "cpu": ceilings["cpu"],
            "threads": options.threads,
            "date": time.strftime("%d %B %Y"),
            "commit": commit(ROOT),
            "versions": versions(self.engines),
            "arguments": arguments_of(options),
        }

    def measure(self) -> None:
        options = self.options
        for dtype in options.dtypes.split(","):
            able = self.engines
            if not supports(self.engines[0], dtype, self.scratch):
                self.note(f"cladtorch knows no {dtype}")
                able = self.engines[1:]
            elif dtype != "fp32":
                self.verify_rounded(dtype)
            for batch, seq in options.shapes:
                case = Case(batch, seq, dtype, options.threads)
                say(f"timing {describe_case(case)}, {self.minutes()} min so far")
                plan = plan_for(case, options.iters)
                done = measure_case(able, case, self.load, plan, self.scratch, self.note)
                self.results["cases"] += [asdict(result) for result in done]
                self.write()
        say("timing inference")
        prompt = min(16, max(seq for _, seq in options.shapes))
        tokens, turns = (16, 2) if options.quick else (64, 5)
        self.results["inference"] = measure_inference(
            self.engines, self.load, prompt, tokens, turns, self.scratch, self.note
        )
        self.write()
        say(f"wrote {self.out / 'benchmarks.md'} and its drawing after {self.minutes()} min")

    def verify_rounded(self, dtype: str) -> None:
        """The same check in a dtype of fewer digits, on the first tokens."""
        folder = self.scratch / dtype
        folder.mkdir()
        batch, seq = min(self.options.shapes, key=lambda shape: shape[0] * shape[1])
        case = Case(batch, seq, dtype, self.options.threads)
        dump_all(self.engines, self.options.model, case, folder, self.load)
        self.results["verification"] += verify(self.engines, folder, dtype)

    def minutes(self) -> int:
        return round((time.monotonic() - self.begin) / 60)

    def write(self) -> None:
        (self.scratch / "results.json").write_text(json.dumps(self.results, indent=1) + "\n")
        self.out.mkdir(parents=True, exist_ok=True)
        model = self.options.model
        drawing = "benchmarks.svg" if model == "gpt2" else f"benchmarks-{model}.svg"
        (self.out / drawing).write_text(plot.draw(self.results))
        report.insert(self.out / "benchmarks.md", model, report.render(self.results, drawing))


if __name__ == "__main__":
    try:
        comparison = Comparison(parse(sys.argv[1:]))
        comparison.prepare()
        comparison.measure()
    except Failed as failure:
        sys.exit(f"bench: error: {failure}")
    except KeyboardInterrupt:
        sys.exit("bench: interrupted")

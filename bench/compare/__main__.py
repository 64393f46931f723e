"""`make bench`: ours beside PyTorch and JAX on this machine.

Makes Python environments for the peers, measures what the machine can do, checks that all compute the same
loss and gradient, lets the programs take turns, and writes docs/benchmarks.md with a plot.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import plot
import report
from engines import Case, Engine, Failed, describe_case, ours, peer, run_once
from environments import JAX, TORCH, Unavailable, ensure, say
from floor import Model
from measure import measure_case, measure_inference, plan_for

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = "1,16 1,32 2,16 1,64 4,64 4,256 4,1024"
QUICK_CONFIGS = "1,16 1,64"
PEERS = {"pytorch": ("PyTorch", TORCH), "pytorch-compiled": ("torch.compile", TORCH), "jax": ("JAX", JAX)}


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


def available_peers(names: list[str], environments: Path, left_out: list[str]) -> list[Engine]:
    engines = []
    for name in names:
        title, environment = PEERS[name]
        try:
            engines.append(peer(name, title, ensure(environment, environments)))
        except Unavailable as reason:
            left_out.append(f"{title}: {reason}")
            say(f"{title} left out: {reason}")
    return engines


def dump_all(engines: list[Engine], model: str, case: Case, folder: Path) -> None:
    """Ours first: its weights and tokens are what the others load."""
    for engine in engines:
        say(f"{engine.title} computes loss and gradient at {describe_case(case)}")
        command = [*engine.command, *case.options(), "--dump", str(folder / engine.name)]
        command += ["--model", model] if engine is engines[0] else ["--load", str(folder / engines[0].name)]
        run_once(command, case.threads, folder / f"{engine.name}.log")


def verify(engines: list[Engine], folder: Path) -> list[str]:
    """One line for each peer. Raises Failed when one differs: comparing different work is worth nothing."""
    lines = []
    for engine in engines[1:]:
        command = [
            engine.command[0],
            str(Path(__file__).with_name("verify.py")),
            str(folder / engines[0].name),
            str(folder / engine.name),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        line = f"{engine.title}: {(done.stdout or done.stderr).strip().splitlines()[-1]}"
        say(line)
        if done.returncode != 0:
            raise Failed(f"not timed, because the results differ: {line}")
        lines.append(line)
    return lines


def model_of(dump: Path) -> Model:
    config = json.loads((dump / "weights" / "config.json").read_text())
    return Model(config["n_layer"], config["n_embd"], config["vocab_size"], config["n_positions"])


def versions(engines: list[Engine]) -> dict[str, str]:
    packages = {"pytorch": "torch", "jax": "jax"}
    found = {}
    for engine in engines:
        if engine.name in packages:
            script = f"import importlib.metadata as m; print(m.version('{packages[engine.name]}'))"
            found[engine.title] = subprocess.run(
                [engine.command[0], "-c", script], capture_output=True, text=True, check=True
            ).stdout.strip()
    return found


def commit() -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def supports(engine: Engine, dtype: str, folder: Path) -> bool:
    """Whether our program knows the type at all; the peers do."""
    try:
        run_once(
            [
                *engine.command,
                "--model",
                "toy",
                "--batch",
                "1",
                "--seq",
                "8",
                "--iters",
                "1",
                "--dtype",
                dtype,
                "--json",
            ],
            1,
            folder / "support.log",
        )
    except Failed:
        return False
    return True


def bench(options: argparse.Namespace) -> None:
    scratch = ROOT / "build" / "bench"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    left_out: list[str] = []
    begin = time.monotonic()
    peers = available_peers(
        [name for name in options.peers.split(",") if name], ROOT / "build" / "python", left_out
    )
    engines = [ours(options.build / "apps" / "cladtorch"), *peers]

    say("measuring what the machine can do")
    threads = sorted({1, options.threads})
    ceilings = json.loads(
        run_once(
            [str(options.build / "bench/compare/ceilings"), *map(str, threads)],
            options.threads,
            scratch / "ceilings.log",
        )
    )
    largest = Case(
        max(b for b, _ in options.shapes), max(t for _, t in options.shapes), "fp32", options.threads
    )
    dump_all(engines, options.model, largest, scratch)
    verification = verify(engines, scratch)

    def note(line: str) -> None:
        left_out.append(line)
        say(line)

    load, results = scratch / engines[0].name, []
    for dtype in options.dtypes.split(","):
        able = [engine for engine in engines if engine is not engines[0] or supports(engine, dtype, scratch)]
        if len(able) < len(engines):
            note(f"cladtorch knows no {dtype}")
        for batch, seq in options.shapes:
            case = Case(batch, seq, dtype, options.threads)
            say(f"timing {describe_case(case)}, {(time.monotonic() - begin) / 60:.0f} min so far")
            results += measure_case(able, case, load, plan_for(case, options.iters), scratch, note)
    say("timing inference")
    inference = measure_inference(
        engines, load, 16 if options.quick else 64, 2 if options.quick else 5, scratch, note
    )

    arguments = "" if options.model == "gpt2" else f"--model {options.model} "
    arguments += "" if options.configs == CONFIGS else f"--configs '{options.configs}' "
    arguments += f"--iters {options.iters}" if options.iters else ""
    everything = {
        "machine": {
            "cpu": ceilings["cpu"],
            "threads": options.threads,
            "date": time.strftime("%d %B %Y"),
            "commit": commit(),
            "versions": versions(engines),
            "arguments": arguments.strip(),
        },
        "model": asdict(model_of(load)),
        "ceilings": ceilings,
        "titles": [engine.title for engine in engines],
        "verification": verification,
        "cases": [asdict(result) for result in results],
        "inference": inference,
        "left_out": left_out,
    }
    (scratch / "results.json").write_text(json.dumps(everything, indent=1) + "\n")
    folder = options.out or (scratch if options.quick else ROOT / "docs")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "benchmarks.svg").write_text(plot.draw(everything))
    report.insert(folder / "benchmarks.md", report.render(everything, "benchmarks.svg"))
    say(
        f"wrote {folder / 'benchmarks.md'} and benchmarks.svg after {(time.monotonic() - begin) / 60:.0f} min"
    )


if __name__ == "__main__":
    try:
        bench(parse(sys.argv[1:]))
    except Failed as failure:
        sys.exit(f"bench: error: {failure}")

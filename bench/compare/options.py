"""What a run of the comparison is asked for."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from devices import DEVICES, Device

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTION = """
Makes Python environments for the peers, measures what the machine can do, checks that all compute the same
loss and gradient, lets the programs take turns, and writes docs/benchmarks.md, with a plot for the processor.
"""


def list_of(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def make_parser(device: Device) -> argparse.ArgumentParser:
    """The defaults are those of a device."""
    parser = argparse.ArgumentParser(
        prog=f"make {device.target}",
        description=DESCRIPTION,
        epilog="The defaults are those of --device.",
    )
    parser.add_argument("--device", choices=DEVICES, default=device.name)
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / device.preset, help="where the project was built"
    )
    parser.add_argument(
        "--model", help=f'models that `cladtorch bench` knows, default "{device.full.models}"'
    )
    parser.add_argument("--configs", help=f'pairs of batch and tokens, default "{device.full.configs}"')
    parser.add_argument("--dtypes", default=device.dtypes, help='default "%(default)s"')
    parser.add_argument(
        "--peers",
        default=",".join(device.peers),
        help=f"some of {', '.join(device.peers)}; may be empty",
    )
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--iters", type=int, help="timed runs of each phase, one a turn; default by size")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f'"{device.quick.configs}" and few turns; writes into the build folder instead of docs/',
    )
    parser.add_argument("--out", type=Path, help="folder for benchmarks.md and its drawings, default docs")
    return parser


def parse(arguments: list[str]) -> argparse.Namespace:
    chosen = argparse.ArgumentParser(add_help=False)
    chosen.add_argument("--device", choices=DEVICES, default="cpu")
    device = DEVICES[chosen.parse_known_args(arguments)[0].device]
    parser = make_parser(device)
    options = parser.parse_args(arguments)
    options.device = device
    unknown = [name for name in list_of(options.peers) if name not in device.peers]
    if unknown:
        parser.error(f"unknown peer '{unknown[0]}'; known are {', '.join(device.peers)}")
    extent = device.quick if options.quick else device.full
    options.iters = options.iters or extent.turns
    options.configs = options.configs or extent.configs
    options.models = list_of(options.model or extent.models)
    try:
        pairs = [tuple(int(x) for x in pair.split(",")) for pair in options.configs.split()]
        options.shapes = [(batch, seq) for batch, seq in pairs]
    except ValueError:
        parser.error(f"--configs is '{options.configs}', expected pairs like '1,16 4,64'")
    return options


def arguments_of(options: argparse.Namespace, model: str) -> str:
    """Those that change what is measured, for the page."""
    full = options.device.full
    words = [] if model in list_of(full.models) else [f"--model {model}"]
    if options.configs != full.configs:
        words.append(f"--configs '{options.configs}'")
    if options.iters:
        words.append(f"--iters {options.iters}")
    return " ".join(words)

#!/usr/bin/env python3
"""Writes random programs and checks the derivatives that the plugin writes for them.

    clad/test/fuzz/fuzz.py --count 1000 --seed 1 --jobs 2
    clad/test/fuzz/fuzz.py --count 1000 --graph build/release/src/graph/libcladtorch_graph.a

The second also runs the programs with the numbers of cladtorch/graph, where they compile with these (two of three do), and
compares the gradients.

Each program is made from its number alone, so a failure is repeated with --seed NUMBER --count 1. What fails is made
smaller until nothing can be left out, and printed.
"""

import argparse
import collections
import concurrent.futures
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from compiler import add_options, classify, harness, toolchain_of  # noqa: E402
from generator import Generator  # noqa: E402
from shrink import shrink  # noqa: E402
from tree import indented  # noqa: E402

# What the grammar writes and the plugin refuses, saying so.
REFUSALS = [
    'of a class without default constructor; use std::array',
    'a function that is not known where the lambda stands',  # a parameter that is a std::function
    'cannot checkpoint this loop',  # which changes what a pointer points to
    'what it points to changes with the independent variables',  # Hessians through pointers
]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--seed', type=int, default=1, help='the number of the first program')
    p.add_argument('--count', type=int, default=200, help='how many programs')
    add_options(p, batch=25)
    p.add_argument('--no-shrink', action='store_true')
    p.add_argument('--keep', type=Path, help='folder for the failing programs')
    p.add_argument('--each', type=int, default=3, help='how many failures of a kind are made smaller')
    return p.parse_args()


def batch(toolchain, seeds):
    programs = [Generator(s).program() for s in seeds]
    with tempfile.TemporaryDirectory(prefix='clad_fuzz_') as folder:
        return list(zip(programs, classify(programs, toolchain, Path(folder))))


def report(program, outcome, toolchain, options):
    if not options.no_shrink and outcome.kind != 'invalid':  # which is the grammar's fault
        program = shrink(program, outcome, toolchain)
    source = indented(harness(0, program))
    print(f'\n--- seed {program.seed}: {outcome.kind}: {outcome.what}\n{outcome.detail}\n{source}', flush=True)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / f'{program.seed}.cpp').write_text(f'// {outcome.kind}: {outcome.what}\n{source}')


def main():
    options = arguments()
    if options.show:
        for seed in range(options.seed, options.seed + options.count):
            print(indented(harness(seed, Generator(seed).program())))
        return 0
    toolchain = toolchain_of(options)
    last = options.seed + options.count
    batches = [range(s, min(s + options.batch, last)) for s in range(options.seed, last, options.batch)]
    counts, seen, start = collections.Counter(), collections.Counter(), time.time()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for results in pool.map(batch, [toolchain] * len(batches), batches):
            for program, outcome in results:
                allowed = any(r in outcome.detail for r in REFUSALS)
                counts[f'{outcome.kind}{" (known)" if allowed else ""}: {outcome.what}' if outcome.what else outcome.kind] += 1
                if not outcome.failed() or allowed:
                    continue
                seen[outcome.kind, outcome.what] += 1
                if seen[outcome.kind, outcome.what] <= options.each:
                    report(program, outcome, toolchain, options)
                else:
                    print(f'seed {program.seed}: {outcome.kind}: {outcome.what}', flush=True)
    print(f'{sum(counts.values())} programs in {time.time() - start:.0f} s')
    for what, n in counts.most_common():
        print(f'{n:7} {what}')
    return 1 if seen else 0


if __name__ == '__main__':
    sys.exit(main())

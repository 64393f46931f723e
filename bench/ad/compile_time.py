#!/usr/bin/env python3
"""What the plugin costs a compiler: time and memory, beside the same sources compiled without it.

    compile_time.py <c++> <plugin> [--rounds N] [--check] [UNIT...]

Each unit is compiled with and without the plugin in turns, -O3; medians of the compiler's own CPU time. --check fails
if a unit takes more than 2.2 times the time without the plugin.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = {
    "GPT-2": "models/gpt2/gpt2_gradient.cpp",
    "Llama": "models/llama/llama_gradient.cpp",
    "forward mode's tests": "clad/test/run/forward_test.cpp",
    "19 kernels": None,
    "100 loops": None,
}


def written(name):
    if name == "19 kernels":
        files = ["series", "linear_algebra", "simulations", "models"]
        return "".join(f'#include "bench/ad/{file}.cpp"\n' for file in files)
    loops = "".join(
        "  for (int i = 0; i < n; ++i) {\n    double t = std::sin(x * i);\n    sum += t * t * y;\n  }\n"
        "  while (sum > y) sum = std::sqrt(sum) * x;\n" for _ in range(50))
    return ('#include <cmath>\n#include "clad/Differentiator/Differentiator.h"\n'
            f"double loops(double x, double y, int n) {{\n  double sum = 0;\n{loops}  return sum;\n}}\n"
            'auto gradient = clad::gradient(loops, "x, y");\n')


def compile_once(compiler, source, plugin, object_file):
    command = [compiler, "-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-w", "-fopenmp=libomp", "-c", source, "-o", object_file]
    command += [f"-I{ROOT / folder}" for folder in ("include", "clad/include", ".", "src")]
    if plugin:
        command.append(f"-fplugin={plugin}")
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compiler")
    parser.add_argument("plugin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("units", nargs="*", metavar="UNIT", help=f"of {', '.join(UNITS)}")
    options = parser.parse_intermixed_args()
    units = {name: UNITS[name] for name in options.units} if options.units else UNITS
    slow = False
    print("| unit | without, s | with the plugin, s | limit, s | without, MB | with, MB |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, file in units.items():
            source = ROOT / file if file else pathlib.Path(folder) / "written.cpp"
            if not file:
                source.write_text(written(name))
            runs = {False: [], True: []}
            for _ in range(options.rounds):
                for plugin in runs:
                    runs[plugin].append(compile_once(options.compiler, source, plugin and options.plugin, f"{folder}/unit.o"))
            (before, before_mb), (after, after_mb) = (map(statistics.median, zip(*runs[p])) for p in (False, True))
            limit = 2.2 * before
            slow |= after > limit
            print(f"| {name} | {before:.2f} | {after:.2f} | {limit:.2f} | {before_mb:.0f} | {after_mb:.0f} |", flush=True)
    if options.check and slow:
        sys.exit("slower than the limit")


if __name__ == "__main__":
    main()

"""A comparison on a GPU, with programs that only pretend to compute, and its page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from dataclasses import asdict
from pathlib import Path
from unittest import mock

import environments
import gpu_report
import measure
from engines import Case, Engine, Worker
from floor import Card, gpt2

HERE = Path(__file__).parent
GPT2 = gpt2(layers=12, channels=768, vocabulary=50257, positions=1024)
KERNELS = [
    {
        "name": "layer_norm forward",
        "shape": "[16384, 768]",
        "dtype": "bf16",
        "ms": 0.0125,
        "bytes": 5e7,
        "flops": 0,
    },
    {
        "name": "attention ours",
        "shape": "[4, 12, 1024, 64]",
        "dtype": "bf16",
        "ms": 2.0,
        "bytes": 1e9,
        "flops": 8e11,
    },
]
CARD = Card("NVIDIA H200", "550.54", "12.4", 4e12, {"bf16": 8e14, "fp32": 5e13, "fp8": 1.4e15}, KERNELS)

# Stands for `cladtorch`, for peer.py and, called cuda_bench, for that. A step takes 10 ms for each sequence;
# PyTorch takes four times as long, twice as long if compiled, and as much more memory; with CUDA graphs it has
# none for four sequences.
PROGRAM = r"""#!{python}
import argparse, json, os, sys
from pathlib import Path

CARD = {card!r}
if "cuda_bench" in sys.argv[0]:
    sys.exit("no CUDA device") if os.environ.get("NO_GPU") else print(CARD)
    sys.exit()
parser = argparse.ArgumentParser()
parser.add_argument("engine")
for option in "model load dump dtype device".split():
    parser.add_argument("--" + option)
for option in "batch seq threads iters".split():
    parser.add_argument("--" + option, type=int)
for option in "worker json gradient-checkpointing".split():
    parser.add_argument("--" + option, action="store_true")
options = parser.parse_args()
with open(os.environ["CALLS"], "a") as calls:
    print(" ".join(sys.argv[1:]), file=calls)
if options.dump:
    if options.engine == "pytorch-compiled" and os.environ.get("NO_COMPILER"):
        sys.exit("no compiler")
    folder = Path(options.dump)
    (folder / "weights").mkdir(parents=True)
    config = dict(model_type="gpt2", n_layer=12, n_embd=768, vocab_size=50257, n_positions=1024)
    (folder / "weights" / "config.json").write_text(json.dumps(config))
elif not options.json:
    slower = dict(bench=1, pytorch=4).get(options.engine, 2)
    if options.engine == "pytorch-graphs" and options.batch == 4:
        sys.exit("CUDA out of memory. Tried to allocate 2.00 GiB")
    print(json.dumps(dict(loss=10.8, device_mb=1.0)), flush=True)
    for line in sys.stdin:
        milliseconds = 10.0 * options.batch * slower
        print(json.dumps(dict(ms=[milliseconds], loss=10.8, device_mb=1500.0 * slower)), flush=True)
"""
AGREES = "import sys; print(sys.argv[3], 'agrees')\n"


def write_program(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        PROGRAM.replace("{python}", sys.executable).replace("{card!r}", repr(json.dumps(asdict(CARD))))
    )
    path.chmod(0o755)


class Run(unittest.TestCase):
    """The driver itself in a folder of its own, with a PyTorch that is an empty file."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.driver = self.root / "bench" / "compare"
        shutil.copytree(HERE, self.driver, ignore=shutil.ignore_patterns("__pycache__"))
        engines = self.driver / "engines.py"
        engines.write_text(engines.read_text().replace("SETTLE_SECONDS = 0.3", "SETTLE_SECONDS = 0.0"))
        write_program(self.driver / "peer.py")
        (self.driver / "verify.py").write_text(AGREES)
        self.build = self.root / "build" / "cuda"
        for name in ("apps/cladtorch", "bench/cuda/cuda_bench"):
            write_program(self.build / name)
        modules = self.root / "modules"
        (modules / "torch-9.9.dist-info").mkdir(parents=True)
        (modules / "torch-9.9.dist-info" / "METADATA").write_text("Name: torch\nVersion: 9.9\n")
        (modules / "torch.py").write_text("class cuda:\n    is_available = lambda: True\n")
        for name in ("numpy", "safetensors"):
            (modules / f"{name}.py").touch()
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(modules),
            "CALLS": str(self.root / "calls"),
        }

    def compare(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(self.driver), "--device", "cuda", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment)

    def test_times_all_that_agree_and_leaves_out_what_has_no_memory(self) -> None:
        (self.root / "docs").mkdir()
        (self.root / "docs" / "benchmarks.md").write_text("# Benchmarks\n\nBy hand.\n")
        done = self.compare("--configs", "2,1024 4,1024", "--model", "gpt2,gpt2-xl", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.root / "docs" / "benchmarks.md").read_text()
        self.assertTrue(page.startswith("# Benchmarks\n\nBy hand.\n"), page)
        for subject in ("kernels", "gpt2", "gpt2-xl"):
            self.assertEqual(page.count(gpu_report.MARK.format(subject)), 1)
        self.assertIn("NVIDIA H200, driver 550.54, CUDA 12.4", page)
        self.assertIn("PyTorch 9.9", page)
        speed, half, fourth = "102 (102–102)", "51.2 (51.2–51.2)", "25.6 (25.6–25.6)"
        self.assertIn(f"| bf16 | 2, 1024 | {speed} | {fourth} | {half} | {half} | 2.00x |", page)
        self.assertIn(f"| bf16 | 4, 1024 | {speed} | {fourth} | {half} | – | 2.00x |", page)
        self.assertIn(f"| fp8 | 4, 1024 | {speed} | – | – | – | 2.00x |", page)
        self.assertIn("| bf16 | 2, 1024 | 1.50 | 6.00 | 3.00 | 3.00 | 0.50x |", page)
        self.assertIn(
            "- torch.compile with CUDA graphs left out at (4,1024) bf16: CUDA out of memory. "
            "Tried to allocate 2.00 GiB\n",
            page,
        )
        self.assertEqual(page.count("cladtorch: fp8 agrees"), 2)
        self.assertEqual(page.count("torch.compile: bf16 agrees"), 2)
        self.assertEqual(list((self.root / "build" / "bench-cuda").glob("gpt2*/*/weights")), [])

    def test_verifies_against_our_program_on_the_processor(self) -> None:
        done = self.compare("--configs", "8,1024", "--model", "gpt2", "--dtypes", "fp8", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = (self.root / "calls").read_text().splitlines()
        dumps = [call.split(" --dump ")[0] for call in calls if " --dump " in call]
        size = "--batch 2 --seq 1024 --dtype {} --threads 1"
        fp32 = size.format("fp32")
        self.assertEqual(
            dumps,
            [
                "bench --device cuda --batch 8 --seq 1024 --dtype bf16 --threads 1",
                f"bench {fp32}",
                f"bench --device cuda {fp32}",
                f"pytorch --device cuda {fp32}",
                f"pytorch-compiled --device cuda {fp32}",
                f"pytorch-graphs --device cuda {fp32}",
                f"bench --device cuda {size.format('fp8')}",
            ],
        )
        self.assertTrue(calls[0].endswith("--model gpt2 --gradient-checkpointing"), calls[0])

    def test_leaves_out_a_peer_that_has_nothing_to_verify(self) -> None:
        self.environment["NO_COMPILER"] = "1"
        done = self.compare("--configs", "2,1024", "--model", "gpt2", "--dtypes", "bf16", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.root / "docs" / "benchmarks.md").read_text()
        self.assertIn("- torch.compile left out in bf16, nothing to verify: no compiler\n", page)
        self.assertIn("| bf16 | 2, 1024 | 1.50 | 6.00 | – | 3.00 | 0.50x |", page)

    def test_results_that_differ_end_it_before_anything_is_timed(self) -> None:
        (self.driver / "verify.py").write_text("print('too different'); raise SystemExit(1)\n")
        done = self.compare("--configs", "2,1024", "--threads", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not timed, because the results differ: cladtorch: too different", done.stderr)
        self.assertFalse((self.root / "docs").exists())

    def test_says_the_way_out_and_writes_nothing_without_a_gpu(self) -> None:
        self.environment["NO_GPU"] = "1"
        failing = self.compare()
        (self.build / "bench/cuda/cuda_bench").unlink()
        for done, reason in ((failing, "no CUDA device"), (self.compare(), "there is no")):
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            for part in (reason, "cuda_bench", "cmake --preset cuda"):
                self.assertIn(part, done.stderr)
        self.assertFalse((self.root / "docs").exists())


class Parts(unittest.TestCase):
    def test_asks_for_rounds_of_steps_and_takes_the_memory_that_the_program_tells(self) -> None:
        asked: list[tuple[str, int]] = []

        class Fake(Worker):
            def start(self) -> None:
                self.process = mock.MagicMock()

            def answer(self) -> dict:
                return {"ms": [20.0], "loss": 1.0, "device_mb": 100.0 * len(asked)}

            def ask(self, phase: str, count: int) -> list[float]:
                asked.append((phase, count))
                return super().ask(phase, count)

        case = Case(4, 1024, "bf16", 1, "cuda")
        worker = Fake(Engine("a", "a", ()), case, Path(), Path())
        with mock.patch.object(measure, "SETTLE_SECONDS", 0):
            times = measure.take_turns([worker], measure.plan_on_gpu(None), True, self.fail)
        rounds = [("step", measure.QUEUED_STEPS)] * measure.ROUNDS
        self.assertEqual(asked, [("step", measure.WARM_UP_STEPS), *rounds])
        self.assertEqual(times, {"a": {"step": [20.0] * measure.ROUNDS}})
        self.assertEqual(worker.peak_mb, 100.0 * len(asked))

    def test_counts_utilization_by_the_arithmetic_that_a_step_needs(self) -> None:
        case = Case(4, 1024, "bf16", 1, "cuda")
        products = 12 * 12 * 768**2 + 50257 * 768
        needed = 6 * 4096 * products + 6 * 4096 * 12 * 768 * 1024
        self.assertEqual(GPT2.flops(case), needed)
        self.assertAlmostEqual(CARD.utilization(GPT2.flops(case), 8.0), needed / (0.008 * 8e14))
        result = {
            "title": "cladtorch",
            "case": asdict(case),
            "times": {"step": [8.0, 7.0, 9.0]},
            "peak_mb": 2e3,
            "first_step_s": 1.0,
        }
        page = gpu_report.render(
            {
                "machine": {
                    **{key: "x" for key in ("gpu", "driver", "cuda", "date", "commit", "arguments")},
                    "threads": 1,
                    "versions": {},
                },
                "model": asdict(GPT2),
                "ceilings": asdict(CARD),
                "titles": ["cladtorch", "PyTorch"],
                "verification": [],
                "left_out": [],
                "cases": [result],
            }
        )
        self.assertIn("| bf16 | 4, 1024 | 51.1 % | – |", page)
        self.assertIn("| bf16 | 4, 1024 | 512 (484–549) | – | – |", page)

    def test_measures_kernels_by_the_copy_or_by_the_products(self) -> None:
        machine = {"gpu": "g", "driver": "d", "cuda": "c", "date": "t", "commit": "h", "versions": {}}
        page = gpu_report.render_kernels({"ceilings": asdict(CARD), "machine": {**machine, "arguments": ""}})
        self.assertIn("| layer_norm forward | [16384, 768] | bf16 | 0.0125 | 4000 GB/s | 100 % |", page)
        self.assertIn("| attention ours | [4, 12, 1024, 64] | bf16 | 2.0000 | 400 TFLOP/s | 50 % |", page)

    def test_a_package_that_cannot_be_had_is_named(self) -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(environments, "missing_packages", lambda _: ["safetensors"]),
            mock.patch.object(environments, "create", side_effect=environments.Unavailable("no network")),
            mock.patch.object(environments, "say"),
            self.assertRaisesRegex(environments.Unavailable, "lacks safetensors; no network; is PyPI"),
        ):
            environments.ensure(environments.TORCH_CUDA, Path(folder))


if __name__ == "__main__":
    unittest.main()

"""The parts of the driver that need no package: floors, turns and the page."""

from __future__ import annotations

import json
import tempfile
import unittest
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import engines
import measure
import plot
import report
from engines import Case, Engine, Failed, Worker
from floor import Ceilings, gpt2, inference_bytes, llama, work

GPT2 = gpt2(layers=12, channels=768, vocabulary=50257, positions=1024)
LLAMA_32_1B = {
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "intermediate_size": 8192,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
}
CEILINGS = Ceilings(fp32=500e9, bf16=995e9, read=48e9, fill=44e9, mixed=60e9)


class Floor(unittest.TestCase):
    def test_counts_gpt2(self) -> None:
        self.assertEqual(GPT2.parameters, 124_439_808)
        self.assertAlmostEqual(GPT2.flops(Case(4, 64)) / 1e9, 190.7, delta=0.1)
        self.assertEqual(inference_bytes(GPT2), 4 * (124_439_808 - 1024 * 768))

    def test_counts_llama(self) -> None:
        self.assertEqual(llama(LLAMA_32_1B).parameters, 1_235_814_400)
        untied = llama({**LLAMA_32_1B, "tie_word_embeddings": False})
        self.assertEqual(untied.parameters, 1_498_482_688)
        self.assertEqual(inference_bytes(untied), inference_bytes(llama(LLAMA_32_1B)))

    def test_few_tokens_are_bound_by_memory_and_many_by_arithmetic(self) -> None:
        few, many = (work(GPT2, Case(*shape), "forward_backward") for shape in ((1, 16), (4, 64)))
        self.assertEqual(few.bound(CEILINGS, "fp32"), "memory")
        self.assertAlmostEqual(few.milliseconds(CEILINGS, "fp32"), 32.1, delta=0.1)
        self.assertEqual(many.bound(CEILINGS, "fp32"), "arithmetic")
        self.assertAlmostEqual(many.milliseconds(CEILINGS, "fp32"), 381, delta=1)

    def test_bf16_halves_the_weights_but_not_the_gradients(self) -> None:
        few = work(GPT2, Case(1, 16, "bf16"), "forward_backward")
        self.assertAlmostEqual(few.milliseconds(CEILINGS, "bf16"), 21.7, delta=0.1)

    def test_a_full_step_adds_28_bytes_a_parameter(self) -> None:
        both, step = (
            work(GPT2, Case(1, 64), phase).milliseconds(CEILINGS, "fp32")
            for phase in ("forward_backward", "step")
        )
        self.assertAlmostEqual(step - both, 1e3 * 28 * GPT2.parameters / 60e9)


class FakeWorker(Worker):
    """Answers without a process; `calls` is shared by all to show the order."""

    calls: list[str] = []

    def start(self) -> None:
        self.first_steps.append(1.0)

    def ask(self, phase: str, count: int) -> list[float]:
        if self.engine.name == "broken":
            raise Failed("out of memory")
        self.calls.append(self.engine.name)
        return [1.0] * count


class Turns(unittest.TestCase):
    def test_alternate_and_survive_a_program_that_fails(self) -> None:
        FakeWorker.calls = []
        measure.SETTLE_SECONDS = 0
        workers: list[Worker] = [
            FakeWorker(Engine(name, name, ()), Case(1, 16), Path(), Path()) for name in ("a", "broken", "b")
        ]
        said: list[str] = []
        times = measure.take_turns(workers, measure.Plan(turns=2, repeats=3), True, said.append)
        self.assertEqual(
            [name for i, name in enumerate(FakeWorker.calls) if i % 6 == 0], ["a", "b", "a", "b"]
        )
        self.assertEqual({name: len(t["step"]) for name, t in times.items()}, {"a": 6, "b": 6})
        self.assertEqual(said, ["broken left out at (1,16) fp32: out of memory"])

    def test_a_program_that_dies_says_why(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            with self.assertRaisesRegex(Failed, "no such device"):
                engines.run_once(["sh", "-c", "echo no such device >&2; exit 3"], 1, log)
            worker = Worker(
                Engine("x", "x", ("sh", "-c", "echo no such file >&2; exit 3")), Case(1, 16), Path(), log
            )
            with self.assertRaisesRegex(Failed, "no such file"):
                worker.start()


def results() -> dict:
    def case(title: str, dtype: str, milliseconds: float) -> dict:
        times = {phase: [milliseconds, milliseconds + 2, milliseconds + 1] for phase in measure.PHASES}
        return {
            "engine": title,
            "title": title,
            "times": times,
            "first_step_s": 1.5,
            "peak_mb": 2000.0,
            "first_loss": 10.8,
            "last_loss": 10.7,
            "case": {"batch": 4, "seq": 64, "dtype": dtype, "threads": 2},
        }

    ceilings = {"fp32": 500e9, "bf16": 995e9, "read": 48e9, "fill": 44e9, "mixed": 60e9}
    return {
        "machine": {
            "cpu": "A <fast> one",
            "threads": 2,
            "date": "1 May 2026",
            "commit": "abc",
            "versions": {"JAX": "1.0"},
            "arguments": "",
        },
        "model": asdict(GPT2),
        "ceilings": {"threads": {"1": ceilings, "2": ceilings}},
        "titles": ["cladtorch", "JAX", "PyTorch"],
        "verification": ["JAX: loss 1"],
        "inference": {"cladtorch": [20.0, 20.0]},
        "left_out": ["PyTorch: absent"],
        "cases": [case("cladtorch", "fp32", 400), case("JAX", "fp32", 801), case("JAX", "bf16", 500)],
    }


class Page(unittest.TestCase):
    def test_shows_medians_floors_and_ratios_and_copes_with_absent_peers(self) -> None:
        page = report.render(json.loads(json.dumps(results())), "plot.svg")
        self.assertIn("| 4, 64 | 381 | 401 (400–402) | 802 (802–802) | – | 95 % | 2.00x |", page)
        self.assertIn("| 4, 64 | 192 | – | 501 (500–502) | – | – | – |", page)
        self.assertIn("| cladtorch | 50.0 |", page)
        self.assertIn("PyTorch: absent", page)

    def test_replaces_only_what_it_wrote(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.md"
            begin = report.BEGIN.format("gpt2")
            path.write_text(f"# Title\n\n{begin}\nold\n{report.END}\n\n## By hand\n")
            report.insert(path, "gpt2", "new")
            report.insert(path, "llama-110m", "another model")
            report.insert(path, "gpt2", "newer")
            self.assertEqual(
                path.read_text(),
                f"# Title\n\n{begin}\n\nnewer\n{report.END}\n\n## By hand\n\n"
                f"{report.BEGIN.format('llama-110m')}\n\nanother model\n{report.END}\n",
            )

    def test_plot_is_well_formed(self) -> None:
        root = ElementTree.fromstring(plot.draw(results()))
        bars = root.findall(".//{http://www.w3.org/2000/svg}rect/{http://www.w3.org/2000/svg}title")
        self.assertEqual(len(bars), 3)


if __name__ == "__main__":
    unittest.main()

"""The check that precedes every timing must be able to fail."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np
import verify
from safetensors.numpy import save_file

GRADIENT = {
    "wte.weight": np.linspace(-1, 1, 60, dtype=np.float32).reshape(6, 10),
    "ln_f.bias": np.full(10, 1e-6, dtype=np.float32),
    "wpe.weight": np.zeros((3, 10), dtype=np.float32),
}


class Verify(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write("expected", GRADIENT, 10.82)

    def write(self, name: str, gradient: dict[str, np.ndarray], loss: float) -> None:
        (self.folder / name / "gradient").mkdir(parents=True)
        save_file(gradient, self.folder / name / "gradient" / "model.safetensors")
        save_file({"loss": np.array(loss)}, self.folder / name / "batch.safetensors")

    def outcome(
        self, gradient: dict[str, np.ndarray], loss: float = 10.82, *dtype: str
    ) -> tuple[int, str]:
        self.write("actual", gradient, loss)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = verify.main([str(self.folder / "expected"), str(self.folder / "actual"), *dtype])
        return code, out.getvalue()

    def changed(self, name: str, value: np.ndarray) -> dict[str, np.ndarray]:
        return {**GRADIENT, name: value.astype(np.float32)}

    def test_accepts_rounding(self) -> None:
        code, text = self.outcome(self.changed("wte.weight", GRADIENT["wte.weight"] * 1.0005), 10.82005)
        self.assertEqual(code, 0, text)

    def test_refuses_a_gradient_that_is_off_by_a_part_in_500_and_names_it(self) -> None:
        code, text = self.outcome(self.changed("ln_f.bias", GRADIENT["ln_f.bias"] * 1.002))
        self.assertEqual(code, 1)
        self.assertIn("ln_f.bias", text)

    def test_refuses_another_loss(self) -> None:
        self.assertEqual(self.outcome(GRADIENT, 10.8202)[0], 1)

    def test_accepts_the_rounding_of_bf16_where_it_is_asked_to(self) -> None:
        code, text = self.outcome(self.changed("wte.weight", GRADIENT["wte.weight"] * 1.03), 10.84, "bf16")
        self.assertEqual(code, 0, text)

    def test_refuses_a_bf16_gradient_that_is_off_by_a_fifth(self) -> None:
        changed = self.changed("wte.weight", GRADIENT["wte.weight"] * 1.2)
        self.assertEqual(self.outcome(changed, 10.82, "bf16")[0], 1)

    def test_accepts_a_fp8_gradient_that_is_off_by_a_fifth_but_not_by_a_third(self) -> None:
        near, far = (self.changed("wte.weight", GRADIENT["wte.weight"] * by) for by in (1.2, 1.33))
        code, text = self.outcome(near, 10.86, "fp8")
        self.assertEqual(code, 0, text)
        shutil.rmtree(self.folder / "actual")
        self.assertEqual(self.outcome(far, 10.82, "fp8")[0], 1)

    def test_refuses_a_fp8_loss_that_is_off_by_a_tenth(self) -> None:
        self.assertEqual(self.outcome(GRADIENT, 10.92, "fp8")[0], 1)

    def test_refuses_what_is_no_number(self) -> None:
        self.assertEqual(self.outcome(self.changed("wte.weight", GRADIENT["wte.weight"] * np.nan))[0], 1)

    def test_refuses_a_loss_that_is_no_number(self) -> None:
        self.assertEqual(self.outcome(GRADIENT, float("nan"))[0], 1)

    def test_refuses_a_gradient_where_zero_is_expected(self) -> None:
        self.assertEqual(self.outcome(self.changed("wpe.weight", GRADIENT["wpe.weight"] + 1e-9))[0], 1)

    def test_refuses_another_shape(self) -> None:
        self.assertEqual(self.outcome(self.changed("wte.weight", GRADIENT["wte.weight"].T.copy()))[0], 1)

    def test_refuses_a_parameter_too_many(self) -> None:
        self.assertEqual(self.outcome({**GRADIENT, "lm_head.weight": np.ones(3, dtype=np.float32)})[0], 1)

    def test_refuses_a_missing_parameter(self) -> None:
        self.assertEqual(self.outcome({"wte.weight": GRADIENT["wte.weight"]})[0], 1)


if __name__ == "__main__":
    unittest.main()

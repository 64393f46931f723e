"""Compares the loss and the gradient of two programs, each as `cladtorch bench --dump` lays them out.

    python verify.py EXPECTED ACTUAL [bf16 | fp8]

Prints one line. Exits with 1 when the loss differs by more than 1e-4, when the gradient of some parameter differs by
more than 1e-3 of its norm, or when one has a parameter that the other has not. In bf16, where each program rounds in
places of its own to 8 bits, the loss may differ by 0.05 and a gradient by a twentieth of its norm. In fp8,
which keeps 3 or 4 bits, the loss may differ by 0.05 and a gradient by a quarter of its norm.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

LOSS_TOLERANCE = {"fp32": 1e-4, "bf16": 5e-2, "fp8": 5e-2}
GRADIENT_TOLERANCE = {"fp32": 1e-3, "bf16": 5e-2, "fp8": 0.25}


def relative_error(expected: np.ndarray, actual: np.ndarray) -> float:
    if expected.shape != actual.shape:
        return float("inf")
    wide, other = expected.astype(np.float64), actual.astype(np.float64)
    error, norm = float(np.linalg.norm(other - wide)), float(np.linalg.norm(wide))
    if error == 0:
        return 0.0
    return error / norm if norm > 0 else float("inf")


def gradient_errors(expected: Path, actual: Path) -> dict[str, float]:
    """The relative error of each parameter's gradient; infinite where only one of the two has it."""
    with safe_open(expected, "np") as a, safe_open(actual, "np") as b:
        names = set(a.keys()), set(b.keys())
        errors = {name: float("inf") for name in names[0] ^ names[1]}
        for name in names[0] & names[1]:
            errors[name] = relative_error(a.get_tensor(name), b.get_tensor(name))
    return errors


def loss_of(folder: Path) -> float:
    return float(load_file(folder / "batch.safetensors")["loss"])


def main(arguments: list[str]) -> int:
    expected, actual = (Path(argument) for argument in arguments[:2])
    dtype = arguments[2] if len(arguments) > 2 else "fp32"
    losses = loss_of(expected), loss_of(actual)
    errors = gradient_errors(*(folder / "gradient" / "model.safetensors" for folder in (expected, actual)))
    worst = max(errors, key=lambda name: (np.isnan(errors[name]), errors[name]))
    # A comparison with NaN is false, so what is asked is whether the errors are small, not whether they are large.
    close = abs(losses[0] - losses[1]) <= LOSS_TOLERANCE[dtype]
    agree = close and errors[worst] <= GRADIENT_TOLERANCE[dtype]
    print(
        f"{dtype} loss {losses[1]:.6f}, expected {losses[0]:.6f}; largest relative difference of {len(errors)} "
        f"gradients {errors[worst]:.1e} ({worst})"
    )
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Private Python environments for the peers, under build/python. What is there is not made again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import cuda_stubs


class Unavailable(Exception):
    """One line: why an environment could not be made."""


@dataclass(frozen=True)
class Environment:
    name: str
    packages: tuple[str, ...]
    alone: tuple[str, ...] = ()  # installed without what they depend on


# PyPI's x86-64 wheel of PyTorch depends on 2.4 GB of CUDA libraries and on Triton. The CPU needs none of it, so
# the wheel is installed alone, with those of its dependencies that are plain Python, and cuda_stubs satisfies
# the loader.
TORCH_NEEDS = ("filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec", "setuptools")
TORCH = Environment("torch", (*TORCH_NEEDS, "numpy", "safetensors"), alone=("torch",))
JAX = Environment("jax", ("jax", "numpy", "safetensors"))


def say(line: str) -> None:
    print(f"bench: {line}", flush=True)


def run(command: list[str]) -> None:
    """Raises Unavailable with the line that says why."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no message"]
        errors = [line for line in lines if line.lower().startswith("error")]
        raise Unavailable((errors or lines)[-1])


def create(environment: Environment, folder: Path) -> None:
    run([sys.executable, "-m", "venv", str(folder)])
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    if environment.alone:
        run([*pip, "--no-deps", *environment.alone])
    run([*pip, *environment.packages])
    if environment is TORCH:
        make_torch_importable(folder, pip)


def make_torch_importable(folder: Path, pip: list[str]) -> None:
    check = [str(folder / "bin" / "python"), "-c", "import torch; torch.cuda.is_available()"]
    if subprocess.run(check, capture_output=True, check=False).returncode == 0:
        return  # a wheel without CUDA
    library = next(folder.glob("lib/python*/site-packages/torch/lib"))
    try:
        cuda_stubs.satisfy(library)
        run(check)
    except (Unavailable, OSError, subprocess.CalledProcessError):
        cuda_stubs.remove(library)
        say("PyTorch does not start without CUDA's libraries: installing them too (2.4 GB)")
        run([*pip, *TORCH.alone])
        run(check)


def ensure(environment: Environment, root: Path) -> Path:
    """The interpreter. Makes the environment when it is missing or was made from other packages."""
    folder = root / environment.name
    made_from = folder / "made-from"
    wanted = " ".join((*environment.alone, *environment.packages))
    if not made_from.exists() or made_from.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        say(f"installing {environment.name} from PyPI into {folder}")
        try:
            create(environment, folder)
        except Unavailable as reason:
            shutil.rmtree(folder, ignore_errors=True)
            raise Unavailable(f"{reason}; is PyPI within reach?") from None
        made_from.write_text(wanted)
    return folder / "bin" / "python"

"""Python environments for the peers: private ones under build/python, or the system's where that has what is
needed. What is there is not made again."""

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
    # Statements that fail where the first package is of no use. With them, the interpreter that runs this
    # serves where it has all packages, and lends the first to a private environment where it lacks others.
    lent: str = ""


# PyPI's x86-64 wheel of PyTorch depends on 2.4 GB of CUDA libraries and on Triton. The CPU needs none of it, so
# the wheel is installed alone, with those of its dependencies that are plain Python, and cuda_stubs satisfies
# the loader.
TORCH_NEEDS = ("filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec", "setuptools")
TORCH = Environment("torch", (*TORCH_NEEDS, "numpy", "safetensors"), alone=("torch",))
JAX = Environment("jax", ("jax", "numpy", "safetensors"))
# For a GPU the wheel is installed with the libraries that it depends on.
USES_GPU = "import sys, torch; torch.cuda.is_available() or sys.exit('PyTorch finds no GPU')"
TORCH_CUDA = Environment("torch-cuda", ("torch", "numpy", "safetensors"), lent=USES_GPU)
VERIFY = Environment("verify", ("numpy", "safetensors"), lent="import numpy")  # enough for verify.py


def say(line: str) -> None:
    print(f"bench: {line}", flush=True)


def run(command: list[str]) -> None:
    """Raises Unavailable with the line that says why."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no message"]
        errors = [line for line in lines if line.lower().startswith("error")]
        raise Unavailable((errors or lines)[-1])


def works(python: Path, statements: str) -> bool:
    return subprocess.run([str(python), "-c", statements], capture_output=True, check=False).returncode == 0


def missing_packages(environment: Environment) -> list[str]:
    """Those that the interpreter which runs this cannot import or use."""
    first, *others = environment.packages
    python = Path(sys.executable)
    unusable = [] if works(python, environment.lent) else [first]
    return unusable + [name for name in others if not works(python, f"import {name}")]


def share_packages(folder: Path) -> None:
    """Lets an environment see what the interpreter that runs this sees. venv's --system-site-packages would
    not do: that interpreter may belong to an environment itself."""
    seen = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "shared.pth").write_text("".join(f"{path}\n" for path in seen))


def create(environment: Environment, packages: list[str], folder: Path) -> None:
    """With `packages`, which are all of those of the environment or what its first one is lent to."""
    run([sys.executable, "-m", "venv", str(folder)])
    if environment.packages[0] not in packages:
        share_packages(folder)
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    if environment.alone:
        run([*pip, "--no-deps", *environment.alone])
    run([*pip, *packages])
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


def install(environment: Environment, packages: list[str], folder: Path, why: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    say(f"installing {environment.name} from PyPI into {folder}")
    try:
        create(environment, packages, folder)
    except Unavailable as reason:
        shutil.rmtree(folder, ignore_errors=True)
        raise Unavailable(f"{why}{reason}; is PyPI within reach?") from None


def ensure(environment: Environment, root: Path) -> Path:
    """The interpreter. Makes the environment when it is missing or was made from other packages."""
    packages, why = list(environment.packages), ""
    if environment.lent:
        missing = missing_packages(environment)
        if not missing:
            return Path(sys.executable)
        why = f"{sys.executable} lacks {', '.join(missing)}; "
        if packages[0] not in missing:
            packages = missing
    folder = root / environment.name
    made_from, python = folder / "made-from", folder / "bin" / "python"
    wanted = " ".join((*environment.alone, *packages))
    if not made_from.exists() or made_from.read_text() != wanted:
        install(environment, packages, folder, why)
        made_from.write_text(wanted)
    if environment.lent:
        run([str(python), "-c", environment.lent])
    return python

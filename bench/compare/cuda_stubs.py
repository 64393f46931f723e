"""Empty CUDA libraries for a PyTorch that only computes on the CPU.

PyPI's wheel for x86-64 Linux is linked against CUDA's libraries, so the loader wants them even where no GPU is.
One library is made that defines each symbol as a function that answers "no device", and every missing name is a
link to it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

STUB = "libcuda_absent.so"
LIBRARY = re.compile(r"NEEDED.*\[(lib(?:cu|nccl|nv)[^\]]*)\]")
SYMBOL = re.compile(r"_*(?:cu|nccl|nv)[A-Za-z]")
NO_DEVICE = 100  # cudaErrorNoDevice and CUDA_ERROR_NO_DEVICE


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def undefined_symbols(library: Path) -> list[tuple[str, str]]:
    """Name and version (or "") of each CUDA symbol that a library expects from another."""
    symbols = []
    for line in output("nm", "-D", "--undefined-only", "--with-symbol-versions", str(library)).splitlines():
        kind, name = line.split()[-2:]
        name, _, version = name.partition("@")
        if kind == "U" and SYMBOL.match(name):
            symbols.append((name, version))
    return symbols


def satisfy(folder: Path) -> None:
    """Puts into `folder`, where PyTorch's own libraries lie, what the loader misses."""
    names: set[str] = set()
    versions: dict[str, set[str]] = {}
    for library in folder.glob("lib*.so"):
        names.update(LIBRARY.findall(output("readelf", "-d", str(library))))
        for symbol, version in undefined_symbols(library):
            versions.setdefault(version, set()).add(symbol)
    source = ""
    for symbol in sorted(set().union(*versions.values())):
        if "String" in symbol:
            source += f'const char* {symbol}(void) {{ return "no CUDA"; }}\n'
        else:
            source += f"int {symbol}(void) {{ return {NO_DEVICE}; }}\n"
    script = folder / "libcuda_absent.map"
    script.write_text("".join(f"{v} {{ {'; '.join(sorted(s))}; }};\n" for v, s in versions.items() if v))
    compiler = ["cc", "-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,--version-script={script}"]
    subprocess.run(
        [*compiler, "-x", "c", "-", "-o", str(folder / STUB)],
        input=source,
        text=True,
        check=True,
        capture_output=True,
    )
    for name in names:
        if not (folder / name).exists():
            (folder / name).symlink_to(STUB)


def remove(folder: Path) -> None:
    for link in folder.iterdir():
        if link.is_symlink() and link.readlink().name == STUB:
            link.unlink()

"""What precedes the timing: environments, the same weights and tokens for all, and the check that they agree."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from engines import Case, Engine, Failed, describe_case, peer, run_once
from environments import Environment, Unavailable, ensure, say
from floor import Model, gpt2, llama

# The packages whose versions are shown, by peer.
PACKAGES = {
    "pytorch": ("PyTorch", "torch"),
    "pytorch-compiled": ("PyTorch", "torch"),
    "pytorch-graphs": ("PyTorch", "torch"),
    "jax": ("JAX", "jax"),
}


def available_peers(
    peers: dict[str, tuple[str, Environment]], names: list[str], environments: Path, left_out: list[str]
) -> list[Engine]:
    """Those of `names`; `peers` has their titles and what they run in."""
    engines: list[Engine] = []
    absent: dict[str, Unavailable] = {}  # two peers may share an environment
    for name in names:
        title, environment = peers[name]
        try:
            if environment.name in absent:
                raise absent[environment.name]
            engines.append(peer(name, title, ensure(environment, environments)))
        except Unavailable as reason:
            absent[environment.name] = reason
            left_out.append(f"{title}: {reason}")
            say(f"{title} left out: {reason}")
    return engines


def dump(engine: Engine, case: Case, source: list[str], folder: Path) -> None:
    """Loss and gradient at a case; `source` is the options that say where weights and tokens come from."""
    where = "" if case.device == "cpu" else " on the GPU"
    say(f"{engine.title} computes loss and gradient at {describe_case(case)}{where}")
    log = folder.with_name(f"{folder.name}.log")
    run_once([*engine.command, *case.options(), "--dump", str(folder), *source], case.threads, log)


def compare(python: Path, expected: Path, actual: Path, title: str, dtype: str) -> str:
    """One line. Raises Failed when the results differ: comparing different work is worth nothing."""
    script = Path(__file__).with_name("verify.py")
    command = [str(python), str(script), str(expected), str(actual), dtype]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    line = f"{title}: {(done.stdout or done.stderr).strip().splitlines()[-1]}"
    say(line)
    if done.returncode != 0:
        raise Failed(f"not timed, because the results differ: {line}")
    return line


def model_of(dump: Path) -> Model:
    config = json.loads((dump / "weights" / "config.json").read_text())
    if config["model_type"] == "gpt2":
        return gpt2(config["n_layer"], config["n_embd"], config["vocab_size"], config["n_positions"])
    return llama(config)


def versions(engines: list[Engine]) -> dict[str, str]:
    found: dict[str, str] = {}
    for engine in engines:
        title, package = PACKAGES.get(engine.name, ("", ""))
        if package and title not in found:
            script = f"import importlib.metadata as m; print(m.version('{package}'))"
            found[title] = subprocess.run(
                [engine.command[0], "-c", script], capture_output=True, text=True, check=True
            ).stdout.strip()
    return found


def commit(root: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def refusal(engine: Engine, case: Case, log: Path) -> str:
    """Why our program does not compute a small case in its type; empty where it does."""
    command = [*engine.command, "--model", "toy", *case.options(), "--iters", "1", "--json"]
    try:
        run_once(command, case.threads, log)
    except Failed as failure:
        return str(failure)
    return ""

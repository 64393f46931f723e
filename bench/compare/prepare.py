"""What precedes the timing: environments, the same weights and tokens for all, and the check that they agree."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from engines import Case, Engine, Failed, describe_case, peer, run_once
from environments import JAX, TORCH, Unavailable, ensure, say
from floor import Model, gpt2, llama

PEERS = {"pytorch": ("PyTorch", TORCH), "pytorch-compiled": ("torch.compile", TORCH), "jax": ("JAX", JAX)}


def available_peers(names: list[str], environments: Path, left_out: list[str]) -> list[Engine]:
    engines: list[Engine] = []
    absent: dict[str, Unavailable] = {}  # two peers may share an environment
    for name in names:
        title, environment = PEERS[name]
        try:
            if environment.name in absent:
                raise absent[environment.name]
            engines.append(peer(name, title, ensure(environment, environments)))
        except Unavailable as reason:
            absent[environment.name] = reason
            left_out.append(f"{title}: {reason}")
            say(f"{title} left out: {reason}")
    return engines


def dump_all(
    engines: list[Engine], model: str, case: Case, folder: Path, load: Path | None = None
) -> None:
    """Ours first: its weights and tokens, random or those of `load`, are what the others load."""
    for engine in engines:
        say(f"{engine.title} computes loss and gradient at {describe_case(case)}")
        command = [*engine.command, *case.options(), "--dump", str(folder / engine.name)]
        source = load or (folder / engines[0].name if engine is not engines[0] else None)
        command += ["--load", str(source)] if source else ["--model", model]
        run_once(command, case.threads, folder / f"{engine.name}.log")


def verify(engines: list[Engine], folder: Path, dtype: str = "fp32") -> list[str]:
    """One line for each peer. Raises Failed when one differs: comparing different work is worth nothing."""
    lines = []
    for engine in engines[1:]:
        command = [
            engine.command[0],
            str(Path(__file__).with_name("verify.py")),
            str(folder / engines[0].name),
            str(folder / engine.name),
            dtype,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        line = f"{engine.title}: {(done.stdout or done.stderr).strip().splitlines()[-1]}"
        say(line)
        if done.returncode != 0:
            raise Failed(f"not timed, because the results differ: {line}")
        lines.append(line)
    return lines


def model_of(dump: Path) -> Model:
    config = json.loads((dump / "weights" / "config.json").read_text())
    if config["model_type"] == "gpt2":
        return gpt2(config["n_layer"], config["n_embd"], config["vocab_size"], config["n_positions"])
    return llama(config)


def versions(engines: list[Engine]) -> dict[str, str]:
    packages = {"pytorch": "torch", "jax": "jax"}
    found = {}
    for engine in engines:
        if engine.name in packages:
            script = f"import importlib.metadata as m; print(m.version('{packages[engine.name]}'))"
            found[engine.title] = subprocess.run(
                [engine.command[0], "-c", script], capture_output=True, text=True, check=True
            ).stdout.strip()
    return found


def commit(root: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def supports(engine: Engine, dtype: str, folder: Path) -> bool:
    """Whether our program knows the type at all; the peers do."""
    try:
        run_once(
            [
                *engine.command,
                "--model",
                "toy",
                "--batch",
                "1",
                "--seq",
                "8",
                "--iters",
                "1",
                "--dtype",
                dtype,
                "--json",
            ],
            1,
            folder / "support.log",
        )
    except Failed:
        return False
    return True

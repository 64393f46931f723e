"""Our ranks beside PyTorch's DistributedDataParallel with gloo, on the same cores."""

from __future__ import annotations

import json
import shutil
import socket
from functools import partial
from pathlib import Path

from engines import Failed
from job import Workplace, hash_of, tokens_per_second, wait_for_all
from measure import available_memory, median
from options import MODELS, Case
from report import spread, table

PEER = Path(__file__).with_name("ddp_peer.py")
FIRST_LOSS, LOSSES = 1e-5, 1e-3  # how far the losses of the first update, and of all, may be apart
BYTES_PER_PARAMETER = 20  # weights, gradient, two moments, and as much again in temporaries
BYTES_PER_LOGIT = 16
BITS_MICRO_BATCHES = 4


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Peer:
    def __init__(self, place: Workplace, python: Path) -> None:
        self.place, self.python = place, python

    def initial(self, case: Case) -> Path:
        """The weights with which our runs of a case begin: those after updates that change none."""
        folder = self.place.folder / f"weights-{case.model}-{case.seq}"
        if not folder.exists():
            text = self.place.documents(case, case.batch)
            self.place.train(
                case,
                1,
                text,
                1,
                "optimizer.lr=1e-30",
                "optimizer.weight_decay=0",
                use=lambda out: shutil.copytree(
                    out / "last", folder, ignore=shutil.ignore_patterns("optimizer*")
                ),
            )
        return folder

    def run(self, case: Case, ranks: int, micro_batches: int, text: Path) -> dict:
        """What the first rank says."""
        place = self.place
        command = [
            str(self.python),
            str(PEER),
            "--weights",
            str(self.initial(case)),
            "--documents",
            str(text / "documents.json"),
            "--micro-batches",
            str(micro_batches),
            "--steps",
            str(place.options.steps),
            "--threads",
            str(case.threads),
        ]
        port = str(free_port())
        started = [
            place.start(
                [*place.pinned(rank, case.threads), *command],
                case.threads,
                RANK=str(rank),
                WORLD_SIZE=str(ranks),
                MASTER_ADDR="127.0.0.1",
                MASTER_PORT=port,
                GLOO_SOCKET_IFNAME="lo",
            )
            for rank in range(ranks)
        ]
        return json.loads(wait_for_all(started)[0])


def fits(case: Case, ranks: int) -> bool:
    logits = case.batch * case.seq * MODELS[case.model].vocabulary
    return (
        ranks * (BYTES_PER_PARAMETER * case.parameters + BYTES_PER_LOGIT * logits) < 0.9 * available_memory()
    )


def measure(place: Workplace, cases: list[Case], python: Path) -> str:
    peer, rows, checks = Peer(place, python), [], []
    version = ""
    for case in cases:
        for ranks in (2, 4):
            if not fits(case, ranks):
                checks.append(f"{case.title} on {ranks} ranks: left out, the machine has too little memory")
                continue
            text = place.documents(case, ranks * case.batch)
            times: dict[str, list[float]] = {"ours": [], "theirs": []}
            for _ in range(place.options.rounds):
                ours, theirs = place.train(case, ranks, text), peer.run(case, ranks, ranks, text)
                apart = [abs(a - b) for a, b in zip(ours.losses, theirs["losses"], strict=True)]
                if not (apart[0] <= FIRST_LOSS and max(apart) <= LOSSES):
                    raise Failed(
                        f"{case.title} on {ranks} ranks: not timed, the losses are {ours.losses}, "
                        f"those of DDP {theirs['losses']}"
                    )
                times["ours"] += ours.ms
                times["theirs"] += theirs["ms"][2:-1]
                version = theirs["version"]
            checks.append(
                f"{case.title} on {ranks} ranks: the first loss is {ours.losses[0]:.6f}, that of DDP "
                f"{theirs['losses'][0]:.6f}; in {len(apart)} updates the losses are at most {max(apart):.1e} apart"
            )
            speed = {name: tokens_per_second(case, ranks, median(ms)) for name, ms in times.items()}
            rows.append(
                [
                    case.title,
                    str(ranks),
                    spread(times["ours"]),
                    spread(times["theirs"]),
                    f"{speed['ours']:.0f}",
                    f"{speed['theirs']:.0f}",
                    f"**{speed['ours'] / speed['theirs']:.2f}x**",
                ]
            )
    header = [
        "",
        "ranks",
        "ours, ms a step",
        "DDP, ms a step",
        "ours, tokens/s",
        "DDP, tokens/s",
        "ours / DDP",
    ]
    return (
        f"### PyTorch's DistributedDataParallel\n\nPyTorch {version} with gloo and fused AdamW; the same "
        f"weights, micro-batches and cores, one micro-batch and {place.options.threads} thread(s) for each rank. "
        f"The machine gives {len(place.options.cores)} core(s); more ranks share them.\n\n"
        f"{table(header, rows)}\n" + "".join(f"- {line}\n" for line in checks)
    )


def keep_hash(hashes: list[str], out: Path) -> None:
    hashes.append(hash_of(out / "last" / "model.safetensors"))


def bits(place: Workplace, case: Case, python: Path) -> str:
    """Hashes of the weights after some updates of the same micro-batches on 1, 2 and 4 ranks."""
    peer = Peer(place, python)
    text = place.documents(case, BITS_MICRO_BATCHES * case.batch)
    rows, found = [], []
    for ranks in (1, 2, 4):
        hashes: list[str] = []
        place.train(case, ranks, text, BITS_MICRO_BATCHES, use=partial(keep_hash, hashes))
        theirs = peer.run(case, ranks, BITS_MICRO_BATCHES, text)["hash"]
        found.append((hashes[0], theirs))
        rows.append([str(ranks), f"`{hashes[0][:16]}`", f"`{theirs[:16]}`"])
    counts = [len(set(column)) for column in zip(*found, strict=True)]
    if counts[0] != 1:
        raise Failed("our weights depend on the number of ranks")
    return (
        f"### Bits\n\nSHA-256 of the weights after {place.options.steps} updates of the same "
        f"{BITS_MICRO_BATCHES} micro-batches; {case.title}. Ours are the same on 1, 2 and 4 ranks; DDP has {counts[1]} "
        f"different results.\n\n{table(['ranks', 'ours', 'DDP'], rows)}"
    )

"""A rank of PyTorch's DistributedDataParallel, with the model and the optimizer of bench/compare. The variables
RANK and WORLD_SIZE say which one. The first rank prints one line of JSON."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "compare"))

import numpy as np
import torch
import torch.distributed
import torch_engine
from peer import PREFIX
from safetensors.numpy import load_file
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--documents", type=Path, required=True)
    parser.add_argument("--micro-batches", type=int, required=True, help="of an update, on all ranks")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    torch.distributed.init_process_group("gloo")
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    documents = np.array(json.loads(options.documents.read_text()), dtype=np.int32)
    parts = np.split(documents, options.micro_batches)
    mine = parts[rank * len(parts) // ranks : (rank + 1) * len(parts) // ranks]

    stored = load_file(options.weights / "model.safetensors")
    engine = torch_engine.Engine(
        json.loads((options.weights / "config.json").read_text()),
        {name.removeprefix(PREFIX["gpt2"]): weight for name, weight in stored.items()},
        mine[0][:, :-1],
        mine[0][:, 1:],
        dtype="fp32",
        threads=options.threads,
        device="cpu",
        compilation=None,
    )
    model = DistributedDataParallel(engine.model, gradient_as_bucket_view=True)
    batches = [
        tuple(torch.from_numpy(np.ascontiguousarray(x)).long() for x in (part[:, :-1], part[:, 1:]))
        for part in mine
    ]
    losses, times = [], []
    for _ in range(options.steps):
        begin = time.perf_counter()
        engine.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for number, (tokens, targets) in enumerate(batches):
            last = number + 1 == len(batches)
            with contextlib.nullcontext() if last else model.no_sync():
                loss = model(tokens, targets) / len(batches)
                loss.backward()
            total += loss.item()
        engine.optimizer.step()
        times.append(1e3 * (time.perf_counter() - begin))
        losses.append(total / ranks)
    of_all = torch.tensor(losses, dtype=torch.float64)
    torch.distributed.all_reduce(of_all)
    if rank == 0:
        weights = hashlib.sha256()
        for parameter in engine.model.parameters():
            weights.update(parameter.detach().numpy().tobytes())
        result = {
            "losses": of_all.tolist(),
            "ms": times,
            "hash": weights.hexdigest(),
            "version": torch.__version__,
        }
        print(json.dumps(result), flush=True)
    torch.distributed.barrier()
    os._exit(0)  # an ordinary end may meet threads of gloo that are still running, and fails then


if __name__ == "__main__":
    main()

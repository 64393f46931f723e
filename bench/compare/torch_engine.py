"""A training step of a model in PyTorch as its users write it: autocast, fused AdamW, torch.compile on request."""

from __future__ import annotations

import contextlib
import time

import gpt2_torch
import llama_torch
import numpy as np
import torch
from torch import nn

PROMPT_LENGTH = 16

MODELS = {"gpt2": gpt2_torch.GPT2, "llama": llama_torch.Llama}
# How torch.compile is asked, by the names of the peers. reduce-overhead replays CUDA graphs.
COMPILATION: dict[str, str | None] = {
    "pytorch": None,
    "pytorch-compiled": "default",
    "pytorch-graphs": "reduce-overhead",
}
TRANSPOSED = {"gpt2": gpt2_torch.stored_transposed, "llama": lambda name: False}


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.999), eps=1e-8, fused=True)


class Engine:
    def __init__(
        self,
        config: dict,
        weights: dict[str, np.ndarray],
        tokens: np.ndarray,
        targets: np.ndarray,
        *,
        dtype: str,
        threads: int,
        device: str,
        compilation: str | None,
    ) -> None:
        torch.set_num_threads(threads)
        kind = config["model_type"]
        self.transposed = TRANSPOSED[kind]
        with torch.device("meta"):
            self.model = MODELS[kind](config)
        state = {
            name: torch.from_numpy(value.T.copy() if self.transposed(name) else value)
            for name, value in weights.items()
        }
        self.model.load_state_dict(state, assign=True)
        self.model.to(device)
        for parameter in self.model.parameters():
            parameter.requires_grad_()
        self.optimizer = adamw(self.model)
        self.loss = torch.compile(self.model, mode=compilation) if compilation else self.model
        self.tokens, self.targets = (
            torch.from_numpy(np.ascontiguousarray(x)).long().to(device) for x in (tokens, targets)
        )
        self.autocast = (
            torch.autocast(device, dtype=torch.bfloat16) if dtype == "bf16" else contextlib.nullcontext()
        )
        self.last_loss: torch.Tensor | None = None

    def forward(self) -> float:
        with torch.no_grad(), self.autocast:
            return self.loss(self.tokens, self.targets).item()

    def loss_and_gradient(self) -> torch.Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast:
            loss = self.loss(self.tokens, self.targets)
        loss.backward()
        return loss.detach()

    def forward_backward(self) -> float:
        return self.loss_and_gradient().item()

    def queue_step(self) -> None:
        self.last_loss = None  # nothing of a step outlives it, so that a graph may use its memory again
        loss = self.loss_and_gradient()
        self.optimizer.step()
        self.last_loss = loss

    def wait(self) -> float:
        assert self.last_loss is not None
        loss = self.last_loss.item()
        if self.last_loss.is_cuda:
            torch.cuda.synchronize()
        return loss

    def step(self) -> float:
        self.queue_step()
        return self.wait()

    def device_mb(self) -> float:
        return torch.cuda.max_memory_reserved() / 1e6

    def gradients(self) -> dict[str, np.ndarray]:
        gradients = {name: p.grad.cpu().numpy() for name, p in self.model.named_parameters()}
        return {
            name: np.ascontiguousarray(g.T) if self.transposed(name) else g for name, g in gradients.items()
        }

    @torch.inference_mode()
    def generate(self, count: int) -> list[float]:
        """Milliseconds of each of `count` tokens, the most likely ones, after that which reads the prompt."""
        caches = self.model.caches()
        tokens, position, times = self.tokens.flatten()[None, :PROMPT_LENGTH], 0, []
        for _ in range(count + 1):
            begin = time.perf_counter()
            scores = self.model.decode(tokens, caches, position)
            position += tokens.shape[1]
            tokens = scores.argmax(-1, keepdim=True)
            tokens.item()
            times.append(1e3 * (time.perf_counter() - begin))
        return times[1:]

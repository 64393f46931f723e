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
        dtype: str,
        threads: int,
        compiled: bool,
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
        for parameter in self.model.parameters():
            parameter.requires_grad_()
        self.optimizer = adamw(self.model)
        self.loss = torch.compile(self.model) if compiled else self.model
        self.tokens, self.targets = (
            torch.from_numpy(np.ascontiguousarray(x)).long() for x in (tokens, targets)
        )
        self.autocast = (
            torch.autocast("cpu", dtype=torch.bfloat16) if dtype == "bf16" else contextlib.nullcontext()
        )

    def forward(self) -> float:
        with torch.no_grad(), self.autocast:
            return self.loss(self.tokens, self.targets).item()

    def forward_backward(self) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast:
            loss = self.loss(self.tokens, self.targets)
        loss.backward()
        return loss.item()

    def step(self) -> float:
        loss = self.forward_backward()
        self.optimizer.step()
        return loss

    def gradients(self) -> dict[str, np.ndarray]:
        gradients = {name: p.grad.numpy() for name, p in self.model.named_parameters()}
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

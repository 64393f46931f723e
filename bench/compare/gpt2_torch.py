"""GPT-2 in PyTorch, written as its users write it: modules, scaled_dot_product_attention, fused AdamW."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

PROMPT_LENGTH = 16
Cache = tuple[Tensor, Tensor]


class Attention(nn.Module):
    def __init__(self, config: dict) -> None:
        super().__init__()
        self.n_head = config["n_head"]
        self.c_attn = nn.Linear(config["n_embd"], 3 * config["n_embd"])
        self.c_proj = nn.Linear(config["n_embd"], config["n_embd"])

    def forward(self, x: Tensor, cache: Cache | None = None, position: int = 0) -> Tensor:
        batch, length, channels = x.shape
        q, k, v = (
            part.view(batch, length, self.n_head, -1).transpose(1, 2)
            for part in self.c_attn(x).split(channels, dim=2)
        )
        if cache is not None:
            for stored, new in zip(cache, (k, v), strict=True):
                stored[:, :, position : position + length] = new
            k, v = (stored[:, :, : position + length] for stored in cache)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        return self.c_proj(y.transpose(1, 2).reshape(batch, length, channels))


class MLP(nn.Module):
    def __init__(self, config: dict) -> None:
        super().__init__()
        self.c_fc = nn.Linear(config["n_embd"], 4 * config["n_embd"])
        self.c_proj = nn.Linear(4 * config["n_embd"], config["n_embd"])

    def forward(self, x: Tensor) -> Tensor:
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, config: dict) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(config["n_embd"], eps=config["layer_norm_epsilon"])
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config["n_embd"], eps=config["layer_norm_epsilon"])
        self.mlp = MLP(config)

    def forward(self, x: Tensor, cache: Cache | None = None, position: int = 0) -> Tensor:
        x = x + self.attn(self.ln_1(x), cache, position)
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Module):
    def __init__(self, config: dict) -> None:
        super().__init__()
        self.wte = nn.Embedding(config["vocab_size"], config["n_embd"])
        self.wpe = nn.Embedding(config["n_positions"], config["n_embd"])
        self.h = nn.ModuleList(Block(config) for _ in range(config["n_layer"]))
        self.ln_f = nn.LayerNorm(config["n_embd"], eps=config["layer_norm_epsilon"])

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for block in self.h:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def decode(self, tokens: Tensor, caches: list[Cache], position: int) -> Tensor:
        x = self.wte(tokens) + self.wpe.weight[position : position + tokens.shape[1]]
        for block, cache in zip(self.h, caches, strict=True):
            x = block(x, cache, position)
        return F.linear(self.ln_f(x[:, -1]), self.wte.weight)


def stored_transposed(name: str) -> bool:
    """The files keep the weights of these layers [in, out], nn.Linear keeps them [out, in]."""
    return name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))


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
        self.config = config
        with torch.device("meta"):
            self.model = GPT2(config)
        state = {
            name: torch.from_numpy(value.T.copy() if stored_transposed(name) else value)
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
            name: np.ascontiguousarray(g.T) if stored_transposed(name) else g for name, g in gradients.items()
        }

    @torch.inference_mode()
    def generate(self, count: int) -> list[float]:
        """Milliseconds of each of `count` tokens, the most likely ones, after that which reads the prompt."""
        heads = self.config["n_head"]
        shape = (1, heads, self.config["n_positions"], self.config["n_embd"] // heads)
        caches = [(torch.zeros(shape), torch.zeros(shape)) for _ in self.model.h]
        tokens, position, times = self.tokens.flatten()[None, :PROMPT_LENGTH], 0, []
        for _ in range(count + 1):
            begin = time.perf_counter()
            scores = self.model.decode(tokens, caches, position)
            position += tokens.shape[1]
            tokens = scores.argmax(-1, keepdim=True)
            tokens.item()
            times.append(1e3 * (time.perf_counter() - begin))
        return times[1:]

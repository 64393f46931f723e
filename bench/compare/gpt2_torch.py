"""GPT-2 in PyTorch, written as its users write it: modules and scaled_dot_product_attention."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]  # keys and values of a layer


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
        self.config = config
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

    def caches(self) -> list[Cache]:
        heads = self.config["n_head"]
        shape = (1, heads, self.config["n_positions"], self.config["n_embd"] // heads)
        return [(torch.zeros(shape), torch.zeros(shape)) for _ in self.h]


def stored_transposed(name: str) -> bool:
    """The files keep the weights of these layers [in, out], nn.Linear keeps them [out, in]."""
    return name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))

"""Llama in PyTorch, written as its users write it: modules, rotary tables made once, scaled_dot_product_attention."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]  # keys and values of a layer


def rotary_tables(config: dict) -> tuple[Tensor, Tensor]:
    """Cosines and sines [positions, head size]."""
    size = config["head_dim"]
    with torch.device("cpu"):  # also where the weights are only planned
        frequencies = 1.0 / config["rope_theta"] ** (torch.arange(0, size, 2).float() / size)
        positions = torch.arange(config["max_position_embeddings"]).float()
    angles = torch.outer(positions, frequencies).repeat(1, 2)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat((-second, first), dim=-1) * sines


class Attention(nn.Module):
    def __init__(self, config: dict) -> None:
        super().__init__()
        channels, self.size = config["hidden_size"], config["head_dim"]
        queries, keys = config["num_attention_heads"], config["num_key_value_heads"]
        self.q_proj = nn.Linear(channels, queries * self.size, bias=False)
        self.k_proj = nn.Linear(channels, keys * self.size, bias=False)
        self.v_proj = nn.Linear(channels, keys * self.size, bias=False)
        self.o_proj = nn.Linear(queries * self.size, channels, bias=False)

    def forward(
        self, x: Tensor, rotary: tuple[Tensor, Tensor], cache: Cache | None = None, position: int = 0
    ) -> Tensor:
        batch, length, _ = x.shape
        q, k, v = (
            layer(x).view(batch, length, -1, self.size).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = rotate(q, *rotary).to(v.dtype), rotate(k, *rotary).to(v.dtype)
        if cache is not None:
            for stored, new in zip(cache, (k, v), strict=True):
                stored[:, :, position : position + length] = new
            k, v = (stored[:, :, : position + length] for stored in cache)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1, enable_gqa=k.shape[1] < q.shape[1])
        return self.o_proj(y.transpose(1, 2).reshape(batch, length, -1))


class MLP(nn.Module):
    def __init__(self, config: dict) -> None:
        super().__init__()
        channels, hidden = config["hidden_size"], config["intermediate_size"]
        self.gate_proj = nn.Linear(channels, hidden, bias=False)
        self.up_proj = nn.Linear(channels, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, channels, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, config: dict) -> None:
        super().__init__()
        channels, epsilon = config["hidden_size"], config["rms_norm_eps"]
        self.input_layernorm = nn.RMSNorm(channels, eps=epsilon)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = nn.RMSNorm(channels, eps=epsilon)
        self.mlp = MLP(config)

    def forward(
        self, x: Tensor, rotary: tuple[Tensor, Tensor], cache: Cache | None = None, position: int = 0
    ) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), rotary, cache, position)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    def __init__(self, config: dict) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config["vocab_size"], config["hidden_size"])
        self.layers = nn.ModuleList(Block(config) for _ in range(config["num_hidden_layers"]))
        self.norm = nn.RMSNorm(config["hidden_size"], eps=config["rms_norm_eps"])


class Llama(nn.Module):
    cosines: Tensor
    sines: Tensor

    def __init__(self, config: dict) -> None:
        super().__init__()
        self.config = config
        self.model = Decoder(config)
        if not config["tie_word_embeddings"]:
            self.lm_head = nn.Linear(config["hidden_size"], config["vocab_size"], bias=False)
        for name, table in zip(("cosines", "sines"), rotary_tables(config), strict=True):
            self.register_buffer(name, table, persistent=False)

    def hidden(self, tokens: Tensor, caches: list[Cache] | None = None, position: int = 0) -> Tensor:
        x = self.model.embed_tokens(tokens)
        rows = slice(position, position + tokens.shape[1])
        rotary = self.cosines[rows], self.sines[rows]
        for i, block in enumerate(self.model.layers):
            x = block(x, rotary, caches[i] if caches else None, position)
        return self.model.norm(x)

    def scores(self, x: Tensor) -> Tensor:
        tied = self.config["tie_word_embeddings"]
        return F.linear(x, self.model.embed_tokens.weight if tied else self.lm_head.weight)

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        logits = self.scores(self.hidden(tokens))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def decode(self, tokens: Tensor, caches: list[Cache], position: int) -> Tensor:
        return self.scores(self.hidden(tokens, caches, position)[:, -1])

    def caches(self) -> list[Cache]:
        config = self.config
        shape = (1, config["num_key_value_heads"], config["max_position_embeddings"], config["head_dim"])
        return [(torch.zeros(shape), torch.zeros(shape)) for _ in self.model.layers]

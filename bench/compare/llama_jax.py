"""Llama in JAX: pure functions of a dictionary of parameters."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

Parameters = dict[str, jax.Array]


def rms_norm(p: Parameters, name: str, x: jax.Array, epsilon: float) -> jax.Array:
    """In float32 whatever comes in, as mixed precision does it."""
    wide = x.astype(jnp.float32)
    y = wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + epsilon)
    return (y * p[f"{name}.weight"]).astype(x.dtype)


def linear(p: Parameters, name: str, x: jax.Array) -> jax.Array:
    return x @ p[f"{name}.weight"].astype(x.dtype).T


def rotary_tables(config: dict, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines [length, 1, head size], constants of the compiled program."""
    size = config["head_dim"]
    frequencies = 1.0 / config["rope_theta"] ** (np.arange(0, size, 2, dtype=np.float32) / size)
    angles = np.tile(np.outer(np.arange(length, dtype=np.float32), frequencies), 2)[:, None, :]
    return np.cos(angles), np.sin(angles)


def rotate(x: jax.Array, tables: tuple[np.ndarray, np.ndarray]) -> jax.Array:
    first, second = jnp.split(x, 2, axis=-1)
    return (x * tables[0] + jnp.concatenate((-second, first), axis=-1) * tables[1]).astype(x.dtype)


def attention(
    p: Parameters, name: str, x: jax.Array, tables: tuple[np.ndarray, np.ndarray], size: int
) -> jax.Array:
    batch, length, _ = x.shape
    q, k, v = (
        linear(p, f"{name}.{part}_proj", x).reshape(batch, length, -1, size) for part in ("q", "k", "v")
    )
    y = jax.nn.dot_product_attention(rotate(q, tables), rotate(k, tables), v, is_causal=True)
    return linear(p, f"{name}.o_proj", y.reshape(batch, length, -1))


def logits(p: Parameters, tokens: jax.Array, config: dict, dtype: jnp.dtype) -> jax.Array:
    epsilon, tables = config["rms_norm_eps"], rotary_tables(config, tokens.shape[1])
    x = p["model.embed_tokens.weight"][tokens].astype(dtype)
    for i in range(config["num_hidden_layers"]):
        block = f"model.layers.{i}"
        y = rms_norm(p, f"{block}.input_layernorm", x, epsilon)
        x = x + attention(p, f"{block}.self_attn", y, tables, config["head_dim"])
        y = rms_norm(p, f"{block}.post_attention_layernorm", x, epsilon)
        y = jax.nn.silu(linear(p, f"{block}.mlp.gate_proj", y)) * linear(p, f"{block}.mlp.up_proj", y)
        x = x + linear(p, f"{block}.mlp.down_proj", y)
    x = rms_norm(p, "model.norm", x, epsilon)
    head = p["model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"]
    return jnp.einsum("btc,vc->btv", x, head.astype(dtype), preferred_element_type=jnp.float32)

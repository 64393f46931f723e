"""GPT-2 in JAX: pure functions of a dictionary of parameters."""

from __future__ import annotations

import jax
import jax.numpy as jnp

Parameters = dict[str, jax.Array]


def layer_norm(p: Parameters, name: str, x: jax.Array, epsilon: float) -> jax.Array:
    """In float32 whatever comes in, as mixed precision does it."""
    wide = x.astype(jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    variance = wide.var(-1, keepdims=True)
    y = (wide - mean) * jax.lax.rsqrt(variance + epsilon)
    return (y * p[f"{name}.weight"] + p[f"{name}.bias"]).astype(x.dtype)


def linear(p: Parameters, name: str, x: jax.Array) -> jax.Array:
    return x @ p[f"{name}.weight"].astype(x.dtype) + p[f"{name}.bias"].astype(x.dtype)


def attention(p: Parameters, name: str, x: jax.Array, heads: int) -> jax.Array:
    batch, length, channels = x.shape
    q, k, v = (
        part.reshape(batch, length, heads, -1)
        for part in jnp.split(linear(p, f"{name}.c_attn", x), 3, axis=-1)
    )
    y = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    return linear(p, f"{name}.c_proj", y.reshape(batch, length, channels))


def logits(p: Parameters, tokens: jax.Array, config: dict, dtype: jnp.dtype) -> jax.Array:
    heads, epsilon = config["n_head"], config["layer_norm_epsilon"]
    x = (p["wte.weight"][tokens] + p["wpe.weight"][: tokens.shape[1]]).astype(dtype)
    for i in range(config["n_layer"]):
        x = x + attention(p, f"h.{i}.attn", layer_norm(p, f"h.{i}.ln_1", x, epsilon), heads)
        y = linear(p, f"h.{i}.mlp.c_fc", layer_norm(p, f"h.{i}.ln_2", x, epsilon))
        x = x + linear(p, f"h.{i}.mlp.c_proj", jax.nn.gelu(y, approximate=True))
    x = layer_norm(p, "ln_f", x, epsilon)
    return jnp.einsum("btc,vc->btv", x, p["wte.weight"].astype(dtype), preferred_element_type=jnp.float32)

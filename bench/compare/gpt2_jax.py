"""GPT-2 in JAX: pure functions under jit, AdamW in the same jit with donated buffers."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

Parameters = dict[str, jax.Array]
LEARNING_RATE, BETA1, BETA2, EPSILON, WEIGHT_DECAY = 1e-4, 0.9, 0.999, 1e-8, 0.1


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


def loss(
    p: Parameters,
    tokens: jax.Array,
    targets: jax.Array,
    layers: int,
    heads: int,
    epsilon: float,
    dtype: jnp.dtype,
) -> jax.Array:
    x = (p["wte.weight"][tokens] + p["wpe.weight"][: tokens.shape[1]]).astype(dtype)
    for i in range(layers):
        x = x + attention(p, f"h.{i}.attn", layer_norm(p, f"h.{i}.ln_1", x, epsilon), heads)
        y = linear(p, f"h.{i}.mlp.c_fc", layer_norm(p, f"h.{i}.ln_2", x, epsilon))
        x = x + linear(p, f"h.{i}.mlp.c_proj", jax.nn.gelu(y, approximate=True))
    x = layer_norm(p, "ln_f", x, epsilon)
    logits = jnp.einsum("btc,vc->btv", x, p["wte.weight"].astype(dtype), preferred_element_type=jnp.float32)
    chosen = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return (jax.nn.logsumexp(logits, axis=-1) - chosen).mean()


def adamw(
    p: Parameters, g: Parameters, m: Parameters, v: Parameters, count: jax.Array
) -> tuple[Parameters, Parameters, Parameters]:
    m = jax.tree.map(lambda a, b: BETA1 * a + (1 - BETA1) * b, m, g)
    v = jax.tree.map(lambda a, b: BETA2 * a + (1 - BETA2) * b * b, v, g)
    first, second = 1 - BETA1**count, 1 - BETA2**count

    def update(value: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
        decay = LEARNING_RATE * WEIGHT_DECAY if value.ndim >= 2 else 0.0
        return value * (1 - decay) - LEARNING_RATE * (a / first) / (jnp.sqrt(b / second) + EPSILON)

    return jax.tree.map(update, p, m, v), m, v


class Engine:
    def __init__(
        self,
        config: dict,
        weights: dict[str, np.ndarray],
        tokens: np.ndarray,
        targets: np.ndarray,
        dtype: str,
    ) -> None:
        function = functools.partial(
            loss,
            layers=config["n_layer"],
            heads=config["n_head"],
            epsilon=config["layer_norm_epsilon"],
            dtype=jnp.dtype(jnp.bfloat16 if dtype == "bf16" else jnp.float32),
        )
        self.batch = jnp.asarray(tokens), jnp.asarray(targets)
        self.parameters: Parameters = {name: jnp.array(value) for name, value in weights.items()}
        self.moments = tuple(
            {name: jnp.zeros_like(p) for name, p in self.parameters.items()} for _ in range(2)
        )
        self.count = 0
        self.gradient: Parameters = {}
        gradient = jax.value_and_grad(function)

        def step(
            p: Parameters,
            m: Parameters,
            v: Parameters,
            count: jax.Array,
            tokens: jax.Array,
            targets: jax.Array,
        ) -> tuple[jax.Array, tuple[Parameters, Parameters, Parameters]]:
            value, g = gradient(p, tokens, targets)
            return value, adamw(p, g, m, v, count)

        self.value = jax.jit(function)
        self.value_and_gradient = jax.jit(gradient)
        self.update = jax.jit(step, donate_argnums=(0, 1, 2))

    def forward(self) -> float:
        return float(self.value(self.parameters, *self.batch))

    def forward_backward(self) -> float:
        self.gradient = {}  # frees the last one, as a training loop would
        value, self.gradient = jax.block_until_ready(self.value_and_gradient(self.parameters, *self.batch))
        return float(value)

    def step(self) -> float:
        self.gradient = {}
        self.count += 1
        value, state = self.update(self.parameters, *self.moments, jnp.float32(self.count), *self.batch)
        self.parameters, *moments = jax.block_until_ready(state)
        self.moments = tuple(moments)
        return float(value)

    def gradients(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(g) for name, g in self.gradient.items()}

    def generate(self, count: int) -> list[float]:
        raise NotImplementedError("inference is measured against PyTorch only")

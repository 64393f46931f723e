"""A training step of a model in JAX: everything under jit, AdamW in the same jit with donated buffers."""

from __future__ import annotations

import functools
from collections.abc import Callable

import gpt2_jax
import jax
import jax.numpy as jnp
import llama_jax
import numpy as np

Parameters = dict[str, jax.Array]
LEARNING_RATE, BETA1, BETA2, EPSILON, WEIGHT_DECAY = 1e-4, 0.9, 0.999, 1e-8, 0.1
MODELS = {"gpt2": gpt2_jax.logits, "llama": llama_jax.logits}


def loss(p: Parameters, tokens: jax.Array, targets: jax.Array, logits: Callable[..., jax.Array]) -> jax.Array:
    scores = logits(p, tokens)
    chosen = jnp.take_along_axis(scores, targets[..., None], axis=-1)[..., 0]
    return (jax.nn.logsumexp(scores, axis=-1) - chosen).mean()


def adamw(
    p: Parameters,
    g: Parameters,
    m: Parameters,
    v: Parameters,
    count: jax.Array,
    rate: float = LEARNING_RATE,
    weight_decay: float = WEIGHT_DECAY,
) -> tuple[Parameters, Parameters, Parameters]:
    m = jax.tree.map(lambda a, b: BETA1 * a + (1 - BETA1) * b, m, g)
    v = jax.tree.map(lambda a, b: BETA2 * a + (1 - BETA2) * b * b, v, g)
    first, second = 1 - BETA1**count, 1 - BETA2**count

    def update(value: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
        decay = rate * weight_decay if value.ndim >= 2 else 0.0
        return value * (1 - decay) - rate * (a / first) / (jnp.sqrt(b / second) + EPSILON)

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
        wanted = jnp.dtype(jnp.bfloat16 if dtype == "bf16" else jnp.float32)
        logits = functools.partial(MODELS[config["model_type"]], config=config, dtype=wanted)
        function = functools.partial(loss, logits=logits)
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

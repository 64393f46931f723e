"""The least time a phase can take: its arithmetic at the measured peak, or the bytes that it cannot avoid at the
measured bandwidth, whichever is longer."""

from __future__ import annotations

from dataclasses import dataclass

from engines import Case


@dataclass(frozen=True)
class Model:
    title: str
    parameters: int
    products: int  # weights that every token is multiplied with
    attention: int  # layers times channels of the queries
    looked_up: int  # weights of which a token needs one row only

    def flops(self, case: Case) -> float:
        """Forward and backward: every matrix once forward and twice backward, and causal attention over half of
        the positions; a multiplication and an addition count two."""
        return 6.0 * (self.products + self.attention * case.seq) * case.tokens


def gpt2(layers: int, channels: int, vocabulary: int, positions: int) -> Model:
    c = channels
    parameters = (vocabulary + positions) * c + layers * (12 * c * c + 13 * c) + 2 * c
    products = 12 * layers * c * c + vocabulary * c
    title = f"GPT-2 {parameters / 1e6:.0f}M"
    return Model(title, parameters, products, layers * c, positions * c)


def llama(config: dict) -> Model:
    """From config.json."""
    c, layers, size = config["hidden_size"], config["num_hidden_layers"], config["head_dim"]
    queries, keys = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    block = 2 * c * (queries + keys) + 3 * c * config["intermediate_size"]
    table = config["vocab_size"] * c
    looked_up = 0 if config["tie_word_embeddings"] else table
    products = layers * block + table
    parameters = products + looked_up + (2 * layers + 1) * c
    return Model(f"Llama {parameters / 1e6:.0f}M", parameters, products, layers * queries, looked_up)


@dataclass(frozen=True)
class Ceilings:
    """Per second, on the threads of the case."""

    fp32: float
    bf16: float
    read: float
    fill: float
    mixed: float

    def arithmetic(self, dtype: str) -> float:
        """Where the bf16 instruction is slower than the fp32 one, a program may widen and use the latter."""
        return max(self.fp32, self.bf16) if dtype == "bf16" else self.fp32


@dataclass(frozen=True)
class Work:
    """What a phase cannot avoid."""

    flops: float
    read: float  # bytes
    written: float = 0.0
    mixed: float = 0.0

    def milliseconds(self, ceilings: Ceilings, dtype: str) -> float:
        arithmetic = self.flops / ceilings.arithmetic(dtype)
        memory = self.read / ceilings.read + self.written / ceilings.fill
        return 1e3 * (max(arithmetic, memory) + self.mixed / ceilings.mixed)

    def bound(self, ceilings: Ceilings, dtype: str) -> str:
        memory = self.read / ceilings.read + self.written / ceilings.fill
        return "arithmetic" if self.flops / ceilings.arithmetic(dtype) >= memory else "memory"


@dataclass(frozen=True)
class Card:
    """What a GPU can do, as cuda_bench found it. Per second."""

    gpu: str
    driver: str
    cuda: str
    copy_bytes_per_s: float
    flops: dict[str, float]  # of large products, by dtype
    kernels: list[dict]  # name, shape, dtype, ms, bytes, flops

    def utilization(self, flops: float, milliseconds: float) -> float:
        """The share of the measured peak of bfloat16 products."""
        return flops / (1e-3 * milliseconds * self.flops["bf16"])


def work(model: Model, case: Case, phase: str) -> Work:
    """Weights are read once forward and once backward, gradients written once in fp32; AdamW reads
    parameters, gradients and both moments and writes all but the gradients: 28 bytes each."""
    weights = (2 if case.dtype == "bf16" else 4) * model.parameters
    flops, gradients = model.flops(case), 4 * model.parameters
    if phase == "forward":
        return Work(flops / 3, weights)
    return Work(flops, 2 * weights, gradients, 28 * model.parameters if phase == "step" else 0)


def inference_bytes(model: Model) -> float:
    """Every weight once a token, but of the tables only a row."""
    return 4.0 * (model.parameters - model.looked_up)

#!/usr/bin/env python3
"""Writes reference.safetensors: values and gradients computed by PyTorch on the CPU in float32.

Only needed to change the reference data; the tests read the stored file.

    python3 -m venv venv && venv/bin/pip install torch && venv/bin/python generate.py reference.safetensors

Each case stores its operands under "<case>/<operand>", the cotangent "<case>/d_y", the result "<case>/y" and the
gradients "<case>/d_<operand>".
"""
import json
import struct
import sys

import torch
import torch.nn.functional as F

CONFIG = dict(vocab_size=29, n_positions=16, n_layer=2, n_head=4, n_embd=32)
tensors = {}


def normal(*shape, scale=1.0):
    return (scale * torch.randn(*shape)).requires_grad_()


def case(name, function, **operands):
    """Stores one operation; integer operands get no gradient."""
    y = function(*operands.values())
    d_y = torch.randn(y.shape)
    y.backward(d_y)
    tensors[f"{name}/y"], tensors[f"{name}/d_y"] = y.detach(), d_y
    for key, value in operands.items():
        tensors[f"{name}/{key}"] = value.detach()
        if value.grad is not None:
            tensors[f"{name}/d_{key}"] = value.grad


def causal_attention(qkv, n_head=3):
    batch, length, channels = qkv.shape
    heads = [part.reshape(batch, length, n_head, -1).transpose(1, 2) for part in qkv.split(channels // 3, dim=2)]
    y = F.scaled_dot_product_attention(*heads, is_causal=True)
    return y.transpose(1, 2).reshape(batch, length, channels // 3)


def grouped_attention(q, k, v, n_head=4, window=5):
    """As the Mistral model of transformers: heads of keys repeated, a window in the mask."""
    batch, length, width = q.shape
    size = width // n_head
    q, k, v = (x.reshape(batch, length, -1, size).transpose(1, 2) for x in (q, k, v))
    k, v = (x.repeat_interleave(n_head // x.shape[1], dim=1) for x in (k, v))
    t = torch.arange(length)
    seen = (t[None, :] <= t[:, None]) & (t[None, :] > t[:, None] - window)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    return y.transpose(1, 2).reshape(batch, length, width)


def rotary_embedding(x, size=6, theta=10000.0, first=2):
    """In halves, as the Llama model of transformers."""
    batch, length, width = x.shape
    angles = torch.arange(first, first + length)[:, None] / theta ** (torch.arange(0, size, 2) / size)
    cosine, sine = (f(angles).repeat(1, 2)[:, None, :] for f in (torch.cos, torch.sin))
    heads = x.reshape(batch, length, -1, size)
    turned = torch.cat((-heads[..., size // 2:], heads[..., : size // 2]), dim=-1)
    return (heads * cosine + turned * sine).reshape(x.shape)


def llama_operations():
    case("swiglu", lambda gate, up: F.silu(gate) * up, gate=normal(5, 31, scale=2.0), up=normal(5, 31))
    case("rms_norm", lambda x, w: F.rms_norm(x, (40,), w, 1e-6), x=normal(2, 7, 40), weight=normal(40))
    case("rotary_embedding", rotary_embedding, x=normal(2, 9, 3 * 6))
    case("grouped_attention", grouped_attention, q=normal(2, 23, 4 * 10), k=normal(2, 23, 2 * 10), v=normal(2, 23, 2 * 10))


def operations():
    case("add", torch.add, a=normal(3, 4, 5), b=normal(4, 1))
    case("sub", torch.sub, a=normal(5), b=normal(3, 4, 5))
    case("mul", torch.mul, a=normal(3, 4, 5), b=normal(1, 5))
    case("div", torch.div, a=normal(3, 4), b=(torch.rand(3, 4) + 0.5).requires_grad_())
    case("matmul", torch.matmul, a=normal(2, 3, 7, 20), b=normal(3, 20, 9))
    case("linear", F.linear, x=normal(2, 7, 40), weight=normal(50, 40), bias=normal(50))
    case("softmax", lambda x: F.softmax(x, dim=-1), x=normal(5, 31, scale=3.0))
    case("layer_norm", lambda x, w, b: F.layer_norm(x, (40,), w, b), x=normal(2, 7, 40), weight=normal(40), bias=normal(40))
    case("embedding", F.embedding, indices=torch.randint(0, 6, (4, 5), dtype=torch.int32), weight=normal(6, 20))
    case("causal_attention", causal_attention, qkv=normal(2, 70, 3 * 24))
    targets = torch.tensor([[1, 2, -100, 4], [0, 30, 7, 7]])
    case("cross_entropy", lambda x, t: F.cross_entropy(x.reshape(-1, 31), t.reshape(-1).long(), ignore_index=-100),
         logits=normal(2, 4, 31, scale=2.0), targets=targets.int())
    case("mse_loss", F.mse_loss, prediction=normal(4, 5), target=normal(4, 5))
    case("sum", torch.sum, x=normal(4, 5))
    case("mean", torch.mean, x=normal(4, 5))


def linear_cross_entropy():
    targets = torch.tensor([[1, 2, -100, 4], [0, 30, 7, 7]])
    case("linear_cross_entropy",
         lambda x, w, t: F.cross_entropy(F.linear(x, w).reshape(-1, 31), t.reshape(-1).long(), ignore_index=-100),
         x=normal(2, 4, 20), weight=normal(31, 20), targets=targets.int())


# The pointwise functions with the parameters and domains of tests/ops/pointwise.h, and where each has kinks.
POINTWISE = {
    "abs": (torch.abs, -3, 3, [0]), "acos": (torch.acos, -0.9, 0.9, []), "acosh": (torch.acosh, 1.1, 4, []),
    "asin": (torch.asin, -0.9, 0.9, []), "asinh": (torch.asinh, -3, 3, []), "atan": (torch.atan, -3, 3, []),
    "atanh": (torch.atanh, -0.9, 0.9, []), "ceil": (torch.ceil, -3, 3, [1]),
    "bounded_log": (lambda x: torch.clamp(torch.log(x), min=-100), 0.2, 4, []),
    "celu": (lambda x: F.celu(x, 0.7), -3, 3, [0]), "clamp": (lambda x: torch.clamp(x, -1, 2), -3, 3, [-1, 2]),
    "cos": (torch.cos, -6, 6, []), "cosh": (torch.cosh, -3, 3, []), "elu": (lambda x: F.elu(x, 1.3), -3, 3, [0]),
    "erf": (torch.erf, -3, 3, []), "erfc": (torch.erfc, -3, 3, []), "exp": (torch.exp, -3, 3, []),
    "exp2": (torch.exp2, -3, 3, []), "expm1": (torch.expm1, -3, 3, []), "floor": (torch.floor, -3, 3, [1]),
    "gelu_erf": (F.gelu, -4, 4, []), "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), -4, 4, []),
    "hardshrink": (lambda x: F.hardshrink(x, 0.5), -3, 3, [-0.5, 0.5]),
    "hardsigmoid": (F.hardsigmoid, -4, 4, [-3, 3]), "hardswish": (F.hardswish, -4, 4, [-3, 3]),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), -3, 3, [0]), "log": (torch.log, 0.2, 4, []),
    "log10": (torch.log10, 0.2, 4, []), "log1p": (torch.log1p, -0.8, 4, []), "log2": (torch.log2, 0.2, 4, []),
    "logsigmoid": (F.logsigmoid, -6, 6, [0]), "mish": (F.mish, -4, 4, []),
    "pow": (lambda x: torch.pow(x, 2.5), 0.2, 3, [0]), "reciprocal": (torch.reciprocal, 0.3, 3, []),
    "relu": (F.relu, -3, 3, [0]), "round": (torch.round, -3, 3, [0.5, 1.5]), "rsqrt": (torch.rsqrt, 0.3, 4, []),
    "selu": (F.selu, -3, 3, [0]), "sigmoid": (torch.sigmoid, -6, 6, []), "sign": (torch.sign, -3, 3, [0]),
    "silu": (F.silu, -6, 6, []), "sin": (torch.sin, -6, 6, []), "sinh": (torch.sinh, -3, 3, []),
    "softplus": (lambda x: F.softplus(x, 1.5, 4), -4, 4, []),
    "softshrink": (lambda x: F.softshrink(x, 0.5), -3, 3, [-0.5, 0.5]), "softsign": (F.softsign, -3, 3, [0]),
    "sqrt": (torch.sqrt, 0.2, 4, []), "square": (torch.square, -3, 3, []), "tan": (torch.tan, -1.2, 1.2, []),
    "tanh": (torch.tanh, -3, 3, []), "tanhshrink": (F.tanhshrink, -3, 3, []),
    "threshold": (lambda x: F.threshold(x, 0.3, -0.5), -3, 3, [0.3]), "trunc": (torch.trunc, -3, 3, [1]),
}


# Those of two elements, by the domains of tests/ops/pairwise.h, and pairs at which they have kinks.
PAIRWISE = {
    "atan2": (torch.atan2, (-2, 2), (0.3, 2), []), "hypot": (torch.hypot, (-2, 2), (0.3, 2), []),
    "logaddexp": (torch.logaddexp, (-3, 3), (-3, 3), [(1, 1)]), "maximum": (torch.maximum, (-3, 3), (-3, 3), [(1, 1)]),
    "minimum": (torch.minimum, (-3, 3), (-3, 3), [(1, 1)]),
    "pow": (torch.pow, (0.3, 2), (-2, 3), [(0, 2), (0, 0), (2, 0)]),
    "prelu": (lambda a, b: torch.where(a > 0, a, a * b), (-3, 3), (0.1, 0.5), [(0, 0.2)]),
    "remainder": (torch.remainder, (-3, 3), (0.7, 2), [(-2.5, -1)]),
    "xlogy": (torch.xlogy, (-2, 2), (0.3, 3), [(0, 2)]),
}


def pairwise():
    for name, (function, a, b, kinks) in PAIRWISE.items():
        operands = []
        for i, (low, high) in enumerate((a, b)):
            x = torch.cat((low + (high - low) * torch.rand(40), torch.tensor([float(pair[i]) for pair in kinks])))
            operands.append(x.requires_grad_())
        case(f"pairwise_{name}", function, a=operands[0], b=operands[1])


def pointwise():
    for name, (function, low, high, kinks) in POINTWISE.items():
        x = torch.cat((low + (high - low) * torch.rand(60), torch.tensor(kinks)))
        case(name, function, x=x.requires_grad_())


def sums():
    case("sum_to", lambda x: x.sum_to_size(4, 1), x=normal(3, 4, 5))
    case("sum_of_rows", lambda x: x.sum(-1), x=normal(3, 4, 5))
    case("mean_of_columns", lambda x: x.mean(1, keepdim=True), x=normal(3, 4, 5))


def saturated(p, target):
    """The loss of probabilities of which some are exactly 0 and 1."""
    with torch.no_grad():
        p[0], p[1:3] = 0, 1
    return F.binary_cross_entropy(p, target.round(), reduction="none")


# Functions of tests/parity/composed_parity_test.cpp; operands between 0 and 1, so that all are defined.
COMPOSED = {
    "stack": (lambda a, b: torch.stack((a, b, a), dim=1), 2), "lerp": (lambda a, b: torch.lerp(a, b, 0.3), 2),
    "outer": (lambda a, b: torch.outer(a[0], b[0]), 2), "glu": (lambda a: F.glu(a, dim=0), 1),
    "var": (lambda a: torch.var(a, dim=1), 1), "std": (lambda a: torch.std(a, dim=0, keepdim=True), 1),
    "norm": (lambda a: torch.linalg.vector_norm(a, dim=1), 1), "logsumexp": (lambda a: torch.logsumexp(a, dim=0), 1),
    "cosine_similarity": (F.cosine_similarity, 2), "l1_loss": (F.l1_loss, 2),
    "huber_loss": (lambda a, b: F.huber_loss(a, b, reduction="sum", delta=0.3), 2),
    "smooth_l1_loss": (lambda a, b: F.smooth_l1_loss(a, b, reduction="none", beta=0.4), 2),
    "binary_cross_entropy": (F.binary_cross_entropy, 2), "saturated": (saturated, 2),
    "binary_cross_entropy_with_logits": (F.binary_cross_entropy_with_logits, 2),
    "kl_div": (lambda a, b: F.kl_div(a, b, reduction="sum"), 2), "triplet_margin_loss": (F.triplet_margin_loss, 3),
}


def composed():
    for name, (function, count) in COMPOSED.items():
        case(f"composed_{name}", function, **{key: torch.rand(6, 8).mul(0.9).add(0.05).requires_grad_()
                                              for key in "abc"[:count]})


def along():
    case("cat", lambda a, b: torch.cat((a, b), dim=1), a=normal(3, 5, 4), b=normal(3, 2, 4))
    case("flip", lambda x: torch.flip(x, (1,)), x=normal(3, 5, 4))
    case("cumsum", lambda x: torch.cumsum(x, 1), x=normal(3, 5, 4))
    for name in ("amax", "amin"):
        case(name, lambda x: getattr(torch, name)(x, 1), x=torch.randint(0, 4, (3, 5, 4)).float().requires_grad_())


def convolution(name, function, x, weight, out, **options):
    case(name, lambda x, w, b: function(x, w, b, **options), x=normal(*x), weight=normal(*weight), bias=normal(out))


def images():
    """With the options of tests/ops/images.cpp."""
    convolution("conv1d", F.conv1d, (2, 3, 19), (4, 3, 3), 4, stride=2, padding=1)
    convolution("conv2d", F.conv2d, (2, 3, 9, 8), (20, 3, 3, 3), 20, padding=1)
    convolution("conv2d_strided", F.conv2d, (2, 2, 9, 8), (3, 2, 3, 2), 3, stride=(2, 3), padding=(0, 2), dilation=(3, 2))
    convolution("conv2d_pointwise", F.conv2d, (2, 3, 5, 4), (4, 3, 1, 1), 4, stride=2)
    convolution("conv2d_grouped", F.conv2d, (2, 4, 5, 4), (6, 2, 3, 3), 6, stride=2, padding=1, groups=2)
    convolution("conv2d_depthwise", F.conv2d, (2, 3, 5, 4), (6, 1, 5, 3), 6, stride=(1, 2), padding=2, groups=3)
    convolution("conv3d", F.conv3d, (2, 2, 4, 5, 4), (3, 2, 2, 3, 3), 3, stride=(2, 1, 2), padding=1, dilation=(1, 2, 1))
    convolution("conv_transpose1d", F.conv_transpose1d, (2, 3, 5), (3, 4, 2), 4, stride=3, output_padding=1)
    convolution("conv_transpose2d", F.conv_transpose2d, (2, 4, 3, 2), (4, 2, 4, 3), 4, stride=2, padding=1, groups=2)
    convolution("conv_transpose3d", F.conv_transpose3d, (1, 2, 3, 3, 4), (2, 2, 3, 2, 3), 2, stride=(1, 2, 1),
                padding=(1, 0, 1), dilation=2)

    line, image = (2, 3, 9), (2, 3, 6, 5)
    for name, shape, function in (
            ("max_pool1d", line, lambda x: F.max_pool1d(x, 3, stride=2, padding=1)),
            ("max_pool2d", image, lambda x: F.max_pool2d(x, 2)),
            ("max_pool2d_ceil", image, lambda x: F.max_pool2d(x, (2, 3), 2, (0, 1), (2, 1), ceil_mode=True)),
            ("avg_pool1d", line, lambda x: F.avg_pool1d(x, 2)),
            ("avg_pool2d", image, lambda x: F.avg_pool2d(x, 3, 2, 1)),
            ("avg_pool2d_ceil", image, lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)),
            ("adaptive_avg_pool1d", line, lambda x: F.adaptive_avg_pool1d(x, 4)),
            ("adaptive_avg_pool2d", image, lambda x: F.adaptive_avg_pool2d(x, (4, 3))),
            ("interpolate_nearest", image, lambda x: F.interpolate(x, (11, 4))),
            ("interpolate_bilinear", image, lambda x: F.interpolate(x, (11, 4), mode="bilinear")),
            ("interpolate_corners", image, lambda x: F.interpolate(x, (9, 1), mode="bilinear", align_corners=True))):
        case(name, function, x=normal(*shape))

    affine = lambda: dict(weight=normal(4), bias=normal(4))
    case("batch_norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, True), x=normal(3, 4, 5, 2), **affine())
    case("batch_norm_running", lambda x, m, v, w, b: (x - m[:, None]) / (v[:, None] + 1e-5).sqrt() * w[:, None] + b[:, None],
         x=normal(3, 4, 5), running_mean=normal(4), running_var=torch.rand(4).add(0.3).requires_grad_(), **affine())
    case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), x=normal(3, 4, 5, 2), **affine())
    case("instance_norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), x=normal(3, 4, 5, 2), **affine())


def lstm_cell(x, h, c):
    i, f, g, o = (x + h).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.cat((torch.sigmoid(o) * torch.tanh(c), c))


def gru_cell(x, y, h):
    (a, b, c), (d, e, f) = x.chunk(3, dim=1), y.chunk(3, dim=1)
    r, z = torch.sigmoid(a + d), torch.sigmoid(b + e)
    return (1 - z) * torch.tanh(c + r * f) + z * h


def layer(name, module, function, *inputs):
    """A layer with its parameters by name; the inputs are x, y, ..."""
    y = function(module, *inputs)
    d_y = torch.randn(y.shape)
    y.backward(d_y)
    tensors[f"layer_{name}/y"], tensors[f"layer_{name}/d_y"] = y.detach(), d_y
    for key, value in zip("xz", inputs):
        tensors[f"layer_{name}/{key}"], tensors[f"layer_{name}/d_{key}"] = value.detach(), value.grad
    for key, value in module.named_parameters():
        tensors[f"layer_{name}/parameter/{key}"], tensors[f"layer_{name}/gradient/{key}"] = value.detach(), value.grad


def padded(module, x, lengths=(5, 2, 4)):
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    y, state = module(packed)
    y = torch.nn.utils.rnn.pad_packed_sequence(y, total_length=x.shape[0])[0]
    h, c = state if isinstance(state, tuple) else (state, state)
    return torch.cat((y.flatten(), h.flatten(), c.flatten()))


def layers():
    """With the options of tests/parity/layers_parity_test.cpp."""
    for name in ("RNN", "LSTM", "GRU"):
        module = getattr(torch.nn, name)(4, 6, num_layers=2, bidirectional=True)
        layer(name, module, lambda m, x: m(x)[0], normal(5, 3, 4))
        layer(f"{name}_padded", getattr(torch.nn, name)(4, 6, bidirectional=True), padded, normal(5, 3, 4))
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    torch.nn.init.normal_(attention.in_proj_bias)
    hidden = torch.zeros(4, 5, dtype=torch.bool)
    hidden[1, 2:] = hidden[3, 0] = True
    layer("MultiheadAttention", attention, lambda m, x, z: m(x, z, z, attn_mask=hidden, need_weights=False)[0],
          normal(3, 4, 8), normal(3, 5, 8))
    options = dict(dim_feedforward=12, dropout=0.0, batch_first=True)
    layer("TransformerEncoderLayer", torch.nn.TransformerEncoderLayer(8, 2, activation="gelu", **options),
          lambda m, x: m(x), normal(3, 4, 8))
    layer("TransformerDecoderLayer", torch.nn.TransformerDecoderLayer(8, 2, norm_first=True, **options),
          lambda m, x, z: m(x, z, tgt_mask=torch.nn.Transformer.generate_square_subsequent_mask(4)),
          normal(3, 4, 8), normal(3, 5, 8))


def recurrent():
    case("lstm_cell", lstm_cell, from_x=normal(6, 28), from_h=normal(6, 28), c=normal(6, 7))
    case("gru_cell", gru_cell, from_x=normal(6, 21), from_h=normal(6, 21), h=normal(6, 7))


def indexing():
    """The operations of tests/ops/indexing.cpp, and those that composed_parity_test.cpp makes of them."""
    torch.manual_seed(77)  # whatever comes before
    condition = torch.randint(0, 2, (3, 1), dtype=torch.int32)
    case("where", lambda c, a, b: torch.where(c.bool(), a, b), condition=condition, a=normal(2, 1, 4), b=normal(4))
    case("where_number", lambda c, a: torch.where(c.bool(), a, 0.5), condition=condition, a=normal(3, 4))
    index = torch.randint(0, 4, (3, 6, 5), dtype=torch.int32)
    case("gather", lambda x, i: torch.gather(x, 1, i.long()), x=normal(3, 4, 5), index=index)
    case("scatter_add", lambda x, i, s: torch.scatter_add(x, 1, i.long(), s), x=normal(3, 4, 5), index=index,
         src=normal(3, 6, 5))
    once = torch.rand(3, 4, 5).argsort(1)[:, :3].int()  # which of several stays is not defined in PyTorch
    case("scatter", lambda x, i, s: torch.scatter(x, 1, i.long(), s), x=normal(3, 4, 5), index=once, src=normal(3, 3, 5))
    case("cumprod", lambda x: torch.cumprod(x, 1), x=normal(3, 5, 4))

    index, flat, offsets = torch.tensor([[7, 0], [2, 2], [5, 1]]), torch.tensor([3, 0, 3, 1, 5]), torch.tensor([0, 2, 2])
    with_zeros = lambda a, b: torch.where(b > 0.15, a, 0)
    for name, (function, count) in {
            "masked_fill": (lambda a, b: a.masked_fill(b > 0.5, 0.25), 2),
            "masked_select": (lambda a, b: torch.masked_select(a, b > 0.5), 2),
            "index_select": (lambda a: torch.index_select(a, 1, torch.tensor([3, 0, 3, 7])), 1),
            "index_add": (lambda a, b: torch.index_add(a, 0, torch.tensor([1, 4, 1]), b[:3]), 2),
            "take_along_dim": (lambda a, b: torch.take_along_dim(a, b[:1].argsort(1), 1), 2),
            "scatter_number": (lambda a: torch.scatter(a, 1, index, 0.7), 1),
            "sort": (lambda a: a.sort(1, descending=True).values, 1),
            "topk": (lambda a: a.topk(3, 1).values, 1),
            "topk_smallest": (lambda a: a.topk(2, 0, largest=False).values, 1),
            "kthvalue": (lambda a: a.kthvalue(2, 0, keepdim=True).values, 1),
            "median": (lambda a: a.median(1).values, 1), "median_of_all": (torch.median, 1),
            "cummax": (lambda a: a.cummax(1).values, 1), "cummin": (lambda a: a.cummin(0).values, 1),
            "prod": (lambda a: a.prod(1, keepdim=True), 1), "prod_of_all": (torch.prod, 1),
            "prod_with_zeros": (lambda a, b: with_zeros(a, b).prod(1), 2),
            "cumprod_with_zeros": (lambda a, b: with_zeros(a, b).cumprod(1), 2),
            "embedding_bag": (lambda a: F.embedding_bag(torch.tensor([[5, 0], [2, 2], [4, 1]]), a), 1),
            "embedding_bag_sum": (lambda a: F.embedding_bag(flat, a, offsets, mode="sum"), 1),
            "embedding_bag_mean": (lambda a: F.embedding_bag(flat, a, offsets, mode="mean"), 1)}.items():
        case(f"composed_{name}", function, **{key: torch.rand(6, 8).mul(0.9).add(0.05).requires_grad_()
                                              for key in "ab"[:count]})


def positive(x):
    return x @ x.mT + 4 * torch.eye(x.shape[-1])


def eigen(x):
    values, vectors = torch.linalg.eigh(x + x.mT + torch.diag_embed(6.0 * torch.arange(x.shape[-1])))
    return torch.cat((values[..., None, :], vectors.square()), dim=-2)


def moves():
    """The operations of tests/ops/shapes.cpp."""
    image, windows = (2, 3, 6, 5), dict(dilation=(1, 2), padding=(1, 0), stride=(2, 1))
    case("pad", lambda x: F.pad(x, (1, 2, 0, 3), value=0.5), x=normal(*image))
    case("pad_crop", lambda x: F.pad(x, (-1, 2, 3, -2)), x=normal(*image))
    for mode, amounts in (("reflect", (4, 2, 1, 3)), ("replicate", (6, 1, 0, 3)), ("circular", (3, 5, 2, 1))):
        case(f"pad_{mode}", lambda x: F.pad(x, amounts, mode=mode), x=normal(*image))
    case("tril_of_2", lambda x: torch.tril(x, -2), x=normal(3, 7, 4))
    case("triu", lambda x: torch.triu(x, 1), x=normal(3, 7, 4))
    case("diagonal", lambda x: torch.diagonal(x, 1, 0, -1), x=normal(4, 3, 6))
    case("diag_embed", lambda x: torch.diag_embed(x, -2, 0, -1), x=normal(3, 4))
    case("unfold", lambda x: F.unfold(x, (3, 2), **windows), x=normal(2, 3, 7, 6))
    case("fold", lambda x: F.fold(x, (7, 6), (3, 2), **windows), x=normal(2, 12, 16))
    for name, equation, *shapes in (
            ("matrices", "bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("three", "bi,ijk,bk->bj", (2, 3), (3, 4, 5), (2, 5)),
            ("elements", "ij,ji->ij", (3, 4), (4, 3)), ("outer", "i,jk", (3,), (2, 4)),
            ("diagonal", "iji,jk->ki", (3, 4, 3), (4, 2)), ("alone", "ikj->ji", (3, 4, 5)),
            ("dots", "a...ij,...jk->...ik", (2, 3, 1, 4, 5), (6, 5, 2)), ("ones", "ij,jk,lj->kl", (1, 1), (4, 3), (2, 4))):
        case(f"einsum_{name}", lambda *x: torch.einsum(equation, *x), **dict(zip("abc", (normal(*s) for s in shapes))))
    square = lambda *shape: torch.rand(*shape).mul(2).sub(1).requires_grad_()
    shifted = lambda x, by: x + by * torch.eye(x.shape[-1])
    case("inv", lambda x: torch.linalg.inv(shifted(x, 4)), x=square(2, 3, 5, 5))
    case("solve", lambda a, b: torch.linalg.solve(shifted(a, 4), b), a=square(2, 1, 4, 4), b=normal(3, 4, 2))
    case("solve_vectors", lambda a, b: torch.linalg.solve(shifted(a, 4), b), a=square(2, 4, 4), b=normal(2, 4))
    for name, upper, unit in (("solve_triangular", True, False), ("solve_unit_triangular", False, True)):
        case(name, lambda a, b: torch.linalg.solve_triangular(shifted(a, 4), b, upper=upper, unitriangular=unit),
             a=square(2, 4, 4), b=normal(2, 4, 3))
    case("det", lambda x: torch.linalg.det(shifted(x, 2)), x=square(2, 2, 4, 4))
    case("slogdet", lambda x: torch.linalg.slogdet(shifted(x, -3))[1], x=square(2, 4, 4))
    case("cholesky", lambda x: torch.linalg.cholesky(positive(x)), x=normal(2, 5, 5))
    case("eigh", eigen, x=normal(2, 4, 4))
    case("qr", lambda x: torch.cat(torch.linalg.qr(x), dim=-2), x=normal(2, 5, 3))
    case("svdvals", torch.linalg.svdvals, x=normal(2, 3, 5))


SIGNS = torch.tensor([1.0, -1, -1, 1, 1, -1, 1, -1])
CLASSES = torch.tensor([3, 0, -100, 7, 2, 2])
ALL_CLASSES = torch.tensor([3, 0, 4, 7, 2, 2])
three = lambda x: x.reshape(2, 3, 8)

# More functions of composed_parity_test.cpp.
COMPOSED_SHAPES = {
    "roll": (lambda a: torch.roll(a, (2, -3), (0, 1)), 1), "repeat": (lambda a: a.repeat(2, 1, 3), 1),
    "tile": (lambda a: torch.tile(a, (2,)), 1), "repeat_interleave": (lambda a: a.repeat_interleave(3, dim=0), 1),
    "pieces": (lambda a: a.chunk(4, 1)[3] * a.unbind(0)[1][0] + a.chunk(4, 1)[0], 1),
    "movedim": (lambda a: three(a).movedim((0, 1), (2, 0)), 1), "flips": (lambda a: three(a).flip((0, 2)), 1),
    "grid": (lambda a, b: torch.mul(*torch.meshgrid(a[0], b[1], indexing="ij")), 2),
    "dims": (lambda a: three(a).sum((0, 2)) + three(a).mean((-1, 0)) + three(a).var((0, 2)) + three(a).std((0, 2), correction=0), 1),
    "extremes": (lambda a: three(a).amax((0, 2)) - three(a).amin((0, -1)) + torch.logsumexp(three(a), (0, 2)), 1),
    "norms": (lambda a: sum(torch.linalg.vector_norm(three(a), order, (0, 2)) for order in (1, 2, 3, torch.inf, -torch.inf)), 1),
    "addmm": (lambda a, b, c: torch.addmm(c[:, :6], a, b.mT, beta=0.5, alpha=2) + torch.mv(a, b[0])[:, None] * torch.dot(a[0], b[0]), 3),
    "baddbmm": (lambda a, b, c: torch.baddbmm(c[0, :3], three(a), three(b).mT, beta=0.5, alpha=2), 3),
    "kron": (lambda a, b: torch.kron(a[:2], b[:, :3]), 2),
    "cross": (lambda a, b: torch.linalg.cross(three(a), three(b), dim=1), 2),
    "smoothed": (lambda a: F.cross_entropy(a, CLASSES, weight=torch.linspace(0.2, 1.6, 8), label_smoothing=0.2), 1),
    "smoothed_sum": (lambda a: F.cross_entropy(a, CLASSES, reduction="sum", label_smoothing=0.2), 1),
    "hinge": (lambda a: F.hinge_embedding_loss(a, SIGNS.expand(6, 8), margin=0.5), 1),
    "ranking": (lambda a, b: F.margin_ranking_loss(a, b, SIGNS.expand(6, 8), margin=0.2), 2),
    "soft_margin": (lambda a: F.soft_margin_loss(a, SIGNS.expand(6, 8)), 1),
    "cosine_embedding": (lambda a, b: F.cosine_embedding_loss(a, b, SIGNS[:6], margin=0.5), 2),
    "poisson": (lambda a, b: F.poisson_nll_loss(a, 4 * b, full=True) + F.poisson_nll_loss(a, b, log_input=False, reduction="sum"), 2),
    "gaussian": (lambda a, b, c: F.gaussian_nll_loss(a, b, c, full=True), 3),
    "multi_margin": (lambda a: F.multi_margin_loss(a, ALL_CLASSES) + F.multi_margin_loss(a, ALL_CLASSES, p=2), 1),
    "lstsq": (lambda a, b: torch.linalg.lstsq(a[:, :4], b).solution, 2),
    "right_triangle": (lambda a, b: torch.linalg.solve_triangular(a[:4, :4] + 2 * torch.eye(4), b[:, :4], upper=True, left=False), 2),
}


def composed_shapes():
    for name, (function, count) in COMPOSED_SHAPES.items():
        case(f"composed_{name}", function, **{key: torch.rand(6, 8).mul(0.9).add(0.05).requires_grad_()
                                              for key in "abc"[:count]})


def fused():
    """Operations that fusion rules are made of, and what they become."""
    case("log_softmax", lambda x: F.log_softmax(x, dim=-1), x=normal(5, 31, scale=3.0))
    targets = torch.tensor([[1, 2, -100, 4], [0, 30, 7, 7]])
    case("nll_loss", lambda x, t: F.nll_loss(x.reshape(-1, 31), t.reshape(-1).long(), ignore_index=-100),
         log_probabilities=normal(2, 4, 31, scale=2.0), targets=targets.int())
    case("tril", lambda x: torch.tril(x, diagonal=2), x=normal(3, 7, 9))
    later = torch.ones(7, 9, dtype=torch.bool).triu(diagonal=3)
    case("causal_mask", lambda x: F.softmax(x.masked_fill(later, -torch.inf), dim=-1), scores=normal(3, 7, 9))
    case("linear_gelu_tanh", lambda x, w, b: F.gelu(F.linear(x, w, b), approximate="tanh"),
         x=normal(2, 11, 40), weight=normal(50, 40, scale=0.2), bias=normal(50))
    case("mlp_gelu_tanh", lambda x, w, b, p, c: F.linear(F.gelu(F.linear(x, w, b), approximate="tanh"), p, c),
         x=normal(2, 11, 20), weight=normal(30, 20, scale=0.2), bias=normal(30), projection=normal(7, 30),
         projection_bias=normal(7))
    case("add_rms_norm", lambda a, b, w: torch.cat((a + b, F.rms_norm(a + b, (40,), w, 1e-6)), dim=0),
         a=normal(2, 7, 40), b=normal(2, 7, 40), weight=normal(40))
    case("add_layer_norm", lambda a, b, w, c: torch.cat((a + b, F.layer_norm(a + b, (40,), w, c)), dim=0),
         a=normal(2, 7, 40), b=normal(2, 7, 40), weight=normal(40), bias=normal(40))


def grid(x):
    """Places that reach a little over the edges of an image."""
    return torch.tanh(x) * 1.2


def toolbox():
    """More operations of the catalogue, and functions of composed_parity_test.cpp."""
    torch.manual_seed(4321)  # whatever comes before
    labels = torch.tensor([[1, 3, 3, 2], [2, 2, 1, 1], [3, 1, 2, 3]])
    case("ctc_loss", lambda x, t: F.ctc_loss(F.log_softmax(x, -1), t.long() + 1, torch.tensor([8, 9, 9]),
                                             torch.tensor([4, 4, 3]), reduction="none"),
         scores=normal(9, 3, 4), labels=(labels - 1).int())

    def svd(x):
        u, s, vh = torch.linalg.svd(x, full_matrices=False)
        return torch.cat([part.flatten() for part in (u.square(), s, vh.square(), u @ vh)])

    case("svd", svd, x=normal(2, 5, 3))
    case("pinv", torch.linalg.pinv, x=normal(2, 3, 5))

    spread = lambda x: torch.linalg.matrix_norm(x, 2) + torch.linalg.matrix_norm(x, 1) * torch.linalg.matrix_norm(x, torch.inf)
    lengths, targets = torch.tensor([6, 4]), torch.tensor([2, 1, 1, 3, 1])
    bags, offsets = torch.tensor([3, 0, 3, 1, 5]), torch.tensor([0, 2, 2])
    samples = lambda x: three(x).reshape(2, 3, 2, 4)
    places = lambda x: grid(x.sub(0.5).mul(4)).reshape(2, 4, 3, 2)
    composed = {
        "prod_of_dims": (lambda a: three(a).prod(2).prod(0) + three(a).prod(2, keepdim=True).prod(0, keepdim=True).flatten(), 1),
        "pairwise_distance": (lambda a, b: F.pairwise_distance(a, b) + F.pairwise_distance(a, b, p=3), 2),
        "cdist": (lambda a, b: torch.cdist(three(a), three(b)[:, :2]) + torch.cdist(three(a), three(b)[:, :2], p=1), 2),
        "cov": (lambda a: torch.cov(a) + torch.corrcoef(a), 1),
        "trace": (lambda a, b: torch.trace(a @ b.mT) * torch.vdot(a[0], b[0]), 2),
        "nan_to_num": (lambda a, b: torch.nan_to_num(a.masked_fill(b > 0.5, torch.nan), 0.25), 2),
        "bincount_weights": (lambda a: torch.zeros(7).index_add(0, torch.tensor([5, 0, 2, 2, 5, 1]), a[:, 0]), 1),
        "multilabel_soft_margin": (lambda a, b: F.multilabel_soft_margin_loss(a, b.round(), weight=torch.linspace(0.2, 1.6, 8)), 2),
        "multilabel_margin": (lambda a: F.multilabel_margin_loss(a, torch.tensor([[3, 0, -1, 2, -1, -1, -1, 1], [7, 1, 2, 3, 4, 5, 6, 0]] * 3)), 1),
        "embedding_bag_max": (lambda a: F.embedding_bag(torch.tensor([[5, 0], [2, 2], [4, 1]]), a, mode="max"), 1),
        "embedding_bag_max_offsets": (lambda a: F.embedding_bag(bags, a, offsets, mode="max"), 1),
        "matrix_norms": (lambda a: spread(a) + torch.linalg.matrix_norm(a) * torch.linalg.matrix_norm(a, "nuc"), 1),
        "ctc": (lambda a: F.ctc_loss(F.log_softmax(5 * a.reshape(6, 2, 4), -1), targets, lengths, torch.tensor([3, 2])), 1),
        "ctc_infinite": (lambda a: F.ctc_loss(F.log_softmax(5 * a.reshape(6, 2, 4), -1), targets, torch.tensor([3, 4]),
                                              torch.tensor([3, 2]), reduction="sum", zero_infinity=True), 1),
        "grid_sample": (lambda a, b: F.grid_sample(samples(a), places(b), align_corners=False), 2),
        "grid_sample_corners": (lambda a, b: F.grid_sample(samples(a), places(b), align_corners=True), 2),
        "grid_sample_border": (lambda a, b: F.grid_sample(samples(a), places(b), padding_mode="border", align_corners=False), 2),
        "grid_sample_nearest": (lambda a, b: F.grid_sample(samples(a), places(b.detach()), mode="nearest", align_corners=False), 2),
        "affine_grid": (lambda a: F.affine_grid(a.flatten()[:12].reshape(2, 2, 3), (2, 3, 4, 5), align_corners=False).sum(0)
                        + F.affine_grid(a.flatten()[:12].reshape(2, 2, 3), (2, 3, 4, 5), align_corners=True)[0], 1),
    }
    for name, (function, count) in composed.items():
        case(f"composed_{name}", function, **{key: torch.rand(6, 8).mul(0.9).add(0.05).requires_grad_()
                                              for key in "abc"[:count]})


def more_layers():
    """With the options of tests/parity/layers_parity_test.cpp."""
    torch.manual_seed(2468)  # whatever comes before
    options = dict(dim_feedforward=12, dropout=0.0, batch_first=True)
    layer("Transformer", torch.nn.Transformer(8, 2, 2, 2, **options),
          lambda m, x, z: m(x, z, tgt_mask=torch.nn.Transformer.generate_square_subsequent_mask(5)),
          normal(3, 4, 8), normal(3, 5, 8))
    layer("Bilinear", torch.nn.Bilinear(4, 3, 5), lambda m, x, z: m(x, z), normal(2, 6, 4), normal(2, 6, 3))
    layer("PReLU", torch.nn.PReLU(3), lambda m, x: m(x), normal(2, 3, 4))
    layer("LSTMCell", torch.nn.LSTMCell(4, 6), lambda m, x, z: torch.cat(m(x, (z, 2 * z)), 1), normal(3, 4), normal(3, 6))
    layer("GRUCell", torch.nn.GRUCell(4, 6), lambda m, x, z: m(x, z), normal(3, 4), normal(3, 6))


OPTIMIZERS = {
    "Adamax": dict(lr=0.01, betas=(0.8, 0.9), weight_decay=0.5), "NAdam": dict(lr=0.01, betas=(0.8, 0.9), weight_decay=0.5),
    "RAdam": dict(lr=0.01, betas=(0.8, 0.9), weight_decay=0.5), "Adagrad": dict(lr=0.1, lr_decay=0.2, initial_accumulator_value=0.3),
    "RMSprop": dict(lr=0.01, alpha=0.9, momentum=0.7, centered=True, weight_decay=0.5)}


def optimizers():
    """Parameters after some steps, and the losses of L-BFGS at the start of each of its steps."""
    torch.manual_seed(1357)  # whatever comes before
    for name, options in OPTIMIZERS.items():
        p, g = normal(3, 4), torch.randn(8, 3, 4)
        tensors[f"optimizer_{name}/start"], tensors[f"optimizer_{name}/gradients"] = p.detach().clone(), g
        optimizer = getattr(torch.optim, name)([p], **options)
        for gradient in g:
            p.grad = gradient.clone()
            optimizer.step()
        tensors[f"optimizer_{name}/end"] = p.detach().clone()
    for search in ("strong_wolfe", None):
        x = torch.tensor([-1.2, 1], dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.LBFGS([x], lr=1 if search else 0.002, max_iter=4, history_size=3, line_search_fn=search)

        def closure():
            optimizer.zero_grad()
            loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
            loss.backward()
            return loss

        losses = [optimizer.step(closure).item() for _ in range(8)]
        tensors[f"optimizer_LBFGS_{search or 'none'}/losses"] = torch.tensor(losses)
    schedulers = {
        "MultiStepLR": lambda o, s: s.MultiStepLR(o, [2, 5, 11], gamma=0.3),
        "CosineAnnealingWarmRestarts": lambda o, s: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.1),
        "CyclicLR": lambda o, s: s.CyclicLR(o, 0.1, 1.0, 4, 3, mode="triangular2", cycle_momentum=False),
        "CyclicLR_exp": lambda o, s: s.CyclicLR(o, 0.1, 1.0, 4, mode="exp_range", gamma=0.9, cycle_momentum=False)}
    for name, make in schedulers.items():
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        scheduler, rates = make(optimizer, torch.optim.lr_scheduler), []
        for _ in range(24):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        tensors[f"scheduler_{name}/rates"] = torch.tensor(rates)


def gpt2_parameters():
    channels = CONFIG["n_embd"]
    shapes = {"wte.weight": (CONFIG["vocab_size"], channels), "wpe.weight": (CONFIG["n_positions"], channels)}
    for i in range(CONFIG["n_layer"]):
        for name, out, into in (("attn.c_attn", 3, 1), ("attn.c_proj", 1, 1), ("mlp.c_fc", 4, 1), ("mlp.c_proj", 1, 4)):
            shapes[f"h.{i}.{name}.weight"] = (out * channels, into * channels)
            shapes[f"h.{i}.{name}.bias"] = (out * channels,)
        for name in ("ln_1", "ln_2"):
            shapes[f"h.{i}.{name}.weight"] = shapes[f"h.{i}.{name}.bias"] = (channels,)
    shapes["ln_f.weight"] = shapes["ln_f.bias"] = (channels,)
    parameters = {name: 0.2 * torch.randn(shape) for name, shape in shapes.items()}
    for name, value in parameters.items():
        if ".ln_" in f".{name}" and name.endswith("weight"):
            value += 1
        value.requires_grad_()
    return parameters


def gpt2_loss(p, tokens, targets):
    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"])

    def linear(x, name):
        return F.linear(x, p[f"{name}.weight"], p[f"{name}.bias"])

    x = p["wte.weight"][tokens] + p["wpe.weight"][torch.arange(tokens.shape[1])]
    for i in range(CONFIG["n_layer"]):
        h = f"h.{i}"
        attended = causal_attention(linear(norm(x, f"{h}.ln_1"), f"{h}.attn.c_attn"), CONFIG["n_head"])
        x = x + linear(attended, f"{h}.attn.c_proj")
        x = x + linear(F.gelu(linear(norm(x, f"{h}.ln_2"), f"{h}.mlp.c_fc"), approximate="tanh"), f"{h}.mlp.c_proj")
    logits = F.linear(norm(x, "ln_f"), p["wte.weight"])
    return F.cross_entropy(logits.reshape(-1, CONFIG["vocab_size"]), targets.reshape(-1), ignore_index=-100)


def gpt2():
    parameters = gpt2_parameters()
    tokens, targets = (torch.randint(0, CONFIG["vocab_size"], (3, 13)) for _ in range(2))
    targets[1, 4] = -100
    loss = gpt2_loss(parameters, tokens, targets)
    loss.backward()
    tensors["gpt2/tokens"], tensors["gpt2/targets"], tensors["gpt2/loss"] = tokens.int(), targets.int(), loss.detach()
    for name, value in parameters.items():
        tensors[f"gpt2/parameter/{name}"], tensors[f"gpt2/gradient/{name}"] = value.detach(), value.grad


def sequences():
    """All steps of recurrent networks; the padded ones, half of them backwards, with lengths."""
    torch.manual_seed(99)  # whatever comes before
    lengths = torch.tensor([4, 0, 2])

    def run(step, x, h, c, backward, lengths):
        outputs = [None] * len(x)
        for t in reversed(range(len(x))) if backward else range(len(x)):
            inside = (t < lengths).float()[:, None] if lengths is not None else 1.0
            next_h, next_c = step(x[t], h, c)
            outputs[t] = next_h * inside
            h, c = h + (next_h - h) * inside, None if c is None else c + (next_c - c) * inside
        return torch.cat((torch.stack(outputs), h[None]) + (() if c is None else (c[None],)))

    def lstm(x, w, b, h, c, backward, lengths):
        return run(lambda x, h, c: lstm_cell(x, h @ w.T + b, c).chunk(2), x, h, c, backward, lengths)

    def gru(x, w, b, h, backward, lengths):
        return run(lambda x, h, _: (gru_cell(x, h @ w.T + b, h), None), x, h, None, backward, lengths)

    def rnn(x, w, b, h, backward, lengths):
        return run(lambda x, h, _: (torch.tanh(x + h @ w.T + b), None), x, h, None, backward, lengths)

    for name, function, gates, backwards in ("lstm", lstm, 4, (False, True)), ("gru", gru, 3, (True, False)), ("rnn", rnn, 1, (False, True)):
        for end, backward, limits in ("", backwards[0], None), ("_padded", backwards[1], lengths):
            states = dict(h=normal(3, 7)) | (dict(c=normal(3, 7)) if gates == 4 else {})
            case(f"{name}_sequence{end}", lambda *x: function(*x, backward, limits),
                 from_x=normal(5, 3, gates * 7), weight=normal(gates * 7, 7), bias=normal(gates * 7), **states)


def write(path):
    """The safetensors format, by hand: it needs no package."""
    header, data = {"__metadata__": {"torch": torch.__version__}}, b""
    for name, value in sorted(tensors.items()):
        raw = value.contiguous().numpy().tobytes()
        header[name] = {"dtype": {torch.float32: "F32", torch.int32: "I32"}[value.dtype], "shape": list(value.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    torch.manual_seed(1234)
    operations()
    gpt2()
    linear_cross_entropy()
    llama_operations()
    pointwise()
    pairwise()
    along()
    composed()
    sums()
    fused()
    images()
    recurrent()
    layers()
    indexing()
    moves()
    composed_shapes()
    toolbox()
    sequences()
    more_layers()
    optimizers()
    write(sys.argv[1])

#!/usr/bin/env python3
"""Reads a GGUF file with llama.cpp's own Python package and compares it with the Hugging Face folder it was made from.

A tool for developers, no test:

    venv/bin/pip install gguf safetensors numpy torch
    venv/bin/python check_gguf.py <folder of transformers> <file.gguf>

Checks that each tensor has the name that llama.cpp's tables give it, its values (those of queries and keys of a Llama
in llama.cpp's order), and that the sizes in the keys are those of config.json.
"""
import json
import pathlib
import sys

import gguf
import numpy as np
import torch
from safetensors import safe_open


def weights(folder):
    """Names and float32 values, Conv1D matrices as [out, in]."""
    for path in sorted(folder.glob("model*.safetensors")):
        with safe_open(path, "pt") as file:
            for name in file.keys():
                value = file.get_tensor(name).to(torch.float32)
                if name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
                    value = value.T
                yield name, value.contiguous()


def reordered(name, value, config):
    """llama.cpp's rotary embedding turns neighbours: of each head the rows of both halves alternate."""
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}
    for part, key in heads.items():
        if f"{part}." in name:
            count = config.get(key) or config["num_attention_heads"]
            shape = (count, 2, value.shape[0] // count // 2, *value.shape[1:])
            return value.reshape(shape).swapaxes(1, 2).reshape(value.shape)
    return value


def stored(tensor):
    """A tensor of the file in float32."""
    data = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    return np.asarray(data, np.float32).reshape([int(n) for n in reversed(tensor.shape)])


def main(folder, path):
    config = json.loads((folder / "config.json").read_text())
    reader = gguf.GGUFReader(path)
    architecture = reader.get_field("general.architecture").contents()
    kind = {name: arch for arch, name in gguf.MODEL_ARCH_NAMES.items()}[architecture]
    layers = config.get("n_layer") or config["num_hidden_layers"]
    names = gguf.get_tensor_name_map(kind, layers)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    worst = 0.0
    for name, value in weights(folder):
        theirs = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert theirs in tensors, f"{name} should be {theirs}, which is not in the file"
        tensor = tensors.pop(theirs)
        expected = reordered(name, value, config).numpy()
        bits = {"F32": 24, "F16": 11, "BF16": 8}[tensor.tensor_type.name]
        error = np.abs(stored(tensor) - expected) / np.maximum(np.abs(expected), 6.2e-5)
        assert error.max() <= 2.0 ** -bits, f"{theirs} differs by {error.max()}"
        worst = max(worst, float(error.max()))
    if "rope_freqs.weight" in tensors:
        factors = stored(tensors.pop("rope_freqs.weight"))
        rope = config.get("rope_parameters") or config["rope_scaling"]
        theta = rope.get("rope_theta") or config["rope_theta"]
        from transformers import LlamaConfig
        from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
        scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](LlamaConfig(**config), "cpu")
        head = 2 * len(factors)
        plain = 1.0 / theta ** (torch.arange(0, head, 2) / head)
        np.testing.assert_allclose(factors, (plain / scaled).numpy(), rtol=1e-5)
    assert not tensors, f"tensors that the folder does not have: {sorted(tensors)}"
    for key, ours in {"context_length": ("n_positions", "max_position_embeddings"), "block_count": ("n_layer", "num_hidden_layers"),
                      "embedding_length": ("n_embd", "hidden_size"),
                      "attention.head_count": ("n_head", "num_attention_heads")}.items():
        expected = next(config[name] for name in ours if name in config)
        assert reader.get_field(f"{architecture}.{key}").contents() == expected, key
    print(f"{path}: {len(reader.tensors)} tensors, {len(reader.fields)} keys, largest relative difference {worst:.1e}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])

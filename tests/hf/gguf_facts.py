#!/usr/bin/env python3
"""Writes gguf_facts.json: what a GGUF file of some of the folders here must hold, and gguf_vocabularies.json: what the
files of a SentencePiece vocabulary become in one.

Only needed to change the reference data; the test reads the stored file.

    venv/bin/pip install gguf safetensors transformers sentencepiece numpy torch && venv/bin/python gguf_facts.py

Names of tensors and keys are those of llama.cpp's own Python package. Weights of queries and keys are in llama.cpp's order:
of each head, the rows of both halves alternate. A tensor is stored as its shape, type and the 64-bit FNV-1a hash of its
bytes; rope_freqs.weight, which is computed, as its numbers.
"""
import json
import pathlib
import shutil
import tempfile

import gguf
import numpy as np
import torch
from safetensors import safe_open
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

HERE = pathlib.Path(__file__).parent
CASES = {"llama-grouped": "f32", "llama-tied": "f32", "llama-one-key-head": "f32", "llama-one-head": "f16",
         "llama-scaled": "f16", "llama-linear": "f32", "mistral-window": "f32", "mistral-no-window": "f16"}
ROPE_FREQS = "rope_freqs.weight"

# Files beside sentencepiece_bpe/tokenizer.model, which has 900 pieces.
VOCABULARY = "sentencepiece_bpe"
VOCABULARIES = [
    {"config.json": {}},
    {"config.json": {"bos_token_id": 1, "eos_token_id": [2, 5], "pad_token_id": None},
     "tokenizer_config.json": {"add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": "</s>"}},
    {"config.json": {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "unk_token_id": 0},
     "tokenizer_config.json": {"add_bos_token": False, "add_eos_token": True},
     "added_tokens.json": {"<|user|>": 900, "<|bot|>": 901, "</s>": 2}}]


def hash_of(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def weights(folder):
    with safe_open(folder / "model.safetensors", "pt") as file:
        for name in file.keys():
            yield name, file.get_tensor(name).to(torch.float32).numpy()


def reordered(name, value, config):
    for part, heads in {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}.items():
        if f"{part}." in name:
            halves = value.reshape(heads, 2, value.shape[0] // heads // 2, *value.shape[1:])
            return halves.swapaxes(1, 2).reshape(value.shape)
    return value


def keys_of(config):
    rope = config["rope_parameters"]
    head = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    keys = {gguf.Keys.LLM.CONTEXT_LENGTH: config["max_position_embeddings"],
            gguf.Keys.LLM.EMBEDDING_LENGTH: config["hidden_size"], gguf.Keys.LLM.BLOCK_COUNT: config["num_hidden_layers"],
            gguf.Keys.LLM.FEED_FORWARD_LENGTH: config["intermediate_size"], gguf.Keys.LLM.VOCAB_SIZE: config["vocab_size"],
            gguf.Keys.Attention.HEAD_COUNT: config["num_attention_heads"],
            gguf.Keys.Attention.HEAD_COUNT_KV: config["num_key_value_heads"],
            gguf.Keys.Attention.LAYERNORM_RMS_EPS: config["rms_norm_eps"], gguf.Keys.Attention.KEY_LENGTH: head,
            gguf.Keys.Attention.VALUE_LENGTH: head, gguf.Keys.Rope.DIMENSION_COUNT: head,
            gguf.Keys.Rope.FREQ_BASE: rope["rope_theta"]}
    if config.get("sliding_window"):
        keys[gguf.Keys.Attention.SLIDING_WINDOW] = config["sliding_window"]
    if rope["rope_type"] == "linear":
        keys[gguf.Keys.Rope.SCALING_TYPE] = "linear"
        keys[gguf.Keys.Rope.SCALING_FACTOR] = rope["factor"]
    return {key.format(arch="llama"): value for key, value in keys.items()}


def rope_factors(config):
    """How much slower each wave turns than without scaling."""
    scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](LlamaConfig(**config), "cpu")
    plain = 1.0 / config["rope_parameters"]["rope_theta"] ** (torch.arange(0, 2 * len(scaled), 2) / (2 * len(scaled)))
    return [float(x) for x in plain / scaled]


def facts(name, type):
    folder = HERE / name
    config = json.loads((folder / "config.json").read_text())
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    tensors = {}
    for theirs, value in weights(folder):
        own = type if value.ndim > 1 else "f32"
        data = reordered(theirs, value, config).astype(np.float16 if own == "f16" else np.float32)
        tensors[names.get_name(theirs, try_suffixes=(".weight", ".bias"))] = {
            "dimensions": list(reversed(value.shape)), "type": int(gguf.GGMLQuantizationType[own.upper()]),
            "hash": hash_of(data.tobytes())}
    result = {"folder": name, "type": type, "keys": keys_of(config), "tensors": tensors}
    if config["rope_parameters"]["rope_type"] == "llama3":
        result[ROPE_FREQS] = rope_factors(config)
    return result


def vocabulary_facts(files):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(HERE.parent / "tokenizers" / VOCABULARY / "tokenizer.model", folder)
        for name, content in files.items():
            (folder / name).write_text(json.dumps(content))
        vocabulary = gguf.vocab.SentencePieceVocab(folder)
        special = gguf.SpecialVocab(folder)
    return facts_of(VOCABULARY, files, vocabulary, special, *zip(*vocabulary.all_tokens()))


def facts_of(name, files, vocabulary, special, tokens, scores, types):
    # Separators are for the two texts that a classifier compares.
    keys = {f"tokenizer.ggml.add_{name}_token": value for name, value in special.add_special_token.items() if name != "sep"}
    names = {"unk": "unknown", "pad": "padding"}
    keys |= {f"tokenizer.ggml.{names.get(name, name)}_token_id": id for name, id in special.special_token_ids.items()}
    return {"vocabulary": name, "files": files, "model": vocabulary.tokenizer_model, "keys": keys,
            "tokens": [text.decode() for text in tokens], "scores": scores, "types": [int(type) for type in types]}


def json_vocabulary_facts(name):
    """Of a tokenizer.json that was a SentencePiece model. llama.cpp's package gives its pieces no scores of their own."""
    files = {"config.json": {"bos_token_id": 1, "eos_token_id": 2},
             "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
                                       "unk_token": "<unk>"}}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(HERE.parent / "tokenizers" / name / "tokenizer.json", folder)
        for file, content in files.items():
            (folder / file).write_text(json.dumps(content))
        vocabulary = gguf.LlamaHfVocab(folder)
        special = gguf.SpecialVocab(folder)
        tokens, scores, types = map(list, zip(*vocabulary.all_tokens()))
        merges = json.loads((folder / "tokenizer.json").read_text())["model"]["merges"]
    for rank, (left, right) in reversed(list(enumerate(merges))):
        scores[tokens.index((left + right).encode())] = -float(rank)
    return facts_of(name, files, vocabulary, special, tokens, scores, types)


if __name__ == "__main__":
    vocabularies = [vocabulary_facts(files) for files in VOCABULARIES] + [json_vocabulary_facts("llama2")]
    text = json.dumps(vocabularies, separators=(",", ":"), ensure_ascii=False)
    (HERE / "gguf_vocabularies.json").write_text(text.replace('{"vocabulary"', '\n{"vocabulary"') + "\n")
    text = json.dumps([facts(name, type) for name, type in CASES.items()], separators=(",", ":"))
    (HERE / "gguf_facts.json").write_text(text.replace('},"', '},\n"').replace('{"folder"', '\n{"folder"') + "\n")

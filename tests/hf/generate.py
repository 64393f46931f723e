#!/usr/bin/env python3
"""Writes folders of tiny models that transformers made, and beside each what transformers computes with it.

Only needed to change the reference data; the tests read the stored files.

    python3 -m venv venv && venv/bin/pip install torch transformers && venv/bin/python generate.py .

A folder holds config.json and model.safetensors as save_pretrained() writes them, and reference.safetensors:

    input_ids      int64 [B, T]
    targets        int64 [B, T], the token to predict at each position; -100 where there is none
    logits         [B, T, V]
    loss           [], the mean over the targets
    gradient/NAME  of every parameter
    adamw/losses   [10], before each of ten steps of AdamW on this batch with the options in the metadata

All in float32 on the CPU.
"""
import json
import pathlib
import shutil
import sys

import safetensors.torch
import torch
import transformers
from transformers import (GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, MistralConfig,
                          MistralForCausalLM)

ADAMW = {"lr": 1e-2, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1}
STEPS = 10


def gpt2(**options):
    config = GPT2Config(**({"n_positions": 16, "n_layer": 2, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
                            "bos_token_id": 0, "eos_token_id": 0} | options))
    return GPT2LMHeadModel, config


def llama_options(options):
    return {"num_hidden_layers": 2, "max_position_embeddings": 32, "initializer_range": 0.2, "bos_token_id": 1,
            "eos_token_id": 2} | options


def llama(**options):
    return LlamaForCausalLM, LlamaConfig(**llama_options(options))


def mistral(**options):
    return MistralForCausalLM, MistralConfig(**llama_options(options))


# name: (model, batch, length). Sizes are odd on purpose: no multiple of 8, one head, one head of keys, one token.
CASES = {
    "gpt2-tied": (gpt2(vocab_size=29, n_embd=24, n_head=3), 2, 13),
    "gpt2-untied": (gpt2(vocab_size=31, n_embd=20, n_head=2, tie_word_embeddings=False), 3, 16),
    "gpt2-one-head": (gpt2(vocab_size=7, n_embd=10, n_head=1, n_layer=1, layer_norm_epsilon=1e-3), 2, 5),
    "gpt2-one-token": (gpt2(vocab_size=13, n_embd=12, n_head=2, n_layer=3), 3, 1),
    "llama-grouped": (llama(vocab_size=29, hidden_size=24, intermediate_size=44, num_attention_heads=6,
                            num_key_value_heads=2), 2, 13),
    "llama-tied": (llama(vocab_size=31, hidden_size=20, intermediate_size=28, num_attention_heads=2,
                         num_key_value_heads=2, tie_word_embeddings=True, rms_norm_eps=1e-3), 3, 9),
    "llama-one-head": (llama(vocab_size=11, hidden_size=6, intermediate_size=9, num_attention_heads=1,
                             num_key_value_heads=1, num_hidden_layers=1), 2, 7),
    "llama-one-key-head": (llama(vocab_size=37, hidden_size=20, intermediate_size=30, num_attention_heads=4,
                                 num_key_value_heads=1, head_dim=6, attention_bias=True, mlp_bias=True), 2, 11),
    "llama-one-token": (llama(vocab_size=13, hidden_size=16, intermediate_size=20, num_attention_heads=4,
                              num_key_value_heads=2, tie_word_embeddings=True), 3, 1),
    "llama-scaled": (llama(vocab_size=23, hidden_size=32, intermediate_size=36, num_attention_heads=2,
                           num_key_value_heads=1, rope_parameters={
                               "rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0,
                               "high_freq_factor": 4.0, "original_max_position_embeddings": 32}), 2, 29),
    "llama-linear": (llama(vocab_size=19, hidden_size=16, intermediate_size=24, num_attention_heads=2,
                           num_key_value_heads=1, rope_parameters={
                               "rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}), 2, 17),
    "mistral-window": (mistral(vocab_size=29, hidden_size=24, intermediate_size=40, num_attention_heads=4,
                               num_key_value_heads=2, sliding_window=5), 2, 17),
    "mistral-long": (mistral(vocab_size=9, hidden_size=16, intermediate_size=20, num_attention_heads=2,
                             num_key_value_heads=1, head_dim=10, sliding_window=70, max_position_embeddings=256,
                             num_hidden_layers=1, tie_word_embeddings=True), 1, 200),
    "mistral-one-key": (mistral(vocab_size=15, hidden_size=12, intermediate_size=18, num_attention_heads=3,
                                num_key_value_heads=3, sliding_window=1), 2, 6),
    "mistral-no-window": (mistral(vocab_size=21, hidden_size=16, intermediate_size=26, num_attention_heads=4,
                                  num_key_value_heads=1, sliding_window=None), 2, 12),
    "gpt2-inner": (gpt2(vocab_size=17, n_embd=12, n_head=3, n_inner=22), 2, 11),
    "gpt2-gelu": (gpt2(vocab_size=23, n_embd=32, n_head=2, activation_function="gelu"), 2, 9),
    "gpt2-unscaled": (gpt2(vocab_size=19, n_embd=18, n_head=3, activation_function="relu", scale_attn_weights=False),
                      2, 10),
    "gpt2-by-layer": (gpt2(vocab_size=21, n_embd=10, n_head=2, n_layer=3, activation_function="silu",
                           scale_attn_by_inverse_layer_idx=True, reorder_and_upcast_attn=True), 2, 12),
    "llama-yarn": (llama(vocab_size=23, hidden_size=32, intermediate_size=36, num_attention_heads=2,
                         num_key_value_heads=1, rope_parameters={
                             "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
                             "original_max_position_embeddings": 8, "beta_fast": 2.0, "beta_slow": 0.1}), 2, 29),
    "llama-yarn-mscale": (llama(vocab_size=17, hidden_size=24, intermediate_size=30, num_attention_heads=2,
                                num_key_value_heads=2, rope_parameters={
                                    "rope_type": "yarn", "rope_theta": 500.0, "factor": 8.0, "truncate": False,
                                    "beta_fast": 3.0, "beta_slow": 0.2, "mscale": 1.2, "mscale_all_dim": 0.4,
                                    "original_max_position_embeddings": 16}), 2, 21),
    "llama-dynamic": (llama(vocab_size=13, hidden_size=16, intermediate_size=20, num_attention_heads=2,
                            num_key_value_heads=1, rope_parameters={
                                "rope_type": "dynamic", "rope_theta": 1000.0, "factor": 3.0}), 2, 32),
    "mistral-yarn": (mistral(vocab_size=15, hidden_size=20, intermediate_size=24, num_attention_heads=2,
                             num_key_value_heads=1, sliding_window=6, rope_parameters={
                                 "rope_type": "yarn", "rope_theta": 10000.0, "factor": 2.0,
                                 "attention_factor": 1.3, "original_max_position_embeddings": 16}), 2, 19),
}


def make(kind, config):
    """A model whose every parameter is away from its special initial value."""
    config._attn_implementation = "eager"
    if hasattr(config, "initializer_range"):
        config.initializer_range = 0.2
    model = kind(config).float()
    with torch.no_grad():
        for value in model.parameters():
            if value.dim() == 1:
                value += 0.2 * torch.randn(value.shape)
    return model.train()


def draw(vocabulary, batch, length):
    """The targets are the ids shifted as transformers does; of one position, a token of their own."""
    ids = torch.randint(0, vocabulary, (batch, length))
    if length == 1:
        return ids, torch.randint(0, vocabulary, (batch, 1))
    return ids, torch.nn.functional.pad(ids[:, 1:], (0, 1), value=-100)


def run(model, ids, targets):
    model.zero_grad()
    result = model(input_ids=ids, labels=ids, shift_labels=targets, use_cache=False)
    result.loss.backward()
    return result


def adamw_losses(model, ids, targets):
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": ADAMW["weight_decay"]},
                                   {"params": vectors, "weight_decay": 0.0}], lr=ADAMW["lr"],
                                  betas=(ADAMW["beta1"], ADAMW["beta2"]), eps=ADAMW["eps"])
    losses = []
    for _ in range(STEPS):
        losses.append(run(model, ids, targets).loss.item())
        optimizer.step()
    return torch.tensor(losses)


def reference(model, ids, targets):
    result = run(model, ids, targets)
    tensors = {"input_ids": ids, "targets": targets, "logits": result.logits, "loss": result.loss}
    for name, value in model.named_parameters():
        tensors[f"gradient/{name}"] = value.grad.clone()
    tensors["adamw/losses"] = adamw_losses(model, ids, targets)
    return {name: value.detach().contiguous() for name, value in tensors.items()}


def write(folder, kind, config, batch, length):
    shutil.rmtree(folder, ignore_errors=True)
    model = make(kind, config)
    ids, targets = draw(config.vocab_size, batch, length)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    metadata = {"torch": torch.__version__, "transformers": transformers.__version__,
                "adamw": json.dumps(ADAMW)}
    safetensors.torch.save_file(reference(model, ids, targets), folder / "reference.safetensors", metadata)


if __name__ == "__main__":
    for number, (name, ((kind, config), batch, length)) in enumerate(CASES.items()):
        torch.manual_seed(1234 + number)
        write(pathlib.Path(sys.argv[1]) / name, kind, config, batch, length)

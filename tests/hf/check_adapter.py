#!/usr/bin/env python3
"""Loads an adapter that cladtorch wrote with PEFT and compares the scores.

A tool for developers, no test:

    cladtorch eval --from MODEL --adapter ADAPTER --ids ids.safetensors --logits logits.safetensors
    venv/bin/pip install torch transformers peft
    venv/bin/python check_adapter.py MODEL ADAPTER ids.safetensors logits.safetensors [MERGED]

Checks that PEFT adapts each layer that the file has, warns of nothing, and gives the logits to 1e-4; with MERGED, what
`cladtorch merge` wrote, also that transformers gives them.
"""
import pathlib
import sys
import warnings

import peft
import torch
import transformers
from safetensors.torch import load_file


def scores(model, ids):
    with torch.no_grad():
        return model.float().eval()(input_ids=ids, use_cache=False).logits


def compare(name, found, expected):
    difference = (found - expected).abs().max().item()
    print(f"{name}: largest difference of {expected.numel()} scores {difference:.2e}")
    return difference < 1e-4


def main(base, adapter, ids, logits, merged=None):
    ids, expected = load_file(ids)["input_ids"], load_file(logits)["logits"]
    plain = transformers.AutoModelForCausalLM.from_pretrained(base)
    without = scores(plain, ids)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = peft.PeftModel.from_pretrained(plain, adapter)
    state = peft.get_peft_model_state_dict(model)
    stored = load_file(pathlib.Path(adapter) / "adapter_model.safetensors")
    ok = state.keys() == stored.keys() and all(torch.equal(state[name], stored[name]) for name in stored)
    print(f"{len(stored)} tensors, {'all' if ok else 'NOT all'} of them PEFT's")
    ok &= compare("PEFT", scores(model, ids), expected)
    print(f"without the adapter: {(without - expected).abs().max().item():.2e}")
    if merged:
        ok &= compare("merged", scores(transformers.AutoModelForCausalLM.from_pretrained(merged), ids), expected)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

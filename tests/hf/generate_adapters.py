#!/usr/bin/env python3
"""Writes adapters of the tiny models here as PEFT saves them, and what PEFT computes with them.

Only needed to change the reference data; the tests read the stored files.

    venv/bin/pip install torch transformers peft && venv/bin/python generate_adapters.py .

adapters/NAME holds adapter_config.json, whose base_model_name_or_path is the folder of the model beside "adapters",
adapter_model.safetensors, and reference.safetensors:

    input_ids        int64 [B, T]
    targets          int64 [B, T], the token to predict at each position; -100 where there is none
    logits           [B, T, V]
    merged           [B, T, V], of the model with the adapter merged
    loss             [], the mean over the targets
    gradient/NAME    of every tensor of the adapter
    adamw/losses     [10], before each of ten steps of AdamW on the adapter with the options in the metadata

All in float32 on the CPU; dropout is off.
"""
import json
import pathlib
import shutil
import sys

import peft
import safetensors.torch
import torch
import transformers

ADAMW = {"lr": 1e-2, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1}
STEPS = 10

# name: (model, options of LoraConfig, batch, length)
CASES = {
    "gpt2-default": ("gpt2-tied", {"r": 4, "lora_alpha": 8}, 2, 13),
    "gpt2-all": ("gpt2-untied", {"r": 3, "lora_alpha": 5, "use_rslora": True, "target_modules": "all-linear"}, 3, 16),
    "gpt2-pattern": ("gpt2-one-head", {"r": 2, "lora_alpha": 3, "target_modules": r".*\.mlp\.c_(fc|proj)"}, 2, 5),
    "llama-default": ("llama-grouped", {"r": 2, "lora_alpha": 16}, 2, 13),
    "llama-all": ("llama-one-key-head", {"r": 5, "lora_alpha": 2.5, "target_modules": "all-linear"}, 2, 11),
    "llama-one-layer": ("llama-tied", {"r": 1, "target_modules": ["o_proj", "mlp.down_proj"],
                                       "layers_to_transform": [1]}, 3, 9),
    "mistral-dropout": ("mistral-window", {"r": 40, "lora_dropout": 0.1, "target_modules": ["gate_proj", "k_proj"],
                                           "init_lora_weights": "gaussian"}, 2, 17),
}


def make(models, base, options):
    """A model with adapters none of whose tensors has its special initial value."""
    model = transformers.AutoModelForCausalLM.from_pretrained(models / base, attn_implementation="eager").float()
    model = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", **options))
    model.peft_config["default"].base_model_name_or_path = base
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "lora_B" in name:
                value.copy_(0.2 * torch.randn(value.shape))
    return model.eval()


def trained(model):
    """The adapter's tensors by their names in the file."""
    return {name.replace(".default.", "."): value for name, value in model.named_parameters() if value.requires_grad}


def run(model, ids, targets):
    model.zero_grad()
    result = model(input_ids=ids, labels=ids, shift_labels=targets, use_cache=False)
    result.loss.backward()
    return result


def adamw_losses(model, ids, targets):
    optimizer = torch.optim.AdamW(trained(model).values(), lr=ADAMW["lr"], betas=(ADAMW["beta1"], ADAMW["beta2"]),
                                  eps=ADAMW["eps"], weight_decay=ADAMW["weight_decay"])
    losses = []
    for _ in range(STEPS):
        losses.append(run(model, ids, targets).loss.item())
        optimizer.step()
    return torch.tensor(losses)


def write(models, folder, base, options, batch, length):
    shutil.rmtree(folder, ignore_errors=True)
    model = make(models, base, options)
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    ids = torch.randint(0, model.config.vocab_size, (batch, length))
    targets = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=-100)
    result = run(model, ids, targets)
    tensors = {"input_ids": ids, "targets": targets, "logits": result.logits, "loss": result.loss}
    for name, value in trained(model).items():
        tensors[f"gradient/{name}"] = value.grad.clone()
    tensors["adamw/losses"] = adamw_losses(model, ids, targets)
    again = peft.PeftModel.from_pretrained(transformers.AutoModelForCausalLM.from_pretrained(models / base), folder)
    tensors["merged"] = again.merge_and_unload()(input_ids=ids).logits
    assert torch.allclose(tensors["merged"], tensors["logits"], atol=1e-4)
    metadata = {"torch": torch.__version__, "transformers": transformers.__version__, "peft": peft.__version__,
                "adamw": json.dumps(ADAMW)}
    tensors = {name: value.detach().contiguous() for name, value in tensors.items()}
    safetensors.torch.save_file(tensors, folder / "reference.safetensors", metadata)


if __name__ == "__main__":
    models = pathlib.Path(sys.argv[1])
    for number, (name, (base, options, batch, length)) in enumerate(CASES.items()):
        torch.manual_seed(4321 + number)
        write(models, models / "adapters" / name, base, options, batch, length)

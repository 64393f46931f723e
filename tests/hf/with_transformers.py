#!/usr/bin/env python3
"""Loads what the program writes with transformers, and compares.

A tool for developers, no test:

    venv/bin/pip install torch transformers safetensors sentencepiece
    venv/bin/python tests/hf/with_transformers.py build/release/apps/cladtorch

1. Each stored folder here is exported: as it is, in shards, and in bfloat16. transformers must load it without missing or
   unexpected tensors, to the same configuration, and give the logits that it gave for the original and those that
   `cladtorch eval` writes for the export.
2. Runs of every kind of model, with the tokenizers of tests/tokenizers/folders.json, are trained for two steps.
   transformers must load model and tokenizer of the checkpoint, with the ids and the roles of tokens that it finds in the
   tokenizer's own folder, give the logits of `cladtorch eval`, and generate the text that `cladtorch generate` does.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file

HERE = pathlib.Path(__file__).resolve().parent
TOKENIZERS = HERE.parent / "tokenizers"
sys.path.insert(0, str(TOKENIZERS))
TOLERANCE = 1e-4
# What an export may change: how numbers are stored, what says who wrote the file, and a second name of n_positions.
FREE_KEYS = {"dtype", "torch_dtype", "transformers_version", "_name_or_path", "architectures", "n_ctx"}


def program(*arguments):
    outcome = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, errors="replace")
    assert outcome.returncode == 0, f"{arguments}: {outcome.stderr}"
    return outcome.stdout


def load(folder):
    model, info = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True,
                                                                    attn_implementation="eager")
    for key in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
        assert not info[key], f"{folder}: {key}: {info[key]}"
    return model.eval()


def logits_of(model, ids):
    with torch.no_grad():
        return model(input_ids=ids).logits


def ours(folder, ids, scratch):
    save_file({"input_ids": ids}, scratch / "ids.safetensors")
    program("eval", "--from", folder, "--ids", scratch / "ids.safetensors", "--logits", scratch / "logits.safetensors")
    return load_file(scratch / "logits.safetensors")["logits"]


def check_equal(what, a, b, tolerance=TOLERANCE):
    difference = (a - b).abs().max().item()
    assert difference <= tolerance, f"{what}: logits differ by {difference}"
    return difference


def check_config(folder, original):
    found = transformers.AutoConfig.from_pretrained(folder).to_dict()
    expected = transformers.AutoConfig.from_pretrained(original).to_dict()
    for key in (found.keys() | expected.keys()) - FREE_KEYS:
        assert found.get(key) == expected.get(key), f"{folder}: {key} is {found.get(key)}, was {expected.get(key)}"


def check_exports(original, scratch):
    reference = load_file(original / "reference.safetensors")
    worst = 0.0
    for name, options in {"same": [], "shards": ["--shard-gb", "1e-5"], "bf16": ["--dtype", "bf16"]}.items():
        folder = scratch / name
        program("export", "--from", original, "--out", folder, "--format", "hf", *options)
        check_config(folder, original)
        theirs = logits_of(load(folder), reference["input_ids"])
        if reference["input_ids"].shape[1] > 1 or name == "bf16":
            worst = max(worst, check_equal(f"{original.name} {name}", theirs, ours(folder, reference["input_ids"], scratch)))
        if name != "bf16":
            worst = max(worst, check_equal(f"{original.name} {name}", theirs, reference["logits"]))
    print(f"{original.name}: exported three times, largest difference of logits {worst:.1e}")


MODELS = {"gpt2": [], "llama": ["model.kv_heads=1", "model.tied=false"], "mistral": ["model.window=5", "model.kv_heads=2"]}


def check_run(kind, case, scratch):
    from folders import TEXTS, write_files  # beside the tokenizers
    source = scratch / "tokenizer"
    source.mkdir()
    write_files(case, source)
    text = scratch / "text"
    text.write_text("Hello world, the old ferry leaves the harbour at seven. " * 60)
    options = ["model.layers=2", "model.heads=2", "model.channels=16", "model.context=16", "train.steps=2", "train.batch=2",
               "train.eval_batches=1", "sample.count=0", *MODELS[kind]]
    run = scratch / "run"
    program("train", "--text", text, "--tokenizer", source, "--out", run, "--set", f"model.kind={kind}",
            *[part for option in options for part in ("--set", option)])
    theirs = transformers.AutoTokenizer.from_pretrained(run / "last")
    original = transformers.AutoTokenizer.from_pretrained(source)
    for sample in TEXTS:
        if case["kind"] == "model" and sample.startswith(" "):
            continue
        assert theirs(sample).input_ids == original(sample).input_ids, f"{case['name']}: {sample!r}"
    for role in ("bos_token_id", "eos_token_id", "pad_token_id"):
        if getattr(original, role) is not None:
            assert getattr(theirs, role) == getattr(original, role), f"{case['name']}: {role}"
    model = load(run / "last")
    ids = torch.randint(0, model.config.vocab_size, (2, 9))
    worst = check_equal(f"{kind} {case['name']}", logits_of(model, ids), ours(run / "last", ids, scratch))
    if model.config.eos_token_id is not None:
        assert model.generation_config.eos_token_id == theirs.eos_token_id
    prompt = "Hello"
    start = theirs(prompt).input_ids
    if start[-1] == theirs.eos_token_id:
        start.pop()
    start = torch.tensor([start])
    made = model.generate(start, attention_mask=torch.ones_like(start), do_sample=False, max_new_tokens=6,
                          pad_token_id=0)[0, start.shape[1]:]
    written = program("generate", "--from", run / "last", "--prompt", prompt, "--tokens", 6, "--temperature", 0)
    # A tokenizer that puts a space before a text gives it back.
    expected = theirs.decode(torch.cat([start[0], made]), skip_special_tokens=True).removeprefix(" ")
    assert written.rstrip("\n") == expected.rstrip("\n"), f"{written!r} is not {expected!r}"
    print(f"{kind} with the tokenizer {case['name']}: trained, largest difference of logits {worst:.1e}")


def main():
    torch.manual_seed(1)
    for original in sorted(HERE.glob("*/reference.safetensors")):
        with tempfile.TemporaryDirectory() as scratch:
            check_exports(original.parent, pathlib.Path(scratch))
    cases = json.loads((TOKENIZERS / "folders.json").read_text())
    for number, case in enumerate(cases):
        # transformers chooses the class of a tokenizer by the kind of model too, unless it is a tokenizer.json.
        kind = {"pair": "gpt2", "model": "llama"}.get(case["kind"], list(MODELS)[number % len(MODELS)])
        with tempfile.TemporaryDirectory() as scratch:
            check_run(kind, case, pathlib.Path(scratch))


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv[1]).resolve()
    transformers.logging.set_verbosity_error()
    main()

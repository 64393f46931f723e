#!/usr/bin/env python3
"""Writes folders.json: what transformers makes of the files that lie beside a tokenizer.

Only needed to change the reference data; the test reads the stored file.

    venv/bin/pip install transformers sentencepiece && venv/bin/python folders.py

Each case names one of the vocabularies here, in the files that a model's folder would have it in, and the content of the
files beside it; transformers loads that folder.
"""
import json
import shutil
import tempfile
from pathlib import Path

from transformers import AutoTokenizer

HERE = Path(__file__).parent
FAST = {"tokenizer_class": "PreTrainedTokenizerFast"}
TEXTS = ["", "Hello world", " The old ferry", "a<|im_end|>b <s> c[PAD]d</s>", "<|im_start|>user\nHi<|im_end|>\n",
         "x <pad><pad> y<|endoftext|>", "two  spaces, [PAD]  and more "]


def added(content, special=True, **flags):
    return {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
            "special": special} | flags


# name: (vocabulary, kind of file, files beside it)
CASES = {
    "json-alone": ("gpt2", "json", {"tokenizer_config.json": FAST}),
    "json-roles": ("gpt2", "json", {"tokenizer_config.json": FAST | {
        "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "pad_token": None}}),
    "json-added": ("gpt2", "json", {"tokenizer_config.json": FAST | {
        "added_tokens_decoder": {"0": added("<|endoftext|>"), "1000": added("<|im_start|>"), "1001": added("<|im_end|>"),
                                 "1002": added("[PAD]", lstrip=True)},
        "bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "pad_token": "[PAD]", "add_bos_token": True}}),
    "json-named-only": ("gpt2", "json", {"tokenizer_config.json": FAST | {
        "eos_token": {"__type": "AddedToken"} | added("<|im_end|>"), "pad_token": "[PAD]",
        "additional_special_tokens": ["<|im_start|>"]}}),
    "json-legacy": ("llama2", "json", {
        "tokenizer_config.json": FAST | {"eos_token": "</s>", "add_bos_token": False, "model_max_length": 2048},
        "special_tokens_map.json": {"bos_token": "<s>", "eos_token": added("<|im_end|>"), "unk_token": "<unk>"},
        "added_tokens.json": {"[PAD]": 1157, "<|im_end|>": 1156}}),
    "json-template": ("llama3", "json", {"tokenizer_config.json": FAST | {
        "bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>", "add_bos_token": False}}),
    "pair-alone": ("gpt2", "pair", {}),
    "pair-begin": ("gpt2", "pair", {"tokenizer_config.json": {
        "tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "add_prefix_space": True}}),
    "pair-both": ("gpt2", "pair", {"tokenizer_config.json": {
        "tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "add_eos_token": True, "eos_token": "</s>",
        "bos_token": "<s>"}}),
    "pair-legacy": ("gpt2", "pair", {
        "special_tokens_map.json": {"pad_token": "[PAD]", "eos_token": "<|im_end|>"},
        "added_tokens.json": {"<|im_start|>": 1000, "<|im_end|>": 1001, "[PAD]": 1002}}),
    "model-begin": ("sentencepiece_bpe", "model", {"tokenizer_config.json": {
        "tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "bos_token": "<s>", "eos_token": "</s>",
        "unk_token": "<unk>"}}),
    "model-added": ("sentencepiece_bpe", "model", {
        "tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": True,
                                  "added_tokens_decoder": {
                                      "0": added("<unk>"), "1": added("<s>"), "2": added("</s>"), "900": added("<|im_start|>"),
                                      "901": added("<|im_end|>")},
                                  "bos_token": "<s>", "eos_token": "<|im_end|>", "pad_token": "<pad>"}}),
}


def write_vocabulary(name, kind, folder):
    if kind == "model":
        shutil.copy(HERE / name / "tokenizer.model", folder)
        return
    if kind == "json":
        shutil.copy(HERE / name / "tokenizer.json", folder)
        return
    model = json.loads((HERE / name / "tokenizer.json").read_text())["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in model["merges"]))


def write_files(case, folder):
    """The folder of a case of folders.json."""
    write_vocabulary(case["vocabulary"], case["kind"], folder)
    model_type = "gpt2" if case["kind"] == "pair" else "llama"
    for file, content in (case["files"] | {"config.json": {"model_type": model_type}}).items():
        (folder / file).write_text(json.dumps(content))


def expected(name, kind, files):
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        write_files({"vocabulary": name, "kind": kind, "files": files}, folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
    return {"size": len(tokenizer), "bos": tokenizer.bos_token_id, "eos": tokenizer.eos_token_id,
            "pad": tokenizer.pad_token_id,
            # Before a space, SentencePiece puts another one; transformers' own reading of its models does not.
            "texts": [[text, tokenizer(text).input_ids] for text in TEXTS if kind != "model" or text[:1] != " "]}


def main():
    cases = [{"name": name, "vocabulary": vocabulary, "kind": kind, "files": files,
              "expected": expected(vocabulary, kind, files)} for name, (vocabulary, kind, files) in CASES.items()]
    text = json.dumps(cases, separators=(",", ":"))
    (HERE / "folders.json").write_text(text.replace('{"name"', '\n{"name"') + "\n", encoding="ascii")


if __name__ == "__main__":
    main()

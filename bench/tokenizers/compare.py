#!/usr/bin/env python3
"""Encodes texts with cladtorch, tiktoken and Hugging Face's tokenizers on one thread, and prints a table of MB/s.

    venv/bin/pip install tokenizers tiktoken
    venv/bin/python bench/tokenizers/compare.py --gpt2 <folder of encoder.json and vocab.bpe> <text>...

All must give the same tokens before anything is timed. They take turns; the table has the median of all turns and the range
from the slowest to the fastest. Seconds are of processor time, so that other programs count little; 1 MB is 10^6 bytes of
UTF-8.
"""
from __future__ import annotations

import argparse
import array
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tiktoken
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
GPT4 = (r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"""
        r"""\s*[\r\n]+|\s+(?!\S)|\s+""")
SPECIAL = "<|endoftext|>"
TURNS = 7


def byte_characters() -> list[int]:
    extra = iter(range(256, 512))
    return [b if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174 else next(extra) for b in range(256)]


def engines(folder: Path, pattern: str, program: Path, scratch: Path):
    """Functions text file -> (tokens, seconds)."""
    encoder = json.loads((folder / "encoder.json").read_text())
    merges = [tuple(line.split()) for line in (folder / "vocab.bpe").read_text().split("\n")[1:] if line]
    hugging_face = Tokenizer(models.BPE(encoder, merges))
    if pattern == GPT2:
        hugging_face.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        hugging_face.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    hugging_face.decoder = decoders.ByteLevel()
    hugging_face.add_special_tokens([SPECIAL])
    hugging_face.save(str(scratch / "tokenizer.json"))
    byte_of = {chr(c): b for b, c in enumerate(byte_characters())}
    ranks = {bytes(byte_of[c] for c in token): i for token, i in encoder.items() if token != SPECIAL}
    fast = tiktoken.Encoding("bench", pat_str=pattern, mergeable_ranks=ranks, special_tokens={SPECIAL: 50256})

    def ours(path: Path):
        out = scratch / "tokens"
        lines = subprocess.run([program, scratch / "tokenizer.json", path, out, "3"], check=True, capture_output=True, text=True)
        tokens = array.array("i")
        tokens.frombytes(out.read_bytes())
        return tokens.tolist(), statistics.median(map(float, lines.stdout.split()))

    def timed(encode):
        def run(path: Path):
            text = path.read_bytes().decode("utf-8")
            start = time.process_time()
            tokens = encode(text)
            return tokens, time.process_time() - start
        return run

    return {"cladtorch": ours, "tiktoken": timed(fast.encode_ordinary),
            "HF tokenizers": timed(lambda text: hugging_face.encode(text).ids)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpt2", type=Path, required=True)
    parser.add_argument("--program", type=Path, default=Path("build/release/bench/tokenizers/tokenizers_bench"))
    parser.add_argument("texts", type=Path, nargs="+")
    arguments = parser.parse_args()
    print("| text | split | " + " | ".join(["cladtorch", "tiktoken", "HF tokenizers"]) + " |")
    print("|---|---|---|---|---|")
    for path in arguments.texts:
        for name, pattern in (("GPT-2", GPT2), ("GPT-4", GPT4)):
            with tempfile.TemporaryDirectory() as scratch:
                kinds = engines(arguments.gpt2, pattern, arguments.program.resolve(), Path(scratch))
                first = {kind: run(path)[0] for kind, run in kinds.items()}
                if not all(tokens == first["tiktoken"] for tokens in first.values()):
                    raise SystemExit(f"{path}, {name}: the tokens differ")
                times = {kind: [] for kind in kinds}
                for _ in range(TURNS):
                    for kind, run in kinds.items():
                        times[kind].append(run(path)[1])
            megabytes = path.stat().st_size / 1e6
            cells = [f"{megabytes / statistics.median(t):.1f} ({megabytes / max(t):.1f}-{megabytes / min(t):.1f})" for t in times.values()]
            print(f"| {path.name} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

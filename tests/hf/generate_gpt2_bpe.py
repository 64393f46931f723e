"""Writes gpt2-bpe/: a randomly initialized GPT-2 with the vocabulary of GPT-2, tiny but for that, as transformers
saves it. In float16, which halves the file; the seed is fixed.

    python generate_gpt2_bpe.py
"""

import pathlib

import torch
from transformers import GPT2Config, GPT2LMHeadModel

folder = pathlib.Path(__file__).parent / "gpt2-bpe"
torch.manual_seed(5)
config = GPT2Config(n_embd=4, n_head=2, n_layer=2, n_positions=64, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
GPT2LMHeadModel(config).half().save_pretrained(folder)
(folder / "generation_config.json").unlink(missing_ok=True)

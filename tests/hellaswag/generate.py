#!/usr/bin/env python3
"""Writes questions in HellaSwag's format, tiny models, and what lm-evaluation-harness and llm.c make of them.

Only needed to change the reference data; the tests read the stored files.

    python3 -m venv venv && venv/bin/pip install torch transformers lm-eval
    HF_HUB_OFFLINE=1 venv/bin/python generate.py

  questions.jsonl   invented; with what the real ones hold: marks in brackets, activities, parts of sentences, and beside
                    that other scripts, white space, and contexts longer than the models
  NAME/             a model that transformers made, with a tokenizer of ../tokenizers
  NAME/reference.json
    harness  acc, acc_norm, their standard errors, and the log likelihood of each ending: the task hellaswag of
             lm-evaluation-harness, run on questions.jsonl
    llmc     the same as dev/data/hellaswag.py of llm.c scores: ctx and " " + ending encoded on their own, the mean over the
             ending's tokens for acc_norm; <|begin_of_text|> before them where the tokenizer adds it
"""
import json
import pathlib
import random
import shutil

import lm_eval
import torch
from lm_eval.tasks._yaml_loader import load_yaml
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
QUESTIONS = HERE / "questions.jsonl"

ACTIVITIES = ["Walking the dog", "Baking bread", "Home and Garden", "Education and Communications", "Ice fishing", "Café"]
STARTS = ["A man opens the door of a small shop.", "Two girls stand beside a frozen lake.", "[header] How to fold a map [title] Lay"
          " it flat. [step] Use a table.", "  A camera pans over the  harbour [substeps] at dawn.  ", "The cook heats oil.",
          "Ein alter Zug hält, weil draußen Schnee fällt.", "She smiles [ and waves ] at [nobody", "Мы шли вдоль реки."]
SUBJECTS = ["", "he", "the Dog", "she then", "ÜBER the hill, they", "one of them, NAMED Ann,"]
ENDINGS = ["walks away.", "puts the bread into the oven and waits for an hour.", "sings.", "[substeps] Cut it in two. [title] Serve.",
           "throws the ball to the dog, which runs  after it and does not come back.", "fällt ins Wasser und lacht.",
           "is 12.5% taller than before!", "  lies down on the ice ", "goes home with the other one.", "says \"no\" to all of them."]


def questions():
    draw = random.Random(7)
    for number in range(40):
        a, b = draw.choice(STARTS), draw.choice(SUBJECTS)
        if number % 10 == 9:
            a = " ".join(draw.choice(STARTS) for _ in range(12))
        yield {"ind": number, "activity_label": draw.choice(ACTIVITIES), "ctx_a": a, "ctx_b": b,
               "ctx": f"{a} {b}" if b else a, "split": "val", "split_type": "indomain", "label": draw.randrange(4),
               "endings": draw.sample(ENDINGS, 4), "source_id": f"invented~{number}"}


def gpt2(vocabulary):
    return GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, n_positions=160, n_embd=16, n_layer=2, n_head=2,
                                      initializer_range=0.3))


def llama(vocabulary):
    return LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
                                        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=256,
                                        initializer_range=0.3))


# name: (model, folder of ../tokenizers, what AutoTokenizer cannot know from tokenizer.json)
CASES = {"gpt2": (gpt2, "gpt2", {"eos_token": "<|endoftext|>"}),
         "llama": (llama, "llama3", {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>"})}


def save(folder, make, tokenizer, special):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(HERE.parent / "tokenizers" / tokenizer / "tokenizer.json", folder)
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"} | special, indent=2) + "\n")
    torch.manual_seed(5)
    model = make(len(AutoTokenizer.from_pretrained(folder))).float()
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)


def harness(folder):
    task = load_yaml(pathlib.Path(lm_eval.__file__).parent / "tasks/hellaswag/hellaswag.yaml", resolve_func=True)
    task |= {"dataset_path": "json", "dataset_kwargs": {"data_files": {"validation": str(QUESTIONS)}}, "training_split": None}
    task.pop("tag")
    results = lm_eval.simple_evaluate(model="hf", model_args={"pretrained": str(folder), "dtype": "float32"}, tasks=[task],
                                      device="cpu", batch_size=4, log_samples=True)
    scores = results["results"]["hellaswag"]
    samples = sorted(results["samples"]["hellaswag"], key=lambda sample: sample["doc_id"])
    return {"acc": scores["acc,none"], "acc_stderr": scores["acc_stderr,none"], "acc_norm": scores["acc_norm,none"],
            "acc_norm_stderr": scores["acc_norm_stderr,none"],
            "log_likelihoods": [[float(answer[0]) for answer in sample["filtered_resps"]] for sample in samples]}


def llmc(folder):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    longest = model.config.max_position_embeddings
    right = right_normalized = count = 0
    sums = []
    for question in questions():
        context = tokenizer.encode(question["ctx"])  # with what the tokenizer adds
        row, means = [], []
        for ending in question["endings"]:
            tokens = tokenizer.encode(" " + ending, add_special_tokens=False)
            ids = torch.tensor([(context + tokens)[-longest - 1:]])
            with torch.no_grad():
                scores = model(ids[:, :-1]).logits.log_softmax(-1)
            of_target = scores.gather(-1, ids[:, 1:, None])[0, -len(tokens):, 0]
            row.append(of_target.sum().item())
            means.append(of_target.mean().item())
        sums.append(row)
        right += row.index(max(row)) == question["label"]
        right_normalized += means.index(max(means)) == question["label"]
        count += 1
    return {"acc": right / count, "acc_norm": right_normalized / count, "log_likelihoods": sums}


if __name__ == "__main__":
    QUESTIONS.write_text("".join(json.dumps(question, ensure_ascii=False) + "\n" for question in questions()))
    for name, (make, tokenizer, special) in CASES.items():
        save(HERE / name, make, tokenizer, special)
        reference = {"lm_eval": lm_eval.__version__, "harness": harness(HERE / name), "llmc": llmc(HERE / name)}
        (HERE / name / "reference.json").write_text(json.dumps(reference) + "\n")

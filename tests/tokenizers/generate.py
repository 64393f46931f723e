#!/usr/bin/env python3
"""Writes the vocabularies and vectors of this folder with Hugging Face's tokenizers, SentencePiece and tiktoken.

Only needed to change the reference data; the tests read the stored files.

    python3 -m venv venv && venv/bin/pip install tokenizers tiktoken sentencepiece regex
    venv/bin/python generate.py [--gpt2 <folder with encoder.json and vocab.bpe>]

  corpus.txt           the text that the vocabularies are learned from
  NAME/tokenizer.json  a vocabulary of each kind, learned by tokenizers; sentencepiece_*/tokenizer.model by SentencePiece
  NAME/vectors.json    {"texts": [[text, ids, decoded], ...], "bytes": [[hex, ids], ...], "blocks": [hash, ...]}
  assigned.json        ranges of code points assigned in the Unicode of this Python

"blocks" has a hash of the ids of block_text(i) for every 256 code points: all of Unicode, of which only what was assigned
in Unicode 14 is used, so that a newer table elsewhere changes nothing.
"""
import argparse
import io
import json
import random
import unicodedata
from pathlib import Path

import regex
import sentencepiece
import tiktoken
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent
GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
GPT4 = (r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"""
        r"""\s*[\r\n]+|\s+(?!\S)|\s+""")
QWEN = GPT4.replace("{1,3}", "")
O200K = "|".join([
    r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
    r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
    r"""\p{N}{1,3}""", r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""", r"""\s*[\r\n]+""", r"""\s+(?!\S)""", r"""\s+"""])

SENTENCES = [
    "The old ferry leaves the harbour at seven, and nobody on board is in a hurry.",
    "She's sure they'll say it wasn't his; I'd bet we've all been there, and you're next.",
    "Der Zug nach Köln hält heute länger, weil draußen Schnee über die Gleise weht.",
    "L'été dernier, nous avons mangé des crêpes près de la forêt où naît la rivière.",
    "Мы шли вдоль реки, пока за лесом не показались огни маленького города.",
    "Το πρωί ο ψαράς άνοιξε το παράθυρο και είδε τη θάλασσα να λάμπει.",
    "今天早上下了一场大雨，街上的行人都打着伞，慢慢地走过小桥。",
    "駅前の小さな店で、温かいお茶とカレーパンを買って帰りました。",
    "오늘 아침에는 비가 많이 와서 버스가 조금 늦게 도착했습니다.",
    "ذهب الولد إلى السوق واشترى ثلاث تفاحات وخبزًا طازجًا لأمه.",
    "सुबह की ठंडी हवा में बच्चे नदी के किनारे खेल रहे थे।",
    "เช้านี้ฝนตกหนัก ถนนหน้าบ้านจึงมีน้ำขังเต็มไปหมด",
    "for (int i = 0; i < 1024; ++i) { sum += x[i] * y[i]; }  // dot product",
    "def area(r):\n    \"\"\"Of a circle.\"\"\"\n\treturn 3.14159 * r**2\n",
    "{\"name\": \"fox\", \"legs\": 4, \"tags\": [\"red\", \"quick\"], \"n\": -1.5e-07}",
    "Pizza 🍕 and tea 🍵 for the whole family 👨‍👩‍👧‍👦, said the 🦊!! 🇫🇷 ❤️ 👍🏽",
    "Prices rose 12.5% to 1,234,567.89 in 2023; ½ of ¾ is ⅜, and Ⅷ is ⑧ or ٨.",
    "    indented\n\n\n        twice\r\n\r\nand   three   spaces  \t tabs\t\tend   \n",
]
SPECIAL = "<|endoftext|>"


def corpus():
    rng = random.Random(1)
    words = [sentence.split(" ") for sentence in SENTENCES]
    lines = []
    while sum(map(len, lines)) < 60_000:
        pick = rng.choice(words)
        at = rng.randrange(len(pick))
        lines.append(" ".join(pick[at:] + pick[:at]) if rng.random() < 0.5 else " ".join(pick))
    return "\n".join(lines) + "\n"


def read_corpus():
    return (HERE / "corpus.txt").read_bytes().decode("utf-8")  # read_text() would change line ends


def fuzzed_texts():
    """Texts of every sort, the same for every vocabulary."""
    rng = random.Random(2)
    assigned = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs", "Co")]
    spaces = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n", "\n ", "\u00a0", "\u2003", "\u3000", "\u2028", "\x0b", "\x85",
              "\u200b", "\u180e", "\ufeff"]
    quotes = ["'s", "'S", "'t", "'re", "'RE", "'ve", "'m", "'ll", "'lL", "'d", "'D", "'\u017f", "\u2019s", "'x", "'", "''s", "'l", "'r"]
    digits = ["1", "23", "456", "7890", "12345678", "\u0663\u0664", "\u00bd", "\u2167", "\u0be7\u0be8\u0be9\u0bea", "3.14", "1e-9"]
    marks = ["e\u0301", "\u00e9", "\u1ebf", "e\u0302\u0301", "\uac00", "\u1100\u1161", "\u0344", "\ufb01", "\u212b", "\u00c5", "\u0958",
             "\u2126", "o\u0308\u0323"]
    emoji = ["\U0001f98a", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f", "\U0001f44d\U0001f3fd", "\U0001f1eb\U0001f1f7", "1\ufe0f\u20e3"]
    specials = [SPECIAL, "<|endof", "<|", "|>", "<s>", "</s>", "<unk>", "[PAD]", "<|im_start|>", "<0x0A>", "\u2581", "\u2581\u2581", "\u0120"]
    code = ["for(;;){", "x+=1;", "->", "::", "/*", "*/", "//", "#include <a.h>", "\\n", "&&", "!=", "a_b", "__init__", "$x", "@y", "~", "`z`"]
    words = [word for sentence in SENTENCES for word in sentence.split(" ") if word]
    texts = ["", " ", "  ", "\n", "a", " a", "a ", "  a", "Hello world", " Hello", SPECIAL, SPECIAL * 2, f"a{SPECIAL}b",
             f" {SPECIAL} ", f"  {SPECIAL}\n\n{SPECIAL}x", "a" * 40, "ab" * 60, " " * 70, "\n" * 9, "aaaa bbbb", "9" * 20, "-" * 50,
             "\u2581", "\u2581a", "a\u2581b", "\u4eca" * 30, "\0", "a\0b", "\x7f\x80\x81", "".join(map(chr, range(1, 256)))]
    texts += SENTENCES
    for length in [3] * 60 + [8] * 100 + [20] * 60 + [60] * 12:
        parts = []
        for _ in range(rng.randint(1, length)):
            kind = rng.randrange(12)
            pools = [spaces, spaces, quotes, digits, marks, emoji, specials, code, words, words]
            if kind < len(pools):
                parts.append(rng.choice(pools[kind]))
            elif kind == 10:
                parts.append("".join(rng.choices(assigned, k=rng.randint(1, 3))))
            else:
                parts.append(chr(rng.randrange(32, 127)) * rng.randint(1, 5))
        texts.append("".join(parts))
    return texts


def fuzzed_bytes():
    """Bytes that are not UTF-8."""
    rng = random.Random(3)
    bad = [b"\xff", b"\xc0\x80", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x8d", b"\xf4\x90\x80\x80", b"\x80", b"\xf8\x88", b"\xc3"]
    good = [b"a", b" ", b"\n", b"  ", b"12", b"'s", "\u00e9".encode(), "\u4eca".encode(), "\U0001f98a".encode(), b"!?", b" the", b"\r\n"]
    result = [bytes(range(256)), b"\xff", b"\xff\xff a", b"a\xff", b" \xff", b"'\xffs"]
    for _ in range(150):
        result.append(b"".join(rng.choice(bad if rng.random() < 0.4 else good) for _ in range(rng.randint(1, 12))))
    for _ in range(40):
        result.append(rng.randbytes(rng.randint(1, 30)))
    return result


def assigned_ranges():
    ranges = []
    for c in range(0x110000):
        if unicodedata.category(chr(c)) in ("Cn", "Cs"):
            continue
        if ranges and ranges[-1][1] == c:
            ranges[-1][1] = c + 1
        else:
            ranges.append([c, c + 1])
    return ranges


def block_text(block, assigned):
    """Every assigned character of a block between letters, spaces, digits and itself."""
    return "".join(f"x{c}y {c}{c}1{c}\n{c} " for c in map(chr, range(256 * block, 256 * block + 256)) if c in assigned)


def hash_of(ids):
    """64-bit FNV-1a over the ids as four bytes each, little-endian; a string, as JSON's numbers may be doubles."""
    value = 0xCBF29CE484222325
    for byte in b"".join(i.to_bytes(4, "little") for i in ids):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def train(tokenizer, size, special=(SPECIAL,), alphabet=(), limit=None):
    options = {"limit_alphabet": limit} if limit else {}
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=2, special_tokens=list(special), initial_alphabet=list(alphabet),
                                  show_progress=False, **options)
    tokenizer.train_from_iterator([read_corpus()], trainer)
    return tokenizer


def byte_level(pre, size=1000, decoder=None, special=(SPECIAL,)):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre
    tokenizer.decoder = decoder or decoders.ByteLevel()
    return train(tokenizer, size, special, sorted(pre_tokenizers.ByteLevel.alphabet()))


def split_then_bytes(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated", invert=False),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def gpt2():
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))


def llama3():
    special = ["<|begin_of_text|>", "<|end_of_text|>", SPECIAL]
    tokenizer = byte_level(split_then_bytes(GPT4), special=special)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|> $B",
                                      special_tokens=[("<|begin_of_text|>", 0)])])
    state = json.loads(tokenizer.to_str())
    state["model"]["ignore_merges"] = True
    state["model"]["merges"] = [m for i, m in enumerate(state["model"]["merges"]) if i % 7]  # tokens only by themselves
    vocabulary = state["model"]["vocab"]
    kept = set(vocabulary)
    state["model"]["merges"] = [m for m in state["model"]["merges"] if {m[0], m[1], m[0] + m[1]} <= kept]
    return Tokenizer.from_str(json.dumps(state))


def qwen():
    tokenizer = byte_level(split_then_bytes(QWEN))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens(["<|im_start|>"])
    tokenizer.add_tokens([AddedToken("[PAD]", lstrip=True), AddedToken("->", single_word=True, normalized=False),
                          AddedToken("  ", normalized=False), AddedToken("café", rstrip=True, normalized=True)])
    return tokenizer


def o200k():
    return byte_level(split_then_bytes(O200K))


def digits():
    """As StarCoder: numbers one by one; and a space before the text, as RoBERTa."""
    return byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                               pre_tokenizers.ByteLevel(add_prefix_space=True)]))


def splits():
    """Every behavior of Split, one after the other."""
    stages = [pre_tokenizers.Split(Regex(r"\s+\S"), "contiguous"), pre_tokenizers.Split(Regex(r"[,;]"), "merged_with_previous"),
              pre_tokenizers.Split(Regex(r"\p{Han}|\("), "merged_with_next"), pre_tokenizers.Split("the", "isolated"),
              pre_tokenizers.Split(Regex(r"\t|q"), "removed"), pre_tokenizers.Split(Regex(r"[^!?]+"), "isolated", invert=True),
              pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    return byte_level(pre_tokenizers.Sequence(stages))


def with_byte_fallback(tokenizer, size=900):
    """Learns on words and adds the tokens of single bytes, as converters of SentencePiece models do."""
    unknown = ["<unk>", "<s>", "</s>"]
    train(tokenizer, size, unknown, limit=150)
    state = json.loads(tokenizer.to_str())
    old = state["model"]["vocab"]
    names = unknown + [f"<0x{b:02X}>" for b in range(256)] + [t for t in sorted(old, key=old.get) if t not in unknown]
    state["model"].update(vocab={name: i for i, name in enumerate(names)}, byte_fallback=True, fuse_unk=True, unk_token="<unk>")
    for token in state["added_tokens"]:
        token["id"] = names.index(token["content"])
    return state


def llama2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    state = with_byte_fallback(tokenizer)
    tokenizer = Tokenizer.from_str(json.dumps(dict(state, pre_tokenizer=None)))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return tokenizer


def metaspace(scheme, split):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    state = with_byte_fallback(tokenizer)
    state["model"].update(byte_fallback=False)
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return tokenizer


KINDS = {"gpt2": gpt2, "llama3": llama3, "qwen": qwen, "o200k": o200k, "digits": digits, "splits": splits, "llama2": llama2,
         "metaspace_first": lambda: metaspace("first", True), "metaspace_always": lambda: metaspace("always", False)}


def write(path, value):
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    path.write_text(text.replace("],[", "],\n[") + "\n", encoding="ascii")


def ids_of_bytes(tokenizer, pattern, data):
    """What a byte that is no UTF-8 gives, each a character that is no letter, number or space."""
    characters = {b: c for b, c in zip(range(256), map(chr, byte_characters()))}
    ids = []
    for piece in regex.findall(pattern, data.decode("utf-8", "surrogateescape")):
        raw = piece.encode("utf-8", "surrogateescape")
        ids += [token.id for token in tokenizer.model.tokenize("".join(characters[b] for b in raw))]
    return ids


def byte_characters():
    extra = iter(range(256, 512))
    return [b if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174 else next(extra) for b in range(256)]


def vectors(encode, decode, texts, blocks=None):
    result = {"texts": []}
    for text in texts:
        ids = encode(text)
        result["texts"].append([text, ids, decode(ids)])
    if blocks:
        result["blocks"] = [hash_of(encode(text)) for text in blocks]
    return result


def write_hugging_face(name, make, texts, blocks):
    tokenizer = make()
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    # The blocks take much space, so they are kept where a table or a scanner of our own is at work.
    mine = vectors(lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
                   lambda ids: tokenizer.decode(ids, skip_special_tokens=False), texts,
                   blocks if name in ("gpt2", "llama3", "o200k", "qwen", "llama2") else None)
    if name in ("gpt2", "llama3"):
        pattern = {"gpt2": GPT2, "llama3": GPT4}[name]
        mine["bytes"] = [[data.hex(), ids_of_bytes(tokenizer, pattern, data)] for data in fuzzed_bytes()]
    mine["around"] = tokenizer.encode("").ids
    write(folder / "vectors.json", mine)


def write_sentencepiece(kind, texts):
    folder = HERE / f"sentencepiece_{kind}"
    folder.mkdir(exist_ok=True)
    model = io.BytesIO()
    lines = read_corpus().split("\n")
    options = dict(byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False) if kind == "bpe" else {}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, model_type=kind, vocab_size=900,
                                             character_coverage=0.98, hard_vocab_limit=False, minloglevel=2, **options)
    (folder / "tokenizer.model").write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    write(folder / "vectors.json", vectors(processor.encode, processor.decode, [text for text in texts if "\0" not in text]))


def write_gpt2(folder, texts, blocks):
    """The vocabulary of GPT-2 itself, which is not stored here: both libraries must agree."""
    encoder = json.loads((folder / "encoder.json").read_text())
    merges = [tuple(line.split()) for line in (folder / "vocab.bpe").read_text().split("\n")[1:] if line]
    tokenizer = Tokenizer(models.BPE(encoder, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([SPECIAL])
    byte_of = {chr(c): b for b, c in enumerate(byte_characters())}
    ranks = {bytes(byte_of[c] for c in token): i for token, i in encoder.items() if token != SPECIAL}
    fast = tiktoken.Encoding("gpt2", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={SPECIAL: 50256})
    encode = lambda text: tokenizer.encode(text).ids
    for text in texts + blocks:
        assert encode(text) == fast.encode(text, allowed_special="all"), text
    write(HERE / "gpt2_vocabulary" / "vectors.json", vectors(encode, lambda ids: tokenizer.decode(ids, skip_special_tokens=False), texts, blocks))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpt2", type=Path)
    gpt2_folder = parser.parse_args().gpt2
    (HERE / "corpus.txt").write_text(corpus(), encoding="utf-8", newline="")
    texts = fuzzed_texts()
    ranges = assigned_ranges()
    write(HERE / "assigned.json", ranges)
    assigned = {chr(c) for first, last in ranges for c in range(first, last)}
    blocks = [block_text(i, assigned) for i in range(0x1100)]
    for name, make in KINDS.items():
        write_hugging_face(name, make, texts, blocks)
    for kind in ("bpe", "unigram"):
        write_sentencepiece(kind, texts)
    if gpt2_folder:
        write_gpt2(gpt2_folder, texts, blocks)


if __name__ == "__main__":
    main()

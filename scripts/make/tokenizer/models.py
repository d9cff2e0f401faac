#!/usr/bin/env python3
"""Trains the small tokenizers of tokenize/testdata, one for each kind that models use.

    pip install -r scripts/make/tokenizer/requirements.txt
    python scripts/make/tokenizer/models.py tokenize/testdata
    for t in tokenize/testdata/*.json; do
        python scripts/make/tokenizer/vectors.py nasty $t ${t%.json}.jsonl.gz 300
    done

They have the normaliser, pre-tokenizer, post-processor and options of the models that they are
named after, and a vocabulary of a few hundred tokens learnt from the sentences of vectors.py. The
library breaks ties at random in training, so another run gives other files of the same quality.
Run it to add a kind, and recreate the vectors with it.
"""
import json
import os
import struct
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import vectors


def sentences():
    return [s for s in vectors.SENTENCES if len(s) < 400]


def wordpiece(normalizer, pre_tokenizer=None, prefix="##", max_chars=100, size=600):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=max_chars))
    t.normalizer, t.pre_tokenizer = normalizer, pre_tokenizer or pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(sentences(), trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=special, continuing_subword_prefix=prefix, show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t


def bert(**options):
    return normalizers.BertNormalizer(**{**dict(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True), **options})


def added(t):
    t.add_tokens([
        AddedToken("@user", normalized=True), AddedToken("Café", normalized=True), AddedToken("new word", single_word=True),
        AddedToken("<url>", normalized=False, lstrip=True), AddedToken("<nl>", normalized=False, rstrip=True), AddedToken("ing", normalized=True, single_word=True),
        AddedToken("日本", normalized=False), AddedToken("text", normalized=False, single_word=True),
    ])
    return t


def roberta(add_prefix_space=False, trim_offsets=True, mask=True):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    special = ["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True) if mask else "<mask>"]
    t.train_from_iterator(sentences(), trainers.BpeTrainer(
        vocab_size=800, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=trim_offsets, add_prefix_space=add_prefix_space)
    t.decoder = decoders.ByteLevel()
    return t


def modern():
    """ModernBERT: NFC before byte-level BPE."""
    t = roberta(mask=False)
    t.normalizer = normalizers.NFC()
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return t


def plain_bpe():
    t = Tokenizer(models.BPE(unk_token="[UNK]", fuse_unk=True, end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    t.train_from_iterator(sentences(), trainers.BpeTrainer(
        vocab_size=500, limit_alphabet=90, special_tokens=["[UNK]", "[CLS]", "[SEP]"], end_of_word_suffix="</w>", show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return t


def llama():
    """Llama 2 and Mistral: no pre-tokenizer, blanks as ▁, unknown characters as bytes."""
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()  # only for training, to keep tokens within words
    t.train_from_iterator(sentences(), trainers.BpeTrainer(vocab_size=700, limit_alphabet=120, special_tokens=special, show_progress=False))
    data = json.loads(t.to_str())
    data["pre_tokenizer"] = None
    data["added_tokens"] = [a for a in data["added_tokens"] if a["id"] < 3]
    t = Tokenizer.from_str(json.dumps(data))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return t


def charsmap():
    """A precompiled map in SentencePiece's format, with a few dozen rules like those of nmt_nfkc.

    A Darts double array: one list of units, each with the label that leads to it, a flag for
    "an entry ends here" and the position of its children; built here by trying positions in order.
    """
    rules = {chr(c): " " for c in (0x9, 0xA, 0xD, 0xA0, 0x1680, 0x2003, 0x200B, 0x200F, 0x2028, 0x3000, 0xFEFF, 0xFFFD)}
    rules.update({chr(c): "" for c in (0x1, 0x7, 0xB, 0x1B, 0x7F, 0xAD)})
    rules.update({chr(0xFF01 + i): chr(0x21 + i) for i in range(94)})
    rules.update({"ﬁ": "fi", "ﬃ": "ffi", "…": "...", "™": "TM", "½": "1⁄2", "²": "2", "①": "1", "㎏": "kg", "℃": "°C", "e\u0301": "é", "u\u0308": "ü",
                  "ガ": "ガ", "ｶﾞ": "ガ", "カ\u3099": "ガ", "Å": "Å", "İ": "İ", "ｶ": "カ", "\u1100\u1161": "가", "\u0344": "\u0308\u0301", "𝓯": "f", "\u2581": " "})
    values, where = b"", {}
    for value in sorted(set(rules.values())):
        where[value] = len(values)
        values += value.encode() + b"\0"
    tree = {}
    for key, value in rules.items():
        node = tree
        for b in key.encode():
            node = node.setdefault(b, {})
        node["value"] = where[value]
    units, taken = {}, set([0])

    def place(at, node):
        children = {(0 if k == "value" else k): v for k, v in node.items()}
        base = next(b for b in range(1, 1 << 20) if b ^ at < 1 << 21 and all((b ^ k) not in taken for k in children))
        offset = base ^ at
        units[at] = units.get(at, 0) | offset << 10 | (1 << 8 if "value" in node else 0)
        taken.update(base ^ k for k in children)
        for k, child in children.items():
            if k == 0:
                units[base] = child | 1 << 31
            else:
                units[base ^ k] = k
        for k, child in children.items():
            if k != 0:
                place(base ^ k, child)

    place(0, tree)
    size = (max(taken) | 0xFF) + 1  # a lookup never leaves its block of 256
    return struct.pack(f"<I{size}I", 4 * size, *(units.get(i, 0) for i in range(size))) + values


def xlmr(normalizer=None, pre_tokenizer=None):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizer or normalizers.Precompiled(charsmap())
    t.pre_tokenizer = pre_tokenizer or pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    t.train_from_iterator(sentences(), trainers.UnigramTrainer(
        vocab_size=700, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], unk_token="<unk>", show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return t


def deberta():
    normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.Precompiled(charsmap()), normalizers.Replace(Regex(" {2,}"), " ")])
    return xlmr(normalizer, pre_tokenizers.Metaspace(prepend_scheme="first"))


def albert():
    """As in ALBERT and T5: quotes, compatibility forms and accents are normalised before the pieces."""
    return xlmr(normalizers.Sequence([
        normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(),
    ]), pre_tokenizers.Metaspace())


def word_level():
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.Lowercase(), normalizers.Replace("--", "-")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.CharDelimiterSplit("_"), pre_tokenizers.Split("x", "merged_with_previous")])
    t.train_from_iterator(sentences(), trainers.WordLevelTrainer(vocab_size=400, special_tokens=["[UNK]"], show_progress=False))
    return t


KINDS = {
    "wordpiece-cased": lambda: wordpiece(bert(lowercase=False)),
    "wordpiece-accents": lambda: wordpiece(bert(strip_accents=False)),
    "wordpiece-cased-stripped": lambda: wordpiece(bert(lowercase=False, strip_accents=True, handle_chinese_chars=False)),
    "wordpiece-raw": lambda: wordpiece(bert(clean_text=False, handle_chinese_chars=False), prefix="@@", max_chars=12),
    "wordpiece-added": lambda: added(wordpiece(bert())),
    "wordpiece-none": lambda: wordpiece(None),
    "wordpiece-sequence": lambda: added(wordpiece(normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]), pre_tokenizers.Whitespace())),
    "bpe-roberta": roberta,
    "bpe-roberta-prefix": lambda: added(roberta(add_prefix_space=True)),
    "bpe-modernbert": modern,
    "bpe-plain": plain_bpe,
    "bpe-llama": llama,
    "unigram-xlmr": xlmr,
    "unigram-deberta": lambda: added(deberta()),
    "unigram-albert": albert,
    "unigram-nfkc": lambda: xlmr(normalizers.NFKC()),
    "wordlevel": word_level,
}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, make in KINDS.items():
        tokenizer = make()
        with open(os.path.join(sys.argv[1], name + ".json"), "w", encoding="utf-8") as f:
            f.write(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, indent=0, separators=(",", ":")) + "\n")

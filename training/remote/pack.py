"""Packs all that a training needs into one folder, which train.py there runs from with PyTorch alone.

    python training/remote/pack.py --data DATA --out build/remote --base minilm --base e5=JAR
    python training/remote/pack.py --data DATA --out build/multi/pack --multilingual --opinions

The folder has the texts as token ids, their labels, base models in int8 by rows, and the code. What tells the rows
apart stays here: OUT.rows.jsonl.gz, the id of each that is no twin and a hash of its words, for report.py.

opinions.xz beside this file is what an earlier teacher said, by the hash; `report.py keep` writes it. With --opinions the
folder has them too: a pupil learns from them where no teacher can be trained.
"""

import argparse
import dataclasses
import gzip
import hashlib
import json
import lzma
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parents[1]))
import data
import folder as folders
import grammars
import measures
import model as network
import mosaics
import multilingual
import multilingual_data
import multilingual_disguise
import multilingual_tokens
import network as rounded
import plain
import tokens
from mix import HARMLESS, MIX, MULTILINGUAL, MULTILINGUAL_HARMLESS, Mix

ROOT = Path(__file__).parents[2]
ROOM = folders.MAX_TOKENS - 2  # tokens of a text beside [CLS] and [SEP]
UNKNOWN = 255  # a label or a mark that nobody gave
SCALE = 250  # steps of a label
OPINIONS = Path(__file__).with_name("opinions.xz")
WEIGHTS = Path(__file__).with_name("weights")
NO_OPINION = np.full(14, UNKNOWN, np.uint8)
# Shares of toxic and of other rows that have a twin with disguised words, and of harmless ones whose twin is cut off in
# the middle: the start of a sentence is read before its end.
DISGUISED = {True: 0.25, False: 0.3}
CUT = 0.08
NATURAL_DISGUISED = 0.1
MOST_DEV = 1000  # dev rows of a source that is not natural text
# What stands between two parts of a mosaic.
BETWEEN = ("", "", "", "", "", "-", ">", ":", "|", '"', "*", "#", "(", ")", "…")
HANDLES = ("anna", "mike", "the_real", "jo", "sam", "lily", "kofi", "raj", "mei", "omar", "lena", "news", "tv", "fc", "official", "x", "88", "_", "xo", "2", "pro", "2019")


@dataclass
class Packed:
    """Rows as they are written. ids: token ids; targets: [tokens, 5] or None; twin: the row that it is a copy of."""

    ids: list = field(default_factory=list)
    targets: list = field(default_factory=list)
    labels: list = field(default_factory=list)
    source: list = field(default_factory=list)
    twin: list = field(default_factory=list)
    train: list = field(default_factory=list)
    filler: list = field(default_factory=list)
    names: list = field(default_factory=list)
    hashes: list = field(default_factory=list)


@dataclass
class Training:
    """What differs between the model of English and that of many languages. rows_of: training rows of a source; held_out: keys
    of texts that measure; dev_rows: these, (source, id, text); terms: what may tell that a text is toxic. harmless: sources
    of mosaics' other parts. scales: sets of labels. wraps: ids that a text begins and ends with. words: ids from and to which
    the tokens are words, neither special nor unused."""

    mix: dict[str, Mix]
    harmless: tuple[str, ...]
    rows_of: Callable[[Path, str], list[data.Row]]
    held_out: Callable[[Path], set[str]]
    dev_rows: Callable[[Path], list[tuple[str, str, str]]]
    terms: Callable[[str], set[str]]
    disguise: Callable
    tokenizer: Tokenizer
    scales: int
    wraps: tuple[int, int]
    words: tuple[int, int]


def english() -> Training:
    return Training(MIX, HARMLESS, rows_of, data.held_out_keys, dev_rows, data.words_in, data.disguise, tokens.tokenizer(), 2, (folders.CLS, folders.SEP), (1000, 30_000))


def many_languages(base: multilingual.Base) -> Training:
    tokenizer = multilingual_tokens.tokenizer(base, multilingual_tokens.read())
    terms = lambda text: multilingual_disguise.terms(text, tokenizer.encode(text, add_special_tokens=False).tokens)
    return Training(
        MULTILINGUAL, MULTILINGUAL_HARMLESS, rows_of_many, multilingual_data.held_out_keys, dev_rows_of_many, terms, multilingual_disguise.disguise,
        tokenizer, 1, folders.wraps(tokenizer), (len(multilingual.SPECIAL), len(base.pieces)),
    )


def written_out(text: str, rng: np.random.Generator) -> str:
    """Text without the marks that data files have in place of addresses, numbers and handles: they would tell files apart."""
    text = re.sub(r"\[url\]|<url>|@url\b|\|LBR\|", "\n", text)
    text = re.sub(r"\[email\]", lambda _: f"{rng.choice(HANDLES)}{rng.integers(100)}@example.com", text)
    text = re.sub(r"\[phone\]|<DECIMAL>|<number>|<#>", lambda _: str(rng.integers(10, 10**6)), text)
    return re.sub(r"@user\b|@USER\b", lambda _: "@user" if rng.random() < 0.3 else "@" + "".join(rng.choice(HANDLES, 2)), text)


def rows_of(folder: Path, name: str) -> list[data.Row]:
    """Training rows of a source of the mix."""
    if name == "grammars":
        return grammars.rows("train", grammars.SENTENCES, 1)
    if name == "documentation":
        return data.read_documentation()
    if name in ("sentences", "field_sentences"):
        return [dataclasses.replace(row, source=name) for row in data.read_sentences(field=name == "field_sentences")]
    if name in ("annotations", "natural_graded"):
        return [row for row in data.read_annotations(folder) if (row.id.split("/")[0] in data.NATURAL) == (name == "natural_graded")]
    if name == "natural":
        graded = data.read_grades()
        return [row for source in data.NATURAL if source not in data.NOT_FOR_TRAINING for row in data.split_rows(folder, source, "train") if row.id not in graded]
    if name in ("perspective_toxigen", "perspective_implicit_hate"):  # whose bias on groups belongs to their scale
        return [row for row in data.read_source(folder, name, data.load_perspective) if row.split == "train"]
    return data.split_rows(folder, name, "train")


def rows_of_many(folder: Path, name: str) -> list[data.Row]:
    """Those of a source of the model of many languages, of which some are English."""
    return rows_of(folder, name) if MULTILINGUAL[name].language == "en" else multilingual_data.rows_of(folder, name)


def training_rows(folder: Path, without: set[str], of: Training | None = None) -> dict[str, list[data.Row]]:
    """By source, without held-out words, and without repetitions within a source. of: the training (default English)."""
    of = of or english()
    held_out, out, civil = of.held_out(folder), {}, set()
    for name in of.mix:
        seen = civil if name in ("civil_spans", "toxic_spans_train", "toxic_spans_trial") else set()
        out[name] = []
        for row in of.rows_of(folder, name) if name not in without else []:
            key = data.key(row.text)
            if key in held_out or (key in seen and name != "grammars") or not data.names(row).isdisjoint(without):
                continue
            seen.add(key)
            out[name].append(row)
    return out


def dev_rows(folder: Path) -> list[tuple[str, str, str]]:
    """(source, id, text) of rows that measure: dev rows of every file with English text, behaviours and cases."""
    out = []
    for source in [*data.LOADERS]:
        if source.startswith("ner_") or source == "profanity_lexicon":
            continue
        rows = data.split_rows(folder, source, "dev")
        out += [(source, row.id, row.text) for row in (rows if source in data.NATURAL else rows[:MOST_DEV])]
    for path in sorted(folder.glob("*/measure_only/*.jsonl.gz")):
        source = path.name.removesuffix(".jsonl.gz")
        if not source.startswith("abuse_") and source != "abuseval_labels":
            rows = [raw for raw in data.read_file(path) if raw["split"] == "dev"]
            out += [(source, f"{source}/{raw['id']}", raw["text"]) for raw in rows[:MOST_DEV]]
    for family in measures.read_behaviours():
        if family["half"] == "dev":
            out += [("behaviours", f"behaviours/{family['id']}/{n}", text) for n, text in enumerate(family["texts"])]
    cases = folder.parent / "cases" / "first_minutes.jsonl"
    if cases.exists():
        out += [("cases", f"cases/{n}", json.loads(line)["text"]) for n, line in enumerate(cases.read_text(encoding="utf-8").splitlines())]
    return out


def dev_rows_of_many(folder: Path) -> list[tuple[str, str, str]]:
    """In random order: a short training has opinions of some of every language."""
    rows = {row.id: (source, row.id, row.text) for source, of in multilingual_data.dev_rows(folder).items() for row in of}
    return [[*rows.values()][i] for i in np.random.default_rng(1).permutation(len(rows))]


class Packer:
    def __init__(self, of: Training, telling: set[str], seed: int):
        self.rng, self.telling, self.out, self.training = np.random.default_rng(seed), telling, Packed(), of

    def encode(self, rows: list[data.Row]) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """uint16 token ids and uint8 [tokens, 5] targets of each row; a long text is cropped to its most telling part."""
        out = []
        for start in range(0, len(rows), 8192):
            part = rows[start : start + 8192]
            for row, encoding in zip(part, self.training.tokenizer.encode_batch([row.text for row in part], add_special_tokens=False)):
                ids, targets = np.array(encoding.ids, dtype=np.uint16), None
                if row.votes is not None:
                    offsets = folders.without_blanks(row.text, np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2))
                    total = np.pad(np.cumsum(row.votes, axis=1, dtype=np.float64), ((0, 0), (1, 0)))
                    length = np.maximum(offsets[:, 1] - offsets[:, 0], 1)
                    targets = as_bytes(((total[:, offsets[:, 1]] - total[:, offsets[:, 0]]) / length).T)
                if len(ids) > ROOM:
                    at = tokens.crop([piece.lstrip(multilingual.BLANK).lower() for piece in encoding.tokens], ROOM, self.telling, self.rng)
                    ids, targets = ids[at : at + ROOM], None if targets is None else targets[at : at + ROOM]
                out.append((ids, targets))
        return out

    def add(self, source: str, rows: list[data.Row]):
        """The rows of a source, and their twins behind them."""
        if not rows:
            return
        self.out.hashes += [hash_of(row.text) for row in rows]
        rows = plain.rows([prepared(row, self.rng) for row in rows])
        first, twins = len(self.out.ids), []
        self.put(source, rows, [-1] * len(rows))
        for i, row in enumerate(rows):
            toxic = bool((row.labels >= 0.3).any())
            share = DISGUISED[toxic] if self.training.mix[source].labelled else NATURAL_DISGUISED
            if self.rng.random() < share:
                text, origin = self.training.disguise(row.text, self.rng, self.telling)
                twins.append((first + i, data.Row(text, source, "train", row.labels, None if row.votes is None else row.votes[:, origin])))
            elif self.rng.random() < CUT and mosaics.harmless(row) and len(row.text) > 20:
                end = int(self.rng.integers(6, len(row.text)))
                text = row.text[: row.text.rfind(" ", 0, end) if " " in row.text[:end] else end]
                twins.append((first + i, data.Row(text, source, "train", row.labels, data.no_votes(text))))
        self.put(source, [row for _, row in twins], [of for of, _ in twins])
        self.out.hashes += [0] * len(twins)

    def put(self, source: str, rows: list[data.Row], twins: list[int], train: bool = True):
        of = self.training
        scales = (of.mix[source].scales if train else (False, False))[: of.scales]
        for row, (ids, targets), twin in zip(rows, self.encode(rows), twins):
            given = as_bytes(row.labels)
            self.out.ids.append(ids)
            self.out.names.append("" if twin >= 0 else row.id)
            self.out.targets.append(targets)
            self.out.labels.append(np.concatenate([given if used else np.full_like(given, UNKNOWN) for used in scales]))
            self.out.source.append([*of.mix].index(source) if train else UNKNOWN)
            self.out.twin.append(twin)
            self.out.train.append(train)
            self.out.filler.append(train and twin < 0 and source in of.harmless and (mosaics.harmless(row) or not of.mix[source].labelled) and not row.human)


def prepared(row: data.Row, rng: np.random.Generator) -> data.Row:
    """A row without the marks of its file. A text whose words are marked stays as it is."""
    if row.votes is not None and np.any(row.votes):
        return row
    text = written_out(row.text, rng)
    return dataclasses.replace(row, text=text, votes=None if row.votes is None else data.no_votes(text))


def as_bytes(values: np.ndarray) -> np.ndarray:
    """uint8: a probability in SCALE steps, UNKNOWN for NaN."""
    return np.where(np.isnan(values), UNKNOWN, np.rint(np.nan_to_num(values) * SCALE)).astype(np.uint8)


def pack(folder: Path, out: Path, of: Training, without: set[str], opinions: bool, seed: int = 1) -> Packed:
    by_source = training_rows(folder, without, of)
    everything = [row for name, rows in by_source.items() if of.mix[name].labelled for row in rows]
    packer = Packer(of, data.telling_words(everything, of.terms), seed)
    for name, rows in by_source.items():
        packer.add(name, rows)
        print(f"{name:26} {len(rows):8,} rows", flush=True)
    dev = of.dev_rows(folder)
    texts = plain.rows([data.Row(text, source, "dev", np.full(7, np.nan, np.float32), id=id) for source, id, text in dev])
    packer.put("dev", texts, [-1] * len(texts), train=False)
    packer.out.hashes += [hash_of(text) for _, _, text in dev]
    print(f"{'dev rows':26} {len(dev):8,} rows")
    summary(packer.out, of)
    offsets = natural_offsets(by_source, of.mix)
    meta = {
        "sources": [
            {
                "name": name, "weight": mix.weight, "repeat": mix.repeat, "most": mix.most, "ranked": mix.ranked, "anchored": mix.anchored, "offsets": offsets.get(mix.cut),
                "labelled": mix.labelled, "language": mix.language,
            }
            for name, mix in of.mix.items()
        ],
        "scales": of.scales, "wraps": of.wraps, "words": of.words, "between": [of.tokenizer.encode(mark, add_special_tokens=False).ids for mark in BETWEEN],
    }
    write(packer.out, out, meta)
    (out / "opinions.xz").unlink(missing_ok=True)
    if opinions:
        known = read_opinions()
        logits = np.stack([known.get(number, NO_OPINION) if train else NO_OPINION for number, train in zip(packer.out.hashes, packer.out.train)])[:, : of.scales * network.ATTRIBUTES]
        with lzma.open(out / "opinions.xz", "wb") as file:
            file.write(np.ascontiguousarray(logits.T).tobytes())
        print(f"{'opinions':26} {int((logits[:, 0] != UNKNOWN).sum()):8,} rows")
    return packer.out


def summary(rows: Packed, of: Training):
    """Prints rows and tokens by language, without twins and what measures, and how many rows an epoch has."""
    mixes, counts, sizes = [*of.mix.values()], defaultdict(int), defaultdict(int)
    for source, twin, ids in zip(rows.source, rows.twin, rows.ids):
        if source != UNKNOWN and twin < 0:
            counts[source] += 1
            sizes[source] += len(ids)
    for language in sorted({mix.language for mix in mixes}):
        sources = [source for source in counts if mixes[source].language == language]
        shown = sum(mixes[s].repeat * min(counts[s], mixes[s].most or counts[s]) for s in sources if mixes[s].labelled)
        print(f"{language:26} {sum(counts[s] for s in sources):8,} rows, {sum(sizes[s] for s in sources):10,} tokens; {shown:9,.0f} rows of an epoch")


def hash_of(text: str) -> int:
    """40 bits of a text's words: of a million texts, fewer than one pair is expected to share them by chance."""
    return int.from_bytes(hashlib.sha1(data.key(text).encode()).digest()[:5])


def write_opinions(hashes: np.ndarray, logits: np.ndarray):
    """hashes: uint64, sorted; logits: uint8 [rows, 14] as train.save_opinions has them. In planes, the steps between hashes."""
    steps = np.diff(hashes, prepend=np.uint64(0)).astype("<u8")
    with lzma.open(OPINIONS, "wb", preset=9) as file:
        file.write(len(hashes).to_bytes(4) + np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 8)[:, :5].T).tobytes() + np.ascontiguousarray(logits.T).tobytes())


def read_opinions() -> dict[int, np.ndarray]:
    with lzma.open(OPINIONS) as file:
        count = int.from_bytes(file.read(4))
        steps = np.zeros((count, 8), np.uint8)
        steps[:, :5] = np.frombuffer(file.read(5 * count), np.uint8).reshape(5, count).T
        logits = np.frombuffer(file.read(), np.uint8).reshape(14, count).T
    return dict(zip(np.cumsum(steps.view("<u8")[:, 0]).tolist(), logits))


def natural_offsets(by_source: dict[str, list[data.Row]], mixes: dict[str, Mix] = MIX) -> dict[str, list[float | None]]:
    """By cut, the change of a label's log-odds caused by it: with it as a known bias, logits keep nature's share. Not of
    severe_toxicity, which Wikipedia's raters define differently from Perspective."""
    out = {}
    for cut, shares in data.NATURAL_SHARES.items():
        labels = np.array([row.labels for name, mix in mixes.items() if mix.cut == cut for row in by_source[name]])
        if len(labels):
            have = {a: labels[:, data.ATTRIBUTES.index(a)].mean() for a in shares if a != "severe_toxicity"}
            of = {a: float(np.log(p / (1 - p)) - np.log(shares[a] / (1 - shares[a]))) for a, p in have.items() if 0 < p < 1}
            out[cut] = [None] * 7 + [of.get(a) for a in data.ATTRIBUTES]
    return out


def write(rows: Packed, out: Path, meta: dict):
    """rows.xz: the arrays one behind the other, a stream each; their shapes and types in meta.json."""
    lengths = np.array([len(ids) for ids in rows.ids], dtype=np.uint8)
    marked = np.array([targets is not None for targets in rows.targets])
    # Rows without a single mark are the most, and only their kind is written.
    clean = np.array([targets is not None and not targets.any() for targets in rows.targets])
    arrays = {
        "length": lengths, "ids": np.concatenate(rows.ids), "labels": np.stack(rows.labels),
        "targets": np.concatenate([np.zeros((0, 5), np.uint8), *(t for t, m, c in zip(rows.targets, marked, clean) if m and not c)]),
        "marked": marked.astype(np.uint8) + clean, "source": np.array(rows.source, np.uint8), "twin": np.array(rows.twin, np.int32),
        "train": np.array(rows.train, np.uint8), "filler": np.array(rows.filler, np.uint8),
    }
    meta["arrays"] = {}
    with open(out / "rows.xz", "wb") as file:
        for name, array in arrays.items():
            # What byte of a number it is predicts a byte: token ids take a quarter less.
            position = array.itemsize.bit_length() - 1
            filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lp": position, "pb": position, "lc": 0 if position else 3}]
            file.write(lzma.compress(np.ascontiguousarray(array).tobytes(), filters=filters))
            meta["arrays"][name] = [str(array.dtype), list(array.shape)]
    (out / "meta.json").write_text(json.dumps(meta))


def base(name: str, jar: Path | None) -> tuple[dict, dict[str, torch.Tensor]]:
    """A base model with the new tokens, each at the mean of the words that say what it means; weights/ has learnt them."""
    if name == "multilingual":
        own = multilingual_tokens.base()
        return own.config, own.weights
    if (WEIGHTS / f"{name}-1.pt").exists():
        return rounded.load_rounded(WEIGHTS, name)
    if name == "toxicity-en":
        model = network.from_folder(ROOT / "models" / name)
        config, state = model.config, model.state_dict()
    else:
        config, state = network.e5(jar) if jar else network.encoder(name)
    words = state["embeddings.word.weight"].clone()
    for id, pieces in tokens.starts().items():
        words[id] = state["embeddings.word.weight"][pieces].mean(0)
    keys = ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size", "layer_norm_eps", "vocab_size", "max_position_embeddings", "relative_attention_num_buckets")
    return {key: config[key] for key in keys if key in config}, state | {"embeddings.word.weight": words}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="the data folder")
    parser.add_argument("--out", required=True, type=Path, help="the folder to make")
    parser.add_argument("--base", action="append", metavar="NAME[=JAR]", help="a base model: minilm, mpnet, e5=JAR, toxicity-en, the model that ships, or six-layers, trained from it (weights/); repeatable (default minilm)")
    parser.add_argument("--multilingual", action="store_true", help="the rows and the base of the model of many languages")
    parser.add_argument("--opinions", action="store_true", help="also what an earlier teacher said, of English")
    parser.add_argument("--licensed", action="store_true", help="leave out the sources whose authors state no licence")
    args = parser.parse_args()
    if args.multilingual and args.base:
        parser.error("--base is for English; leave it out with --multilingual, which has one base")
    args.out.mkdir(parents=True, exist_ok=True)
    of = many_languages(multilingual_tokens.base()) if args.multilingual else english()
    rows = pack(args.data, args.out, of, {*data.UNLICENSED, *multilingual_data.UNLICENSED} if args.licensed else set(), args.opinions)
    with gzip.open(f"{args.out}.rows.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps([name, number]) + "\n" for name, number, of in zip(rows.names, rows.hashes, rows.twin) if of < 0)
    for given in args.base or ["multilingual" if args.multilingual else "minilm"]:
        name, _, jar = given.partition("=")
        config, state = base(name, Path(jar) if jar else None)
        rounded.save_rounded(state, args.out, f"base-{name}", config)
    for code in (Path(__file__).with_name("train.py"), Path(rounded.__file__)):
        shutil.copy(code, args.out)
    sizes = {path.name: path.stat().st_size for path in sorted(args.out.iterdir()) if path.is_file()}
    print(f"{len(rows.ids):,} rows, {sum(len(ids) for ids in rows.ids):,} tokens; {sum(sizes.values()) / 2**20:.1f} MiB in {args.out}: " + ", ".join(f"{name} {size / 2**20:.1f}" for name, size in sizes.items()))


if __name__ == "__main__":
    main()

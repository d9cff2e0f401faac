"""Trains the network of names: PERSON, LOCATION, ADDRESS, ORGANIZATION and NRP in texts.

    python training/entities.py --data DATA --out build/entities

If it is killed, the same command resumes. entities_export.py turns the checkpoint into models/entities-en. The network
reads what the first stage of models/toxicity-en, the embeddings, makes of a window, and the shape of each token: BERT's
vocabulary is in lower case, and capitals tell much about names. Its layers begin as those of all-MiniLM-L6-v2.

When the embeddings have changed, --earlier continues from the network that shipped with the earlier ones and learns to
say the same.
"""

import argparse
import itertools
import json
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import entities_data as data
import folder as folders
import model as network
import plain
import stages
import tokens

TYPES = ("PERSON", "LOCATION", "ADDRESS", "ORGANIZATION", "NRP")
# No name, then the first token of a name and the others for each type.
LABELS = ("O", *(f"{part}-{name}" for name in TYPES for part in "BI"))
IGNORED = -100
# Of a token by its letters, as encoder/shape.go has them. A token that begins where the one before ends has GLUED added.
NO_LETTER, LOWER, TITLE, UPPER, MIXED, DIGITS, GLUED = range(7)
SHAPES = 2 * GLUED
SHIPPED = Path(__file__).resolve().parents[1] / "models" / "toxicity-en"
LAYERS = 6
NEW_TOKENS = torch.tensor(tokens.PLACES)  # no version before toxicity-en 2.2.0 has them
GENERATED = 12_000  # texts in an epoch
SMOOTHING = 0.05
PADDING = 4  # tokens between two lengths of tensors
MOST_TEXTS = 192  # of a step, or it would have hundreds of single words


def shape(token: str) -> int:
    """The shape of the text of a token."""
    letters = [c for c in token if c.isalpha()]
    if not letters:
        return DIGITS if any(c.isdecimal() for c in token) else NO_LETTER
    upper = [c.isupper() for c in letters]
    if not any(upper):
        return LOWER
    if upper[0] and not any(upper[1:]):
        return TITLE
    return UPPER if all(upper) else MIXED


class Names(nn.Module):
    """hidden float32 [texts, tokens, 384] of the embeddings, mask and shapes int64 [texts, tokens] -> logits
    [texts, tokens, 11] of LABELS."""

    def __init__(self, layers: int, dropout: float = 0.1, shapes: bool = True):
        super().__init__()
        whole = network.from_base()
        network.shorten(whole, layers)
        self.layers = whole.layers
        self.dropout = network.Dropout(dropout)
        for layer in self.layers:
            layer.dropout = self.dropout
        self.shape = nn.Embedding(SHAPES, stages.WIDTH) if shapes else None
        if shapes:
            nn.init.zeros_(self.shape.weight)
        self.names = nn.Linear(stages.WIDTH, len(LABELS))

    def forward(self, hidden, mask, shapes):
        x = hidden if self.shape is None else hidden + self.shape(shapes)
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        return self.names(self.dropout(x.float()))


def shapes_of(text: str, offsets) -> np.ndarray:
    """int64 [tokens]: the shape of each token of a text."""
    ends = [-1, *(end for _, end in offsets)]
    return np.array([shape(text[a:b]) + GLUED * (a == end) for (a, b), end in zip(offsets, ends)], np.int64)


@dataclass
class Window:
    """Tokens of a text that the network sees at once, [CLS] and [SEP] included."""

    ids: np.ndarray
    shapes: np.ndarray
    labels: np.ndarray


def encode(tokenizer, texts: list[str]):
    return tokenizer.encode_batch(texts, add_special_tokens=False)


def labels_of(offsets, spans) -> np.ndarray:
    """The label of each token. A token that is partly in a span is in it; spans of no type of ours are ignored."""
    out = np.zeros(len(offsets), np.int64)
    for start, end, name in spans:
        first = True
        for i, (a, b) in enumerate(offsets):
            if a < end and b > start:
                if name not in TYPES:
                    out[i] = IGNORED
                else:
                    out[i] = LABELS.index(("B-" if first else "I-") + name)
                first = False
    return out


def windows_of(examples: list[data.Example], tokenizer, rng: np.random.Generator) -> list[Window]:
    """One window of each text: of a long one, any."""
    out, room, examples = [], folders.MAX_TOKENS - 2, plain.examples(examples)
    for example, encoding in zip(examples, encode(tokenizer, [e.text for e in examples])):
        ids = np.array(encoding.ids, np.int64)
        labels = labels_of(encoding.offsets, example.spans)
        shapes = shapes_of(example.text, encoding.offsets)
        if len(ids) > room:
            at = int(rng.integers(len(ids) - room + 1))
            ids, labels, shapes = ids[at : at + room], labels[at : at + room], shapes[at : at + room]
        out.append(Window(np.concatenate([[folders.CLS], ids, [folders.SEP]]), np.pad(shapes, 1), np.pad(labels, 1, constant_values=IGNORED)))
    return out


def padded(tokens: int) -> int:
    """The length that a tensor is padded to. oneDNN compiles kernels for each shape: with few of them, steps are 8 %
    faster in bfloat16."""
    return math.ceil(tokens / PADDING) * PADDING


def batches(windows: list[Window], budget: int, rng: np.random.Generator) -> list[list[Window]]:
    """Batches of at most budget tokens, including padding: sorted by length within blocks of 4,096 windows, which keeps
    padding low and the mix of sources even. The length of a batch tells its number of windows."""
    out = []
    for start in range(0, len(windows), 4096):
        block = sorted(windows[start : start + 4096], key=lambda w: -len(w.ids))
        while block:
            texts = max(1, min(budget // padded(len(block[0].ids)), MOST_TEXTS))
            out.append(block[:texts])
            block = block[texts:]
    rng.shuffle(out)
    return out


def collate(windows: list[Window]) -> dict[str, torch.Tensor]:
    tokens = padded(max(len(w.ids) for w in windows))
    ids, mask, shapes = np.zeros((3, len(windows), tokens), np.int64)
    labels = np.full((len(windows), tokens), IGNORED, np.int64)
    for i, w in enumerate(windows):
        n = len(w.ids)
        ids[i, :n], mask[i, :n], shapes[i, :n], labels[i, :n] = w.ids, 1, w.shapes, w.labels
    return {name: torch.from_numpy(value) for name, value in (("ids", ids), ("mask", mask), ("shapes", shapes), ("labels", labels))}


def decode(text: str, encoding, probabilities: np.ndarray, least: float | dict[str, float] = 0.5) -> list[tuple[int, int, str, float]]:
    """The names in a text, as names.Network finds them: (start, end, type, score). A word has the mean of the probabilities of its
    tokens; it is in a name if its likeliest type reaches least. A name's score is the mean of its words'.
    probabilities: [tokens, 11]."""
    out: list[tuple[int, int, int, list[float]]] = []
    previous = None
    for _, group in itertools.groupby(range(len(encoding.ids)), key=lambda i: encoding.word_ids[i]):
        word = list(group)
        p = probabilities[word]
        mean = (p[:, 1::2] + p[:, 2::2]).mean(0)
        best = int(mean.argmax())
        if mean[best] < (least if isinstance(least, float) else least[TYPES[best]]):
            previous = None
            continue
        start, end = encoding.offsets[word[0]][0], encoding.offsets[word[-1]][1]
        if previous == best and p[0, 1 + 2 * best] <= p[0, 2 + 2 * best]:
            begin, _, _, scores = out.pop()
            out.append((begin, end, best, [*scores, float(mean[best])]))
        else:
            out.append((start, end, best, [float(mean[best])]))
        previous = best
    found = []
    for start, end, best, scores in out:
        while end > start and not (text[end - 1].isalnum() or text[end - 1] in ".)"):
            end -= 1
        while start < end and not (text[start].isalnum() or text[start] in "@#("):
            start += 1
        name = text[start:end]
        if any(c.isalpha() for c in name) or TYPES[best] == "ADDRESS" and any(c.isdecimal() for c in name):  # a postcode
            found.append((start, end, TYPES[best], float(np.mean(scores))))
    return found


class Frozen(nn.Module):
    """The embeddings of the model that ships, or its first layers too: ids and mask -> hidden."""

    def __init__(self, folder: Path, layers: int = 0):
        super().__init__()
        model = network.from_folder(folder)
        self.embeddings, self.layers = model.embeddings, model.layers[:layers]
        self.requires_grad_(False).eval()

    def forward(self, ids, mask):
        x = self.embeddings(ids)
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        return x

    def train(self, mode: bool = True):
        return self


class Earlier:
    """The network of names as it shipped with other embeddings. folder: models/ of that version."""

    def __init__(self, folder: Path):
        self.frozen = Frozen(folder / "toxicity-en")
        self.model = network.with_weights(Names(LAYERS), stages.read(folder / "entities-en" / "network.ort"), folder)

    @torch.no_grad()
    def logits(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.model(self.frozen(batch["ids"], batch["mask"]), batch["mask"], batch["shapes"]).float()


def loss_of(logits: torch.Tensor, batch: dict[str, torch.Tensor], earlier: Earlier | None) -> torch.Tensor:
    """The loss by the labels; by what an earlier network says, of the windows that it reads as the same tokens."""
    labels, new = batch["labels"], torch.ones(len(logits), dtype=torch.bool)
    total, n = logits.new_zeros(()), 0
    if earlier:
        new = torch.isin(batch["ids"], NEW_TOKENS).any(1)
        known = batch["mask"].bool() & ~new[:, None]
        said = torch.softmax(earlier.logits(batch)[known], -1)
        total, n = total + F.kl_div(torch.log_softmax(logits[known], -1), said, reduction="sum"), n + len(said)
    known = (labels != IGNORED) & new[:, None]
    return (total + F.cross_entropy(logits[known], labels[known], label_smoothing=SMOOTHING, reduction="sum")) / (n + known.sum())


def probabilities(model: Names, frozen: Frozen, tokenizer, texts: list[str]):
    """(encoding, probabilities [tokens, 11]) of each text, window by window as the product has them."""
    encodings = encode(tokenizer, texts)
    jobs, outs = [], [np.zeros((len(e.ids), len(LABELS)), np.float32) for e in encodings]
    for t, (text, e) in enumerate(zip(texts, encodings)):
        shapes = shapes_of(text, e.offsets)
        for start, end, begin, to in folders.divide(text, e.offsets, folders.MAX_TOKENS - 2, folders.OVERLAP):
            w = Window(np.array([folders.CLS, *e.ids[start:end], folders.SEP]), np.pad(shapes[start:end], 1), np.zeros(end - start + 2, np.int64))
            jobs.append((t, start, begin, to, w))
    jobs.sort(key=lambda j: len(j[4].ids))
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=network.fast_bfloat16(torch.device("cpu"))):
        for at in range(0, len(jobs), 64):
            some = jobs[at : at + 64]
            b = collate([j[4] for j in some])
            p = torch.softmax(model(frozen(b["ids"], b["mask"]), b["mask"], b["shapes"]).float(), -1).numpy()
            for row, (t, start, begin, to, _) in zip(p, some):
                outs[t][begin:to] = row[1 + begin - start : 1 + to - start]
    return encodings, outs


def overlapping(some: list, others: list) -> int:
    """How many of some overlap one of others."""
    return sum(any(a < d and b > c for c, d, *_ in others) for a, b, *_ in some)


def counted(example: data.Example, found: list) -> dict[str, tuple[int, int, int, int]]:
    """For each type that the example's source annotates: how many found spans overlap one of its type, of how many, and how many
    of its spans overlap a found one, of how many. A found span that overlaps one that is ignored does not count."""
    ignored = [s for s in example.spans if s[2] not in TYPES]
    found = [f for f in found if not overlapping([f], ignored)]
    out = {}
    for name in TYPES:
        if name in example.known:
            f, g = [x for x in found if x[2] == name], [x for x in example.spans if x[2] == name]
            out[name] = overlapping(f, g), len(f), overlapping(g, f), len(g)
    return out


def figures(model: Names, frozen: Frozen, tokenizer, examples: list[data.Example]) -> dict:
    """Precision, recall and F1 of overlapping spans, for each source and type that it annotates. A found span counts if it overlaps
    one of its type, and the other way round."""
    out: dict = {}
    examples = plain.examples(examples)
    encodings, all_ = probabilities(model, frozen, tokenizer, [e.text for e in examples])
    counts: dict[str, np.ndarray] = {}
    for example, encoding, p in zip(examples, encodings, all_):
        for name, numbers in counted(example, decode(example.text, encoding, p)).items():
            counts.setdefault(f"{example.source} {name}", np.zeros(4, int))
            counts[f"{example.source} {name}"] += numbers
    for key, (right, found, recalled, gold) in counts.items():
        if gold:
            p, r = right / max(found, 1), recalled / gold
            out[key] = {"p": round(p, 3), "r": round(r, 3), "f1": round(2 * p * r / max(p + r, 1e-9), 3), "n": int(gold)}
        elif found:
            out[key] = {"false": int(found)}
    return out


def main(argv: list[str] | None = None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path, help="checkpoint and log")
    parser.add_argument("--layers", type=int, default=LAYERS, help="layers of the network (default %(default)s)")
    parser.add_argument("--shared", type=int, default=0, help="layers of the shipped network, frozen, below it (default %(default)s)")
    parser.add_argument("--epochs", type=float, default=8, help="(default %(default)s)")
    parser.add_argument("--generated", type=int, default=GENERATED, help="generated texts in an epoch (default %(default)s)")
    parser.add_argument("--batch-tokens", type=int, default=2048)
    parser.add_argument("--lr", type=float, default=2e-4)
    parser.add_argument("--start", type=Path, help="checkpoint.pt of an earlier run, to continue with these settings (default: the network of --earlier, or the base model)")
    parser.add_argument("--earlier", type=Path, help="models/ of an earlier version, whose network of names is to be learnt on the embeddings that ship now")
    parser.add_argument("--no-shapes", action="store_true", help="train without the shapes of tokens, to measure what they bring")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    settings = {k: str(v) for k, v in vars(args).items() if k not in ("out",)}
    checkpoint, log = args.out / "checkpoint.pt", args.out / "log.jsonl"

    torch.manual_seed(args.seed)
    tokenizer = folders.tokenizer(SHIPPED)
    # What an earlier network says is said without dropout.
    frozen, model = Frozen(SHIPPED, args.shared), Names(args.layers, dropout=0.0 if args.earlier else 0.1, shapes=not args.no_shapes)
    if args.shared:
        model.layers = network.from_base().layers[args.shared : args.shared + args.layers]
    earlier = Earlier(args.earlier) if args.earlier else None
    if args.start:
        state = torch.load(args.start, weights_only=True)
        model.load_state_dict(state["model"] | state["average"])
    elif earlier:
        model.load_state_dict(earlier.model.state_dict())
    dev = [e for e in data.load(args.data) if e.split == "dev"]
    named, plain = [p for p in model.parameters() if p.ndim > 1], [p for p in model.parameters() if p.ndim == 1]
    optimizer = torch.optim.AdamW([{"params": named, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}], lr=args.lr, fused=True)
    average = {n: p.detach().clone() for n, p in model.named_parameters()}
    epoch = batch = step = 0
    seconds = 0.0
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        if state["settings"] != settings:
            raise ValueError(f"failed to resume from {checkpoint}: it was written with {state['settings']}; use the same settings or another --out")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        average, (epoch, batch, step, seconds) = state["average"], state["counters"]

    def save():
        partial = checkpoint.with_suffix(".partial")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "average": average, "counters": [epoch, batch, step, seconds], "settings": settings}, partial)
        os.replace(partial, checkpoint)

    def note(**what):
        line = json.dumps({"step": step, "epoch": epoch, "seconds": round(seconds)} | what)
        print(line, flush=True)
        with log.open("a") as lines:
            lines.write(line + "\n")

    def averaged() -> Names:
        copy = Names(args.layers, shapes=not args.no_shapes)
        copy.load_state_dict(model.state_dict() | average)
        return copy.eval()

    began, saved, losses = time.monotonic() - seconds, time.monotonic(), []
    per_epoch = None
    while epoch < args.epochs:
        rng = np.random.default_rng([args.seed, epoch])
        examples = data.epoch(args.data, args.generated, args.seed * 1000 + epoch)
        plan = batches(windows_of(examples, tokenizer, rng), args.batch_tokens, rng)
        per_epoch = len(plan)
        total = args.epochs * per_epoch
        for some in plan[batch:]:
            torch.manual_seed(args.seed * 1_000_003 + step)
            model.train()
            b = collate(some)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=network.fast_bfloat16(torch.device("cpu"))):
                with torch.no_grad():
                    hidden = frozen(b["ids"], b["mask"])
                logits = model(hidden, b["mask"], b["shapes"])
                loss = loss_of(logits.float(), b, earlier)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if not torch.isfinite(norm):
                raise FloatingPointError(f"failed at step {step}: the gradient is not finite; lower --lr and start with an empty --out")
            for group in optimizer.param_groups:
                group["lr"] = network.learning_rate(args.lr, (epoch * per_epoch + batch) / total)
            optimizer.step()
            optimizer.zero_grad()
            torch._foreach_lerp_(list(average.values()), [p.detach() for p in model.parameters()], 1 - min(0.998, (1 + step) / (10 + step)))
            losses.append(loss.item())
            step, batch, seconds = step + 1, batch + 1, time.monotonic() - began
            if step % 100 == 0:
                note(of=round(total), loss=round(float(np.mean(losses)), 4))
                losses = []
            if time.monotonic() - saved > 120:
                save()
                saved = time.monotonic()
        epoch, batch = epoch + 1, 0
        note(dev=figures(averaged(), frozen, tokenizer, dev))
        save()


if __name__ == "__main__":
    main()

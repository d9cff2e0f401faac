"""Trains: one command, seeded, resumable. export.py turns the checkpoint into a model folder.

    python training/train.py --data DATA --out build/first

If it is killed, the same command resumes from the last checkpoint in --out and ends with the same
weights as an uninterrupted run: the order of the rows follows from (seed, epoch), the random numbers
of a step from (seed, step).
"""

import argparse
import copy
import hashlib
import json
import math
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from torch.nn import functional as F

import data
import grammars
import model as network
import mosaics
import plain

MAX_TOKENS = 128  # [CLS] and [SEP] included; also the window of the exported model
OVERLAP = 16  # tokens shared by two windows of the exported model
CLS, SEP = 101, 102
# Shares of the toxic and of the other rows that are disguised in an epoch. Far more of our rows are toxic than
# of the texts that people write: an undecipherable text should look like most texts.
DISGUISED = {True: 0.2, False: 0.3}
TYPICAL_ROWS = 80  # a step's loss is a sum divided by this, so a row counts the same in every batch
MAX_ROWS = 192  # otherwise a step of single words would have 500 rows and one kind of text
COMPILED_FROM = 1_000_000  # tokens of a run
TOKEN_WEIGHT = 2.0  # of the token head's loss relative to the text head's
RANK_WEIGHT = 0.2  # of the distance to a ranked score, in log-odds, relative to cross entropy
RANKED = 0.005  # scores below it, or as near to 1, have no order
SHAPES = 4  # tokens between two lengths of tensors
PARTS = 16  # of mosaics, that are scored together
OPINION_WEIGHT = 0.5  # of a model's opinion relative to the label, see losses
# What a training can leave out, beside sources.
OPTIONAL = ("mosaics", "evidence", "sentences_harmless", "sentences_harmful")


# Without instructions for it, bfloat16 takes many times as long as float32.
FAST_BFLOAT16 = torch.cuda.is_available() or torch.cpu._is_avx512_bf16_supported()


@dataclass
class Example:
    """A tokenized row. ids with [CLS] and [SEP]; targets [5, len(ids) - 2], NaN = masked, or None. parts: of a
    mosaic, the ids of the texts that are not harmless filling, each on its own."""

    ids: np.ndarray
    row: data.Row
    targets: np.ndarray | None
    parts: list[np.ndarray] = field(default_factory=list)


def base_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(network.base_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def epoch_rows(rows: list[data.Row], rng: np.random.Generator) -> list[data.Row]:
    """The rows of one epoch: each source repeated or capped as data.SOURCES says, shuffled."""
    by_source = {}
    for row in rows:
        by_source.setdefault(row.source, []).append(row)
    out = []
    for name, source in data.SOURCES.items():
        have = by_source.get(name, [])
        if source.most is not None and len(have) > source.most:
            have = [have[i] for i in rng.choice(len(have), source.most, replace=False)]
        out.extend(have * source.repeat)
    rng.shuffle(out)
    return out


def tokenize(rows: list[data.Row], tokenizer: Tokenizer, rng: np.random.Generator, telling: set[str] = frozenset(), disguised: dict[bool, float] | None = None) -> list[Example]:
    """Reads rows as the product does (plain.py), disguises some if shares are given, tokenizes all, crops the long ones.

    A crop keeps the label of the whole text, so it is cut where most telling words are; without any, half of the
    crops start at the beginning, like a short text."""
    out, rows = [], plain.rows(rows)
    for start in range(0, len(rows), 4096):
        batch = rows[start : start + 4096]
        origins = [None] * len(batch)
        texts = [row.text for row in batch]
        for i, row in enumerate(batch):
            if disguised and rng.random() < disguised[bool((row.labels >= 0.3).any())]:
                texts[i], origins[i] = data.disguise(row.text, rng, telling)
        for row, origin, encoding in zip(batch, origins, tokenizer.encode_batch(texts, add_special_tokens=False)):
            ids, targets = np.array(encoding.ids, dtype=np.int64), None
            if row.votes is not None:
                votes = row.votes if origin is None else row.votes[:, origin]
                offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
                total = np.pad(np.cumsum(votes, axis=1, dtype=np.float64), ((0, 0), (1, 0)))
                length = np.maximum(offsets[:, 1] - offsets[:, 0], 1)
                targets = ((total[:, offsets[:, 1]] - total[:, offsets[:, 0]]) / length).astype(np.float32)
            room = MAX_TOKENS - 2
            if len(ids) > room:
                at = crop(encoding.tokens, room, telling, rng)
                ids, targets = ids[at : at + room], None if targets is None else targets[:, at : at + room]
            out.append(Example(np.concatenate([[CLS], ids, [SEP]]), row, targets))
    return out


def crop(tokens: list[str], room: int, telling: set[str], rng: np.random.Generator) -> int:
    """The first of room tokens, including as many telling words as possible."""
    found = np.array([token in telling for token in tokens])
    inside = np.convolve(found, np.ones(room, int), "valid")
    if found.any():
        return int(rng.choice(np.flatnonzero(inside == inside.max())))
    return 0 if rng.random() < 0.5 else int(rng.integers(len(tokens) - room + 1))


def padded(tokens: int) -> int:
    """The length that a tensor is padded to. oneDNN compiles kernels for each shape: with few of them, steps are 8 %
    faster in bfloat16."""
    return math.ceil(tokens / SHAPES) * SHAPES


def batches(examples: list[Example], budget: int, rng: np.random.Generator) -> list[list[Example]]:
    """Batches of at most budget tokens, including padding: sorted by length within blocks of 4,096
    examples, which keeps padding low and the mix of sources even. The length of a batch tells its number of texts."""
    out = []
    for start in range(0, len(examples), 4096):
        block = sorted(examples[start : start + 4096], key=lambda e: -len(e.ids))
        while block:
            texts = max(1, min(budget // padded(len(block[0].ids)), MAX_ROWS))
            out.append(block[:texts])
            block = block[texts:]
    rng.shuffle(out)
    return out


def tensors_of(texts: list[np.ndarray]) -> dict[str, torch.Tensor]:
    """ids and mask, int64 [texts, tokens], of the token ids of texts."""
    ids, mask = np.zeros((2, len(texts), padded(max(len(text) for text in texts))), np.int64)
    for i, text in enumerate(texts):
        ids[i, : len(text)], mask[i, : len(text)] = text, 1
    return {"ids": torch.from_numpy(ids), "mask": torch.from_numpy(mask)}


def collate(batch: list[Example], device: str = "cpu") -> dict[str, torch.Tensor]:
    inputs = tensors_of([e.ids for e in batch])
    targets = np.full((*inputs["ids"].shape, len(data.SPAN_ATTRIBUTES)), np.nan, np.float32)
    for i, example in enumerate(batch):
        if example.targets is not None:
            targets[i, 1 : len(example.ids) - 1] = example.targets.T
    tensors = inputs | {
        "targets": torch.from_numpy(targets),
        "labels": torch.from_numpy(np.stack([e.row.labels for e in batch])),
        "source": torch.tensor([data.SOURCE_NAMES.index(e.row.source) for e in batch]),
        "ranked": torch.tensor([data.SOURCES[e.row.source].ranked for e in batch]),
        "weight": torch.tensor([data.SOURCES[e.row.source].weight for e in batch]),
    }
    if batch[0].row.taught is not None:
        tensors["taught"] = torch.from_numpy(np.stack([e.row.taught for e in batch]))
    return {name: tensor.to(device) for name, tensor in tensors.items()}


def collate_parts(batch: list[Example], device: str = "cpu") -> list[dict[str, torch.Tensor]]:
    """The parts of a batch's mosaics, each on its own, in a few tensors by length: of, int64 [parts], is the index of
    a part's mosaic in the batch."""
    parts = sorted(((i, ids) for i, example in enumerate(batch) for ids in example.parts), key=lambda part: len(part[1]))
    out = []
    for start in range(0, len(parts), PARTS):
        some = parts[start : start + PARTS]
        tensors = tensors_of([part for _, part in some]) | {"of": torch.tensor([i for i, _ in some])}
        out.append({name: tensor.to(device) for name, tensor in tensors.items()})
    return out


def alone(model, parts: list[dict], texts: int) -> torch.Tensor:
    """float32 [texts, 7]: what the model says of a mosaic's strongest part on its own, as a probability; NaN for texts
    that are no mosaic."""
    device = next(model.parameters()).device
    out = torch.full((texts, len(data.ATTRIBUTES)), -math.inf, device=device)
    if not parts:
        return out.fill_(math.nan)
    model.eval()
    with torch.no_grad(), torch.autocast(device.type, dtype=torch.bfloat16, enabled=FAST_BFLOAT16):
        for some in parts:
            logits = model(some["ids"], some["mask"])[0].float()
            out.scatter_reduce_(0, some["of"].unsqueeze(1).expand_as(logits), logits, "amax")
    model.train()
    return torch.where(out == -math.inf, math.nan, torch.sigmoid(out))


def losses(model, bias, batch, parts: list[dict] = ()) -> tuple[torch.Tensor, torch.Tensor]:
    """Binary cross entropy on soft targets, for texts and for tokens; NaN is ignored. Between two harmless texts it
    has hardly a gradient, so ranked scores count by their log-odds too (Huber's loss). An opinion is on the reference
    scale, without a bias, for annotated and unannotated attributes: a teacher's, or of a mosaic the model's own on its
    strongest part alone, since harmless text around it changes nothing."""
    opinion = alone(model, parts, len(batch["ids"]))
    if "taught" in batch:
        opinion = torch.where(opinion.isnan(), batch["taught"], opinion)
    with torch.autocast(batch["ids"].device.type, dtype=torch.bfloat16, enabled=FAST_BFLOAT16):
        logits, token_logits = model(batch["ids"], batch["mask"])
    logits = logits.float()
    biased = logits + bias(batch["source"])
    known = ~batch["labels"].isnan()
    loss = F.binary_cross_entropy_with_logits(biased, batch["labels"].nan_to_num(), reduction="none") * known
    odds = torch.logit(batch["labels"].nan_to_num(), eps=RANKED)
    loss = loss + RANK_WEIGHT * F.smooth_l1_loss(biased, odds, reduction="none") * (known & batch["ranked"].unsqueeze(1))
    weight = OPINION_WEIGHT * ~opinion.isnan()
    loss = (1 - weight) * loss + weight * F.binary_cross_entropy_with_logits(logits, opinion.nan_to_num(), reduction="none")
    text = (loss.sum(1) * batch["weight"]).sum() / TYPICAL_ROWS

    known = ~batch["targets"].isnan()
    loss = F.binary_cross_entropy_with_logits(token_logits.float(), batch["targets"].nan_to_num(), reduction="none") * known
    # A mean over a text's tokens: a long post counts once.
    token = ((loss.sum(1) / known.sum(1).clamp(min=1)).sum(1) * batch["weight"]).sum() / TYPICAL_ROWS
    return text, token


class Run:
    """The state of a training run, as stored in a checkpoint."""

    def __init__(self, args, rows: list[data.Row]):
        torch.manual_seed(args.seed)
        self.model = network.from_checkpoint(args.start) if args.start else network.from_base(args.base, evidence="evidence" not in args.without)
        if args.layers:
            network.shorten(self.model, args.layers)
        if args.frozen:
            self.model.embeddings.requires_grad_(False)
            self.model.layers[: args.frozen].requires_grad_(False)
        self.bias = network.SourceBias(data.cut_offsets(rows))
        if args.start and args.start.is_file():
            self.take_biases(args.start)
        self.model.to(args.device)
        self.bias.to(args.device)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW([
            {"params": [p for p in trained if p.ndim > 1], "weight_decay": 0.01, "scale": 1.0},
            {"params": [p for p in trained if p.ndim == 1], "weight_decay": 0.0, "scale": 1.0},
            # A hundred numbers that start at 0 and must reach up to ±3.
            {"params": list(self.bias.parameters()), "weight_decay": 0.0, "scale": 20.0},
        ], lr=args.lr, fused=True)
        self.average = {n: p.detach().clone() for n, p in self.model.named_parameters() if p.requires_grad}
        self.step = self.tokens = self.epoch = self.batch = 0
        self.seconds = 0.0

    def take_biases(self, path: Path):
        """Takes another run's final source biases; only these and the model are used from its state."""
        state = torch.load(path, weights_only=True, map_location="cpu")
        with torch.no_grad():
            for source, bias in zip(state["settings"]["sources"], state["bias"]["bias"]):
                if source in data.SOURCE_NAMES:
                    self.bias.bias[data.SOURCE_NAMES.index(source)] = bias

    def save(self, path: Path, settings: dict):
        state = {
            "model": self.model.state_dict(), "bias": self.bias.state_dict(), "optimizer": self.optimizer.state_dict(), "average": self.average,
            "counters": [self.step, self.tokens, self.epoch, self.batch, self.seconds], "settings": settings,
        }
        partial = path.with_suffix(".partial")
        torch.save(state, partial)
        os.replace(partial, path)  # a kill during writing leaves the previous checkpoint intact

    def load(self, path: Path, settings: dict) -> int:
        """Loads a checkpoint and returns the token budget that it was written with."""
        state = torch.load(path, weights_only=True, map_location=next(self.model.parameters()).device)
        # Only the length may change: a run that is too slow can be shortened, and its log says so.
        if state["settings"] | {"tokens": 0} != settings | {"tokens": 0}:
            raise ValueError(f"failed to resume from {path}: it was written with {state['settings']}, this run has {settings}; use the same settings or another --out")
        self.model.load_state_dict(state["model"])
        self.bias.load_state_dict(state["bias"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.average = state["average"]
        self.step, self.tokens, self.epoch, self.batch, self.seconds = state["counters"]
        return state["settings"]["tokens"]

    def averaged(self) -> network.Classifier:
        """The model with the moving average of its weights, which is exported."""
        model = copy.deepcopy(self.model).cpu()
        model.load_state_dict(self.model.state_dict() | self.average)
        return model.eval()


def learning_rate(peak: float, done: float) -> float:
    """10 % warm-up, then a cosine down to 0. done: share of the token budget, 0..1."""
    return peak * (done / 0.1 if done < 0.1 else 0.5 * (1 + math.cos(math.pi * min((done - 0.1) / 0.9, 1))))


def quick_metrics(model, dev: list[Example]) -> dict[str, float]:
    """Progress of the run: fp32 on a sample of dev rows, cropped; not the figures of evaluate.py."""
    scores = {}
    with torch.no_grad():
        for start in range(0, len(dev), 32):
            part = dev[start : start + 32]
            batch = collate(part)
            for example, logits in zip(part, model(batch["ids"], batch["mask"])[0].numpy()):
                scores.setdefault(example.row.source, []).append((example.row.labels, logits))
    out = {}
    for source, pairs in scores.items():
        labels, logits = np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
        values = []
        for a in range(len(data.ATTRIBUTES)):
            known = ~np.isnan(labels[:, a])
            y, z = labels[known, a], logits[known, a]
            if source == "perspective_rtp2" and len(set(y)) > 2:
                values.append(spearmanr(y, z).statistic)
            elif source != "perspective_rtp2" and len(set(y > 0.5)) == 2:
                values.append(roc_auc_score(y > 0.5, z))
        if values:
            out[source] = round(float(np.mean(values)), 4)
    return out


def train(args, rows: list[data.Row], dev_rows: list[data.Row]) -> Run:
    settings = {k: getattr(args, k) for k in ("seed", "tokens", "batch_tokens", "lr")} | {"rows": len(rows), "start": str(args.start), "sources": list(data.SOURCE_NAMES)}
    settings |= {k: v for k in ("base", "frozen", "layers", "without") if (v := getattr(args, k))}
    settings |= {"teacher": [str(path) for path in args.teacher]} if args.teacher else {}
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint, log = out / "checkpoint.pt", out / "log.jsonl"
    if args.teacher:
        teach(rows, args.teacher, args.device, out.parent)
    run = Run(args, rows)

    def note(**what):
        with log.open("a") as lines:
            lines.write(json.dumps({"step": run.step, "tokens": run.tokens, "seconds": round(run.seconds)} | what) + "\n")

    if checkpoint.exists():
        budget = run.load(checkpoint, settings)
        print(f"resuming at step {run.step:,}, {run.tokens:,} of {args.tokens:,} tokens", flush=True)
        note(resumed=True, budget=args.tokens, budget_before=budget)

    tokenizer = base_tokenizer()
    dev = sorted(tokenize(dev_rows, tokenizer, np.random.default_rng(args.seed)), key=lambda e: len(e.ids))
    telling = data.telling_words(rows)
    trained = [p for p in run.model.parameters() if p.requires_grad]
    # 1.3 times as fast in float32, after two minutes; slower than eager in bfloat16.
    compiled = torch.compile(run.model, dynamic=True) if args.tokens >= COMPILED_FROM and not FAST_BFLOAT16 else run.model
    started = saved = time.monotonic()
    before = run.seconds
    sums, summed = np.zeros(2), 0
    while run.tokens < args.tokens:
        rng = np.random.default_rng([args.seed, run.epoch])
        examples = tokenize(epoch_rows(rows, rng), tokenizer, rng, telling, DISGUISED)
        if "mosaics" not in args.without:
            examples = mosaics.build(examples, MAX_TOKENS - 2, rng)
        plan = batches(examples, args.batch_tokens, rng)
        for batch in plan[run.batch :]:
            torch.manual_seed(args.seed * 1_000_003 + run.step)
            run.model.train()
            tensors = collate(batch, args.device)
            text, token = losses(compiled, run.bias, tensors, collate_parts(batch, args.device))
            (text + TOKEN_WEIGHT * token).backward()
            norm = torch.nn.utils.clip_grad_norm_(trained, 1.0)
            if not torch.isfinite(norm):
                raise FloatingPointError(f"failed at step {run.step}: the gradient is not finite (loss {text.item()}, {token.item()}); lower --lr and start with an empty --out")
            for group in run.optimizer.param_groups:
                group["lr"] = learning_rate(args.lr, run.tokens / args.tokens) * group["scale"]
            run.optimizer.step()
            run.optimizer.zero_grad()
            decay = min(0.999, (1 + run.step) / (10 + run.step))
            torch._foreach_lerp_(list(run.average.values()), [p.detach() for p in trained], 1 - decay)

            sums, summed = sums + [text.item(), token.item()], summed + 1
            previous = run.tokens / args.tokens
            run.step, run.batch, run.tokens = run.step + 1, run.batch + 1, run.tokens + int(tensors["mask"].sum())
            run.seconds = before + time.monotonic() - started
            done = run.tokens / args.tokens
            if run.step % args.log_every == 0:
                note(text_loss=round(sums[0] / summed, 4), token_loss=round(sums[1] / summed, 4), tokens_per_second=round(run.tokens / run.seconds))
                sums, summed = np.zeros(2), 0
            if int(done * 10) > int(previous * 10) and dev:
                note(dev=quick_metrics(run.averaged(), dev))
            stop = args.stop_after and run.step >= args.stop_after
            if stop or done >= 1 or time.monotonic() - saved > args.checkpoint_minutes * 60:
                run.save(checkpoint, settings)
                saved = time.monotonic()
            if stop:
                print(f"stopped at step {run.step:,} as --stop-after asks; the same command without it resumes", flush=True)
                sys.exit(0)
            if done >= 1:
                break
        else:
            run.epoch, run.batch = run.epoch + 1, 0
    return run


def teach(rows: list[data.Row], teachers: list[Path], device: str, folder: Path):
    """Gives rows the mean opinion (of logits) of the teachers on their text as written; they keep it when
    disguised later. Opinions take minutes: they are stored in folder, also for other runs with the same
    teachers, in a file named by what they depend on.

    A teacher's opinion is on the reference scale. If a source's labels are on another scale, only they count
    for the attributes that it annotated. There are no opinions on generated sentences, which exist to correct
    the teachers, and on a cut source, which annotates nearly everything in our longest texts."""
    asked = [row for row in rows if row.source != "grammars" and data.SOURCES[row.source].cut is None]
    digest = hashlib.sha256()
    for what in (*(teacher.read_bytes() for teacher in teachers), *(row.text.encode() for row in asked)):
        digest.update(hashlib.sha256(what).digest())
    kept = folder / f"taught-{digest.hexdigest()[:16]}.npy"
    if not kept.exists():
        partial = [kept.with_suffix(f".{i}.partial") for i in range(len(teachers))]
        logits = sum(opinions(network.from_checkpoint(teacher).to(device), asked, device, path) for teacher, path in zip(teachers, partial)) / len(teachers)
        np.save(kept, 1 / (1 + np.exp(-logits)))
        for path in partial:
            path.unlink()
    for row in rows:
        row.taught = np.full(len(data.ATTRIBUTES), np.nan, dtype=np.float32)
    for row, taught in zip(asked, np.load(kept), strict=True):
        row.taught = taught if data.SOURCES[row.source].anchored else np.where(np.isnan(row.labels), taught, np.float32(np.nan))


def opinions(model: network.Classifier, rows: list[data.Row], device: str, partial: Path) -> np.ndarray:
    """float32 [rows, 7], logits. They are written to partial as they are computed; after a kill, the same call resumes."""
    tokenizer, rng = base_tokenizer(), np.random.default_rng(0)
    shape = (len(rows), len(data.ATTRIBUTES))
    if not partial.exists():
        np.lib.format.open_memmap(partial, "w+", np.float32, shape)[:] = np.nan
    out = np.lib.format.open_memmap(partial, "r+", np.float32, shape)
    examples = tokenize(rows, tokenizer, rng)
    order = np.argsort([len(e.ids) for e in examples], kind="stable")
    with torch.no_grad(), torch.autocast(torch.device(device).type, dtype=torch.bfloat16, enabled=FAST_BFLOAT16):
        for part in np.array_split(order, math.ceil(len(order) / 64)):
            if np.isnan(out[part]).any():
                tensors = collate([examples[i] for i in part], device)
                out[part] = model(tensors["ids"], tensors["mask"])[0].float().cpu().numpy()
    return out


def dev_sample(folder: Path, most: int) -> list[data.Row]:
    """The first rows of the dev splits, for quick_metrics."""
    out = []
    for source in ("jigsaw", "perspective_rtp2", "civil_spans", "implicit_hate", "edos", "dynahate", "paradetox"):
        out.extend(data.split_rows(folder, source, "dev")[:most])
    return out + grammars.rows("dev", most, seed=0)


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="the data folder, *.jsonl.gz")
    parser.add_argument("--out", required=True, type=Path, help="checkpoint and log")
    parser.add_argument("--tokens", type=int, default=60_000_000, help="length of the training in tokens (default %(default)s, about six epochs)")
    parser.add_argument("--batch-tokens", type=int, default=4096, help="tokens per step, including padding (default %(default)s)")
    parser.add_argument("--lr", type=float, default=1e-4, help="peak learning rate (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=Path, help="checkpoint.pt of an earlier run, or a model folder, to continue with these rows and settings (default: the base model)")
    parser.add_argument("--base", choices=tuple(network.BASES), help="base model: minilm ships, mpnet is a teacher (default minilm)")
    parser.add_argument("--frozen", type=int, default=0, help="number of lowest layers that are not trained, which saves time (default %(default)s)")
    parser.add_argument("--generated", type=int, default=grammars.SENTENCES, help="number of sentences of grammars.py to train on (default %(default)s)")
    parser.add_argument("--teacher", type=Path, nargs="+", metavar="CHECKPOINT", help="models whose mean opinion on a text counts in addition to its labels")
    parser.add_argument("--without", nargs="+", metavar="PART", default=[], help=f"train without these: {', '.join(OPTIONAL)}, or sources of data.py")
    parser.add_argument("--licensed", action="store_true", help="train without the sources whose authors state no licence")
    parser.add_argument("--layers", type=int, help="number of the encoder's layers to keep (default: all)")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--checkpoint-minutes", type=float, default=5)
    parser.add_argument("--log-every", type=int, default=50, help="steps between lines of OUT/log.jsonl (default %(default)s)")
    parser.add_argument("--dev-rows", type=int, default=500, help="dev rows per source in the log's figures (default %(default)s)")
    parser.add_argument("--stop-after", type=int, help="stop after this step, as a kill would, with a checkpoint written")
    args = parser.parse_args(argv)
    args.without = sorted({*args.without, *(data.UNLICENSED if args.licensed else ())})
    if unknown := set(args.without) - {*OPTIONAL, *data.SOURCES, *data.LOADERS}:
        parser.error(f"--without {' '.join(sorted(unknown))}: no part of the training has this name; the parts are {', '.join((*OPTIONAL, *dict.fromkeys((*data.SOURCES, *data.LOADERS))))}")
    if args.start and args.base:
        parser.error("--base and --start are both given: --start continues with the base that it was trained from, so leave one of them out")
    args.base = args.base or "minilm"
    if args.start and "evidence" in args.without:
        parser.error("--without evidence needs a training from the base model: leave --start out")
    return args


def main():
    args = arguments()
    torch.set_num_threads(args.threads)

    rows = data.training_rows(args.data, grammars.rows("train", args.generated, args.seed), args.without)
    print(f"{len(rows):,} training rows", flush=True)
    run = train(args, rows, dev_sample(args.data, args.dev_rows))
    print(f"trained {run.tokens:,} tokens in {run.seconds / 60:.0f} minutes", flush=True)


if __name__ == "__main__":
    main()

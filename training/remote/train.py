"""Trains networks from the folder that it lies in (pack.py makes it) with PyTorch alone, on a CUDA device or on a CPU.

    python train.py --minutes 10 --out OUT
    python train.py --minutes 7 --out OUT --teachers mpnet e5 --pupils e5 e5/8 minilm
    python train.py --minutes 900 --out OUT --teachers --pupils multilingual

First the teachers learn from labels; then the pupils learn from labels and from the teachers' mean opinion of every
text and token, also where nobody labelled. Without teachers, opinions of texts come from opinions.xz in the folder, if
it is there: those of an earlier teacher. NAME/LAYERS is a base model and the number of its layers to keep. Of the
time, teachers and pupils take 42 % each and opinions the rest: on a slow machine, some rows get none. A run that is
stopped at any moment continues with the same command: it loses what it did since the last checkpoint, at most
--checkpoint-seconds.

OUT gets NAME-1.pt, NAME-2.pt …, weights in int8 by rows in files of at most 15 MiB (network.load_rounded reads them);
NAME.opinions.xz, the logits of rows; and log.jsonl.
"""

import argparse
import copy
import json
import lzma
import math
import os
import queue
import threading
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import network

HERE = Path(__file__).parent
ROOM = 126  # tokens of a text beside those that wrap it
UNKNOWN, SCALE = 255, 250  # as in pack.py
# Peak learning rates for GPU_TOKENS a step; deep networks collapse at more.
RATES = {"minilm": 3.5e-4, "toxicity-en": 2.8e-4, "six-layers": 2.8e-4, "e5": 1.4e-4, "multilingual": 1.2e-4, "mpnet": 8.5e-5}
HEADS = 4.0  # learning rate of the heads, which start at random, relative to the others
BIASES = 20.0  # and of the sources' biases, a thousand numbers that must reach up to ±3
MOST_BIAS = 4.0  # in log-odds, of one that starts where the teachers' opinions put it; without them it starts at 0
GPU_TOKENS, CPU_TOKENS = 32768, 8192  # of a step, including padding
MOST_ROWS = 21  # tokens of a step for each of its texts at least: one of single words would have thousands
TOKENS_A_ROW = 51  # a step's loss is divided by its tokens over this, so a row counts the same in every batch
TOKEN_WEIGHT = 2.0  # of the token head's loss relative to the text head's
RANK_WEIGHT = 0.2  # of the distance to a ranked score, in log-odds, relative to cross entropy
RANKED = 0.005  # scores below it, or as near to 1, have no order
OPINION_WEIGHT = 0.5  # of the teachers' opinion, relative to a label
AVERAGE = 0.999  # decay of the moving average of the weights
MOSAICS = 0.3  # share of an epoch's texts that stand among harmless ones
LONGEST = 96  # tokens of a text that does
FILLERS = 3  # harmless parts on either side, at most
SAME = 0.4  # share of mosaics whose harmless parts come from one source: pages rarely change their style
FOREIGN = 0.1  # share of harmless parts that are of any language, instead of the text's own
TWIN = 0.5  # share of an epoch's rows with a twin that are shown as the twin
CHUNK = 40_000  # rows that are laid out at once
OPINION_RANGE = 10.0  # opinions are logits, cut off here
OPINION_BATCHES = 20  # asked about between two looks at the clock
TRAINING, OPINIONS, LAST_OPINIONS = 0.42, 0.12, 0.04  # shares of the time


class Rows:
    """The rows of the folder. start, length: of a row's tokens in ids; targets: uint8 [tokens, 5] beside ids."""

    def __init__(self, folder: Path):
        self.meta = json.loads((folder / "meta.json").read_text())
        with lzma.open(folder / "rows.xz") as file:
            arrays = {name: unpacked(file, np.dtype(kind), shape) for name, (kind, shape) in self.meta["arrays"].items()}
        self.outputs = self.meta["scales"] * network.ATTRIBUTES
        self.wraps, between = self.meta["wraps"], self.meta["between"]
        self.ids, self.length = arrays["ids"].astype(np.int32), arrays["length"].astype(np.int64)
        self.start = np.cumsum(self.length) - self.length
        self.labels, self.source, self.twin = arrays["labels"], arrays["source"], arrays["twin"]
        self.train, self.filler = arrays["train"].astype(bool), arrays["filler"].astype(bool)
        # 0: unknown, 1: marks in targets, 2: no token is marked.
        marked = np.repeat(arrays["marked"], self.length)
        self.targets = np.full((len(self.ids), 5), UNKNOWN, np.uint8)
        self.targets[marked == 2] = 0
        self.targets[marked == 1] = arrays["targets"]
        # What stands between parts, behind the rows' tokens.
        self.between = len(self.ids) + np.cumsum([0] + [len(b) for b in between])[:-1]
        self.between_length = np.array([len(b) for b in between])
        self.ids = np.concatenate([self.ids, *(np.array(b, np.int32) for b in between)])
        self.targets = np.concatenate([self.targets, np.zeros((len(self.ids) - len(self.targets), 5), np.uint8)])
        self.opinions = None
        if (folder / "opinions.xz").exists():
            with lzma.open(folder / "opinions.xz") as file:
                steps = np.frombuffer(file.read(), np.uint8).reshape(self.outputs, -1).T
            self.opinions = np.where(steps == UNKNOWN, np.nan, steps * (2 * OPINION_RANGE / 254) - OPINION_RANGE).astype(np.float16)
        self.of = np.where(self.twin >= 0, self.twin, np.arange(len(self.twin)))
        originals = np.flatnonzero(self.train & (self.twin < 0))
        self.by_source = {s: originals[self.source[originals] == s] for s in range(len(self.meta["sources"]))}
        self.twin_of = np.full(len(self.twin), -1)
        copies = np.flatnonzero(self.twin >= 0)
        self.twin_of[self.twin[copies]] = copies
        fillers = np.flatnonzero(self.filler & (self.length > 0))
        order = np.argsort(self.source[fillers], kind="stable")
        self.fillers = fillers[order]
        kinds, self.filler_first, self.filler_count = np.unique(self.source[self.fillers], return_index=True, return_counts=True)
        size = np.sqrt(np.array([np.minimum(self.length[self.fillers[a : a + n]], 64).sum() for a, n in zip(self.filler_first, self.filler_count)], np.float64))
        # Of a text in each language, the sums of the odds up to each kind, [languages, kinds].
        names = [source["language"] for source in self.meta["sources"]]
        self.language = np.array([sorted({*names}).index(name) for name in names])
        own = size * (self.language[kinds] == np.arange(len({*names}))[:, None])
        own[~own.any(1)] = size
        self.filler_odds = np.cumsum((1 - FOREIGN) * own / own.sum(1, keepdims=True) + FOREIGN * size / size.sum(), axis=1) if len(kinds) else own

    def epoch(self, rng: np.random.Generator, opinion: np.ndarray | None) -> np.ndarray:
        """Row numbers of an epoch, shuffled: each source repeated or capped as the mix says, some as their twins; rows that
        nobody labelled, if there is an opinion on them. opinion: bool [rows]."""
        out = []
        for number, source in enumerate(self.meta["sources"]):
            rows = self.by_source[number]
            if not source["labelled"]:
                rows = rows[opinion[rows]] if opinion is not None else rows[:0]
            if not len(rows):
                continue
            if source["most"] is not None and len(rows) > source["most"]:
                rows = rng.choice(rows, source["most"], replace=False)
            whole = int(source["repeat"])
            out += [rows] * whole
            if part := source["repeat"] - whole:
                out.append(rng.choice(rows, round(part * len(rows)), replace=False))
        rows = np.concatenate(out)
        rng.shuffle(rows)
        twins = self.twin_of[rows]
        return np.where((twins >= 0) & (rng.random(len(rows)) < TWIN), twins, rows)


def unpacked(file, kind: np.dtype, shape: list[int]) -> np.ndarray:
    return np.frombuffer(file.read(math.prod(shape) * kind.itemsize), kind).reshape(shape).copy()


class Chunk:
    """Texts laid out one behind the other, as tensors on the device: rows as they are, and mosaics of several."""

    def __init__(self, rows: Rows, chosen: np.ndarray, rng: np.random.Generator, device: str, token_opinions: np.ndarray | None):
        first, size, harmless = layout(rows, chosen, rng)
        used = size > 0
        size, first, harmless = size[used], first[used], harmless[used]
        of_text = np.nonzero(used)[0]
        length = np.bincount(of_text, weights=size, minlength=len(chosen)).astype(np.int64)
        total = int(size.sum())
        at = np.repeat(first - (np.cumsum(size) - size), size) + np.arange(total)
        targets = rows.targets[at]
        targets[np.repeat(harmless, size)] = 0
        self.length, self.wraps = length, rows.wraps
        move = lambda array: torch.from_numpy(np.ascontiguousarray(array)).to(device, non_blocking=True)
        self.ids, self.targets = move(rows.ids[at]), move(targets)
        self.taught = None
        if token_opinions is not None:
            taught = token_opinions[at]
            taught[np.repeat(harmless, size)] = 0
            self.taught = move(taught)
        self.start, self.lengths, self.chosen = move(np.cumsum(length) - length), move(length), move(chosen.astype(np.int64))

    def batches(self, budget: int, rng: np.random.Generator, step: int) -> list[np.ndarray]:
        """Texts of a step, of similar lengths: at most budget tokens, including padding to a multiple of step."""
        order = np.argsort(-self.length, kind="stable")
        order = order[self.length[order] > 0]
        wide = (self.length[order] + 2 + step - 1) // step * step
        out, at = [], 0
        while at < len(order):
            texts = max(1, min(budget // int(wide[at]), budget // MOST_ROWS))
            out.append(order[at : at + texts])
            at += texts
        rng.shuffle(out)
        return out


def layout(rows: Rows, chosen: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each text its parts, [texts, parts]: the first token of each in rows.ids, the number of tokens (0: no part), and
    whether it is there to be harmless. A share of the texts stands among harmless parts."""
    texts, own = len(chosen), 2 * FILLERS
    first, size = np.zeros((2, texts, 4 * FILLERS + 1), np.int64)
    harmless = np.ones((texts, 4 * FILLERS + 1), bool)
    harmless[:, own] = False
    first[:, own], size[:, own] = rows.start[chosen], rows.length[chosen]
    which = np.flatnonzero((rows.length[chosen] <= LONGEST) & (rng.random(texts) < MOSAICS)) if len(rows.fillers) else np.zeros(0, int)
    n = len(which)
    if n:
        spare = rng.integers(4, np.maximum(ROOM - size[which, own], 5) + 1)
        spare = np.minimum(spare, ROOM - size[which, own])
        before = (rng.random(n) * (spare + 1)).astype(np.int64)
        drawn = rng.random((n, 2 * FILLERS))
        drawn = np.where(rng.random((n, 1)) < SAME, drawn[:, :1], drawn)
        odds = rows.filler_odds[rows.language[rows.source[chosen[which]]]]
        kinds = np.minimum((odds[:, None, :] <= drawn[:, :, None]).sum(2), odds.shape[1] - 1)
        parts = rows.fillers[rows.filler_first[kinds] + (rng.random(kinds.shape) * rows.filler_count[kinds]).astype(np.int64)]
        marks = rng.integers(len(rows.between), size=(n, 2 * FILLERS))
        # Each side is filled from the outside of the page inwards; the last part that fits is cut.
        for side, room in ((0, before), (1, spare - before)):
            left = room.copy()
            for i in range(FILLERS):
                column = side * FILLERS + i
                part, mark = (2 * i, 2 * i + 1) if side == 0 else (own + 2 + 2 * i, own + 1 + 2 * i)
                between = np.minimum(rows.between_length[marks[:, column]], left)
                left -= between
                taken = np.minimum(rows.length[parts[:, column]], left)
                between[taken == 0] = 0
                left -= taken
                first[which, part], size[which, part] = rows.start[parts[:, column]], taken
                first[which, mark], size[which, mark] = rows.between[marks[:, column]], between
    return first.reshape(texts, -1), size.reshape(texts, -1), harmless.reshape(texts, -1)


def inputs(chunk: Chunk, texts: torch.Tensor, width: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """ids and mask, int64 [texts, width]; the place of each token in the chunk, and whether there is one."""
    length = chunk.lengths[texts].unsqueeze(1)
    column = torch.arange(width, device=texts.device).unsqueeze(0)
    real = (column >= 1) & (column <= length)
    at = (chunk.start[texts].unsqueeze(1) + column - 1) * real
    ids = chunk.ids[at].long() * real
    ids[:, 0] = chunk.wraps[0]
    ids = torch.where(column == length + 1, chunk.wraps[1], ids)
    return ids, (column <= length + 1).long(), at, real


class Biases(nn.Module):
    """A number for each source and output, added to the logit in training and then dropped: sources disagree on what the
    words mean and on how often they apply. Anchored sources define the scale and have none. Known offsets are not learnt."""

    def __init__(self, meta: dict):
        super().__init__()
        sources, outputs = meta["sources"], meta["scales"] * network.ATTRIBUTES
        known = torch.full((len(sources), outputs), math.nan)
        for i, source in enumerate(sources):
            if source["offsets"]:
                known[i] = torch.tensor([math.nan if x is None else x for x in source["offsets"]])
        anchored = torch.tensor([[source["anchored"]] for source in sources])
        self.bias = nn.Parameter(torch.zeros(len(sources), outputs))
        self.register_buffer("free", (known.isnan() & ~anchored).float())
        self.register_buffer("known", known.nan_to_num())

    def forward(self, source):
        return (self.bias * self.free + self.known)[source]

    def begin(self, rows: Rows, opinions: np.ndarray):
        """Starts each bias where the opinions, float16 logits [rows, outputs], have the mean of the source's labels."""
        for source, of in rows.by_source.items():
            for output in self.free[source].nonzero().flatten().tolist():
                chosen = of[(rows.labels[of, output] != UNKNOWN) & ~np.isnan(opinions[of, output])]
                if len(chosen):
                    logits, share = opinions[chosen, output].astype(np.float32), rows.labels[chosen, output].mean() / SCALE
                    low, high = -MOST_BIAS, MOST_BIAS
                    while high - low > 0.01:
                        middle = (low + high) / 2
                        low, high = (middle, high) if (1 / (1 + np.exp(-logits - middle))).mean() < share else (low, middle)
                    self.bias.data[source, output] = (low + high) / 2


def probability(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Bytes as probabilities, and which are known."""
    return values.float().clamp(max=SCALE) / SCALE, values != UNKNOWN


class Trained:
    """A network in training, as a checkpoint has it."""

    def __init__(self, spec: str, seed: int, rows: Rows, device: str, keep_embeddings: bool = False):
        torch.manual_seed(seed)
        base, _, layers = spec.partition("/")
        config, state = network.load_rounded(HERE, f"base-{base}")
        self.model = network.Classifier(config, scales=rows.meta["scales"])
        own = self.model.state_dict()
        # A base that is a classifier of one scale already starts each scale as it is.
        self.model.load_state_dict({name: torch.cat([value] * rows.meta["scales"]) if value.shape != own[name].shape else value for name, value in state.items()}, strict=False)
        self.fresh = "evidence.weight" not in state
        if layers:
            network.shorten(self.model, int(layers))
            self.model.config = config | {"num_hidden_layers": int(layers)}
        if self.model.distance is not None:
            self.model.distance.requires_grad_(False)
        if self.fresh:
            self.even_spread(rows.meta)
        if keep_embeddings:
            self.model.embeddings.requires_grad_(False)
        self.biases = Biases(rows.meta)
        self.model.to(device)
        self.biases.to(device)
        heads = ("text_hidden", "text_head", "evidence", "token_head")
        named = [(n, p) for n, p in self.model.named_parameters() if p.requires_grad]
        # Most rows of the embeddings are in no batch: they keep what they were.
        group = lambda pick, decay, scale: {"params": [p for n, p in named if pick(n, p)], "weight_decay": decay, "scale": scale}
        self.optimizer = torch.optim.AdamW([
            group(lambda n, p: p.ndim > 1 and not n.startswith(("embeddings", *heads)), 0.01, 1.0),
            group(lambda n, p: (p.ndim == 1 or n.startswith("embeddings")) and not n.startswith(heads), 0.0, 1.0),
            group(lambda n, p: n.startswith(heads), 0.0, HEADS if self.fresh else 1.0),
            {"params": list(self.biases.parameters()), "weight_decay": 0.0, "scale": BIASES},
        ], lr=1e-5, fused=True, betas=(0.9, 0.98))
        self.trained = [p for _, p in named]
        self.average = [p.detach().clone() for p in self.trained]
        self.peak = RATES[base]
        self.step = self.tokens = self.epoch = 0
        self.seconds = 0.0

    def even_spread(self, meta: dict):
        """Gives the last layer's output unit spread: the heads of a base with a small one would learn too slowly."""
        sample = torch.randint(*meta["words"], (16, 24))
        sample[:, 0], sample[:, -1] = meta["wraps"]
        with torch.no_grad():
            x = self.model.embeddings(sample)
            bias = torch.zeros(1, 1, 1, 24)
            if self.model.distance is not None:
                bias = bias + self.model.distance(network.distance_buckets(24, self.model.distance.num_embeddings)).permute(2, 0, 1)
            for layer in self.model.eval().layers:
                x = layer(x, bias)
            spread = x.std()
            self.model.layers[-1].norm.weight /= spread
            self.model.layers[-1].norm.bias /= spread

    def state(self) -> dict:
        return {
            "model": self.model.state_dict(), "biases": self.biases.state_dict(), "optimizer": self.optimizer.state_dict(), "average": self.average,
            "counters": [self.step, self.tokens, self.epoch, self.seconds],
        }

    def load(self, path: Path):
        state = torch.load(path, weights_only=True, map_location=self.average[0].device)
        self.model.load_state_dict(state["model"])
        self.biases.load_state_dict(state["biases"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.average = state["average"]
        self.step, self.tokens, self.epoch, self.seconds = state["counters"]

    def averaged(self) -> network.Classifier:
        model = copy.deepcopy(self.model)
        with torch.no_grad():
            for p, mean in zip((p for p in model.parameters() if p.requires_grad), self.average):
                p.copy_(mean)
        return model.eval()


def losses(run: Trained, chunk: Chunk, rows: dict[str, torch.Tensor], texts: torch.Tensor, width: int, opinions: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Binary cross entropy on soft targets, of texts and of tokens; what nobody annotated is ignored. Between two harmless
    texts it has hardly a gradient, so ranked scores count by their log-odds too (Huber's loss). An opinion is on the
    reference scale, so it takes no bias; a mosaic's is that of its part alone: harmless text around it changes nothing."""
    ids, mask, at, real = inputs(chunk, texts, width)
    with torch.autocast(ids.device.type, dtype=torch.bfloat16, enabled=network.fast_bfloat16(ids.device)):
        logits, token_logits = run.model(ids, mask)
    logits, token_logits = logits.float(), token_logits.float()
    row = chunk.chosen[texts]
    source = rows["source"][row].long()
    biased = logits + run.biases(source)
    label, known = probability(rows["labels"][row])
    loss = F.binary_cross_entropy_with_logits(biased, label, reduction="none") * known
    ranked = known & rows["ranked"][source].unsqueeze(1)
    loss = loss + RANK_WEIGHT * F.smooth_l1_loss(biased, torch.logit(label, eps=RANKED), reduction="none") * ranked
    if opinions is not None:
        opinion = opinions[rows["of"][row]].float()
        weight = OPINION_WEIGHT * ~opinion.isnan()
        loss = (1 - weight) * loss + weight * F.binary_cross_entropy_with_logits(logits, torch.sigmoid(opinion.nan_to_num()), reduction="none")
    weight = rows["weight"][source]
    typical = max(mask.shape[0] * width / TOKENS_A_ROW, 1)
    text = (loss.sum(1) * weight).sum() / typical

    target, known = probability(chunk.targets[at])
    known &= real.unsqueeze(2)
    loss = F.binary_cross_entropy_with_logits(token_logits, target, reduction="none") * known
    if chunk.taught is not None:
        opinion, given = probability(chunk.taught[at])
        given &= real.unsqueeze(2)
        part = OPINION_WEIGHT * given
        loss = (1 - part) * loss + part * F.binary_cross_entropy_with_logits(token_logits, opinion, reduction="none")
        known = known | given
    # A mean over a text's tokens: a long post counts once.
    token = ((loss.sum(1) / known.sum(1).clamp(min=1)).sum(1) * weight).sum() / typical
    return text, token, ids.numel()


def chunks(rows: Rows, seed: int, epoch: int, device: str, opinions: dict | None):
    """The chunks of all epochs from one on, (epoch, chunk, random numbers). The next is laid out while one is trained on."""
    ready = queue.Queue(maxsize=2)
    stopped = threading.Event()

    def put(item) -> bool:
        while not stopped.is_set():
            try:
                ready.put(item, timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    def lay_out():
        number = epoch
        try:
            while not stopped.is_set():
                rng = np.random.default_rng([seed, number])
                order = rows.epoch(rng, None if opinions is None else ~np.isnan(opinions["texts"][:, 0]))
                for start in range(0, len(order), CHUNK):
                    if not put((number, Chunk(rows, order[start : start + CHUNK], rng, device, None if opinions is None else opinions["tokens"]), rng.integers(2**31))):
                        return
                number += 1
        except Exception as cause:  # passed on to the loop that waits
            put(cause)

    thread = threading.Thread(target=lay_out, daemon=True)
    thread.start()
    try:
        while True:
            item = ready.get()
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        stopped.set()
        thread.join()


def train(name: str, spec: str, seed: int, rows: Rows, args, seconds: float, opinions: dict | None) -> network.Classifier:
    """Trains one network for so many seconds, from its last checkpoint if there is one."""
    run = Trained(spec, seed, rows, args.device, args.keep_embeddings)
    checkpoint = args.out / f"{name}.checkpoint"
    if checkpoint.exists():
        run.load(checkpoint)
        print(f"{name}: continues at step {run.step:,}", flush=True)
    elif opinions is not None:
        run.biases.begin(rows, opinions["texts"])
    sources = rows.meta["sources"]
    move = lambda array: torch.from_numpy(array).to(args.device)
    on_device = {
        "source": move(rows.source.astype(np.int64)), "labels": move(rows.labels), "of": move(rows.of.astype(np.int64)),
        "ranked": torch.tensor([s["ranked"] for s in sources], device=args.device), "weight": torch.tensor([s["weight"] for s in sources], device=args.device),
    }
    text_opinions = None if opinions is None else move(opinions["texts"])
    budget, step = args.step_tokens, 8 if args.device == "cuda" else 4
    # A step of fewer tokens is a noisier one.
    peak = run.peak * math.sqrt(budget / GPU_TOKENS) * args.rate
    started = saved = noted = time.monotonic()
    before = run.seconds
    sums, summed = torch.zeros(3, device=args.device), 0
    for epoch, chunk, draw in chunks(rows, seed, run.epoch, args.device, opinions):
        run.epoch = epoch
        run.model.train()
        rng = np.random.default_rng(draw)
        plan = chunk.batches(budget, rng, step)
        flat = torch.from_numpy(np.concatenate(plan)).to(args.device)
        at = 0
        for batch in plan:
            width = (int(chunk.length[batch[0]]) + 2 + step - 1) // step * step
            torch.manual_seed(seed * 1_000_003 + run.step)
            text, token, tokens = losses(run, chunk, on_device, flat[at : at + len(batch)], width, text_opinions)
            at += len(batch)
            (text + TOKEN_WEIGHT * token).backward()
            norm = nn.utils.clip_grad_norm_(run.trained, 1.0)
            done = min((before + time.monotonic() - started) / seconds, 1.0)
            for group in run.optimizer.param_groups:
                group["lr"] = network.learning_rate(peak, done) * group["scale"]
            # The kernel leaves the weights as they are where it is 1.
            run.optimizer.found_inf = (~torch.isfinite(norm)).float()
            run.optimizer.step()
            run.optimizer.zero_grad()
            decay = min(AVERAGE, (1 + run.step) / (10 + run.step))
            torch._foreach_lerp_(run.average, [p.detach() for p in run.trained], 1 - decay)
            sums += torch.stack([text.detach(), token.detach(), run.optimizer.found_inf])
            summed += 1
            run.step, run.tokens = run.step + 1, run.tokens + tokens
            now = time.monotonic()
            run.seconds = before + now - started
            if now - noted > args.log_seconds or run.seconds >= seconds:
                if sums[2] > summed / 2:
                    raise FloatingPointError(f"failed at step {run.step} of {name}: the gradient is not finite; lower --rate and start with an empty --out")
                note(args, name, step=run.step, epoch=epoch, tokens=run.tokens, seconds=round(run.seconds, 1), losses=[round(x, 4) for x in (sums / summed).tolist()[:2]], skipped=int(sums[2]), rate=network.learning_rate(peak, done))
                sums, summed, noted = torch.zeros(3, device=args.device), 0, now
            if now - saved > args.checkpoint_seconds:
                write(run.state(), checkpoint)
                saved = now
            if run.seconds >= seconds:
                break
        if run.seconds >= seconds:
            break
    model = run.averaged()
    network.save_rounded(model.state_dict(), args.out, name, model.config)
    if checkpoint.exists():
        checkpoint.unlink()
    return model


def write(state: dict, path: Path):
    partial = path.with_suffix(".partial")
    torch.save(state, partial)
    os.replace(partial, path)  # a stop during writing leaves the previous checkpoint intact


def note(args, name: str, **what):
    line = json.dumps({"network": name} | what)
    print(line, flush=True)
    with open(args.out / "log.jsonl", "a") as lines:
        lines.write(line + "\n")


def opinions_of(model: network.Classifier, rows: Rows, args, chosen: np.ndarray, seconds: float, of_tokens: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """float16 logits [rows, outputs], NaN for rows that were not asked about, and uint8 probabilities of tokens [tokens, 5] beside
    rows.ids. The rows are asked about in the order of chosen, until the time is over."""
    device, budget = args.device, (2 * GPU_TOKENS if args.device == "cuda" else CPU_TOKENS)
    texts = np.full((len(rows.length), rows.outputs), np.nan, np.float16)
    move = lambda array: torch.from_numpy(array).to(device)
    layout = type("Layout", (), {"wraps": rows.wraps, "ids": move(rows.ids), "start": move(rows.start), "lengths": move(rows.length)})
    tokens = torch.full((len(rows.ids), 5), UNKNOWN, dtype=torch.uint8, device=device) if of_tokens else None
    until = time.monotonic() + seconds
    with torch.no_grad(), torch.autocast(layout.ids.device.type, dtype=torch.bfloat16, enabled=network.fast_bfloat16(layout.ids.device)):
        some = OPINION_BATCHES * budget // TOKENS_A_ROW
        for first in range(0, len(chosen), some):
            if first and time.monotonic() > until:
                break
            part = chosen[first : first + some]
            order = part[np.argsort(-rows.length[part], kind="stable")]
            at, results = 0, []
            while at < len(order):
                width = int(rows.length[order[at]]) + 2
                batch = order[at : at + max(1, budget // max(width, MOST_ROWS))]
                at += len(batch)
                ids, mask, places, real = inputs(layout, move(batch), width)
                logits, token_logits = model(ids, mask)
                results.append(logits.float().clamp(-OPINION_RANGE, OPINION_RANGE))
                if of_tokens:
                    tokens[places[real]] = (torch.sigmoid(token_logits.float()[real]) * SCALE).round().to(torch.uint8)
            texts[order] = np.concatenate([logits.cpu().numpy() for logits in results])
    return texts, None if tokens is None else tokens.cpu().numpy()


def save_opinions(path: Path, logits: np.ndarray):
    """One byte a logit, in planes, [outputs, rows]: 0 to 254 from -OPINION_RANGE to OPINION_RANGE, UNKNOWN for NaN."""
    known = ~np.isnan(logits)
    steps = np.where(known, np.rint((np.nan_to_num(logits.astype(np.float32)) + OPINION_RANGE) * (254 / (2 * OPINION_RANGE))), UNKNOWN).astype(np.uint8)
    with lzma.open(path, "wb", preset=1) as file:
        file.write(np.ascontiguousarray(steps.T).tobytes())


def mean_opinion(teachers: list[network.Classifier], rows: Rows, args, seconds: float) -> dict:
    """The teachers' mean logits of texts, and mean probabilities of tokens, of rows that all of them were asked about."""
    order = np.random.default_rng(args.seed).permutation(len(rows.length))
    answers = [opinions_of(teacher, rows, args, order, seconds / len(teachers), True) for teacher in teachers]
    texts = np.mean([texts.astype(np.float32) for texts, _ in answers], axis=0)
    tokens = np.mean([tokens.astype(np.float32) for _, tokens in answers], axis=0)
    missing = np.any([tokens == UNKNOWN for _, tokens in answers], axis=0)
    return {"texts": texts.astype(np.float16), "tokens": np.where(missing, UNKNOWN, np.rint(tokens)).astype(np.uint8)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, required=True, help="how long to train, all networks together")
    parser.add_argument("--out", type=Path, required=True, help="the folder for weights, opinions, checkpoints and the log")
    parser.add_argument("--teachers", nargs="*", default=["minilm"], metavar="NAME[/LAYERS]", help="base models of the teachers (default minilm)")
    parser.add_argument("--pupils", nargs="*", default=["minilm"], metavar="NAME[/LAYERS]", help="base models of the networks to ship (default minilm)")
    parser.add_argument("--rate", type=float, default=1.0, help="factor of all learning rates (default %(default)s)")
    parser.add_argument("--step-tokens", type=int, help=f"tokens of a step, including padding (default {GPU_TOKENS:,} on a CUDA device, {CPU_TOKENS:,} on a CPU); rates follow its root")
    parser.add_argument("--keep-embeddings", action="store_true", help="leave the embeddings as they are, for what else reads them: the network of names")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--checkpoint-seconds", type=float, default=300)
    parser.add_argument("--log-seconds", type=float, default=10)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    args.step_tokens = args.step_tokens or (GPU_TOKENS if args.device == "cuda" else CPU_TOKENS)
    began = time.monotonic()
    rows = Rows(HERE)
    print(f"{len(rows.length):,} rows, {len(rows.ids):,} tokens, read in {time.monotonic() - began:.0f} s; device {args.device}", flush=True)
    whole = 60 * args.minutes
    training = whole * TRAINING if args.teachers and args.pupils else whole * (1 - LAST_OPINIONS)
    # Those that measure first.
    originals = np.flatnonzero(rows.twin < 0)
    asked = np.concatenate([originals[~rows.train[originals]], originals[rows.train[originals]]])

    def network_of(kind: str, number: int, spec: str, of: list[str], opinions: dict | None) -> network.Classifier:
        name = f"{kind}-{number}-{spec.replace('/', '-')}"
        if (args.out / f"{name}-1.pt").exists():
            config, state = network.load_rounded(args.out, name)
            model = network.Classifier(config, scales=rows.meta["scales"])
            model.load_state_dict(state)
            return model.to(args.device).eval()
        return train(name, spec, args.seed * 100 + 10 * (kind == "pupil") + number, rows, args, training / len(of), opinions)

    teachers = [network_of("teacher", n, spec, args.teachers, None) for n, spec in enumerate(args.teachers, 1)]
    opinions = None
    if teachers:
        kept = args.out / "opinions.pt"
        if not kept.exists():
            began = time.monotonic()
            write({name: torch.from_numpy(values) for name, values in mean_opinion(teachers, rows, args, whole * OPINIONS).items()}, kept)
            print(f"opinions of {len(rows.length):,} rows in {time.monotonic() - began:.0f} s", flush=True)
        opinions = {name: values.numpy() for name, values in torch.load(kept, weights_only=True).items()}
        save_opinions(args.out / "teachers.opinions.xz", opinions["texts"][originals])
        del teachers
    elif rows.opinions is not None:
        opinions = {"texts": rows.opinions, "tokens": None}
    for n, spec in enumerate(args.pupils, 1):
        model = network_of("pupil", n, spec, args.pupils, opinions)
        logits, _ = opinions_of(model, rows, args, asked, whole * LAST_OPINIONS / len(args.pupils), False)
        save_opinions(args.out / f"pupil-{n}-{spec.replace('/', '-')}.opinions.xz", logits[originals])


if __name__ == "__main__":
    main()

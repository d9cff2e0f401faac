"""Gives a model folder exits: places in the network where clearly harmless texts leave it.

    python training/exits.py --data DATA --folder models/toxicity-en --out build/exits

The network itself stays as it is. Behind each of the layers, a branch learns the opinion of the whole network on
training rows: its calibrated log-odds, and its doubt, whether the network may say anything but "harmless". How much
doubt a text may have to leave is chosen on one half of the pooled dev rows, and the other half bounds how often
decisions differ (Learn-then-Test, arXiv 2110.01052). OUT keeps every step; if the script is killed, the same
command goes on with the step that was interrupted. Give an empty OUT after a change of the data or the network.
"""

import argparse
import itertools
import json
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from scipy.stats import beta, binom
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F

import calibrate
import data
import export
import folder as folders
import grammars
import model as network
import mosaics
import plain
import quantise
import stages
import tokens

TOKENS = 7_000_000  # of training texts
SEED = 7
# Rows of a source at most, where the sources are larger: natural text, which should leave, counts as much as the others.
MOST = {
    "sentences": 50_000, "annotations": 30_000, "dynahate": 15_000, "paradetox": 12_000, "edos": 9_000, "measuring_hate": 8_000,
    "perspective_toxigen": 8_000, "perspective_implicit_hate": 8_000, "documentation": 8_000, "hatexplain": 6_000, "implicit_hate": 6_000,
    "davidson": 5_000, "stormfront": 5_000, "bold_neutral": 5_000, "grammars": 3_000, "mlma_en": 2_000, "madlibs": 1_500,
}
MOST_NATURAL = {"train": 2_500, "dev": 500}  # rows of a file of natural text; a branch needs no labels
DISGUISED = {True: 0.1, False: 0.1}
MOSAICS = 0.25  # share
TOGETHER = 128  # tokens of windows of one length that run together

HEADS, INNER, HEAD_WIDTH = 4, 2, 128  # of a branch's layers: attention heads, width of the feed-forward part in widths of the layer
BORDERLINE = 0.8  # log-odds below a threshold from which on a text is in doubt
LEARNING_RATE, STEP_TOKENS = 1e-3, 4096
LOWEST, HIGHEST = -6.0, 4.0  # log-odds beyond which exits need not follow the network
ODDS_WEIGHT = 0.2  # of the distance in log-odds relative to cross entropy

FEW = 100  # windows, of those that leave at an exit
NATURAL = (*data.NATURAL, "perspective_context", "perspective_github", "jigsaw_more")  # sources in the mix in which people write
RISK, CONFIDENCE = 0.0005, 0.95
MISSES = (0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.0006, 0.0007, 0.0008, 0.0009, 0.001)  # tried, from the strictest on


@dataclass
class Opinions:
    """What the network says of windows, which are sorted by length. tokens: int64, of all windows one after the other, from
    starts[i] on; odds: float64 [windows, 7], calibrated; marks: float32 [windows, 5], the highest of the tokens' logits;
    hidden: float16 [tokens, width] by layer; text: of each window."""

    tokens: np.ndarray
    starts: np.ndarray
    odds: np.ndarray
    marks: np.ndarray
    hidden: dict[int, np.ndarray]
    text: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)


@dataclass
class Decisions:
    """What the manifest decides. thresholds: log-odds [7]."""

    manifest: dict

    def __post_init__(self):
        p = np.array([self.manifest["thresholds"][a] for a in data.ATTRIBUTES])
        self.thresholds = np.log(p / (1 - p))
        self.mild = self.thresholds - math.log(9)  # toxscreen.SeverityOf

    def margin(self, odds: np.ndarray) -> np.ndarray:
        """[windows]: the distance of the attribute that is nearest to its threshold or farthest over it."""
        return (odds - self.thresholds).max(1)

    def doubtful(self, opinions: Opinions) -> np.ndarray:
        """bool [windows]: flagged, borderline, or with a span."""
        least = math.log(self.manifest["spans"]["threshold"] / (1 - self.manifest["spans"]["threshold"]))
        mild = (opinions.odds >= self.mild)[:, network.SPAN_COLUMNS]
        return (self.margin(opinions.odds) >= -BORDERLINE) | ((opinions.marks >= least) & mild).any(1)


class Branch(nn.Module):
    """hidden [texts, tokens, 384], mask int64 [texts, tokens] -> logits [texts, 8]: the attributes and the doubt. Narrow layers
    of the network's kind, with its evidence of tokens."""

    def __init__(self, width: int, layers: int):
        super().__init__()
        outputs = len(data.ATTRIBUTES) + 1
        config = {"hidden_size": width, "num_attention_heads": HEADS, "intermediate_size": INNER * width, "layer_norm_eps": 1e-5}
        self.narrow = nn.Linear(stages.WIDTH, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(network.Layer(config, nn.Identity()) for _ in range(layers))
        self.evidence = nn.Linear(width, outputs)
        self.text_hidden = network.PerText(2 * width, HEAD_WIDTH)
        self.text_head = network.PerText(HEAD_WIDTH, outputs)
        nn.init.constant_(self.evidence.bias, network.NO_EVIDENCE)

    def forward(self, hidden, mask):
        x = self.norm(self.narrow(hidden))
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        x = x.float()
        real = mask.unsqueeze(-1).to(x.dtype)
        mean = (real.transpose(1, 2) @ x).squeeze(1) / real.sum(1)
        overall = self.text_head(torch.tanh(self.text_hidden(torch.cat([x[:, 0], mean], dim=-1)))).unsqueeze(1)
        return torch.logsumexp(torch.cat([overall, self.evidence(x) + (1.0 - real) * -10000.0], dim=1), dim=1)


def training_windows(folder: Path, tokenizer: Tokenizer, most: int) -> list[np.ndarray]:
    """int64 [tokens] each, at most so many tokens in all: rows in their natural mix and disguised, parts of long ones, and mosaics."""
    rng = np.random.default_rng(SEED)
    rows = data.training_rows(folder, grammars.rows("train", MOST["grammars"], SEED))
    by_source: dict[str, list[data.Row]] = {}
    for row in rows:
        by_source.setdefault(row.source, []).append(row)
    chosen = [some[i] for source, some in by_source.items() for i in rng.permutation(len(some))[: MOST.get(source)]]
    chosen += natural_rows(folder, "train", rng)
    rng.shuffle(chosen)
    ids = tokens.ids_of(chosen, tokenizer, rng, data.telling_words(rows), DISGUISED)
    further = []
    for source in ("jigsaw", "jigsaw_negatives", "jigsaw_more", "perspective_context", "perspective_github"):
        for row in plain.rows(by_source.get(source, [])):
            windows = windows_of(tokenizer, row.text)
            further += [windows[i] for i in rng.permutation(len(windows))[:3] if len(windows) > 1]
    windows = mosaics.build(chosen, ids, MOSAICS, folders.MAX_TOKENS - 2, rng) + further
    rng.shuffle(windows)
    sizes = np.cumsum([len(ids) for ids in windows])
    return [ids for ids, size in zip(windows, sizes) if size <= most]


def natural_rows(folder: Path, split: str, rng: np.random.Generator) -> list[data.Row]:
    held_out = data.held_out_keys(folder) if split == "train" else set()
    out = []
    for source in data.NATURAL:
        if split == "train" and source in data.NOT_FOR_TRAINING:
            continue
        rows = [row for row in data.split_rows(folder, source, split) if data.key(row.text) not in held_out]
        out += [rows[i] for i in rng.permutation(len(rows))[: MOST_NATURAL[split]]]
    return out


def windows_of(tokenizer: Tokenizer, text: str) -> list[np.ndarray]:
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return [np.array([folders.CLS, *encoding.ids[start:end], folders.SEP]) for start, end, _, _ in folders.divide(text, encoding.offsets, folders.MAX_TOKENS - 2, folders.OVERLAP)]


def opinions(whole: onnx.ModelProto, manifest: dict, windows: list[np.ndarray], text: list[int], layers: list[int], out: Path) -> Opinions:
    """Runs the network on windows and keeps what it says in out: a folder that exists only when all is there."""
    order = sorted(range(len(windows)), key=lambda i: len(windows[i]))
    windows, text = [windows[i] for i in order], np.array([text[i] for i in order])
    starts = np.concatenate([[0], np.cumsum([len(ids) for ids in windows])])
    shape = (int(starts[-1]), stages.WIDTH)
    if not out.exists():
        partial = out.with_suffix(".partial")
        partial.mkdir(parents=True, exist_ok=True)
        tapped = stages.tapped(whole, layers)
        onnx.save(tapped, partial / "tapped.onnx")
        run = export.as_is(partial / "tapped.onnx")
        hidden = {layer: np.memmap(partial / f"hidden-{layer}", np.float16, "w+", shape=shape) for layer in layers}
        logits, marks = np.zeros((len(windows), len(data.ATTRIBUTES)), np.float32), np.zeros((len(windows), len(data.SPAN_ATTRIBUTES)), np.float32)

        def do(group: list[int]):
            first, end = group[0], group[-1] + 1
            ids = np.stack([windows[i] for i in group])
            said, tokens, *states = run.run(["logits", "token_logits", *map(stages.hidden, layers)], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            # The special tokens get no marks.
            logits[first:end], marks[first:end] = said[:, : len(data.ATTRIBUTES)], tokens[:, 1:-1].max(1, initial=-math.inf)
            for layer, state in zip(layers, states):
                hidden[layer][starts[first] : starts[end]] = state.reshape(-1, stages.WIDTH)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(do, equal(windows)))
        for of in hidden.values():
            of.flush()
        np.savez(partial / "said.npz", logits=logits, marks=marks)
        partial.rename(out)
    said = np.load(out / "said.npz")
    odds = folders.calibrated(manifest["calibration"], data.ATTRIBUTES, said["logits"].astype(np.float64))
    return Opinions(
        np.concatenate(windows), starts, odds, said["marks"],
        {layer: np.memmap(out / f"hidden-{layer}", np.float16, "r", shape=shape) for layer in layers}, text,
    )


def equal(windows: list[np.ndarray]) -> list[list[int]]:
    """Windows that run together: the indices of neighbours of one length."""
    groups = []
    for length, of in itertools.groupby(range(len(windows)), key=lambda i: len(windows[i])):
        of = list(of)
        some = max(1, TOGETHER // length)
        groups += [of[i : i + some] for i in range(0, len(of), some)]
    return groups


def tensors(opinions: Opinions, layer: int, windows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """(hidden, mask) of some windows, padded."""
    lengths = opinions.lengths[windows]
    hidden = np.zeros((len(windows), lengths.max(), stages.WIDTH), np.float16)
    for row, i in enumerate(windows):
        hidden[row, : lengths[row]] = opinions.hidden[layer][opinions.starts[i] : opinions.starts[i + 1]]
    return torch.from_numpy(hidden).float(), torch.from_numpy((np.arange(lengths.max()) < lengths[:, None]).astype(np.int64))


def steps(opinions: Opinions, rng: np.random.Generator) -> list[np.ndarray]:
    """The windows of each step of an epoch: of nearly equal length, at most STEP_TOKENS."""
    order = np.argsort(opinions.lengths + rng.uniform(0, 3, len(opinions)))
    out, at = [], 0
    while at < len(order):
        some = max(1, min(256, STEP_TOKENS // int(opinions.lengths[order[min(at + 255, len(order) - 1)]])))
        out.append(order[at : at + some])
        at += some
    rng.shuffle(out)
    return out


def learn(branch: Branch, opinions: Opinions, layer: int, doubtful: np.ndarray, epochs: float, log: Path):
    """Trains a branch. Probabilities count by cross entropy, and log-odds too, so that harmless texts keep their order."""
    optimizer = torch.optim.AdamW(branch.parameters(), lr=LEARNING_RATE, weight_decay=0.01)
    odds, doubt = torch.from_numpy(opinions.odds).float(), torch.from_numpy(doubtful).float()
    rng, began, losses = np.random.default_rng(SEED), time.monotonic(), []
    plan = list(itertools.chain.from_iterable(steps(opinions, rng) for _ in range(math.ceil(epochs))))
    plan = plan[: int(len(plan) * epochs / math.ceil(epochs))]
    for step, windows in enumerate(plan):
        for group in optimizer.param_groups:
            group["lr"] = network.learning_rate(LEARNING_RATE, step / len(plan))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=network.fast_bfloat16(torch.device("cpu"))):
            logits = branch(*tensors(opinions, layer, windows)).float()
        wanted = odds[windows]
        loss = F.binary_cross_entropy_with_logits(logits[:, :-1], torch.sigmoid(wanted))
        loss = loss + ODDS_WEIGHT * F.smooth_l1_loss(logits[:, :-1], wanted.clamp(LOWEST, HIGHEST))
        loss = loss + F.binary_cross_entropy_with_logits(logits[:, -1], doubt[windows])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(branch.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if (step + 1) % 500 == 0 or step + 1 == len(plan):
            with log.open("a") as lines:
                lines.write(json.dumps({"layer": layer, "step": step + 1, "of": len(plan), "seconds": round(time.monotonic() - began), "loss": round(float(np.mean(losses)), 4)}) + "\n")
            losses = []


def trained(opinions: Opinions, decisions: Decisions, layer: int, width: int, depth: int, epochs: float, out: Path) -> Branch:
    """The branch behind a layer, from out if it is there."""
    torch.manual_seed(SEED)
    branch, kept = Branch(width, depth), out / f"branch-{layer}.pt"
    if kept.exists():
        branch.load_state_dict(torch.load(kept, weights_only=True))
    else:
        learn(branch, opinions, layer, decisions.doubtful(opinions), epochs, out / "log.jsonl")
        torch.save(branch.state_dict(), kept)
    return branch.eval()


def branch_graph(branch: Branch, opinions: Opinions, layer: int, out: Path) -> onnx.ModelProto:
    """The branch as the network's file has it: fused, with integer products whose scales are measured on training windows."""
    raw, fused, small = (out / f"branch-{layer}-{name}.onnx" for name in ("fp32", "fused", "int8"))
    hidden, mask = tensors(opinions, layer, np.array([0, len(opinions) // 2]))
    axes = {0: "texts", 1: "tokens"}
    torch.onnx.export(
        branch, (hidden, mask), str(raw), opset_version=17, dynamo=False, input_names=["hidden", stages.MASK], output_names=["logits"],
        dynamic_axes={"hidden": axes, stages.MASK: axes, "logits": {0: "texts"}},
    )
    width = branch.norm.normalized_shape[0]
    export.fuse(raw, fused, {"num_attention_heads": HEADS, "hidden_size": width}, len(branch.layers))
    some = np.random.default_rng(SEED).choice(len(opinions), min(export.MEASURED_TEXTS, len(opinions)), replace=False)
    feeds = [dict(zip(("hidden", stages.MASK), (t.numpy() for t in tensors(opinions, layer, np.array([i]))))) for i in some]
    quantise.quantise(fused, small, network.EXACT, quantise.ranges(fused, network.EXACT, feeds))
    return onnx.load(small)


@dataclass
class Exit:
    """An exit while its threshold is chosen. logits: float64 [windows, 8], on dev rows."""

    layer: int
    logits: np.ndarray
    doubt: float = -math.inf
    calibration: dict | None = None

    def odds(self) -> np.ndarray:
        """float64 [windows, 7], calibrated"""
        return folders.calibrated(self.calibration or {}, data.ATTRIBUTES, self.logits[:, :-1])

    def leaves(self, thresholds: np.ndarray) -> np.ndarray:
        """As Classifier.leaves in Go: a window in little doubt, none of whose own log-odds here reaches its threshold."""
        return (self.logits[:, -1] <= self.doubt) & (self.odds() < thresholds).all(1)


def dev_logits(parts: list[Path], exits: list[Path], layers: list[int], windows: list[np.ndarray]) -> list[np.ndarray]:
    """The logits of each exit, float64 [windows, 8], by the files that ship. Windows are sorted by length."""
    sessions = [(folders.session(part), folders.session(exit_)) for part, exit_ in zip(parts, exits)]
    out = [np.zeros((len(windows), len(data.ATTRIBUTES) + 1)) for _ in layers]

    def do(group: list[int]):
        ids = np.stack([windows[i] for i in group])
        given = {"input_ids": ids, stages.MASK: np.ones_like(ids)}
        for (part, exit_), layer, logits in zip(sessions, layers, out):
            given = {stages.hidden(layer): part.run(None, given)[0], stages.MASK: given[stages.MASK]}
            logits[group] = exit_.run(None, given)[0]

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(do, equal(windows)))
    return out


def passing(exits: list[Exit], thresholds: np.ndarray) -> np.ndarray:
    """int [windows]: the index of the exit at which each window leaves, or their number."""
    at = np.full(len(exits[0].logits), len(exits))
    for i in reversed(range(len(exits))):
        at[exits[i].leaves(thresholds)] = i
    return at


def texts_odds(odds: np.ndarray, text: np.ndarray, correction: dict) -> np.ndarray:
    """[texts, 7]: the log-odds of texts from those of their windows, as classifier.combine."""
    highest = np.full((text.max() + 1, odds.shape[1]), -np.inf)
    np.maximum.at(highest, text, odds)
    return folders.corrected(highest, np.bincount(text), **correction)


def with_exits(exits: list[Exit], odds: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """[windows, 7]: the log-odds of the exit at which a window leaves, or the network's."""
    at, out = passing(exits, thresholds), odds.copy()
    for i, e in enumerate(exits):
        out[at == i] = e.odds()[at == i]
    return out


def allow(exits: list[Exit], flagged: np.ndarray, missed: int, natural: np.ndarray, layers: int):
    """Sets the doubts with which at most missed of the flagged windows leave, so that the most layers of natural windows are
    saved. Of several exits, each gets the share of the misses with which that is so."""
    best = -1.0
    for shares in itertools.product(range(11), repeat=len(exits) - 1):
        if sum(shares) > 10:
            continue
        tried, left, spent, saved = [], np.zeros(len(flagged), bool), 0, 0.0
        for e, share in zip(exits, [*shares, 10 - sum(shares)]):
            may = missed - spent if e is exits[-1] else missed * share // 10
            doubts = np.sort(e.logits[flagged & ~left, -1])
            # Below the first flagged window that may not leave.
            tried.append(float(np.nextafter(doubts[may], -np.inf)) if may < len(doubts) else math.inf)
            leave = ~left & (e.logits[:, -1] <= tried[-1])
            spent, left = spent + int((leave & flagged).sum()), left | leave
            saved += leave[natural].sum() * (layers - e.layer)
        if saved > best:
            best, chosen = saved, tried
    for e, doubt in zip(exits, chosen):
        e.doubt = doubt


def calibrate_exits(exits: list[Exit], odds: np.ndarray, fit: np.ndarray, thresholds: np.ndarray):
    """Maps the logits of windows that leave to the log-odds of the network's mean probability for them. With few such windows the
    logits stay as they were learnt."""
    for e in exits:
        e.calibration = None
    at = passing(exits, thresholds)
    for i, e in enumerate(exits):
        left, e.calibration = fit & (at == i), {}
        if left.sum() < FEW:
            continue
        for a, attribute in enumerate(data.ATTRIBUTES):
            knots = calibrate.fit_knots(e.logits[left, a], folders.sigmoid(odds[left, a]), np.ones(left.sum()))
            if np.isfinite(knots).all() and (np.diff(knots, axis=0) > 0).all():
                e.calibration[attribute] = {"knots": knots}


def choose(exits: list[Exit], dev: Opinions, sources: np.ndarray, decisions: Decisions, layers: int) -> dict:
    """Sets doubts and calibrations, and returns the manifest's risk. From the strictest on, each of MISSES is fitted on one half
    of the texts and tested on the other, until the test fails (fixed sequence testing)."""
    correction, half = decisions.manifest["window"]["correction"], np.random.default_rng(SEED).random(len(sources)) < 0.5
    flagged, natural = decisions.margin(dev.odds) >= 0, np.isin(sources, NATURAL)[dev.text]
    fit = half[dev.text]
    whole = texts_odds(dev.odds, dev.text, correction) >= decisions.thresholds
    accepted = None
    print("| missed on one half | doubts | decisions that differ on the other | p | natural windows that leave |\n|---|---|---|---|---|")
    for share in MISSES:
        allow(exits, flagged & fit, int(share * fit.sum()), natural & fit, layers)
        calibrate_exits(exits, dev.odds, fit, decisions.thresholds)
        early = texts_odds(with_exits(exits, dev.odds, decisions.thresholds), dev.text, correction) >= decisions.thresholds
        differ, rows = int((early != whole).any(1)[~half].sum()), int((~half).sum())
        p = binom.cdf(differ, rows, RISK)
        gone = [f"{(passing(exits, decisions.thresholds)[natural & ~fit] == i).mean():.3f}" for i in range(len(exits))]
        print(f"| {100 * share:.2f} % | {', '.join(f'{e.doubt:.2f}' for e in exits)} | {differ} of {rows:,} | {p:.4f} | {', '.join(gone)} |", flush=True)
        if p > 1 - CONFIDENCE:
            break
        accepted = share, differ, rows
    if accepted is None:
        raise RuntimeError(f"failed to choose exits: no doubt keeps the share of other decisions below {RISK} with confidence {CONFIDENCE} on {rows} rows; train longer or with more rows")
    share, differ, rows = accepted
    allow(exits, flagged & fit, int(share * fit.sum()), natural & fit, layers)
    calibrate_exits(exits, dev.odds, fit, decisions.thresholds)
    return {"share": float(np.ceil(1e5 * beta.ppf(CONFIDENCE, differ + 1, rows - differ)) / 1e5), "confidence": CONFIDENCE, "rows": rows, "differ": differ}


def dev_windows(folder: Path, tokenizer: Tokenizer) -> tuple[list[np.ndarray], list[int], np.ndarray]:
    """(windows, the text of each, sources of the texts): the dev rows of all sources, each text once."""
    windows, text, sources, seen = [], [], [], set()
    rows = [row for source in data.LOADERS if source not in data.NATURAL for row in data.split_rows(folder, source, "dev")]
    for row in plain.rows(rows + natural_rows(folder, "dev", np.random.default_rng(SEED))):
        if (key := data.key(row.text)) not in seen:
            seen.add(key)
            some = windows_of(tokenizer, row.text)
            windows += some
            text += [len(sources)] * len(some)
            sources.append(row.source)
    return windows, text, np.array(sources)


def write(folder: Path, parts: list[Path], networks: list[Path], exits: list[Exit], risk: dict):
    """Puts the stages, the exits' networks and what was chosen into the folder."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    variant = next(v for v in manifest["variants"] if v["provider"] == "cpu")
    for old in folders.files(variant):
        (folder / old).unlink()
    for file in (*parts, *networks):
        (folder / file.name).write_bytes(file.read_bytes())
    variant["file"] = parts[-1].name
    variant["exits"] = [
        {"stage": part.name, "file": network_.name, "layer": e.layer, "output": f"exit_{e.layer}", "hidden": stages.hidden(e.layer), "width": stages.WIDTH,
         "doubt": round(e.doubt, 4), "calibration": e.calibration}
        for e, part, network_ in zip(exits, parts, networks)
    ]
    variant["risk"] = risk
    folders.write_manifest(folder, manifest)


def saved(models: list[onnx.ModelProto], name: str, out: Path) -> list[Path]:
    """The networks as files that ship: NAME-1.ort and so on."""
    files = [out / f"{name}-{i + 1}.ort" for i in range(len(models))]
    for model, file in zip(models, files):
        onnx.save(model, file.with_suffix(".onnx"))
        export.to_ort(file.with_suffix(".onnx"), file)
    return files


def main(argv: list[str] | None = None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path, help="the model folder, with or without exits")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--layers", type=int, nargs="+", default=[0, 1], help="layers to put an exit behind, 0 is before the first (default 0 1)")
    parser.add_argument("--width", type=int, default=128, help="of a branch's layers (default %(default)s)")
    parser.add_argument("--depth", type=int, default=2, help="number of a branch's layers (default %(default)s)")
    parser.add_argument("--epochs", type=float, default=2, help="passes over the training windows (default %(default)s)")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of the training windows at most (default %(default)s)")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    whole = stages.whole(args.folder)
    manifest = json.loads((args.folder / "manifest.json").read_text(encoding="utf-8"))
    decisions, layers = Decisions(manifest), stages.count(whole)

    tokenizer = folders.tokenizer(args.folder)
    windows = training_windows(args.data, tokenizer, args.tokens)
    said = opinions(whole, manifest, windows, [0] * len(windows), args.layers, args.out / "train")
    print(f"{len(said):,} training windows, {said.starts[-1]:,} tokens, {decisions.doubtful(said).mean():.1%} in doubt", flush=True)
    parts, networks = stages.split(whole, args.layers), []
    for layer in args.layers:
        branch = trained(said, decisions, layer, args.width, args.depth, args.epochs, args.out)
        networks.append(stages.exit_network(branch_graph(branch, said, layer, args.out), layer, f"exit_{layer}"))
    parts, networks = saved(parts, "stage", args.out), saved(networks, "exit", args.out)

    windows, text, sources = dev_windows(args.data, tokenizer)
    dev = opinions(whole, manifest, windows, text, [], args.out / "dev")
    order = sorted(range(len(windows)), key=lambda i: len(windows[i]))
    logits = dev_logits(parts, networks, args.layers, [windows[i] for i in order])
    exits = [Exit(layer, of) for layer, of in zip(args.layers, logits)]
    write(args.folder, parts, networks, exits, choose(exits, dev, sources, decisions, layers))


if __name__ == "__main__":
    main()

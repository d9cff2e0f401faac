"""A model folder: its manifest with the hashes, and scoring with it as the product does.

    python training/folder.py FOLDER      writes the SHA-256 of FOLDER's files into its manifest

Windows, their maximum and spans follow encoder/window.go, classifier/window.go and classifier/span.go step by
step: calibration and measurement here must match what users get.
"""

import dataclasses
import hashlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import regex
from tokenizers import Tokenizer

import plain

CLS, SEP = 101, 102  # what a text of English begins and ends with
MAX_TOKENS = 128  # of a window, [CLS] and [SEP] included; what the models trained here get
OVERLAP = 16  # tokens shared by two windows


def sha256(path: Path) -> str:
    return "sha256:" + hashlib.sha256(Path(path).read_bytes()).hexdigest()


def write_manifest(folder: Path, manifest: dict):
    """Writes manifest.json with the hash of each variant's file and of the tokenizer."""
    names = sorted({name for v in manifest["variants"] for name in files(v)} | {manifest["tokenizer"]})
    manifest["files"] = {name: sha256(folder / name) for name in names}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@dataclass
class Output:
    """The model's output for one text. logits: [windows, labels]; token_logits: [tokens, span labels]
    of the tokens at offsets [tokens, 2] (code points), without the blank that a token begins with."""

    logits: np.ndarray
    token_logits: np.ndarray
    offsets: np.ndarray


def sentence_ends_before(text: str, offsets, i: int) -> bool:
    before, (after, end) = offsets[i - 1][1], offsets[i]
    if after < before:
        return False
    while after < end and text[after].isspace():  # as a token of SentencePiece begins
        after += 1
    gap = text[before:after]
    if any(c in gap for c in "\n\u2028\u2029"):
        return True
    last = text[before - 1 : before]
    return last in ("。", "！", "？") or (last in (".", "!", "?", "…") and gap != "")


def divide(text: str, offsets, size: int, overlap: int) -> list[tuple[int, int, int, int]]:
    """Windows as (start, end, from, to): the tokens that each sees and those that it owns."""
    n = len(offsets)
    if n <= size:
        return [(0, n, 0, n)]
    overlap = min(overlap, size // 2)
    windows, start = [], 0
    while True:
        end = min(start + size, n)
        if end < n:
            end = next((i for i in range(end, start + size // 2, -1) if sentence_ends_before(text, offsets, i)), end)
        begin = start
        if windows:
            s, e, f, _ = windows[-1]
            begin = start + (e - start + 1) // 2
            windows[-1] = (s, e, f, begin)
        windows.append((start, end, begin, end))
        if end == n:
            return windows
        low = end - overlap
        start = next((i for i in range(low, end) if sentence_ends_before(text, offsets, i)), low)


def highest(output: Output) -> np.ndarray:
    """[labels]: the logit of the highest window. A text has an attribute if any part of it has it."""
    return output.logits.max(0).astype(np.float64)


def corrected(odds: np.ndarray, windows: np.ndarray, slope: float, until: float) -> np.ndarray:
    """The log-odds of a text from its highest window's [texts, labels]: the more windows, the higher the highest of
    harmless ones. Full correction up to 0, none from until on."""
    return odds - slope * np.log(windows)[:, None] * np.clip((until - odds) / until, 0, 1)


def sigmoid(z):
    return 1 / (1 + np.exp(-np.asarray(z, dtype=np.float64)))


def apply_knots(knots, z) -> np.ndarray:
    """Log-odds of the calibrated probability. The first and last pieces extend beyond the knots."""
    x, y = np.array(knots, dtype=np.float64).T
    z = np.asarray(z, dtype=np.float64)
    piece = np.clip(np.searchsorted(x, z, side="right") - 1, 0, len(x) - 2)
    return y[piece] + (z - x[piece]) * (y[piece + 1] - y[piece]) / (x[piece + 1] - x[piece])


def calibrated(calibrations: dict, labels: list[str], logits: np.ndarray) -> np.ndarray:
    """Log-odds of the probability that a window of these logits [windows, labels] has the attribute, by the calibration of each
    attribute that has one."""
    return np.stack([apply_knots(calibrations[a]["knots"], logits[:, i]) if a in calibrations else logits[:, i] for i, a in enumerate(labels)], axis=1)


def options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options


def stages(variant: dict) -> list[str]:
    """The files of a manifest's variant that are the whole network, in the order in which they run."""
    return [*(e["stage"] for e in variant.get("exits", [])), variant["file"]]


def files(variant: dict) -> list[str]:
    """All files of a manifest's variant."""
    return [*stages(variant), *(e["file"] for e in variant.get("exits", []))]


def session(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(str(path), options(), providers=["CPUExecutionProvider"])


def tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a model folder."""
    manifest = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
    return Tokenizer.from_file(str(Path(folder) / manifest["tokenizer"]))


def wraps(of: Tokenizer) -> tuple[int, int]:
    """The ids that a text begins and ends with: [CLS] and [SEP], or <s> and </s>."""
    first, last = of.encode("").ids
    return first, last


def without_blanks(text: str, offsets: np.ndarray) -> np.ndarray:
    """Offsets of tokens, int64 [tokens, 2], without the blank that a piece of SentencePiece begins with: nobody marks it."""
    blank = np.array([c.isspace() for c in text] + [False])
    return offsets + np.stack([blank[offsets[:, 0]] & (offsets[:, 1] - offsets[:, 0] > 1), np.zeros(len(offsets), bool)], 1)


class Model:
    """A folder opened for scoring on the CPU by the whole network, without exits. file: an ONNX file of a whole network in place of
    the manifest's CPU variant, for comparing precisions. scale: another one than the guideline's, for logits and probabilities."""

    def __init__(self, folder: Path, file: Path | None = None, scale: str | None = None):
        folder = Path(folder)
        self.manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for name, want in self.manifest["files"].items():
            if sha256(folder / name) != want:
                raise ValueError(f"failed to open {folder}: {name} does not have the hash in the manifest; run folder.py on the folder if the change is intended")
        variant = next(v for v in self.manifest["variants"] if v["provider"] == "cpu")
        self.sessions = [session(path) for path in ([file] if file else [folder / name for name in stages(variant)])]
        self.tokenizer = tokenizer(folder)
        self.wraps = wraps(self.tokenizer)
        labels = self.manifest["labels"]
        self.columns = [i for i, label in enumerate(labels) if label.get("scale") == scale]
        self.labels = [labels[i]["attribute"] for i in self.columns]
        self.scaled = self.manifest["scales"][scale] if scale else self.manifest
        self.window, self.overlap = self.manifest["window"]["tokens"] - 2, self.manifest["window"]["overlap"]
        self.correction = self.manifest["window"]["correction"]

    def run(self, text: str) -> Output:
        """Scores a text, one window per run."""
        encoding, (first, last) = self.tokenizer.encode(text, add_special_tokens=False), self.wraps
        windows = divide(text, encoding.offsets, self.window, self.overlap)
        logits, tokens = [], []
        for start, end, begin, to in windows:
            ids = np.array([[first, *encoding.ids[start:end], last]], dtype=np.int64)
            scores, token_scores = self.infer(ids)
            logits.append(scores[0])
            tokens.append(token_scores[0, 1 + begin - start : 1 + to - start])
        offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        return Output(np.stack(logits), np.concatenate(tokens), without_blanks(text, offsets))

    def infer(self, ids: np.ndarray) -> list[np.ndarray]:
        """logits on the scale and token_logits of windows, int64 [windows, tokens], by all stages of the network."""
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        for stage in self.sessions[:-1]:
            passed = next(output.name for output in stage.get_outputs() if output.name.startswith("hidden"))
            given = {passed: stage.run([passed], given)[0], "attention_mask": given["attention_mask"]}
        logits, token_logits = self.sessions[-1].run(["logits", "token_logits"], given)
        return [logits[:, self.columns], token_logits]

    def run_all(self, texts: list[str], threads: int = 2) -> list[Output]:
        """Scores texts in their plain form if the manifest says so. Offsets are of the texts."""
        seen = plain.texts(texts) if self.manifest.get("undo_disguise") else [(text, None) for text in texts]
        with ThreadPoolExecutor(threads) as pool_of:
            outputs = list(pool_of.map(self.run, [text for text, _ in seen]))
        return [dataclasses.replace(output, offsets=plain.in_original(output.offsets, origin)) for output, (_, origin) in zip(outputs, seen)]

    def highest(self, outputs: list[Output]) -> np.ndarray:
        """[texts, labels], not calibrated."""
        return np.stack([highest(o) for o in outputs])

    def calibrated(self, logits: np.ndarray) -> np.ndarray:
        """[texts, labels], see the function."""
        return calibrated(self.scaled["calibration"], self.labels, logits)

    def probabilities(self, outputs: list[Output]) -> np.ndarray:
        """[texts, labels], as the product gives them."""
        return sigmoid(corrected(self.calibrated(self.highest(outputs)), np.array([len(o.logits) for o in outputs]), **self.correction))


def span_characters(text: str, output: Output, column: int, threshold: float, relative: float = 0) -> set[int]:
    """Code points of the words that the token head marks for one label: words by Unicode's annex
    29, joined across blanks."""
    if not len(output.offsets):
        return set()
    logits = output.token_logits[:, column]
    threshold = max(threshold, relative * float(sigmoid(logits.max())))
    hot = np.flatnonzero(logits >= np.float32(np.log(threshold / (1 - threshold))))
    if not len(hot):
        return set()
    found: list[list[int]] = []
    bounds = [m.start() for m in regex.finditer(r"(?w)\b", text)]
    edges = sorted({0, len(text), *bounds})
    starts, ends = output.offsets[hot, 0], output.offsets[hot, 1]
    for start, end in zip(edges, edges[1:]):
        if text[start:end].strip() and ((starts < end) & (ends > start)).any():
            if found and not text[found[-1][1] : start].strip():
                found[-1][1] = end
            else:
                found.append([start, end])
    return {i for start, end in found for i in range(start, end)}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: folder.py FOLDER")
    target = Path(sys.argv[1])
    write_manifest(target, json.loads((target / "manifest.json").read_text(encoding="utf-8")))

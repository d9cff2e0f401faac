"""toxscreen against the same architecture exported by the book: one caller, one thread, one text at a time.

    python scripts/bench/plain.py --worker build/bench/worker --model build/bench/whole --plain build/bench/plain.onnx --json build/bench/plain.json build/bench/natural.jsonl …

By the book is MiniLM-L6 with toxscreen's heads as PyTorch exports it, in dynamic int8 with onnxruntime's defaults, run by
Hugging Face's tokenizers and onnxruntime; see also training/curve.py. Its weights are the base model's and its heads
random, which does not affect timing. --plain is made if it does not exist. Texts are truncated to the window and get
probabilities and the token head's logits; toxscreen also divides longer texts, undoes disguise, detects the language
and marks spans.

toxscreen with exits, toxscreen with the whole network and the plain network take turns on pieces of each set of texts, in
changing order. --json gets how many times as fast as the plain network each side is, by set: training/curve.py reads it.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

from worker import OURS, Worker, read_texts, spread

PIECE = 64  # texts per turn
PLAIN = "plain int8"


def make_plain(path: Path):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "training"))  # this folder has files of the same names
    import export
    import model
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        exported = Path(scratch) / "fp32.onnx"
        export.to_onnx(model.from_base().eval(), exported)
        quantize_dynamic(str(exported), str(path), weight_type=QuantType.QInt8)


class Plain:
    def __init__(self, path: Path, folder: Path):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(json.loads((folder / "manifest.json").read_text())["window"]["tokens"])
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def seconds(self, texts: list[str]) -> list[float]:
        """How long each text takes."""
        took = []
        for text in texts:
            start = time.perf_counter()
            ids = np.array([self.tokenizer.encode(text).ids], np.int64)
            logits, _ = self.session.run(["logits", "token_logits"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            1 / (1 + np.exp(-logits))
            took.append(time.perf_counter() - start)
        return took


def measure(program: Path, path: Path, plain: Plain) -> dict[str, float]:
    """Prints a table, and returns how many times as fast as the plain network each of our sides is."""
    texts, worker = read_texts(path), Worker(program, path, threads=1)

    def seconds(name: str, start: int, end: int) -> list[float]:
        return plain.seconds(texts[start:end]) if name == PLAIN else worker.do(f"each {start} {end}{OURS[name]}")["seconds"]

    print(f"\nOne text at a time on one thread, {len(texts)} texts of {path.stem} in interleaved pieces of {PIECE}; load {os.getloadavg()[0]:.1f} at the start\n")
    took = {name: [] for name in (*OURS, PLAIN)}
    ratios = {name: [] for name in OURS}
    random.seed(1)
    for name in took:
        seconds(name, 0, min(PIECE, len(texts)))
    for start in range(0, len(texts), PIECE):
        turn = {name: seconds(name, start, min(start + PIECE, len(texts))) for name in random.sample(list(took), len(took))}
        for name in took:
            took[name] += turn[name]
        for name in OURS:
            ratios[name].append(sum(turn[PLAIN]) / sum(turn[name]))
    worker.close()

    print("| | texts/s | as fast as plain int8 | of the turns: lowest, median, highest | ms a text: mean | p50 | p99 |")
    print("|---|---|---|---|---|---|---|")
    as_fast = {name: sum(took[PLAIN]) / sum(took[name]) for name in OURS}
    for name, times in took.items():
        compared = f"{as_fast[name]:.2f} × | {spread(ratios[name])}" if name in OURS else " | "
        quantiles = " | ".join(f"{1000 * q:.2f}" for q in (statistics.mean(times), *np.quantile(times, (0.5, 0.99))))
        print(f"| {name} | {len(texts) / sum(times):.1f} | {compared} | {quantiles} |", flush=True)
    return as_fast


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", required=True, type=Path, help="output of `go build ./scripts/bench/worker`")
    parser.add_argument("--model", required=True, type=Path, help="folder with manifest.json and tokenizer.json")
    parser.add_argument("--plain", required=True, type=Path, help="ONNX file of the plain network")
    parser.add_argument("--json", type=Path, help="file for the ratios")
    parser.add_argument("sets", nargs="+", type=Path, help="JSONL files of texts")
    arguments = parser.parse_args()
    if not arguments.plain.exists():
        make_plain(arguments.plain)
    plain = Plain(arguments.plain, arguments.model)
    found = {path.stem: measure(arguments.worker, path, plain) for path in arguments.sets}
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

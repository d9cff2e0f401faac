"""Costs and benefits of fixed int8 scales: the figures of docs/decisions/0011-fixed-scales.md.

    python training/scales.py --data DATA --out build/train

OUT is the folder with export.py's fused.onnx. Four tables: the width of the products' inputs in most texts and
in all of them (training rows); the distance of dev rows' logits from fp32 for several ways to quantise; the same
for ids unlike any text; the time of a text, alone and in runs with others of its length.
"""

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic

import data
import export
import folder as folders
import model as network
import quantise
import tokens

SHAPES = ((1, 6), (4, 6), (10, 6), (1, 12), (2, 12), (5, 12), (10, 12), (1, 24), (2, 24), (4, 24), (1, 32), (2, 32), (4, 32), (1, 64), (2, 64), (4, 64))
ROUNDS = 60


def feed(ids: np.ndarray) -> dict[str, np.ndarray]:
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


def dynamic(fused: Path, path: Path):
    """onnxruntime's quantiser with weights of seven bits per channel, which shipped until 1.2.0."""
    heads = [node.name for node in onnx.load(fused).graph.node if any(part in node.name for part in export.HEADS)]
    quantize_dynamic(str(fused), str(path), op_types_to_quantize=["MatMul", "Attention", "Gather"], per_channel=True, reduce_range=True,
                     weight_type=QuantType.QInt8, nodes_to_exclude=heads, extra_options={"MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT})


def widths(fused: Path, texts: list[dict[str, np.ndarray]]):
    every = [quantise.ranges(fused, export.HEADS, [text]) for text in texts]
    print("| into the product | lowest and highest of the median text | of all | widest channel, times the median |\n|---|---|---|---|")
    for name in every[0]:
        spans = np.stack([one[name] for one in every])  # [texts, 2, channels]
        low, high = spans[:, 0].min(1), spans[:, 1].max(1)
        width = np.abs(spans).max((0, 1))
        print(f"| {name} | {np.median(low):.2f}, {np.median(high):.2f} | {low.min():.2f}, {high.max():.2f} | {width.max() / np.median(width):.1f} |")


def distances(fused: Path, variants: dict[str, Path], folder: Path):
    tokenizer, rng = tokens.tokenizer(), np.random.default_rng(0)
    rows = {source: data.split_rows(folder, source, "dev")[:500] for source in ("perspective_rtp", "jigsaw")}
    outputs = {}
    for name, path in ({"fp32": fused} | variants).items():
        run = export.as_is(path)
        outputs[name] = {s: np.concatenate([run.run(["logits"], feed(ids[None]))[0] for ids in tokens.ids_of(part, tokenizer, rng)]) for s, part in rows.items()}
    print(f"\n| mean distance of logits from fp32, {len(rows['jigsaw'])} dev rows | " + " | ".join(rows) + " |\n|---|" + "---|" * len(rows))
    for name in variants:
        print(f"| {name} | " + " | ".join(f"{np.abs(outputs[name][s] - outputs['fp32'][s]).mean():.4f}" for s in rows) + " |")


def strange(fused: Path, variants: dict[str, Path]):
    """Ids unlike any text in training, for which activations may leave the ranges of the scales."""
    generator = np.random.default_rng(3)
    kinds = {
        "words in disorder": generator.integers(1000, 28000, (40, 30)), "any tokens": generator.integers(0, network.VOCABULARY, (40, 30)),
        "one token sixty times": np.repeat(generator.integers(1000, 28000, (40, 1)), 60, 1), "a token": generator.integers(0, network.VOCABULARY, (60, 1)),
        "rare tokens": generator.integers(28000, network.VOCABULARY, (40, 100)), "254 words in disorder": generator.integers(1000, 28000, (10, 254)),
    }
    sessions = {name: export.as_is(path) for name, path in ({"fp32": fused} | variants).items()}
    print("\n| mean distance of logits from fp32 | " + " | ".join(variants) + " |\n|---|" + "---|" * len(variants))
    for kind, rows in kinds.items():
        logits = {name: np.stack([one.run(["logits"], feed(np.array([[folders.CLS, *ids, folders.SEP]])))[0] for ids in rows]) for name, one in sessions.items()}
        print(f"| {kind} | " + " | ".join(f"{np.abs(logits[name] - logits['fp32']).mean():.3f}" for name in variants) + " |")


def times(variants: dict[str, Path]):
    """Median time of the thread that runs, interleaved in random order."""
    sessions, generator = [export.as_is(path) for path in variants.values()], np.random.default_rng(1)
    print("\n| texts × tokens | " + " | ".join(f"{name}, ms a text" for name in variants) + " |\n|---|" + "---|" * len(variants))
    for texts, length in SHAPES:
        ids = generator.integers(1000, 20000, (texts, length), dtype=np.int64)
        took = [[] for _ in sessions]
        for _ in range(ROUNDS):
            for i in random.sample(range(len(sessions)), len(sessions)):
                start = time.thread_time()
                sessions[i].run(None, feed(ids))
                took[i].append(1000 * (time.thread_time() - start) / texts)
        print(f"| {texts} × {length} | " + " | ".join(f"{statistics.median(t):.2f}" for t in took) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path, help="folder with export.py's fused.onnx")
    args = parser.parse_args()
    fused = args.out / "fused.onnx"
    texts = export.texts_to_measure(args.data)
    widths(fused, texts[:300])
    with tempfile.TemporaryDirectory() as scratch:
        variants = {name: Path(scratch) / f"{i}.onnx" for i, name in enumerate(("dynamic", "fixed", "fixed, none apart", "fixed, weights of 8 bits", "fixed by 100 texts"))}
        dynamic(fused, variants["dynamic"])
        span = quantise.ranges(fused, export.HEADS, texts)
        quantise.quantise(fused, variants["fixed"], export.HEADS, span)
        quantise.quantise(fused, variants["fixed by 100 texts"], export.HEADS, quantise.ranges(fused, export.HEADS, texts[:100]))
        quantise.UNEVEN, uneven = np.inf, quantise.UNEVEN
        quantise.quantise(fused, variants["fixed, none apart"], export.HEADS, span)
        quantise.UNEVEN, quantise.WEIGHT_LEVELS = uneven, 127
        quantise.quantise(fused, variants["fixed, weights of 8 bits"], export.HEADS, span)
        distances(fused, variants, args.data)
        both = {name: variants[name] for name in ("dynamic", "fixed")}
        strange(fused, both)
        times(both)


if __name__ == "__main__":
    main()

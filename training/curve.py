"""Measures quality against speed for several model folders, for docs/model/curve.svg.

    python training/curve.py --data DATA --plain build/train/fp32.onnx NAME=FOLDER … > docs/model/curve.json
    python training/curve.py --data DATA --known docs/model/curve.json --mixes build/bench/plain.json NAME=FOLDER

Quality is measured on dev rows, through the product and its whole network. Speed is the time of one run of 64 tokens on one
thread, relative to the unfused network of --plain, quantised to dynamic int8 with onnxruntime's defaults,
interleaved in one process.

With --mixes, a folder with exits has a point for each set of texts that plain.py measured: its quality is that of the exits' scores, and
its speed that of whole texts of the set, one at a time on one thread, relative to the same plain network. A further point has the
whole network. --known has the points of other models, which are kept.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic

import evaluate
import export
import folder as folders
import measures
import stages
import systems

TOKENS, ROUNDS = 64, 300
SHOWN = {
    "jigsaw": "jigsaw: mean AUC of six labels", "perspective_rtp": "perspective_rtp and rtp2: mean Spearman of seven attributes",
    "hate": "hate and sexism: mean AUC of five", "spans": "toxic spans: character F1",
}


def times(files: list[Path]) -> list[float]:
    """Median milliseconds of the thread that runs each file, interleaved in random order. This excludes the
    processor time of other programs."""
    sessions = [onnxruntime.InferenceSession(str(file), folders.options(), providers=["CPUExecutionProvider"]) for file in files]
    ids = np.random.default_rng(1).integers(1000, 20000, (1, TOKENS), dtype=np.int64)
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
    took: list[list[float]] = [[] for _ in files]
    turns = list(range(len(files)))
    for round_ in range(-10, ROUNDS):
        random.shuffle(turns)
        for i in turns:
            start = time.thread_time()
            sessions[i].run(None, feed)
            if round_ >= 0:
                took[i].append((time.thread_time() - start) * 1000)
    return [statistics.median(t) for t in took]


def quality(product: systems.Product, held: measures.Held) -> dict[str, float]:
    measurement = measures.Measurement(product, held)
    for step in (measurement.agreement, measurement.spans, measurement.hate):
        step()
    return {key: round(measurement.out.figures[measure].value, 4) for key, measure in SHOWN.items()}


def runs(named: dict[str, Path], unfused: Path, binary: Path, held: measures.Held) -> dict:
    """A point for the whole network of each folder."""
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "plain.onnx"
        quantize_dynamic(str(unfused), str(plain), weight_type=QuantType.QInt8)
        files = []
        for i, path in enumerate(named.values()):
            files.append(Path(scratch) / f"{i}.ort")
            onnx.save(stages.whole(path), files[-1].with_suffix(".onnx"))
            export.to_ort(files[-1].with_suffix(".onnx"), files[-1])
        base, *ours = times([plain, *files])
    models = [
        {"name": name, "milliseconds": round(ms, 2), "times_as_fast": round(base / ms, 2)} | quality(systems.Product(name, binary, path), held)
        for (name, path), ms in zip(named.items(), ours)
    ]
    return {"tokens": TOKENS, "plain_milliseconds": round(base, 2), "models": models}


# What the sets of scripts/bench/texts.py are called; others keep their names.
MIXES = {"texts": "toxic-heavy"}


def mixes(name: str, folder: Path, as_fast: dict[str, dict[str, float]], binary: Path, held: measures.Held) -> list[dict]:
    """The points of a folder with exits."""
    whole, early = (quality(systems.Product(name, binary, folder, options), held) for options in (("--full",), ()))
    return [
        {"name": f"{name}{which}, {MIXES.get(mix, mix)} texts", "mix": MIXES.get(mix, mix), "times_as_fast": round(sides[side], 2)} | measured
        for mix, sides in as_fast.items()
        for side, which, measured in (("toxscreen --full", ", whole network", whole), ("toxscreen", ", exits", early))
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--binary", type=Path, default=Path("bin/toxscreen"), help="output of `make build`")
    speed = parser.add_mutually_exclusive_group(required=True)
    speed.add_argument("--plain", type=Path, help="fp32.onnx in a training's --out")
    speed.add_argument("--mixes", type=Path, help="output of scripts/bench/plain.py --json")
    parser.add_argument("--known", type=Path, help="an earlier output, whose points are kept")
    args = parser.parse_args()
    named = {name: Path(path) for name, _, path in (f.partition("=") for f in args.folders)}
    held = measures.Held(args.data, "dev", None, evaluate.SEED)
    found = json.loads(args.known.read_text(encoding="utf-8")) if args.known else {"models": []}
    if args.plain:
        new = runs(named, args.plain, args.binary, held)
    else:
        as_fast = json.loads(args.mixes.read_text(encoding="utf-8"))
        new = {"models": [point for name, path in named.items() for point in mixes(name, path, as_fast, args.binary, held)]}
    names = {point["name"] for point in new["models"]}
    models = [point for point in found["models"] if point["name"] not in names] + new["models"]
    print(json.dumps(found | new | {"models": models}, indent=2))


if __name__ == "__main__":
    main()

"""Turns a trained network of names into models/entities-en: ONNX, fusion, int8, parity, the threshold of each type.

    python training/entities_export.py --data DATA --out build/entities --folder models/entities-en

exports the checkpoint that entities.py left in --out.
"""

import argparse
import datetime
import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions

import entities
import entities_data as data
import export
import folder as folders
import plain
import quantise
import stages

VERSION = "1.2.0"  # of the shipped network, raised with every change to it
HIDDEN = "hidden_0"  # what the first stage of toxicity-en passes on
EXACT = ("names",)  # the head, which ships in fp32
HARMLESS = Path(__file__).resolve().parents[1] / "testdata" / "pii" / "harmless.jsonl.gz"
THRESHOLDS = np.arange(0.3, 0.81, 0.05)
# How often a false alarm in the harmless texts counts. Dev rows have ten names in as many words as the harmless texts have one, as
# other people's texts may; but a name that is missed is worse than a false alarm, and most of all a person's.
HARMLESS_COUNTS = {"PERSON": 2, "LOCATION": 5, "ADDRESS": 5, "ORGANIZATION": 5, "NRP": 5}
# Of people, the lowest threshold counts whose F1 is as good as the highest: 1,500 names have a standard error of 0.01.
NEAR_F1 = {"PERSON": 0.01}


def read(checkpoint: Path) -> entities.Names:
    state = torch.load(checkpoint, weights_only=True, map_location="cpu")
    model = entities.Names(int(state["settings"]["layers"]))
    model.load_state_dict(state["model"] | state["average"])
    return model.eval()


def to_onnx(model: entities.Names, path: Path):
    hidden, mask, shapes = torch.zeros(2, 16, stages.WIDTH), torch.ones(2, 16, dtype=torch.int64), torch.zeros(2, 16, dtype=torch.int64)
    axes = {0: "texts", 1: "tokens"}
    names = (HIDDEN, stages.MASK, "token_shapes")
    torch.onnx.export(
        model, (hidden, mask, shapes), str(path), opset_version=17, dynamo=False, input_names=list(names), output_names=["names"],
        dynamic_axes={name: axes for name in (*names, "names")},
    )


def fuse(path: Path, fused: Path, layers: int):
    options = FusionOptions("bert")
    options.enable_embed_layer_norm = False
    options.enable_skip_layer_norm = options.enable_bias_skip_layer_norm = False
    optimizer.optimize_model(str(path), model_type="bert", num_heads=12, hidden_size=stages.WIDTH, opt_level=0, optimization_options=options).save_model_to_file(str(fused))
    found = sum(node.op_type == "Attention" for node in onnx.load(fused).graph.node)
    if found != layers:
        raise RuntimeError(f"failed to fuse {path}: {found} of {layers} layers have fused attention; is the installed onnxruntime not the one in requirements.txt?")


class Shipped:
    """The folder's files, run as the product runs them: one window a run."""

    def __init__(self, file: Path):
        self.embeddings = folders.session(entities.SHIPPED / "stage-1.ort")
        self.network = folders.session(file)
        self.tokenizer = folders.tokenizer(entities.SHIPPED)

    def inputs(self, ids: np.ndarray, shapes: np.ndarray) -> dict[str, np.ndarray]:
        given = {"input_ids": ids[None], stages.MASK: np.ones_like(ids[None])}
        return {HIDDEN: self.embeddings.run([HIDDEN], given)[0], stages.MASK: given[stages.MASK], "token_shapes": shapes[None]}

    def probabilities(self, text: str):
        e = self.tokenizer.encode(text, add_special_tokens=False)
        out, all_shapes = np.zeros((len(e.ids), len(entities.LABELS)), np.float32), entities.shapes_of(text, e.offsets)
        for start, end, begin, to in folders.divide(text, e.offsets, folders.MAX_TOKENS - 2, folders.OVERLAP):
            ids = np.array([folders.CLS, *e.ids[start:end], folders.SEP])
            logits = self.network.run(["names"], self.inputs(ids, np.pad(all_shapes[start:end], 1)))[0][0]
            p = np.exp(logits - logits.max(-1, keepdims=True))
            out[begin:to] = (p / p.sum(-1, keepdims=True))[1 + begin - start : 1 + to - start]
        return e, out


def harmless() -> list[data.Example]:
    """The dev half of testdata/pii/harmless.jsonl.gz: prose, code, logs and tables with few names."""
    rows = (json.loads(line) for line in gzip.open(HARMLESS, "rt", encoding="utf-8"))
    spans = lambda row: tuple((e["start"], e["end"], e["type"]) for e in row["entities"] if e["type"] in entities.TYPES)
    return [data.Example(row["id"], "harmless", "dev", row["text"], spans(row)) for row in rows if row["part"] == "dev"]


def thresholds(shipped: Shipped, dev: list) -> dict[str, float]:
    """The threshold of each type with the highest F1 of overlapping spans, or one that is as good, see NEAR_F1: over all dev rows
    and the dev half of the harmless texts, whose false alarms count HARMLESS_COUNTS times."""
    said = [(e, *shipped.probabilities(e.text)) for e in dev]
    best: dict[str, list[float]] = {name: [] for name in entities.TYPES}
    for least in THRESHOLDS:
        counts = {name: np.zeros(4) for name in entities.TYPES}
        for example, encoding, p in said:
            found = entities.counted(example, entities.decode(example.text, encoding, p, float(least)))
            for name, (right, of_found, recalled, of_gold) in found.items():
                again = (HARMLESS_COUNTS[name] - 1) * (of_found - right) if example.source == "harmless" else 0
                counts[name] += (right, of_found + again, recalled, of_gold)
        for name, (right, found, recalled, gold) in counts.items():
            p_, r = right / max(found, 1), recalled / max(gold, 1)
            best[name].append(2 * p_ * r / max(p_ + r, 1e-9))
    return {name: round(float(THRESHOLDS[np.argmax(np.array(f1) >= max(f1) - NEAR_F1.get(name, 0))]), 2) for name, f1 in best.items()}


# Texts on which the program must find the same as this file: of several registers, casings and scripts, and without names.
EXPECTED = (
    "Patient John Doe, DOB 02/03/1961, was seen by Dr. Amara Okafor at Mercy General Hospital in Leeds.",
    "hi its maria from accounting, can u call jorge garcia back? he lives at 12 high street, york yo1 7ha",
    "MARY JONES\n221B Baker Street\nLondon NW1 6XE\nUnited Kingdom",
    "The French government and Siemens AG signed it in Zürich; Björn Åkesson (Volvo) was there.",
    "Mark the box, may I? Will it rain in June? The Turkey sandwich costs 4.50.",
    "func JohnDoe(ctx context.Context) error { return fmt.Errorf(\"paris: %w\", err) }",
    "2024-11-02 10:33:01 INFO [worker-3] request 8f14e45f took 12.5 ms",
    "I met 王小明 and Nguyễn Văn An in Đà Nẵng 🙂 yesterday, says O'Brien.",
    "",
)


def expected(shipped: Shipped, least: dict[str, float]) -> list[dict]:
    """EXPECTED with what is found there; offsets are bytes, as in Go."""
    out = []
    for text in EXPECTED:
        encoding, p = shipped.probabilities(text)
        size = lambda end: len(text[:end].encode())
        out.append({"text": text, "entities": [{"type": t, "start": size(a), "end": size(b), "score": round(s, 4)} for a, b, t, s in entities.decode(text, encoding, p, least)]})
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path, help="where entities.py left checkpoint.pt")
    parser.add_argument("--folder", required=True, type=Path, help="the folder to write")
    parser.add_argument("--expected", type=Path, help="a file to write with what the network finds in some texts (testdata/pii/names.json)")
    parser.add_argument("--command", default="make train-entities", help="what the manifest names as the command that trained it")
    args = parser.parse_args()
    model = read(args.out / "checkpoint.pt")
    raw, fused, small = (args.out / f"{name}.onnx" for name in ("fp32", "fused", "int8"))
    args.folder.mkdir(parents=True, exist_ok=True)
    to_onnx(model, raw)
    fuse(raw, fused, len(model.layers))

    examples = data.epoch(args.data, 2000, 0)
    rng = np.random.default_rng(export.SEED)
    windows = entities.windows_of([examples[i] for i in rng.permutation(len(examples))[: export.MEASURED_TEXTS]], folders.tokenizer(entities.SHIPPED), rng)
    fp32 = Shipped(fused)
    feeds = [fp32.inputs(w.ids, w.shapes) for w in windows]
    quantise.quantise(fused, small, EXACT, quantise.ranges(fused, EXACT, feeds))
    export.to_ort(small, args.folder / "network.ort")
    shipped = Shipped(args.folder / "network.ort")
    worst = max(float(np.abs(model(*(torch.from_numpy(v) for v in f.values())).detach().numpy() - fp32.network.run(["names"], f)[0]).max()) for f in feeds[:50])
    if worst > 1e-3:
        raise RuntimeError(f"failed to export: the fused network differs from PyTorch's by {worst:.2g}, more than 1e-3")

    dev = plain.examples([e for e in data.load(args.data) if e.split == "dev"] + harmless())
    digest = lambda path: "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    manifest = {
        "format": 1, "name": "entities-en", "version": VERSION,
        "description": "Names of people, places, addresses, organisations and groups in English text.",
        "license": "Apache-2.0", "languages": ["en"],
        "provenance": {
            "base": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
            "data": ["ner_wnut17_train", "ner_btc", "ner_wikigold", "pii_synthetic"], "command": args.command, "trained": datetime.date.today().isoformat(),
            "notes": "Also trained on generated texts (names of Faker, MIT) and on rows of the data folder that were annotated for it. README.md names the licences.",
        },
        "files": {"network.ort": digest(args.folder / "network.ort")},
        "embeddings": {"model": "toxicity-en", "file": "stage-1.ort", "hash": digest(entities.SHIPPED / "stage-1.ort"), "output": HIDDEN, "width": stages.WIDTH},
        "tokenizer": {"model": "toxicity-en", "file": "tokenizer.json", "hash": digest(entities.SHIPPED / "tokenizer.json")},
        "output": "names", "types": list(entities.TYPES), "thresholds": thresholds(shipped, dev),
        "window": {"tokens": folders.MAX_TOKENS, "overlap": folders.OVERLAP},
    }
    (args.folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    if args.expected:
        args.expected.parent.mkdir(parents=True, exist_ok=True)
        args.expected.write_text(json.dumps(expected(shipped, manifest["thresholds"]), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps({"torch_against_fused": worst, "megabytes": round((args.folder / "network.ort").stat().st_size / 1e6, 2), "thresholds": manifest["thresholds"]}))


if __name__ == "__main__":
    main()

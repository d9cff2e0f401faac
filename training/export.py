"""Turns trained weights into a model folder: ONNX, fusion, quantisation, parity, calibration.

    python training/export.py --data DATA --out build/train --weights training/remote/weights --name six-layers

--weights and --name say which weights of remote/train.py: NAME-1.pt and so on.
"""

import argparse
import datetime
import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions
from sklearn.metrics import roc_auc_score

sys.path.append(str(Path(__file__).with_name("remote")))
import calibrate
import data
import folder as folders
import grammars
import model as network
import quantise
import tokens
from mix import MIX

MEGABYTE = 1_000_000
MODELS = Path(__file__).resolve().parents[1] / "models"
SHIPPED = MODELS / "toxicity-en"
MOST = 25  # MB of a network
# Left in fp32: 600 kB for the last thousandths.
HEADS = network.EXACT
# Of a text's log-odds for its number of windows, by windows.py (docs/model/experiments.md, section 12).
CORRECTION = {"slope": 0.05, "until": 2.0}
PERSPECTIVE_THRESHOLD = 0.7  # of every attribute on that scale, see docs/decisions/0036-two-scales.md
MEASURED_TEXTS, SEED = 1000, 1
DISGUISED = {True: 0.2, False: 0.3}  # shares of the toxic and of the other ones of these texts
VERSION = "3.0.0"  # of the shipped model, raised with every change to it
# Fuses an addition with the normalisation after it and takes longer than both, see
# docs/decisions/0005-ort-format.md.
SLOW_FUSION = "SkipLayerNormFusion"


def to_onnx(model: network.Classifier, path: Path):
    ids = torch.randint(model.config["vocab_size"], (2, 16))
    axes = {0: "texts", 1: "tokens"}
    torch.onnx.export(
        model, (ids, torch.ones_like(ids)), str(path), opset_version=17, dynamo=False,
        input_names=["input_ids", "attention_mask"], output_names=["logits", "token_logits"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "logits": {0: "texts"}, "token_logits": axes},
    )


def fuse(path: Path, fused: Path, config: dict, layers: int) -> dict[str, int]:
    """Rewrites the graph with onnxruntime's fused operators and returns the count of each."""
    options = FusionOptions("bert")
    # Would fix the shape of the mask, and its quantised form is slower than a Gather.
    options.enable_embed_layer_norm = False
    options.enable_skip_layer_norm = options.enable_bias_skip_layer_norm = False
    result = optimizer.optimize_model(
        str(path), model_type="bert", num_heads=config["num_attention_heads"], hidden_size=config["hidden_size"],
        opt_level=0, optimization_options=options,
    )
    result.save_model_to_file(str(fused))
    counts = Counter(node.op_type for node in onnx.load(fused).graph.node)
    # One LayerNormalization after the embeddings, and two in each layer.
    wanted = {"Attention": layers, "BiasGelu": layers, "LayerNormalization": 2 * layers + 1}
    if any(counts[op] != n for op, n in wanted.items()):
        raise RuntimeError(f"failed to fuse {path}: wanted {wanted}, found {dict(counts)}; is the installed onnxruntime not the one in requirements.txt?")
    return wanted


def texts_to_measure(data_folder: Path) -> list[dict[str, np.ndarray]]:
    """The inputs of the network for training rows, some of them disguised; their activations set the scales."""
    rng, rows = np.random.default_rng(SEED), data.training_rows(data_folder, grammars.rows("train", grammars.SENTENCES, SEED))
    chosen = [rows[i] for i in rng.permutation(len(rows))[:MEASURED_TEXTS]]
    return feeds(tokens.ids_of(chosen, tokens.tokenizer(), rng, data.telling_words(rows), DISGUISED))


def feeds(texts: list[np.ndarray]) -> list[dict[str, np.ndarray]]:
    """The inputs of the network for texts of token ids, one by one."""
    return [{"input_ids": ids[None], "attention_mask": np.ones_like(ids[None])} for ids in texts]


def as_is(path: Path) -> onnxruntime.InferenceSession:
    """A session that runs an ONNX file as to_ort would save it."""
    return onnxruntime.InferenceSession(str(path), folders.options(), providers=["CPUExecutionProvider"], disabled_optimizers=[SLOW_FUSION])


def to_ort(onnx_file: Path, path: Path, most: int = MOST):
    """Saves the graph as ONNX Runtime runs it, in a file of at most so many MB whose weights it uses in place."""
    options = folders.options()
    options.add_session_config_entry("session.save_model_format", "ORT")
    options.optimized_model_filepath = str(path)
    # The next level's optimisations suit this machine, and perhaps not others.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(str(onnx_file), options, providers=["CPUExecutionProvider"], disabled_optimizers=[SLOW_FUSION])
    size = path.stat().st_size
    if size > most * MEGABYTE:
        raise RuntimeError(f"failed to quantise {onnx_file}: {path.name} has {size / MEGABYTE:.1f} MB of at most {most}; was a weight left in fp32?")


def torch_parity(model: network.Classifier, path: Path) -> float:
    """Largest difference between PyTorch and the ONNX file, over both outputs and several shapes."""
    run, worst = folders.session(path), 0.0
    generator = torch.Generator().manual_seed(7)
    for texts, tokens in ((1, 3), (1, 64), (3, 17), (2, 256)):
        ids = torch.randint(model.config["vocab_size"], (texts, tokens), generator=generator)
        mask = torch.ones_like(ids)
        mask[-1, tokens // 2 :] = 1 if texts == 1 else 0
        with torch.no_grad():
            want = model(ids, mask)
        got = run.run(["logits", "token_logits"], {"input_ids": ids.numpy(), "attention_mask": mask.numpy()})
        worst = max(worst, np.abs(want[0].numpy() - got[0]).max())
        worst = max(worst, (np.abs(want[1].numpy() - got[1]) * mask.numpy()[..., None]).max())
    return float(worst)


def precision_loss(int8: np.ndarray, fp32: np.ndarray, rows: list[data.Row]) -> dict[str, float]:
    """AUC of fp32 minus AUC of int8 for each attribute, over one source's rows."""
    labels, out = np.stack([r.labels for r in rows]), {}
    for a, name in enumerate(data.ATTRIBUTES):
        known = ~np.isnan(labels[:, a])
        y = labels[known, a] >= 0.5
        if 5 <= y.sum() < len(y):
            out[name] = round(roc_auc_score(y, fp32[known, a]) - roc_auc_score(y, int8[known, a]), 5)
    return out


def write_card(target: Path, manifest: dict, report: dict, figures: list[str]):
    """Writes a generated model card, which ends with lines of figures. The card of a folder that ships is hand-written and is
    kept."""
    if target.resolve().parent == MODELS and (target / "README.md").exists():
        return
    lost = [v for figures in report["auc_lost_to_int8"].values() for v in figures.values()]
    provenance = manifest["provenance"]
    lines = [
        f"# {manifest['name']} {manifest['version']}", "", manifest["description"], "",
        f"- made by `{provenance['command']}` on {provenance['trained']} from {provenance['base']}",
        f"- data: {', '.join(provenance['data'])}",
        f"- {report['megabytes']} MB; most AUC lost to int8 on dev rows: {max(lost):.4f}" if lost else f"- {report['megabytes']} MB",
        f"- spans from {manifest['spans']['threshold']} and {manifest['spans']['relative']} of the highest; character F1 on dev rows by both: {report['span_f1']}",
        "", *figures, "",
    ]
    (target / "README.md").write_text("\n".join(lines), encoding="utf-8")


def write_network(model: network.Classifier, out: Path, target: Path, texts: list[dict[str, np.ndarray]], most: int = MOST) -> dict:
    """Does everything between the weights and model.ort in target, of at most so many MB, and returns a report. texts set the
    scales. Leaves fp32.onnx, fused.onnx and int8.onnx in out."""
    raw, fused, small = out / "fp32.onnx", out / "fused.onnx", out / "int8.onnx"
    to_onnx(model, raw)
    report = {"torch_against_onnx": torch_parity(model, raw)}
    report["fused"] = fuse(raw, fused, model.config, len(model.layers))
    report["torch_against_fused"] = torch_parity(model, fused)
    for name in ("torch_against_onnx", "torch_against_fused"):
        if report[name] > 1e-3:
            raise RuntimeError(f"failed to export: {name} differs by {report[name]:.2g}, more than 1e-3")
    quantise.quantise(fused, small, HEADS, quantise.ranges(fused, HEADS, texts))
    to_ort(small, target / "model.ort", most)
    report["megabytes"] = round((target / "model.ort").stat().st_size / MEGABYTE, 2)
    print(json.dumps(report), flush=True)
    return report


def manifest_of(about: dict, labels: list[dict], **more) -> dict:
    """A manifest without what is fitted. about: what is for people; labels: those of further scales; more: keys that only some
    models have."""
    return {
        "format": 1, **about, "files": {}, "tokenizer": "tokenizer.json",
        "variants": [{"provider": "cpu", "file": "model.ort", "precision": "int8", "batching": "bucketed"}],
        "inputs": ["input_ids", "attention_mask"], "outputs": {"scores": "logits", "tokens": "token_logits"},
        "labels": [{"name": a, "attribute": a} for a in data.ATTRIBUTES] + labels, "activation": "sigmoid",
        "spans": {"labels": [{"name": a, "attribute": a} for a in data.SPAN_ATTRIBUTES], "threshold": 0.5},
        "window": {"tokens": folders.MAX_TOKENS, "overlap": folders.OVERLAP, "correction": CORRECTION}, "undo_disguise": True,
        "calibration": {}, "thresholds": {a: 0.5 for a in data.ATTRIBUTES}, **more,
    }


def write_folder(model: network.Classifier, data_folder: Path, out: Path, target: Path, command: str):
    """Does everything between the weights and a folder that the product loads. Leaves write_network's files and report.json
    in out."""
    target.mkdir(parents=True, exist_ok=True)
    report = write_network(model, out, target, texts_to_measure(data_folder))

    # Not Tokenizer.save, which keeps one of several tokens that share an id.
    (target / "tokenizer.json").write_text(tokens.tokenizer_json(), encoding="utf-8")
    if target.resolve() != SHIPPED:
        shutil.copyfile(SHIPPED / "LICENSE", target / "LICENSE")
    about = {
        "name": "toxicity-en", "version": VERSION,
        "description": "Seven calibrated toxicity attributes on two scales, and the words that make them, for English text.",
        "license": "Apache-2.0", "languages": ["en"],
        "provenance": {
            "base": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
            "data": [s for s in (*MIX, *data.GRADED_ONLY) if data.file_of(data_folder, s).exists()],
            "command": command, "trained": datetime.date.today().isoformat(),
            "notes": "Also trained on sentences of grammars.py, documentation of installed packages, sentences written for the model, our grades of the data's rows. "
            "Calibrated on dev rows with the int8 file. README.md names the licences of the data.",
        },
        "card": {
            "use": "A cheap first pass over English text: to sort, to sample, to decide what a person or a slower judge should read.",
            "misuse": "Deciding about people without a person looking; finding texts of a group in order to silence it.",
        },
    }
    labels = [{"name": f"perspective {a}", "attribute": a, "scale": "perspective"} for a in data.ATTRIBUTES]
    scales = {"perspective": {"calibration": {}, "thresholds": {a: PERSPECTIVE_THRESHOLD for a in data.ATTRIBUTES}}}
    manifest = manifest_of(about, labels, scales=scales)
    folders.write_manifest(target, manifest)

    int8, fp32 = folders.Model(target), folders.Model(target, out / "fused.onnx")
    outputs = {s: calibrate.dev_outputs(int8, data_folder, s) for s in calibrate.SOURCES}
    exact = {s: calibrate.dev_outputs(fp32, data_folder, s) for s in ("annotations", "civil_spans")}
    report["auc_lost_to_int8"] = {
        s: precision_loss(int8.highest(outputs[s].outputs), fp32.highest(exact[s].outputs), outputs[s].rows) for s in exact if outputs[s].rows
    }
    manifest["calibration"] = calibrate.fit(int8, outputs, calibrate.SOURCES)
    manifest["scales"]["perspective"]["calibration"] = calibrate.fit_perspective(folders.Model(target, scale="perspective"), data_folder)
    manifest["spans"]["threshold"], manifest["spans"]["relative"], report["span_f1"] = calibrate.span_thresholds(int8, [calibrate.span_rows(data_folder)])
    folders.write_manifest(target, manifest)
    write_card(target, manifest, report, ["`python training/evaluate.py --data DATA --folder THIS` prints its figures."])
    print(json.dumps(report), flush=True)
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--weights", required=True, type=Path, help="a folder with weights of remote/train.py")
    parser.add_argument("--name", required=True, help="the name of the weights in it")
    parser.add_argument("--out", required=True, type=Path, help="a folder for the steps between, and report.json")
    parser.add_argument("--folder", type=Path, help="the model folder to write (default: OUT/toxicity-en)")
    parser.add_argument("--command", default="make train", help="what the manifest names as the command that trained it")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    write_folder(network.from_rounded(args.weights, args.name), args.data, args.out, args.folder or args.out / "toxicity-en", args.command)


if __name__ == "__main__":
    main()

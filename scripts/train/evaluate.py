"""Measures a model folder on the dev or test rows of the data folder and prints a table.

    python scripts/train/evaluate.py --data DATA --folder models/toxicity-en [--split test]

Scores come from the folder's CPU file, one text a run, in windows, pooled and calibrated: what
users get. It fits nothing. --against FILE measures another ONNX file of the same weights beside
it, fused.onnx of the training's --out for what int8 costs.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

import calibrate
import data
import folder as folders

# Which attribute is read where a source says only "hate" or "sexist": decided before measuring.
READ = {
    "implicit_hate": "identity_attack", "toxigen_human": "identity_attack", "edos": "identity_attack",
    "measuring_hate": "identity_attack", "stormfront": "identity_attack",
    "davidson": "toxicity", "hatexplain": "toxicity", "convabuse": "toxicity", "madlibs": "toxicity",
}


class Scored:
    """One source's rows with the model's pooled logits and calibrated probabilities, [rows, 7]."""

    def __init__(self, model: folders.Model, rows: list[data.Row]):
        self.rows, self.outputs = rows, model.run_all([row.text for row in rows])
        self.logits = model.pooled(self.outputs)
        self.probabilities = model.probabilities(self.logits)
        self.labels = np.stack([row.labels for row in rows]).astype(np.float64)

    def column(self, attribute: str):
        """(labels, logits, probabilities) of the rows that annotate attribute."""
        a = data.ATTRIBUTES.index(attribute)
        known = ~np.isnan(self.labels[:, a])
        return self.labels[known, a], self.logits[known, a], self.probabilities[known, a]


def auc(y: np.ndarray, z: np.ndarray) -> float | None:
    """Of "label at or over 0.5"; None where the rows hold but one class."""
    return float(roc_auc_score(y >= 0.5, z)) if 0 < (y >= 0.5).sum() < len(y) else None


def mean(values) -> float | None:
    """Over what could be measured."""
    values = [v for v in values if v is not None]
    return float(np.mean(values)) if values else None


def calibration_error(y: np.ndarray, p: np.ndarray, w: np.ndarray | None = None, bins: int = 10) -> float:
    """ECE: mean distance between predicted and observed, over bins that hold equally many rows."""
    w = np.ones_like(p) if w is None else w
    order = np.argsort(p, kind="stable")
    parts = np.array_split(order, bins)
    return float(sum(abs((w[i] * (p[i] - y[i])).sum()) for i in parts if len(i)) / w.sum())


def measure(model: folders.Model, folder: Path, split: str) -> dict[str, float]:
    """Every figure that the folder's files allow. perspective_wikipedia counts with all of its
    rows on either split: nothing was trained or fitted on any."""
    out: dict[str, float | None] = {}

    def scored(source: str, any_split: bool = False) -> Scored | None:
        rows = data.read_source(folder, source) if any_split else data.split_rows(folder, source, split)
        return Scored(model, rows) if rows else None

    if s := scored("jigsaw"):
        values = {a: auc(*s.column(a)[:2]) for a in data.NATURAL_SHARES["jigsaw"]}
        out["jigsaw: mean AUC of six labels"] = mean(values.values())
        out |= {f"jigsaw: AUC {a}": v for a, v in values.items()}
        y, _, p = s.column("toxicity")
        w = calibrate.prior_weights(y, data.NATURAL_SHARES["jigsaw"]["toxicity"])
        out["jigsaw at natural priors: mean toxicity predicted"] = float((w * p).sum() / w.sum())
        out["jigsaw at natural priors: rate observed"] = float((w * y).sum() / w.sum())
        out["jigsaw at natural priors: toxicity ECE"] = calibration_error(y, p, w)
        out["jigsaw at natural priors: toxicity Brier"] = float((w * (p - y) ** 2).sum() / w.sum())
    if s := scored("perspective_rtp"):
        values = {a: float(spearmanr(*s.column(a)[:2]).statistic) for a in data.ATTRIBUTES}
        out["perspective_rtp: mean Spearman of seven attributes"] = mean(values.values())
        out |= {f"perspective_rtp: Spearman {a}": v for a, v in values.items()}
    if s := scored("perspective_wikipedia", any_split=True):
        values = {a: auc(*s.column(a)[:2]) for a in data.ATTRIBUTES}
        out["perspective_wikipedia, all rows: mean AUC of 0.5 or more, seven attributes"] = mean(values.values())
        out |= {f"perspective_wikipedia, all rows: AUC {a}": v for a, v in values.items()}
        y, _, p = s.column("toxicity")
        out["perspective_wikipedia, all rows: share on the other side of 0.5"] = float(((y >= 0.5) != (p >= 0.5)).mean())
    rows = calibrate.span_rows(folder, split)
    if rows:
        outputs = model.run_all([row.text for row in rows])
        out["toxic spans: character F1"] = calibrate.span_f1(rows, outputs, model.manifest["spans"]["threshold"], model.manifest["spans"].get("relative", 0))
    if s := scored("civil_spans"):
        for a in ("toxicity", "insult", "profanity", "identity_attack", "threat"):
            y, _, p = s.column(a)
            out[f"civil_spans: {a} ECE"] = calibration_error(y, p)
            out[f"civil_spans: {a} Brier"] = float(((p - y) ** 2).mean())
    if s := scored("perspective_context"):
        _, _, p = s.column("toxicity")
        out["perspective_context: mean toxicity predicted"] = float(p.mean())
        out["perspective_context: raters' rate observed"] = float(np.mean([row.human for row in s.rows]))
    hate = []
    for source, attribute in READ.items():
        if s := scored(source):
            y, z, _ = s.column(attribute)
            out[f"{source}: AUC by {attribute}"] = auc(y, z)
            if attribute == "identity_attack":
                hate.append(auc(y, z))
    if hate:
        out["hate and sexism: mean AUC of the five by identity_attack"] = mean(hate)
    return {name: value for name, value in out.items() if value is not None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path, help="the model folder")
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--against", type=Path, help="another ONNX file with the folder's inputs and outputs")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    args = parser.parse_args()
    columns = {"model": measure(folders.Model(args.folder), args.data, args.split)}
    if args.against:
        columns[args.against.name] = measure(folders.Model(args.folder, args.against), args.data, args.split)
    names = list(columns)
    print(f"{args.folder} on {args.split} rows")
    print("| measure | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    for figure in columns["model"]:
        print(f"| {figure} | " + " | ".join(f"{columns[n][figure]:.4f}" for n in names) + " |")
    if args.json:
        args.json.write_text(json.dumps(columns, indent=2) + "\n")


if __name__ == "__main__":
    main()

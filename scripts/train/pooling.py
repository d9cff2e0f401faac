"""Compares ways of combining the windows of long texts, on dev rows of more than one window.

    python scripts/train/pooling.py --data DATA --folder models/toxicity-en

For each τ (0 is the mean, inf the maximum) the toxicity of long texts, with the calibration that
short ones gave: a rule that suits keeps it. Log loss and the calibration error tell; AUC does not
see that a maximum inflates long texts. jigsaw counts at its natural priors.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import calibrate
import data
import folder as folders

TAUS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, np.inf)


def long_rows(model: folders.Model, folder: Path, source: str) -> list[data.Row]:
    rows = [row for row in data.split_rows(folder, source, "dev") if not np.isnan(row.labels[0]) and len(row.text) > model.window]
    return [row for row in rows if len(model.tokenizer.encode(row.text, add_special_tokens=False).ids) > model.window]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path)
    args = parser.parse_args()
    model = folders.Model(args.folder)
    parts = []
    for source in ("jigsaw", "jigsaw_negatives", "perspective_context", "civil_spans"):
        rows = long_rows(model, args.data, source)
        print(f"{source}: {len(rows)} dev rows of more than one window")
        parts += [(source, row) for row in rows]
    outputs = model.run_all([row.text for _, row in parts])
    y = np.array([row.labels[0] for _, row in parts], dtype=np.float64)
    # The cut of jigsaw keeps most of its positives; clean rows weigh more to make up for it.
    whole = np.array([row.labels[0] for row in data.split_rows(args.data, "jigsaw", "dev")], dtype=np.float64)
    prior, rate = calibrate.JIGSAW_PRIORS["toxicity"], whole.mean()
    w = np.array([1.0 if source != "jigsaw" else prior / rate if label >= 0.5 else (1 - prior) / (1 - rate) for (source, _), label in zip(parts, y)])
    windows = np.array([len(o.logits) for o in outputs])
    print(f"{len(parts)} texts of {windows.mean():.1f} windows on average, at most {windows.max()}; rate observed {(w * y).sum() / w.sum():.4f}")
    print("| τ | log loss | Brier | ECE | mean predicted | AUC |\n|---|---|---|---|---|---|")
    for tau in TAUS:
        z = np.stack([folders.pool(o, tau) for o in outputs])
        p = model.probabilities(z)[:, 0]
        parts_of = np.array_split(np.argsort(p, kind="stable"), 5)
        ece = sum(abs((w[i] * (p[i] - y[i])).sum()) for i in parts_of) / w.sum()
        print(
            f"| {tau:g} | {calibrate.log_loss(p, y, w):.4f} | {(w * (p - y) ** 2).sum() / w.sum():.4f} | {ece:.4f} | "
            f"{(w * p).sum() / w.sum():.4f} | {roc_auc_score(y >= 0.5, z[:, 0], sample_weight=w):.4f} |"
        )


if __name__ == "__main__":
    main()

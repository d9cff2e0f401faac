"""Compares ways to combine the windows of long texts, on dev rows with more than one window.

    python scripts/train/pooling.py --data DATA --folder models/toxicity-en

For each τ (0 is the mean, inf the maximum), the toxicity of long texts with Platt scaling fitted on
the texts of one window of the same source: a suitable rule keeps that calibration. (The folder's own
calibration is on the scale of other raters and would add the same offset to every τ.) Use log loss
and the calibration error; AUC does not show that a maximum inflates long texts. jigsaw is weighted
to its natural priors.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import calibrate
import data
import folder as folders

TAUS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, np.inf)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path)
    args = parser.parse_args()
    model = folders.Model(args.folder)
    for source in ("perspective_context", "civil_spans", "jigsaw_negatives", "jigsaw"):
        rows = data.split_rows(args.data, source, "dev")
        is_long = [len(model.tokenizer.encode(row.text, add_special_tokens=False).ids) > model.window for row in rows]
        print(f"{source}: {sum(is_long)} of {len(rows)} dev rows have more than one window")
    # Only jigsaw, the last source, has enough long texts.
    is_long = np.array(is_long)
    outputs = model.run_all([row.text for row in rows])
    y = np.array([row.labels[0] for row in rows], dtype=np.float64)
    w = calibrate.prior_weights(y, data.NATURAL_SHARES["jigsaw"]["toxicity"])
    windows = np.array([len(o.logits) for o in outputs])[is_long]
    short = np.array([o.logits[0, 0] for o, many in zip(outputs, is_long) if not many], dtype=np.float64)
    knots = calibrate.fit_knots(short, y[~is_long], w[~is_long], most_knots=2)
    y, w = y[is_long], w[is_long]
    print(f"{len(y)} texts of {windows.mean():.1f} windows on average, at most {windows.max()}; rate observed {(w * y).sum() / w.sum():.4f}")
    print("| τ | log loss | Brier | ECE | mean predicted | AUC |\n|---|---|---|---|---|---|")
    for tau in TAUS:
        z = np.array([folders.pool(o, tau)[0] for o, many in zip(outputs, is_long) if many])
        p = folders.sigmoid(folders.apply_knots(knots, z))
        parts = np.array_split(np.argsort(p, kind="stable"), 5)
        ece = sum(abs((w[i] * (p[i] - y[i])).sum()) for i in parts) / w.sum()
        print(
            f"| {tau:g} | {calibrate.log_loss(p, y, w):.4f} | {(w * (p - y) ** 2).sum() / w.sum():.4f} | {ece:.4f} | "
            f"{(w * p).sum() / w.sum():.4f} | {roc_auc_score(y >= 0.5, z, sample_weight=w):.4f} |"
        )


if __name__ == "__main__":
    main()

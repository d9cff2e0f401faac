"""Graded natural text as a sample of all natural text of a split.

    python training/natural.py --data DATA --split test --folder models/toxicity-en EARLIER

prints what model folders flag of it, by their whole networks.

Some of its rows were graded because chance chose them, others because a model flags them, or nearly (annotate.py
natural). Of the rows that a model scores high, nearly all are graded, so they stand for themselves; of the others the
random ones stand for all. Registers weigh the same, however many rows the data folder has of each.
"""

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import data
import folder as folders
import metrics

# A row whose highest probability, not calibrated, is at least the lowest of HIGH stands for itself. The lowest is used over
# which at least a share of GRADED of the rows are graded.
HIGH, GRADED = (0.3, 0.4, 0.5, 0.6, 0.7), 0.97
HARMLESS, TOXIC = 0.3, 0.5  # grades below which a text is harmless, and from which on readers object to it


@dataclass
class Sample:
    """rows have the mean of their grades as labels; outputs are the model's; weights float64 [rows] sum to the number of rows
    in the split; registers names that of each row."""

    rows: list[data.Row]
    outputs: list[folders.Output]
    weights: np.ndarray
    registers: np.ndarray

    @property
    def grades(self) -> np.ndarray:
        """float64 [rows, 7]"""
        return np.stack([row.labels for row in self.rows]).astype(np.float64)

    @property
    def harmless(self) -> np.ndarray:
        return self.grades.max(1) < HARMLESS

    @property
    def toxic(self) -> np.ndarray:
        return self.grades.max(1) >= TOXIC


def sample(model: folders.Model, folder: Path, split: str = "dev") -> Sample:
    """Scores every natural row of a split, 3 minutes for 49,000, and returns the graded ones. There are none where the
    folder has no natural text."""
    everything = [row for source in data.NATURAL for row in data.split_rows(folder, source, split)]
    if not everything:
        return Sample([], [], np.empty(0), np.empty(0))
    outputs = model.run_all([row.text for row in everything])
    scores = folders.sigmoid(model.highest(outputs)).max(1)
    graded = {row.id: row for row in data.read_annotations(folder, split, flagged=True)}
    random = {row.id for row in data.read_annotations(folder, split)}
    known = np.array([row.id in graded for row in everything])
    high = next((over for least in HIGH if (over := scores >= least).any() and known[over].mean() >= GRADED), None)
    if high is None:
        raise ValueError(f"failed to sample natural {split} rows: too few of those that the model scores high have grades; grade them first (report.py doubts, annotate.py natural)")
    stratum = [(data.NATURAL[row.source], bool(over)) for row, over in zip(everything, high)]
    used = [i for i, row in enumerate(everything) if row.id in random or high[i] and known[i]]
    all_, some, sizes = Counter(stratum), Counter(stratum[i] for i in used), Counter(register for register, _ in stratum)
    weights = np.array([all_[stratum[i]] / some[stratum[i]] / sizes[stratum[i][0]] for i in used])
    return Sample(
        [graded[everything[i].id] for i in used], [outputs[i] for i in used],
        weights * len(everything) / weights.sum(), np.array([stratum[i][0] for i in used]),
    )


def calibration_error(p: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """ECE of graded rows, and that of a perfect predictor, whose outcomes are drawn from p."""
    rng = np.random.default_rng(1)
    drawn = [metrics.calibration_error(p, (rng.random(len(p)) < p).astype(float), weights) for _ in range(20)]
    return metrics.calibration_error(p, y, weights), float(np.mean(drawn))


def figures(model: folders.Model, of: Sample) -> dict[str, str]:
    p, weights, rng = model.probabilities(of.outputs), of.weights, np.random.default_rng(1)
    points = {"medium": model.manifest["thresholds"], **model.manifest.get("sensitivity", {})}
    out = {"graded rows; of these harmless, toxic": f"{len(of.rows):,}; {of.harmless.sum():,}, {of.toxic.sum():,}"}

    def add(name: str, statistic, scale: float = 1):
        low, high = metrics.interval(statistic, (len(p),), rng)
        out[name] = f"{scale * statistic(np.ones(len(p))):.3g} [{scale * low:.3g}, {scale * high:.3g}]"

    for name in ("low", "medium", "high"):
        if name in points:
            over = (p >= [points[name][a] for a in model.labels]).any(1)
            add(f"{name}: flagged of 1,000", lambda w, over=over: metrics.mean(over, w * weights), 1000)
            add(f"{name}: harmless and flagged of 1,000", lambda w, over=over: metrics.mean(over & of.harmless, w * weights), 1000)
            add(f"{name}: of what readers object to, flagged", lambda w, over=over: metrics.mean(over, w * weights * of.toxic))
            add(f"{name}: of what is flagged, readers object to", lambda w, over=over: metrics.mean(of.toxic, w * weights * over))
    most, decided = (np.log(p / (1 - p)) - np.log(t := np.array([points["medium"][a] for a in model.labels])) + np.log(1 - t)).max(1), of.harmless | of.toxic
    add("AUC by the attribute most over its threshold", lambda w: metrics.auc(of.toxic, most, w * weights * decided))
    for i, attribute in enumerate(model.labels):
        y = of.grades[:, i]
        ece, least = calibration_error(p[:, i], y, weights)
        out[f"{attribute}: mean score; mean grade"] = f"{np.average(p[:, i], weights=weights):.4f}; {np.average(y, weights=weights):.4f}"
        out[f"{attribute}: ECE; a perfect predictor's"] = f"{ece:.4f}; {least:.4f}"
    over = (p >= [points["medium"][a] for a in model.labels]).any(1)
    for register in sorted(set(of.registers)):
        here = of.registers == register
        out[f"{register}: harmless and flagged of 1,000"] = f"{1000 * np.average((over & of.harmless)[here], weights=weights[here]):.1f}"
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--folder", required=True, type=Path, nargs="+")
    args = parser.parse_args()
    columns = {}
    for folder in args.folder:
        model = folders.Model(folder)
        columns[f"{model.manifest['name']} {model.manifest['version']}"] = figures(model, sample(model, args.data, args.split))
    print("| natural text, " + args.split + " rows | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for name in dict.fromkeys(name for column in columns.values() for name in column):
        print(f"| {name} | " + " | ".join(column.get(name, "–") for column in columns.values()) + " |")


if __name__ == "__main__":
    main()

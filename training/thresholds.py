"""Chooses the thresholds of each sensitivity on ordinary text, and writes them into the manifest.

    python training/thresholds.py --data DATA --folder build/train/toxicity-en

On graded natural dev rows, 1, 3 and 15 texts of 1,000 are flagged by any attribute although they are harmless, at low,
medium and high sensitivity. The prints say what each finds of what readers object to, and what it flags in each register
and in other dev sets.

A score is a probability whatever its threshold. One probability for all attributes would hardly ever flag the rare ones,
whose scores are lower; thresholds that each flag an equal share of harmless texts would flag much that is no threat. Each
threshold is the middle of both in log-odds, which finds more than either at the same number of false flags
(docs/model/experiments.md, section 16).
"""

import argparse
import json
from pathlib import Path

import numpy as np

import data
import folder as folders
import measures
import natural

SHARES = {"low": 0.001, "medium": 0.003, "high": 0.015}  # of ordinary texts, which are harmless and flagged
LEAST = 0.01  # a threshold of 0 would flag everything, and the product refuses it
CLEAN_SOURCES = ("clean_prompts", "clean_software", "clean_lookalikes_own")


def flagged_share(odds: np.ndarray, weights: np.ndarray, at: np.ndarray) -> float:
    return float((weights * (odds >= at).any(1)).sum())


def largest(low: float, high: float, share: float, of) -> float:
    """The number at which of(number), which falls, comes down to share."""
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if of(middle) > share else (low, middle)
    return high


def choose(odds: np.ndarray, weights: np.ndarray, share: float) -> np.ndarray:
    """Log-odds [7] that share of the texts reach by any attribute, given the harmless ones: their log-odds [texts, 7] and
    weights, which are shares of all texts."""
    same = np.full(odds.shape[1], largest(-10, 10, share, lambda at: flagged_share(odds, weights, at)))

    def quantiles(each: float) -> np.ndarray:
        """The log-odds that a share of the texts reaches by each attribute."""
        out = []
        for column in odds.T:
            order = np.argsort(-column)
            over = np.searchsorted(np.cumsum(weights[order]), each, side="right")
            out.append(np.nextafter(column[order[over]], np.inf) if over < len(order) else column.min())
        return np.array(out)

    equal = quantiles(-largest(-share, 0, share, lambda each: flagged_share(odds, weights, quantiles(-each))))
    middle = (same + equal) / 2
    return middle + largest(-5, 5, share, lambda shift: flagged_share(odds, weights, middle + shift))


def points_of(p: np.ndarray, harmless: np.ndarray, weights: np.ndarray) -> dict[str, dict[str, float]]:
    """The threshold of each attribute by sensitivity, from probabilities [texts, 7] of ordinary texts."""
    odds, weights = np.log(p / (1 - p)), weights / weights.sum()
    return {
        name: {a: max(round(float(folders.sigmoid(at)), 2), LEAST) for a, at in zip(data.ATTRIBUTES, choose(odds[harmless], weights[harmless], share))}
        for name, share in SHARES.items()
    }


def write_points(folder: Path, manifest: dict, points: dict[str, dict[str, float]]):
    manifest["thresholds"] = points["medium"]
    manifest["sensitivity"] = {name: of for name, of in points.items() if name != "medium"}
    folders.write_manifest(folder, manifest)


def report(model: folders.Model, folder: Path, sample: natural.Sample, p: np.ndarray, points: dict[str, dict[str, float]]):
    def flagged(scores: np.ndarray, name: str) -> np.ndarray:
        return (scores >= [points[name][a] for a in data.ATTRIBUTES]).any(1)

    def table(first: str, rows: dict[str, list[float]]):
        print(f"\n| {first} | " + " | ".join(points) + " |\n|---" + "|---" * len(points) + "|")
        for name, values in rows.items():
            print(f"| {name} | " + " | ".join(f"{value:.3g}" for value in values) + " |")

    def of_grades(graded: list[data.Row]) -> dict[str, list[float]]:
        said, highest = model.probabilities(model.run_all([row.text for row in graded])), measures.stacked_labels(graded).max(1)
        return {
            "harmless flagged": [flagged(said, name)[highest < natural.HARMLESS].mean() for name in points],
            "toxic found": [flagged(said, name)[highest >= natural.TOXIC].mean() for name in points],
        }

    table("threshold", {a: [of[a] for of in points.values()] for a in data.ATTRIBUTES})
    w, harmless, toxic = sample.weights, sample.harmless, sample.toxic
    shares = lambda over: [float(np.average(over & flagged(p, name), weights=w)) for name in points]
    rows = {
        "harmless and flagged, of 1,000": [1000 * share for share in shares(harmless)],
        "of what readers object to, flagged": [share / np.average(toxic, weights=w) for share in shares(toxic)],
        "of what is flagged, readers object to": [a / b for a, b in zip(shares(toxic), shares(np.ones(len(w), bool)))],
        "of what is flagged, harmless": [a / b for a, b in zip(shares(harmless), shares(np.ones(len(w), bool)))],
    }
    texts, expected = measures.behaviour_texts("dev")
    said = model.probabilities(model.run_all(texts))
    clean = (np.nan_to_num(expected) == 0).all(1)
    rows["behaviours, dev half: harmless flagged"] = [flagged(said, name)[clean].mean() for name in points]
    for a, attribute in enumerate(data.ATTRIBUTES):
        if (of := expected[:, a] == 1).any():
            rows[f"behaviours: {attribute} found"] = [(said[of, a] >= points[name][attribute]).mean() for name in points]
    if graded := [row for row in data.read_annotations(folder, "dev") if row.id.split("/")[0] not in data.NATURAL]:
        rows |= {f"graded rows of labelled sets: {name}": values for name, values in of_grades(graded).items()}
    rows |= {f"first minutes: {name}": values for name, values in of_grades(data.read_first_minutes()).items()}
    if kept := [row.text for source in CLEAN_SOURCES for row in data.split_rows(folder, source, "dev")]:
        rows["clean prompts, software and look-alikes: flagged"] = [flagged(model.probabilities(model.run_all(kept)), name).mean() for name in points]
    table("on dev rows", rows)
    table("harmless and flagged, of 1,000", {
        register: [1000 * float(np.average((harmless & flagged(p, name))[of], weights=w[of])) for name in points]
        for register in sorted(set(sample.registers)) for of in [sample.registers == register]
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path)
    args = parser.parse_args()
    model = folders.Model(args.folder)
    sample = natural.sample(model, args.data)
    p = model.probabilities(sample.outputs)
    points = points_of(p, sample.harmless, sample.weights)
    report(model, args.data, sample, p, points)
    write_points(args.folder, model.manifest, points)


if __name__ == "__main__":
    main()

"""Chooses the default threshold of each attribute, from the cost of its errors, and writes them into the manifest.

    python training/thresholds.py --data DATA --folder build/train/toxicity-en

A score is a probability whatever its threshold; the threshold is the decision. Assumed: one text in ten is toxic, one in twenty has
each other attribute, and a missed one costs twice as much as a false alarm. Of thresholds whose costs differ by less than NEAR the
lowest is taken: somebody can look at a false alarm, but nobody sees a miss. Errors are counted on the behaviours' dev half, on annotated dev rows
and on dev rows that nobody finds toxic, each with the same weight.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import data
import folder as folders
import measures

SHARES = dict.fromkeys(data.ATTRIBUTES, 0.05) | {"toxicity": 0.1}  # of the texts have the attribute
MISSED = 2.0  # cost of one that is missed; a false alarm costs 1
NEAR = 0.001  # cost per text: less than these sets can tell
GRID = np.round(np.arange(0.2, 0.7001, 0.05), 2)
CLEAN_SOURCES = ("clean_prompts", "clean_software", "clean_lookalikes_own")


def sets(model: folders.Model, folder: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """(probabilities [texts, 7], labels [texts, 7]) of each set; labels are 0, 1 or NaN for undecided."""

    def scored(texts: list[str]) -> np.ndarray:
        return model.probabilities(model.run_all(texts))

    texts, expected = measures.behaviour_texts("dev")
    out = [(scored(texts), expected)]
    if rows := data.read_annotations(folder, "dev"):
        grades = measures.stacked_labels(rows)
        out.append((scored([row.text for row in rows]), np.where(grades >= 0.6, 1, np.where(grades <= 0.3, 0, np.nan))))
    if rows := [row for source in CLEAN_SOURCES for row in data.split_rows(folder, source, "dev")]:
        out.append((scored([row.text for row in rows]), np.zeros((len(rows), len(data.ATTRIBUTES)))))
    return out


def choose(parts: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    chosen = {}
    print("| attribute | " + " | ".join(f"{t:.2f}" for t in GRID) + " | chosen |\n|---" + "|---" * (len(GRID) + 1) + "|")
    for a, attribute in enumerate(data.ATTRIBUTES):
        alarms = [p[y[:, a] == 0, a] for p, y in parts if (y[:, a] == 0).any()]
        misses = [p[y[:, a] == 1, a] for p, y in parts if (y[:, a] == 1).any()]
        rates = [(np.mean([(p >= t).mean() for p in alarms]), np.mean([(p < t).mean() for p in misses]) if misses else 0.0) for t in GRID]
        share = SHARES[attribute]
        costs = [(1 - share) * alarm + share * MISSED * miss for alarm, miss in rates]
        best = next(i for i, cost in enumerate(costs) if cost < min(costs) + NEAR)
        chosen[attribute] = float(GRID[best])
        print(f"| {attribute} | " + " | ".join(f"{100 * alarm:.1f} %, {100 * miss:.1f} %" for alarm, miss in rates) + f" | {GRID[best]:.2f} |")
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path)
    args = parser.parse_args()
    model = folders.Model(args.folder)
    manifest = json.loads((args.folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["thresholds"] = choose(sets(model, args.data))
    folders.write_manifest(args.folder, manifest)


if __name__ == "__main__":
    main()

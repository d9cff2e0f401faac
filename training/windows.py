"""Shows what a correction for a long text's number of windows costs and saves.

    python training/windows.py --data DATA --folder models/toxicity-en

Measured on texts made of dev rows that nobody finds toxic, of one source each, on prose of other sources (prose.py), and on short toxic dev
texts. The line below the table names the correction that flags the fewest harmless texts while KEPT of the toxic texts are still found;
export.CORRECTION is the one that ships. A window's score does not depend on the others, so long texts are random draws
of scored windows.
"""

import argparse
from pathlib import Path

import numpy as np

import data
import folder as folders
import mosaics
import prose

LENGTHS = (1, 3, 10, 25, 250, 2500)  # windows: 0.4, 1, 4, 10, 100 kB and 1 MB
SLOPES = (0.0, 0.05, 0.1, 0.2, 0.4, 1.0)
UNTILS = (2.0, 3.0)
DRAWS = 2000
MOST_PER_SOURCE = 400_000  # characters
KEPT = 0.9  # share of the toxic texts that are to be found among 10 windows, 4 kB
SEED = 1


def scored(model: folders.Model, text: str) -> np.ndarray:
    """[windows, labels], calibrated log-odds."""
    return model.calibrated(model.run(text).logits.astype(np.float64))


def harmless(model: folders.Model, folder: Path) -> dict[str, np.ndarray]:
    """By source, the windows of one long text of its harmless rows."""
    out = {}
    for source in mosaics.HARMLESS_SOURCES:
        rows = [row for row in data.split_rows(folder, source, "dev") if mosaics.is_harmless(row)]
        text = "\n".join(row.text for row in rows)[:MOST_PER_SOURCE]
        if len(text) > 20_000:
            out[source] = scored(model, text)
    return out


def draw(windows: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """[DRAWS, labels]: the highest of n random windows."""
    return np.stack([windows[rng.integers(len(windows), size=n)].max(0) for _ in range(DRAWS)])


def flagged(odds: np.ndarray, n: int, slope: float, until: float, thresholds: np.ndarray) -> float:
    return float((folders.corrected(odds, np.full(len(odds), n), slope, until) >= thresholds).any(1).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path)
    args = parser.parse_args()
    model, rng = folders.Model(args.folder), np.random.default_rng(SEED)
    thresholds = np.array([model.manifest["thresholds"][a] for a in model.labels])
    thresholds = np.log(thresholds / (1 - thresholds))
    fitting = harmless(model, args.data)
    other = {name: scored(model, "\n".join(parts)[:MOST_PER_SOURCE]) for name, parts in prose.sources(args.data).items()}
    toxic = [row.text for row in data.split_rows(args.data, "civil_spans", "dev") if row.labels[0] >= 0.5 and len(row.text) <= 200]
    alone = np.stack([scored(model, text).max(0) for text in toxic])
    found = alone >= thresholds

    drawn = {name: {n: draw(windows, n, rng) for n in LENGTHS} for name, windows in (fitting | other).items()}

    def rates(names, n: int, slope: float, until: float) -> float:
        return float(np.mean([flagged(drawn[name][n], n, slope, until, thresholds) for name in names]))

    def kept(n: int, slope: float, until: float) -> float:
        return float((folders.corrected(alone, np.full(len(alone), n), slope, until)[found[:, 0], 0] >= thresholds[0]).mean())

    print("| slope | until | " + " | ".join(f"harmless rows, {n} windows" for n in LENGTHS) + " | " + " | ".join(f"prose, {n}" for n in LENGTHS) + " | " + " | ".join(f"toxic texts still found among {n}" for n in LENGTHS[2:]) + " |")
    print("|---" * (2 + 2 * len(LENGTHS) + len(LENGTHS) - 2) + "|")
    chosen = None
    for until in UNTILS:
        for slope in SLOPES:
            grown = [rates(fitting, n, slope, until) for n in LENGTHS]
            if kept(10, slope, until) >= KEPT and (chosen is None or grown[2] < chosen[0]):
                chosen = grown[2], slope, until
            cells = grown + [rates(other, n, slope, until) for n in LENGTHS] + [kept(n, slope, until) for n in LENGTHS[2:]]
            print(f"| {slope} | {until} | " + " | ".join(f"{c:.3f}" for c in cells) + " |", flush=True)
    print(f"fewest harmless texts flagged with {KEPT:.0%} of the toxic texts found among 10 windows: slope {chosen[1]}, until {chosen[2]}")
    for name, windows in (fitting | other).items():
        print(f"{name}: {len(windows)} windows, flagged one by one {flagged(windows, 1, 0, 1, thresholds):.4f}")


if __name__ == "__main__":
    main()

"""What the exits of a model folder change: decisions, scores and their order, on rows of every source, through the product.

    python training/evaluate_exits.py --data DATA --folder models/toxicity-en --split test

Each text is scored with exits and by the whole network. "Lost" is a text that the whole network flags and that is not flagged
with exits; the other way round cannot be, since nothing that leaves is flagged. "Toxic" are the rows that their source calls
toxic, hateful or the like; of them, those count that the whole network flags. An AUC is lost if the exits' estimates rank texts
worse.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import data
import evaluate
import measures
import metrics
import systems

# Sources whose AUCs are compared, with the rows whose label decides.
RANKED = ("jigsaw", "civil_spans", "perspective_rtp", "perspective_rtp2", "convabuse", "dynahate", "paradetox", "annotations")
FEW = 20  # rows with an attribute, or without: with fewer, no AUC


@dataclass
class Both:
    """Rows of a source with what the product says of them. scores: [rows, 7] with exits and by the whole network; flags: bool, the same;
    exit: int [rows], 0 for the whole network; labels: [rows, 7]; spans: how many rows have a span in the latter and none in the former."""

    early: np.ndarray
    full: np.ndarray
    flags_early: np.ndarray
    flags_full: np.ndarray
    exit: np.ndarray
    labels: np.ndarray
    spans: int


def score(with_exits: systems.Product, whole: systems.Product, texts: list[str], labels: np.ndarray) -> Both:
    early, full = with_exits.results(texts), whole.results(texts)
    read = lambda results, key: np.array([[r["attributes"][a][key] for a in data.ATTRIBUTES] for r in results])
    over = lambda results: read(results, "score") >= read(results, "threshold")
    lost = sum(bool(f["spans"]) and not e["spans"] for e, f in zip(early, full))
    return Both(read(early, "score"), read(full, "score"), over(early), over(full), np.array([r.get("exit", 0) for r in early]), labels, lost)


def row_of(name: str, b: Both) -> list[str]:
    flagged, differ = b.flags_full.any(1), (b.flags_early != b.flags_full).any(1)
    toxic = flagged & (np.nan_to_num(b.labels) >= 0.5).any(1)
    left, n = b.exit > 0, len(b.exit)
    gaps = np.abs(b.early[:, 0] - b.full[:, 0])[left]
    shares = " + ".join(f"{100 * (b.exit == i).mean():.1f}" for i in range(1, max(b.exit.max(), 1) + 1))
    return [
        name, f"{n:,}", f"{shares} %", f"{100 * flagged.mean():.1f} %", f"{differ.sum()} ({100 * differ.mean():.2f} %)",
        f"{(toxic & differ).sum()} of {toxic.sum():,}" + (f" ({100 * (toxic & differ).sum() / toxic.sum():.2f} %)" if toxic.any() else ""),
        f"{b.spans}", f"{np.quantile(gaps, 0.99):.3f}" if len(gaps) else evaluate.NOT_MEASURED,
        f"{100 * (gaps <= 0.03).mean():.1f} %" if len(gaps) else evaluate.NOT_MEASURED,
    ]


def joined(parts: list[Both]) -> Both:
    stack = lambda key: np.concatenate([getattr(b, key) for b in parts])
    return Both(*(stack(key) for key in ("early", "full", "flags_early", "flags_full", "exit", "labels")), sum(b.spans for b in parts))


def lost_auc(b: Both) -> list[str]:
    """The AUC of the whole network less that with exits, by attribute."""
    cells = []
    for a in range(len(data.ATTRIBUTES)):
        known = ~np.isnan(b.labels[:, a])
        y, weights = b.labels[known, a] >= 0.5, np.ones(known.sum())
        if min(y.sum(), (~y).sum()) < FEW:
            cells.append(evaluate.NOT_MEASURED)
            continue
        full, early = (float(metrics.auc(y, scores[known, a], weights)) for scores in (b.full, b.early))
        cells.append(f"{full - early:.4f}")
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--binary", type=Path, default=Path("bin/toxscreen"), help="output of `make build`")
    args = parser.parse_args()
    with_exits, whole = (systems.Product("model", args.binary, args.folder, options) for options in ((), ("--full",)))

    found: dict[str, Both] = {}
    for source in data.LOADERS:
        if rows := data.split_rows(args.data, source, args.split):
            found[source] = score(with_exits, whole, [row.text for row in rows], measures.stacked_labels(rows))
    everything = joined(list(found.values()))
    texts, expected = measures.behaviour_texts(args.split)
    found["behaviours"] = score(with_exits, whole, texts, expected)
    if rows := data.read_annotations(args.data, args.split):
        found["annotations"] = score(with_exits, whole, [row.text for row in rows], measures.stacked_labels(rows))
    header = ["source", "rows", "left, by exit", "flagged", "decisions that differ", "toxic ones lost", "texts that lose all spans", "99 % of early scores differ by at most", "by at most 0.03"]
    print(evaluate.markdown(header, [row_of(name, b) for name, b in [("all sources", everything), *found.items()]]))
    ranked = [(source, found[source]) for source in RANKED if source in found]
    print(evaluate.markdown(["AUC lost", *data.ATTRIBUTES], [[name, *lost_auc(b)] for name, b in [("all sources", everything), *ranked]]))


if __name__ == "__main__":
    main()

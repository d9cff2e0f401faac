"""Writes the figures of evaluate.py for the model card: plots, tables, and the essentials that
`toxscreen model show` prints.

    python training/card.py --figures build/eval-model.json --folder models/toxicity-en

The tables go between the marks of docs/model/card.md, the plots next to it, the goals' figures into
the folder's manifest. Nothing else changes, and the same figures give the same files.
"""

import argparse
import json
import re
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams |= {"svg.hashsalt": "toxscreen", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}

import matplotlib.pyplot as plt

import disguises
import evaluate
import folder as folders
import identities
import measures

MODEL = "model"  # the system's name in evaluate.py's figures


def save(figure, path: Path):
    if figure.get_layout_engine() is None:
        figure.tight_layout()
    # Without a date, the same figures give the same bytes.
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def reliability(parts: dict[str, list[list[float]]], path: Path):
    """One panel for each attribute and source: observed against predicted, ten bins of equal weight."""
    columns = 4
    rows = -(-len(parts) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(2.3 * columns, 2.4 * rows), squeeze=False)
    for axis, (name, points) in zip(axes.flat, parts.items()):
        predicted, observed = zip(*points)
        axis.plot([0, 1], [0, 1], color="0.8", linewidth=1)
        axis.plot(predicted, observed, marker="o", markersize=3, linewidth=1)
        source, _, attribute = name.partition(": ")
        axis.set(title=f"{attribute}\n{source}", xlim=(0, 1), ylim=(0, 1), xlabel="predicted", ylabel="observed", aspect="equal")
    for axis in axes.flat[len(parts) :]:
        axis.axis("off")
    save(figure, path)


def bias(terms: dict[str, float], path: Path):
    """False positive rate of each identity term, worst first."""
    ordered = sorted(terms.items(), key=lambda pair: -pair[1])
    figure, axis = plt.subplots(figsize=(9, 2.8))
    axis.bar(range(len(ordered)), [100 * rate for _, rate in ordered])
    axis.axhline(5, color="0.5", linewidth=1, linestyle="--")
    axis.set_xticks(range(len(ordered)), [name for name, _ in ordered], rotation=90, fontsize=7)
    axis.set(ylabel="clean sentences\nflagged, %", ylim=(0, max(6, *(110 * rate for _, rate in ordered))), xlim=(-0.7, len(ordered) - 0.3))
    save(figure, path)


def disguised(kinds: dict[str, list], path: Path):
    figure, axis = plt.subplots(figsize=(9, 2.6))
    names = [k for k in disguises.KINDS if k in kinds]
    axis.bar(range(len(names)), [100 * kinds[k][0] for k in names], color=["C0" if k in disguises.SHOWN else "C1" for k in names])
    axis.axhline(85, color="0.5", linewidth=1, linestyle="--")
    axis.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axis.set(ylabel="recall kept, %", title="disguise; orange: never trained on", ylim=(0, 105))
    save(figure, path)


def curve(points: list[dict], path: Path):
    """Quality against time, one point per model; see docs/model/curve.json."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
    for axis, (key, title) in zip(axes, (("jigsaw", "jigsaw: mean AUC"), ("perspective_rtp", "perspective_rtp: mean Spearman"), ("hate", "hate and sexism: mean AUC"))):
        for p in points:
            axis.plot(p["times_as_fast"], p[key], marker="s" if "mix" in p else "o", linestyle="", label=p["name"])
        axis.set(xlabel="times as fast as a plain MiniLM int8", title=title)
        axis.margins(0.15)
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=7, loc="outside lower center", ncols=4)
    save(figure, path)


def put(text: str, mark: str, table: str) -> str:
    """text with table between the marks with that name."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    if begin not in text or end not in text:
        raise ValueError(f"failed to write {mark}: the card has no {begin} … {end}; put these two lines where the table belongs")
    return re.sub(f"(?s){re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{table}{end}", text)


def essentials(figures: dict[str, measures.Figure], split: str) -> list[dict]:
    """The goals' figures in the manifest's form."""
    out = []
    for name, goal in measures.GOALS.items():
        if figure := figures.get(name):
            one = {"measure": f"{name}, {split} rows", "goal": evaluate.goal_text(goal), "value": round(figure.value, 4)}
            if figure.low is not None:
                one["interval"] = [round(figure.low, 4), round(figure.high, 4)]
            out.append(one | {"rows": figure.n})
    return out


def write(found: dict, folder: Path, card: Path):
    """found: the JSON that evaluate.py writes."""
    columns = {name: measures.Measured.of(measured) for name, measured in found["systems"].items()}
    model = columns[MODEL]
    reliability(model.reliability, card.with_name("reliability.svg"))
    bias(model.terms, card.with_name("identity-terms.svg"))
    disguised(model.kinds, card.with_name("disguise.svg"))
    if (points := card.with_name("curve.json")).exists():
        curve(json.loads(points.read_text(encoding="utf-8"))["models"], card.with_name("curve.svg"))

    text = card.read_text(encoding="utf-8")
    text = put(text, "figures", evaluate.main_table({name: m.figures for name, m in columns.items()}, measures.GOALS))
    text = put(text, "disguise", evaluate.kinds_table(columns))
    worst = [t for t in identities.TERMS if model.terms.get(t.name, 0) > 0]
    text = put(text, "terms", evaluate.terms_table(columns, worst) if worst else "No term has a false positive.\n")
    text = put(text, "contrasts", evaluate.contrasts_table(columns))
    text = put(text, "behaviours", evaluate.behaviours_table(columns))
    card.write_text(text, encoding="utf-8")

    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["card"] = manifest.get("card", {}) | {"figures": essentials(model.figures, found["split"])}
    folders.write_manifest(folder, manifest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", required=True, type=Path, help="output of evaluate.py --json")
    parser.add_argument("--folder", required=True, type=Path, help="the model folder that was measured")
    parser.add_argument("--card", type=Path, default=Path("docs/model/card.md"))
    args = parser.parse_args()

    write(json.loads(args.figures.read_text(encoding="utf-8")), args.folder, args.card)


if __name__ == "__main__":
    main()

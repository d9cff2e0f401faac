"""Compares trainings on dev rows, before a model folder is made of one.

    python scripts/train/compare.py --data DATA NAME=CHECKPOINT …

The network is measured alone: texts as they are written, windows of train.MAX_TOKENS tokens, their maximum, no calibration. So
figures differ a little from those of evaluate.py, which measures what ships and takes longer. A checkpoint takes a minute or two
on two cores.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

import data
import evaluate
import folder as folders
import measures
import metrics
import model as network
import systems
import train

ROWS = 400  # of each source
OVERLAP = 32  # tokens shared by two windows
FALSE_ALARMS = 0.02
TOGETHER = 64  # windows


class Network:
    """A training's network as a system that measures.py measures: the probability of its highest window."""

    def __init__(self, name: str, model: network.Classifier):
        self.name, self.model, self.tokenizer = name, model.eval(), train.base_tokenizer()

    def score(self, texts: list[str]) -> systems.Scores:
        windows = []
        for i, (text, encoding) in enumerate(zip(texts, self.tokenizer.encode_batch(texts, add_special_tokens=False))):
            for start, end, _, _ in folders.divide(text, encoding.offsets, train.MAX_TOKENS - 2, OVERLAP):
                windows.append((i, np.array([train.CLS, *encoding.ids[start:end], train.SEP])))
        windows.sort(key=lambda window: len(window[1]))
        highest = np.full((len(texts), len(data.ATTRIBUTES)), -np.inf)
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=train.FAST_BFLOAT16):
            for start in range(0, len(windows), TOGETHER):
                some = windows[start : start + TOGETHER]
                ids, mask = np.zeros((2, len(some), train.padded(len(some[-1][1]))), np.int64)
                for row, (_, window) in enumerate(some):
                    ids[row, : len(window)], mask[row, : len(window)] = window, 1
                logits = self.model(torch.from_numpy(ids), torch.from_numpy(mask))[0].float().numpy()
                np.maximum.at(highest, [i for i, _ in some], logits)
        return systems.Scores(dict(zip(data.ATTRIBUTES, folders.sigmoid(highest).T)))


def figures(model: network.Classifier, held: measures.Held) -> dict[str, float]:
    """The means over attributes and sources, by their names in measures.py, and what is found of the behaviours."""
    measurement = measures.Measurement(Network("network", model), held)
    for step in (measurement.agreement, measurement.hate, measurement.hidden):
        step()
    kept = ("mean", "dynahate", "paradetox", "perspective_wikipedia: AUC threat")
    out = {name: figure.value for name, figure in measurement.out.figures.items() if any(part in name for part in kept)}
    return out | behaviours(measurement.system)


def behaviours(system) -> dict[str, float]:
    """Of the behaviours' dev half, the share with an attribute that exceeds the threshold which 2 % of the texts without it
    exceed, and the mean AUC: without any calibration or choice of thresholds."""
    families = [family for family in measures.read_behaviours() if family["half"] == "dev"]
    sides = [family["expect"] for family in families for _ in family["texts"]]
    scores = system.score([text for family in families for text in family["texts"]])
    found, areas = {}, []
    for attribute, column in scores.columns.items():
        has = np.array([side.get(attribute) == "above" for side in sides])
        lacks = np.array([side.get(attribute) == "below" or "any" in side for side in sides])
        if has.any() and lacks.any():
            found[f"behaviours: {attribute} found at {FALSE_ALARMS:.0%} false alarms"] = float((column[has] > np.quantile(column[lacks], 1 - FALSE_ALARMS)).mean())
            known = has | lacks
            areas.append(float(metrics.auc(has[known], column[known], np.ones(known.sum()))))
    return {"behaviours: mean AUC": float(np.mean(areas))} | found


def table(measured: dict[str, dict[str, float]]) -> str:
    """A column for each training."""
    names = dict.fromkeys(name for of in measured.values() for name in of)
    rows = [[name, *(f"{of[name]:.4f}" if name in of else evaluate.NOT_MEASURED for of in measured.values())] for name in names]
    return evaluate.markdown(["", *measured], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainings", nargs="+", metavar="NAME=CHECKPOINT", help="checkpoint.pt or a model folder")
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--rows", type=int, default=ROWS, help="of each source (default %(default)s)")
    args = parser.parse_args()
    held = measures.Held(args.data, "dev", args.rows, evaluate.SEED)
    named = [(name, Path(path)) for name, _, path in (training.partition("=") for training in args.trainings)]
    print(table({name: figures(network.from_checkpoint(path), held) for name, path in named}))


if __name__ == "__main__":
    main()

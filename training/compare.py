"""Compares trainings on dev rows, before a model folder is made of one.

    python training/compare.py --data DATA NAME=CHECKPOINT …

The network is measured alone: texts as they are written, windows of train.MAX_TOKENS tokens, their maximum, no calibration and no
thresholds. So figures differ a little from those of evaluate.py, which measures what ships and takes longer. A checkpoint takes
about a minute on two cores.
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
import plain
import systems
import train

ROWS = 400  # of each source
FALSE_ALARMS = 0.02
HIDDEN_IN = 1000  # characters of prose
TOGETHER = 64  # windows
# The figures of measures.py that are shown.
SHOWN = (
    "jigsaw: mean AUC of six labels", "perspective_rtp and rtp2: mean Spearman of seven attributes",
    "perspective_devtest_only: mean Spearman of seven attributes", "civil_spans: mean AUC of five attributes", "annotations: mean Spearman of seven attributes",
    "hate and sexism: mean AUC of five", "dynahate: AUC by identity_attack", "paradetox: AUC by toxicity", f"hidden abuse: recall kept in {HIDDEN_IN / 1000:g} kB",
)


class Network:
    """A training's network as a system that measures.py measures: the probability of its highest window."""

    def __init__(self, name: str, model: network.Classifier):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.name, self.model, self.tokenizer = name, model.eval().to(self.device), train.base_tokenizer()

    def score(self, texts: list[str]) -> systems.Scores:
        windows, texts = [], [text for text, _ in plain.texts(texts)]
        for i, (text, encoding) in enumerate(zip(texts, self.tokenizer.encode_batch(texts, add_special_tokens=False))):
            for start, end, _, _ in folders.divide(text, encoding.offsets, train.MAX_TOKENS - 2, train.OVERLAP):
                windows.append((i, np.array([train.CLS, *encoding.ids[start:end], train.SEP])))
        windows.sort(key=lambda window: len(window[1]))
        highest = np.full((len(texts), len(data.ATTRIBUTES)), -np.inf)
        with torch.no_grad(), torch.autocast(self.device, dtype=torch.bfloat16, enabled=train.FAST_BFLOAT16):
            for start in range(0, len(windows), TOGETHER):
                of, some = zip(*windows[start : start + TOGETHER])
                inputs = {name: tensor.to(self.device) for name, tensor in train.tensors_of(some).items()}
                np.maximum.at(highest, list(of), self.model(inputs["ids"], inputs["mask"])[0].float().cpu().numpy())
        return systems.Scores(dict(zip(data.ATTRIBUTES, folders.sigmoid(highest).T)))


def figures(model: network.Classifier, held: measures.Held) -> dict[str, float]:
    """Those of SHOWN that the folder's files allow, and what is found of the behaviours."""
    measurement = measures.Measurement(Network("network", model), held, intervals=False)
    measurement.agreement()
    measurement.hate()
    measurement.hidden((HIDDEN_IN,))
    measurement.by_attribute("civil_spans: mean AUC of five attributes", "civil_spans: AUC", held.rows("civil_spans"), data.SPAN_ATTRIBUTES, measures.over_half)
    graded = held.draw(data.read_annotations(held.folder, held.split), "annotations", held.most)
    measurement.by_attribute("annotations: mean Spearman of seven attributes", "annotations: Spearman", graded, data.ATTRIBUTES, metrics.spearman)
    measured = measurement.out.figures
    return {name: measured[name].value for name in SHOWN if name in measured} | behaviours(measurement.system)


def behaviours(system) -> dict[str, float]:
    """Of the behaviours' dev half: the mean AUC over attributes, and the share of the texts with an attribute that exceed the
    threshold which FALSE_ALARMS of the texts without it exceed."""
    texts, labels = measures.behaviour_texts("dev")
    scores = system.score(texts)
    found, areas = {}, []
    for (attribute, column), y in zip(scores.columns.items(), labels.T):
        known = ~np.isnan(y)
        areas.append(float(metrics.auc(y[known] == 1, column[known], np.ones(known.sum()))))
        share = (column[y == 1] > np.quantile(column[y == 0], 1 - FALSE_ALARMS)).mean()
        found[f"behaviours: {attribute} found at {100 * FALSE_ALARMS:g} % false alarms"] = float(share)
    return {"behaviours: mean AUC of seven attributes": float(np.mean(areas))} | found


def table(measured: dict[str, dict[str, float]]) -> str:
    """A column for each training."""
    names = dict.fromkeys(name for of in measured.values() for name in of)
    rows = [[name, *(f"{of[name]:.4f}" if name in of else evaluate.NOT_MEASURED for of in measured.values())] for name in names]
    return evaluate.markdown(["", *measured], rows)


def named_checkpoint(text: str) -> tuple[str, Path]:
    name, _, path = text.partition("=")
    if not name or not path:
        raise argparse.ArgumentTypeError(f"expected NAME=CHECKPOINT, got {text!r}")
    if not Path(path).exists():
        raise argparse.ArgumentTypeError(f"{path} does not exist: give a checkpoint.pt or a model folder")
    return name, Path(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainings", nargs="+", type=named_checkpoint, metavar="NAME=CHECKPOINT", help="checkpoint.pt or a model folder")
    parser.add_argument("--data", required=True, type=Path)
    args = parser.parse_args()
    trainings = dict(args.trainings)
    if len(trainings) < len(args.trainings):
        parser.error("two trainings have the same name")
    held = measures.Held(args.data, "dev", ROWS, evaluate.SEED)
    print(table({name: figures(network.from_checkpoint(path), held) for name, path in trainings.items()}))


if __name__ == "__main__":
    main()

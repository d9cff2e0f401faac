"""Fits the maps from logits to scores, on dev rows and the quantised model's own outputs.

The guideline's scale is "the share of people who would call it so", by docs/model/guideline.md: graded natural text as it
is distributed, graded rows of labelled sets, and the shares of civil_spans' raters. Perspective's scale is what the API
answered in 2020 about web text of every degree of toxicity.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

import data
import folder as folders
import natural

# Weight of each source's whole dev split in a fit, for the attributes that it annotates. "annotations" are graded rows of
# labelled sets.
SOURCES = {"natural": 3.0, "annotations": 1.0, "civil_spans": 0.5}

ISOTONIC_POSITIVES = 200  # with fewer expected positives, the data only supports two knots (Platt)
KNOTS = 7
# Maximum ratio of a piece's slope to Platt's line, and its inverse: the end pieces, which extend beyond the
# last knot, have few rows and could otherwise have any slope.
MOST_BEND = 3.0


# Perspective's scores of 2020. Those of 2022 are about 13 groups only, and of Wikipedia's comments there is toxicity alone.
PERSPECTIVE = ("perspective_rtp", "perspective_rtp2")
# Thresholds on Perspective's scores at which as many dev rows reach the new score, and how many must on either side.
LEVELS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
LINKED = 20


@dataclass
class Dev:
    """weights: float64 [rows]"""

    rows: list[data.Row]
    outputs: list[folders.Output]
    weights: np.ndarray


def dev_outputs(model: folders.Model, folder: Path, source: str) -> Dev:
    """Of the texts of one window: raters judged longer ones as a whole, and the score is that of any part. An annotation
    does not count where civil_spans' raters judged the same text."""
    if source == "natural":
        sample = natural.sample(model, folder)
        rows, outputs, weights = sample.rows, sample.outputs, sample.weights
    else:
        elsewhere = (*data.NATURAL, *SOURCES) if source == "annotations" else ()
        rows = [row for row in data.split_rows(folder, source, "dev") if row.id.split("/")[0] not in elsewhere]
        outputs, weights = model.run_all([row.text for row in rows]), np.ones(len(rows))
    one = of_one_window(outputs)
    return Dev([rows[i] for i in one], [outputs[i] for i in one], weights[one])


def of_one_window(outputs: list[folders.Output]) -> list[int]:
    """Indices of the texts of one window."""
    return [i for i, output in enumerate(outputs) if len(output.logits) == 1]


def prior_weights(y: np.ndarray, prior: float) -> np.ndarray:
    """Weights with which binary labels have the mean prior; they sum to the number of labels."""
    rate = y.mean()
    if rate in (0, 1):
        return np.ones_like(y)
    return np.where(y > 0.5, prior / rate, (1 - prior) / (1 - rate))


def reference(attribute: str, logits: dict[str, np.ndarray], dev: dict[str, Dev], weights: dict[str, float]):
    """(logit, target, weight) of every row that a fit of attribute uses; weights of a source's rows sum
    to its own times 1,000."""
    a, parts = data.ATTRIBUTES.index(attribute), []
    for source, z in logits.items():
        y = np.array([row.labels[a] for row in dev[source].rows], dtype=np.float64)
        known = ~np.isnan(y)
        if known.any():
            w = dev[source].weights[known]
            parts.append((z[known, a], y[known], w / w.sum() * 1000 * weights[source]))
    if not parts:
        return None
    return tuple(np.concatenate(column) for column in zip(*parts))


def log_loss(p: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    p = np.clip(p, 1e-7, 1 - 1e-7)
    return float(-(w * (y * np.log(p) + (1 - y) * np.log(1 - p))).sum() / w.sum())


def fit_knots(z: np.ndarray, y: np.ndarray, w: np.ndarray, most_knots: int = KNOTS) -> list[list[float]]:
    """Two knots (Platt scaling), or most_knots if there are enough positives: an isotonic fit says
    where the curve bends, a likelihood fit with non-negative slopes gives the values. The isotonic
    steps themselves would tie the scores of neighbouring texts."""

    def solve(x: np.ndarray, start: np.ndarray, smooth: float, slopes: tuple[float, float]) -> np.ndarray:
        def unpack(theta):
            return theta[0] + np.concatenate([[0], np.cumsum(np.diff(x) * np.exp(theta[1:]))])

        def cost(theta):
            line = folders.apply_knots(np.stack([x, unpack(theta)], axis=1), z)
            return (w * (np.logaddexp(0, line) - y * line)).sum() / w.sum() + smooth * (np.diff(theta[1:]) ** 2).sum()

        return unpack(minimize(cost, start, method="L-BFGS-B", bounds=[(-30, 30)] + [slopes] * (len(x) - 1)).x)

    low, high = np.quantile(z, [0.01, 0.99])
    ends = np.array([low, max(high, low + 1e-3)])
    platt = solve(ends, np.array([low, 0.0]), 0, (-4, 2))
    if most_knots == 2 or (w * y).sum() / w.mean() < ISOTONIC_POSITIVES or (y > 0.5).sum() < ISOTONIC_POSITIVES / 4:
        return np.round(np.stack([ends, platt], axis=1), 5).tolist()

    isotonic = IsotonicRegression(out_of_bounds="clip").fit(z, y, sample_weight=w)
    grid = np.linspace(low, high, 400)
    level = np.quantile(isotonic.predict(z), [0.02, 0.98])
    # Half of the knots where the isotonic fit rises (in log-odds), half where the texts are.
    odds = np.clip(isotonic.predict(grid), max(level[0], 1e-3), min(level[1], 1 - 1e-3))
    odds = np.log(odds / (1 - odds))
    share = np.searchsorted(np.sort(z), grid) / len(z)
    climb = (odds - odds[0]) / max(odds[-1] - odds[0], 1e-9) + (share - share[0]) / (share[-1] - share[0])
    x = np.interp(np.linspace(climb[0], climb[-1], most_knots), climb, grid)
    x[0], x[-1] = low, high
    x = x[np.concatenate([[True], np.diff(x) > 0.05])]
    slope, bend = np.log(max((platt[1] - platt[0]) / (ends[1] - ends[0]), 0.05)), np.log(MOST_BEND)
    fitted = solve(x, np.concatenate([[platt[0]], np.full(len(x) - 1, slope)]), 1e-4, (slope - bend, slope + bend))
    return np.round(np.stack([x, fitted], axis=1), 5).tolist()


def fit(model: folders.Model, dev: dict[str, Dev], weights: dict[str, float]) -> dict:
    """The manifest's "calibration", for the attributes that the dev rows annotate. weights: of each source."""
    logits = {s: model.highest(d.outputs) for s, d in dev.items() if d.rows}
    out = {}
    for attribute in data.ATTRIBUTES:
        found = reference(attribute, logits, dev, weights)
        if found is None or found[1].max() <= 0.5:
            continue
        knots = fit_knots(*found)
        out[attribute] = {"knots": knots}
        z, y, w = found
        print(f"{attribute:18} {len(knots)} knots, log loss {log_loss(folders.sigmoid(z), y, w):.4f} -> {log_loss(folders.sigmoid(folders.apply_knots(knots, z)), y, w):.4f} on {len(z):,} dev rows", flush=True)
    return out


def link(z: np.ndarray, y: np.ndarray) -> list[list[float]]:
    """Knots that give as many rows a score of each level or more as y does (equipercentile linking), so that thresholds keep
    their share of flagged texts. A regression would shrink toward the mean and flag fewer."""
    knots: list[list[float]] = []
    for level in LEVELS:
        over = int((y >= level).sum())
        if min(over, len(y) - over) < LINKED:
            continue
        low, high = np.sort(z)[len(z) - over - 1 : len(z) - over + 1]
        if not knots or (low + high) / 2 > knots[-1][0] + 0.05:
            knots.append([round(float(low + high) / 2, 5), round(math.log(level / (1 - level)), 5)])
    return knots


def fit_perspective(model: folders.Model, folder: Path) -> dict:
    """The "calibration" of Perspective's scale. model is on that scale."""
    rows, outputs = [], []
    for source in PERSPECTIVE:
        dev = dev_outputs(model, folder, source)
        rows, outputs = rows + dev.rows, outputs + dev.outputs
    if not rows:
        return {}
    logits, labels, out = model.highest(outputs), np.stack([row.labels for row in rows]).astype(np.float64), {}
    for a, attribute in enumerate(data.ATTRIBUTES):
        known = ~np.isnan(labels[:, a])
        knots = link(logits[known, a], labels[known, a])
        if len(knots) < 2:
            continue
        out[attribute] = {"knots": knots}
        apart = np.abs(folders.sigmoid(folders.apply_knots(knots, logits[known, a])) - labels[known, a]).mean()
        print(f"{attribute:18} {len(knots)} knots, {apart:.3f} from Perspective's scores in the mean of {known.sum():,} dev rows", flush=True)
    return out


def character_f1(found: set[int], gold: set[int]) -> float:
    """SemEval-2021 task 5, for one text; 1 if both are empty."""
    if not found or not gold:
        return float(found == gold)
    return 2 * len(found & gold) / (len(found) + len(gold))


def span_rows(folder: Path) -> list[data.Row]:
    return [row for s in ("toxic_spans_train", "toxic_spans_trial") for row in data.split_rows(folder, s, "dev")]


def span_scores(rows: list[data.Row], outputs: list[folders.Output], threshold: float, relative: float) -> np.ndarray:
    """Character F1 of each row."""
    return np.array([
        character_f1(folders.span_characters(row.text, output, 0, threshold, relative), set(np.flatnonzero(row.votes[0] > 0.5).tolist()))
        for row, output in zip(rows, outputs)
    ])


# Assumed share of posts without a span: declared, not measured. Annotated posts are toxic posts that somebody
# found worth marking; the texts that users score have fewer conspicuous words.
WITHOUT_SPAN = 0.2
NEAR_F1 = 0.01  # a third of the interval of F1 on these rows


def best_pair(tried: dict[tuple[float, float], float]) -> tuple[float, float]:
    """Of the (threshold, relative) pairs whose F1 is within NEAR_F1 of the best, the one with the highest threshold, and
    of these the best: it marks fewer words of harmless texts, which toxic posts hardly tell."""
    near = [pair for pair, f1 in tried.items() if f1 >= max(tried.values()) - NEAR_F1]
    return max(near, key=lambda pair: (pair[0], tried[pair]))


def span_thresholds(model: folders.Model, sets: list[list[data.Row]]) -> tuple[float, float, dict[str, float]]:
    """(threshold, relative) by the character F1 on sets of marked rows, which weigh the same, if WITHOUT_SPAN of each have no
    span (best_pair), and all pairs that were tried."""
    given = []
    for rows in filter(None, sets):
        without = np.array([not (row.votes[0] > 0.5).any() for row in rows], dtype=np.float64)
        given.append((rows, model.run_all([row.text for row in rows]), prior_weights(without, WITHOUT_SPAN)))
    if not given:
        return 0.5, 0.0, {}
    tried = {
        (t, r): round(float(np.mean([np.average(span_scores(rows, outputs, t, r), weights=weights) for rows, outputs, weights in given])), 4)
        for t in (0.03, 0.06, 0.09, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3) for r in (0, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65)
    }
    return *best_pair(tried), {f"{t}, {r}": f1 for (t, r), f1 in tried.items()}

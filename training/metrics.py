"""The figures that evaluate.py prints, as functions of rows and of weights on them.

Every function takes weights of shape [..., rows] and returns figures of shape [...]. With weights of
one, this is the figure; with the counts of a bootstrap's draws, all of its repetitions at once. A
figure that the weighted rows do not determine (an AUC of one class) is NaN.
"""

from typing import Callable

import numpy as np

REPETITIONS = 500  # of a bootstrap
PERFECT = 20  # draws of a perfect predictor's outcomes


def mean(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (w * x).sum(-1) / w.sum(-1)


def mean_of(figures: list) -> np.ndarray:
    """Mean over the figures that are not NaN."""
    stacked = np.stack([np.asarray(f, dtype=np.float64) for f in figures])
    known = ~np.isnan(stacked)
    with np.errstate(invalid="ignore"):
        return np.where(known, stacked, 0).sum(0) / known.sum(0)


def groups(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(order, starts): rows by rising z, and the start of each group of equal z."""
    order = np.argsort(z, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(z[order]) != 0]))
    return order, starts


def auc(y: np.ndarray, z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Share of pairs of a true and a false y with z in the right order, ties as half."""
    order, starts = groups(z)
    y, w = y[order].astype(bool), w[..., order]
    positive = np.add.reduceat(w * y, starts, axis=-1)
    negative = np.add.reduceat(w * ~y, starts, axis=-1)
    below = np.cumsum(negative, axis=-1) - negative
    with np.errstate(invalid="ignore"):
        return (positive * (below + negative / 2)).sum(-1) / (positive.sum(-1) * negative.sum(-1))


def ranks(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Mid-ranks, up to a constant; a row of weight k counts k times."""
    order, starts = groups(x)
    size = np.add.reduceat(w[..., order], starts, axis=-1)
    middle = np.cumsum(size, axis=-1) - size / 2
    group = np.zeros(len(x), dtype=int)
    group[starts[1:]] = 1
    out = np.empty(np.broadcast_shapes(w.shape, x.shape))
    out[..., order] = middle[..., np.cumsum(group)]
    return out


def spearman(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    a, b = ranks(x, w), ranks(y, w)
    a, b = a - mean(a, w)[..., None], b - mean(b, w)[..., None]
    with np.errstate(invalid="ignore"):
        return mean(a * b, w) / np.sqrt(mean(a * a, w) * mean(b * b, w))


def calibration_error(p: np.ndarray, y: np.ndarray, w: np.ndarray, bins: int = 10) -> np.ndarray:
    """ECE: mean distance between predicted and observed over bins of equal weight."""
    order = np.argsort(p, kind="stable")
    gap, w = (p - y)[order], w[..., order]
    total = w.sum(-1, keepdims=True)
    place = np.minimum((bins * (np.cumsum(w, axis=-1) - w / 2) / total).astype(int), bins - 1)
    return sum(np.abs((w * gap * (place == b)).sum(-1)) for b in range(bins)) / total[..., 0]


def reliability(p: np.ndarray, y: np.ndarray, w: np.ndarray, bins: int = 10) -> list[tuple[float, float]]:
    """(mean predicted, mean observed) of each of the bins of calibration_error."""
    order = np.argsort(p, kind="stable")
    p, y, w = p[order], y[order], w[order]
    place = np.minimum((bins * (np.cumsum(w) - w / 2) / w.sum()).astype(int), bins - 1)
    parts = [place == b for b in range(bins)]
    return [(float(mean(p[i], w[i])), float(mean(y[i], w[i]))) for i in parts if i.any()]


def perfect_outcomes(p: np.ndarray, raters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """[PERFECT, rows]: random shares of raters if p is the true probability."""
    return rng.binomial(raters, p, size=(PERFECT, len(p))) / raters


def excess_error(p: np.ndarray, y: np.ndarray, perfect: np.ndarray, w: np.ndarray) -> np.ndarray:
    """ECE less the mean ECE of a perfect predictor on the same rows with the same weights: a bootstrap's
    repetitions add the same noise to both, so their difference stays unbiased."""
    return calibration_error(p, y, w) - np.mean([calibration_error(p, drawn, w) for drawn in perfect], axis=0)


def precision_at(y: np.ndarray, z: np.ndarray, threshold: float, w: np.ndarray) -> np.ndarray:
    return mean(y, w * (z >= threshold))


def recall_at(y: np.ndarray, z: np.ndarray, threshold: float, w: np.ndarray) -> np.ndarray:
    return mean(z >= threshold, w * y)


def recall_at_precision(y: np.ndarray, z: np.ndarray, precision: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The highest recall of any threshold on z with at least the given precision, [...]; 0 if there
    is none."""
    order, starts = groups(-z)
    y, w = y[order].astype(bool), w[..., order]
    true = np.cumsum(np.add.reduceat(w * y, starts, axis=-1), axis=-1)
    found = np.cumsum(np.add.reduceat(w, starts, axis=-1), axis=-1)
    with np.errstate(invalid="ignore"):
        enough = true >= np.asarray(precision)[..., None] * found * (1 - 1e-12)
        return np.where(enough, true, 0).max(-1) / true[..., -1]


def power_mean(figures: np.ndarray, power: float = -5) -> np.ndarray:
    """Over the last axis, without NaN."""
    known = ~np.isnan(figures)
    with np.errstate(invalid="ignore", divide="ignore"):
        raised = np.where(known, np.where(known, figures, 1.0) ** power, 0)
        return (raised.sum(-1) / known.sum(-1)) ** (1 / power)


def bias(y: np.ndarray, z: np.ndarray, subgroups: list[np.ndarray], w: np.ndarray) -> dict[str, np.ndarray]:
    """Unintended bias by Borkan et al. 2019: the AUC of all rows, the power mean over subgroups
    of the AUC within one (subgroup), of its clean rows against the toxic ones of the rest (BPSN)
    and of its toxic rows against the clean ones of the rest (BNSP), and the mean of the four."""
    y = y.astype(bool)
    among = {"subgroup": lambda s: s, "BPSN": lambda s: s ^ y, "BNSP": lambda s: s ^ ~y}
    out = {"AUC of all rows": auc(y, z, w)}
    for name, rows in among.items():
        out[f"{name} AUC, power mean"] = power_mean(np.stack([auc(y, z, w * rows(s)) for s in subgroups], axis=-1))
    return {"mean of the four": sum(out.values()) / 4} | out


def draws(n: int, rng: np.random.Generator) -> np.ndarray:
    """[REPETITIONS, n]: the number of times each row was drawn."""
    return rng.multinomial(n, np.full(n, 1 / n), size=REPETITIONS).astype(np.float64)


def interval(statistic: Callable, sizes: tuple[int, ...], rng: np.random.Generator) -> tuple[float, float]:
    """95 % interval of a bootstrap; statistic takes the weights of each set of rows."""
    repeated = statistic(*(draws(n, rng) for n in sizes))
    if np.isnan(repeated).all():
        return float("nan"), float("nan")
    low, high = np.nanquantile(repeated, [0.025, 0.975])
    return float(low), float(high)

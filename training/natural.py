"""Graded natural text as a sample of all natural text of a split.

Some of its rows were graded because chance chose them, others because a model flags them, or nearly (annotate.py
natural). Of the rows that a model scores high, nearly all are graded, so they stand for themselves; of the others the
random ones stand for all. Registers weigh the same, however many rows the data folder has of each.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import data
import folder as folders

HIGH = 0.4  # the highest probability of an attribute, not calibrated, from which on a row stands for itself
GRADED = 0.97  # of these rows at least
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
    high = folders.sigmoid(model.highest(outputs)).max(1) >= HIGH
    graded = {row.id: row for row in data.read_annotations(folder, split, flagged=True)}
    random = {row.id for row in data.read_annotations(folder, split)}
    stratum = [(data.NATURAL[row.source], bool(over)) for row, over in zip(everything, high)]
    missing = sum(over and row.id not in graded for row, over in zip(everything, high))
    if missing > (1 - GRADED) * high.sum():
        raise ValueError(f"failed to sample natural {split} rows: {missing} of {high.sum()} rows that the model scores over {HIGH} have no grades; grade them first (report.py doubts, annotate.py natural)")
    used = [i for i, row in enumerate(everything) if row.id in random or high[i] and row.id in graded]
    all_, some, sizes = Counter(stratum), Counter(stratum[i] for i in used), Counter(register for register, _ in stratum)
    weights = np.array([all_[stratum[i]] / some[stratum[i]] / sizes[stratum[i][0]] for i in used])
    return Sample(
        [graded[everything[i].id] for i in used], [outputs[i] for i in used],
        weights * len(everything) / weights.sum(), np.array([stratum[i][0] for i in used]),
    )

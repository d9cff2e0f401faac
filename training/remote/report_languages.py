"""The figures of a training of many languages, by language.

    python training/remote/report_languages.py --data DATA --folder build/multi/pack --opinions OUT/*.opinions.xz

One threshold of toxicity is for all languages: five of 1,000 natural dev rows are over it, languages counting alike.
These are of quiet sources, since of others a few to many per cent are rude, which nobody graded. A language's own
threshold, where five of 1,000 of its own are, tells what calibration by language would change.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import data
import metrics
import multilingual_data
import report
from natural import HARMLESS, TOXIC

OVER = 0.005  # of natural dev rows
TOXICITY, IDENTITY = data.ATTRIBUTES.index("toxicity"), data.ATTRIBUTES.index("identity_attack")


def limit(scores: list[np.ndarray]) -> float:
    """The threshold that a share of OVER is over, each array counting alike."""
    z, weight = np.concatenate(scores), np.concatenate([np.full(len(of), 1 / max(len(of), 1)) for of in scores])
    order = np.argsort(-z, kind="stable")
    within = np.cumsum(weight[order]) <= OVER * sum(len(of) > 0 for of in scores)
    return float(z[order][within.sum()]) if len(z) else np.nan


def auc(toxic: np.ndarray, z: np.ndarray) -> float:
    return metrics.auc(toxic, z, np.ones(len(z))) if 0 < toxic.sum() < len(toxic) else np.nan


def is_quiet(row: data.Row) -> bool:
    given = multilingual_data.grades().get(row.id)
    return row.source in multilingual_data.QUIET if given is None else bool(np.mean(given, axis=0).max() < HARMLESS)


class Figures:
    """logits: float32 [rows, 7]; at: by id, the number of a row. Rows without an opinion are left out."""

    def __init__(self, logits: np.ndarray, at: dict[str, int], rows: dict[str, list[data.Row]]):
        self.rows = {name: [row for row in of if row.id in at and not np.isnan(logits[at[row.id], 0])] for name, of in rows.items()}
        self.logits, self.at = logits, at

    def of(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Logits and labels of a source's rows, [rows, 7]."""
        rows = self.rows.get(name, [])
        empty = np.zeros((0, len(data.ATTRIBUTES)), np.float32)
        return (self.logits[[self.at[row.id] for row in rows]], np.stack([row.labels for row in rows])) if rows else (empty, empty)

    def natural(self, language: str) -> tuple[np.ndarray, np.ndarray]:
        """Scores of natural dev rows, of all and of quiet ones: not those that we graded and found rude. English's are all graded,
        and the harmless are quiet."""
        if language == "en":
            z, grades = self.of("graded_natural_en")
            return z[:, TOXICITY], z[grades.max(1, initial=0) < HARMLESS, TOXICITY]
        z, rows = self.of(f"natural_{language}")[0], self.rows.get(f"natural_{language}", [])
        return z[:, TOXICITY], z[np.array([is_quiet(row) for row in rows], bool), TOXICITY]

    def found(self, names: list[str], at: float) -> tuple[int, int, float, float, float]:
        """Toxic and harmless rows, the AUC of the two, and the shares of both that are over a threshold."""
        z, grades = (np.concatenate(of) for of in zip(*map(self.of, names)))
        toxic, harmless = grades[:, TOXICITY] >= TOXIC, grades.max(1, initial=0) < HARMLESS
        known, over = toxic | harmless, z[:, TOXICITY] > at
        mean = lambda chosen: over[chosen].mean() if chosen.any() else np.nan
        return int(toxic.sum()), int(harmless.sum()), auc(toxic[known], z[known, TOXICITY]), mean(toxic), mean(harmless)

    def tables(self) -> list[str]:
        """Lines of Markdown."""
        languages = ("en", *multilingual_data.LANGUAGES)
        natural = {language: self.natural(language) for language in languages}
        at = limit([quiet for _, quiet in natural.values()])
        lines = [
            f"Threshold of toxicity: {1 / (1 + np.exp(-at)):.3f}. toxic and harmless are numbers of rows; found and flagged are shares of these over it, in percent.\n",
            "| language | natural: rows | flagged | quiet: flagged | sentences: toxic | harmless | AUC | found | found, own threshold | flagged | graded: toxic | harmless | AUC | found | flagged |",
            "|---" * 15 + "|",
        ]
        means = []
        for language in languages:
            every, quiet = natural[language]
            own = limit([quiet])
            share = lambda z: (z > at).mean() if len(z) else np.nan
            written, by_own = self.found([f"sentences_{language}"], at), self.found([f"sentences_{language}"], own)
            graded = self.found([f"graded_natural_{language}", f"graded_{language}"], at)
            cells = [len(every), 100 * share(every), 100 * share(quiet), *written[:3], 100 * written[3], 100 * by_own[3], 100 * written[4], *graded[:3], 100 * graded[3], 100 * graded[4]]
            means.append(cells)
            lines.append(f"| {language} | {' | '.join(map(cell, cells))} |")
        mean = [np.mean([x for x in column if not np.isnan(x)] or [np.nan]) for column in zip(*means)]
        lines.append(f"| mean | {' | '.join(cell(float(x)) for x in mean)} |")
        lines += ["", "| labelled dev rows | language | rows | AUC toxicity | AUC identity_attack |", "|---" * 5 + "|"]
        for name, of in multilingual_data.SETS.items():
            z, labels = self.of(name)
            toxic, attacks = labels[:, TOXICITY] >= 0.5, labels[:, IDENTITY] >= 0.5
            hate = auc(attacks, z[:, IDENTITY]) if of.groups else np.nan
            lines.append(f"| {name} | {of.language} | {len(z)} | {cell(auc(toxic, z[:, TOXICITY]))} | {cell(hate)} |")
        return lines


def cell(value: float) -> str:
    return str(value) if isinstance(value, int) else "–" if np.isnan(value) else f"{value:.1f}" if value > 1 else f"{value:.3f}"


def main(arguments: list[str] | None = None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path, help="the packed folder, with its .rows.jsonl.gz beside it")
    parser.add_argument("--opinions", required=True, nargs="+", type=Path)
    args = parser.parse_args(arguments)
    at, rows = report.Rows(args.folder).at, multilingual_data.dev_rows(args.data)
    for path in args.opinions:
        print(f"{path.name.removesuffix('.opinions.xz')}. ", end="")
        print("\n".join(Figures(report.opinions(path, len(data.ATTRIBUTES)), at, rows).tables()) + "\n")


if __name__ == "__main__":
    main()

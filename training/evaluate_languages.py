"""Measures the product in each of its languages, on dev or test rows, and prints the tables of docs/languages.md.

    python training/evaluate_languages.py --data DATA [--split test]

Scores come from `bin/toxscreen batch` with both embedded models: it finds the language, as users get it. Rows of labelled
sets have the sets' own labels; ordinary text has our grades, and chance chose it. Sentences are ours: a tenth, which
never trains, measures in both splits. Figures have the bootstrap's 95 % interval in brackets.
"""

import argparse
from pathlib import Path

import numpy as np

import data
import metrics
import multilingual_data
from natural import HARMLESS, TOXIC
from systems import Product

BINARY = Path(__file__).parents[1] / "bin" / "toxscreen"
TOXICITY, IDENTITY = data.ATTRIBUTES.index("toxicity"), data.ATTRIBUTES.index("identity_attack")
MOST = 2000  # rows of a labelled set, and of English by both models
SEED = 1


class Scored:
    """Rows with the product's scores float64 [rows, 7] and whether each is flagged."""

    def __init__(self, product: Product, rows: list[data.Row]):
        scores = product.score([row.text for row in rows])
        self.p = np.stack([scores.columns[a] for a in data.ATTRIBUTES], 1) if rows else np.zeros((0, len(data.ATTRIBUTES)))
        self.over = scores.over_any() if rows else np.zeros(0, bool)
        self.labels = np.stack([row.labels for row in rows]).astype(np.float64) if rows else self.p

    def auc(self, attribute: int, rng: np.random.Generator) -> str:
        """Of what people would rather say than not, where anybody was asked."""
        known = ~np.isnan(self.labels[:, attribute])
        y, z = self.labels[known, attribute] >= 0.5, self.p[known, attribute]
        if not 0 < y.sum() < len(y):
            return "–"
        low, high = metrics.interval(lambda w: metrics.auc(y, z, w), (len(y),), rng)
        return f"{metrics.auc(y, z, np.ones(len(y))):.2f} [{low:.2f}, {high:.2f}]"

    def shares(self) -> tuple[str, str]:
        """Harmless rows that are flagged, and toxic ones that are found, in percent of their number."""
        most = self.labels.max(1, initial=0)
        return tuple(f"{100 * self.over[of].mean():.1f} of {of.sum()}" if of.any() else "–" for of in (most < HARMLESS, most >= TOXIC))


def of_split(rows: list[data.Row], split: str, most: int | None = None) -> list[data.Row]:
    rows = [row for row in rows if row.split == split]
    chosen = np.sort(np.random.default_rng(SEED).permutation(len(rows))[: most or len(rows)])
    return [rows[i] for i in chosen]


def seen(folder: Path, language: str) -> int:
    """Training rows of a language, but for quiet ones that nobody graded."""
    sets = [name for name, of in multilingual_data.SETS.items() if of.language == language]
    return sum(len(multilingual_data.rows_of(folder, name)) for name in (f"sentences_{language}", f"graded_natural_{language}", f"graded_{language}", *sets))


def disagreement(language: str) -> str:
    """Sentences that only one of two readings calls toxic, in percent of those that were read twice. Hindi's are of both
    scripts."""
    first = {raw["text"]: data.grades_of(raw) for raw in data.read_file(multilingual_data.FOLDER / f"{language[:2]}.jsonl.gz")}
    both = [(first[raw["text"]], data.grades_of(raw)) for raw in multilingual_data.second_readings() if raw["lang"] == language[:2] and raw["text"] in first]
    return f"{100 * np.mean([(a[TOXICITY] >= TOXIC) != (b[TOXICITY] >= TOXIC) for a, b in both]):.1f} of {len(both)}" if both else "–"


def languages(product: Product, folder: Path, split: str) -> list[str]:
    lines = [
        "| language | rows seen | two readings disagree, % | sentences: AUC of toxicity | of identity_attack | flagged, % of harmless | found, % of toxic | ordinary text: flagged, % of harmless | found, % of toxic |",
        "|---" * 9 + "|",
    ]
    for language in multilingual_data.LANGUAGES:
        rng = np.random.default_rng(SEED)
        sentences = Scored(product, of_split(multilingual_data.sentences(language), "dev"))
        natural = Scored(product, of_split(multilingual_data.graded(folder, (f"natural/natural_{language}",))[language], split))
        lines.append(f"| {language} | {seen(folder, language):,} | {disagreement(language)} | {sentences.auc(TOXICITY, rng)} | {sentences.auc(IDENTITY, rng)} | {' | '.join((*sentences.shares(), *natural.shares()))} |")
    return lines


def sets(product: Product, folder: Path, split: str) -> list[str]:
    lines = ["| labelled set | language | rows | AUC of toxicity | of identity_attack |", "|---" * 5 + "|"]
    for name, of in multilingual_data.SETS.items():
        rows, rng = of_split(multilingual_data.labelled(folder, name), split, MOST), np.random.default_rng(SEED)
        scored = Scored(product, rows)
        lines.append(f"| {name} | {of.language} | {len(rows):,} | {scored.auc(TOXICITY, rng)} | {scored.auc(IDENTITY, rng) if of.groups else '–'} |")
    return lines


def both(folder: Path, split: str) -> str:
    """How far the two models are apart on English text."""
    rows = data.read_annotations(folder, split)
    texts = [rows[i].text for i in np.random.default_rng(SEED).permutation(len(rows))[:MOST]]
    one, other = (Product(name, BINARY, Path(name), ("--full", "--language", "en")).score(texts) for name in ("default", "multilingual"))
    apart = {a: np.abs(one.columns[a] - other.columns[a]).mean() for a in data.ATTRIBUTES}
    differ = (one.over_any() != other.over_any()).mean()
    return f"{len(texts):,} English texts by both models: toxicity {apart['toxicity']:.3f} apart in the mean, all attributes {np.mean([*apart.values()]):.3f}; {100 * differ:.1f} % of decisions differ"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    args = parser.parse_args()
    product = Product("toxscreen", BINARY, Path("default"))
    print("\n".join([*languages(product, args.data, args.split), "", *sets(product, args.data, args.split), "", both(args.data, args.split)]))


if __name__ == "__main__":
    main()

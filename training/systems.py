"""The systems that evaluate.py measures: the product with a model folder, and alternatives.

A system has a name and score(texts), which returns Scores. Attributes that a system does not have
are absent and are not measured.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import better_profanity
import numpy as np
import profanity_check
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_union

import data

TFIDF_ROWS = 30_000  # training rows of TF-IDF: a minute or two on two cores


@dataclass
class Scores:
    """columns: the score in 0..1 of each text, by attribute. spans: the code points of each text that
    are marked as toxic, or None. marked: whether a text has a span of any attribute, or None. over: whether
    a text reaches the attribute's default threshold, 0.5 for a system without thresholds. graded: False if
    scores are only 0 and 1, so that they are not probabilities and have no other threshold."""

    columns: dict[str, np.ndarray]
    spans: list[set[int]] | None = None
    marked: np.ndarray | None = None
    over: dict[str, np.ndarray] = None
    graded: bool = True

    def __post_init__(self):
        if self.over is None:
            self.over = {a: z >= 0.5 for a, z in self.columns.items()}

    def over_any(self) -> np.ndarray:
        return np.any(list(self.over.values()), axis=0)

    def read(self, attribute: str) -> np.ndarray | None:
        """The attribute's score; toxicity for a system without identity_attack, since its users have no
        other number for that."""
        if attribute == "identity_attack" and attribute not in self.columns:
            attribute = "toxicity"
        return self.columns.get(attribute)


class Product:
    """`toxscreen batch` with a model folder: normalised, in windows, calibrated and corrected, as users
    get it. Needs the binary of `make build`. options: further ones of batch; without exits, the whole network is measured."""

    def __init__(self, name: str, binary: Path, folder: Path, options: tuple[str, ...] = ("--full",)):
        self.name, self.binary, self.folder, self.options = name, Path(binary), Path(folder), options
        if not self.binary.exists():
            raise FileNotFoundError(f"failed to score with {self.binary}: there is no such file; build it with `make build`")

    def on_perspective(self) -> "Product":
        """The product on Perspective's scale, if the model has it."""
        manifest = json.loads((Path(self.folder) / "manifest.json").read_text(encoding="utf-8"))
        return Product(self.name, self.binary, self.folder, (*self.options, "--scale", "perspective")) if "perspective" in manifest.get("scales", {}) else self

    def results(self, texts: list[str]) -> list[dict]:
        """The native result of each text."""
        command = [str(self.binary.absolute()), "batch", "--input", "-", "--output", "-", "--quiet", "--offset-unit", "code_point", "--model", str(self.folder), *self.options]
        given = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        run = subprocess.run(command, input=given.encode(), capture_output=True)
        results = [json.loads(line) for line in run.stdout.splitlines()]
        failed = next((r for r in results if "error" in r), None)
        # 3: texts in other languages are not decided. They have scores, which are compared with the thresholds here.
        if run.returncode not in (0, 3) or failed or len(results) != len(texts):
            why = f"row {failed['row']}: {failed['error']}" if failed else run.stderr.decode().strip()
            raise RuntimeError(f"failed to score {len(texts)} texts with {self.folder}, exit status {run.returncode}, {len(results)} results: {why}")
        return results

    def score(self, texts: list[str]) -> Scores:
        results = self.results(texts)
        columns = {a: np.array([r["attributes"][a]["classifier"] for r in results]) for a in data.ATTRIBUTES if results and a in results[0]["attributes"]}
        over = {a: np.array([r["attributes"][a]["score"] >= r["attributes"][a]["threshold"] for r in results]) for a in columns}
        spans = [{i for s in r["spans"] if "toxicity" in s["attributes"] for i in range(s["start"], s["end"])} for r in results]
        return Scores(columns, spans, np.array([bool(r["spans"]) for r in results]), over)


class TfIdf:
    """Words, pairs of words and pieces of words of two to five characters, with a logistic regression
    for each attribute, on a seeded draw of training rows."""

    def __init__(self, folder: Path, seed: int):
        self.name = "TF-IDF"
        rows = [row for row in data.training_rows(folder) if not np.isnan(row.labels).all()]
        self.of = len(rows)
        if len(rows) > TFIDF_ROWS:
            drawn = np.random.default_rng(seed).choice(len(rows), TFIDF_ROWS, replace=False)
            rows = [rows[i] for i in np.sort(drawn)]
        self.rows = len(rows)
        self.vectors = make_union(
            TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, max_features=100_000),
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=3, sublinear_tf=True, max_features=200_000),
        )
        x = self.vectors.fit_transform([row.text for row in rows]).tocsr()
        labels = np.stack([row.labels for row in rows])
        self.models = {}
        for i, attribute in enumerate(data.ATTRIBUTES):
            known = ~np.isnan(labels[:, i])
            y = labels[known, i] >= 0.5
            if 0 < y.sum() < len(y):
                self.models[attribute] = LogisticRegression(C=4, solver="liblinear", random_state=seed).fit(x[known], y)

    def score(self, texts: list[str]) -> Scores:
        x = self.vectors.transform(texts)
        return Scores({a: model.predict_proba(x)[:, 1] for a, model in self.models.items()})


class AltProfanityCheck:
    """One probability of "offensive", read as toxicity."""

    name = "alt-profanity-check"

    def score(self, texts: list[str]) -> Scores:
        return Scores({"toxicity": np.asarray(profanity_check.predict_prob(texts), dtype=np.float64)})


class Words:
    """better_profanity's word list, checked by one regular expression for each length instead of word by word: the same
    results, thousands of times as fast. Each letter of a word includes its replacements."""

    def __init__(self, words: list):
        by_length = {}
        for word in words:
            by_length.setdefault(len(word._char_combos), []).append("".join(f"[{re.escape(''.join(may_stand))}]" for may_stand in word._char_combos))
        patterns = {length: re.compile("|".join(spelt)) for length, spelt in by_length.items()}
        self.matches = lru_cache(1 << 20)(lambda word: len(word) in patterns and patterns[len(word)].fullmatch(word) is not None)

    def __contains__(self, word: str) -> bool:
        return self.matches(word)


class BetterProfanity:
    """Whether a text contains a word of a list or a spelling of it, read as toxicity and profanity."""

    name = "better-profanity"

    def __init__(self):
        self.filter = better_profanity.Profanity()
        self.filter.CENSOR_WORDSET = Words(self.filter.CENSOR_WORDSET)

    def score(self, texts: list[str]) -> Scores:
        found = np.array([float(self.filter.contains_profanity(text)) for text in texts])
        return Scores({"toxicity": found, "profanity": found}, graded=False)

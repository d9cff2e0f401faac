"""The rows of the evaluation's table: the texts of each figure, its computation and its goal.
Nothing here is fitted for shipping. The only fit (cross-fitted calibration) shows what another
calibration of the same scores would reach, and is discarded.
"""

import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import calibrate
import data
import disguises
import folder as folders
import grammars
import identities
import metrics
import natural
import prose
from systems import Scores

# The attribute used for sources that say only "hate" or "sexist": decided before measuring.
HATE = ("implicit_hate", "toxigen_human", "edos", "measuring_hate", "stormfront")
OTHERS = ("davidson", "hatexplain", "convabuse", "paradetox", "madlibs")  # by toxicity

# The goal of each figure: ("≥" or "≤", bound), or ("∋", 0): its interval contains 0.
GOALS = {
    "ordinary text: harmless and flagged": ("≤", 0.003),
    "ordinary text: of what readers object to, flagged": ("≥", 0.85),
    "ordinary text: toxicity ECE beyond a perfect predictor's": ("≤", 0.01),
    "jigsaw: mean AUC of six labels": ("≥", 0.983),
    "perspective_rtp and rtp2: mean Spearman of seven attributes": ("≥", 0.9),
    "perspective_devtest_only: mean Spearman of seven attributes": ("≥", 0.80),
    "perspective_wikipedia: AUC threat": ("≥", 0.85),
    "toxic spans: character F1": ("≥", 0.7),
    "civil_spans: toxicity ECE beyond a perfect predictor's": ("≤", 0.01),
    "civil_spans: the same, calibration cross-fitted": ("≤", 0.01),
    "perspective_context: mean toxicity less raters' rate": ("∋", 0),
    "jigsaw at natural priors: mean toxicity less raters' rate": ("∋", 0),
    "hate and sexism: mean AUC of five": ("≥", 0.88),
    "dynahate: AUC by identity_attack": ("≥", 0.9),
    "paradetox: AUC by toxicity": ("≥", 0.97),
    "madlibs: AUC by toxicity": ("≥", 0.995),
    "clean prompts, software and look-alikes: flagged by any attribute": ("≤", 0.02),
    "behaviours: harmless texts flagged": ("≤", 0.02),
    "behaviours: threats found": ("≥", 0.95),
    "behaviours: insults found": ("≥", 0.95),
    "behaviours: hate found": ("≥", 0.95),
    "behaviours: sexual content found": ("≥", 0.95),
    "hidden abuse: recall kept, mean of sizes": ("≥", 0.95),
    "dialect: false alarms on African-American English, times those on other tweets": ("≤", 1.5),
    "identity terms: false positive rate at 0.5, worst term": ("≤", 0.05),
    "disguise: recall kept, mean of kinds": ("≥", 0.99),
    "disguise: recall kept, worst kind": ("≥", 0.93),
    "disguise: clean texts flagged, times as often, worst kind": ("≤", 1.5),
    "size: the CPU's file and the tokenizer, MB": ("≤", 26),
}
AGAINST_GOALS = {"AUC": ("≤", 0.001), "span F1": ("≤", 0.005)}

CLEAN = 0.3  # maximum Perspective toxicity of a clean text in the disguise figures
CLEAN_FLAGGED = 0.01  # share of the clean texts, as written, that the disguise figures' threshold flags
DISGUISED_CHARACTERS = 200
DISGUISED_POSITIVES = 400  # and twice as many clean ones
HIDDEN_TEXTS = 120  # toxic ones, and four times as many clean ones: few of those are flagged
PROSE_TEXTS = 300  # of each length
SENTENCES = 120  # per identity term, and per kind of contrast
UNDECIDED = 0.13  # a kind of contrast nearer to 0.5 has no clear side

MADLIBS_TERMS = (
    "african american", "african", "american", "asian", "bisexual", "black", "blind", "buddhist", "canadian", "catholic", "chinese",
    "christian", "deaf", "elderly", "european", "female", "gay", "heterosexual", "hispanic", "homosexual", "indian", "japanese", "jewish",
    "latina", "latino", "latinx", "lesbian", "lgbt", "lgbtq", "male", "mexican", "middle aged", "middle eastern", "millenial", "muslim",
    "nonbinary", "old", "older", "paralyzed", "protestant", "queer", "sikh", "straight", "taoist", "teenage", "trans", "transgender",
    "white", "young", "younger",
)


@dataclass
class Figure:
    """n: the number of rows measured. low and high: 95 % interval of a bootstrap, or None."""

    value: float
    n: int
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass
class Measured:
    """The figures of one system. kinds and terms: the parts of the figures on disguise, by kind:
    (recall kept, times as often flagged when clean or None), and on identity terms, by term.
    reliability: by source and attribute, (mean predicted, mean observed) of bins of equal weight.
    contrasts: by kind of generated sentence, (its own toxicity, the number on the other side of 0.5,
    the total). behaviours: by family of testdata/behaviours, (what it shows, texts that are right, the total)."""

    figures: dict[str, Figure] = field(default_factory=dict)
    reliability: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    kinds: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    terms: dict[str, float] = field(default_factory=dict)
    contrasts: dict[str, tuple[float, int, int]] = field(default_factory=dict)
    behaviours: dict[str, tuple[str, int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, document: dict) -> "Measured":
        """From the JSON that evaluate.py writes."""
        return cls(**document | {"figures": {name: Figure(**figure) for name, figure in document["figures"].items()}})


class Held:
    """The rows to measure, the same for every system: at most `most` of a source's split, drawn by a
    seed. ordinary: graded rows of ordinary text, whatever their number."""

    def __init__(self, folder: Path, split: str, most: int | None, seed: int, ordinary: natural.Sample | None = None):
        self.folder, self.split, self.most, self.seed, self.ordinary = Path(folder), split, most, seed, ordinary
        self.read: dict[tuple, list[data.Row]] = {}

    def rng(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def draw(self, rows: list, name: str, most: int | None) -> list:
        if most is None or len(rows) <= most:
            return rows
        return [rows[i] for i in np.sort(self.rng(name).choice(len(rows), most, replace=False))]

    def rows(self, *sources: str, split: str | None = None) -> list[data.Row]:
        """split: a different split, or "any"."""
        split = split or self.split
        key = (split, *sources)
        if key not in self.read:
            rows = [row for s in sources for row in data.read_source(self.folder, s) if split in (row.split, "any")]
            self.read[key] = self.draw(rows, " ".join(key), self.most)
        return self.read[key]

    def disguised(self) -> tuple[list[tuple[str, disguises.Words]], np.ndarray]:
        """Short texts with the words to rewrite, and whether they are toxic: posts of civil_spans with a
        word that half of the raters marked, and at most twice as many of perspective_context that are
        clean by its raters and by Perspective. One of the two is not enough: rude texts that raters
        accept score like toxic ones. With them in the mix, precision hardly depends on the threshold, so
        equal precision means little."""
        toxic, clean = self.short_rows()
        toxic = [(row.text, disguises.marked_words(row.text, row.votes[0] >= 0.5)) for row in toxic]
        clean = [(row.text, disguises.any_words(row.text, self.seed)) for row in clean]
        toxic, clean = ([pair for pair in pairs if pair[1]] for pairs in (toxic, clean))
        most = min(DISGUISED_POSITIVES, (self.most or 2 * DISGUISED_POSITIVES) // 2, len(toxic))
        toxic, clean = self.draw(toxic, "disguised toxic", most), self.draw(clean, "disguised clean", 2 * most)
        return toxic + clean, np.repeat([1.0, 0.0], [len(toxic), len(clean)])

    def short_rows(self) -> tuple[list[data.Row], list[data.Row]]:
        """Short posts of civil_spans that are toxic, and short comments of perspective_context that are clean by its
        raters and by Perspective."""
        def short(source: str) -> list[data.Row]:
            return [row for row in data.split_rows(self.folder, source, self.split) if len(row.text) <= DISGUISED_CHARACTERS]

        return (
            [row for row in short("civil_spans") if row.labels[0] >= 0.5],
            [row for row in short("perspective_context") if row.human == 0 and row.labels[0] <= CLEAN],
        )

    def short(self, most: int) -> tuple[list[str], np.ndarray]:
        """At most that many toxic texts and four times as many clean ones, and whether they are toxic."""
        toxic, clean = self.short_rows()
        most = min(most, len(toxic), len(clean) // 4, (self.most or 2 * most) // 2)
        texts = [row.text for row in self.draw(toxic, "short toxic", most) + self.draw(clean, "short clean", 4 * most)]
        return texts, np.repeat([1.0, 0.0], [most, 4 * most])


def read_behaviours() -> list[dict]:
    """The families of testdata/behaviours; its README says what the fields mean."""
    return [json.loads(line) for line in data.BEHAVIOURS.read_text(encoding="utf-8").splitlines()]


def expected(family: dict) -> np.ndarray:
    """float32 [7]: 1 where a family's texts have the attribute, 0 where they do not, NaN where it does not decide."""
    if "any" in family["expect"]:
        return data.labels_of(**dict.fromkeys(data.ATTRIBUTES, 0.0))
    return data.labels_of(**{a: float(side == "above") for a, side in family["expect"].items()})


def behaviour_texts(half: str) -> tuple[list[str], np.ndarray]:
    """The texts of a half, "dev" or "test", and what is expected of them, float32 [texts, 7], see expected."""
    families = [family for family in read_behaviours() if family["half"] == half]
    return [text for family in families for text in family["texts"]], np.stack([expected(family) for family in families for _ in family["texts"]])


def stacked_labels(rows: list[data.Row]) -> np.ndarray:
    return np.stack([row.labels for row in rows]).astype(np.float64)


def over_half(y: np.ndarray, z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """AUC of the labels of 0.5 or more."""
    return metrics.auc(y >= 0.5, z, w)


class Measurement:
    """Measures every figure that a system and the folder's files allow. Without intervals, the bootstrap is left out,
    which takes longer than a fast system's scores."""

    def __init__(self, system, held: Held, intervals: bool = True):
        self.system, self.held, self.intervals, self.out = system, held, intervals, Measured()
        # What is compared with Perspective's scores.
        self.perspective = system.on_perspective() if hasattr(system, "on_perspective") else system
        self.scored: dict[int, Scores] = {}
        self.on_perspective: dict[int, Scores] = {}

    def scores(self, rows: list[data.Row]) -> Scores:
        """Rows are read once (Held.rows), and scored once."""
        if id(rows) not in self.scored:
            self.scored[id(rows)] = self.system.score([row.text for row in rows])
        return self.scored[id(rows)]

    def perspective_scores(self, rows: list[data.Row]) -> Scores:
        """On Perspective's scale, if the system has it."""
        if self.perspective is self.system:
            return self.scores(rows)
        if id(rows) not in self.on_perspective:
            self.on_perspective[id(rows)] = self.perspective.score([row.text for row in rows])
        return self.on_perspective[id(rows)]

    def add(self, name: str, statistic, *sizes: int, interval: bool = True, note: str = ""):
        """statistic takes the weights of each set of rows. Undefined figures are omitted."""
        value = float(statistic(*(np.ones(n) for n in sizes)))
        if np.isnan(value):
            return
        low, high = metrics.interval(statistic, sizes, self.held.rng(name)) if interval and self.intervals else (None, None)
        self.out.figures[name] = Figure(value, sum(sizes), low, high, note)

    def by_attribute(self, title: str, of_each: str, rows: list[data.Row], attributes, metric, perspective: bool = True):
        """Adds the mean over attributes, if the system has all of them, and each attribute."""
        if not rows:
            return
        scores, labels = (self.perspective_scores if perspective else self.scores)(rows), stacked_labels(rows)
        parts = {}
        for a in attributes:
            y = labels[:, data.ATTRIBUTES.index(a)]
            if a in scores.columns and not np.isnan(y).all():
                parts[a] = lambda w, known=~np.isnan(y), y=y, z=scores.columns[a]: metric(y[known], z[known], w[..., known])
        if len(parts) == len(attributes):
            self.add(title, lambda w: metrics.mean_of([part(w) for part in parts.values()]), len(rows))
        for a, part in parts.items():
            self.add(f"{of_each} {a}", part, len(rows))

    def agreement(self):
        held = self.held
        self.by_attribute("jigsaw: mean AUC of six labels", "jigsaw: AUC", held.rows("jigsaw"), tuple(data.NATURAL_SHARES["jigsaw"]), over_half, perspective=False)
        self.by_attribute(
            "perspective_rtp and rtp2: mean Spearman of seven attributes", "perspective_rtp and rtp2: Spearman",
            held.rows("perspective_rtp", "perspective_rtp2"), data.ATTRIBUTES, metrics.spearman,
        )
        self.by_attribute(
            "perspective_devtest_only: mean Spearman of seven attributes", "perspective_devtest_only: Spearman",
            held.rows("perspective_devtest_only"), data.ATTRIBUTES, metrics.spearman,
        )

    def wikipedia(self):
        """All rows count on either split: none was used to train, fit or choose anything."""
        held = self.held
        rows = held.rows("perspective_wikipedia", split="any")
        self.by_attribute(
            "perspective_wikipedia: mean AUC of 0.5 or more, seven attributes", "perspective_wikipedia: AUC", rows, data.ATTRIBUTES, over_half
        )
        if rows and "toxicity" in (columns := self.perspective_scores(rows).columns):
            self.rates("perspective_wikipedia: mean toxicity less Perspective's", columns["toxicity"], stacked_labels(rows)[:, 0], np.ones(len(rows)))
            other = (stacked_labels(rows)[:, 0] >= 0.5) != (columns["toxicity"] >= 0.5)
            self.add("perspective_wikipedia: share on the other side of 0.5", lambda w: metrics.mean(other, w), len(rows))

    def spans(self):
        rows = self.held.rows("toxic_spans_train", "toxic_spans_trial")
        if not rows or self.scores(rows).spans is None:
            return
        gold = [set(np.flatnonzero(row.votes[0] > 0.5).tolist()) for row in rows]
        f1 = np.array([calibrate.character_f1(found, of) for found, of in zip(self.scores(rows).spans, gold)])
        self.add("toxic spans: character F1", lambda w: metrics.mean(f1, w), len(rows))

    def without_a_span(self):
        """Over all unchanged texts scored so far."""
        over = [s.marked[s.columns["toxicity"] >= 0.5] for s in self.scored.values() if s.marked is not None]
        if over and len(marked := np.concatenate(over)):
            self.add("texts over 0.5 without a single span: share", lambda w: metrics.mean(~marked, w), len(marked))

    def calibration(self):
        held = self.held
        here = held.rows("civil_spans")
        if not here or not self.scores(here).graded:
            return

        def excess(name: str, p: np.ndarray, rows: list[data.Row]):
            y, raters = stacked_labels(rows)[:, 0], np.array([row.raters for row in rows])
            perfect = metrics.perfect_outcomes(p, raters, held.rng(name))
            ones = np.ones(len(rows))
            ece, least = metrics.calibration_error(p, y, ones), np.mean([metrics.calibration_error(p, drawn, ones) for drawn in perfect])
            self.add(name, lambda w: metrics.excess_error(p, y, perfect, w), len(rows), note=f"ECE {ece:.4f}, a perfect predictor's {least:.4f}")

        excess("civil_spans: toxicity ECE beyond a perfect predictor's", self.scores(here).columns["toxicity"], here)
        # Test rows are used only when test is measured; dev uses its two halves.
        if held.split == "test":
            parts = [held.rows("civil_spans", split="dev"), here]
            p = np.concatenate([self.scores(rows).columns["toxicity"] for rows in parts])
            rows, first = parts[0] + parts[1], np.arange(len(p)) < len(parts[0])
        else:
            p, rows = self.scores(here).columns["toxicity"], here
            first = held.rng("halves").permutation(len(rows)) < len(rows) // 2
        excess("civil_spans: the same, calibration cross-fitted", cross_fitted(p, stacked_labels(rows)[:, 0], first), rows)

        scores, labels = self.scores(here), stacked_labels(here)
        for a in data.SPAN_ATTRIBUTES:
            if a in scores.columns:
                self.errors(f"civil_spans: {a}", scores.columns[a], labels[:, data.ATTRIBUTES.index(a)], np.ones(len(here)))
        if rows := held.rows("perspective_context"):
            p, y = self.scores(rows).columns["toxicity"], np.array([row.human for row in rows])
            self.rates("perspective_context: mean toxicity less raters' rate", p, y, np.ones(len(rows)))
        if rows := held.rows("jigsaw"):
            p, y = self.scores(rows).columns["toxicity"], stacked_labels(rows)[:, 0]
            importance = calibrate.prior_weights(y, data.NATURAL_SHARES["jigsaw"]["toxicity"])
            self.rates("jigsaw at natural priors: mean toxicity less raters' rate", p, y, importance)
            self.errors("jigsaw at natural priors: toxicity", p, y, importance)

        # Only Perspective's scores cover these two.
        if rows := held.rows("perspective_rtp"):
            for a in ("severe_toxicity", "sexually_explicit"):
                y = stacked_labels(rows)[:, data.ATTRIBUTES.index(a)]
                known = ~np.isnan(y)
                if a in (columns := self.perspective_scores(rows).columns) and known.any():
                    self.errors(f"perspective_rtp: {a}", columns[a][known], y[known], np.ones(known.sum()))

    def errors(self, name: str, p: np.ndarray, y: np.ndarray, importance: np.ndarray):
        self.out.reliability[name] = metrics.reliability(p, y, importance)
        self.add(f"{name} ECE", lambda w: metrics.calibration_error(p, y, w * importance), len(p), interval=False)
        self.add(f"{name} Brier", lambda w: metrics.mean((p - y) ** 2, w * importance), len(p))

    def rates(self, name: str, p: np.ndarray, y: np.ndarray, importance: np.ndarray):
        note = f"{metrics.mean(p, importance):.4f} against {metrics.mean(y, importance):.4f}"
        self.add(name, lambda w: metrics.mean(p - y, w * importance), len(p), note=note)

    def hate(self):
        parts, sizes = [], []

        def of(source: str, attribute: str):
            rows = self.held.rows(source)
            z = self.scores(rows).read(attribute) if rows else None
            if z is None:
                return None
            y = stacked_labels(rows)[:, data.ATTRIBUTES.index(attribute)]
            known = ~np.isnan(y)
            sizes.append(int(known.sum()))
            return lambda w: metrics.auc(y[known] >= 0.5, z[known], w)

        for source in HATE:
            if part := of(source, "identity_attack"):
                parts.append(part)
        if len(parts) == len(HATE):
            self.add("hate and sexism: mean AUC of five", lambda *w: metrics.mean_of([part(v) for part, v in zip(parts, w)]), *sizes)
            for source, part, n in zip(HATE, parts, sizes):
                self.add(f"hate and sexism: AUC {source}", part, n)
        if part := of("dynahate", "identity_attack"):
            self.add("dynahate: AUC by identity_attack", part, sizes[-1])
        for source in OTHERS:
            if part := of(source, "toxicity"):
                self.add(f"{source}: AUC by toxicity", part, sizes[-1])

    def clean(self):
        """Rows that nobody finds toxic, at the default thresholds."""
        if rows := self.held.rows("clean_prompts", "clean_software", "clean_lookalikes_own"):
            over = self.scores(rows).over_any()
            self.add("clean prompts, software and look-alikes: flagged by any attribute", lambda w: metrics.mean(over, w), len(rows))

    def ordinary(self):
        """Ordinary text as a weighted sample, see natural.py, at the default thresholds. A model folder chose the sample's
        rows, but its weights hold for any system."""
        sample = self.held.ordinary
        if sample is None or not sample.rows:
            return
        scores, weights, n = self.system.score([row.text for row in sample.rows]), sample.weights, len(sample.rows)
        over = scores.over_any()
        self.add("ordinary text: harmless and flagged", lambda w: metrics.mean(over & sample.harmless, w * weights), n)
        self.add("ordinary text: of what readers object to, flagged", lambda w: metrics.mean(over, w * weights * sample.toxic), n, note=f"{sample.toxic.sum()} of the rows")
        self.add("ordinary text: of what is flagged, readers object to", lambda w: metrics.mean(sample.toxic, w * weights * over), n)
        if scores.graded:
            p, y = scores.columns["toxicity"], sample.grades[:, 0]
            ece, least = natural.calibration_error(p, y, weights)
            self.out.figures["ordinary text: toxicity ECE beyond a perfect predictor's"] = Figure(float(ece - least), n, note=f"ECE {ece:.4f}, a perfect predictor's {least:.4f}")
            self.rates("ordinary text: mean toxicity less readers' rate", p, y, weights)

    def behaviours(self):
        """The families of testdata/behaviours of this split, at the default thresholds. A text is right if every
        attribute that its family decides is on its side."""
        families = [family for family in read_behaviours() if family["half"] == self.held.split]
        texts = [text for family in families for text in family["texts"]]
        scores = self.system.score(texts)
        at, harmless, found = 0, [], {}
        for family in families:
            part = slice(at, at := at + len(family["texts"]))
            over = {a: z[part] for a, z in scores.over.items()} | {"any": scores.over_any()[part]}
            expected = {a: side for a, side in family["expect"].items() if a in over}
            if not expected:
                continue
            right = np.all([over[a] == (side == "above") for a, side in expected.items()], axis=0)
            self.out.behaviours[family["id"]] = (family["behaviour"], int(right.sum()), len(right))
            if "above" not in family["expect"].values():
                harmless.append(~right)
            for a, side in expected.items():
                if side == "above":
                    found.setdefault(a, []).append(over[a])
        if harmless:
            wrong = np.concatenate(harmless)
            self.add("behaviours: harmless texts flagged", lambda w: metrics.mean(wrong, w), len(wrong))
        for a, name in (("toxicity", "toxic texts"), ("threat", "threats"), ("insult", "insults"), ("identity_attack", "hate"), ("profanity", "profanity"), ("sexually_explicit", "sexual content")):
            if a in found:
                hits = np.concatenate(found[a])
                self.add(f"behaviours: {name} found", lambda w: metrics.mean(hits, w), len(hits))

    def hidden(self, sizes: tuple[int, ...] = prose.SIZES):
        """Short toxic and clean texts in harmless prose: the recall at the precision of the texts alone, as a share of
        their recall; and what is found and flagged at the default threshold of toxicity. Precision is that at the
        threshold of the disguise figures, for the same reason: see there."""
        rng = self.held.rng("hidden")
        texts, y = self.held.short(HIDDEN_TEXTS)
        if not 0 < y.sum() < len(y):
            return
        padded = prose.hide(texts, self.held.folder, sizes, rng)
        scores = self.system.score(texts + [h.text for h in padded])
        plain, *after = scores.columns["toxicity"].reshape(1 + len(sizes), len(texts))
        over = scores.over["toxicity"].reshape(1 + len(sizes), len(texts))
        at = float(np.quantile(plain[y == 0], 1 - CLEAN_FLAGGED, method="lower")) if scores.graded else 0.5

        def kept(z):
            return lambda w: metrics.recall_at_precision(y, z, metrics.precision_at(y, plain, at, w), w) / metrics.recall_at(y, plain, at, w)

        parts = {size: kept(z) for size, z in zip(sizes, after)}
        self.add("hidden abuse: recall kept, mean of sizes", lambda w: metrics.mean_of([part(w) for part in parts.values()]), len(y))
        for size, flagged in zip(sizes, over[1:]):
            self.add(f"hidden abuse: recall kept in {size / 1000:g} kB", parts[size], len(y))
            self.add(f"hidden abuse: found in {size / 1000:g} kB at the default threshold", lambda w, flagged=flagged: metrics.mean(flagged, w * y), len(y), note=f"{metrics.mean(over[0], y):.4f} alone")
            self.add(f"hidden abuse: clean texts flagged in {size / 1000:g} kB", lambda w, flagged=flagged: metrics.mean(flagged, w * (1 - y)), len(y), note=f"{metrics.mean(over[0], 1 - y):.4f} alone")

    def prose(self):
        """Harmless prose on its own, at the default thresholds of all attributes."""
        found = prose.sources(self.held.folder)
        for size in (200, 1000, 10000):
            rng = self.held.rng(f"prose {size}")
            texts = [" ".join(prose.stretch(found[name], size, rng)) for name in rng.choice(list(found), PROSE_TEXTS)]
            over = self.system.score(texts).over_any()
            self.add(f"harmless prose of {size / 1000:g} kB: flagged by any attribute", lambda w, over=over: metrics.mean(over, w), len(texts))

    def dialect(self):
        """Tweets that Perspective finds clean, by dialect. The file has only dev rows, and nothing was trained on them."""
        rows = [row for row in self.held.rows("dialect_tweets", split="any") if row.labels[0] < CLEAN]
        if not rows:
            return
        dialects = {raw["text"]: raw["dialect"] for raw in data.read_file(self.held.folder / "dialect_tweets.jsonl.gz")}
        theirs = np.array([dialects[row.text] == "AA" for row in rows])
        over = self.system.score([row.text for row in rows]).over_any()
        for name, of in (("African-American English", theirs), ("other tweets", ~theirs)):
            self.add(f"dialect: clean tweets flagged, {name}", lambda w, of=of: metrics.mean(over, w * of), len(rows))
        self.add("dialect: false alarms on African-American English, times those on other tweets", lambda w: metrics.mean(over, w * theirs) / metrics.mean(over, w * ~theirs), len(rows))

    def dialect_pairs(self):
        """The same statements in a dialect and in standard English, at the default thresholds of all attributes."""
        pairs = data.read_dialects()
        over = self.system.score([pair[side] for side in ("dialect", "standard") for pair in pairs]).over_any().reshape(2, len(pairs))
        harmful = np.array([pair["kind"] == "harmful" for pair in pairs])
        for of, what in ((~harmful, "harmless texts flagged"), (harmful, "harmful texts found")):
            for flagged, side in zip(over, ("in dialect", "in standard English")):
                self.add(f"dialect pairs: {what} {side}", lambda w, flagged=flagged: metrics.mean(flagged[of], w), int(of.sum()))

    def fairness(self):
        generated = identities.sentences(SENTENCES, self.held.seed)
        scores = self.system.score([text for texts in generated.values() for text in texts]).columns["toxicity"]
        flagged = dict(zip(generated, scores.reshape(-1, SENTENCES) >= 0.5))
        self.out.terms = {name: float(f.mean()) for name, f in flagged.items()}
        worst = max(self.out.terms, key=self.out.terms.get)
        self.add("identity terms: false positive rate at 0.5, worst term", lambda w: metrics.mean(flagged[worst], w), SENTENCES, note=worst)
        every = np.stack(list(flagged.values())).mean(0)
        self.add("identity terms: false positive rate at 0.5, mean of terms", lambda w: metrics.mean(every, w), SENTENCES, note=f"{len(flagged)} terms")
        over = sum(rate > 0.05 for rate in self.out.terms.values())
        self.out.figures["identity terms: terms above 5 %"] = Figure(over, len(flagged))

        rows = self.held.rows("madlibs")
        if not rows:
            return
        y, z = stacked_labels(rows)[:, 0] >= 0.5, self.scores(rows).columns["toxicity"]
        words = [f" {data.key(row.text)} " for row in rows]
        groups = [np.array([f" {term} " in text for text in words]) for term in MADLIBS_TERMS]
        # A term without both clean and toxic rows has no AUC.
        groups = [g for g in groups if (g & y).any() and (g & ~y).any() and (~g).any()]
        if groups:
            for part in metrics.bias(y, z, groups, np.ones(len(rows))):
                self.add(f"madlibs bias: {part}", lambda w, part=part: metrics.bias(y, z, groups, w)[part], len(rows), note=f"{len(groups)} terms")

    def contrasts(self):
        """Words that decide nothing on their own, see grammars.py. Uses its dev templates on either split."""
        kinds = [k for k in grammars.KINDS if grammars.templates_of(k, "dev") and abs(k.labels["toxicity"] - 0.5) >= UNDECIDED]
        made = {k.name: grammars.rows_of(k, "dev", SENTENCES, self.held.rng(k.name), set()) for k in kinds}
        scores = iter(self.system.score([row.text for rows in made.values() for row in rows]).columns["toxicity"])
        for k in kinds:
            toxic = k.labels["toxicity"] >= 0.5
            wrong = sum((next(scores) >= 0.5) != toxic for _ in made[k.name])
            self.out.contrasts[k.name] = (k.labels["toxicity"], int(wrong), len(made[k.name]))

    def disguise(self):
        texts, y = self.held.disguised()
        if not 0 < y.sum() < len(y):
            return
        kinds = {kind: disguises.rewrite_all(kind, texts, self.held.seed) for kind in disguises.KINDS}
        scores = self.system.score([text for text, _ in texts] + [text for rewritten in kinds.values() for text in rewritten])
        plain, *after = scores.columns["toxicity"].reshape(1 + len(kinds), len(texts))

        # At 0.5 a good model flags no clean text: precision would then depend on the single clean text
        # with the highest score, and "times as often" would have nothing to compare with.
        at = float(np.quantile(plain[y == 0], 1 - CLEAN_FLAGGED, method="lower")) if scores.graded else 0.5

        def kept(z):
            """Binary scores have only one threshold, so their precision cannot be set."""
            if not scores.graded:
                return lambda w: metrics.recall_at(y, z, at, w) / metrics.recall_at(y, plain, at, w)
            return lambda w: metrics.recall_at_precision(y, z, metrics.precision_at(y, plain, at, w), w) / metrics.recall_at(y, plain, at, w)

        def times(z):
            return lambda w: metrics.mean(z >= at, w * (1 - y)) / metrics.mean(plain >= at, w * (1 - y))

        recalls, ratios = {k: kept(z) for k, z in zip(kinds, after)}, {k: times(z) for k, z in zip(kinds, after)}
        ones = np.ones(len(y))
        if not metrics.recall_at(y, plain, at, ones):
            return
        any_flagged = bool((plain[y == 0] >= at).any())
        for kind in kinds:
            self.out.kinds[kind] = float(recalls[kind](ones)), float(ratios[kind](ones)) if any_flagged else None
        self.summary("disguise: recall kept", recalls, min, len(y), "" if scores.graded else "at its only threshold")
        if any_flagged:
            note = f"{int((plain[y == 0] >= at).sum())} of {int((1 - y).sum())} flagged as written"
            self.summary("disguise: clean texts flagged, times as often", ratios, max, int((1 - y).sum()), note, weights=len(y))

    def summary(self, name: str, parts: dict, worse, n: int, note: str, weights: int | None = None):
        ones = np.ones(weights or n)
        worst = worse(parts, key=lambda kind: parts[kind](ones))
        for title, statistic, more in (
            ("mean of kinds", lambda w: metrics.mean_of([part(w) for part in parts.values()]), note),
            ("worst kind", parts[worst], "; ".join(filter(None, (worst, note)))),
        ):
            with np.errstate(divide="ignore", invalid="ignore"):
                self.add(f"{name}, {title}", statistic, weights or n, note=more)
            if figure := self.out.figures.get(f"{name}, {title}"):
                figure.n = n


def cross_fitted(p: np.ndarray, y: np.ndarray, first: np.ndarray) -> np.ndarray:
    """p recalibrated: each part by a fit on the other."""
    p = np.clip(p, 1e-6, 1 - 1e-6)
    z, out = np.log(p / (1 - p)), np.empty_like(p)
    for part in (first, ~first):
        knots = calibrate.fit_knots(z[~part], y[~part], np.ones((~part).sum()))
        out[part] = folders.sigmoid(folders.apply_knots(knots, z[part]))
    return out


def size(folder: Path) -> Figure:
    """The size of a folder's CPU files, in 10⁶ bytes."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    variant = next(v for v in manifest["variants"] if v["provider"] == "cpu")
    return Figure(sum((folder / name).stat().st_size for name in (*folders.files(variant), manifest["tokenizer"])) / 1e6, 1)


def measure(system, held: Held) -> Measured:
    m = Measurement(system, held)
    for step in (m.ordinary, m.agreement, m.wikipedia, m.spans, m.calibration, m.hate, m.without_a_span, m.clean, m.behaviours, m.hidden, m.prose, m.fairness, m.dialect, m.dialect_pairs, m.contrasts, m.disguise):
        step()
    return m.out


def against(folder: Path, file: Path, held: Held) -> dict[str, Figure]:
    """The loss of the folder's CPU file against another file with the same weights, row by row: from
    the logits, which the product does not show, one text per run on either side."""
    ours, other = folders.Model(folder), folders.Model(folder, file)
    out: dict[str, Figure] = {}

    def add(name: str, statistic, n: int):
        value = float(statistic(np.ones(n)))
        if not np.isnan(value):
            out[name] = Figure(value, n, *metrics.interval(statistic, (n,), held.rng(name)))

    for source in ("jigsaw", "perspective_rtp"):
        rows = held.rows(source)
        if not rows:
            continue
        a, b = (model.highest(model.run_all([row.text for row in rows])) for model in (ours, other))
        for i, attribute in enumerate(data.ATTRIBUTES):
            y = stacked_labels(rows)[:, i]
            k = ~np.isnan(y)
            if k.any():
                add(f"{source}: AUC {attribute} lost", lambda w: metrics.auc(y[k] >= 0.5, b[k, i], w) - metrics.auc(y[k] >= 0.5, a[k, i], w), int(k.sum()))
    if rows := held.rows("toxic_spans_train", "toxic_spans_trial"):
        spec = ours.manifest["spans"]
        scores = [calibrate.span_scores(rows, m.run_all([row.text for row in rows]), spec["threshold"], spec.get("relative", 0)) for m in (ours, other)]
        add("toxic spans: span F1 lost", lambda w: metrics.mean(scores[1] - scores[0], w), len(rows))
    return out

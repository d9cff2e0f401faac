"""Tests of evaluate.py's parts: figures computed by hand, disguises, sentences, systems, the table."""

import dataclasses
import json
import re
import unicodedata
from pathlib import Path

import better_profanity
import numpy as np
import pytest

import calibrate
import card
import data
import disguises
import evaluate
import grammars
import identities
import measures
import metrics
import natural
import prose
import systems
import thresholds

SAMPLE = Path(__file__).parent / "testdata"


class Keyword:
    """A system that knows one word, graded or not."""

    name = "keyword"

    def __init__(self, word: str = "stupid", graded: bool = True):
        self.word, self.graded = word, graded

    def score(self, texts: list[str]) -> systems.Scores:
        found = np.array([float(self.word in text.lower()) for text in texts])
        return systems.Scores({"toxicity": 0.1 + 0.8 * found if self.graded else found}, graded=self.graded)


def ones(*values) -> np.ndarray:
    return np.ones(len(values))


# Figures

def test_auc_counts_pairs_in_order_and_ties_as_half():
    y, z = np.array([0, 0, 1, 1]), np.array([0.1, 0.5, 0.5, 0.9])
    assert metrics.auc(y, z, ones(*y)) == pytest.approx(3.5 / 4)
    assert metrics.auc(y, z, np.array([1, 0, 1, 1])) == 1, "a row of weight 0 does not count"
    assert metrics.auc(y, z, np.array([1, 3, 1, 1])) == pytest.approx((2 + 1.5 + 3) / 8), "a row of weight 3 counts three times"
    assert np.isnan(metrics.auc(np.ones(4), z, ones(*y))), "one class has no AUC"


def test_spearman_is_that_of_the_rows_as_often_as_they_weigh():
    from scipy.stats import spearmanr

    x, y, w = np.array([1.0, 2, 2, 3, 9]), np.array([2.0, 1, 5, 4, 8]), np.array([1, 2, 1, 3, 1])
    want = spearmanr(np.repeat(x, w), np.repeat(y, w)).statistic
    assert metrics.spearman(x, y, w.astype(float)) == pytest.approx(want)
    assert metrics.spearman(x, x**3, ones(*x)) == pytest.approx(1)


def test_calibration_error_is_the_mean_gap_of_the_bins():
    p, y = np.array([0.1, 0.1, 0.8, 0.8]), np.array([0, 0, 1, 0.0])
    assert metrics.calibration_error(p, y, ones(*p), bins=2) == pytest.approx((0.1 + 0.3) / 2)
    assert metrics.calibration_error(p, y, np.array([2, 2, 1, 1.0]), bins=1) == pytest.approx((0.1 * 4 + 0.3 * 2) / 6)


@pytest.mark.parametrize(("shift", "low", "high"), [(0, -0.004, 0.004), (0.1, 0.07, 0.1)])
def test_a_perfect_predictor_exceeds_itself_by_nothing(shift, low, high):
    """Over 40 sets of 600 rows with four raters each. A predictor that is off by 0.1 exceeds it by that,
    less a perfect predictor's noise: next to a gap in one direction, noise cancels out."""
    rng, excess = np.random.default_rng(7), []
    for _ in range(40):
        p = rng.uniform(0.2, 0.8, 600)
        raters = np.full(600, 4)
        y = rng.binomial(raters, p + shift) / raters
        excess.append(metrics.excess_error(p, y, metrics.perfect_outcomes(p, raters, rng), np.ones(600)))
    assert low < np.mean(excess) < high


def test_recall_at_precision_takes_the_lowest_threshold_that_is_precise_enough():
    y, z = np.array([1, 1, 0, 1, 0, 0]), np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.1])
    assert metrics.recall_at_precision(y, z, 1.0, ones(*y)) == pytest.approx(2 / 3)
    assert metrics.recall_at_precision(y, z, 0.75, ones(*y)) == 1
    assert metrics.recall_at_precision(y, -z, 0.9, ones(*y)) == 0, "no threshold is precise enough"


def test_bias_by_hand():
    """The toxic row outside the subgroup scores below the subgroup's clean row: BPSN is 0."""
    y, z = np.array([0, 1, 0, 1]), np.array([0.6, 0.9, 0.1, 0.5])
    got = metrics.bias(y, z, [np.array([True, True, False, False])], ones(*y))
    assert got["AUC of all rows"] == pytest.approx(3 / 4)
    assert (got["subgroup AUC, power mean"], got["BPSN AUC, power mean"], got["BNSP AUC, power mean"]) == (1, 0, 1)
    assert got["mean of the four"] == pytest.approx(2.75 / 4)
    assert metrics.power_mean(np.array([0.5, 1.0, np.nan])) == pytest.approx(((2**5 + 1) / 2) ** (-1 / 5))


def test_an_interval_holds_the_figure_and_shrinks_with_rows():
    x = np.random.default_rng(1).random(1000)
    few, many = (metrics.interval(lambda w: metrics.mean(x[:n], w), (n,), np.random.default_rng(2)) for n in (100, 1000))
    assert few[0] < x[:100].mean() < few[1] and many[0] < x.mean() < many[1]
    assert many[1] - many[0] < (few[1] - few[0]) / 2


def test_cross_fitting_mends_what_is_off_and_never_sees_the_row_it_calibrates():
    rng = np.random.default_rng(3)
    p = rng.uniform(0.05, 0.95, 4000)
    y = (rng.random(4000) < p**2).astype(float)
    first = np.arange(4000) < 2000
    mended = measures.cross_fitted(p, y, first)
    assert metrics.calibration_error(mended, y, np.ones(4000)) < 0.03 < metrics.calibration_error(p, y, np.ones(4000))
    flipped = measures.cross_fitted(p, np.where(first, 1 - y, y), first)
    assert np.array_equal(flipped[first], mended[first])


# Disguises

TEXT = "You are a stupid fool, they said."


def every_word(text: str) -> disguises.Words:
    return [m.span() for m in data.WORD.finditer(text)]


def rewritten(kind: str, text: str = TEXT, seed: int = 5) -> str:
    return disguises.rewrite(kind, text, every_word(text), np.random.default_rng(seed))


def without(text: str, *categories: str) -> str:
    return "".join(c for c in text if unicodedata.category(c) not in categories)


UNDO = {
    "homoglyphs": lambda text: "".join({v: k for k, v in disguises.HOMOGLYPHS.items()}.get(c, c) for c in text),
    "zero-width": lambda text: without(text, "Cf"),
    "combining marks": lambda text: without(text, "Mn"),
    "full-width": lambda text: unicodedata.normalize("NFKC", text),
}


@pytest.mark.parametrize("kind", disguises.KINDS)
def test_every_kind_changes_the_picked_words_and_no_other(kind):
    assert rewritten(kind) != TEXT
    assert disguises.rewrite(kind, TEXT, [], np.random.default_rng(5)) == TEXT
    one = disguises.rewrite(kind, TEXT, [(10, 16)], np.random.default_rng(5))
    assert one.startswith("You are a") and one.endswith("fool, they said.") and "stupid fool" not in one


@pytest.mark.parametrize("kind", UNDO)
def test_what_only_looks_different_is_the_text_again_once_undone(kind):
    assert all(UNDO[kind](rewritten(kind, seed=seed)) == TEXT for seed in range(50))


def test_each_kind_does_what_its_name_says():
    assert "s t u p i d" in rewritten("spaced")
    assert re.search(r"s([.\-_|])t\1u\1p\1i\1d", rewritten("dotted"))
    assert len(rewritten("dropped letters")) == len(TEXT) - len(every_word(TEXT))
    assert re.fullmatch("s.*d", rewritten("dropped letters", "stupid"))
    assert sorted(rewritten("swapped neighbours", "stupid")) == sorted("stupid") and rewritten("swapped neighbours", "stupid")[0] == "s"
    assert re.fullmatch(r"s[tupi*]+d", rewritten("stars", "stupid")) and len(rewritten("stars", "stupid")) == 6
    assert re.sub(r"(.)\1+", r"\1", rewritten("repeated letters", "stupid")) == "stupid"
    assert rewritten("upside-down", "stupid") == "pıdnʇs".replace("ı", "ᴉ")
    assert rewritten("joined words").replace(" ", "") == TEXT.replace(" ", "")
    assert set(rewritten("leet", "stupid")) & set("$571!")


def test_a_text_is_rewritten_alike_beside_any_others():
    alone = disguises.rewrite_all("leet", [(TEXT, every_word(TEXT))], 1)
    assert alone == disguises.rewrite_all("leet", [(TEXT, every_word(TEXT)), ("another text", [(0, 7)])], 1)[:1]


def test_training_shows_none_of_the_kinds_that_count_as_never_shown():
    """data.disguise makes ASCII of ASCII: no homoglyphs, marks, full-width, zero-width or turned letters."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        text, _ = data.disguise(TEXT, rng)
        assert text.isascii()
    assert set(disguises.KINDS) - set(disguises.SHOWN) == {"homoglyphs", "zero-width", "combining marks", "full-width", "upside-down"}


def test_marked_words_are_those_with_a_marked_letter():
    marked = np.zeros(len(TEXT), dtype=bool)
    marked[12:14] = True
    assert disguises.marked_words(TEXT, marked) == [(10, 16)]
    assert set(disguises.any_words(TEXT, 3)) < set(every_word(TEXT))


# Identity terms

def test_every_term_has_the_same_hundred_sentences_and_more():
    found = identities.sentences(measures.SENTENCES, 1)
    assert measures.SENTENCES >= 100 and len(found) >= 50
    assert all(len(set(texts)) == measures.SENTENCES for texts in found.values())
    assert {t.kind for t in identities.TERMS} == {"religion", "nationality", "ethnicity", "gender", "orientation", "disability", "age"}
    deaf, blind = found["deaf"], found["blind"]
    assert [t.replace("deaf", "blind").replace("Deaf", "Blind") for t in deaf] == blind
    assert found == identities.sentences(measures.SENTENCES, 1)


def test_sentences_are_grammatical():
    for term, texts in identities.sentences(100, 4).items():
        for text in texts:
            assert text[0].isupper() and text[-1] in ".?", text
            assert not re.search(r"[{}]|  |\b(\w+) \1\b", text), text
            assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", text, re.I), text
            assert not re.search(r"\b(a|an) \w+s\b (?!from)(?=who|,)", text), f"{term}: {text}"


def test_sentences_are_clean_but_for_the_term():
    """With a neutral term in place of the others."""
    plain = identities.Term("tall", "none", "tall", "tall person", "tall people", "tall")
    for text in identities.sentences(100, 1, terms=(plain,))["tall"]:
        assert not better_profanity.profanity.contains_profanity(text), text


def test_templates_for_training_and_for_measuring_are_disjoint():
    def shape(template: str) -> str:
        return re.sub(r"[{<][^}>]*[}>]", "_", template.lower())

    assert len(set(identities.TEMPLATES)) == len(identities.TEMPLATES)
    assert not {shape(t) for t in identities.TEMPLATES} & {shape(t) for kind in grammars.KINDS for t in kind.templates}


def test_too_few_templates_are_refused():
    with pytest.raises(ValueError, match="give more templates or ask for fewer"):
        identities.sentences(100, 1, ("Many {people} sing.",))


# Systems

def test_the_faster_word_list_answers_as_the_package_does():
    texts = [row.text for row in data.read_source(SAMPLE, "convabuse")][:25] + ["You st0pid shit!", "a sh1t show", "hand_job", "class, assess", ""]
    want = [float(better_profanity.profanity.contains_profanity(text)) for text in texts]
    assert 0 < sum(want) < len(want)
    assert systems.BetterProfanity().score(texts).columns["toxicity"].tolist() == want


def test_alt_profanity_check_gives_probabilities():
    clean, insult = systems.AltProfanityCheck().score(["Thank you for the help.", "You are a stupid idiot."]).columns["toxicity"]
    assert 0 <= clean < 0.5 < insult <= 1


def test_tfidf_learns_what_the_rows_say():
    scores = systems.TfIdf(SAMPLE, 1).score(["You are a wonderful friend", "You are a stupid fool"])
    assert scores.columns["toxicity"][0] < scores.columns["toxicity"][1]
    assert scores.spans is None


def test_a_missing_binary_says_how_to_make_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="make build"):
        systems.Product("model", tmp_path / "toxscreen", tmp_path)


# The table

@pytest.fixture(scope="module")
def measured() -> dict[str, measures.Measured]:
    held = measures.Held(SAMPLE, "dev", None, 1)
    return {"graded": measures.measure(Keyword(), held), "yes or no": measures.measure(Keyword(graded=False), held)}


def row_of(table: str, name: str) -> list[str]:
    return next([c.strip() for c in line.split("|")[1:-1]] for line in table.splitlines() if name in line)


def test_the_table_has_a_row_for_every_goal_and_a_dash_for_what_was_not_measured(measured):
    table = evaluate.main_table({name: m.figures for name, m in measured.items()}, measures.GOALS)
    for name in measures.GOALS:
        row = row_of(table, f"**{name}**")
        assert len(row) == 5 and all(row[2:]), row
    assert row_of(table, "jigsaw: mean AUC")[2:] == ["–", "–", "–"], "the sample has no jigsaw"
    assert row_of(table, "toxic spans: character F1")[3] == "–", "a keyword has no spans"
    graded, yes_or_no = row_of(table, "ECE beyond a perfect")[3:]
    assert re.match(r"0\.\d{4} \[", graded) and yes_or_no == "–", "yes and no are not probabilities"


def test_ordinary_text_counts_as_often_as_its_rows_stand_for():
    texts = {"See you at eight": 0.0, "That idiot": 0.8, "no idiot": 0.1, "you are nothing": 0.9, "so-so idiot": 0.4}
    rows = [data.Row(text, "annotations", "dev", np.full(7, grade), np.full(7, grade)) for text, grade in texts.items()]
    weights = np.array([990, 2, 3, 4, 1.0])
    held = measures.Held(SAMPLE, "dev", None, 1, natural.Sample(rows, [], weights, np.full(len(rows), "tweets")))
    m = measures.Measurement(Keyword("idiot"), held)
    m.ordinary()
    values = {name.removeprefix("ordinary text: "): figure.value for name, figure in m.out.figures.items()}
    assert values["harmless and flagged"] == pytest.approx(0.003)
    assert values["of what readers object to, flagged"] == pytest.approx(2 / 6)
    assert values["of what is flagged, readers object to"] == pytest.approx(2 / 6)


def test_contrasts_count_sentences_on_the_wrong_side(measured):
    contrasts = measured["graded"].contrasts
    toxicity, wrong, of = contrasts["threat"]
    assert toxicity > 0.5 and wrong == of, "a keyword does not detect threats"
    harmless = [contrasts[kind] for kind in ("insult denied", "insult reported", "abuse of things")]
    assert all(toxicity < 0.5 and wrong < of for toxicity, wrong, of in harmless)
    assert sum(wrong for _, wrong, _ in harmless) > 0, "it scores a denial like the insult if it knows the word"
    assert "joy" in contrasts and "swearing at things" not in contrasts, "half of the readers object to it"


def test_behaviours_count_the_texts_on_their_side(measured):
    graded = measured["graded"]
    families = {family["id"]: family for family in measures.read_behaviours() if family["half"] == "dev"}
    what, right, of = graded.behaviours["team-sport"]
    assert (what, of) == (families["team-sport"]["behaviour"], len(families["team-sport"]["texts"])) and right == of
    assert graded.figures["behaviours: harmless texts flagged"].value < 0.1
    assert graded.figures["behaviours: toxic texts found"].value < 0.2, "a keyword finds hardly any"
    assert "behaviours: threats found" not in graded.figures, "a system without the attribute is not measured"


def test_no_behaviour_is_trained():
    texts = {data.key(text) for family in measures.read_behaviours() for text in family["texts"]}
    assert not texts & {data.key(row.text) for row in data.training_rows(SAMPLE)}


def test_prose_hides_a_text_where_it_says():
    rng = np.random.default_rng(1)
    hidden = prose.hide(["A text of its own."] * 30, SAMPLE, (500, 4000), rng)
    for h in hidden:
        before, after = h.text.split("A text of its own.")
        assert h.size < len(before + after) < h.size + 4000
        assert (h.position == "start") == (not before) and (h.position == "end") == (not after)
    assert {h.position for h in hidden} == set(prose.POSITIONS)


def test_the_same_run_gives_the_same_figures(measured):
    assert measures.measure(Keyword(), measures.Held(SAMPLE, "dev", None, 1)) == measured["graded"]


def test_a_keyword_is_blind_to_most_disguises(measured):
    kinds = measured["yes or no"].kinds  # of graded scores, the threshold that one clean text in a hundred exceeds needs more than the sample's eleven
    assert kinds["upside-down"][0] == 0 and kinds["joined words"][0] == 1


def test_rows_caps_a_source_and_draws_the_same_rows_for_all():
    held = measures.Held(SAMPLE, "dev", 10, 1)
    assert len(held.rows("civil_spans")) == 10
    assert [r.text for r in held.rows("civil_spans")] == [r.text for r in measures.Held(SAMPLE, "dev", 10, 1).rows("civil_spans")]
    assert all(row.split == "dev" for row in held.rows("civil_spans"))


def test_the_card_holds_tables_plots_and_what_model_show_prints(measured, tmp_path):
    folder, text = tmp_path / "folder", tmp_path / "card.md"
    folder.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_bytes(b"")
    (folder / "manifest.json").write_text(json.dumps({"tokenizer": "tokenizer.json", "variants": [{"file": "model.onnx"}], "card": {"use": "kept"}}))
    text.write_text("".join(f"before {mark}\n<!-- {mark} -->\nto be replaced\n<!-- /{mark} -->\n" for mark in ("figures", "disguise", "terms", "contrasts", "behaviours")))
    found = json.loads(json.dumps({"split": "dev", "systems": {card.MODEL: dataclasses.asdict(measured["graded"])}}))

    card.write(found, folder, text)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert set(written) == {"card.md", "reliability.svg", "identity-terms.svg", "disguise.svg"}
    assert "to be replaced" not in text.read_text() and "before terms" in text.read_text()
    assert "| **toxic spans: character F1** |" in text.read_text()
    kept = json.loads((folder / "manifest.json").read_text())["card"]
    assert kept["use"] == "kept"
    assert {"measure", "goal", "value", "rows"} <= set(kept["figures"][0])

    card.write(found, folder, text)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == written, "the same figures, the same bytes"

    text.write_text("no marks")
    with pytest.raises(ValueError, match="put these two lines where the table belongs"):
        card.write(found, folder, text)


def test_goals_are_told_from_the_figures():
    figure = measures.Figure(0.9, 10, 0.8, 0.95)
    assert evaluate.reached(("≥", 0.9), figure) and not evaluate.reached(("≤", 0.5), figure)
    assert evaluate.reached(("∋", 0.85), figure) and not evaluate.reached(("∋", 0), figure)
    assert evaluate.reached(("≥", 0.9), None) is None
    assert evaluate.cell("a", None) == "–" and evaluate.cell("a", figure) == "0.9000 [0.8000, 0.9500]"


def test_character_f1_is_that_of_the_shared_task():
    assert calibrate.character_f1(set(range(4)), set(range(2, 6))) == 0.5


def test_thresholds_flag_the_share_and_rare_attributes_have_lower_ones():
    rng = np.random.default_rng(1)
    odds = rng.normal(size=(20000, 7)) - np.array([2, 6, 3, 4, 5, 6, 5])
    weights = rng.uniform(0.5, 1.5, 20000)
    weights *= 0.98 / weights.sum()  # 2 % of the texts are not harmless
    points = {share: thresholds.choose(odds, weights, share) for share in (0.001, 0.003, 0.015)}
    for share, at in points.items():
        assert thresholds.flagged_share(odds, weights, at) == pytest.approx(share, rel=0.1)
        assert at[0] > at[2] > at[5], "toxicity, insult, threat"
    assert (points[0.001] > points[0.003]).all() and (points[0.003] > points[0.015]).all()


def test_of_span_thresholds_with_nearly_the_same_f1_the_highest_is_chosen():
    assert calibrate.best_pair({(0.03, 0.5): 0.6, (0.06, 0.5): 0.598, (0.06, 0.6): 0.599, (0.09, 0.5): 0.585}) == (0.06, 0.6)

"""Detoxify's interface: its shape and names, and toxscreen's scores."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

from toxscreen import Detoxify, Screener, ToxscreenError

TEXTS = ["you idiot", "thank you, that was a great help", ""]

# As in the configurations that Detoxify's models were trained with, after its "standardise class names".
ORIGINAL = ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack"]
UNBIASED = ["toxicity", "severe_toxicity", "obscene", "identity_attack", "insult", "threat", "sexual_explicit"]


@pytest.fixture(scope="module")
def screener() -> Iterator[Screener]:
    with Screener(full=True, no_judge=True) as screener:
        yield screener


@pytest.mark.parametrize(("model_type", "names"), [("original", ORIGINAL), ("original-small", ORIGINAL), ("unbiased", UNBIASED), ("unbiased-small", UNBIASED)])
def test_a_model_has_the_names_of_detoxifys(model_type: str, names: list[str], screener: Screener) -> None:
    model = Detoxify(model_type, screener=screener)
    prediction = model.predict("you idiot")
    assert list(prediction) == model.class_names == names
    assert all(type(score) is float for score in prediction.values())
    assert prediction["toxicity"] > 0.5 > prediction["threat"]


def test_scores_are_those_of_the_whole_network(screener: Screener) -> None:
    """Without that, harmless texts would have estimates that do not rank. Two names differ."""
    model = Detoxify("unbiased")
    predictions = model.predict(TEXTS)
    for index, result in enumerate(screener.score_many(TEXTS)):
        assert result.exit is None
        scores = {name: attribute.score for name, attribute in result.attributes.items()}
        scores["obscene"], scores["sexual_explicit"] = scores.pop("profanity"), scores.pop("sexually_explicit")
        assert {name: values[index] for name, values in predictions.items()} == pytest.approx(scores, abs=1e-4)


def test_a_list_gives_lists_even_of_one_or_none(screener: Screener) -> None:
    model = Detoxify(screener=screener)
    alone = model.predict(TEXTS[0])
    assert model.predict([TEXTS[0]]) == {name: [score] for name, score in alone.items()}
    assert model.predict([]) == {name: [] for name in ORIGINAL}
    assert model.predict(text for text in TEXTS) == model.predict(pd.Series(TEXTS)) == model.predict(TEXTS)


def test_what_detoxifys_readme_does_with_pandas_works(screener: Screener) -> None:
    model = Detoxify("original", screener=screener)
    table = pd.DataFrame(model.predict(TEXTS), index=TEXTS).round(5)
    assert list(table.columns) == ORIGINAL
    assert table["toxicity"].idxmax() == "you idiot"
    assert len(pd.DataFrame(model.predict("you idiot"), index=["you idiot"])) == 1


@pytest.mark.parametrize(
    ("bad", "why"),
    [(None, "the text is missing"), (float("nan"), "the text is missing"), (("id", "text"), "the text is not a str but tuple")],
)
def test_a_bad_text_is_an_error_with_its_index(bad: str, why: str, screener: Screener) -> None:
    model = Detoxify(screener=screener)
    with pytest.raises(ToxscreenError, match=f"^failed to score text 1: {why}$"):
        model.predict(["you idiot", bad, "thank you"])
    assert model.predict("you idiot")["toxicity"] > 0.5


def test_what_would_be_scored_as_other_texts_is_a_type_error(screener: Screener) -> None:
    """The names of the columns, the keys of a dict and the bytes of a text are iterable, too."""
    model = Detoxify(screener=screener)
    with pytest.raises(TypeError, match=r"^predict takes one column of a DataFrame: call predict\(df\[NAME\]\) with one of 'comment'$"):
        model.predict(pd.DataFrame({"comment": TEXTS}))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"call predict\(d.values\(\)\)"):
        model.predict({"id": "you idiot"})
    with pytest.raises(TypeError, match=r"call predict\(data.decode\(\)\)"):
        model.predict(b"you idiot")  # type: ignore[arg-type]


def test_texts_in_unknown_languages_get_a_warning(screener: Screener) -> None:
    model = Detoxify(screener=screener)
    with pytest.warns(UserWarning, match="^1 of 2 texts seem to be in an unknown language, first text 1: their scores mean little$") as warned:
        model.predict(["Das Wetter ist heute schön.", "Tänään on todella kaunis ilma ja lähdemme kävelylle puistoon."])
    assert warned[0].filename == __file__


def test_the_multilingual_model_has_the_attributes_of_unbiased(screener: Screener) -> None:
    texts = ["Du bist so ein dummes Arschloch, halt die Fresse.", "Hoje o tempo está bonito e vamos ao parque."]
    predicted = Detoxify("multilingual", screener=screener).predict(texts)
    assert predicted == Detoxify("unbiased", screener=screener).predict(texts)
    assert predicted["insult"][0] > 0.5 > predicted["insult"][1]


def test_what_toxscreen_cannot_do_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="^failed to open the model 'biased': it must be one of original, "):
        Detoxify("biased")
    with pytest.raises(ValueError, match="^failed to open the model on cuda: .*TOXSCREEN_PROVIDER=cuda"):
        Detoxify("original", device="cuda")

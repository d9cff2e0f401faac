"""Series in, DataFrames out."""

from __future__ import annotations

import math

import pandas as pd
import polars as pl
import pytest

from toxscreen import Screener

COLUMNS = [
    "score",
    "flagged",
    "severity",
    "toxicity",
    "severe_toxicity",
    "insult",
    "profanity",
    "identity_attack",
    "threat",
    "sexually_explicit",
    "not_decided",
    "error",
]


@pytest.mark.parametrize("dtype", ["object", "string"])
def test_pandas_keeps_the_index(screener: Screener, dtype: str) -> None:
    comments = pd.DataFrame({"comment": pd.Series(["you idiot", None, "thanks"], index=[7, 3, 3], dtype=dtype)})
    scored = screener.score_series(comments["comment"])
    assert list(scored.columns) == COLUMNS
    assert list(scored.index) == [7, 3, 3]
    assert scored["flagged"].dtype == "boolean"
    assert scored["flagged"].isna().tolist() == [False, True, False]
    assert scored["flagged"].iloc[0]
    assert scored["score"].dtype == "float64"
    assert math.isnan(scored["score"].iloc[1])
    assert scored["error"].iloc[1] == "the text is missing"
    assert len(pd.concat([comments, scored], axis=1)) == 3


def test_polars(screener: Screener) -> None:
    comments = pl.DataFrame({"comment": ["you idiot", None, "thanks"]})
    scored = screener.score_series(comments["comment"])
    assert scored.columns == COLUMNS
    assert scored["flagged"].to_list() == [True, None, False]
    assert scored["insult"].to_list()[1] is None
    assert scored["error"].to_list() == [None, "the text is missing", None]
    assert pl.concat([comments, scored], how="horizontal").height == 3


def test_empty_series_have_the_same_columns(screener: Screener) -> None:
    assert screener.score_series(pd.Series([], dtype="object")).dtypes["score"] == "float64"
    assert screener.score_series(pl.Series([], dtype=pl.String)).schema["flagged"] == pl.Boolean


def test_other_values_are_refused(screener: Screener) -> None:
    with pytest.raises(TypeError, match="takes a Series of pandas or polars, not list"):
        screener.score_series(["thanks"])  # type: ignore[call-overload]

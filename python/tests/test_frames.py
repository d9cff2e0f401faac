"""Arrays of numpy, Series and DataFrames of pandas and polars in, and DataFrames out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
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
    "spans",
    "entities",
    "not_decided",
    "error",
    "exit",
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


def test_other_values_are_refused_with_the_right_call(screener: Screener) -> None:
    with pytest.raises(TypeError, match="^score_series takes a Series of pandas or polars, not list: call score_many"):
        screener.score_series(["thanks"])  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"not DataFrame: call score_series\(df\[NAME\]\) for a column$"):
        screener.score_series(pd.DataFrame({"comment": ["thanks"]}))  # type: ignore[call-overload]


TEXT = "You idiot, write to jim@example.com."


def test_spans_entities_and_exits_are_columns_of_pandas(tmp_path: Path) -> None:
    with Screener(pii=True) as screener:
        scored = screener.score_series(pd.Series([TEXT, "thanks", None], index=[7, 8, 9]))
    [span] = scored["spans"][7]
    assert TEXT[span["start"] : span["end"]] == "idiot"
    assert span["attributes"]["insult"] > 0.3
    [entity] = scored["entities"][7]
    assert (entity["type"], TEXT[entity["start"] : entity["end"]]) == ("EMAIL_ADDRESS", "jim@example.com")
    assert list(scored["spans"])[1:] == [[], None]
    assert list(scored["entities"])[1:] == [[], None]
    assert scored["exit"].dtype == "Int64"
    assert scored["exit"].isna().tolist() == [True, False, True], "a harmless text leaves the network early: its scores are estimates"
    scored.to_parquet(tmp_path / "scored.parquet")
    assert list(pd.read_parquet(tmp_path / "scored.parquet").columns) == COLUMNS


def test_spans_entities_and_exits_are_columns_of_polars(tmp_path: Path) -> None:
    with Screener(pii=True) as screener:
        scored = screener.score_series(pl.Series([TEXT, "thanks", None]))
    [span] = scored["spans"][0].to_list()
    assert TEXT[span["start"] : span["end"]] == "idiot"
    assert span["attributes"]["insult"] > 0.3
    [entity] = scored["entities"][0].to_list()
    assert (entity["type"], TEXT[entity["start"] : entity["end"]]) == ("EMAIL_ADDRESS", "jim@example.com")
    assert scored["spans"].to_list()[1:] == [[], None]
    assert scored["exit"].is_null().to_list() == [True, False, True]
    scored.write_parquet(tmp_path / "scored.parquet")
    assert pl.read_parquet(tmp_path / "scored.parquet").equals(scored)


def test_the_whole_network_ranks_harmless_texts() -> None:
    with Screener(full=True) as screener:
        scored = screener.score_series(pd.Series(["thanks", "hello"]))
    assert scored["exit"].isna().all()
    assert scored["entities"].isna().all(), "personal data was not looked for"


@pytest.mark.parametrize("dtype", [object, str, np.dtypes.StringDType()])
def test_arrays_of_numpy(screener: Screener, dtype: object) -> None:
    """Results have a plain str: an item of an array needs numpy where it is unpickled."""
    results = list(screener.score_many(np.array(["you idiot", "thanks"], dtype=dtype)))  # type: ignore[call-overload]
    assert [result.flagged for result in results] == [True, False]
    assert [type(result.text) for result in results] == [str, str]


def test_an_array_has_one_dimension(screener: Screener) -> None:
    texts = np.array([["1", "you idiot"], ["2", "thanks"]])
    with pytest.raises(TypeError, match=r"^score_many takes an array with 1 dimension, not with 2: call score_many\(texts.ravel\(\)\), or "):
        screener.score_many(texts)
    with pytest.raises(TypeError, match="not with 0"):
        screener.score_many(np.array("you idiot"))
    assert [result.flagged for result in screener.score_many(texts[:, 1])] == [True, False]
    assert [result.id for result in screener.score_many(zip(texts[:, 0], texts[:, 1], strict=True))] == ["1", "2"]


DATA = {"id": [1, 2, 3], "comment": ["you idiot", None, "thanks"]}


@pytest.mark.parametrize("df", [pd.DataFrame(DATA), pl.DataFrame(DATA)], ids=["pandas", "polars"])
def test_a_dataframe_needs_its_column(screener: Screener, df: pd.DataFrame | pl.DataFrame) -> None:
    """Without it, the names of the columns would be scored."""
    results = list(screener.score_many(df, column="comment"))
    assert [result.flagged for result in results] == [True, None, False]
    assert results[1].error == "the text is missing"
    with pytest.raises(TypeError, match=r"^score_many takes one column of a DataFrame: call score_many\(df, column=NAME\) with one of 'id', 'comment'$"):
        screener.score_many(df)
    with pytest.raises(ValueError, match="^the DataFrame has 0 columns 'text'; there are: 'id', 'comment'$"):
        screener.score_many(df, column="text")
    with pytest.raises(TypeError, match=r"^score takes one str, not DataFrame: call score_many\(df, column=NAME\) for a column$"):
        screener.score(df)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("library", "right"), [("pyspark.sql.classic.dataframe", r"toxscreen.spark.score\(df, text=NAME\)"), ("dask.dataframe", r"score_many\(df\[NAME\]\)")]
)
def test_dataframes_of_other_libraries_are_refused(screener: Screener, library: str, right: str) -> None:
    """Their items are the names of their columns, as those of pandas are. The libraries are large: a class stands for theirs."""
    df = type("DataFrame", (), {"__module__": library, "__iter__": lambda self: iter(["id", "comment"])})()
    with pytest.raises(TypeError, match=f"^score_many takes DataFrames of pandas and polars, not of {library.partition('.')[0]}: call {right}"):
        screener.score_many(df)


def test_a_column_is_there_once_and_in_a_dataframe(screener: Screener) -> None:
    with pytest.raises(ValueError, match="^the DataFrame has 2 columns 'comment'"):
        screener.score_many(pd.DataFrame([["a", "b"]], columns=["comment", "comment"]), column="comment")
    with pytest.raises(TypeError, match="^score_many takes column= with a DataFrame of pandas or polars, not with list$"):
        screener.score_many(["thanks"], column="comment")


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_missing_values_are_missing_texts(screener: Screener, missing: object) -> None:
    """Whatever stands for a missing value in pandas, wherever it is found."""
    values = ["you idiot", missing]
    for rows in (values, np.array(values, dtype=object), pd.Series(values, dtype=object), [(1, "you idiot"), (2, missing)]):
        assert [result.error for result in screener.score_many(rows)] == [None, "the text is missing"]
    assert screener.score_series(pd.Series(values, dtype=object))["error"].tolist() == [pd.NA, "the text is missing"]

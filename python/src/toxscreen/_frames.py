"""Series of pandas and polars in, their DataFrames out. Neither is imported: a Series brings its own."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from toxscreen._results import ATTRIBUTES, Result, plain
from toxscreen._rows import is_instance


def series(texts: Any) -> Any:
    """Returns a Series as it is. Raises TypeError with the right call for everything else."""
    if is_instance(texts, "pandas", "Series") or is_instance(texts, "polars", "Series"):
        return texts
    kind = type(texts).__name__
    hint = "call score_series(df[NAME]) for a column" if kind == "DataFrame" else "call score_many for results without a DataFrame"
    raise TypeError(f"score_series takes a Series of pandas or polars, not {kind}: {hint}")


def frame(texts: Any, results: Iterable[Result]) -> Any:
    """Returns the results of a Series as a DataFrame of its library."""
    columns: dict[str, list[Any]] = {name: [] for name in (*_BEFORE, *ATTRIBUTES, *_AFTER)}
    for result in results:
        for name in (*_BEFORE, *_AFTER):
            columns[name].append(plain(getattr(result, name)))
        for name in ATTRIBUTES:
            attribute = result.attributes.get(name)
            columns[name].append(None if attribute is None else attribute.score)
    if is_instance(texts, "polars", "Series"):
        return _polars(columns)
    return _pandas(columns, texts.index)


# As in the outputs of `batch`.
_BEFORE = ("score", "flagged", "severity")
_AFTER = ("spans", "entities", "not_decided", "error", "exit")


def _pandas(columns: dict[str, list[Any]], index: Any) -> Any:
    pandas = sys.modules["pandas"]
    types = (
        {"flagged": "boolean", "exit": "Int64"} | dict.fromkeys(("severity", "not_decided", "error"), "string") | dict.fromkeys(("spans", "entities"), "object")
    )
    return pandas.DataFrame({name: pandas.Series(values, index=index, dtype=types.get(name, "float64")) for name, values in columns.items()})


def _polars(columns: dict[str, list[Any]]) -> Any:
    polars = sys.modules["polars"]
    place = {"start": polars.Int64, "end": polars.Int64}
    span = polars.Struct(place | {"attributes": polars.Struct(dict.fromkeys(ATTRIBUTES, polars.Float64))})
    entity = polars.Struct({"type": polars.String} | place | {"score": polars.Float64, "why": polars.List(polars.String)})
    types = {"flagged": polars.Boolean, "exit": polars.Int64, "spans": polars.List(span), "entities": polars.List(entity)}
    types |= dict.fromkeys(("severity", "not_decided", "error"), polars.String)
    return polars.DataFrame(columns, schema={name: types.get(name, polars.Float64) for name in columns})

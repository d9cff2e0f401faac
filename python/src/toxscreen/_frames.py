"""Series of pandas and polars in, their DataFrames out. Neither is imported: a Series brings its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from toxscreen._results import ATTRIBUTES, Result


def frame(texts: Any, score_many: Callable[[Iterable[Any]], Iterator[Result]]) -> Any:
    """Returns the results of a Series as a DataFrame."""
    library = type(texts).__module__.partition(".")[0]
    if library not in ("pandas", "polars") or type(texts).__name__ != "Series":
        raise TypeError(f"score_series takes a Series of pandas or polars, not {type(texts).__name__}; score_many takes everything else")
    columns: dict[str, list[Any]] = {name: [] for name in ("score", "flagged", "severity", *ATTRIBUTES, "not_decided", "error")}
    given = texts.astype(object).where(texts.notna(), None) if library == "pandas" else texts  # NaN, NA and NaT are missing texts
    for result in score_many((None, text) for text in given):
        for name in ("score", "flagged", "severity", "not_decided", "error"):
            columns[name].append(getattr(result, name))
        for name in ATTRIBUTES:
            attribute = result.attributes.get(name)
            columns[name].append(None if attribute is None else attribute.score)
    module = sys.modules[library]
    if library == "polars":
        types = {"flagged": module.Boolean} | dict.fromkeys(("severity", "not_decided", "error"), module.String)
        return module.DataFrame(columns, schema={name: types.get(name, module.Float64) for name in columns})
    types = {"flagged": "boolean"} | dict.fromkeys(("severity", "not_decided", "error"), "string")
    return module.DataFrame({name: module.Series(values, index=texts.index, dtype=types.get(name, "float64")) for name, values in columns.items()})

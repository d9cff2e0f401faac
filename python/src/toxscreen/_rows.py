"""Rows as callers give them, and as the process reads them."""

from __future__ import annotations

import math
import re
import sys
from collections import deque
from collections.abc import AsyncIterable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import JSONEncoder
from typing import Any

from toxscreen._results import Result, ToxscreenError, parse


def rows_of(given: Any, column: Hashable | None, call: str) -> Iterator[Any]:
    """Returns an iterator over the rows that were given to a method, or over a column of a DataFrame of pandas or polars.

    Raises TypeError with the right call for what would be iterated otherwise than its caller means, and ValueError for a column that the
    DataFrame does not have once.
    """
    if is_instance(given, "pandas", "DataFrame") or is_instance(given, "polars", "DataFrame"):
        return iter(_column(given, column, call))
    kind = type(given).__name__
    if column is not None:
        raise TypeError(f"{call} takes column= with a DataFrame of pandas or polars, not with {kind}")
    single = call.removesuffix("_many")
    if isinstance(given, str):
        raise TypeError(f"{call} takes many texts, not one str: call {single}(text)")
    if isinstance(given, bytes | bytearray):
        raise TypeError(f"{call} takes many texts, not {kind}: call {single}(data.decode())")
    if isinstance(given, Mapping):
        right = f"{call}(d.items()), where the keys are ids" if call.endswith("_many") else f"{call}(d.values())"
        raise TypeError(f"{call} would score the keys of a {kind}: call {right}")
    if is_instance(given, "numpy", "ndarray") and given.ndim != 1:
        raise TypeError(f"{call} takes an array with 1 dimension, not with {given.ndim}: call {call}(texts.ravel()), or {call}(texts[:, 0]) for a column")
    if kind == "DataFrame":  # of another library: its items are the names of its columns
        library = type(given).__module__.partition(".")[0]
        right = "call toxscreen.spark.score(df, text=NAME)" if library == "pyspark" else f"call {call}(df[NAME]) if a column has texts as its items"
        raise TypeError(f"{call} takes DataFrames of pandas and polars, not of {library}: {right}")
    if isinstance(given, AsyncIterable):
        raise TypeError(f"{call} takes an iterable, not an async one: call ascore_many(rows) of a Screener")
    if not isinstance(given, Iterable) and not hasattr(given, "__getitem__"):
        raise TypeError(f"{call} takes an iterable of texts, not {kind}")
    return iter(given)


def _column(frame: Any, column: Hashable | None, call: str) -> Any:
    """Returns a column of a DataFrame."""
    names = list(frame.columns)
    if column is None:
        shown = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
        right = f"{call}(df, column=NAME)" if call.endswith("_many") else f"{call}(df[NAME])"
        raise TypeError(f"{call} takes one column of a DataFrame: call {right} with one of {shown}")
    if names.count(column) != 1:
        raise ValueError(f"the DataFrame has {names.count(column)} columns {column!r}; there are: {', '.join(map(repr, names))}")
    return frame[column]


def text_of(given: Any, call: str) -> str:
    """Returns the one text that was given to a method. Raises TypeError with the right call for everything else."""
    if isinstance(given, str):
        return given
    kind = type(given).__name__
    if isinstance(given, bytes | bytearray):
        hint = f": call {call}(data.decode())"
    elif kind == "DataFrame":
        hint = f": call {call}_many(df, column=NAME) for a column"
    else:
        hint = f": call {call}_many(texts) for many texts" if isinstance(given, Iterable) else ""
    raise TypeError(f"{call} takes one str, not {kind}{hint}")


def is_instance(value: Any, library: str, name: str) -> bool:
    """Reports whether a value is of a class of a library, which need not be installed."""
    return isinstance(value, getattr(sys.modules.get(library), name, ()))


@dataclass(slots=True)
class Row:
    """A row that was read: what the process is asked, or in error why it is not."""

    id: Any
    text: str | None
    line: bytes
    warnings: tuple[str, ...]
    error: str | None

    def result(self, answer: bytes | ToxscreenError) -> Result:
        """Returns the result of the row with its answer, which counts for nothing if the row has an error."""
        if self.error is not None or self.text is None:
            return Result(self.id, self.text, self.error)
        if isinstance(answer, ToxscreenError):
            raise answer
        return parse(answer, self.id, self.text, self.warnings)


def as_row(given: Any) -> Row:
    """Returns a text, or a pair of an id and a text, as a row. None, NaN, and NA and NaT of pandas are missing texts."""
    if isinstance(given, str):
        id, text = None, given
    elif isinstance(given, Sequence) and not isinstance(given, bytes) and len(given) == 2:
        id, text = given
    else:
        id, text = None, given
    if not isinstance(text, str):
        missing = text is None or type(text).__name__ in ("NAType", "NaTType") or (isinstance(text, float) and math.isnan(text))
        return Row(id, None, b"", (), "the text is missing" if missing else f"the text is not a str but {type(text).__name__}")
    text = str.__str__(text)  # a result keeps no array of numpy, and no tree of a parser, alive
    try:
        return Row(id, text, b'{"text":%b}\n' % _encode(text).encode(), (), None)
    except UnicodeEncodeError:
        # Two escaped halves would become one character, and move the offsets.
        whole, halves = _SURROGATE.subn("\ufffd", text)
        return Row(id, text, b'{"text":%b}\n' % _encode(whole).encode(), (f"{halves} surrogates are not characters: they are read as U+FFFD",), None)


_encode = JSONEncoder(ensure_ascii=False).encode
_SURROGATE = re.compile("[\ud800-\udfff]")


class Ahead:
    """The rows of a stream that were read and have no result yet."""

    def __init__(self) -> None:
        self.rows: deque[Row] = deque()
        self._bytes = 0

    def has_room(self) -> bool:
        return len(self.rows) < _MOST_ROWS and self._bytes < _MOST_BYTES

    def is_half_full(self) -> bool:
        return len(self.rows) > _MOST_ROWS // 2 or self._bytes > _MOST_BYTES // 2

    def append(self, row: Row) -> None:
        self.rows.append(row)
        self._bytes += len(row.line)

    def popleft(self) -> Row:
        row = self.rows.popleft()
        self._bytes -= len(row.line)
        return row


# The process itself reads at most 128 rows and 64 for each that is judged at once.
_MOST_ROWS = 512
_MOST_BYTES = 16 << 20

"""Rows as callers give them, and as the process reads them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from json import JSONEncoder
from typing import Any

from toxscreen._results import Result, ToxscreenError, parse


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
    """Returns a text, or a pair of an id and a text, as a row."""
    if isinstance(given, str):
        id, text = None, given
    elif isinstance(given, Sequence) and not isinstance(given, bytes) and len(given) == 2:
        id, text = given
    else:
        id, text = None, given
    if not isinstance(text, str):
        return Row(id, None, b"", (), "the text is missing" if text is None else f"the text is not a str but {type(text).__name__}")
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

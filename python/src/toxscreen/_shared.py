"""score and score_many without a Screener of the caller's own."""

from __future__ import annotations

import threading
from collections.abc import Generator, Hashable, Iterable
from typing import TYPE_CHECKING, Any

from toxscreen import _children
from toxscreen._results import Result
from toxscreen._screener import Screener

if TYPE_CHECKING:
    import pandas
    import polars


def score(text: str) -> Result:
    """Returns the result for one text, by a Screener without arguments.

    The first call opens it, all calls of the program share it, and it ends with the program. If it does not work, the next call
    opens a new one. Open a Screener to choose settings, and for asyncio. Safe for concurrent use, in forked processes too.
    Raises TypeError if the text is not a str, and ToxscreenError if it cannot be scored.
    """
    return _shared.screener().score(text)


def score_many(
    rows: Iterable[Any] | pandas.DataFrame | polars.DataFrame, *, column: Hashable | None = None, progress: bool = False
) -> Generator[Result, None, None]:
    """Yields what Screener.score_many yields, by the Screener that score uses."""
    return _shared.screener().score_many(rows, column=column, progress=progress)


class _Shared:
    """The Screener of this Python process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._screener: Screener | None = None
        _children.register(self)

    def screener(self) -> Screener:
        with self._lock:
            if self._screener is None or self._screener._process.refuses:
                self._screener = Screener()
            return self._screener

    def forked(self) -> None:
        """Makes a new lock in a forked child: another thread of the parent may have held the old one."""
        self._lock = threading.Lock()


_shared = _Shared()

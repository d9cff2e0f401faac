"""progress=True shows a bar on standard error."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator

import pandas as pd
import pytest

import toxscreen
from toxscreen import Screener

TEXTS = ["you idiot", "thanks", "hello"]


def test_the_bar_counts_results_and_knows_how_many_there_will_be(screener: Screener, capsys: pytest.CaptureFixture[str]) -> None:
    results = list(screener.score_many(TEXTS, progress=True))
    assert [result.flagged for result in results] == [True, False, False]
    assert "3/3" in capsys.readouterr().err
    assert len(list(toxscreen.score_many(TEXTS, progress=True))) == 3
    assert "3/3" in capsys.readouterr().err
    assert len(screener.score_series(pd.Series(TEXTS), progress=True)) == 3
    assert "3/3" in capsys.readouterr().err
    assert len(list(screener.score_many(pd.DataFrame({"comment": TEXTS, "id": 1}), column="comment", progress=True))) == 3
    assert "3/3" in capsys.readouterr().err


def test_a_stream_without_a_length_has_a_bar_without_an_end(screener: Screener, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(screener.score_many((text for text in TEXTS), progress=True))) == 3
    assert "3 texts" in capsys.readouterr().err


def test_the_asynchronous_twin_has_it_too(screener: Screener, capsys: pytest.CaptureFixture[str]) -> None:
    async def rows() -> AsyncIterator[str]:
        for text in TEXTS:
            yield text

    async def scored() -> list[bool | None]:
        flagged = [result.flagged async for result in screener.ascore_many(TEXTS, progress=True)]
        assert "3/3" in capsys.readouterr().err
        return flagged + [result.flagged async for result in screener.ascore_many(rows(), progress=True)]

    assert asyncio.run(scored()) == [True, False, False] * 2
    assert "3 texts" in capsys.readouterr().err


def test_leaving_a_stream_ends_what_is_below_it(screener: Screener) -> None:
    """The rows are closed with the stream, as without a bar."""
    closed = False

    def rows() -> Iterator[str]:
        nonlocal closed
        try:
            while True:
                yield "thanks"
        finally:
            closed = True

    stream = screener.score_many(rows(), progress=True)
    next(stream)
    stream.close()
    del stream
    assert closed


def test_without_tqdm_the_error_says_what_to_install(screener: Screener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"^failed to show progress: it needs tqdm; pip install tqdm$"):
        screener.score_many(TEXTS, progress=True)
    with pytest.raises(ImportError, match="pip install tqdm"):
        screener.ascore_many(TEXTS, progress=True)

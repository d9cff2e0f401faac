"""The asynchronous twins give the same results and leave the event loop free."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from toxscreen import Screener, ToxscreenError

TEXTS = [f"You are an idiot of kind {i}." for i in range(50)]


def test_the_twins_give_the_same_results(screener: Screener) -> None:
    async def async_rows() -> AsyncIterator[object]:
        for row in [*TEXTS, None, ("a", "thanks")]:
            await asyncio.sleep(0)
            yield row

    async def scored() -> None:
        want = list(screener.score_many([*TEXTS, None, ("a", "thanks")]))
        assert [result async for result in screener.ascore_many([*TEXTS, None, ("a", "thanks")])] == want
        assert [result async for result in screener.ascore_many(async_rows())] == want
        assert await asyncio.gather(*[screener.ascore(text) for text in TEXTS]) == want[:50]
        assert [result async for result in screener.ascore_many([])] == []
        with pytest.raises(ToxscreenError, match="the limit is 1048576"):
            await screener.ascore("x" * 1_048_577)

    asyncio.run(scored())


def test_a_stream_keeps_its_screener(tiny: Path) -> None:
    async def scored() -> None:
        assert [result.error async for result in Screener(model=tiny).ascore_many(["a", "b"])] == [None, None]

    asyncio.run(scored())


def test_the_loop_stays_free(screener: Screener) -> None:
    """Others run while texts are scored, also if the process reads nothing more for a while."""

    async def scored() -> None:
        ticks, done = 0, False

        async def tick() -> None:
            nonlocal ticks
            while not done:
                await asyncio.sleep(0)
                ticks += 1

        ticking = asyncio.create_task(tick())
        results = [result async for result in screener.ascore_many("and so on " * 500 for _ in range(40))]
        done = True
        await ticking
        assert len(results) == 40
        assert ticks > 400, "a loop that is blocked until each result is there ticks only between them"

    asyncio.run(scored())


def test_results_do_not_wait_for_a_source_that_waits(screener: Screener) -> None:
    async def scored() -> None:
        seen = asyncio.Event()

        async def rows() -> AsyncIterator[str]:
            for text in ("thanks", "you idiot"):
                seen.clear()
                yield text
                await seen.wait()

        flagged = []
        async for result in screener.ascore_many(rows()):
            flagged.append(result.flagged)
            seen.set()
        assert flagged == [False, True]

    asyncio.run(asyncio.wait_for(scored(), 20))


def test_a_stream_reads_only_a_little_ahead(tiny: Path) -> None:
    async def scored() -> None:
        read = 0

        async def rows() -> AsyncIterator[str]:
            nonlocal read
            for read in range(1, 100_000):
                yield f"text {read}"

        with Screener(model=tiny) as screener:
            async with aclosing(screener.ascore_many(rows())) as results:
                taken = 0
                async for _ in results:
                    taken += 1
                    assert read <= taken + 512
                    if taken == 1000:
                        break

    asyncio.run(scored())


def test_an_exception_of_the_rows_comes_after_the_results_before_it(screener: Screener) -> None:
    def rows() -> Iterator[str]:
        yield "thanks"
        raise LookupError("the cursor broke")

    async def scored() -> None:
        got = []
        with pytest.raises(LookupError, match="the cursor broke"):
            async for result in screener.ascore_many(rows()):
                got.append(result.flagged)
        assert got == [False]

    asyncio.run(scored())


def test_abandoned_streams_and_cancelled_calls_leave_nothing_stuck(screener: Screener) -> None:
    async def scored() -> None:
        async for _ in screener.ascore_many(TEXTS * 3):
            break
        gc.collect()
        waiting = asyncio.create_task(screener.ascore("and so on " * 2000))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await screener.ascore("you idiot")).flagged

    asyncio.run(scored())
    asyncio.run(scored())  # in another loop


def test_close_ends_those_who_wait() -> None:
    async def scored() -> None:
        screener = Screener()
        waiting = asyncio.create_task(screener.ascore("and so on " * 100_000))
        await asyncio.sleep(0.3)
        screener.close()
        with pytest.raises(ToxscreenError, match="the screener is closed"):
            await waiting

    asyncio.run(scored())

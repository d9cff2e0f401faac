"""The asynchronous half of Screener, apart so that others need not import asyncio."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from typing import Any

from toxscreen._process import Process
from toxscreen._results import Result, ToxscreenError
from toxscreen._rows import Ahead, as_row


async def ask(process: Process, line: bytes) -> bytes | ToxscreenError:
    """Asks one line."""
    answers = _Answers()
    process.ask(line, answers.put)
    while not answers.there:
        await answers.arrive()
    return answers.there.popleft()


async def results(process: Process, rows: Iterable[Any] | AsyncIterable[Any], owner: object) -> AsyncGenerator[Result, None]:
    """Yields the result of each row, in order. The owner of the process is kept alive meanwhile: it stops the process when it is collected."""
    answers, ahead, room = _Answers(), Ahead(), asyncio.Event()

    async def read() -> None:
        try:
            async for given in rows if isinstance(rows, AsyncIterable) else _each(rows):
                row = as_row(given)
                if row.error is None:
                    process.ask(row.line, answers.put)
                ahead.append(row)
                if row.error is not None:
                    answers.wake()
                while not ahead.has_room():
                    room.clear()
                    await room.wait()
        finally:
            answers.wake()

    reading = asyncio.create_task(read())
    try:
        while True:
            while ahead.rows and (ahead.rows[0].error is not None or answers.there):
                row = ahead.popleft()
                if not ahead.is_half_full():
                    room.set()
                yield row.result(b"" if row.error is not None else answers.there.popleft())
            if reading.done() and not ahead.rows:
                await reading
                return
            if not ahead.rows or (ahead.rows[0].error is None and not answers.there):
                await answers.arrive()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _each(rows: Iterable[Any]) -> AsyncIterator[Any]:
    for row in rows:
        yield row


class _Answers:
    """Answers that arrive on another thread."""

    def __init__(self) -> None:
        self.there: deque[bytes | ToxscreenError] = deque()
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
        self._told = False  # the loop will wake: no need to tell it again

    def put(self, answer: bytes | ToxscreenError) -> None:
        self.there.append(answer)
        if not self._told:
            self._told = True
            try:
                self._loop.call_soon_threadsafe(self.wake)
            except RuntimeError:
                pass  # the loop is closed: nobody waits

    def wake(self) -> None:
        self._told = False
        self._arrived.set()

    async def arrive(self) -> None:
        """Waits for answers, or for wake."""
        await self._arrived.wait()
        self._arrived.clear()

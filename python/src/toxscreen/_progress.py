"""A bar of tqdm for a stream of results."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing
from typing import Any

from toxscreen._results import Result


def counted(results: Generator[Result, None, None], rows: Any) -> Generator[Result, None, None]:
    """Returns the results with a bar that counts them. Raises ImportError if tqdm is not installed."""
    return _counted(results, rows, _tqdm())


def acounted(results: AsyncGenerator[Result, None], rows: Any) -> AsyncGenerator[Result, None]:
    """Does the same as counted, for an event loop."""
    return _acounted(results, rows, _tqdm())


def _counted(results: Generator[Result, None, None], rows: Any, tqdm: Callable[..., Any]) -> Generator[Result, None, None]:
    with closing(results), tqdm(total=_total(rows), unit=" texts") as bar:
        for result in results:
            bar.update()
            yield result


async def _acounted(results: AsyncGenerator[Result, None], rows: Any, tqdm: Callable[..., Any]) -> AsyncGenerator[Result, None]:
    async with aclosing(results):
        with tqdm(total=_total(rows), unit=" texts") as bar:
            async for result in results:
                bar.update()
                yield result


def _tqdm() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("failed to show progress: it needs tqdm; pip install tqdm") from None
    return tqdm


def _total(rows: Any) -> int | None:
    return len(rows) if hasattr(rows, "__len__") else None

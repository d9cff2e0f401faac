"""Scores text for toxicity, offline.

from toxscreen import Screener

with Screener() as screener:
    print(screener.score("You are a stupid idiot.").score)
    for result in screener.score_many(texts):
        print(result.score, result.error)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toxscreen._results import AttributeResult, Entity, Passage, Result, Span, ToxscreenError
from toxscreen._screener import Screener

if TYPE_CHECKING:
    from toxscreen.detoxify import Detoxify

    __version__: str

__all__ = ["AttributeResult", "Detoxify", "Entity", "Passage", "Result", "Screener", "Span", "ToxscreenError", "__version__"]


def __getattr__(name: str) -> Any:
    """Imports what not every program needs when it is first used."""
    if name == "Detoxify":
        from toxscreen.detoxify import Detoxify

        return Detoxify
    if name == "__version__":
        from importlib.metadata import version

        return version("toxscreen")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

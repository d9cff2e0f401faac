"""Scores text for toxicity, offline.

import toxscreen

print(toxscreen.score("You are a stupid idiot.").score)
for result in toxscreen.score_many(texts):
    print(result.score, result.error)

A Screener takes settings and has asynchronous methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toxscreen._results import (
    AspectVerdict,
    AttributeResult,
    Entity,
    Evidence,
    JudgeReport,
    Passage,
    Range,
    Reading,
    Result,
    Span,
    ToxscreenError,
    Verdict,
    Versions,
)
from toxscreen._screener import Screener
from toxscreen._shared import score, score_many

if TYPE_CHECKING:
    from toxscreen.detoxify import Detoxify

    __version__: str

__all__ = [
    "AspectVerdict",
    "AttributeResult",
    "Detoxify",
    "Entity",
    "Evidence",
    "JudgeReport",
    "Passage",
    "Range",
    "Reading",
    "Result",
    "Screener",
    "Span",
    "ToxscreenError",
    "Verdict",
    "Versions",
    "__version__",
    "score",
    "score_many",
]


def __getattr__(name: str) -> Any:
    """Imports what not every program needs when it is first used."""
    if name == "Detoxify":
        from toxscreen.detoxify import Detoxify

        return Detoxify
    if name == "__version__":
        from importlib.metadata import version

        return version("toxscreen")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

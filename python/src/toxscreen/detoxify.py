"""Detoxify's interface over toxscreen.

from toxscreen import Detoxify  # was: from detoxify import Detoxify

Detoxify("original").predict(["you idiot", "thank you"])  # {"toxicity": [0.80, 0.01], …}
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import overload

from toxscreen._results import ToxscreenError
from toxscreen._rows import rows_of
from toxscreen._screener import Screener


class Detoxify:
    """Predicts as detoxify.Detoxify does, in its shape and under its names.

    The scores are toxscreen's: calibrated probabilities in 0..1 that people would say so. A text is scored to its end.
    Safe for concurrent use.
    """

    def __init__(self, model_type: str = "original", *, device: object = "cpu", screener: Screener | None = None) -> None:
        """Opens a Screener that runs the whole network on every text, so that scores rank texts; or takes one, which stays open.

        model_type  "original", "unbiased", these followed by "-small", and "multilingual": which attributes predict returns.
                    All of them score the same twenty languages
        device      "cpu"; elsewhere the model runs by toxscreen's setting provider

        Raises ValueError for other values, and ToxscreenError if the binary is not found.
        """
        if model_type not in _ATTRIBUTES:
            raise ValueError(f"failed to open the model {model_type!r}: it must be one of {', '.join(_ATTRIBUTES)}")
        if str(device) != "cpu":
            raise ValueError(f'failed to open the model on {device}: device must be "cpu"; set the environment variable TOXSCREEN_PROVIDER=cuda for a GPU')
        self.class_names = list(_ATTRIBUTES[model_type])
        self._names = _ATTRIBUTES[model_type]
        self._screener = screener or Screener(full=True)

    # A str is an Iterable[str], too. The first overload counts.
    @overload
    def predict(self, text: str) -> dict[str, float]: ...  # type: ignore[overload-overlap]

    @overload
    def predict(self, text: Iterable[str]) -> dict[str, list[float]]: ...

    def predict(self, text: str | Iterable[str]) -> dict[str, float] | dict[str, list[float]]:
        """Returns the score of each attribute for a text, or the list of scores for texts, also for a single one.

        Raises TypeError for what is neither, and ToxscreenError with the index of the first text that cannot be scored. Warns of texts in languages that no model knows.
        """
        if isinstance(text, str):
            return {name: scores[0] for name, scores in self._predict([text]).items()}
        return self._predict(text)

    def _predict(self, texts: Iterable[str]) -> dict[str, list[float]]:
        predictions: dict[str, list[float]] = {name: [] for name in self._names}
        foreign: list[int] = []
        index = -1
        for index, result in enumerate(self._screener.score_many((None, text) for text in rows_of(texts, None, "predict"))):
            if result.error is not None:
                raise ToxscreenError(f"failed to score text {index}: {result.error}")
            if result.unsupported_language is not None:
                foreign.append(index)
            for name, attribute in self._names.items():
                if attribute not in result.attributes:
                    raise ToxscreenError(f"failed to score text {index}: the model does not measure {attribute}")
                predictions[name].append(result.attributes[attribute].score)
        if foreign:
            warnings.warn(
                f"{len(foreign)} of {index + 1} texts seem to be in an unknown language, first text {foreign[0]}: their scores mean little", stacklevel=3
            )
        return predictions


_ORIGINAL = {
    "toxicity": "toxicity",
    "severe_toxicity": "severe_toxicity",
    "obscene": "profanity",
    "threat": "threat",
    "insult": "insult",
    "identity_attack": "identity_attack",
}
_UNBIASED = {
    "toxicity": "toxicity",
    "severe_toxicity": "severe_toxicity",
    "obscene": "profanity",
    "identity_attack": "identity_attack",
    "insult": "insult",
    "threat": "threat",
    "sexual_explicit": "sexually_explicit",
}
# The attributes of toxscreen by Detoxify's names, in its order.
_ATTRIBUTES = {"original": _ORIGINAL, "unbiased": _UNBIASED, "multilingual": _UNBIASED, "original-small": _ORIGINAL, "unbiased-small": _UNBIASED}

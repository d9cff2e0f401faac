"""The tests run the installed package: its binary, its default model, and its ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from toxscreen import Screener


@pytest.fixture(scope="session")
def screener() -> Iterator[Screener]:
    """One process for all tests that do not harm it."""
    with Screener() as opened:
        yield opened


@pytest.fixture(scope="session")
def tiny() -> Path:
    """A model without sense that scores thousands of rows a second."""
    return Path(__file__).parents[2] / "testdata" / "models" / "tiny"

"""A Screener is pickled by its settings, so that other processes can have one like it."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import shutil
from pathlib import Path

import pytest

from toxscreen import Detoxify, Screener, ToxscreenError

TEXTS = [f"You are {'not ' * (i % 5)}an idiot of kind {i}." for i in range(20)]


def test_a_spawned_worker_gets_a_screener_with_the_same_settings() -> None:
    with Screener(thresholds={"insult": 0.99, "toxicity": 0.98}, full=True) as screener:
        want = list(screener.score_many(TEXTS))
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            got = pool.map(screener.score, TEXTS)
    for here, there in zip(want, got, strict=True):
        assert there.score == pytest.approx(here.score, abs=1e-4)
        assert there.attributes["insult"].threshold == 0.99
        assert there.exit is None


def test_a_copy_has_a_process_of_its_own() -> None:
    """Closing one closes nothing else, and a copy of a closed one is open."""
    with Screener() as screener:
        screener.score("thanks")
        with pickle.loads(pickle.dumps(screener)) as other:
            assert other.score("you idiot").flagged
            assert other._process.pid != screener._process.pid
        assert screener.score("you idiot").flagged
    with copy.deepcopy(screener) as reopened:
        assert reopened.score("you idiot").flagged


def test_relative_paths_still_count_from_where_the_screener_was_opened(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a copy in another folder could find other settings, and score differently."""
    shutil.copytree(tiny, tmp_path / "here" / "mine")
    monkeypatch.chdir(tmp_path / "here")
    with Screener(model="./mine") as screener:
        pickled = pickle.dumps(screener)
        want = screener.score("thanks").score
    monkeypatch.chdir("/")
    with pickle.loads(pickled) as other:
        assert other.score("thanks").score == want
    shutil.rmtree(tmp_path / "here")
    with (
        pickle.loads(pickled) as other,
        pytest.raises(ToxscreenError, match=f"^failed to start .*: the folder {tmp_path}/here where it was opened does not exist"),
    ):
        other.score("thanks")


def test_detoxify_is_pickled_with_its_screener() -> None:
    model = pickle.loads(pickle.dumps(Detoxify("unbiased")))
    assert model.predict("you idiot")["obscene"] < model.predict("you idiot")["toxicity"]

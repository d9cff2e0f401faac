"""toxscreen.score and toxscreen.score_many: no class, one process for the whole program."""

from __future__ import annotations

import subprocess
import sys

import pytest

import toxscreen
from toxscreen import Screener


def test_two_calls_are_enough(screener: Screener) -> None:
    assert toxscreen.score("you idiot").score == screener.score("you idiot").score
    assert [result.flagged for result in toxscreen.score_many(["you idiot", "thanks"])] == [True, False]


def test_they_refuse_what_a_screener_refuses() -> None:
    with pytest.raises(TypeError, match=r"^score takes one str, not list: call score_many\(texts\)"):
        toxscreen.score(["you idiot", "thanks"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^score_many takes many texts, not one str"):
        toxscreen.score_many("you idiot")


def test_threads_share_one_process() -> None:
    program = """
import subprocess, threading, toxscreen
from concurrent.futures import ThreadPoolExecutor
barrier = threading.Barrier(12)
def score(_):
    barrier.wait()
    return toxscreen.score("you idiot").flagged
with ThreadPoolExecutor(12) as pool:
    assert all(pool.map(score, range(12)))
print(len(CHILDREN()))
"""
    assert run(program).stdout == "1\n"


def test_a_forked_child_has_a_process_of_its_own() -> None:
    """Although another thread of the parent has the lock at the moment of the fork."""
    program = """
import os, toxscreen
from toxscreen import _shared
toxscreen.score("thanks")
with _shared._shared._lock:
    child = os.fork()
    if child == 0:
        flagged = toxscreen.score("you idiot").flagged
        os._exit(0 if flagged and len(CHILDREN()) == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
assert toxscreen.score("you idiot").flagged
print("both")
"""
    assert run(program).stdout == "both\n"


def test_a_mistake_can_be_mended_without_a_new_program() -> None:
    """In a notebook, a wrong setting or a missing library is mended between two cells. A Screener that cannot work stays so."""
    program = """
import os, toxscreen
os.environ["TOXSCREEN_THREADS"] = "many"
for _ in range(2):
    try:
        toxscreen.score("you idiot")
    except toxscreen.ToxscreenError as error:
        print("TOXSCREEN_THREADS" in str(error))
del os.environ["TOXSCREEN_THREADS"]
print(toxscreen.score("you idiot").flagged)
"""
    assert run(program).stdout == "True\nTrue\nTrue\n"


CHILDREN = """
def CHILDREN():
    import os, pathlib
    return [pid for path in pathlib.Path(f"/proc/{os.getpid()}/task").glob("*/children") for pid in path.read_text().split()]
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    """Runs a program that can call CHILDREN for the ids of its child processes."""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", CHILDREN + program], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran

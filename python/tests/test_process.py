"""One process serves threads, loops and streams, and survives what happens to it."""

from __future__ import annotations

import gc
import json
import logging
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

import toxscreen
from toxscreen import Result, Screener, ToxscreenError
from toxscreen._binary import find_binary


def texts(count: int) -> list[str]:
    """Texts with scores of their own."""
    return [f"You are {'not ' * (i % 5)}an idiot of kind {i}." for i in range(count)]


def pid_of(screener: Screener) -> int:
    pid = screener._process.pid
    assert pid is not None
    return pid


def kill(screener: Screener) -> int:
    pid = pid_of(screener)
    os.kill(pid, signal.SIGKILL)
    return pid


@pytest.fixture
def own() -> Iterator[Screener]:
    with Screener() as opened:
        yield opened


def test_a_killed_process_is_started_again_and_no_text_is_lost_or_doubled(screener: Screener, own: Screener) -> None:
    given = texts(200)
    want = [result.score for result in screener.score_many(given)]
    got: list[Result] = []
    killed = set()
    for result in own.score_many(enumerate(given)):
        got.append(result)
        if len(got) in (20, 100):
            killed.add(kill(own))
            time.sleep(0.05)
    assert [result.id for result in got] == list(range(200))
    assert [result.score for result in got] == want
    own.score("The last answers may have come before the process died.")
    assert len(killed | {pid_of(own)}) == 3


def test_a_process_that_died_while_nothing_was_asked_is_started_again(own: Screener) -> None:
    for _ in range(4):
        assert own.score("you idiot").flagged
        kill(own)


@pytest.fixture
def mortal(tmp_path: Path) -> Path:
    """A binary that dies of the text "die", as of a bug."""
    path = tmp_path / "toxscreen"
    path.write_text(f"""#!{sys.executable}
import os, sys
print("a message of the process", file=sys.stderr, flush=True)
for row, line in enumerate(sys.stdin, 1):
    if "die" in line:
        os.kill(os.getpid(), 9)
    print('{{"row":%d,"error":"alive"}}' % row, flush=True)
""")
    path.chmod(0o755)
    return path


def test_a_text_that_kills_the_process_again_is_the_end(mortal: Path) -> None:
    with Screener(binary=mortal) as screener:
        results = screener.score_many(["a", "b", "die", "c"])
        assert [next(results).error, next(results).error] == ["alive", "alive"]
        with pytest.raises(ToxscreenError, match=r"the toxscreen process was killed by signal 9: a message of the process"):
            next(results)
        with pytest.raises(ToxscreenError, match="was killed by signal 9"):
            screener.score("later")
        with pytest.raises(ToxscreenError, match="was killed by signal 9"):
            list(screener.score_many(["later"]))


def test_a_process_out_of_step_is_stopped(tmp_path: Path) -> None:
    """A text must never have the result of another one."""
    path = tmp_path / "toxscreen"
    path.write_text('#!/bin/sh\nread line\necho \'{"row":2,"error":"of another row"}\'\nread line\n')
    path.chmod(0o755)
    with Screener(binary=path) as screener, pytest.raises(ToxscreenError, match="it answered rows that it was not asked"):
        screener.score("thanks")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threads": -3}, "--threads: .* is not a whole number in 0..1024"),
        ({"model": "nope"}, 'failed to find model "nope"'),
        ({"thresholds": {"insul": 0.5}}, "insul"),
        ({"scale": "percent"}, 'unknown scale "percent": it must be guideline or perspective'),
        ({"sensitivity": "strict"}, 'unknown sensitivity "strict": it must be low, medium or high'),
        ({"model": "a\0b"}, "failed to start .*: embedded null byte"),
        ({"onnxruntime": "/nowhere/libonnxruntime.so"}, "ONNX Runtime.s library was not found: stat /nowhere"),
    ],
)
def test_a_wrong_setting_gives_the_message_of_the_command_line(settings: dict[str, object], message: str) -> None:
    with Screener(**settings) as screener, pytest.raises(ToxscreenError, match=message):  # type: ignore[arg-type]
        screener.score("thanks")
    with Screener(**settings) as screener, pytest.raises(ToxscreenError, match=message):  # type: ignore[arg-type]
        list(screener.score_many(["thanks"] * 1000))


def test_relative_paths_count_from_where_the_screener_was_opened(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiny.parent)
    with Screener(model="./tiny") as screener:
        assert screener.score("thanks").score is not None
        monkeypatch.chdir("/")
        kill(screener)
        assert screener.score("thanks").score is not None


def test_a_missing_binary_is_named() -> None:
    with Screener(binary="/nowhere/toxscreen") as screener, pytest.raises(ToxscreenError, match=r"failed to start /nowhere/toxscreen: No such file"):
        screener.score("thanks")


def test_the_package_finds_its_binary_and_that_its_library(tmp_path: Path) -> None:
    """The home is empty: there is no library in a cache."""
    assert find_binary() == Path(sys.prefix, "bin", "toxscreen")
    printed = subprocess.run([find_binary(), "version", "--format", "json"], env={"HOME": str(tmp_path)}, capture_output=True, check=True).stdout
    assert json.loads(printed)["onnxruntime"]["path"] == str(Path(toxscreen.__file__).parent / "lib" / "libonnxruntime.so")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with the package alone, as `pip install --target` makes it, but without the binary."""
    shutil.copytree(Path(toxscreen.__file__).parent, tmp_path / "target" / "toxscreen")
    return tmp_path / "target"


# A Python whose own folder for scripts has no binary.
WITHOUT = "import sysconfig; sysconfig.get_path = lambda *a, **k: '/nowhere'; "


def test_without_a_binary_the_message_says_where_it_was_looked_for(elsewhere: Path) -> None:
    ran = run(WITHOUT + "import toxscreen; toxscreen.Screener()", PATH="/nowhere", PYTHONPATH=str(elsewhere))
    assert f"failed to find the toxscreen binary: it is neither in /nowhere, {elsewhere}/bin" in ran.stderr
    assert "nor on the PATH; install the wheel again" in ran.stderr


def test_the_binary_is_found_beside_a_target_and_on_the_path(elsewhere: Path) -> None:
    script = WITHOUT + "from toxscreen._binary import find_binary; print(find_binary())"
    assert run(script, PATH=f"/nowhere:{sys.prefix}/bin", PYTHONPATH=str(elsewhere)).stdout == f"{sys.prefix}/bin/toxscreen\n"
    (elsewhere / "bin").mkdir()
    (elsewhere / "bin" / "toxscreen").symlink_to(find_binary())
    assert run(script, PATH="/nowhere", PYTHONPATH=str(elsewhere)).stdout == f"{elsewhere}/bin/toxscreen\n"


def test_without_the_library_the_message_says_how_to_get_it(elsewhere: Path, tmp_path: Path) -> None:
    """The binary is copied, since it looks for the library around itself."""
    (elsewhere / "bin").mkdir()
    shutil.copy(find_binary(), elsewhere / "bin")
    shutil.rmtree(elsewhere / "toxscreen" / "lib")
    script = WITHOUT + "import toxscreen; toxscreen.Screener().score('x')"
    ran = run(script, PATH="/nowhere", PYTHONPATH=str(elsewhere), HOME=str(tmp_path))
    assert "ONNX Runtime's library was not found" in ran.stderr
    assert "python3 -m pip install" in ran.stderr


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)


def test_warnings_of_the_process_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A judge that does not answer is no error of a text, but nobody should miss it."""
    with caplog.at_level(logging.WARNING), Screener(judge_model="nope", judge_host="127.0.0.1:9") as screener:
        result = screener.score("you idiot, but maybe fine")
    assert result.judge is not None
    assert result.judge.asked
    assert "no server answers at 127.0.0.1:9" in (result.judge.error or "")
    assert [record.name for record in caplog.records] == ["toxscreen"]
    assert "the judge gives no verdict" in caplog.text


def test_threads_and_streams_share_one_process(screener: Screener) -> None:
    given = texts(40)
    want = [result.score for result in screener.score_many(given)]
    pid = pid_of(screener)

    def stream(_: int) -> list[float | None]:
        return [result.score for result in screener.score_many(given)]

    def one_by_one(_: int) -> list[float | None]:
        return [screener.score(text).score for text in given]

    with ThreadPoolExecutor(8) as pool:
        for got in [*pool.map(stream, range(4)), *pool.map(one_by_one, range(2))]:
            assert got == want
    assert pid_of(screener) == pid


def test_streams_can_be_read_in_turns(screener: Screener) -> None:
    given = texts(30)
    for first, second in zip(screener.score_many(given), screener.score_many(reversed(given)), strict=True):
        assert first.score is not None
        assert second.text in given


def test_abandoned_streams_leave_nothing_stuck(screener: Screener) -> None:
    given = texts(150)
    for _ in screener.score_many(given):
        break
    never_begun = screener.score_many(given)
    closed = screener.score_many(given)
    next(closed)
    closed.close()
    forgotten = screener.score_many(given)
    next(forgotten)
    del forgotten, never_begun
    gc.collect()
    assert screener.score("you idiot").flagged


def test_close_from_another_thread_ends_those_who_wait() -> None:
    screener = Screener()
    screener.score("thanks")
    threading.Timer(0.3, screener.close).start()
    with pytest.raises(ToxscreenError, match="the screener is closed"):
        for _ in screener.score_many("and so on " * 1000 for _ in range(10_000)):
            pass
    with pytest.raises(ToxscreenError, match="the screener is closed"):
        screener.score("thanks")
    screener.close()


def test_a_screener_that_nobody_holds_ends_its_process() -> None:
    screener = Screener()
    screener.score("thanks")
    pid = pid_of(screener)
    del screener
    gc.collect()
    assert ends(pid)


@pytest.mark.parametrize("opened", ["toxscreen.Screener()", "toxscreen._shared._shared.screener()"])
@pytest.mark.parametrize("end", ["pass", "sys.exit(3)", "os.kill(os.getpid(), 9)", "raise KeyboardInterrupt"])
def test_the_process_ends_with_python(opened: str, end: str) -> None:
    """Also that of toxscreen.score, which nobody closes."""
    script = f"import os, sys, toxscreen; s = {opened}; s.score('x'); r = s.score_many(['x'] * 99); next(r); print(s._process.pid, flush=True); {end}"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=20)
    assert ends(int(ran.stdout))
    assert "Exception ignored" not in ran.stderr


def test_ctrl_c_leaves_questions_and_answers_in_step() -> None:
    """A terminal sends the signal to its whole process group. The binary is in another, and Python goes on."""
    script = """
import os, signal, threading, toxscreen
screener = toxscreen.Screener()
pid = screener.score("thanks").score and screener._process.pid
for _ in range(5):
    try:
        threading.Timer(0.1, os.killpg, (0, signal.SIGINT)).start()
        for result in screener.score_many(f"thanks {i}" for i in range(10**6)):
            pass
    except KeyboardInterrupt:
        result = screener.score("You idiot.")
        assert result.flagged and result.text == "You idiot.", result
assert screener._process.pid == pid
print("in step")
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60, start_new_session=True)
    assert ran.stdout == "in step\n", ran.stderr


def ends(pid: int) -> bool:
    """Waits until a process has ended. Nobody may reap it: then it stays as a zombie."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_opens_its_own_process(screener: Screener) -> None:
    """In mid-stream, with threads that use the screener: the child takes nothing from the parent, and the parent notices nothing."""
    given = texts(200)
    want = [result.score for result in screener.score_many(given)]
    pid = pid_of(screener)
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            screener.score("thanks")

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    stream = screener.score_many(given)
    got = [next(stream).score]
    receive, send = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=in_child, args=(screener, stream, given, send))
    child.start()
    got += [result.score for result in stream]
    stop.set()
    for thread in threads:
        thread.join()
    assert receive.poll(60)
    scores, child_pid, error = receive.recv()
    child.join(30)
    assert child.exitcode == 0
    assert scores == want[:50]
    assert got == want
    assert child_pid != pid
    assert pid_of(screener) == pid
    assert "the process has forked" in error
    assert ends(child_pid)


def in_child(screener: Screener, stream: Iterator[Result], given: list[str], send: Connection) -> None:
    error = ""
    try:
        for _ in stream:
            pass
    except ToxscreenError as raised:
        error = str(raised)
    send.send(([result.score for result in screener.score_many(given[:50])], pid_of(screener), error))
    screener.close()


def test_python_m_toxscreen_is_the_command() -> None:
    ran = subprocess.run([sys.executable, "-m", "toxscreen", "score", "--format", "json", "You idiot."], capture_output=True, text=True, check=False)
    assert '"flagged":true' in ran.stdout
    assert subprocess.run([sys.executable, "-m", "toxscreen", "nonsense"], capture_output=True, check=False).returncode == 2


def test_the_import_is_light() -> None:
    """What takes long to import is imported where it is used."""
    script = "import sys, toxscreen; toxscreen.Screener().score('x'); print([m for m in ('asyncio', 'logging', 'multiprocessing', 'pandas', 'polars', 'shutil') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stdout == "[]\n"

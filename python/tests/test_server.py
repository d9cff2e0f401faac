"""The private server: who can reach it, what it survives, and when it ends."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from toxscreen import ToxscreenError
from toxscreen._command import command
from toxscreen._server import Answer, Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that the tests share: each leaves one that answers."""
    server = start()
    yield server
    server.close()


def start(*flags: str) -> Server:
    return Server([*command("serve", {"no-judge": True}, None), "--feedback=off", *flags], dict(os.environ), os.getcwd())


def score(server: Server, text: str = "you idiot") -> float:
    answer = server.post("/v1/score", "application/json", json.dumps({"text": text}).encode())
    assert answer.status == 200, answer
    value: float = json.loads(answer.body)["score"]
    return value


def test_it_starts_with_the_first_request_and_then_answers_all_of_them() -> None:
    server = start()
    assert server.pid is None
    first = score(server)
    pid = server.pid
    assert first > 0.5
    assert [score(server) for _ in range(5)] == [first] * 5
    assert server.pid == pid


def test_threads_share_it(server: Server) -> None:
    """They start it once, and each request gets its own answer."""
    texts = ["you idiot", "thank you", "what a lovely garden"] * 20
    with ThreadPoolExecutor(12) as pool:
        scores = list(pool.map(lambda text: score(server, text), texts))
        pid = server.pid
    assert scores == pytest.approx([score(server, text) for text in texts[:3]] * 20, abs=1e-4)
    assert server.pid == pid


def test_only_this_user_can_reach_it(server: Server) -> None:
    score(server)
    folder = socket_of(server).parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == ["socket"]
    assert server.pid is not None
    assert listening_on_tcp(server.pid) == []


def test_a_long_temporary_folder_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of a socket may have about a hundred bytes. Queues of clusters have temporary folders that are longer."""
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    assert score(start()) > 0.5
    assert list(long.iterdir()) == []


def test_what_is_configured_for_a_server_for_others_does_not_concern_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = (
        "listen: 127.0.0.1:1",
        "debug_listen: 127.0.0.1:1",
        "api_keys: keys.txt",
        "tls_cert: a.pem",
        "tls_key: b.pem",
        "as: example.org",
        "allow_origin: '*'",
    )
    (tmp_path / "toxscreen.yaml").write_text("\n".join([*others, "external_url: https://example.org/tox", "max_bytes: 40"]))
    monkeypatch.chdir(tmp_path)
    server = start()
    assert score(server) > 0.5
    # What concerns the scores does, as it was when the server was made.
    monkeypatch.chdir("/")
    server.close()
    assert server.post("/v1/score", "application/json", b'{"text": "%b"}' % (b"x" * 41)).status == 413


def test_a_wrong_setting_is_the_error_of_the_first_request() -> None:
    with pytest.raises(ToxscreenError, match=r"^--threads: .*-1.* is not"):
        score(start("--threads=-1"))
    with pytest.raises(ToxscreenError, match="failed to start /nowhere/toxscreen: No such file or directory"):
        score(Server(["/nowhere/toxscreen"], {}, "/"))


def test_a_refused_body_is_an_answer_even_if_nobody_reads_it(server: Server) -> None:
    """The server answers before it has read a body that is too large. The process is not to blame, and stays."""
    score(server)
    pid = server.pid
    assert server.post("/v1/score", "application/json", b" " * 30_000_000).status == 413
    assert server.pid == pid


def test_a_killed_server_is_started_again(server: Server) -> None:
    score(server)
    killed = kill(server)
    assert score(server) > 0.5
    assert server.pid not in (None, killed)


def test_a_request_under_way_is_sent_again(server: Server) -> None:
    """The text takes more than a second, so the kill comes in the middle of it."""
    score(server)
    text = "what a lovely garden " * 20_000
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(score, server, text)
        time.sleep(0.2)
        killed = kill(server)
        assert under_way.result() < 0.5
    assert server.pid not in (None, killed)


def test_a_server_that_dies_twice_is_an_error_and_the_next_request_starts_it_again(server: Server) -> None:
    done = threading.Event()

    def kill_all() -> None:
        while not done.wait(0.01):
            if server.pid is not None:
                kill(server)

    killer = threading.Thread(target=kill_all)
    killer.start()
    try:
        with pytest.raises(ToxscreenError, match=r"^failed to answer a request twice: the toxscreen server was killed by signal 9 \("):
            score(server, "what a lovely garden " * 2000)
    finally:
        done.set()
        killer.join()
    assert score(server) > 0.5


def test_close_leaves_nothing_behind_and_a_later_request_starts_it_again(server: Server) -> None:
    score(server)
    pid, folder = server.pid, socket_of(server).parent
    server.close()
    assert pid is not None
    assert not is_running(pid)
    assert not folder.exists()
    assert score(server) > 0.5


def test_it_ends_when_nothing_refers_to_it() -> None:
    server = start()
    score(server)
    pid = server.pid
    assert pid is not None
    del server
    gc.collect()
    assert not is_running(pid)


def test_a_forked_child_has_a_server_of_its_own(server: Server) -> None:
    """The parent's goes on, also when the child has ended."""
    score(server)
    parents = server.pid
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            score(server)
            os.write(writing, str(server.pid).encode())
            server.close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert int(os.read(reading, 20)) != parents
    os.close(reading)
    os.close(writing)
    assert score(server) > 0.5
    assert server.pid == parents
    assert socket_of(server).exists()


def test_an_interrupt_is_for_python_alone() -> None:
    """Ctrl-C in a terminal, and the interrupt of a notebook, reach all processes of a group. Those who catch it go on with the server."""
    program = """
import os, signal, time, test_server
server = test_server.start()
test_server.score(server)
pid = server.pid
try:
    os.killpg(0, signal.SIGINT)
    signal.pause()
except KeyboardInterrupt:
    time.sleep(1.5)  # a server that is interrupted still answers for a second
    test_server.score(server)
print(server.pid == pid)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True, start_new_session=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "sys.exit()"])
def test_it_ends_with_its_parent(end: str, tmp_path: Path) -> None:
    """However the parent ends, and although a forked child lives on, which has inherited the parent's files."""
    program = f"""
import os, sys, tempfile, time
import test_server
tempfile.tempdir = {str(tmp_path)!r}  # after a kill, an empty folder stays
server = test_server.start()
test_server.score(server)
child = os.fork()
if child == 0:
    for fd in (0, 1, 2):
        os.close(fd)
    time.sleep(60)
    os._exit(0)
print(server.pid, child, flush=True)
{end}
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    pid, child = map(int, done.stdout.split())
    try:
        assert is_running(child)
        until = time.monotonic() + 20
        while is_running(pid):
            assert time.monotonic() < until, "the server stayed behind"
            time.sleep(0.05)
    finally:
        os.kill(child, signal.SIGKILL)


def test_an_answer_has_what_the_server_sent(server: Server) -> None:
    answer = server.post("/v1/nothing", "application/json", b"")
    assert isinstance(answer, Answer)
    assert (answer.status, answer.reason, answer.version) == (404, "Not Found", 11)
    assert ("Content-Type", "application/json") in answer.headers
    assert json.loads(answer.body)["error"]["code"] == "not_found"


def kill(server: Server) -> int:
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


def is_running(pid: int) -> bool:
    """A process that has ended but that nobody waited for does not count."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def socket_of(server: Server) -> Path:
    arguments = Path(f"/proc/{server.pid}/cmdline").read_text().split("\0")
    return Path(next(a.removeprefix("--listen=unix:") for a in arguments if a.startswith("--listen=")))


def listening_on_tcp(pid: int) -> list[str]:
    """Returns the local addresses of a process's listening sockets, in the notation of /proc/net/tcp."""
    sockets = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [line.split() for file in ("tcp", "tcp6") for line in Path(f"/proc/net/{file}").read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]

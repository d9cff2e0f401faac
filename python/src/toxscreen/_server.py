"""A private `toxscreen serve` process, which answers the requests of this Python process alone."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toxscreen import _children
from toxscreen._results import ToxscreenError


@dataclass(frozen=True, slots=True)
class Answer:
    """The server's answer to a request."""

    status: int
    reason: str
    version: int  # of HTTP: 11 is 1.1
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Server:
    """A server that starts with the first request, and again after close, after a fork or if it dies.

    No other user can reach it: it listens on a Unix socket in a folder of mode 0700. It ends when this process does, also if that
    is killed, since its standard input ends then. All methods are safe for concurrent use.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
        """Takes the command line of `toxscreen serve` with the settings of the model, and the folder that it runs in."""
        self._command, self._environment, self._folder = [*command, *_PRIVATE], environment, folder
        self._lock = threading.Lock()
        self._run: _Run | None = None
        _children.register(self)

    def post(self, target: str, content_type: str, body: bytes) -> Answer:
        """Sends a request and returns the answer, whatever its status.

        If the server dies before it answers, it is started again and the request is sent once more. Raises ToxscreenError if the
        server does not start, or dies again.
        """
        for _ in range(2):
            run = self._running()
            try:
                return run.post(target, content_type, body)
            except (ConnectionError, FileNotFoundError, http.client.HTTPException) as error:
                why = f"{run.why()} ({error or type(error).__name__})"
                self._forget(run)
        raise ToxscreenError(f"failed to answer a request twice: {why}")

    def close(self) -> None:
        """Ends the process. A later request starts another one."""
        with self._lock:
            run, self._run = self._run, None
        if run is not None:
            run.end()

    @property
    def pid(self) -> int | None:
        """The id of the running process, None if there is none."""
        run = self._run
        return None if run is None else run.process.pid

    def _running(self) -> _Run:
        with self._lock:
            if self._run is None:
                self._run = _Run(self._command, self._environment, self._folder)
            return self._run

    def _forget(self, run: _Run) -> None:
        """Ends a run, so that the next request starts another one, unless another thread has seen to that."""
        with self._lock:
            if self._run is run:
                self._run = None
        run.end()

    def forked(self) -> None:
        """Forgets the process in a forked child: the process belongs to the parent and ends with it."""
        self._lock = threading.Lock()
        run, self._run = self._run, None
        if run is not None:
            run.release()


# A private server ignores settings that are meant for a server with other users. Its only client does not give up early: texts
# wait for their turn instead of being refused, and for the judge as long as in the native interface.
_PRIVATE = (
    "--until-eof",
    "--log-level=error",
    "--api-keys=",
    "--tls-cert=",
    "--tls-key=",
    "--as=",
    "--allow-origin=",
    "--external-url=",
    "--debug-listen=",
    "--late-results=off",
    "--judge-wait=perspective=30s",
    "--queue-wait=10m",
    "--request-timeout=10m",
)


class _Run:
    """One run of the server, from its start to its end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
        """Returns when the server accepts requests. Raises ToxscreenError if it ends before that."""
        private = _private_folder()
        # The second address is for Windows, where programs of other users can connect, too. It has not been tried.
        address = f"unix:{private}/{_SOCKET}" if hasattr(socket, "AF_UNIX") else "127.0.0.1:0"
        try:
            self.process = _children.start([*command, f"--listen={address}"], environment, folder)
        except OSError as error:
            shutil.rmtree(private, ignore_errors=True)
            raise ToxscreenError(_children.why_not_started(command[0], folder, error)) from error
        self._idle: deque[http.client.HTTPConnection] = deque()
        self.end = weakref.finalize(self, _end, self.process, private, self._idle)
        self._messages = _children.Messages(self.process)
        assert self.process.stdout is not None
        self._address = self.process.stdout.readline().decode().strip()
        if not self._address:
            why = self.why()
            self.end()
            raise ToxscreenError(why)

    def post(self, target: str, content_type: str, body: bytes) -> Answer:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self._exchange(self._connection(), target, content_type, body)
            # The server closes a connection that was idle for two minutes.
            with contextlib.suppress(ConnectionError, http.client.HTTPException):
                return self._exchange(connection, target, content_type, body)

    def why(self) -> str:
        """Says why the server does not answer. A server that is about to end gets a second to say so."""
        try:
            code = self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "the toxscreen server does not answer"
        return _children.why_ended("server", code, self._messages.all())

    def release(self) -> None:
        """Lets go of the process in a forked child, without a trace in the parent."""
        self.end.detach()
        for connection in self._idle:
            connection.close()
        _children.let_go(self.process)

    def _connection(self) -> http.client.HTTPConnection:
        scheme, address = self._address.split(":", 1)
        return _SocketConnection(address) if scheme == "unix" else http.client.HTTPConnection(address.removeprefix("//"), timeout=None)

    def _exchange(self, connection: http.client.HTTPConnection, target: str, content_type: str, body: bytes) -> Answer:
        try:
            # A server that refuses a body may answer before it has read all of it.
            with contextlib.suppress(BrokenPipeError):
                connection.request("POST", target, body, {"Content-Type": content_type})
            response = connection.getresponse()
            answer = Answer(response.status, response.reason, response.version, tuple(response.getheaders()), response.read())
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return answer


class _SocketConnection(http.client.HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(None)  # the server limits the time
        self.sock.connect(self._path)


def _private_folder() -> str:
    """Makes a folder for a socket that only this user can open."""
    folder = tempfile.mkdtemp(prefix="toxscreen-")
    if len(os.fsencode(folder)) + 1 + len(_SOCKET) > _MAX_SOCKET_PATH and os.path.isdir("/tmp"):
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix="toxscreen-", dir="/tmp")
    return folder


_SOCKET = "socket"
_MAX_SOCKET_PATH = 103  # bytes, the shortest limit of all systems


def _end(process: subprocess.Popen[bytes], private: str, idle: deque[http.client.HTTPConnection]) -> None:
    # Nothing is lost by a kill: what the server has acknowledged is on disk.
    process.kill()
    process.wait()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    process.stdout.close()
    for connection in idle:
        connection.close()
    shutil.rmtree(private, ignore_errors=True)

"""Child processes: what `batch` and `serve` have in common as children of this one."""

from __future__ import annotations

import os
import subprocess
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol


def start(command: Sequence[str], environment: Mapping[str, str], folder: str) -> subprocess.Popen[bytes]:
    """Starts a child in a folder, with pipes for its standard streams. Raises OSError."""
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # a fork copies no half-written line
        env=environment,
        cwd=folder,
        start_new_session=True,  # Ctrl-C in a terminal is for Python alone
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def why_not_started(program: str, folder: str, error: Exception) -> str:
    """Says why start raised."""
    if not os.path.isdir(folder):
        return f"failed to start {program}: the folder {folder} where it was opened does not exist here; open it again in another folder"
    return f"failed to start {program}: {error.strerror if isinstance(error, OSError) else error}"


class Messages:
    """The end of what a child writes on its standard error. on_line gets each complete line, on a thread of its own."""

    def __init__(self, child: subprocess.Popen[bytes], on_line: Callable[[bytes], None] | None = None) -> None:
        self._child, self._on_line = child, on_line
        self._end = b""
        self._thread = threading.Thread(target=self._read, name="toxscreen messages", daemon=True)
        self._thread.start()

    def all(self) -> str:
        """Waits until the child has closed its standard error."""
        self._thread.join()
        return self._end.decode(errors="replace").strip()

    def _read(self) -> None:
        assert self._child.stderr is not None
        rest = b""  # of a line that is not complete
        with self._child.stderr as pipe:
            while block := pipe.read(_BLOCK):
                self._end = (self._end + block)[-_MOST:]
                if self._on_line is not None:
                    *lines, rest = (rest[-_MOST:] + block).split(b"\n")
                    for line in lines:
                        self._on_line(line)


_BLOCK = 1 << 16
_MOST = 8 << 10  # bytes


def why_ended(name: str, code: int, said: str) -> str:
    """Says why a child ended, in its own words if it has any."""
    said = said.removeprefix("toxscreen: ")
    if code > 0 and said:
        return said
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"the toxscreen {name} {how}" + (f": {said}" if said else "")


def close_pipes(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        assert pipe is not None
        try:
            pipe.close()
        except OSError:
            pass


def let_go(child: subprocess.Popen[bytes]) -> None:
    """Lets go of the parent's child in a forked child, without a trace in the parent."""
    close_pipes(child)
    child.returncode = 0  # nobody waits for it here


class Owner(Protocol):
    """What has a child."""

    def forked(self) -> None:
        """Forgets the child in a forked child of this process, where it belongs to the parent."""


def register(owner: Owner) -> None:
    """Makes a forked child of this process call forked, as long as the owner is alive."""
    _owners.add(owner)


_owners: weakref.WeakSet[Owner] = weakref.WeakSet()


def _after_fork() -> None:
    for owner in list(_owners):
        owner.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""One `toxscreen batch` process that answers each line with one line, in order.

A writer and a reader thread serve any number of callers. Neither waits for a caller, so no caller can block another.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from toxscreen import _children
from toxscreen._results import ToxscreenError

# A function that gets the answer to a line, on the reader's thread. It must not block.
Answer = Callable[[bytes | ToxscreenError], None]


class Process:
    """A process that starts with the first line, and again after a fork or if it dies.

    Lines that had no answer when it died are asked again, once each time that there was progress. All methods are safe for
    concurrent use.
    """

    _writer: threading.Thread | None
    _child: _Child | None
    _refused: str | None  # why ask raises

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
        self._command, self._environment, self._folder = command, environment, folder
        self._reset()
        _children.register(self)

    def ask(self, line: bytes, answer: Answer) -> None:
        """Asks a line, which ends with a line break. Raises ToxscreenError after close or if the process cannot be kept alive."""
        with self._lock:
            if self._refused is not None:
                raise ToxscreenError(self._refused)
            if self._writer is None:
                writer = threading.Thread(target=self._write_all, name="toxscreen writer", daemon=True)
                writer.start()
                self._writer = writer
            self._inbox.put((line, answer))

    def close(self) -> None:
        """Ends the process and waits for its end. Lines without an answer get an error."""
        self.stop()
        if self._writer is not None:
            self._writer.join()

    def stop(self) -> None:
        """Does the same as close without waiting: the garbage collector may call it on any thread."""
        with self._lock:
            self._refused = "the screener is closed"
            self._closing = True
            self._inbox.put(None)
            if self._child is not None:
                self._child.popen.kill()  # it keeps nothing that a kill could damage

    @property
    def refuses(self) -> bool:
        """Whether ask raises, whatever is asked."""
        return self._refused is not None

    @property
    def pid(self) -> int | None:
        """The id of the running process, None if there is none."""
        child = self._child
        return None if child is None else child.popen.pid

    def _reset(self) -> None:
        self._lock = threading.RLock()  # the garbage collector may call stop on a thread that has it
        self._inbox: queue.SimpleQueue[_Line | None] = queue.SimpleQueue()  # None: the child died, or close was called
        self._writer = None
        self._child = None
        self._refused = None
        self._closing = False
        self._deaths = 0  # since there was progress

    def forked(self) -> None:
        """Forgets the process in a forked child, where it belongs to the parent."""
        child, refused, closing = self._child, self._refused, self._closing
        self._reset()
        if closing:
            self._refused, self._closing = refused, closing
        if child is not None:
            child.forget()

    def _write_all(self) -> None:
        """Runs on the writer's thread until close."""
        with self._lock:
            # An interrupt of the thread that started this one leaves it unknown.
            self._writer = self._writer or threading.current_thread()
            if self._writer is not threading.current_thread():
                return
        while True:
            lines = self._next()
            child = self._child
            if self._closing:
                self._end(child, lines)
                return
            if child is not None and child.ended:
                lines = self._revive(child) + lines
                child = self._child
            if self._refused is not None:
                _fail(lines, self._refused)
            elif lines:
                if child is None:
                    child = self._start()
                if child is not None:
                    child.write(lines)
                else:
                    _fail(lines, self._refused or "")

    def _next(self) -> list[_Line]:
        """Waits for something to do. Returns the lines that were asked, at most as many as are worth one write."""
        lines = []
        entry = self._inbox.get()
        while entry is not None:
            lines.append(entry)
            if len(lines) == _LINES_AT_ONCE:
                break
            try:
                entry = self._inbox.get_nowait()
            except queue.Empty:
                break
        return lines

    def _start(self) -> _Child | None:
        try:
            child = _Child(self._command, self._environment, self._folder, lambda: self._inbox.put(None))
        except Exception as error:  # noqa: BLE001  Whatever it is, those who wait must hear of it.
            self._refuse(_children.why_not_started(self._command[0], self._folder, error))
            return None
        with self._lock:
            self._child = child
            if self._closing:
                child.popen.kill()
        return child

    def _revive(self, child: _Child) -> list[_Line]:
        """Returns the lines that a dead child has not answered, or fails them all if asking again is useless."""
        why = child.reap()
        with self._lock:
            self._child = None
        lines = list(child.unanswered)
        if not lines:
            return []
        self._deaths = 1 if child.answered else self._deaths + 1
        # A process that ends by itself before its first answer would do so again: its settings are wrong.
        if self._deaths == 2 or (not child.answered and child.popen.returncode > 0):
            self._refuse(why)
        return lines

    def _refuse(self, why: str) -> None:
        with self._lock:
            self._refused = self._refused or why

    def _end(self, child: _Child | None, lines: list[_Line]) -> None:
        if child is not None:
            child.reap()
            lines = list(child.unanswered) + lines
        with self._lock:
            self._child = None
        while not self._inbox.empty():
            lines += self._next()
        _fail(lines, self._refused or "")


_Line = tuple[bytes, Answer]

# Enough to make a write worth its price.
_LINES_AT_ONCE = 256


class _Child:
    """One run of the binary, from its start to its end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: str, on_end: Callable[[], None]) -> None:
        self.popen = _children.start(command, environment, folder)
        self.unanswered: deque[_Line] = deque()  # the writer appends, the reader removes
        self.answered = 0
        self.ended = False
        self._on_end = on_end
        self._out_of_step = False
        self._reader = threading.Thread(target=self._read, name="toxscreen reader", daemon=True)
        try:
            self._reader.start()
            self._messages = _children.Messages(self.popen, _warn)
        except RuntimeError:
            self.popen.kill()
            raise

    def write(self, lines: list[_Line]) -> None:
        """Writes lines. If the process is dead they stay unanswered."""
        assert self.popen.stdin is not None
        self.unanswered.extend(lines)
        rest = memoryview(b"".join([line for line, _ in lines]))
        try:
            while rest:
                rest = rest[self.popen.stdin.write(rest) :]
        except OSError:
            pass  # the reader sees the end, too

    def reap(self) -> str:
        """Waits for the end. Returns why it ended."""
        self._reader.join()
        code, said = self.popen.wait(), self._messages.all()
        _children.close_pipes(self.popen)
        return _children.why_ended("process", code, "it answered rows that it was not asked" if self._out_of_step else said)

    def forget(self) -> None:
        """Lets go of the process in a forked child, without a trace in the parent."""
        _children.let_go(self.popen)

    def _read(self) -> None:
        assert self.popen.stdout is not None
        pipe, unanswered = self.popen.stdout, self.unanswered
        parts: list[bytes] = []  # of a line that is not complete
        while block := pipe.read(_BLOCK):
            lines = block.split(b"\n")
            if len(lines) > 1:
                lines[0] = b"".join([*parts, lines[0]])
                parts.clear()
                for line in lines[:-1]:
                    if not unanswered or not line.startswith(b'{"row":%d,' % (self.answered + 1)):
                        return self._stop_out_of_step()
                    self.answered += 1
                    unanswered.popleft()[1](line)
            parts.append(lines[-1])
        self._end()

    def _stop_out_of_step(self) -> None:
        """Ends a process whose next line answers another row: a text must never have the result of another one."""
        self._out_of_step = True
        self.popen.kill()
        self._end()

    def _end(self) -> None:
        self.ended = True
        self._on_end()


_BLOCK = 1 << 18
_WARNING = b"toxscreen: warning: "


def _warn(line: bytes) -> None:
    """Passes on what the process warns of."""
    if line.startswith(_WARNING):
        import logging  # only here: a warning is rare, and the import takes longer than a score

        logging.getLogger("toxscreen").warning("%s", line.removeprefix(_WARNING).decode(errors="replace"))


def _fail(lines: list[_Line], why: str) -> None:
    for _, answer in lines:
        answer(ToxscreenError(why))

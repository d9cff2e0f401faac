"""Scores texts through one process."""

from __future__ import annotations

import os
import queue
import time
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, overload

from toxscreen._command import Path, Setting, command
from toxscreen._process import Process
from toxscreen._progress import acounted, counted
from toxscreen._results import Result, ToxscreenError
from toxscreen._rows import Ahead, as_row, rows_of, text_of

if TYPE_CHECKING:
    import pandas
    import polars


class Screener:
    """Scores texts. It keeps one toxscreen process, which starts with the first text.

    All methods are safe for concurrent use by threads, event loops and forked children: a child opens its own process. A process
    that dies is started again once, and its texts are asked again. Every setting that is not given comes from the environment
    (TOXSCREEN_…), then from toxscreen.yaml, then from toxscreen's defaults, as for the command line. A Screener is pickled by its
    settings and its folder: the copy opens a process of its own.
    """

    def __init__(
        self,
        *,
        model: Path | None = None,
        threads: int | None = None,
        full: bool = False,
        pii: bool = False,
        scale: str | None = None,
        sensitivity: str | None = None,
        thresholds: Mapping[str, float] | None = None,
        language: str | None = None,
        max_bytes: int | None = None,
        calibration: Path | None = None,
        no_judge: bool = False,
        judge_model: str | None = None,
        judge_host: str | None = None,
        binary: Path | None = None,
        onnxruntime: Path | None = None,
    ) -> None:
        """Finds the binary. Raises ToxscreenError if there is none; a wrong setting is an error of the first text.

        model        "default", the name of an imported model, or a folder like "./mine"
        threads      texts scored at once; 0: one per core
        full         run the whole network on clearly harmless texts, too, which makes their order exact
        pii          also find personal data, for Result.entities
        scale        "guideline" or "perspective": the scale of scores and thresholds
        sensitivity  "low", "medium" or "high": which of the model's thresholds count
        thresholds   by attribute in 0..1; replace those of the scale and the sensitivity
        language     ISO 639 code of the language that all texts are in, like "en"; detected by default
        max_bytes    texts with more bytes of UTF-8 get an error; 1,048,576 by default
        calibration  file with fusion parameters
        no_judge     ignore a configured judge, and do not use the network
        judge_model  the judge's model in Ollama
        judge_host   the address of its server
        binary       the toxscreen binary; by default the one in this package
        onnxruntime  ONNX Runtime's library; by default the one in this package
        """
        self._open(
            {
                "model": model,
                "threads": threads,
                "full": full,
                "pii": pii,
                "scale": scale,
                "sensitivity": sensitivity,
                "thresholds": None if thresholds is None else dict(thresholds),
                "language": language,
                "max_bytes": max_bytes,
                "calibration": calibration,
                "no_judge": no_judge,
                "judge_model": judge_model,
                "judge_host": judge_host,
                "onnxruntime": onnxruntime,
            },
            binary,
            os.getcwd(),
        )

    def _open(self, settings: dict[str, Setting], binary: Path | None, folder: str) -> None:
        """Does the work of __init__. Relative paths and toxscreen.yaml are looked up in the folder."""
        self._opened = settings, binary, folder
        line = [*command("batch", settings, binary), "-i", "-", "-o", "-", "--quiet", "--offset-unit", "code_point"]
        self._process = Process(line, dict(os.environ), folder)
        self._finalizer = weakref.finalize(self, self._process.stop)

    def __getstate__(self) -> tuple[dict[str, Setting], Path | None, str]:
        return self._opened

    def __setstate__(self, opened: tuple[dict[str, Setting], Path | None, str]) -> None:
        self._open(*opened)

    def score(self, text: str) -> Result:
        """Returns the result for one text. Raises TypeError if it is not a str, and ToxscreenError if it cannot be scored."""
        row = as_row(text_of(text, "score"))
        answers: queue.SimpleQueue[bytes | ToxscreenError] = queue.SimpleQueue()
        if row.error is None:
            self._process.ask(row.line, answers.put)
        return _raised(row.result(answers.get() if row.error is None else b""))

    def score_many(
        self, rows: Iterable[Any] | pandas.DataFrame | polars.DataFrame, *, column: Hashable | None = None, progress: bool = False
    ) -> Generator[Result, None, None]:
        """Yields one result for each row, in order. A row is a text, or a pair of an id and a text.

        column    the column with the texts, if rows is a DataFrame
        progress  show a bar of tqdm, which must be installed

        A row that cannot be scored has a result with error. Rows are read ahead in the caller's thread, at most 512 or 16 MiB of
        texts, so memory does not grow with their number. An exception of rows is raised after the results of the rows before it.
        Raises TypeError at once for a str, a mapping, and anything else whose items are hardly the texts that the caller means;
        ToxscreenError if the process cannot be kept alive, or if the iterator is used in a forked process.
        """
        results = self._results(rows_of(rows, column, "score_many"))
        return counted(results, rows) if progress else results

    def _results(self, rows: Iterator[Any]) -> Generator[Result, None, None]:
        answers: queue.SimpleQueue[bytes | ToxscreenError] = queue.SimpleQueue()
        ahead, owner = Ahead(), os.getpid()
        source: Iterator[Any] | None = rows
        error: Exception | None = None

        def ready() -> bool:
            return bool(ahead.rows) and (ahead.rows[0].error is not None or not answers.empty())

        while True:
            # Before anything is read: a file of the rows may be shared with the parent.
            if os.getpid() != owner:
                raise ToxscreenError("failed to go on with score_many: the process has forked; call it again in the child")
            # Filling all the room at once wakes the other threads less often. A slow source does not hold up results that are there.
            deadline, slow = time.monotonic() + _PATIENCE, False
            while source is not None and ahead.has_room() and not slow:
                try:
                    row = as_row(next(source))
                    if row.error is None:
                        self._process.ask(row.line, answers.put)
                    ahead.append(row)
                except StopIteration:
                    source = None
                except Exception as raised:  # noqa: BLE001  It is raised later.
                    source, error = None, raised
                slow = time.monotonic() > deadline and ready()
            while ahead.rows and (source is None or ahead.is_half_full() or (slow and ready())):
                if os.getpid() != owner:
                    raise ToxscreenError("failed to go on with score_many: the process has forked; call it again in the child")
                row = ahead.popleft()
                yield row.result(b"" if row.error is not None else answers.get())
            if source is None:
                if error is not None:
                    raise error
                return

    @overload
    def score_series(self, texts: pandas.Series[Any], *, progress: bool = False) -> pandas.DataFrame: ...
    @overload
    def score_series(self, texts: polars.Series, *, progress: bool = False) -> polars.DataFrame: ...
    def score_series(self, texts: Any, *, progress: bool = False) -> Any:
        """Returns a DataFrame for a Series of texts, both of pandas or both of polars.

        It has one row for each text, in pandas with the index of the Series, and the columns score, flagged, severity, the seven
        attributes, spans, entities, not_decided, error and exit. spans and entities are lists of dicts as in Result.to_dict. Scores
        are estimates where exit is not null: open the Screener with full=True to rank harmless texts, too. A missing text has an
        error. progress shows a bar of tqdm. Raises TypeError for anything but a Series, and ToxscreenError like score_many.
        """
        from toxscreen._frames import frame, series

        results = self._results((None, text) for text in series(texts))
        return frame(texts, counted(results, texts) if progress else results)

    async def ascore(self, text: str) -> Result:
        """Returns what score returns, without blocking the event loop."""
        from toxscreen._async import ask

        row = as_row(text_of(text, "ascore"))
        return _raised(row.result(await ask(self._process, row.line) if row.error is None else b""))

    def ascore_many(
        self,
        rows: Iterable[Any] | AsyncIterable[Any] | pandas.DataFrame | polars.DataFrame,
        *,
        column: Hashable | None = None,
        progress: bool = False,
    ) -> AsyncGenerator[Result, None]:
        """Yields what score_many yields, without blocking the event loop.

        Results go on while an async iterable waits. Other iterables are read in the event loop.
        """
        from toxscreen._async import results

        source = rows if isinstance(rows, AsyncIterable) and column is None else rows_of(rows, column, "ascore_many")
        scored = results(self._process, source, self)
        return acounted(scored, rows) if progress else scored

    def close(self) -> None:
        """Ends the process. Calls that wait for results get a ToxscreenError, and so do later calls."""
        self._finalizer.detach()
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _raised(result: Result) -> Result:
    if result.error is not None:
        raise ToxscreenError(result.error)
    return result


# How long in seconds score_many reads rows while results are there.
_PATIENCE = 0.005

"""Arrow batches through one toxscreen process: what runs in a Spark task. Nothing here needs Spark."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from toxscreen._binary import find_binary
from toxscreen._command import command
from toxscreen._process import Process
from toxscreen._results import ATTRIBUTES, ToxscreenError


@dataclass(frozen=True)
class Columns:
    """What is read from each batch, and what is written.

    id and those in keep are passed on. With lines, this column holds whole rows in JSONL, and text is the field with the text. judged adds
    why the judge gave no verdict, whole the native result, and rest the value of text or lines of each row that failed.
    """

    text: str
    id: str
    keep: tuple[str, ...] = ()
    judged: bool = False
    whole: bool = False
    lines: str | None = None
    rest: bool = False

    @property
    def given(self) -> str:
        """The column with what is scored."""
        return self.lines or self.text


def open_process(columns: Columns, settings: Mapping[str, Any], folder: Path) -> Process:
    """Returns a process for score_batches that runs in a folder: paths in the settings are relative to it.

    Raises ToxscreenError if there is no binary.
    """
    folder = folder.resolve()
    given = dict(settings)
    binary = given.pop("binary", None)
    if binary is not None:
        path = folder / binary
        if not path.is_file():
            raise ToxscreenError(f"failed to find the toxscreen binary: there is no {path}; name a path on the workers, or one inside an archive")
    elif unpacked := sorted((folder / ARCHIVE).glob("*/toxscreen")):
        path = unpacked[0]
    else:
        try:
            path = find_binary()
        except ToxscreenError as error:
            raise ToxscreenError(f"{error}, or send the archive of a release with --archives FILE#{ARCHIVE}") from None
    flags = {"text_column": columns.text, "no_judge": "judge_model" not in given, **given}
    return Process([*command("batch", flags, path), "-i", "-", "-o", "-", "--quiet"], dict(os.environ), str(folder))


# The name of the archive of a release on the workers.
ARCHIVE = "toxscreen"


def score_batches(batches: Iterable[pa.RecordBatch], columns: Columns, process: Process) -> Iterator[pa.RecordBatch]:
    """Yields the scored rows in their order, in smaller batches.

    Raises ToxscreenError if the process cannot be kept alive. The process stays open.
    """
    pieces: deque[_Piece] = deque()
    if columns.lines is not None:
        # A first line that looks like another format would end the process. Every other one is a row with an error.
        process.ask(_row(columns.text, b""), lambda _: None)
    for batch in batches:
        for rows in _split(batch, columns.given):
            pieces.append(_Piece(rows, columns, process))
            # One piece is ahead, so the process has work while the results of the other become Arrow and go to Spark.
            if len(pieces) > 1:
                yield pieces.popleft().scored()
    while pieces:
        yield pieces.popleft().scored()


def _split(batch: pa.RecordBatch, column: str) -> Iterator[pa.RecordBatch]:
    """Yields the batch in parts of at most _ROWS rows, which end with the row whose text reaches _BYTES."""
    start, size = 0, 0
    for end, length in enumerate(pc.binary_length(batch.column(column)).to_pylist(), 1):
        size += length or 0
        if end - start == _ROWS or size >= _BYTES or end == batch.num_rows:
            yield batch.slice(start, end - start)
            start, size = end, 0


# Enough rows that the price of a batch does not count, and few enough bytes that two pieces of long texts need little memory.
_ROWS = 1000
_BYTES = 4 << 20


class _Piece:
    """Rows that were asked together."""

    def __init__(self, batch: pa.RecordBatch, columns: Columns, process: Process) -> None:
        self._batch, self._columns = batch, columns
        self._lines: list[bytes] = []
        self._error: ToxscreenError | None = None
        self._complete = threading.Event()
        for line in _rows(batch, columns):
            process.ask(line, self._answer)

    def _answer(self, answer: bytes | ToxscreenError) -> None:
        if isinstance(answer, ToxscreenError):
            self._error = answer
            self._complete.set()
            return
        self._lines.append(answer)
        if len(self._lines) == self._batch.num_rows:
            self._complete.set()

    def scored(self) -> pa.RecordBatch:
        self._complete.wait()
        if self._error is not None:
            raise self._error
        ids = {name: self._batch.column(name) for name in dict.fromkeys((self._columns.id, *self._columns.keep))}
        scored = ids | _parse(self._lines)
        failed = pc.is_valid(scored["error"])
        if self._columns.judged:
            scored["judge_error"] = _columns_of(self._lines, _JUDGED)["judge"].field("error")
        if self._columns.whole:
            scored["result"] = pc.if_else(failed, None, _without_row(self._lines))
        if self._columns.rest:
            scored["rest"] = pc.if_else(failed, self._batch.column(self._columns.given), None)
        return pa.RecordBatch.from_pydict(scored)


def _rows(batch: pa.RecordBatch, columns: Columns) -> Iterator[bytes]:
    """Yields a line for the process for each row."""
    for value in batch.column(columns.given).cast(pa.binary()).to_pylist():
        if columns.lines is None:
            yield _row(columns.text, value)
        else:
            bare = value.removeprefix(b"\xef\xbb\xbf")  # a byte order mark
            # `batch` passes over a blank line without an answer; with the mark, it is a row with an error.
            yield (bare if bare.decode(errors="replace").strip() else value) + b"\n"


def _row(name: str, text: bytes | None) -> bytes:
    # Spark's strings may have bytes that are not UTF-8. They are passed on, and toxscreen warns of them.
    value = "null" if text is None else encode_basestring(text.decode(errors="surrogateescape"))
    return f"{{{encode_basestring(name)}:{value}}}\n".encode(errors="surrogateescape")


def _parse(lines: list[bytes]) -> dict[str, pa.Array]:
    """Returns the columns from score to error. Arrow parses only what they need, a quarter of the time of the json module."""
    column = _columns_of(lines, _NATIVE)
    attributes = column["attributes"]
    return {
        "score": column["score"],
        "flagged": column["flagged"],
        "severity": column["severity"],
        **{a: pc.struct_field(attributes, [a, "score"]) for a in ATTRIBUTES},
        "not_decided": column["not_decided"],
        # The number counts the rows of the process.
        "error": pc.replace_substring_regex(column["error"], r"^line \d+: ", ""),
    }


def _columns_of(lines: list[bytes], schema: pa.Schema) -> dict[str, pa.Array]:
    """Returns the fields of lines in JSON that a schema names."""
    data = b"\n".join(lines)
    if b"\\ud" in data or b"\\uD" in data:
        # Arrow refuses half a character, also in fields that it ignores.
        data = _ESCAPES.sub(lambda match: b"\\ufffd" if len(match[0]) == len(b"\\ud83d") else match[0], data)
    table = pa.json.read_json(
        pa.BufferReader(data),
        read_options=pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    ).combine_chunks()
    return {name: table.column(name).chunk(0) for name in schema.names}


# A backslash, a pair of surrogates, or one alone.
_ESCAPES = re.compile(rb"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F]..")

_NATIVE = pa.schema(
    [
        ("score", pa.float64()),
        ("flagged", pa.bool_()),
        ("severity", pa.string()),
        ("attributes", pa.struct([(a, pa.struct([("score", pa.float64())])) for a in ATTRIBUTES])),
        ("not_decided", pa.string()),
        ("error", pa.string()),
    ]
)


_JUDGED = pa.schema([("judge", pa.struct([("error", pa.string())]))])


def _without_row(lines: list[bytes]) -> pa.Array:
    """Returns the native results: `batch` puts {"row":N, before each."""
    return pa.array([b"{" + line[line.index(b",") + 1 :] for line in lines], pa.binary()).cast(pa.string())

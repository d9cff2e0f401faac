"""What runs in a Spark task, against the real binary and without Spark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from toxscreen import ToxscreenError, _arrow
from toxscreen._arrow import Columns, open_process, score_batches
from toxscreen._binary import find_binary
from toxscreen._process import Process
from toxscreen._results import ATTRIBUTES

REPOSITORY = Path(__file__).parents[2]
BINARY = str(find_binary())
TINY = str(REPOSITORY / "testdata" / "models" / "tiny")


def opened(columns: Columns, **settings: Any) -> closing[Process]:
    return closing(open_process(columns, {"threads": 1, "binary": BINARY, **settings}, Path()))


def score(columns: Columns, *batches: pa.RecordBatch, **settings: Any) -> list[dict[str, Any]]:
    with opened(columns, **settings) as process:
        return [row for scored in score_batches(batches, columns, process) for row in scored.to_pylist()]


def test_scores_are_those_of_batch(tmp_path: Path) -> None:
    texts = [
        "Thank you, that was a great help.",
        "you idiot",
        "",
        'a "quoted" \\ line\nand \u2028 another \U0001f600',
        "Tervetuloa meille, täällä on todella mukavaa olla tänään kesällä.",
    ]
    rows, result = tmp_path / "rows.jsonl", tmp_path / "scored.jsonl"
    rows.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    subprocess.run([BINARY, "batch", "--quiet", "--no-judge", "-i", rows, "-o", result], check=False)

    batch = pa.RecordBatch.from_pydict({"n": list(range(len(texts))), "comment": texts})
    scored = score(Columns("comment", "n", whole=True), batch)

    for number, (row, line) in enumerate(zip(scored, result.read_text().splitlines(), strict=True)):
        native = json.loads(line)
        del native["row"]
        assert json.loads(row["result"]) == native
        assert row["n"] == number
        assert row["error"] is None
        assert {name: row[name] for name in ("score", "flagged", "severity", "not_decided")} == {
            name: native.get(name) for name in ("score", "flagged", "severity", "not_decided")
        }
        assert {a: row[a] for a in ATTRIBUTES} == {a: native["attributes"][a]["score"] for a in ATTRIBUTES}
    assert [row["flagged"] for row in scored] == [False, True, False, False, None]
    assert scored[4]["not_decided"]


def test_a_bad_row_has_an_error_and_the_others_their_scores() -> None:
    batch = pa.RecordBatch.from_pydict({"id": ["null", "long", "good"], "comment": [None, "x" * 101, "thank you"]})
    null, long, good = score(Columns("comment", "id", whole=True, rest=True), batch, max_bytes=100)

    assert null["error"] == 'the field "comment" is not a string but null'
    assert "it has 101 bytes, the limit is 100" in long["error"]
    for row in (null, long):
        assert {row[name] for name in ("score", "flagged", "severity", *ATTRIBUTES, "not_decided", "result")} == {None}
    assert (null["rest"], long["rest"]) == (None, "x" * 101), "what a dead letter needs to be repaired"
    assert good["score"] is not None
    assert (good["error"], good["rest"]) == (None, None)


def test_strings_that_are_not_utf8_are_scored() -> None:
    """Spark makes them of binary columns without a complaint."""
    text = pa.array([b"good \xff morning"]).view(pa.string())
    [row] = score(Columns("text", "id", whole=True), pa.RecordBatch.from_pydict({"id": [1], "text": text}))

    assert row["score"] is not None
    assert "UTF-8" in " ".join(json.loads(row["result"])["warnings"])


def test_lines_of_jsonl_have_the_errors_of_batch() -> None:
    """The first line of a partition may look like another format, which batch refuses as a whole, and a byte order mark may stand alone."""
    lines = ["[1]", "\ufeff" + '{"text":"thank you"}', '{"text":5}', "\ufeff\r", '{"other":"x"}', "{"]
    batch = pa.RecordBatch.from_pydict({"id": [None] * len(lines), "line": lines})
    scored = score(Columns("text", "id", lines="line", rest=True), batch)

    assert [row["error"] for row in scored] == [
        "it is JSON, but not an object",
        None,
        'the field "text" is not a string but a number',
        "it is not JSON: invalid character 'ï' looking for beginning of value",
        'there is no field "text"; there are: "other"',
        "it is not JSON: unexpected end of JSON input; an object must be on one line",
    ]
    assert [row["rest"] for row in scored] == [lines[0], None, *lines[2:]]


def test_half_a_character_in_another_field_harms_nothing() -> None:
    """A cut emoji is legal in JSON, and batch passes the other fields on as they are. Arrow refuses it wherever it is."""
    lines = [r'{"text":"thank you","name":"\ud83d"}', r'{"text":"thank you","name":"\\ud83d \ud83d\ude00"}']
    batch = pa.RecordBatch.from_pydict({"id": [1, 2], "line": lines})
    scored = score(Columns("text", "id", lines="line", whole=True), batch)

    assert [row["error"] for row in scored] == [None, None]
    assert scored[0]["score"] == scored[1]["score"]
    assert json.loads(scored[1]["result"])["input"]["name"] == "\\ud83d \U0001f600"


def test_a_judge_that_gives_no_verdict_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOXSCREEN_JUDGE_TRUST", "none")  # a judge without a self-test is asked, too
    batch = pa.RecordBatch.from_pydict({"id": [1], "text": ["you are a bit silly"]})
    [row] = score(Columns("text", "id", judged=True), batch, judge_model="judge", judge_host="127.0.0.1:1")

    assert row["score"] is not None
    assert "no server answers at 127.0.0.1:1" in row["judge_error"]


def test_columns_are_passed_on_in_order_with_their_types() -> None:
    count = 2500
    batches = [
        pa.RecordBatch.from_pydict(
            {"id": pa.array(range(start, start + count), pa.int64()), "text": [f"edit {n}" for n in range(count)], "stars": [1.5] * count}
        )
        for start in (0, count)
    ]
    with opened(columns := Columns("text", "id", keep=("stars", "text")), model=TINY) as process:
        scored = list(score_batches([batches[0], batches[0].slice(0, 0), batches[1]], columns, process))

    assert scored[0].schema.names[:3] == ["id", "stars", "text"]
    assert pa.Table.from_batches(scored).select(["id", "stars", "text"]) == pa.Table.from_batches(batches).select(["id", "stars", "text"]).combine_chunks()
    assert max(batch.num_rows for batch in scored) <= _arrow._ROWS


def test_long_texts_are_asked_few_at_a_time() -> None:
    """Each text is in memory several times while it is scored."""
    batch = pa.RecordBatch.from_pydict({"text": [None, *["x" * (1 << 20)] * 10]})
    assert [piece.num_rows for piece in _arrow._split(batch, "text")] == [5, 4, 2]


def test_the_next_rows_are_read_while_rows_are_scored() -> None:
    """But not all of them: memory does not grow with the partition."""
    read = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal read
        for _ in range(20):
            read += 1
            yield pa.RecordBatch.from_pydict({"id": [1], "text": ["thank you"]})

    with opened(columns := Columns("text", "id"), model=TINY) as process:
        scored = score_batches(batches(), columns, process)
        next(scored)
        assert read == 2
        assert len(list(scored)) == 19


def test_a_killed_process_is_started_again() -> None:
    batch = pa.RecordBatch.from_pydict({"id": list(range(3000)), "text": [f"edit {n}" for n in range(3000)]})
    with opened(columns := Columns("text", "id"), model=TINY) as process:
        scored = score_batches([batch], columns, process)
        rows = next(scored).to_pylist()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        rows += [row for piece in scored for row in piece.to_pylist()]

    assert [row["id"] for row in rows] == list(range(3000))
    assert {row["error"] for row in rows} == {None}


def test_no_process_is_left() -> None:
    with opened(columns := Columns("text", "id"), model=TINY) as process:
        next(score_batches([pa.RecordBatch.from_pydict({"id": [1], "text": ["thank you"]})], columns, process))
        pid = process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid or 0, 0)


def test_a_missing_binary_is_an_error_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ToxscreenError, match="there is no .*/nowhere/toxscreen; name a path on the workers, or one inside an archive"):
        open_process(Columns("text", "id"), {"binary": "nowhere/toxscreen"}, Path())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr("toxscreen._binary.__file__", str(tmp_path / "lib" / "python3" / "site-packages" / "toxscreen" / "_binary.py"))
    with pytest.raises(ToxscreenError, match="or send the archive of a release with --archives FILE#toxscreen"):
        open_process(Columns("text", "id"), {}, Path())


def test_the_binary_of_an_archive_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "toxscreen" / "toxscreen-v1-linux-amd64"
    folder.mkdir(parents=True)
    (folder / "toxscreen").symlink_to(BINARY)
    columns = Columns("text", "id")
    with closing(open_process(columns, {"model": TINY}, tmp_path)) as process:
        [scored] = score_batches([pa.RecordBatch.from_pydict({"id": [1], "text": ["thank you"]})], columns, process)
    assert scored.num_rows == 1


def test_a_wrong_setting_is_an_error() -> None:
    with pytest.raises(ToxscreenError, match="unknown attribute"):
        score(Columns("text", "id"), pa.RecordBatch.from_pydict({"id": [1], "text": ["thank you"]}), thresholds={"rudeness": 0.5})

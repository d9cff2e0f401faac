"""What one text, and a stream of texts, have as their results."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import pickle
import sqlite3
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from toxscreen import Passage, Result, Screener, Span, ToxscreenError
from toxscreen._binary import find_binary

IDIOT = "You are a stupid idiot, and so is your edit."


def test_a_text_has_scores_attributes_and_spans(screener: Screener) -> None:
    result = screener.score(IDIOT)
    assert result.flagged
    assert result.score is not None
    assert result.score > 0.5
    assert result.severity in ("moderate", "severe")
    insult = result.attributes["insult"]
    assert insult.flagged
    assert insult.score >= insult.threshold
    assert result.spans is not None
    assert [IDIOT[span.start : span.end] for span in result.spans] == ["stupid idiot"]
    assert result.versions is not None
    assert result.versions.model.startswith("toxicity-en@")


def test_what_was_not_measured_is_none(screener: Screener) -> None:
    result = screener.score("Thank you, that was a great help.")
    assert result.flagged is False
    assert result.passages is None
    assert result.entities is None, "personal data was not looked for"
    assert result.attributes["insult"].judge is None
    assert "entities" not in result.to_dict()


def test_to_dict_is_the_native_result(screener: Screener) -> None:
    """The keys and the numbers are those of the command line, also for a text that is not decided and for a disguised one."""
    texts = [IDIOT, "", "You 1d10t!", "Tervetuloa meille, täällä on todella mukavaa olla tänään kesällä.", "sm😀le, you idiot"]
    command = [str(find_binary()), "score", "--format", "json", "--offset-unit", "code_point", *texts]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    native = [json.loads(line) for line in printed.splitlines()]
    assert [result.to_dict() for result in screener.score_many(texts)] == native
    assert any("not_decided" in result for result in native)
    assert any("readings" in result for result in native)


def test_offsets_of_a_long_text_are_converted_quickly() -> None:
    """Each character of such a text is wider in other units."""
    text = "\u4f60🙂" * 250_000
    spans = tuple(Span(i, i + 1, {}) for i in range(0, 500_000, 100))
    converted = Result(text=text, score=0.9, spans=spans).in_unit("byte").spans
    assert converted is not None
    assert [span.start for span in converted] == [7 * (span.start // 2) for span in spans]


def test_results_can_be_copied_between_processes(screener: Screener) -> None:
    result = screener.score(IDIOT)
    assert pickle.loads(pickle.dumps(result)) == result


def test_a_result_with_an_error_has_nothing_else(screener: Screener) -> None:
    [result] = screener.score_many([("row 7", None)])
    assert result.to_dict() == {"id": "row 7", "error": "the text is missing"}
    assert result.score is None
    assert result.flagged is None
    assert result.attributes == {}
    assert result.in_unit("byte").error == result.error


def test_offsets_are_indexes_of_the_str(screener: Screener) -> None:
    text = "🙂 Grüße, you idiot 🙂 you idiot"
    result = screener.score(text)
    assert result.offset_unit == "code_point"
    assert result.spans is not None
    assert [text[span.start : span.end] for span in result.spans] == ["idiot", "idiot"]

    in_bytes = result.in_unit("byte")
    assert in_bytes.spans is not None
    assert [text.encode()[span.start : span.end] for span in in_bytes.spans] == [b"idiot", b"idiot"]
    assert in_bytes.passages is not None
    assert in_bytes.passages[0].end == len(text.encode())
    assert in_bytes.in_unit("code_point") == result

    utf16 = text.encode("utf-16-le")
    in_utf16 = result.in_unit("utf16")
    assert in_utf16.spans is not None
    assert [utf16[2 * span.start : 2 * span.end].decode("utf-16-le") for span in in_utf16.spans] == ["idiot", "idiot"]
    with pytest.raises(ValueError, match="unknown offset unit 'line'"):
        result.in_unit("line")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["\ud83d you idiot", "\ud83d\ude00 you idiot", "you idiot \udc00"])
def test_surrogates_keep_their_places(screener: Screener, text: str) -> None:
    """A str may have halves of characters. Two of them would become one character on the way, and move the spans."""
    result = screener.score(text)
    assert result.spans is not None
    assert [text[span.start : span.end] for span in result.spans] == ["idiot"]
    assert "they are read as U+FFFD" in result.warnings[0]
    in_bytes = result.in_unit("byte")
    assert in_bytes.spans is not None
    assert text.encode("utf-8", "surrogatepass")[in_bytes.spans[0].start : in_bytes.spans[0].end] == b"idiot"


def test_line_breaks_and_control_characters_are_part_of_a_text(screener: Screener) -> None:
    texts = ["you\nidiot", "you\r\nidiot", 'you "idiot"', "you\u2028idiot", "you\x00idiot", "\\n"]
    results = list(screener.score_many(texts))
    assert [result.text for result in results] == texts
    assert [result.spans == () for result in results] == [False] * 5 + [True]


def test_bad_rows_are_results_with_an_error(screener: Screener) -> None:
    rows = ["you idiot", None, 7, 0.5, b"bytes", ("a", "thanks"), ("b", None), ["x"], "thanks"]
    results = list(screener.score_many(rows))
    assert [result.error for result in results] == [
        None,
        "the text is missing",
        "the text is not a str but int",
        "the text is not a str but float",
        "the text is not a str but bytes",
        None,
        "the text is missing",
        "the text is not a str but list",
        None,
    ]
    assert [result.id for result in results] == [None] * 5 + ["a", "b", None, None]


def test_rows_of_a_database_and_of_csv_are_pairs(screener: Screener) -> None:
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    rows = [database.execute("select 7, 'thanks'").fetchone(), ["8", "thanks"]]
    assert [(result.id, result.text, result.error) for result in screener.score_many(rows)] == [(7, "thanks", None), ("8", "thanks", None)]
    database.close()


def test_an_id_stays_as_it_is(screener: Screener) -> None:
    """Also one that looks like a part of a result, as the place of a subtitle does."""
    [result] = screener.score_many([(Passage(1, 2, 0.5), "🙂 you idiot")])
    assert result.in_unit("byte").id == Passage(1, 2, 0.5)
    assert result.in_unit("byte").spans != result.spans


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["you idiot", "thanks"], r"score takes one str, not list: call score_many\(texts\) for many texts"),
        (("7", "you idiot"), r"score takes one str, not tuple: call score_many\(texts\) for many texts"),
        (b"you idiot", r"score takes one str, not bytes: call score\(data.decode\(\)\)"),
        (None, "score takes one str, not NoneType"),
        (7, "score takes one str, not int"),
    ],
)
def test_score_takes_a_str_alone(screener: Screener, given: Any, message: str) -> None:
    """A list of two texts would be the second of them with an id."""
    with pytest.raises(TypeError, match=f"^{message}$"):
        screener.score(given)
    with pytest.raises(TypeError, match=f"^a{message.replace('call score', 'call ascore')}$"):
        asyncio.run(screener.ascore(given))


async def async_rows() -> AsyncIterator[str]:
    yield "thanks"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("abc", r"takes many texts, not one str: call (a?)score\(text\)"),
        (b"abc", r"takes many texts, not bytes: call (a?)score\(data.decode\(\)\)"),
        ({"7": "you idiot"}, r"would score the keys of a dict: call (a?)score_many\(d.items\(\)\), where the keys are ids"),
        (7, "takes an iterable of texts, not int"),
        (None, "takes an iterable of texts, not NoneType"),
    ],
)
def test_score_many_takes_what_has_texts_as_its_items(screener: Screener, given: Any, message: str) -> None:
    """Each letter of a str is a str. The error comes at once, and not with the first result."""
    with pytest.raises(TypeError, match=f"^score_many {message}$"):
        screener.score_many(given)
    with pytest.raises(TypeError, match=f"^ascore_many {message}$"):
        screener.ascore_many(given)


def test_score_many_names_the_call_for_async_rows(screener: Screener) -> None:
    with pytest.raises(TypeError, match=r"^score_many takes an iterable, not an async one: call ascore_many\(rows\) of a Screener$"):
        screener.score_many(async_rows())  # type: ignore[arg-type]


def test_only_bad_rows(screener: Screener) -> None:
    assert [result.score for result in screener.score_many([None] * 2000)] == [None] * 2000


def test_a_text_over_the_limit_is_an_error_and_the_stream_goes_on(screener: Screener) -> None:
    results = list(screener.score_many(["thanks", "x" * 1_048_577, "x" * 20_000_000, "you idiot"]))
    assert [result.error is None for result in results] == [True, False, False, True]
    assert "the limit is 1048576" in (results[1].error or "")
    assert "the row has more than 9437184 bytes" in (results[2].error or "")
    with pytest.raises(ToxscreenError, match="the limit is 1048576"):
        screener.score("x" * 1_048_577)


def test_no_rows_have_no_results_and_need_no_process() -> None:
    with Screener() as screener:
        assert list(screener.score_many([])) == []
        assert screener._process.pid is None


def test_results_are_in_the_order_of_the_rows(screener: Screener) -> None:
    """Long texts take longer than short ones, and many are scored at once."""
    texts = [f"{i} " + "and so on " * (i % 7 * 40) for i in range(60)]
    results = list(screener.score_many(enumerate(texts)))
    assert [result.id for result in results] == list(range(60))
    assert [result.text for result in results] == texts


def test_a_stream_reads_only_a_little_ahead(tiny: Path) -> None:
    """A slow reader holds the stream up, and memory does not grow: 512 rows ahead, or 16 MiB."""
    read = 0

    def rows() -> Iterator[str]:
        nonlocal read
        for read in itertools.count(1):
            yield f"text {read}"

    def long_rows() -> Iterator[str]:
        nonlocal read
        for read in itertools.count(1):
            yield "x" * 2_000_000

    with Screener(model=tiny) as screener:
        results = screener.score_many(rows())
        for taken in range(1, 1200):
            next(results)
            assert read <= taken + 512
        results.close()
        results = screener.score_many(long_rows())
        for taken in range(1, 20):
            next(results)
            assert read <= taken + 9


def test_memory_is_flat(tiny: Path) -> None:
    def resident() -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    with Screener(model=tiny) as screener:
        after = [resident() for i, _ in enumerate(screener.score_many("text" for _ in range(12_001))) if i % 2000 == 0]
    assert after[-1] - after[1] < 5, f"megabytes after each 2,000 rows: {after}"


def test_a_slow_source_does_not_hold_results_up(screener: Screener) -> None:
    """The result of a row comes when the source has given the next row, at the latest."""
    given = 0

    def rows() -> Iterator[str]:
        nonlocal given
        for given in range(1, 5):
            yield "thanks"
            screener.score("This waits until the answer is there.")
            time.sleep(0.01)

    for taken, _ in enumerate(screener.score_many(rows()), 1):
        assert given <= taken + 1


def test_an_exception_of_the_rows_comes_after_the_results_before_it(screener: Screener) -> None:
    def rows() -> Iterator[str]:
        yield "thanks"
        yield "you idiot"
        raise LookupError("the cursor broke")

    got = []
    with pytest.raises(LookupError, match="the cursor broke"):
        for result in screener.score_many(rows()):
            got.append(result.flagged)
    assert got == [False, True]


def test_a_stated_language_is_believed() -> None:
    finnish = "Tänään on todella kaunis ilma ja lähdemme kävelylle puistoon."
    with Screener() as detecting, Screener(language="en") as told:
        assert detecting.score(finnish).not_decided is not None
        assert told.score(finnish).not_decided is None


def test_a_sensitivity_selects_thresholds_of_the_model(tiny: Path) -> None:
    thresholds = []
    for sensitivity in ("low", None, "high"):
        with Screener(model=tiny.with_name("tiny-exits"), sensitivity=sensitivity, thresholds={"insult": 0.7}) as screener:
            attributes = screener.score("silly").attributes
            thresholds.append(attributes["toxicity"].threshold)
            assert attributes["insult"].threshold == 0.7, "a threshold of the caller comes first"
    assert thresholds == [0.9, 0.5, 0.3]


def test_a_scale_selects_scores_and_thresholds_of_the_model(tiny: Path) -> None:
    with Screener(model=tiny.with_name("tiny-scales")) as own, Screener(model=tiny.with_name("tiny-scales"), scale="perspective") as other:
        guideline, perspective = own.score("silly"), other.score("silly")
    assert guideline.versions is not None and perspective.versions is not None
    assert (guideline.versions.scale, perspective.versions.scale) == (None, "perspective")
    assert perspective.attributes["toxicity"].threshold == 0.7
    assert perspective.attributes["toxicity"].score != guideline.attributes["toxicity"].score


def test_settings_are_those_of_the_command_line() -> None:
    text = "You idiot, write to jim@example.com."
    with Screener(pii=True, full=True, thresholds={"insult": 0.99, "toxicity": 0.98}, threads=1, max_bytes=100, no_judge=True) as screener:
        result = screener.score(text)
        assert result.entities is not None
        assert [(entity.type, text[entity.start : entity.end]) for entity in result.entities] == [("EMAIL_ADDRESS", "jim@example.com")]
        assert result.attributes["insult"].threshold == 0.99
        assert screener.score("Thanks.").exit is None, "the whole network was asked for"
        with pytest.raises(ToxscreenError, match="the limit is 100"):
            screener.score("x" * 101)

"""Results as dataclasses. They have the fields of the native result; what was not measured is None."""

from __future__ import annotations

import dataclasses
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

OffsetUnit = Literal["code_point", "byte", "utf16"]

ATTRIBUTES = ("toxicity", "severe_toxicity", "insult", "profanity", "identity_attack", "threat", "sexually_explicit")

_T = TypeVar("_T")


class ToxscreenError(Exception):
    """Why a text was not scored, or why toxscreen does not work. The message names the step that failed and what to do."""


@dataclass(frozen=True, slots=True)
class AttributeResult:
    """The measurements for one attribute, all in 0..1."""

    score: float
    classifier: float  # the classifier's own probability, before the judge's verdict
    threshold: float
    flagged: bool | None = None  # None if the text is not decided
    plain: float | None = None  # the classifier's probability for the text as written, if undoing disguise changed it noticeably
    judge: float | None = None  # the judge's own probability


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a flagged text to look at first. Its score is that of the passage as a text of its own."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Span:
    """Words that cause the score, with the probability of each attribute that they cause."""

    start: int
    end: int
    attributes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reading:
    """Words that are read differently than they are written, because they look disguised or misspelt."""

    start: int
    end: int
    read_as: str


@dataclass(frozen=True, slots=True)
class Entity:
    """Personal data. Its score in 0..1 says how sure its type is, and why names what speaks for it."""

    type: str
    start: int
    end: int
    score: float
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """A part of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place that the judge quoted. match is "exact", "folded" (differs in case and white space) or "near"."""

    start: int
    end: int
    match: str


@dataclass(frozen=True, slots=True)
class AspectVerdict:
    """The judge's verdict on one aspect of its rubric."""

    name: str
    yes: bool
    attribute: str | None = None
    p_yes: float | None = None  # not calibrated
    yes_alone: bool | None = None  # for the core of the passage alone
    p_yes_alone: float | None = None
    severity: int | None = None
    violations: tuple[str, ...] | None = None
    evidence: tuple[Evidence, ...] | None = None
    not_in_text: tuple[str, ...] | None = None  # quotations that are not in the text: they are ignored


@dataclass(frozen=True, slots=True)
class Verdict:
    """The opinion of the judge on one text."""

    rubric: str
    model: str
    scale: float  # the highest score that the rubric allows
    aspects: tuple[AspectVerdict, ...]
    warnings: tuple[str, ...]
    input_tokens: int
    output_tokens: int
    score: float | None = None
    passage: Range | None = None  # the part that the judge saw
    core: tuple[Range, ...] | None = None
    addressed: tuple[Evidence, ...] | None = None  # where the text addresses the judge
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """Whether the judge was asked, and why."""

    asked: bool
    why: str
    pending: bool | None = None
    id: str | None = None
    verdicts: tuple[Verdict, ...] | None = None
    error: str | None = None
    raw: str | None = None
    milliseconds: float | None = None


@dataclass(frozen=True, slots=True)
class Versions:
    """What a result depends on."""

    toxscreen: str
    model: str
    scale: str | None = None  # of the scores; None for the guideline's
    calibration: str | None = None
    entities: str | None = None
    rubric: str | None = None
    judge_model: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result for one text. If there is none, `error` says why, and all other fields but id and text are None or empty.

    Offsets are indexes of the str: `result.text[span.start:span.end]`. `in_unit` gives the others.
    """

    id: Any = None  # the caller's, if the row was (id, text)
    text: str | None = None
    error: str | None = None
    score: float | None = None  # the share of people in 0..1 who would call the text toxic
    flagged: bool | None = None  # whether an attribute is at or over its threshold; None if the text is not decided
    severity: str | None = None  # none, mild, moderate or severe
    not_decided: str | None = None  # why the text is called neither toxic nor clean
    language: str | None = None  # ISO 639 or BCP 47 code of the language that the text seems to be in, or None if it is not known
    unsupported_language: str | None = None  # ISO 639 code
    attributes: Mapping[str, AttributeResult] = dataclasses.field(default_factory=dict)
    passages: tuple[Passage, ...] | None = None  # at most three, the worst first; None if nothing stands out
    spans: tuple[Span, ...] | None = None  # None if the model cannot mark words
    readings: tuple[Reading, ...] | None = None
    entities: tuple[Entity, ...] | None = None  # None if they were not looked for
    offset_unit: OffsetUnit = "code_point"
    exit: int | None = None  # the exit at which a clearly harmless text left the network
    source: str | None = None  # classifier or fused
    judge: JudgeReport | None = None
    warnings: tuple[str, ...] = ()
    versions: Versions | None = None

    def __repr__(self) -> str:
        """Returns one line without the text, which may not belong into a log."""
        id = "" if self.id is None else f" id={self.id!r}"
        score = "" if self.score is None else f" score={self.score:.3f}"
        return f"<Result{id}{score} {outcome(self)}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the text with marks, and a bar for each attribute."""
        from toxscreen._html import fragment

        return fragment(self)

    def in_unit(self, unit: OffsetUnit) -> Result:
        """Returns the result with all offsets in another unit. Raises ValueError for an unknown unit."""
        to = _converter(self.text or "", self.offset_unit, unit)
        moved: Result = _moved(dataclasses.replace(self, id=None), to)  # the id is the caller's, and stays as it is
        return dataclasses.replace(moved, id=self.id, offset_unit=unit)

    def to_dict(self) -> dict[str, Any]:
        """Returns the native result, as the command line and the server write it. What is absent there is absent."""
        if self.error is not None:
            return {"error": self.error} if self.id is None else {"id": self.id, "error": self.error}
        native = {"direction": "higher_is_more_toxic", **plain(self), "spans": None if self.spans is None else plain(self.spans)}
        native.pop("text", None)
        return native


def outcome(result: Result) -> str:
    """Returns in words what was decided."""
    if result.error is not None:
        return f"not scored: {result.error}"
    if result.flagged is None:
        return "not decided" if result.not_decided is None else f"not decided: {result.not_decided}"
    severity = "" if result.severity in (None, "none") else f"{result.severity}, "
    if not result.flagged:
        return f"{severity}not flagged"
    return f"{severity}flagged for {', '.join(name.replace('_', ' ') for name, each in result.attributes.items() if each.flagged)}"


def parse(line: bytes, id: Any, text: str, warnings: tuple[str, ...] = ()) -> Result:
    """Returns the result in a line of `batch`, with more warnings."""
    native: dict[str, Any] = json.loads(line)
    error = native.get("error")
    if error is not None:
        # The number of the line counts all rows of the process.
        return Result(id, text, error.split(": ", 1)[1] if error.startswith("line ") else error)
    get = native.get
    spans, passages, entities, readings = get("spans"), get("passages"), get("entities"), get("readings")
    return Result(
        id,
        text,
        None,
        native["score"],
        get("flagged"),
        get("severity"),
        get("not_decided"),
        get("language"),
        get("unsupported_language"),
        {
            name: AttributeResult(a["score"], a["classifier"], a["threshold"], a.get("flagged"), a.get("plain"), a.get("judge"))
            for name, a in native["attributes"].items()
        },
        None if passages is None else tuple([Passage(**p) for p in passages]),
        None if spans is None else tuple([Span(**s) for s in spans]),
        None if readings is None else tuple([Reading(**r) for r in readings]),
        None if entities is None else tuple([Entity(e["type"], e["start"], e["end"], e["score"], tuple(e["why"])) for e in entities]),
        native["offset_unit"],
        get("exit"),
        native["source"],
        _judge(native["judge"]),
        (*native["warnings"], *warnings),
        _versions(native["versions"]),
    )


_NOT_ASKED = JudgeReport(False, "no judge is configured")


def _judge(native: dict[str, Any]) -> JudgeReport:
    if native["why"] == _NOT_ASKED.why:
        return _NOT_ASKED
    verdicts = native.pop("verdicts", None)
    return JudgeReport(**native, verdicts=_each(_verdict, verdicts))


def _verdict(native: dict[str, Any]) -> Verdict:
    known = _known(Verdict, native)
    known["aspects"] = tuple([_aspect(a) for a in native["aspects"]])
    known["warnings"] = tuple(native["warnings"])
    known["passage"] = Range(**native["passage"]) if "passage" in native else None
    known["core"] = _each(lambda r: Range(**r), native.get("core"))
    known["addressed"] = _each(lambda e: Evidence(**e), native.get("addressed"))
    return Verdict(**known)


def _aspect(native: dict[str, Any]) -> AspectVerdict:
    known = _known(AspectVerdict, native)
    known["violations"] = _each(str, native.get("violations"))
    known["evidence"] = _each(lambda e: Evidence(**e), native.get("evidence"))
    known["not_in_text"] = _each(str, native.get("not_in_text"))
    return AspectVerdict(**known)


def _known(cls: type[Any], native: dict[str, Any]) -> dict[str, Any]:
    return {f.name: native[f.name] for f in dataclasses.fields(cls) if f.name in native}


def _each(of: Callable[[Any], _T], values: list[Any] | None) -> tuple[_T, ...] | None:
    return None if values is None else tuple([of(v) for v in values])


_last_versions: tuple[dict[str, Any], Versions] = ({}, Versions("", ""))


def _versions(native: dict[str, Any]) -> Versions:
    """Results of a process share one object: its versions hardly ever change."""
    global _last_versions
    known, versions = _last_versions
    if native != known:
        versions = Versions(**native)
        _last_versions = native, versions
    return versions


def _converter(text: str, given: OffsetUnit, wanted: OffsetUnit) -> Callable[[int], int]:
    """Returns what converts an offset into the text from one unit to another."""
    for unit in (given, wanted):
        if unit not in _SIZES:
            raise ValueError(f"unknown offset unit {unit!r}: it must be {', '.join(_SIZES)}")
    size_given, size_wanted = _SIZES[given], _SIZES[wanted]
    ends, shifts = [0], [0]  # the offset after each character that is not ASCII, and by how much offsets move from there on
    more, shift = 0, 0
    for match in _NOT_ASCII.finditer(text):
        more += size_given(match[0]) - 1
        shift += size_wanted(match[0]) - size_given(match[0])
        ends.append(match.end() + more)
        shifts.append(shift)
    return lambda offset: offset + shifts[bisect_right(ends, offset) - 1]


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_SIZES: dict[OffsetUnit, Callable[[str], int]] = {
    "code_point": lambda c: 1,
    "byte": lambda c: len(c.encode("utf-8", "surrogatepass")),
    "utf16": lambda c: 1 + (c > "\uffff"),
}


def _moved(value: Any, to: Callable[[int], int]) -> Any:
    """Returns a copy of a dataclass with every start and end in it converted."""
    if isinstance(value, tuple):
        return tuple([_moved(v, to) for v in value])
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    changed = {f.name: _moved(getattr(value, f.name), to) for f in dataclasses.fields(value)}
    for name in ("start", "end"):
        if name in changed:
            changed[name] = to(changed[name])
    return dataclasses.replace(value, **changed)


def plain(value: Any) -> Any:
    """Returns the JSON form of a value, without what is None."""
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(v) for f in dataclasses.fields(value) if (v := getattr(value, f.name)) is not None}
    return value

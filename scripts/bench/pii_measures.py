"""What scripts/bench/pii.py counts: findings against the entities that people annotated.

A span is (start, end, type), half-open, in code points.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

IGNORE = "IGNORE"  # a part of a text where a finding is neither right nor wrong


class Span(NamedTuple):
    start: int
    end: int
    type: str

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass
class Counts:
    """Hits, false alarms and misses; precision, recall and F are absent (None) where they are 0/0."""

    hits: int = 0
    alarms: int = 0
    misses: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.hits + other.hits, self.alarms + other.alarms, self.misses + other.misses)

    @property
    def precision(self) -> float | None:
        return self.hits / (self.hits + self.alarms) if self.hits + self.alarms else None

    @property
    def recall(self) -> float | None:
        return self.hits / (self.hits + self.misses) if self.hits + self.misses else None

    def f(self, beta: float) -> float | None:
        """(1 + β²) hits / ((1 + β²) hits + β² misses + alarms)."""
        whole = (1 + beta**2) * self.hits + beta**2 * self.misses + self.alarms
        return (1 + beta**2) * self.hits / whole if whole else None


@dataclass
class Tally:
    """Counts by type, added up text by text."""

    types: defaultdict[str, Counts] = field(default_factory=lambda: defaultdict(Counts))

    def __add__(self, other: Tally) -> Tally:
        total = Tally()
        for each in (self, other):
            for kind, counts in each.types.items():
                total.types[kind] += counts
        return total

    def total(self) -> Counts:
        """Micro-averaged: all types together."""
        return sum(self.types.values(), Counts())


def overlapping(found: Span, gold: Span) -> int:
    """The number of common characters."""
    return min(found.end, gold.end) - max(found.start, gold.start)


def exact(found: Span, gold: Span) -> int:
    """1 for the same offsets."""
    return int(found[:2] == gold[:2])


def match(found: Iterable[Span], gold: Iterable[Span], common: Callable[[Span, Span], int] = overlapping) -> Tally:
    """Counts of one text.

    A finding and an entity of the same type match if they have a character in common (overlapping) or the same offsets
    (exact). Each is matched once: pairs are taken greedily, those with the most common characters first, then by their
    offsets. What is left of the entities is missed; what is left of the findings is a false alarm, unless it
    overlaps an IGNORE span.
    """
    found, gold = sorted(set(found)), sorted(set(gold))
    ignored = [g for g in gold if g.type == IGNORE]
    gold = [g for g in gold if g.type != IGNORE]
    pairs = sorted((-common(f, g), g, f) for g in gold for f in found if f.type == g.type and common(f, g) > 0)
    hit_gold, hit_found, tally = set(), set(), Tally()
    for _, g, f in pairs:
        if g not in hit_gold and f not in hit_found:
            hit_gold.add(g)
            hit_found.add(f)
            tally.types[g.type].hits += 1
    for g in gold:
        if g not in hit_gold:
            tally.types[g.type].misses += 1
    for f in found:
        if f not in hit_found and not any(f.overlaps(i) for i in ignored):
            tally.types[f.type].alarms += 1
    return tally


def characters(found: Iterable[Span], gold: Iterable[Span]) -> Counts:
    """Counts of the characters of one text, whatever their type; those of IGNORE spans count for nothing."""
    found, gold = list(found), list(gold)
    covered = {i for f in found for i in range(f.start, f.end)}
    ignored = {i for g in gold if g.type == IGNORE for i in range(g.start, g.end)}
    true = {i for g in gold if g.type != IGNORE for i in range(g.start, g.end)} - ignored
    covered -= ignored
    return Counts(len(covered & true), len(covered - true), len(true - covered))


def addresses(found: Iterable[Span], gold: Iterable[Span]) -> list[Span]:
    """Findings of a system without a type for postal addresses: its LOCATIONs in one ADDRESS become one ADDRESS, since
    it can but name the street, the city and the state one by one."""
    found, whole = list(found), []
    for address in (g for g in gold if g.type == "ADDRESS"):
        parts = [f for f in found if f.type == "LOCATION" and f.overlaps(address)]
        if parts:
            found = [f for f in found if f not in parts]
            whole.append(Span(min(p.start for p in parts), max(p.end for p in parts), "ADDRESS"))
    return sorted(found + whole)


def joined(spans: Iterable[Span], text: str) -> list[Span]:
    """Spans of which neighbours of one type are one if only blanks and punctuation stand between them: some templates annotate
    "12", "Elm Street" and "Apt. 3" one by one, others "12 Elm Street Apt. 3"."""
    out: list[Span] = []
    for span in sorted(spans):
        last = out[-1] if out else None
        if last and last.type == span.type and not any(c.isalnum() for c in text[last.end : span.start]):
            out[-1] = Span(last.start, max(last.end, span.end), span.type)
        else:
            out.append(span)
    return out


def places(spans: Iterable[Span]) -> list[Span]:
    """LOCATION and ADDRESS as one type: whether the town of an address is a part of it is a matter of convention."""
    return [Span(s.start, s.end, "PLACE") if s.type in ("LOCATION", "ADDRESS") else s for s in spans]


def interval(groups: dict[object, list[Counts]], beta: float, draws: int = 1000) -> tuple[float, float]:
    """The 95 % interval of F under resampling of the groups: texts of one template stand or fall together."""
    sums = [sum(counts, Counts()) for _, counts in sorted(groups.items(), key=lambda item: str(item[0]))]
    rng = random.Random(1)
    drawn = sorted(sum(rng.choices(sums, k=len(sums)), Counts()).f(beta) or 0.0 for _ in range(draws))
    return drawn[round(0.025 * (draws - 1))], drawn[round(0.975 * (draws - 1))]


def unannotated(found: Iterable[Span], true: Iterable[Span]) -> Counter[str]:
    """Findings that overlap no annotated entity, whatever the types, by their type."""
    true = list(true)
    return Counter(f.type for f in found if not any(f.overlaps(t) for t in true))


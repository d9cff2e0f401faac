"""A text with its entities, and what is needed to put one together."""

from dataclasses import dataclass

TYPES = ("PERSON", "LOCATION", "ADDRESS", "ORGANIZATION", "NRP")
IGNORE = "IGNORE"  # characters that count for nothing, neither as an entity nor as none


@dataclass(frozen=True)
class Example:
    """One text. spans are (start, end, type), half-open, in code points, in the order of their start, without overlap; a type is
    one of TYPES or IGNORE. known: the types that its source annotated; of the others the text may hold some that
    no span marks, apart from those that IGNORE covers."""

    id: str
    source: str
    split: str
    text: str
    spans: tuple[tuple[int, int, str], ...]
    known: frozenset[str] = frozenset(TYPES)


class Builder:
    """Appends pieces and keeps the spans of those with a type."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.spans: list[tuple[int, int, str]] = []
        self.size = 0

    def add(self, text: str, kind: str | None = None) -> None:
        if kind and text:
            self.spans.append((self.size, self.size + len(text), kind))
        self.pieces.append(text)
        self.size += len(text)

    def extend(self, text: str, spans: tuple[tuple[int, int, str], ...]) -> None:
        self.spans.extend((start + self.size, end + self.size, kind) for start, end, kind in spans)
        self.pieces.append(text)
        self.size += len(text)

    def amend(self, ending: str) -> None:
        """Puts ending in the place of the last space."""
        self.pieces[-1] = self.pieces[-1][:-1] + ending
        self.size += len(ending) - 1

    def join(self) -> None:
        """Makes one of the last two spans where only a space is between them: given name and family name."""
        if len(self.spans) > 1 and self.spans[-2][1] + 1 == self.spans[-1][0] and self.spans[-2][2] == self.spans[-1][2]:
            last = self.spans.pop()
            self.spans[-1] = (self.spans[-1][0], last[1], last[2])

    def text(self) -> str:
        return "".join(self.pieces)


def marked(text: str, spans: tuple[tuple[int, int, str], ...]) -> str:
    """text with each span as ⟦…|TYPE⟧, to be read by people."""
    out, at = [], 0
    for start, end, kind in spans:
        out += [text[at:start], "⟦", text[start:end], "|", kind, "⟧"]
        at = end
    return "".join([*out, text[at:]])

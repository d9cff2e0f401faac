"""Mosaics: a text among harmless ones, as it stands in a real page."""

import numpy as np

import data

HARMLESS = 0.1  # the highest label of a harmless part
LONGEST = 96  # tokens of a text that becomes part of a mosaic
SECOND = 0.1  # share of mosaics with a second text of the same source, harmful or not
SAME = 0.4  # share of mosaics whose harmless parts come from one source: pages rarely change their style
# Sources whose harmless rows are harmless in every respect, not only in the one that was annotated.
HARMLESS_SOURCES = (
    "jigsaw", "jigsaw_negatives", "jigsaw_more", "perspective_context", "perspective_rtp2", "perspective_github", "bold_neutral",
    "clean_prompts", "clean_software", "clean_lookalikes_own", "documentation", "sentences",
)
# Token ids of what stands between two parts, by BERT's vocabulary: nothing, or - > : | " * # / ( ) …
BETWEEN = ((), (), (), (), (), (1011,), (1028,), (1024,), (1064,), (1000,), (1008,), (1001,), (1013, 1013), (1006,), (1007,), (1529,))


def harmless(row: data.Row) -> bool:
    """Whether the labels say that the text is not toxic, and none says otherwise."""
    return row.labels[0] <= HARMLESS and bool(np.nanmax(row.labels) <= HARMLESS)


def is_harmless(row: data.Row) -> bool:
    return row.source in HARMLESS_SOURCES and harmless(row) and not row.human


class Fillers:
    """The harmless parts among rows, int64 [tokens] each, in random order. Drawn in turn, so that each is used before one
    repeats."""

    def __init__(self, rows: list[data.Row], ids: list[np.ndarray], rng: np.random.Generator):
        self.rng, self.by_source = rng, {}
        for row, of in zip(rows, ids):
            if is_harmless(row):
                self.by_source.setdefault(row.source, []).append(of[1:-1])
        self.sources = list(self.by_source)
        sizes = np.array([sum(min(len(part), 64) for part in parts) for parts in self.by_source.values()], dtype=np.float64)
        self.odds = np.sqrt(sizes) / np.sqrt(sizes).sum() if len(sizes) else None
        self.next = dict.fromkeys(self.sources, 0)
        for parts in self.by_source.values():
            rng.shuffle(parts)

    def take(self, tokens: int, source: str | None) -> list[np.ndarray]:
        """Parts with tokens in total, of one source or of several; the last one is cut."""
        out = []
        while tokens > 0:
            chosen = source or self.sources[self.rng.choice(len(self.sources), p=self.odds)]
            parts = self.by_source[chosen]
            part = parts[self.next[chosen] % len(parts)]
            self.next[chosen] += 1
            out.append(part[:tokens])
            tokens -= max(len(part), 1)
        return out


def build(rows: list[data.Row], ids: list[np.ndarray], share: float, room: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The token ids of rows, as tokens.ids_of has them, a share of them as mosaics of at most room tokens. Harmless ones
    become mosaics as often as others: length must not tell them apart."""
    fillers, by_source = Fillers(rows, ids, rng), {}
    if not fillers.sources:
        return ids
    for row, of in zip(rows, ids):
        if len(of) - 2 <= LONGEST // 2:
            by_source.setdefault(row.source, []).append(of)
    out = []
    for row, of in zip(rows, ids):
        if len(of) - 2 > LONGEST or rng.random() >= share:
            out.append(of)
            continue
        parts = [of]
        if rng.random() < SECOND and (others := by_source.get(row.source)):
            parts.append(others[rng.integers(len(others))])
        if sum(len(part) - 2 for part in parts) > room - 8:
            parts = parts[:1]
        out.append(mosaic(parts, fillers, room, rng))
    return out


def mosaic(parts: list[np.ndarray], fillers: Fillers, room: int, rng: np.random.Generator) -> np.ndarray:
    """The ids of texts of one source among harmless ones."""
    used = sum(len(part) - 2 for part in parts)
    spare = int(rng.integers(4, max(room - used, 5) + 1))
    cuts = np.sort(rng.integers(0, spare + 1, len(parts)))
    source = fillers.sources[rng.choice(len(fillers.sources), p=fillers.odds)] if rng.random() < SAME else None
    ids = []
    for part, size in zip([*parts, None], np.diff([0, *cuts, spare])):
        for piece in fillers.take(size, source) + ([] if part is None else [part[1:-1]]):
            ids += [piece, np.array(BETWEEN[rng.integers(len(BETWEEN))], dtype=np.int64)]
    return np.concatenate([parts[0][:1], np.concatenate(ids)[:room], parts[0][-1:]])

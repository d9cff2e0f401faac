"""Mosaics: a text among harmless ones, as it stands in a real page.

Labels are those of the worst part. A harmless part has labels of 0, and span targets of 0, so that the network learns where
the abuse is, and that no style of prose is harmless or harmful on its own.
"""

from dataclasses import replace

import numpy as np

import data

SHARE = 0.3  # of an epoch's texts that become mosaics
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


def is_harmless(row: data.Row) -> bool:
    return row.source in HARMLESS_SOURCES and row.labels[0] <= HARMLESS and np.nanmax(row.labels) <= HARMLESS and not row.human


class Fillers:
    """The harmless parts of one epoch, int64 [tokens] each, in random order. Drawn in turn, so that each is used
    before one repeats."""

    def __init__(self, examples: list, rng: np.random.Generator):
        self.rng, self.by_source = rng, {}
        for example in examples:
            if is_harmless(example.row):
                self.by_source.setdefault(example.row.source, []).append(example.ids[1:-1])
        self.sources = list(self.by_source)
        sizes = np.array([sum(min(len(ids), 64) for ids in parts) for parts in self.by_source.values()], dtype=np.float64)
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


def build(examples: list, room: int, rng: np.random.Generator) -> list:
    """Replaces SHARE of the examples by mosaics of at most room tokens around them. Harmless ones are replaced as
    often as others: length must not tell them apart."""
    fillers, by_source = Fillers(examples, rng), {}
    if not fillers.sources:
        return examples
    for example in examples:
        if len(example.ids) - 2 <= LONGEST // 2:
            by_source.setdefault(example.row.source, []).append(example)
    out = []
    for example in examples:
        if len(example.ids) - 2 > LONGEST or rng.random() >= SHARE:
            out.append(example)
            continue
        parts = [example]
        if rng.random() < SECOND and (others := by_source.get(example.row.source)):
            parts.append(others[rng.integers(len(others))])
        if sum(len(part.ids) - 2 for part in parts) > room - 8:
            parts = parts[:1]
        out.append(mosaic(parts, fillers, room, rng))
    return out


def mosaic(parts: list, fillers: Fillers, room: int, rng: np.random.Generator):
    """One example of parts of one source among harmless ones."""
    used = sum(len(part.ids) - 2 for part in parts)
    spare = int(rng.integers(4, max(room - used, 5) + 1))
    cuts = np.sort(rng.integers(0, spare + 1, len(parts)))
    source = fillers.sources[rng.choice(len(fillers.sources), p=fillers.odds)] if rng.random() < SAME else None
    ids, targets, width = [], [], len(data.SPAN_ATTRIBUTES)

    def add(piece: np.ndarray, target: np.ndarray):
        ids.append(piece)
        targets.append(target)
        mark = np.array(BETWEEN[rng.integers(len(BETWEEN))], dtype=np.int64)
        ids.append(mark)
        targets.append(np.zeros((width, len(mark)), np.float32))

    for part, size in zip([*parts, None], np.diff([0, *cuts, spare])):
        for piece in fillers.take(size, source):
            add(piece, np.zeros((width, len(piece)), np.float32))
        if part is not None:
            piece = part.ids[1:-1]
            add(piece, np.full((width, len(piece)), np.nan, np.float32) if part.targets is None else part.targets)
    labels = parts[0].row.labels
    for part in parts[1:]:
        labels = np.maximum(labels, part.row.labels)  # NaN if one is: unknown in one part, unknown in the whole
    joined = np.concatenate(ids)[:room]
    first, last = parts[0].ids[:1], parts[0].ids[-1:]
    return replace(parts[0], parts=[part.ids for part in parts], ids=np.concatenate([first, joined, last]), row=replace(parts[0].row, labels=labels.astype(np.float32)), targets=np.concatenate(targets, axis=1)[:, :room])

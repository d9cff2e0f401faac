"""Ways in which people disguise words, to measure how much of them a model still recognises.

People who evade a filter rewrite the words that it looks for and leave the rest. In a toxic text
these are the words that raters marked; in a clean text, which has none, a third of the words.
data.disguise trains on some of these kinds, in its own ways.
"""

import numpy as np

import data

HOMOGLYPHS = dict(zip("aceijopsxyABCEHIKMOPSTX", "асеіјорѕхуАВСЕНІКМОРЅТХ"))
ZERO_WIDTH = "\u200b\u200c\u200d\u2060"
COMBINING = "\u0300\u0301\u0302\u0303\u0304\u0307\u0308\u0323\u0331\u0336"
GAPS = ".-_|"
UPSIDE_DOWN = dict(zip("abcdefghijklmnopqrstuvwxyz.,!?'", "ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎz˙'¡¿,"))


def some(rng: np.random.Generator, places: list[int], share: float) -> set[int]:
    """About the given share of the places, and at least one if there are any."""
    return {i for i in places if rng.random() < share} or ({int(rng.choice(places))} if places else set())


def substitute(word: str, table: dict[str, str], share: float, rng: np.random.Generator) -> str:
    """table gives the possible replacements of a letter, one character each."""
    picked = some(rng, [i for i, c in enumerate(word) if c in table], share)
    return "".join(table[c][rng.integers(len(table[c]))] if i in picked else c for i, c in enumerate(word))


def insert(word: str, marks: str, share: float, rng: np.random.Generator, last: bool) -> str:
    """One of marks after some of the letters, after the last one only if asked."""
    picked = some(rng, list(range(len(word) if last else len(word) - 1)), share)
    return "".join(c + marks[rng.integers(len(marks))] if i in picked else c for i, c in enumerate(word))


def vowel_or_letter(word: str, rng: np.random.Generator) -> int:
    """A position inside word, neither the first nor the last: a vowel's if there is one."""
    inner = range(1, len(word) - 1)
    return int(rng.choice([i for i in inner if word[i].lower() in "aeiou"] or list(inner)))


def swap(word: str, rng: np.random.Generator) -> str:
    """Swaps two neighbours after the first letter, different ones if there are any."""
    pairs = range(1, len(word) - 1)
    i = int(rng.choice([i for i in pairs if word[i] != word[i + 1]] or list(pairs)))
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :]


def repeat(word: str, rng: np.random.Generator) -> str:
    i = vowel_or_letter(word, rng)
    return word[:i] + word[i] * int(rng.integers(3, 6)) + word[i + 1 :]


def drop(word: str, rng: np.random.Generator) -> str:
    i = vowel_or_letter(word, rng)
    return word[:i] + word[i + 1 :]


def star(word: str, rng: np.random.Generator) -> str:
    picked = {vowel_or_letter(word, rng)} | {i for i in range(1, len(word) - 1) if rng.random() < 0.3}
    return "".join("*" if i in picked else c for i, c in enumerate(word))


def upside_down(word: str, rng: np.random.Generator) -> str:
    """As common generators do: rotated by 180 degrees, so reversed, and lower-cased."""
    return "".join(UPSIDE_DOWN.get(c, c) for c in reversed(word.lower()))


def dot(word: str, rng: np.random.Generator) -> str:
    return GAPS[rng.integers(len(GAPS))].join(word)


LEET = {c: to for letter, to in data.LEET.items() for c in (letter, letter.upper())}
FULL_WIDTH = {c: chr(ord(c) + 0xFEE0) for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}

JOINED = "joined words"

KINDS = {
    "leet": lambda word, rng: substitute(word, LEET, 0.7, rng),
    "homoglyphs": lambda word, rng: substitute(word, HOMOGLYPHS, 0.7, rng),
    "zero-width": lambda word, rng: insert(word, ZERO_WIDTH, 0.5, rng, last=False),
    "combining marks": lambda word, rng: insert(word, COMBINING, 0.5, rng, last=True),
    "spaced": lambda word, rng: " ".join(word),
    "dotted": dot,
    "repeated letters": repeat,
    "dropped letters": drop,
    "swapped neighbours": swap,
    "stars": star,
    "full-width": lambda word, rng: substitute(word, FULL_WIDTH, 1, rng),
    "upside-down": upside_down,
    JOINED: lambda word, rng: word,  # its blanks are removed, see rewrite
}

# Kinds that data.disguise uses in training; a test checks that it uses no others.
SHOWN = ("leet", "spaced", "dotted", "repeated letters", "dropped letters", "swapped neighbours", "stars", JOINED)

Words = list[tuple[int, int]]  # start and end of words in a text, in order


def marked_words(text: str, marked: np.ndarray) -> Words:
    """The words of three letters or more with a marked code point; marked has a bool per code point."""
    return [m.span() for m in data.WORD.finditer(text) if marked[m.start() : m.end()].any()]


def any_words(text: str, seed: int) -> Words:
    """About a third of the words of three letters or more."""
    words = [m.span() for m in data.WORD.finditer(text)]
    picked = some(np.random.default_rng([seed, len(text)]), list(range(len(words))), 1 / 3)
    return [words[i] for i in sorted(picked)]


def rewrite(kind: str, text: str, words: Words, rng: np.random.Generator) -> str:
    """text with those words rewritten, or joined with their neighbours."""
    out, at = [], 0
    for start, end in words:
        gap = text[at:start]
        out += [gap.strip(" ") if kind == JOINED and at else gap.rstrip(" ") if kind == JOINED else gap, KINDS[kind](text[start:end], rng)]
        at = end
    return "".join(out) + (text[at:].lstrip(" ") if kind == JOINED else text[at:])


def rewrite_all(kind: str, texts: list[tuple[str, Words]], seed: int) -> list[str]:
    """Each text has its own generator, so its result does not depend on the others."""
    number = list(KINDS).index(kind)
    return [rewrite(kind, text, words, np.random.default_rng([seed, number, i])) for i, (text, words) in enumerate(texts)]

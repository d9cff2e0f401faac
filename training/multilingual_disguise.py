"""Disguises of words in the scripts of multilingual_data.LANGUAGES, for training: data.disguise with what each script allows.

Letters with case are rewritten as English ones are, and lose their accents, as hurried and evading writers leave them
out alike. Elsewhere a unit is what a reader sees as one: a letter with its vowel signs, a syllable, a character.
"""

import re
import unicodedata

import numpy as np

import data
import multilingual

# Letters, each with the marks that belong to it.
UNIT = re.compile(r"[^\W\d_][\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963]*")
WORD = re.compile(rf"(?:{UNIT.pattern}){{2,}}")
IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")  # no blanks between their words, and none of them can be guessed
SHORTEST = 3  # letters of a word in a script with case, as in English
LONGEST_TERM = 6  # characters of a telling term between ideographs
MARKS = "'.,_-~^|*"
VOICED = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"  # first sounds of syllables in Unicode's order
FIRST_SYLLABLE, OF_A_SOUND = 0xAC00, 588


def has_case(word: str) -> bool:
    return word.lower() != word.upper()


def words(text: str, telling: set[str]) -> list[tuple[int, int]]:
    """Start and end of what can be disguised: words, and between ideographs telling terms or else pairs."""
    out = []
    for match in WORD.finditer(text):
        word, start = match[0], match.start()
        if not IDEOGRAPHS.search(word):
            if len(word) >= SHORTEST or not has_case(word):
                out.append(match.span())
            continue
        at = 0
        while at + 1 < len(word):
            size = next((n for n in range(LONGEST_TERM, 1, -1) if word[at : at + n] in telling), 2)
            out.append((start + at, start + min(at + size, len(word))))
            at += size
    return out


def terms(text: str, pieces: list[str]) -> set[str]:
    """What may tell of a text that it is toxic: its words and, since these are not apart everywhere, its tokens."""
    return {match[0].lower() for match in WORD.finditer(text)} | {term for piece in pieces if len(term := piece.lstrip(multilingual.BLANK).lower()) > 1}


def disguise_word(word: str, way: int, rng: np.random.Generator) -> list[tuple[int, str]]:
    """As data.disguise_word: pairs of (index of the letter, its replacement)."""
    if has_case(word):
        plain = [(i, "".join(c for c in unicodedata.normalize("NFD", letter) if not unicodedata.combining(c))) for i, letter in enumerate(word)]
        return plain if way == 7 and any(letter != word[i] for i, letter in plain) else data.disguise_word(word, way, rng)
    units = [(match.start(), match[0]) for match in UNIT.finditer(word)]
    i = int(rng.integers(1, len(units))) if len(units) > 1 else 0
    apart = bool(IDEOGRAPHS.search(word))
    if len(units) < 2:
        return units
    match way:
        case 2 if not apart:  # one repeated
            return [(at, unit * int(rng.integers(2, 5)) if n == i else unit) for n, (at, unit) in enumerate(units)]
        case 3 if not apart and len(units) > 3:  # one dropped
            return units[:i] + units[i + 1 :]
        case 4 if not apart and len(units) > 3:  # neighbours swapped
            return [*units[: i - 1], units[i], units[i - 1], *units[i + 1 :]]
        case 5 if not apart:  # stars
            return [(at, "*" if n == i else unit) for n, (at, unit) in enumerate(units)]
        case 6 if all("가" <= unit <= "힣" for _, unit in units):  # first sounds alone
            return [(at, VOICED[(ord(unit) - FIRST_SYLLABLE) // OF_A_SOUND]) for at, unit in units]
        case 0 | 7:  # a digit in the middle
            return [(at, str(rng.integers(1, 3)) + unit if n == i else unit) for n, (at, unit) in enumerate(units)]
        case 1:  # spaced
            gap = " .-_*"[rng.integers(5)]
            return [(at, unit if n == len(units) - 1 else unit + gap) for n, (at, unit) in enumerate(units)]
        case _:  # a foreign character in the middle
            mark = MARKS[rng.integers(len(MARKS))]
            return [(at, mark + unit if n == i else unit) for n, (at, unit) in enumerate(units)]


def disguise(text: str, rng: np.random.Generator, telling: set[str] = frozenset()) -> tuple[str, np.ndarray]:
    return data.disguise(text, rng, telling, words(text, telling), disguise_word)

"""Make the lists of words by which package language tells English from other languages.

    python3 scripts/make/words/make.py DATA language

DATA is the folder with the data; only its training rows are read. english.txt has the words that
are frequent in English and at least ten times rarer in all other languages but one, in which they
may be as frequent as in English: "go" is also Polish. Words that are not ASCII, and single
letters, are left out.

others.txt has a line for each other language in Latin letters: its code, and the 500 most frequent
of the words that are at least ten times rarer in English. A word that English has, too, such as
"video" or "Tom", must be a hundred times rarer there.
"""

import gzip
import json
import pathlib
import re
import sys
from collections import Counter

LEAST = 1.5e-5  # of all words: the rarest of 3,500
RARER = 10
OTHERS = ("cs", "de", "es", "fr", "hi-Latn", "id", "it", "nl", "pl", "pt", "sv", "tr", "vi")
MOST = 500
KNOWN = 3e-5  # of all English words: from here on, English has a word
MUCH_RARER = 100
PLACEHOLDERS = ("user", "url")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Lists of names and words, and rows in other languages.
NOT_ENGLISH = re.compile(r"ml_|ner_|.*_multi|.*lexicon|dialect|.*names|.*species|.*lists|.*_words|natural_|abuse_")


def frequencies(paths):
    """Returns the share of each word among all words of the training rows."""
    counts = Counter()
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as rows:
            for row in map(json.loads, rows):
                if row.get("split") == "train" and "text" in row:
                    counts.update(word.lower().replace("’", "'") for word in WORD.findall(row["text"]))
    total = counts.total()
    return {word: n / total for word, n in counts.items()}


def english_words(english, others):
    for word in sorted(english):
        share = english[word]
        *_, second, first = sorted(other.get(word, 0) for other in others)
        if word.isascii() and len(word) > 1 and share >= max(LEAST, RARER * second, first):
            yield word


def words_of(other, english):
    for word, share in sorted(other.items(), key=lambda item: (-item[1], item[0])):
        there = english.get(word, 0)
        if word.isalpha() and len(word) > 1 and word not in PLACEHOLDERS and share >= (RARER if there <= KNOWN else MUCH_RARER) * there:
            yield word


def main():
    data, out = map(pathlib.Path, sys.argv[1:])
    texts = [p for folder in (data, data / "natural") for p in sorted(folder.glob("*.jsonl.gz"))]
    english = frequencies(p for p in texts if not NOT_ENGLISH.match(p.name))
    natural = {p.name.removeprefix("natural_").removesuffix(".jsonl.gz"): p for p in texts if p.name.startswith("natural_")}
    others = {code: frequencies([path]) for code, path in natural.items()}
    # Hindi in Latin letters is full of English words.
    kept = set(english_words(english, [other for code, other in others.items() if code != "hi-Latn"]))
    (out / "english.txt").write_text("".join(f"{word}\n" for word in sorted(kept)))
    lines = [" ".join([code, *[word for word in words_of(others[code], english) if word not in kept][:MOST]]) for code in OTHERS]
    (out / "others.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()

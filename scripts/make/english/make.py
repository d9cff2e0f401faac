"""Make the list of English words that package language looks for.

    python3 scripts/make/english/make.py DATA > language/english.txt

DATA is the folder with the data; only its training rows are read. A word is on the list if it
is frequent in English and at least ten times rarer in all other languages but one, in which it
may be as frequent as in English: "go" is also Polish. Words that are not ASCII, and single
letters, are left out.
"""

import gzip
import json
import pathlib
import re
import sys
from collections import Counter

LEAST = 1.5e-5  # of all words: the rarest of 3,500
RARER = 10
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


def main():
    data = pathlib.Path(sys.argv[1])
    texts = [p for folder in (data, data / "natural") for p in sorted(folder.glob("*.jsonl.gz"))]
    english = frequencies(p for p in texts if not NOT_ENGLISH.match(p.name))
    # Hindi in Latin letters is full of English words.
    others = [frequencies([p]) for p in texts if p.name.startswith("natural_") and "hi-Latn" not in p.name]
    for word in sorted(english):
        share = english[word]
        *_, second, first = sorted(other.get(word, 0) for other in others)
        if word.isascii() and len(word) > 1 and share >= max(LEAST, RARER * second, first):
            print(word)


if __name__ == "__main__":
    main()

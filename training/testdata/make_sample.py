"""Draws the sample for the tests: short, mild rows of the sources whose licences allow it (see
NOTICE in this folder).

    python training/testdata/make_sample.py DATA

Rows with a word that the lexicon rates 1.5 or more are omitted, and rows with a slur of any rating, a
threat or an attack on a group; of madlibs, clean rows and the mildest insults are used. The draw is seeded and the archives have no date: same data, same bytes.
"""

import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np

# (train, dev, test) rows of each source.
WANTED = {"civil_spans": (90, 25, 8), "toxic_spans_trial": (0, 20, 2), "madlibs": (50, 14, 10), "convabuse": (40, 12, 4), "perspective_context": (0, 12, 0)}
MOST_CHARACTERS = 200


def read(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_mild(row: dict, source: str, harsh: set[str]) -> bool:
    words = set(re.findall(r"\w+", row["text"].lower()))
    if source == "madlibs":  # it tests identity terms, and all rows consist of the same few words
        return not row["labels"]["toxicity"] or bool(words & {"stupid", "dumb", "foolish"})
    labels = row.get("labels", {})
    attack = labels.get("identity_attack", 0) > 0 or labels.get("threat", 0) > 0 or row.get("sexual_harassment", 0) > 0
    return len(row["text"]) <= MOST_CHARACTERS and not attack and not words & harsh


def main():
    folder, here = Path(sys.argv[1]), Path(__file__).parent
    harsh = set()
    for entry in read(folder / "profanity_lexicon.jsonl.gz"):
        if entry["severity"] >= 1.5 or any("racial" in c or "religious" in c or "orientation" in c for c in entry["categories"]):
            harsh.update(re.findall(r"\w+", entry["text"].lower()))
    harsh.update(("kill", "murder", "rape", "hang", "shoot", "die", "dead", "hitler", "nazi"))
    rng = np.random.default_rng(1)
    for source, counts in WANTED.items():
        rows = read(folder / f"{source}.jsonl.gz")
        kept = []
        for split, count in zip(("train", "dev", "test"), counts):
            mild = [r for r in rows if r["split"] == split and is_mild(r, source, harsh)]
            kept.extend(mild[i] for i in sorted(rng.choice(len(mild), min(count, len(mild)), replace=False)))
        lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in kept)
        (here / f"{source}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
        print(source, len(kept))


if __name__ == "__main__":
    main()

"""Proves that training uses no held-out text: no row from data.training_rows or pack.training_rows has the lower-cased
words of a dev or test row of any file. Otherwise it exits with 1 and prints the sources.

    python training/check_splits.py DATA
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).with_name("remote")))
import data
import grammars
import pack


def leaks(rows: list[data.Row], folder: Path) -> Counter:
    """The number of rows that occur in a held-out row of folder, by (source, file that holds it out).
    Reads the files again instead of trusting the set that the loader filtered with."""
    where = {}
    for path in sorted(Path(folder).glob("**/*.jsonl.gz")):
        for raw in data.read_file(path):
            if raw.get("split") in ("dev", "test"):
                where[data.key(raw["text"])] = path.name
    return Counter((row.source, where[data.key(row.text)]) for row in rows if data.key(row.text) in where)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: check_splits.py DATA", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    rows = data.training_rows(folder, grammars.rows("train", grammars.SENTENCES, seed=1))
    rows += [row for of in pack.training_rows(folder, set()).values() for row in of]
    used = Counter(row.source for row in rows)
    texts_of = {name for row in rows for name in data.names(row)}
    for excluded in data.NOT_FOR_TRAINING:
        if any(name.startswith(excluded) for name in texts_of):
            print(f"{excluded} is not for training, but its rows are used", file=sys.stderr)
            return 1
    found = leaks(rows, folder)
    for (source, file), n in found.most_common():
        print(f"{n} training rows of {source} occur among the dev and test rows of {file}", file=sys.stderr)
    for source, n in used.items():
        print(f"{source:20} {n:7,} rows")
    print(f"{len(rows):,} training rows, {sum(found.values())} of them among the dev and test rows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

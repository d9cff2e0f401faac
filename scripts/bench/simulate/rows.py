"""Writes labelled rows for `toxscreen batch`; the program in this folder reads its results.

    python scripts/bench/simulate/rows.py --data ../shared/data --split dev --out dev.jsonl

Rows of jigsaw and civil_spans, each with its labels: shares of people for civil_spans, 0 or 1 for
jigsaw. --rows limits the rows of each, evenly spread over the file.
"""

import argparse
import gzip
import json
from pathlib import Path

SOURCES = ("jigsaw", "civil_spans")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", choices=("dev", "test"), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=0, help="maximum rows of each source; 0: all")
    args = parser.parse_args()
    with args.out.open("w", encoding="utf-8") as out:
        for source in SOURCES:
            with gzip.open(args.data / f"{source}.jsonl.gz", "rt", encoding="utf-8") as lines:
                rows = [row for row in map(json.loads, lines) if row["split"] == args.split]
            if args.rows and len(rows) > args.rows:
                rows = [rows[i * len(rows) // args.rows] for i in range(args.rows)]
            for row in rows:
                picked = {"id": f"{source}/{row['id']}", "text": row["text"], "labels": row["labels"]}
                out.write(json.dumps(picked, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

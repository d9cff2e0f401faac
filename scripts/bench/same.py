"""Compares the results of two toxscreen binaries, to the last digit.

    python3 scripts/bench/same.py --data DATA --before OTHER/toxscreen --after bin/toxscreen

Scores 1,200 texts with both, each once as usual and once with --full --pii, without a judge. The texts are those of DATA
whose SHA-256 is smallest, so that a later run draws the same ones whatever files are added around them. Prints the first
texts with different results, and fails if there is one. Versions are not compared.
"""

import argparse
import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

WAYS = {"as usual": [], "--full --pii": ["--full", "--pii"]}


def draw(data: Path, count: int) -> list[str]:
    texts = {}
    for path in sorted(data.rglob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                text = json.loads(line).get("text")
                if isinstance(text, str) and text:
                    texts[hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()] = text
    return [text for _, text in sorted(texts.items())[:count]]


def results(binary: Path, texts: list[str], flags: list[str]) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "texts.jsonl"), Path(folder, "results.jsonl")
        given.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
        command = [binary, "batch", "--no-judge", *flags, "-i", given, "-o", out]
        run = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if run.returncode not in (0, 3):  # 3: a text of the data was refused
            sys.exit(f"{binary} ended with {run.returncode}: {run.stderr}")
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row.pop("versions", None)  # a refused text has none
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--before", required=True, type=Path, help="the binary to compare with")
    parser.add_argument("--after", default=Path("bin/toxscreen"), type=Path)
    parser.add_argument("--count", default=1200, type=int)
    arguments = parser.parse_args()
    texts = draw(arguments.data, arguments.count)
    if not texts:
        sys.exit(f"{arguments.data} has no .jsonl.gz file with texts")
    changed = 0
    for way, flags in WAYS.items():
        before, after = (results(binary.resolve(), texts, flags) for binary in (arguments.before, arguments.after))
        if len(before) != len(texts) or len(after) != len(texts):
            sys.exit(f"{way}: {len(texts)} texts, but {len(before)} and {len(after)} results")
        differing = [i for i in range(len(texts)) if before[i] != after[i]]
        changed += len(differing)
        print(f"{way}: {len(differing)} of {len(texts)} results differ")
        for i in differing[:5]:
            print(json.dumps({"text": texts[i], "before": before[i], "after": after[i]}))
    sys.exit(1 if changed else 0)


if __name__ == "__main__":
    main()

"""Memory and speed of `toxscreen batch` over many short rows.

    python scripts/bench/batch.py --binary bin/toxscreen --rows 1000000 --folder build/bench [--model testdata/models/tiny]

Writes the rows, scores them, and measures the resident memory of the process ten times a second.
Memory is flat if the last tenth of the run needs no more than the second. Needs Linux.
"""

import argparse
import json
import os
import subprocess
import time
from pathlib import Path

NAMES = ("page", "image", "table", "list", "note", "map", "draft", "link")
DEEDS = ("looks fine to me", "needs a source", "was moved last week", "could be shorter", "is much better now")


def write_rows(path: Path, count: int):
    with path.open("w") as out:
        for i in range(count):
            out.write(json.dumps({"id": i, "text": f"The {NAMES[i % 8]} of edit {i} {DEEDS[i % 5]}, thanks."}) + "\n")


def resident(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0  # the process has ended but was not yet reaped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--model", default="default")
    arguments = parser.parse_args()
    given, scored = arguments.folder / "rows.jsonl", arguments.folder / "scored.jsonl"
    write_rows(given, arguments.rows)
    scored.unlink(missing_ok=True)

    began = time.perf_counter()
    process = subprocess.Popen([arguments.binary, "batch", "--model", arguments.model, "-i", given, "-o", scored], stderr=subprocess.DEVNULL)
    samples = []
    while process.poll() is None:
        if megabytes := resident(process.pid):
            samples.append(megabytes)
        time.sleep(0.1)
    took = time.perf_counter() - began
    if process.returncode != 0:
        raise RuntimeError(f"failed to score the rows: exit status {process.returncode}")
    lines = sum(1 for _ in scored.open("rb"))
    if lines != arguments.rows:
        raise RuntimeError(f"failed to score the rows: {lines} results of {arguments.rows} rows")

    tenth = max(len(samples) // 10, 1)
    tenths = [max(samples[i : i + tenth]) for i in range(0, len(samples) - tenth + 1, tenth)]
    print(f"\nbatch of {arguments.rows} short rows, model {arguments.model}: {took:.1f} s, {arguments.rows / took:.0f} rows/s")
    print("  peak resident MB in each tenth of the run: " + " ".join(f"{t:.0f}" for t in tenths[:10]))
    os.remove(given)
    os.remove(scored)


if __name__ == "__main__":
    main()

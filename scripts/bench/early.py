"""What early exits gain, and what they change.

    python scripts/bench/early.py --worker build/bench/worker build/bench/natural.jsonl build/bench/chat.jsonl …

One process scores each set of texts as `toxscreen batch` does, once with exits and once with the whole network, in
turns on pieces of the set: the side that is first in one turn is second in the next. Decisions are whether a text is
flagged. The difference of a score is that of toxicity. A text counts as leaving at the exit at which its last part
left.
"""

import argparse
import os
from collections import Counter
from pathlib import Path

import numpy as np

from worker import FULL, OURS, Worker, read_texts, spread

PIECE = 256  # texts per turn, at most
TURNS = 10  # at least, in a set that is small
EARLY = "toxscreen"


def measure(program: Path, path: Path) -> str:
    """A row of the table."""
    texts, worker = read_texts(path), Worker(program, path)
    for end in OURS.values():
        worker.do(f"batch 0 {min(64, len(texts))}{end}")
    piece = min(PIECE, -(-len(texts) // TURNS))
    took, ratios = dict.fromkeys(OURS, 0.0), []
    found = {side: {"scores": [], "flagged": [], "exits": []} for side in OURS}
    for turn, at in enumerate(range(0, len(texts), piece)):
        seconds = {}
        for side in list(OURS)[:: 1 if turn % 2 == 0 else -1]:
            answer = worker.do(f"batch {at} {min(at + piece, len(texts))}{OURS[side]}")
            seconds[side] = answer["seconds"][0]
            took[side] += seconds[side]
            for key, values in found[side].items():
                values += answer[key]
        ratios.append(seconds[FULL] / seconds[EARLY])
    worker.close()

    early, full = (found[side] for side in (EARLY, FULL))
    left = Counter(early["exits"])
    shares = [f"{exit_}: {100 * left[exit_] / len(texts):.1f} %" for exit_ in sorted(left) if exit_] or ["none"]
    differ = sum(a != b for a, b in zip(early["flagged"], full["flagged"], strict=True))
    differences = np.abs(np.array(early["scores"]) - np.array(full["scores"]))
    cells = (
        path.stem, len(texts), f"{len(texts) / took[EARLY]:.1f}", f"{len(texts) / took[FULL]:.1f}", f"{took[FULL] / took[EARLY]:.2f} ×", spread(ratios),
        ", ".join(shares), differ, f"{np.quantile(differences, 0.99):.4f}", f"{differences.max():.4f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", required=True, type=Path, help="output of `go build ./scripts/bench/worker`")
    parser.add_argument("sets", nargs="+", type=Path, help="JSONL files of texts")
    arguments = parser.parse_args()
    print(f"\nExits against the whole network, texts/s; load {os.getloadavg()[0]:.1f} at the start\n")
    print("| | texts | with exits | whole network | exits are | of the turns: lowest, median, highest | left at exit | decisions that differ | 99 % of scores differ by at most | largest |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for path in arguments.sets:
        print(measure(arguments.worker, path), flush=True)


if __name__ == "__main__":
    main()

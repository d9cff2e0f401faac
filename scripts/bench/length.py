"""How the time of one score grows with the length of its text.

    python scripts/bench/length.py --worker build/bench/worker --texts build/bench/texts.jsonl

The texts are Wikipedia comments joined to a number of bytes; the windows of one text run concurrently.
The time is linear if the time per kilobyte stays constant.
"""

import argparse
import statistics
from pathlib import Path

from worker import Worker

KILOBYTE = 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", required=True, type=Path)
    parser.add_argument("--texts", required=True, type=Path)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    worker = Worker(arguments.worker, arguments.texts)
    print(f"\nTime of one score by the length of its text, median of {arguments.runs}")
    print(f"  {'bytes':>9}  {'ms':>9}  {'ms/kB':>7}  {'MB resident':>11}")
    for size in (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000):
        took = []
        for _ in range(arguments.runs):
            answer = worker.do(f"bytes {size}")
            took.append(answer["seconds"][0] * 1000)
        median = statistics.median(took)
        print(f"  {size:>9,}  {median:>9.1f}  {median / size * KILOBYTE:>7.2f}  {answer['resident']:>11.1f}")
    worker.close()


if __name__ == "__main__":
    main()

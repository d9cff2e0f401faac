"""toxscreen's side of a comparison: a process of scripts/bench/worker that waits for its turn, as scripts see it."""

import json
import os
import subprocess
import sys
from pathlib import Path


FULL = "toxscreen --full"
OURS = {"toxscreen": "", FULL: " full"}  # what is compared, and how its commands end


class Worker:
    """threads: how many the process uses; by default, one for each core."""

    def __init__(self, program: Path, texts: Path, threads: int | None = None):
        environment = os.environ | ({"GOMAXPROCS": str(threads)} if threads else {})
        self.process = subprocess.Popen([program, texts], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def do(self, command: str) -> dict:
        """The answer to a command: see scripts/bench/worker/main.go for both."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"failed to measure: the worker ended at {command!r}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def read_texts(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def spread(ratios: list[float]) -> str:
    """The lowest, the median and the highest ratio of the turns."""
    ordered = sorted(ratios)
    return f"{ordered[0]:.2f}, {ordered[len(ordered) // 2]:.2f}, {ordered[-1]:.2f}"

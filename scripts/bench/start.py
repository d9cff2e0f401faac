"""Time and memory from starting the binary to its first score.

    python scripts/bench/start.py --binary bin/toxscreen [--runs 20] [--model default --model FOLDER …]

Each run starts a separate process, scores one short text and ends. Two runs before the first are
not counted: they load the files into the system's cache. Needs Linux.
"""

import argparse
import os
import statistics
import subprocess
import time


def start(command: list[str]) -> tuple[float, float]:
    """Milliseconds and peak resident MB of a process from its start to its end."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took = (time.perf_counter() - began) * 1000
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"failed to run {command}: exit status {os.waitstatus_to_exitcode(status)}")
    return took, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--model", action="append", help="may be given several times; default: the embedded model")
    arguments = parser.parse_args()
    commands = {
        f"score one text, model {model}": [arguments.binary, "score", "--model", model, "--format", "json", "Thank you, that was a great help."]
        for model in arguments.model or ["default"]
    }
    commands["print the help"] = [arguments.binary, "--help"]
    measured = {name: [] for name in commands}
    for run in range(-2, arguments.runs):
        for name, command in commands.items():
            cost = start(command)
            if run >= 0:
                measured[name].append(cost)
    print(f"\nStart to end of a process, {arguments.runs} runs")
    for name, costs in measured.items():
        took = [c[0] for c in costs]
        print(f"  {name}: median {statistics.median(took):.0f} ms, {min(took):.0f} to {max(took):.0f} ms; peak {statistics.median(c[1] for c in costs):.0f} MB resident")


if __name__ == "__main__":
    main()

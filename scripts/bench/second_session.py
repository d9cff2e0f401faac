"""The gain for a single caller from a second session with all cores, and its cost.

    python scripts/bench/second_session.py MODEL_FOLDER [--rounds 60]

Prints the latency of one text at a time by its number of tokens, for a session with one thread, for
one with two that sleep while they wait and for one with two that spin, interleaved; then the
resident memory and the time to open of each further session. Needs Linux.
"""

import argparse
import random
import statistics
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort


def open_session(model: bytes, threads: int, spin: bool) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spin else "0")
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def feed(tokens: int) -> dict[str, np.ndarray]:
    # Any ids beyond the special tokens: the time does not depend on them.
    ids = np.random.default_rng(tokens).integers(1000, 20000, (1, tokens), dtype=np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


def resident_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("failed to read resident memory: /proc/self/status has no VmRSS")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a model's file")
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    model = arguments.model.read_bytes()
    lengths = (16, 64, 128, 254)

    sessions, memory = {}, [("without a session", resident_mb(), 0.0)]
    for name, threads, spin in (("1 thread", 1, False), ("2 threads, sleeping", 2, False), ("2 threads, spinning", 2, True)):
        start = time.perf_counter()
        sessions[name] = open_session(model, threads, spin)
        opened = time.perf_counter() - start
        for tokens in lengths:
            sessions[name].run(None, feed(tokens))
        memory.append((f"and one with {name}", resident_mb(), opened * 1000))

    took = {(name, tokens): [] for name in sessions for tokens in lengths}
    order = list(took)
    for _ in range(arguments.rounds):
        random.shuffle(order)  # so none always follows the spinning one
        for name, tokens in order:
            inputs = feed(tokens)
            start = time.perf_counter()
            sessions[name].run(None, inputs)
            took[name, tokens].append((time.perf_counter() - start) * 1000)
            time.sleep(0.002)  # a single caller leaves gaps

    print(f"{'tokens':>6}", *(f"{name:>28}" for name in sessions), "  (median / fastest, ms)")
    for tokens in lengths:
        cells = [took[name, tokens] for name in sessions]
        print(f"{tokens:>6}", *(f"{statistics.median(c):>19.1f} / {min(c):>6.1f}" for c in cells))
    print()
    for name, megabytes, opened in memory:
        print(f"{name:32} {megabytes:7.1f} MB resident" + (f", {opened:.0f} ms to open" if opened else ""))


if __name__ == "__main__":
    main()

"""Time of one run by number of tokens, for several files of a network, interleaved in one process.

    python scripts/bench/graphs.py models/toxicity-en/model.ort build/train/int8.onnx

One thread, one text per run, as toxscreen runs them. ONNX files are optimised when they are opened, ORT
files run as they were saved.
"""

import argparse
import random
import statistics
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort

TOKENS = (16, 64, 128, 256)


def open_file(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    sessions = {path: open_file(path) for path in arguments.files}
    # Any ids beyond the special tokens: the time does not depend on them.
    ids = {n: np.random.default_rng(n).integers(1000, 20000, (1, n), dtype=np.int64) for n in TOKENS}
    feeds = {n: {"input_ids": ids[n], "attention_mask": np.ones_like(ids[n])} for n in TOKENS}

    took = {(path, n): [] for path in sessions for n in TOKENS}
    turns = list(took)
    for round_ in range(-3, arguments.rounds):
        random.shuffle(turns)
        for path, n in turns:
            start = time.perf_counter()
            sessions[path].run(None, feeds[n])
            if round_ >= 0:
                took[path, n].append((time.perf_counter() - start) * 1000)

    print(f"Time of a run, ms, median of {arguments.rounds}; onnxruntime {ort.__version__}")
    print(f"  {'tokens':>6}", *(f"{path.name:>24}" for path in sessions))
    for n in TOKENS:
        medians = [statistics.median(took[path, n]) for path in sessions]
        print(f"  {n:>6}", *(f"{m:>15.2f} ({medians[0] / m:.2f} ×)" for m in medians))


if __name__ == "__main__":
    main()

"""toxscreen against a Python pipeline: the same network, texts, machine and number of threads.

    python scripts/bench/compare.py --worker build/bench/worker --model build/bench/whole --texts build/bench/texts.jsonl

toxscreen is measured as it is, so that harmless texts leave the network early, and with --full. The Python
pipeline runs the whole network with Hugging Face's tokenizers and onnxruntime, arranged in three ways:

  pool     one thread per core, one text per run, one thread inside a run, no arena (best on a CPU)
  sorted   batches of 32 texts of similar length, padded, all cores inside a run
  padded   batches of 32 texts in their order, padded, all cores inside a run (the usual way)

It returns probabilities and the token head's logits; toxscreen also derives spans from them, and
divides a text that is longer than the window, which the pipeline truncates. The five are interleaved
on pieces of the texts within one run, in changing order, so a disturbance of the machine affects
all. Resident memory is measured in processes that do nothing else. Needs Linux.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

from worker import FULL, OURS, Worker, read_texts, spread

BATCH = 32
PIECE = 256  # texts per turn: eight batches


class Pipeline:
    """One configuration of the Python pipeline. score returns logits [texts, labels] in order."""

    def __init__(self, folder: Path, arrangement: str, cores: int):
        self.arrangement, self.cores = arrangement, cores
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.names = self.manifest["inputs"]
        self.outputs = list(self.manifest["outputs"].values())
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(self.manifest["window"]["tokens"])
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1 if arrangement == "pool" else cores
        options.inter_op_num_threads = 1
        if arrangement == "pool":
            # Both are faster by a tenth, for more memory, if no two runs have the same shape (measured).
            options.enable_mem_pattern = options.enable_cpu_mem_arena = False
        variant = next(v for v in self.manifest["variants"] if v["provider"] == "cpu")
        self.session = ort.InferenceSession(str(folder / variant["file"]), options, providers=["CPUExecutionProvider"])
        if arrangement == "pool":
            self.pool = ThreadPoolExecutor(cores)
        else:
            self.tokenizer.enable_padding()

    def run(self, ids, mask):
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return self.session.run(self.outputs, {name: given[name] for name in self.names})

    def one(self, text: str):
        encoding = self.tokenizer.encode(text)
        return self.finish(self.run(np.array([encoding.ids], np.int64), np.array([encoding.attention_mask], np.int64)))

    def batch(self, texts: list[str]):
        encodings = self.tokenizer.encode_batch(texts)
        return self.finish(self.run(np.array([e.ids for e in encodings], np.int64), np.array([e.attention_mask for e in encodings], np.int64)))

    def finish(self, outputs):
        self.probabilities = 1 / (1 + np.exp(-outputs[0]))
        return outputs[0]

    def score(self, texts: list[str]) -> np.ndarray:
        if self.arrangement == "pool":
            return np.concatenate(list(self.pool.map(self.one, texts)))
        order = list(range(len(texts)))
        if self.arrangement == "sorted":
            order.sort(key=lambda i: len(texts[i]))
        logits = np.concatenate([self.batch([texts[i] for i in order[at : at + BATCH]]) for at in range(0, len(order), BATCH)])
        back = np.empty_like(logits)
        back[order] = logits
        return back


def calibrated(manifest: dict, logits: np.ndarray) -> np.ndarray:
    """Toxicity probabilities calibrated as in toxscreen, to compare the scores of both sides."""
    column = next(i for i, label in enumerate(manifest["labels"]) if label.get("attribute") == "toxicity")
    z = logits[:, column].astype(np.float64)
    knots = manifest.get("calibration", {}).get("toxicity", {}).get("knots")
    if knots:
        x, y = np.array(knots).T
        piece = np.clip(np.searchsorted(x, z, side="left") - 1, 0, len(x) - 2)
        z = y[piece] + (z - x[piece]) * (y[piece + 1] - y[piece]) / (x[piece + 1] - x[piece])
    return 1 / (1 + np.exp(-z))


def throughput(worker: Worker, pipelines: dict[str, Pipeline], texts: list[str]):
    took = {name: 0.0 for name in (*OURS, *pipelines)}
    ratios = {(ours, name): [] for ours in OURS for name in pipelines}
    worst = {name: 0.0 for name in took}
    for end in OURS.values():
        worker.do(f"batch 0 {min(64, len(texts))}{end}")
    for pipeline in pipelines.values():
        pipeline.score(texts[:64])
    for at in range(0, len(texts), PIECE):
        piece, seconds, scores = texts[at : at + PIECE], {}, {}
        for name in random.sample(list(took), len(took)):
            if name in OURS:
                answer = worker.do(f"batch {at} {at + len(piece)}{OURS[name]}")
                seconds[name], scores[name] = answer["seconds"][0], np.array(answer["scores"])
            else:
                start = time.perf_counter()
                logits = pipelines[name].score(piece)
                seconds[name] = time.perf_counter() - start
                scores[name] = calibrated(pipelines[name].manifest, logits)
            took[name] += seconds[name]
        for ours, name in ratios:
            ratios[ours, name].append(seconds[name] / seconds[ours])
        for name in took:
            worst[name] = max(worst[name], np.abs(scores[name] - scores[FULL]).max())
    print(f"\nThroughput, {len(texts)} texts in interleaved pieces of {PIECE}")
    print(f"  {'':16} {'texts/s':>8}  {'toxscreen is':>12}  {'lowest, median, highest':>23}  {'--full is':>9}  {'lowest, median, highest':>23}  {'largest difference from --full':>30}")
    for name in took:
        cells = []
        for ours in OURS:
            compared = name in pipelines
            cells += [f"{took[name] / took[ours]:.2f}x" if compared else "", spread(ratios[ours, name]) if compared else ""]
        print(f"  {name:16} {len(texts) / took[name]:8.1f}  {cells[0]:>12}  {cells[1]:>23}  {cells[2]:>9}  {cells[3]:>23}  {worst[name]:30.6f}")


def latency(worker: Worker, pipelines: dict[str, Pipeline], texts: list[str], rounds: int):
    tokenizer = pipelines["pool"].tokenizer
    lengths = [len(encoding.ids) for encoding in tokenizer.encode_batch(texts)]
    print(f"\nLatency of one text, one caller, p50 (p95) of {rounds * 5} in ms")
    print(f"  {'tokens':>6}  {FULL:>16}  {'Python, 1 thread':>16}  {'Python, all cores':>17}")
    for tokens in (16, 32, 64, 128):
        row = min(range(len(texts)), key=lambda i: abs(lengths[i] - tokens))
        took = {FULL: [], "pool": [], "padded": []}
        for _ in range(rounds):
            for name in random.sample(list(took), len(took)):
                if name == FULL:
                    took[name] += worker.do(f"one {row} 6 full")["seconds"][1:]
                    continue
                for i in range(6):
                    start = time.perf_counter()
                    pipelines[name].one(texts[row])
                    if i > 0:  # the first wakes threads that slept during the other's turn
                        took[name].append(time.perf_counter() - start)
        cells = [f"{statistics.median(t) * 1000:.2f} ({statistics.quantiles(t, n=20)[-1] * 1000:.2f})" for t in took.values()]
        print(f"  {lengths[row]:>6}  {cells[0]:>16}  {cells[1]:>16}  {cells[2]:>17}")


def resident() -> tuple[float, float]:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]) / 1024, int(status["VmHWM"].split()[0]) / 1024


def memory(arguments, count: int):
    print(f"\nResident memory after {count} texts, in a separate process, MB (peak)")
    worker = Worker(arguments.worker, arguments.texts)
    answer = worker.do(f"batch 0 {count}")
    worker.close()
    print(f"  {'toxscreen':10} {answer['resident']:7.1f} ({answer['peak']:.1f})")
    for name in ("pool", "sorted", "padded"):
        command = [sys.executable, __file__, "--worker", arguments.worker, "--model", arguments.model, "--texts", arguments.texts]
        own = subprocess.run([*command, "--memory-of", name, "--count", str(count)], check=True, capture_output=True, text=True).stdout.split()
        print(f"  {name:10} {float(own[0]):7.1f} ({float(own[1]):.1f}), {float(own[0]) / answer['resident']:.1f} times as much")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", required=True, type=Path, help="output of `go build ./scripts/bench/worker`")
    parser.add_argument("--model", required=True, type=Path, help="output of whole.py, for Python")
    parser.add_argument("--texts", required=True, type=Path, help="output of texts.py")
    parser.add_argument("--rounds", type=int, default=40, help="rounds of the latency measurement")
    parser.add_argument("--memory-of", choices=("pool", "sorted", "padded"), help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, default=1000, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    texts = read_texts(arguments.texts)
    if arguments.memory_of:
        Pipeline(arguments.model, arguments.memory_of, cores).score(texts[: arguments.count])
        print(*resident())
        return
    random.seed(1)
    print(f"onnxruntime {ort.__version__}, {cores} cores, load {os.getloadavg()[0]:.1f} at the start")
    worker = Worker(arguments.worker, arguments.texts)
    pipelines = {name: Pipeline(arguments.model, name, cores) for name in ("pool", "sorted", "padded")}
    throughput(worker, pipelines, texts)
    latency(worker, pipelines, texts, arguments.rounds)
    worker.close()
    del pipelines
    memory(arguments, min(arguments.count, len(texts)))


if __name__ == "__main__":
    main()

"""The Python package: against `toxscreen batch`, from its import to its first score, and against Detoxify's architecture.

    PYTHONPATH=python/src python scripts/bench/python.py --binary bin/toxscreen --texts build/bench/natural.jsonl \\
      [--texts build/bench/chat.jsonl] [--count 2000] [--rounds 5] [--bert 128]

Both sides of a comparison are measured in turns in one run, so that a disturbance of the machine affects both, and get the
same texts. `toxscreen batch` reads and writes a file; score_many gets the texts as a list, and its caller looks at the score
and the flags of each result. Both include the start of the process.

Detoxify "original" is BERT-base, 110 million parameters, with six labels. Its speed does not depend on its weights, so they are
random here. It is run by PyTorch on all cores, on single texts and on batches of 32 texts of similar length, on the
first --bert texts, which are cut at its 512 tokens. toxscreen scores the whole texts. It needs the packages of `make bench-serve`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from toxscreen import Screener

FIRST = "import toxscreen; toxscreen.Screener(binary={!r}).score('Thank you, that was a great help.')"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=os.path.abspath)
    parser.add_argument("--texts", required=True, type=Path, action="append")
    parser.add_argument("--count", type=int, default=2000, help="texts of each set")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=20, help="of the start")
    parser.add_argument("--bert", type=int, help="texts for Detoxify's architecture; default: it is not measured")
    parser.add_argument("--tokenizer", type=Path, default=Path("models/toxicity-en/tokenizer.json"))
    arguments = parser.parse_args()

    for path in arguments.texts:
        texts = read(path)[: arguments.count]
        compare_batch(path, texts, arguments)
    start(arguments)
    if arguments.bert:
        compare_bert(read(arguments.texts[0])[: arguments.bert], arguments)


def read(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


def compare_batch(path: Path, texts: list[str], arguments: argparse.Namespace):
    """score_many against batch. A ratio over 1 means that score_many took less time."""
    with tempfile.TemporaryDirectory() as folder:
        given, scored = Path(folder, "rows.jsonl"), Path(folder, "scored.jsonl")
        given.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
        command = [arguments.binary, "batch", "--quiet", "--overwrite", "-i", str(given), "-o", str(scored)]

        def batch():
            if subprocess.run(command, check=False).returncode not in (0, 3):
                raise RuntimeError("failed to score the rows by batch")
            if (rows := scored.read_bytes().count(b"\n")) != len(texts):
                raise RuntimeError(f"failed to score the rows by batch: {rows} results of {len(texts)} rows")

        ways = {"batch": batch, "score_many": lambda: stream(texts, arguments)}
        times = in_turns(ways, arguments.rounds)
    ratios = [a / b for a, b in zip(times["batch"], times["score_many"], strict=True)]
    print(f"{path.name}, {len(texts)} texts, {arguments.rounds} rounds")
    for name, took in times.items():
        print(f"  {name:10} {len(texts) / statistics.median(took):6.0f} texts/s")
    print(f"  score_many at {statistics.median(ratios):.3f} of batch's speed ({min(ratios):.3f} to {max(ratios):.3f})")


def stream(texts: list[str], arguments: argparse.Namespace):
    seen = 0
    with Screener(binary=arguments.binary) as screener:
        for result in screener.score_many(texts):
            seen += result.error is None and result.score is not None and any(a.flagged for a in result.attributes.values()) in (True, False)
    if seen != len(texts):
        raise RuntimeError(f"failed to score the texts: {seen} results of {len(texts)}")


def in_turns(ways: dict[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each round of each way, after one round that does not count. The order changes from round to round."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(-1, rounds):
        for name in sorted(ways, reverse=turn % 2 == 0):
            began = time.perf_counter()
            ways[name]()
            if turn >= 0:
                times[name].append(time.perf_counter() - began)
    return times


def start(arguments: argparse.Namespace):
    """Python's own start is part of what a user waits for, but not of the package."""
    ways = {
        "import and first score": lambda: subprocess.run([sys.executable, "-c", FIRST.format(arguments.binary)], check=True),
        "Python alone": lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
    }
    times = in_turns(ways, arguments.runs)
    print("\nfrom the start of Python, milliseconds")
    for name, took in times.items():
        print(f"  {name:22} median {1000 * statistics.median(took):.0f}, {1000 * min(took):.0f} to {1000 * max(took):.0f}")


def compare_bert(texts: list[str], arguments: argparse.Namespace):
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(1)
    torch.set_num_threads(os.cpu_count() or 1)
    bert = BertForSequenceClassification(BertConfig(num_labels=6)).eval()
    tokenizer = Tokenizer.from_file(str(arguments.tokenizer))
    tokenizer.enable_truncation(512)
    millions = sum(p.numel() for p in bert.parameters()) / 1e6

    def score(batch: list[str]):
        tokenizer.enable_padding()
        encodings = tokenizer.encode_batch(batch)
        with torch.inference_mode():
            ids = torch.tensor([e.ids for e in encodings]) % bert.config.vocab_size
            bert(input_ids=ids, attention_mask=torch.tensor([e.attention_mask for e in encodings])).logits.sigmoid().tolist()

    def one_by_one():
        for text in texts:
            score([text])

    def in_batches():
        by_length = sorted(texts, key=len)
        for at in range(0, len(by_length), 32):
            score(by_length[at : at + 32])

    with Screener(binary=arguments.binary) as screener:
        screener.score("The process is started, as the network is loaded.")
        ways = {"score_many": lambda: [result.score for result in screener.score_many(texts)], "one by one": one_by_one, "batches of 32": in_batches}
        times = in_turns(ways, max(arguments.rounds // 2, 1))
    print(f"\nDetoxify's architecture, {millions:.0f} million parameters, {len(texts)} texts")
    for name, took in times.items():
        factors = [slow / quick for slow, quick in zip(took, times["score_many"], strict=True)]
        print(f"  {name:13} {len(texts) / statistics.median(took):7.1f} texts/s, {statistics.median(factors):5.1f} times as long as score_many")


if __name__ == "__main__":
    main()

"""Picks the texts that are scored, and cuts them to one window of the model.

    python scripts/bench/texts.py --data DATA --model models/toxicity-en --count 5000 --out build/bench/texts.jsonl

The texts are Wikipedia talk comments of DATA/jigsaw.jsonl.gz, drawn with a fixed seed. toxscreen divides a
longer text into windows, but a usual pipeline truncates it. Here each text ends where the window does, so
both sides do the same work. With --most, only texts of at most that many tokens are drawn, which are as
short as chat lines.
"""

import argparse
import gzip
import json
import random
import statistics
from pathlib import Path

from tokenizers import Tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--model", required=True, type=Path, help="folder with manifest.json and tokenizer.json")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--most", type=int, help="maximum tokens of a text, including special tokens")
    parser.add_argument("--out", required=True, type=Path)
    arguments = parser.parse_args()

    window = json.loads((arguments.model / "manifest.json").read_text())["window"]["tokens"]
    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    with gzip.open(arguments.data / "jigsaw.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    if arguments.most:
        texts = [text for text in texts if len(tokenizer.encode(text).ids) <= arguments.most]
    texts = random.Random(1).sample(texts, arguments.count)
    lengths = []
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as out:
        for text in texts:
            encoding = tokenizer.encode(text, add_special_tokens=False)
            if len(encoding.ids) > window - 2:
                text = text[: encoding.offsets[window - 3][1]]
            lengths.append(len(tokenizer.encode(text).ids))
            out.write(json.dumps({"text": text}) + "\n")
    assert max(lengths) <= window, "a text does not fit into one window"
    print(f"{len(texts)} texts, {statistics.mean(lengths):.0f} tokens on average, median {statistics.median(lengths):.0f}, longest {max(lengths)}")


if __name__ == "__main__":
    main()

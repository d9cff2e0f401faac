"""Writes the sets of texts that are scored, each in a fixed random order.

    python scripts/bench/texts.py --data DATA --model models/toxicity-en --count 5000 --out build/bench

Three sets are like real traffic, which is mostly harmless. Their rows are dev and test rows, so no network has seen
them, and they are whole:

  natural.jsonl  Wikipedia talk comments in their natural mix (perspective_context)
  github.jsonl   comments on GitHub, a tenth of them longer than 1,000 bytes (perspective_github)
  chat.jsonl     comments of at most 20 tokens, as short as chat lines: those of natural.jsonl, and since they are few,
                 those of jigsaw. Its authors looked for abuse, so only as many of its toxic rows are drawn as keep the
                 share of toxic lines that natural.jsonl has.

The fourth, texts.jsonl, is for comparison with earlier figures: --count rows of jigsaw, a quarter of them toxic. toxscreen
divides a longer text into windows, but a usual pipeline truncates it. Here each text ends where the window does, so
both sides do the same work.
"""

import argparse
import gzip
import json
import random
import statistics
from pathlib import Path

from tokenizers import Tokenizer

MOST = 20  # tokens of a chat line, special tokens included


def rows_of(data: Path, source: str) -> list[dict]:
    with gzip.open(data / f"{source}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def held_out(data: Path, source: str) -> list[dict]:
    return [row for row in rows_of(data, source) if row["split"] != "train"]


def toxic(row: dict) -> bool:
    return row["labels"]["toxicity"] >= 0.5


def chat_lines(natural: list[dict], older: list[dict], tokenizer: Tokenizer) -> list[dict]:
    """The short rows of both, with as large a share of toxic rows as among the short rows of natural."""
    natural, older = ([row for row in rows if len(tokenizer.encode(row["text"]).ids) <= MOST] for rows in (natural, older))
    odds = sum(map(toxic, natural)) / sum(not toxic(row) for row in natural)
    harmless = [row for row in older if not any(row["labels"].values())]
    return natural + harmless + random.Random(1).sample([row for row in older if toxic(row)], round(odds * len(harmless)))


def cut(text: str, tokenizer: Tokenizer, window: int) -> str:
    encoding = tokenizer.encode(text, add_special_tokens=False)
    if len(encoding.ids) > window - 2:
        text = text[: encoding.offsets[window - 3][1]]
    assert len(tokenizer.encode(text).ids) <= window, "a text does not fit into one window"
    return text


def write(path: Path, texts: list[str], tokenizer: Tokenizer):
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    tokens = [len(encoding.ids) for encoding in tokenizer.encode_batch(texts)]
    print(f"{path}: {len(texts)} texts, {statistics.mean(tokens):.0f} tokens on average, median {statistics.median(tokens):.0f}, longest {max(tokens)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--model", required=True, type=Path, help="folder with manifest.json and tokenizer.json")
    parser.add_argument("--count", type=int, default=5000, help="texts in texts.jsonl")
    parser.add_argument("--out", required=True, type=Path, help="folder")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    window = json.loads((arguments.model / "manifest.json").read_text())["window"]["tokens"]
    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))

    natural = held_out(arguments.data, "perspective_context")
    sets = {
        "natural": natural,
        "github": held_out(arguments.data, "perspective_github"),
        "chat": chat_lines(natural, held_out(arguments.data, "jigsaw"), tokenizer),
    }
    for name, rows in sets.items():
        texts = list(dict.fromkeys(row["text"] for row in rows))
        print(f"{100 * sum(map(toxic, rows)) / len(rows):.1f} % toxic: ", end="")
        write(arguments.out / f"{name}.jsonl", random.Random(1).sample(texts, len(texts)), tokenizer)
    heavy = random.Random(1).sample([row["text"] for row in rows_of(arguments.data, "jigsaw")], arguments.count)
    write(arguments.out / "texts.jsonl", [cut(text, tokenizer, window) for text in heavy], tokenizer)


if __name__ == "__main__":
    main()

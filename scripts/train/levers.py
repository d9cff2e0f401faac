"""Measures what each part of the training brings: a run with everything and a run without each part, all from the base model,
with the same seed and the same number of tokens.

    python scripts/train/levers.py --data DATA --out build/levers

A run takes twenty minutes on two cores with bfloat16. If it is killed, the same command resumes; what is measured is kept in
--out. The table is printed after each run.
"""

import argparse
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import torch

import compare
import data
import evaluate
import grammars
import measures
import model as network
import mosaics
import train

TOKENS = 6_000_000
LR = 2e-4
SEED = 1
HARMLESS = 0.3  # the highest grade of a look-alike


class WholeText(network.Classifier):
    """The network without the evidence of each token: what 1.3.0 had."""

    def forward(self, ids, mask):
        x, hidden = self.encode(ids, mask)
        return self.text_head(hidden), self.token_head(x)


def without_sources(*sources: str) -> Callable[[data.Row], bool]:
    return lambda row: row.source not in sources


def look_alike(row: data.Row) -> bool:
    return row.source == "sentences" and np.nanmax(row.labels) <= HARMLESS


# What a run leaves out: the rows that it keeps, or the part of the code that is replaced.
ROWS: dict[str, Callable[[data.Row], bool]] = {
    "everything": lambda row: True,
    "without Perspective's new scores": without_sources("perspective_rtp2", "perspective_toxigen", "perspective_implicit_hate", "perspective_github"),
    "without adversarial hate": without_sources("dynahate"),
    "without toxic and clean pairs": without_sources("paradetox", "llm_toxic_clean"),
    "without clean prompts and software": without_sources("clean_prompts", "clean_software", "clean_lookalikes_own"),
    "without annotations": without_sources("annotations"),
    "without look-alikes": lambda row: not look_alike(row),
    "without harmful sentences": lambda row: row.source != "sentences" or look_alike(row),
}
CODE: dict[str, tuple[object, str, object]] = {
    "without mosaics": (mosaics, "SHARE", 0.0),
    "without evidence of tokens": (network, "Classifier", WholeText),
}


def run(name: str, rows: list[data.Row], folder: Path, out: Path, tokens: int) -> network.Classifier:
    kept = [row for row in rows if ROWS.get(name, ROWS["everything"])(row)]
    args = train.arguments(["--data", str(folder), "--out", str(out), "--tokens", str(tokens), "--lr", str(LR), "--seed", str(SEED)])
    torch.set_num_threads(args.threads)
    with mock.patch.object(*CODE[name]) if name in CODE else contextlib.nullcontext():
        return train.train(args, kept, []).averaged()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path, help="a folder for each run, with its checkpoint and figures")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of each run (default %(default)s)")
    parser.add_argument("--only", nargs="+", metavar="RUN", choices=[*ROWS, *CODE], default=[*ROWS, *CODE], help="runs by their name in the table (default: all)")
    parser.add_argument("--rows", type=int, default=compare.ROWS, help="dev rows of each source that measure (default %(default)s)")
    args = parser.parse_args()
    rows = data.training_rows(args.data, grammars.rows("train", grammars.SENTENCES, SEED))
    held = measures.Held(args.data, "dev", args.rows, evaluate.SEED)
    measured = {}
    for name in args.only:
        out = args.out / name.replace(" ", "-").replace("'", "")
        file = out / "figures.json"
        if not file.exists():
            figures = compare.figures(run(name, rows, args.data, out, args.tokens), held)
            file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
        measured[name] = json.loads(file.read_text(encoding="utf-8"))
        print(compare.table(measured), flush=True)


if __name__ == "__main__":
    main()

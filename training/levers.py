"""Measures what each part of the training brings: a run with everything, one with another seed, and one without each part, all from
the base model and of the same length.

    python training/levers.py --data DATA --out build/levers

The two runs with everything show how far chance goes: a smaller difference says nothing. A run takes fifteen minutes on two
cores with bfloat16. If it is killed, the same command resumes, and what is measured stays in --out. The table is printed after each run.
"""

import argparse
import json
import os
from pathlib import Path

import torch

import compare
import data
import evaluate
import grammars
import measures
import train

TOKENS = 4_000_000
COMMON = ("--lr", "2e-4", "--seed", "1")
# Arguments of train.py for each run.
RUNS = {
    "everything": (),
    "another seed": ("--seed", "2"),
    "without mosaics": ("--without", "mosaics"),
    "without evidence of tokens": ("--without", "evidence"),
    "without Perspective's scores of 2020 and 2022": ("--without", "perspective_rtp2", "perspective_toxigen", "perspective_implicit_hate", "perspective_github"),
    "without adversarial hate": ("--without", "dynahate"),
    "without toxic and clean pairs": ("--without", "paradetox", "llm_toxic_clean"),
    "without clean prompts, software and look-alikes": ("--without", "clean_prompts", "clean_software", "clean_lookalikes_own"),
    "without annotations": ("--without", "annotations"),
    "without harmless sentences": ("--without", "sentences_harmless"),
    "without harmful sentences": ("--without", "sentences_harmful"),
}


def measured(run: train.Run, held: measures.Held, file: Path) -> dict[str, float]:
    """The figures of a run, from file if they are there."""
    of = {"tokens": run.tokens, "dev rows": held.most}
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if known.get("of") != of:
        known = {"of": of, "figures": compare.figures(run.averaged(), held)}
        partial = file.with_suffix(".partial")
        partial.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
        os.replace(partial, file)
    return known["figures"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path, help="a folder for each run, with its checkpoint and figures")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of each run (default %(default)s)")
    args = parser.parse_args()
    held = measures.Held(args.data, "dev", compare.ROWS, evaluate.SEED)
    table = {}
    for number, (name, arguments) in enumerate(RUNS.items()):
        out = args.out / f"{number:02}"
        how = train.arguments(["--data", str(args.data), "--out", str(out), "--tokens", str(args.tokens), *COMMON, *arguments])
        torch.set_num_threads(how.threads)
        rows = data.training_rows(args.data, grammars.rows("train", how.generated, how.seed), how.without)
        table[name] = measured(train.train(how, rows, []), held, out / "figures.json")
        print(compare.table(table), flush=True)


if __name__ == "__main__":
    main()

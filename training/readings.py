"""The benefit of undoing disguise, and ways to combine the scores of a text as written and of its
reading: the figures of docs/decisions/0006-disguise.md.

    python training/readings.py --data DATA --folder models/toxicity-en

Dev rows in every kind of disguises.KINDS, a reading of each by `go run ./training/read`, both
scored by `toxscreen batch` with a copy of the folder that does not undo disguise.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import disguises
import folder as folders
import measures
import plain
import systems

SEED = 0
LESS = (0.5, 1, 2, 3)  # subtracted from the log-odds of the written text
CLEAN_FLAGGED = 0.01  # share of clean texts over the second threshold


def readings(texts: list[str], tokenizer: Path) -> list[str]:
    """What stands in the place of a text after its disguise is undone: its plain form if nothing is."""
    given = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    out = subprocess.run(["go", "run", "./training/read", "-tokenizer", tokenizer], input=given.encode(), stdout=subprocess.PIPE, check=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    return [row["reading"] if row["differs"] else row["plain"] for row in rows]


def score(texts: list[str], binary: Path, folder: Path) -> np.ndarray:
    """Toxicity, by a copy of folder that does not undo disguise."""
    with tempfile.TemporaryDirectory() as plain:
        shutil.copytree(folder, plain, dirs_exist_ok=True)
        manifest = json.loads((Path(plain) / "manifest.json").read_text(encoding="utf-8"))
        folders.write_manifest(Path(plain), manifest | {"undo_disguise": False})
        return systems.Product("as given", binary, Path(plain)).score(texts).columns["toxicity"]


def logit(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path, help="the model folder")
    parser.add_argument("--binary", type=Path, default=Path("bin/toxscreen"), help="output of `make build`")
    parser.add_argument("--toxic", type=int, default=200, help="number of toxic texts; twice as many clean ones")
    args = parser.parse_args()

    texts, y = measures.Held(args.data, "dev", 2 * args.toxic, SEED).disguised()
    kinds = {"as written": [text for text, _ in texts]} | {kind: disguises.rewrite_all(kind, texts, SEED) for kind in disguises.KINDS}
    given = [text for rewritten in kinds.values() for text in rewritten]
    given = [text for text, _ in plain.texts(given)]
    read = readings(given, args.folder / "tokenizer.json")
    written = score(given, args.binary, args.folder)
    other = written.copy()
    differ = [i for i, (a, b) in enumerate(zip(given, read)) if a != b]
    other[differ] = score([read[i] for i in differ], args.binary, args.folder)
    ways = {
        "text alone": written, "reading alone": other,
        "mean logit": 1 / (1 + np.exp(-(logit(written) + logit(other)) / 2)), "maximum": np.maximum(written, other),
    }
    # If the reading differs, the written form counts with less.
    differs = np.zeros(len(given))
    differs[differ] = 1
    ways |= {f"maximum, less {less:g}": 1 / (1 + np.exp(-np.maximum(logit(written) - less * differs, logit(other)))) for less in LESS}
    report({name: z.reshape(len(kinds), len(texts)) for name, z in ways.items()}, list(kinds), y.astype(bool))


def report(ways: dict[str, np.ndarray], kinds: list[str], toxic: np.ndarray):
    """Each cell: share of the recall kept at 0.5 | clean texts over 0.5 | share of the recall kept at
    the threshold that CLEAN_FLAGGED of the clean texts of that kind exceed."""
    def cell(z: np.ndarray) -> tuple[float, int, float]:
        return (z[toxic] >= 0.5).mean(), int((z[~toxic] >= 0.5).sum()), (z[toxic] >= np.quantile(z[~toxic], 1 - CLEAN_FLAGGED)).mean()

    at_half, _, at_share = cell(next(iter(ways.values()))[0])
    print(f"{toxic.sum()} toxic texts, {(~toxic).sum()} clean; as written: recall {at_half:.3f} at 0.5, {at_share:.3f} where {CLEAN_FLAGGED:.0%} of the clean are flagged")
    print(f"| kind | {' | '.join(ways)} |\n|---|{'---|' * len(ways)}")
    table = {kind: [np.array(cell(z[k])) / (at_half, 1, at_share) for z in ways.values()] for k, kind in enumerate(kinds)}
    table["mean of kinds"] = np.mean([table[kind] for kind in kinds[1:]], axis=0)
    for kind, cells in table.items():
        print(f"| {kind} | " + " | ".join(f"{half:.2f} · {clean:.3g} · {share:.2f}" for half, clean, share in cells) + " |")


if __name__ == "__main__":
    main()

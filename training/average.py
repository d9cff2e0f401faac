"""Writes the weighted mean of the final weights of several runs of entities.py.

    python training/average.py --out build/mean 0.5=build/first/checkpoint.pt 0.5=build/second/checkpoint.pt

Each run must have started from another of them: otherwise the mean is not a good network. The output is a
checkpoint for entities_export.py and for --start of entities.py; it has the settings of the last run.
"""

import argparse
from pathlib import Path

import torch


def mean(runs: list[tuple[float, Path]]) -> dict:
    """A checkpoint with the mean of the moving averages, which a run exports. The shares must sum to 1."""
    total = sum(share for share, _ in runs)
    if abs(total - 1) > 1e-6:
        raise ValueError(f"failed to average: the shares sum to {total:g}; give shares that sum to 1")
    out: dict[str, torch.Tensor] = {}
    for share, path in runs:
        state = torch.load(path, weights_only=True, map_location="cpu")
        for name, weight in (state["model"] | state["average"]).items():
            out[name] = out.get(name, 0) + share * weight
    return {"model": out, "average": {}, "settings": state["settings"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="SHARE=CHECKPOINT")
    parser.add_argument("--out", required=True, type=Path, help="where to write checkpoint.pt")
    args = parser.parse_args()
    runs = [(float(share), Path(path)) for share, _, path in (run.partition("=") for run in args.runs)]
    args.out.mkdir(parents=True, exist_ok=True)
    torch.save(mean(runs), args.out / "checkpoint.pt")


if __name__ == "__main__":
    main()

"""Texts as the networks see them: in plain typography, without long runs of signs, and for toxicity without links.

The product's own functions decide that, classifier.Seen and names.Seen, which training/read calls; there are no others.
"""

import dataclasses
import json
import subprocess
from pathlib import Path

import numpy as np

import data

ROOT = Path(__file__).parents[1]


def texts(given: list[str], network: str = "toxicity") -> list[tuple[str, np.ndarray | None]]:
    """Of each text its plain form and, for each code point of it, the one that it came from; None if the text is plain."""
    rows = "".join(json.dumps({"text": text}) + "\n" for text in given)
    out = subprocess.run(["go", "run", "./training/read", "-plain", network], cwd=ROOT, input=rows.encode(), stdout=subprocess.PIPE, check=True).stdout
    seen = [json.loads(line) for line in out.splitlines()]
    return [(row["plain"], np.array(row["origin"], dtype=np.int64) if "origin" in row else None) for row in seen]


def rows(given: list[data.Row]) -> list[data.Row]:
    """Rows with plain texts, and with the votes of the letters that these came from."""
    out = []
    for row, (text, origin) in zip(given, texts([row.text for row in given])):
        if origin is not None:
            row = dataclasses.replace(row, text=text, votes=None if row.votes is None else row.votes[:, origin])
        out.append(row)
    return out


def examples(given: list) -> list:
    """Examples of names, see entities_data, with plain texts and the spans in these."""
    out = []
    for example, (text, origin) in zip(given, texts([example.text for example in given], "names")):
        if origin is not None:
            ends = [(*np.searchsorted(origin, (start, end)).tolist(), name) for start, end, name in example.spans]
            example = dataclasses.replace(example, text=text, spans=tuple(span for span in ends if span[0] < span[1]))
        out.append(example)
    return out


def in_original(offsets: np.ndarray, origin: np.ndarray | None) -> np.ndarray:
    """Offsets of tokens in a plain text, int64 [tokens, 2], as offsets in its original."""
    if origin is None or not len(offsets):
        return offsets
    return np.where((offsets[:, :1] < offsets[:, 1:]), np.stack([origin[np.minimum(offsets[:, 0], len(origin) - 1)], origin[offsets[:, 1] - 1] + 1], 1), 0)

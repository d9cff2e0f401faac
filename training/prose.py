"""Harmless prose of sources that training never shows, and abuse hidden in it: only for measuring.

Go's documentation comes from the sources of the installed Go, licences from the installed Python packages,
Wikipedia's articles from ner_wikigold.
"""

import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

import data

SIZES = (500, 1000, 4000, 8000)  # characters of prose around a text
POSITIONS = ("start", "middle", "end")
GO_PACKAGES = ("net", "os", "go", "crypto", "encoding", "text", "html", "image", "archive", "database", "time", "sync", "strings", "runtime")


@lru_cache
def go_documentation() -> list[str]:
    root = Path(subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()) / "src"
    out = []
    for package in GO_PACKAGES:
        for path in sorted((root / package).rglob("*.go")):
            if "testdata" in path.parts or path.name.endswith("_test.go"):
                continue
            for comment in re.findall(r"(?m)(?:^// [A-Z][^\n]*\n(?:^//[^\n]*\n)*)(?=^(?:func|type|package|const|var) )", path.read_text(encoding="utf-8", errors="replace")):
                text = " ".join(line.removeprefix("//").strip() for line in comment.splitlines())
                if len(text) >= 80 and "Copyright" not in text:
                    out.append(text)
    return out


@lru_cache
def licences() -> list[str]:
    texts = {}
    for path in sorted(Path(np.__file__).parents[1].rglob("*.dist-info/**/*LICENSE*")):
        if path.is_file():
            for paragraph in re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace")):
                text = " ".join(paragraph.split())
                if 80 <= len(text) <= 3000:
                    texts.setdefault(data.key(text), text)
    return list(texts.values())


def wikipedia(folder: Path) -> list[str]:
    path = Path(folder) / "ner_wikigold.jsonl.gz"
    rows = data.read_file(path) if path.exists() else []
    return [re.sub(r" ([.,;:!?)%'])", r"\1", " ".join(row["tokens"]).replace("( ", "(")) for row in rows if len(row["tokens"]) > 6]


def sources(folder: Path) -> dict[str, list[str]]:
    """The paragraphs of each source, in order; sources that are not there are left out."""
    found = {"Go's documentation": go_documentation(), "licences": licences(), "Wikipedia's articles": wikipedia(folder)}
    return {name: paragraphs for name, paragraphs in found.items() if len(paragraphs) > 50}


def stretch(paragraphs: list[str], characters: int, rng: np.random.Generator) -> list[str]:
    """Paragraphs in their order from a random place on, with at least that many characters in total; from the
    beginning again after the last one."""
    at, out, size = int(rng.integers(len(paragraphs))), [], 0
    while size < characters:
        out.append(paragraphs[at % len(paragraphs)])
        size += len(out[-1]) + 1
        at += 1
    return out


@dataclass
class Hidden:
    """text with prose around it: the size of the prose in characters and the place of the text in it."""

    text: str
    size: int
    position: str
    source: str


def hide(texts: list[str], folder: Path, sizes: tuple[int, ...], rng: np.random.Generator) -> list[Hidden]:
    """Each text in prose of each size, in one of the places and of one of the sources, drawn at random."""
    prose, out = sources(folder), []
    for size in sizes:
        for text in texts:
            source, position = str(rng.choice(list(prose))), str(rng.choice(POSITIONS))
            sentences = re.split(r"(?<=[.!?]) ", " ".join(stretch(prose[source], size, rng)))
            at = {"start": 0, "middle": len(sentences) // 2, "end": len(sentences)}[position]
            glue = str(rng.choice([" ", "\n\n"]))
            out.append(Hidden(glue.join(filter(None, (" ".join(sentences[:at]), text, " ".join(sentences[at:])))), size, position, source))
    return out

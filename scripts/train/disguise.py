"""Measures what disguise costs: how many toxic texts are still flagged once their words are
disguised, and how many clean ones are flagged that were not before.

    python scripts/train/disguise.py --data DATA [--plain BINARY]

Toxic and clean dev rows of jigsaw and civil_spans are rewritten in each of KINDS, written to
--out as JSONL, and scored through `bin/toxscreen batch`. With --plain, a binary built from a commit
that does not undo disguise, the texts and their readings (scripts/read) are scored with that one,
too, and the ways to combine the two scores are compared.

data.disguise, which makes training rows, never makes the kinds marked in UNSEEN.
"""

import argparse
import json
import re
import subprocess
from pathlib import Path

import numpy as np

from data import LEET, read_file, split_rows

TURNED = dict(zip("abcdefghijklmnopqrstuvwxyz", "ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎz"))
HOMOGLYPHS = dict(zip("aceiopsxyjhdABCEHIKMOPSTXYJ", "асеіорѕхујһԁАВСЕНІКМОРЅТХУЈ"))
SQUARED = {c: chr(0x1F170 + i) for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}


def styled(first_upper, first_lower):
    def one(word, rng):
        return "".join(chr((first_upper if c.isupper() else first_lower) + ord(c.lower()) - 97) if c.isascii() and c.isalpha() else c for c in word)

    return one


def leet(word, rng):
    return "".join(LEET[c.lower()][rng.integers(len(LEET[c.lower()]))] if c.lower() in LEET and rng.random() < 0.7 else c for c in word)


def each(table, share=1.0):
    return lambda word, rng: "".join(table.get(c, c) if rng.random() < share else c for c in word)


def inside(*marks, chance=1.0):
    """Puts one of marks behind every letter but the last, with a chance."""
    return lambda word, rng: "".join(c + marks[rng.integers(len(marks))] * (n < len(word) - 1 and rng.random() < chance) for n, c in enumerate(word))


def at_one(change):
    """Applies change(letter) at one place that is not the first."""

    def one(word, rng):
        i = int(rng.integers(1, len(word)))
        return word[:i] + change(word[i], rng) + word[i + 1 :]

    return one


def swapped(word, rng):
    i = int(rng.integers(1, len(word)))
    return word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :]


def starred(word, rng):
    i = int(rng.integers(1, max(2, len(word) - 1)))
    return "".join("*" if n == i or (0 < n < len(word) - 1 and rng.random() < 0.3) else c for n, c in enumerate(word))


WORD_KINDS = {
    "leet": leet,
    "homoglyphs": each(HOMOGLYPHS, 0.7),
    "zero_width": inside("\u200b", "\u200d", "\u2060", "\u00ad"),
    "combining": inside("\u0335", "\u0336", "\u0301", "\u0323\u0308"),
    "spaced": inside(" "),
    "dotted": inside("."),
    "hyphens": inside("-"),
    "repeated": at_one(lambda c, rng: c * int(rng.integers(3, 6))),
    "full_width": styled(0xFF21, 0xFF41),
    "mathematical": styled(0x1D4D0, 0x1D4EA),
    "squared": lambda word, rng: "".join(SQUARED.get(c.upper(), c) for c in word),
    "upside_down": lambda word, rng: "".join(TURNED.get(c.lower(), c) for c in reversed(word)),
    "turned_in_place": lambda word, rng: "".join(TURNED.get(c.lower(), c) for c in word),
    "leet_homoglyphs": lambda word, rng: each(HOMOGLYPHS, 0.5)(leet(word, rng), rng),
    "stars": starred,
    "dropped": at_one(lambda c, rng: ""),
    "swapped": swapped,
}
JOINED = {
    "underscores": lambda a, b: a + "_" + b,
    "capitals": lambda a, b: a[:1].upper() + a[1:] + b[:1].upper() + b[1:],
}
KINDS = (*WORD_KINDS, *JOINED)
UNSEEN = ("homoglyphs", "zero_width", "combining", "full_width", "mathematical", "squared", "upside_down", "turned_in_place", "leet_homoglyphs", "underscores", "capitals")
WORD = re.compile(r"[^\W\d_]{3,}")


def rewrite(text, kind, bad, rng):
    """Rewrites every word of bad and 35 % of the others."""
    if kind in JOINED:
        return re.sub(r"([^\W\d_]+) ([^\W\d_]+)", lambda m: JOINED[kind](m[1], m[2]), text)
    return WORD.sub(lambda m: WORD_KINDS[kind](m[0], rng) if m[0].lower() in bad or rng.random() < 0.35 else m[0], text)


def sample(folder, toxic, clean, longest):
    """Toxic rows of both sources, clean ones of jigsaw alone: civil_spans holds posts that were chosen
    for being toxic, and those that no rater marked are not clean for that."""
    rng = np.random.default_rng(7)

    def draw(source, wanted, n):
        rows = [r.text for r in split_rows(folder, source, "dev") if len(r.text) <= longest and wanted(r.labels[0])]
        return [rows[i] for i in sorted(rng.permutation(len(rows))[:n])]

    bad = [text for source in ("jigsaw", "civil_spans") for text in draw(source, lambda label: label >= 0.5, toxic // 2)]
    return bad, draw("jigsaw", lambda label: label == 0, clean)


def write(path, texts):
    path.write_text("".join(json.dumps({"text": t}) + "\n" for t in texts), encoding="utf-8")


def score(binary, source, target):
    subprocess.run([binary, "batch", "-i", str(source), "-o", str(target)], check=True, stderr=subprocess.DEVNULL)
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    return np.array([row["attributes"]["toxicity"]["score"] for row in rows])


def logit(p):
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--binary", default="bin/toxscreen")
    parser.add_argument("--plain", help="a binary that does not undo disguise")
    parser.add_argument("--out", type=Path, default=Path("build/disguise"))
    parser.add_argument("--toxic", type=int, default=300)
    parser.add_argument("--clean", type=int, default=600)
    parser.add_argument("--longest", type=int, default=400, help="in characters")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    lexicon = {row["text"].lower() for row in read_file(args.data / "profanity_lexicon.jsonl.gz")}
    toxic, clean = sample(args.data, args.toxic, args.clean, args.longest)
    texts = toxic + clean
    for kind in KINDS:
        rng = np.random.default_rng(KINDS.index(kind))
        texts += [rewrite(t, kind, lexicon, rng) for t in toxic + clean]
    given, readings = args.out / "texts.jsonl", args.out / "readings.jsonl"
    write(given, texts)
    scores = {"toxscreen": score(args.binary, given, args.out / "scored.jsonl")}
    if args.plain:
        with given.open() as source, readings.open("w") as target:
            subprocess.run(["go", "run", "./scripts/read"], check=True, stdin=source, stdout=target)
        read = [json.loads(line) for line in readings.read_text(encoding="utf-8").splitlines()]
        write(args.out / "read.jsonl", [row["reading"] if row["differs"] else row["text"] for row in read])
        raw = score(args.plain, given, args.out / "plain.jsonl")
        reading = score(args.plain, args.out / "read.jsonl", args.out / "plain-read.jsonl")
        scores |= {"as written": raw, "as read": reading, "maximum": np.maximum(raw, reading), "mean logit": 1 / (1 + np.exp(-(logit(raw) + logit(reading)) / 2))}
    report(scores, len(toxic), len(clean))


def report(scores, toxic, clean):
    """Prints for each kind the share of the recall kept and how often clean texts are flagged
    against the same texts undisguised, both at toxicity 0.5."""
    n = toxic + clean
    print(f"{toxic} toxic and {clean} clean texts; each cell: recall kept | clean flagged, times as often")
    print("| kind | " + " | ".join(scores) + " |\n|---|" + "---|" * len(scores))
    # Undisguised as the first column scores it, so that columns can be compared.
    first = next(iter(scores.values()))[:n] >= 0.5
    recall, alarms = first[:toxic].mean(), first[toxic:].mean()
    kept = {name: [] for name in scores}
    for k, kind in enumerate(("undisguised", *KINDS)):
        cells = []
        for name, values in scores.items():
            flagged = values[k * n : (k + 1) * n] >= 0.5
            cells.append(f"{flagged[:toxic].mean() / recall:.3f} \\| {flagged[toxic:].mean() / alarms:.2f}")
            if k:
                kept[name].append((flagged[:toxic].mean() / recall, flagged[toxic:].mean() / alarms))
        print(f"| {kind}{' *' if kind in UNSEEN else ''} | " + " | ".join(cells) + " |")
    print("| mean | " + " | ".join(f"{np.mean([a for a, _ in v]):.3f} \\| {np.mean([b for _, b in v]):.2f}" for v in kept.values()) + " |")
    print("| worst | " + " | ".join(f"{min(a for a, _ in v):.3f} \\| {max(b for _, b in v):.2f}" for v in kept.values()) + " |")
    print(f"undisguised: recall {recall:.3f}, clean flagged {alarms:.4f}; * data.disguise never makes this kind")


if __name__ == "__main__":
    main()

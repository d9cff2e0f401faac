"""Takes the English Sentence Templates over from a checkout of conversationai/unintended-ml-bias-analysis:

    .venv/bin/python scripts/make/templates/make.py CHECKOUT eval/fairness/templates

It writes sentences.csv, intersections.csv and words.csv, fills the templates in, and compares the sentences with those
that are published in the checkout. It prints the SHA-256 of both sets, sorted, which a test in eval/fairness expects.
Slurs that no template uses are left out. perspective.csv has what was published of Perspective's TOXICITY@6 on the
intersectional sentences. Only Python's standard library is needed.
"""

import argparse
import csv
import hashlib
import itertools
import re
import sys
from pathlib import Path

SOURCE = Path("archive/unintended_ml_bias/new_madlibber")
# Of each set: its templates, the published sentences, and a word that these are from before.
SETS = {
    "sentences.csv": ("sentence_templates.csv", Path("sentence_templates/en_sentence_templates.csv"), "cis"),
    "intersections.csv": ("intersectional_sentence_templates.csv", SOURCE / "output_data/English/intersectional_madlibs.csv", None),
}

AREAS = ("subgroup_auc", "bpsn_auc", "bnsp_auc")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("out", type=Path, help="the folder to write to")
    args = parser.parse_args()
    inputs = args.checkout / SOURCE / "input_data/en/en-us"
    words = [w for w in read(inputs / "words.csv") if w[0] != "identity" or w[2] == "neutral"]
    write(args.out / "words.csv", ["type", "subtype", "connotation", "word"], words)
    for name, (templates, published, without) in SETS.items():
        rows = read(inputs / templates)
        write(args.out / name, ["template", "toxicity", "phrase"], rows)
        ours = sorted(",".join([template, toxicity, text]) for template, toxicity, phrase in rows for text in filled(phrase, words, without))
        theirs = sorted(",".join(row) for row in read(args.checkout / published))
        print(name, len(ours), "sentences", hashlib.sha256("".join(line + "\n" for line in theirs).encode()).hexdigest())
        if ours != theirs:
            sys.exit(f"{name}: the sentences differ from {published}")
    write(args.out / "perspective.csv", ["intersection", *AREAS], published_areas(args.checkout / SOURCE.parent / "model_card/intersectional_results.csv", words))


def published_areas(path, words):
    """Returns the areas of each pair of an ethnicity with a gender or a sexuality."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["subgroup"]: row for row in csv.DictReader(file)}
    of = {kind: [w[3] for w in words if w[1] == kind] for kind in ("ethnicity", "gender", "sexuality")}
    pairs = itertools.product(of["ethnicity"], of["gender"] + of["sexuality"])
    return [[f"{a} × {b}", *(f"{float(rows[f'{a} {b}'][f'TOXICITY@6_{area}']):.4f}" for area in AREAS)] for a, b in pairs]


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def write(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def filled(phrase, words, without):
    """Yields a phrase, such as "I am {type|identity_connotation|neutral}", with each combination of words."""
    parts = re.split(r"\{(.*?)\}", phrase)
    choices = [[part] if i % 2 == 0 else [w[3] for w in words if fits(part, w) and w[3] != without] for i, part in enumerate(parts)]
    for combination in itertools.product(*choices):
        yield "".join(combination)


def fits(slot, word):
    columns = dict(zip(("type", "subtype", "connotation"), word))
    return all(columns[column] == value for column, value in (condition.split("|") for condition in slot.split("_")))


if __name__ == "__main__":
    main()

"""Chooses rows of the data folder to grade by docs/model/guideline.md, packs them into sheets, and collects the grades.

    python training/annotate.py select --data DATA --folder MODEL --out SHEETS
    python training/annotate.py select --data DATA --out SHEETS
    python training/annotate.py natural --data DATA --split train --random 8000 --doubtful 9000 --results FILE --out SHEETS
    python training/annotate.py collect --sheets SHEETS --by WHO
    python training/annotate.py agreement --data DATA

A sheet is a text file of numbered texts, one a line, without labels or sources: grades must not follow them. Its grades
are in a file of the same name that ends in .grades: a line for each text, its number and seven whole numbers from 0 to 10 in the
order of data.ATTRIBUTES. keys.json in the folder says which row each number is, and which were chosen because a model
flags or nearly flags them.
"""

import argparse
import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import data
import folder as folders

LONGEST = 400  # characters
PER_SOURCE = {"train": 2500, "dev": 300}  # rows considered
SHEET = 250
TWICE = 0.1  # share of the rows that are graded a second time, by somebody else
# Sources graded blind, to compare the grades with people's and with Perspective's.
BLIND = {"civil_spans": 500, "perspective_implicit_hate": 500, "perspective_context": 500}
SKIPPED = ("madlibs", "bold_neutral", "profanity_lexicon", "toxic_spans_train", "toxic_spans_trial", "grammars", "sentences", "annotations")
# Rows by the reason for choosing them.
QUOTAS = {"threat": 1900, "sexually_explicit": 1300, "identity_attack": 2000, "insult": 1200, "severe_toxicity": 400, "profanity": 400, "toxicity": 500, "any": 900}
WORDS = {
    "threat": r"kill|hurt|die|dead|death|shoot|shot|gun|knife|stab|burn|hang|beat|punch|break|bomb|murder|destroy|attack|fight|blood|watch your|find you|come for|regret|sorry you|pay for",
    "sexually_explicit": r"sex|naked|nude|bed|kiss|touch|body|breast|virgin|penis|vagina|oral|horny|porn|strip|sleep with|panties|masturbat|orgasm|hot\b|wet\b|hard\b|lick|suck|rape",
}


def candidates(folder: Path, split: str, rng: np.random.Generator) -> list[data.Row]:
    held_out, graded, out = data.held_out_keys(folder), data.read_grades(), []
    for source in [*data.SOURCES, *data.GRADED_ONLY]:
        if source in SKIPPED or source in data.NATURAL:
            continue
        rows = [row for row in data.split_rows(folder, source, split) if row.id and row.id not in graded and 3 <= len(row.text.strip()) <= LONGEST and (split != "train" or data.key(row.text) not in held_out)]
        out.extend(rows[i] for i in rng.permutation(len(rows))[: PER_SOURCE[split]])
    return out


def interest(rows: list[data.Row], p: np.ndarray, attribute: str, rng: np.random.Generator) -> np.ndarray:
    """[rows]: how much a grade would tell: the model is unsure, or disagrees with the source, or the words suggest it."""
    if attribute == "any":
        return rng.random(len(rows))
    a = data.ATTRIBUTES.index(attribute)
    labels = np.array([row.labels[a] for row in rows])
    unsure = np.minimum(p[:, a], 1 - p[:, a]) * 2
    apart = np.nan_to_num(np.abs(labels - p[:, a]))
    hinted = np.zeros(len(rows))
    if attribute in WORDS:
        pattern = re.compile(rf"\b({WORDS[attribute]})", re.IGNORECASE)
        # A hint without profanity is worth more: these are the cases that the model misses.
        hinted = np.array([bool(pattern.search(row.text)) for row in rows]) * (1 - p[:, data.ATTRIBUTES.index("profanity")])
    return unsure + apart + 0.8 * hinted + 0.4 * rng.random(len(rows))


def select(args):
    rng, out = np.random.default_rng(args.seed), args.out
    out.mkdir(parents=True, exist_ok=True)
    quotas, chosen = QUOTAS if args.folder else {"any": sum(QUOTAS.values())}, {}
    for split, share in (("train", 0.85), ("dev", 0.15)):
        rows = candidates(args.data, split, rng)
        p = np.empty((len(rows), 0))
        if args.folder:
            model = folders.Model(args.folder)
            p = model.probabilities(model.run_all([row.text for row in rows]))
        texts = set()
        for attribute, quota in quotas.items():
            taken = 0
            per_source = defaultdict(int)
            for i in np.argsort(-interest(rows, p, attribute, rng), kind="stable"):
                row = rows[i]
                if taken == round(quota * share):
                    break
                if data.key(row.text) in texts or per_source[row.source] >= quota * share / 6:
                    continue
                texts.add(data.key(row.text))
                per_source[row.source] += 1
                chosen[row.id], taken = row.text, taken + 1
    graded = data.read_grades()
    for source, most in BLIND.items():
        rows = [row for row in data.split_rows(args.data, source, "dev") + data.split_rows(args.data, source, "train") if len(row.text) <= LONGEST and row.id not in chosen and row.id not in graded]
        most -= sum(id.startswith(f"{source}/") for id in graded)
        chosen.update((row.id, row.text) for row in rows[: max(most, 0)])
    write_sheets(chosen, args.out, rng)


def natural(args):
    """Rows of natural text or of the sets in more/: as many of each register or set at random, and of the others those that a
    model flags or nearly flags."""
    rng = np.random.default_rng(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    graded, held_out = data.read_grades(), data.held_out_keys(args.data) if args.split == "train" else set()
    by_register, rows, done = defaultdict(list), {}, defaultdict(int)
    for source, register in (zip(data.LABELLED, data.LABELLED) if args.labelled else data.NATURAL.items()):
        for row in data.split_rows(args.data, source, args.split):
            done[register] += row.id in graded
            if row.id not in graded and len(row.text) <= LONGEST and data.key(row.text) not in held_out:
                rows[row.id] = row.text
                by_register[register].append(row.id)
    chosen, left = {}, args.random
    for n, register in enumerate(sorted(by_register, key=lambda r: len(by_register[r]))):
        ids = by_register[register]
        take = min(len(ids), round(left / (len(by_register) - n)))
        left -= take
        chosen.update((ids[i], rows[ids[i]]) for i in rng.choice(len(ids), take, replace=False))
    for register, ids in by_register.items():
        ids = [id for id in ids if id not in chosen]
        missing = args.at_least - done[register] - sum(id in chosen for id in by_register[register])
        chosen.update((ids[i], rows[ids[i]]) for i in rng.permutation(len(ids))[: max(missing, 0)])
    print(f"{len(chosen):,} rows at random")
    doubtful = [id for id in read_doubtful(args.results) if id in rows and id not in chosen] if args.results else []
    kept = sorted(doubtful[i] for i in rng.permutation(len(doubtful))[: args.doubtful])
    print(f"{len(kept):,} of {len(doubtful):,} rows that the model flags or nearly flags")
    chosen.update((id, rows[id]) for id in kept)
    write_sheets(chosen, args.out, rng, kept)


def read_doubtful(path: Path) -> list[str]:
    """Ids of the rows in results of `toxscreen batch` in which an attribute has at least half of its threshold's odds."""
    out = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            result = json.loads(line)
            odds = lambda p: p / (1 - min(p, 1 - 1e-9))
            if any(2 * odds(a["score"]) >= odds(a["threshold"]) for a in result.get("attributes", {}).values()):
                out.append(result["id"])
    return out


def write_sheets(chosen: dict[str, str], out: Path, rng: np.random.Generator, flagged: list[str] = ()):
    """flagged: rows that were chosen because a model flags or nearly flags them."""
    ids = [list(chosen)[i] for i in rng.permutation(len(chosen))]
    ids += [ids[i] for i in rng.choice(len(ids), round(TWICE * len(ids)), replace=False)]
    (out / "keys.json").write_text(json.dumps({"ids": ids, "flagged": sorted(flagged)}))
    for start in range(0, len(ids), SHEET):
        lines = [f"{n}\t{' '.join(chosen[ids[n]].split())}" for n in range(start, min(start + SHEET, len(ids)))]
        (out / f"{start // SHEET:03}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(chosen):,} rows, {len(ids):,} texts to grade in sheets of {SHEET}")


def read_sheet(path: Path, ids: list[str]) -> list[tuple[str, list[int]]]:
    found, read = {}, range(0)
    for line in path.read_text().split("\n"):
        match line.split():
            case []:
                continue
            case ["read", first, last]:
                read = range(int(first), int(last) + 1)
            case [number, *grades] if len(grades) == len(data.ATTRIBUTES) and all(grade.isdecimal() and int(grade) <= 10 for grade in grades):
                found[int(number)] = [int(grade) for grade in grades]
            case _:
                raise ValueError(f"failed to read {path}: the line {line!r} should have a number and {len(data.ATTRIBUTES)} grades from 0 to 10")
    clean = [0] * len(data.ATTRIBUTES)
    return [(ids[number], found.get(number, clean)) for number in sorted({*found, *read})]


def collect(args):
    """Appends the grades of all sheets. A row that is graded in two sheets has two passes."""
    keys = json.loads((args.sheets / "keys.json").read_text())
    ids, flagged = keys["ids"], set(keys["flagged"])
    rows = data.read_file(data.ANNOTATIONS) if data.ANNOTATIONS.exists() else []
    known = {(row["id"], row["by"], row["sheet"]) for row in rows}
    for path in sorted(args.sheets.glob("*.grades")):
        sheet = [{"id": id, "grades": grades, "by": args.by, "sheet": path.stem} | ({"flagged": True} if id in flagged else {}) for id, grades in read_sheet(path, ids)]
        if again := [row["id"] for row in sheet if (row["id"], row["by"], row["sheet"]) in known]:
            raise ValueError(f"failed to collect {path}: {data.ANNOTATIONS.name} has {again[0]} and {len(again) - 1} more of its rows by {args.by} from a sheet of this name; remove the sheet, or each of them would count as two passes")
        rows += sheet
    with open(data.ANNOTATIONS, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as lines:
        lines.write("".join(json.dumps(row) + "\n" for row in rows).encode())
    print(f"{len(rows):,} grades of {len({row['id'] for row in rows}):,} rows in {data.ANNOTATIONS.name}")


def compare(name: str, x: np.ndarray, y: np.ndarray):
    known = ~np.isnan(x) & ~np.isnan(y)
    if known.sum() >= 20 and x[known].std() and y[known].std():
        print(f"| {name} | {known.sum()} | {spearmanr(x[known], y[known]).statistic:.3f} | {np.abs(x - y)[known].mean():.3f} | {((x >= 0.5) == (y >= 0.5))[known].mean():.3f} |")


def agreement(args):
    """Of two passes with each other; of the grades, and of Perspective's score, with people."""
    grades = data.read_grades()
    print("| compared | rows | Spearman | mean distance | same side of 0.5 |\n|---|---|---|---|---|")
    twice = [passes for passes in grades.values() if len(passes) > 1]
    for a, attribute in enumerate(data.ATTRIBUTES):
        compare(f"{attribute}: two passes", np.array([p[0][a] for p in twice]), np.array([p[1][a] for p in twice]))

    def graded(source: str, human) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """[rows, 7] grades, people's and the file's own labels."""
        kept = [raw for raw in data.read_file(Path(args.data) / f"{source}.jsonl.gz") if f"{source}/{raw['id']}" in grades]
        labels = np.stack([data.labels_of(**raw["labels"]) for raw in kept])
        return np.stack([grades[f"{source}/{raw['id']}"][0] for raw in kept]), np.stack([human(raw) for raw in kept]), labels

    ours, people, _ = graded("civil_spans", lambda raw: data.labels_of(**raw["labels"]))
    for a, attribute in enumerate(data.ATTRIBUTES):
        compare(f"{attribute}: grades and civil_spans' raters", ours[:, a], people[:, a])
    for source, human in (
        ("perspective_implicit_hate", lambda raw: data.labels_of(identity_attack=raw["human"] != "not_hate")),
        ("perspective_context", lambda raw: data.labels_of(toxicity=raw["human"])),
    ):
        ours, people, theirs = graded(source, human)
        a = int(np.flatnonzero(~np.isnan(people).all(0))[0])
        compare(f"{data.ATTRIBUTES[a]}: grades and {source}' raters", ours[:, a], people[:, a])
        compare(f"{data.ATTRIBUTES[a]}: Perspective and {source}' raters", theirs[:, a], people[:, a])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run in (("select", select), ("natural", natural), ("collect", collect), ("agreement", agreement)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        if name != "collect":
            command.add_argument("--data", required=True, type=Path)
        if name == "select":
            command.add_argument("--folder", type=Path, help="the model whose doubts decide (default: chance decides)")
        if name == "natural":
            command.add_argument("--split", required=True, choices=("train", "dev", "test"))
            command.add_argument("--labelled", action="store_true", help="rows of the labelled sets in more/ instead")
            command.add_argument("--random", type=int, default=0, help="number of rows at random, as many of each register")
            command.add_argument("--at-least", type=int, default=0, help="further rows at random, until so many of each register are graded")
            command.add_argument("--doubtful", type=int, default=0, help="the most rows that the model flags or nearly flags")
            command.add_argument("--results", type=Path, help="results of toxscreen batch, JSONL, with the rows' ids")
        if name in ("select", "natural"):
            command.add_argument("--out", required=True, type=Path)
            command.add_argument("--seed", type=int, default=1)
        if name == "collect":
            command.add_argument("--sheets", required=True, type=Path)
            command.add_argument("--by", required=True, help="who graded")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()

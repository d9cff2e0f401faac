"""The figures of trainings on dev rows, and the rows that a training is in doubt about.

    python training/remote/report.py figures --data DATA --folder build/remote --opinions OUT/*.opinions.xz [--results RESULTS]
    python training/remote/report.py keep --data DATA --folder build/remote --opinions OUT/teachers.opinions.xz
    python training/remote/report.py doubts --data DATA --folder build/remote --opinions OUT/teachers.opinions.xz --out FILE

--results is what `toxscreen batch` says of the dev rows, JSONL with their ids: the model that ships, in the same table.
doubts writes natural training rows with their scores and the thresholds at which 3 harmless texts of 1,000 are flagged,
as annotate.py natural reads them. keep writes a teacher's opinions of the training rows where pack.py finds them.
"""

import argparse
import functools
import gzip
import json
import lzma
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import data
import measures
import metrics
import pack
from natural import HARMLESS, TOXIC

FLAGGED = (0.001, 0.003, 0.015)  # of harmless natural texts, at the three operating points
OPINION_RANGE = 10.0


split_rows = functools.cache(data.split_rows)


class Rows:
    """Ids and hashes of the packed rows that are no twins, in their order."""

    def __init__(self, folder: Path):
        with gzip.open(f"{folder}.rows.jsonl.gz", "rt", encoding="utf-8") as lines:
            self.names, self.hashes = zip(*(json.loads(line) for line in lines))
        self.at = {name: i for i, name in enumerate(self.names) if name}


def opinions(path: Path, outputs: int = 14) -> np.ndarray:
    """float32 [rows, outputs], logits."""
    with lzma.open(path) as file:
        steps = np.frombuffer(file.read(), np.uint8).reshape(outputs, -1).T
    return np.where(steps == 255, np.nan, steps.astype(np.float32) * (2 * OPINION_RANGE / 254) - OPINION_RANGE)


def results(path: Path) -> dict[str, np.ndarray]:
    """By id, float32 [14]: log-odds of toxscreen's scores, on one scale for both."""
    out = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            result = json.loads(line)
            if "attributes" in result:
                p = np.array([result["attributes"][a]["score"] for a in data.ATTRIBUTES], np.float32).clip(1e-6, 1 - 1e-6)
                out[result["id"]] = np.tile(np.log(p / (1 - p)), 2)
    return out


class Scores:
    """The logits of one system by row id."""

    def __init__(self, name: str, by_id):
        self.name, self.by_id = name, by_id

    def of(self, ids: list[str]) -> np.ndarray:
        return np.stack([self.by_id(id) for id in ids])


def operating_points(harmless: np.ndarray) -> dict[float, np.ndarray]:
    """By the share of harmless texts that is flagged, a threshold for each attribute: each flags an equal share."""
    out = {}
    for share in FLAGGED:
        low, high = 0.0, share
        for _ in range(40):
            each = (low + high) / 2
            at = np.quantile(harmless, 1 - each, axis=0)
            low, high = (each, high) if (harmless > at).any(1).mean() <= share else (low, each)
        out[share] = np.quantile(harmless, 1 - low, axis=0)
    return out


def graded(folder: Path, split: str, sources, rows: Rows) -> tuple[list[str], np.ndarray]:
    """Ids of packed rows of these sources with their mean grades [rows, 7]."""
    chosen = [row for row in data.read_annotations(folder, split) if row.id.split("/")[0] in sources and row.id in rows.at]
    return [row.id for row in chosen], np.stack([row.labels for row in chosen])


# Set, attribute, scale (0: guideline, 1: Perspective's): the AUC of the attribute's label.
LABELS = [
    ("implicit_hate", "identity_attack", 0), ("toxigen_human", "identity_attack", 0), ("edos", "identity_attack", 0), ("measuring_hate", "identity_attack", 0), ("stormfront", "identity_attack", 0),
    ("dynahate", "identity_attack", 0), ("hatexplain", "toxicity", 0), ("convabuse", "toxicity", 0), ("hatemoji_build", "identity_attack", 0), ("cad_reddit", "toxicity", 0), ("cad_reddit", "identity_attack", 0),
    ("conda_dota2", "toxicity", 0), ("dota2_chat_more", "toxicity", 0), ("impermium_insults", "insult", 0), ("implicit_abuse_groups", "identity_attack", 0), ("abusive_comparisons", "insult", 0),
    ("parler_hate", "identity_attack", 0), ("swear_abuse_or_profane", "insult", 0), ("reclaimed_slurs", "toxicity", 0), ("workplace_sexism", "identity_attack", 0), ("olid_tweets", "toxicity", 0), ("olid_tweets", "toxicity", 1),
    ("us_election_hof", "toxicity", 0), ("hasoc2019_en", "toxicity", 0), ("jigsaw", "toxicity", 0), ("jigsaw", "toxicity", 1), ("davidson", "toxicity", 1), ("paradetox", "toxicity", 0), ("civil_spans", "toxicity", 0), ("madlibs", "toxicity", 0),
]
MEASURE_ONLY = {"toxicr_codereview": "toxicity", "stackoverflow_rude": "rude", "lkml_incivility": "uncivil", "sgid_github": "gender_or_orientation_discrimination", "unhealthy_comments": "unhealthy", "congress_incivility": "uncivil", "swad_swearing": "abusive_swearing"}
HATE = ("implicit_hate", "toxigen_human", "edos", "measuring_hate", "stormfront")


def figures(args):
    rows = Rows(args.folder)
    systems = []
    for path in args.opinions:
        logits = opinions(path)
        systems.append(Scores(path.name.removesuffix(".opinions.xz"), lambda id, logits=logits: logits[rows.at[id]]))
        # A teacher may have had no time for some rows: all systems are measured on the rest.
        rows.at = {id: i for id, i in rows.at.items() if not np.isnan(logits[i, 0])}
    for path in args.results or []:
        known = results(path)
        systems.append(Scores(path.stem, lambda id, known=known: known[id]))
    table = defaultdict(dict)
    one = lambda n: np.ones(n)
    natural, grades = graded(args.data, "dev", data.NATURAL, rows)
    labelled, theirs = graded(args.data, "dev", data.LOADERS.keys() - data.NATURAL.keys(), rows)
    top = grades.max(1)
    clean, toxic = top < HARMLESS, top >= TOXIC
    held = [row.id for source in data.NATURAL for row in split_rows(args.data, source, "dev") if row.id in rows.at]
    cases = [json.loads(line) for line in (args.data.parent / "cases" / "first_minutes.jsonl").read_text(encoding="utf-8").splitlines()]
    numbers = [n for n in range(len(cases)) if f"cases/{n}" in rows.at]
    wanted = np.array([cases[n]["expect"] == "flagged" for n in numbers])
    families = [family for family in measures.read_behaviours() if family["half"] == "dev"]
    for system in systems:
        add = lambda name, value: table[name].__setitem__(system.name, float(value))
        z = system.of(natural)[:, :7]
        points = operating_points(z[clean])
        at = points[0.003]
        over = (z - at).max(1)
        add(f"graded natural dev rows ({len(natural):,}; {int(toxic.sum())} toxic): AUC by the attribute most over", metrics.auc(toxic[clean | toxic], over[clean | toxic], one(int((clean | toxic).sum()))))
        for share, limits in points.items():
            add(f"natural: found where {1000 * share:g} of 1,000 harmless are flagged", ((z - limits).max(1) > 0)[toxic].mean())
        for a, attribute in enumerate(data.ATTRIBUTES):
            add(f"natural: Spearman {attribute}", metrics.spearman(grades[:, a], z[:, a], one(len(z))))
        z = system.of([f"cases/{n}" for n in numbers])[:, :7]
        add("cases: AUC", metrics.auc(wanted, (z - at).max(1), one(len(z))))
        add("cases: clean left alone", ((z - at).max(1) <= 0)[~wanted].mean())
        add("cases: toxic found", ((z - at).max(1) > 0)[wanted].mean())
        clean_behaviours, found = [], defaultdict(list)
        for family in families:
            ids = [id for n in range(len(family["texts"])) if (id := f"behaviours/{family['id']}/{n}") in rows.at]
            if not ids:
                continue
            z = system.of(ids)[:, :7]
            for attribute, side in family["expect"].items():
                if side == "above" and attribute != "any":
                    a = data.ATTRIBUTES.index(attribute)
                    found[attribute].extend(z[:, a] > at[a])
            if "above" not in family["expect"].values():
                clean_behaviours.extend((z - at).max(1) > 0)
        add("behaviours: harmless flagged", np.mean(clean_behaviours))
        for attribute, hits in found.items():
            add(f"behaviours: {attribute} found", np.mean(hits))
        z = system.of(labelled)[:, :7]
        add(f"graded rows of labelled sets ({len(labelled):,}): mean Spearman", np.mean([metrics.spearman(theirs[:, a], z[:, a], one(len(z))) for a in range(7)]))
        most = theirs.max(1)
        known = (most < HARMLESS) | (most >= TOXIC)
        add("graded rows of labelled sets: AUC by the attribute most over", metrics.auc(most[known] >= TOXIC, (z - at).max(1)[known], one(int(known.sum()))))
        add("graded rows of labelled sets: harmless flagged", ((z - at).max(1) > 0)[most < HARMLESS].mean())
        add("graded rows of labelled sets: toxic found", ((z - at).max(1) > 0)[most >= TOXIC].mean())
        hate = []
        for source, attribute, scale in LABELS:
            chosen = [row for row in split_rows(args.data, source, "dev") if row.id in rows.at and not np.isnan(row.labels[data.ATTRIBUTES.index(attribute)])]
            a = data.ATTRIBUTES.index(attribute)
            y = np.array([row.labels[a] >= 0.5 for row in chosen])
            if 0 < y.sum() < len(y):
                value = metrics.auc(y, system.of([row.id for row in chosen])[:, 7 * scale + a], one(len(y)))
                add(f"{source}: AUC {attribute}, {('guideline', 'Perspective')[scale]}", value)
                if source in HATE:
                    hate.append(value)
        add("hate of five: mean AUC", np.mean(hate))
        panel = []
        for source, label in MEASURE_ONLY.items():
            raws = [raw for raw in data.read_file(args.data / "more" / "measure_only" / f"{source}.jsonl.gz") if f"{source}/{raw['id']}" in rows.at and label in raw["labels"]]
            y = np.array([raw["labels"][label] >= 0.5 for raw in raws])
            z = system.of([f"{source}/{raw['id']}" for raw in raws])
            a = 2 if source == "swad_swearing" else 0
            value = metrics.auc(y, z[:, a], one(len(y)))
            add(f"{source}: AUC", value)
            add(f"{source}: clean flagged", ((z[:, :7] - at).max(1) > 0)[~y].mean())
            panel.append(value)
        add("measure_only of more/: mean AUC", np.mean(panel))
        for source in ("perspective_rtp", "perspective_rtp2", "perspective_devtest_only", "perspective_toxigen", "perspective_implicit_hate"):
            chosen = [row for row in split_rows(args.data, source, "dev") if row.id in rows.at]
            y, z = np.stack([row.labels for row in chosen]), system.of([row.id for row in chosen])[:, 7:]
            each = [metrics.spearman(y[k, a], z[k, a], one(int(k.sum()))) for a in range(7) if (k := ~np.isnan(y[:, a])).sum() > 20]
            add(f"{source}: mean Spearman, Perspective", np.mean(each))
            add(f"{source}: Spearman toxicity, Perspective", each[0])
        # Sources of natural text that nobody graded in full: what is flagged at the default.
        z = system.of(held)[:, :7]
        add(f"natural dev rows ({len(held):,}), graded or not: flagged", ((z - at).max(1) > 0).mean())
    print("| | " + " | ".join(s.name for s in systems) + " |\n|" + "---|" * (len(systems) + 1))
    for name, row in table.items():
        print(f"| {name} | " + " | ".join(f"{row[s.name]:.3f}" if s.name in row else "–" for s in systems) + " |")


def doubts(args):
    rows = Rows(args.folder)
    logits = opinions(args.opinions[0])[:, :7]
    others = [opinions(path)[:, :7] for path in args.opinions[1:]]
    rows.at = {id: i for id, i in rows.at.items() if not np.isnan(logits[i, 0])}
    ids, grades = graded(args.data, "dev", data.NATURAL, rows)
    at = operating_points(logits[[rows.at[id] for id in ids]][grades.max(1) < HARMLESS])[0.003]
    dev = {row.id for source in data.NATURAL for row in split_rows(args.data, source, args.split)}
    written = 0
    with open(args.out, "w", encoding="utf-8") as out:
        for id, i in rows.at.items():
            if id in dev:
                highest = np.max([logits[i], *(other[i] for other in others)], axis=0)
                out.write(json.dumps({"id": id, "attributes": {a: {"score": float(1 / (1 + np.exp(-z))), "threshold": float(1 / (1 + np.exp(-t)))} for a, z, t in zip(data.ATTRIBUTES, highest, at)}}) + "\n")
                written += bool((highest - at + np.log(2) >= 0).any())
    print(f"{len(dev):,} rows, {written:,} flagged or nearly flagged; thresholds {np.round(1 / (1 + np.exp(-at)), 3).tolist()}")


def keep(args):
    rows, logits = Rows(args.folder), opinions(args.opinions[0])
    held_out = {pack.hash_of(text) for _, _, text in pack.dev_rows(args.data)}
    known = {number: i for i, number in enumerate(rows.hashes) if not np.isnan(logits[i, 0]) and number not in held_out}
    hashes = np.array(sorted(known), dtype=np.uint64)
    steps = np.rint((logits[[known[int(number)] for number in hashes]] + OPINION_RANGE) * (254 / (2 * OPINION_RANGE))).astype(np.uint8)
    pack.write_opinions(hashes, steps)
    print(f"{len(hashes):,} texts, {pack.OPINIONS.stat().st_size / 2**20:.1f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run in (("figures", figures), ("keep", keep), ("doubts", doubts)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("--data", required=True, type=Path)
        command.add_argument("--folder", required=True, type=Path, help="the packed folder, with its .rows.jsonl.gz beside it")
        command.add_argument("--opinions", required=True, nargs="+", type=Path)
        if name == "figures":
            command.add_argument("--results", nargs="*", type=Path)
        if name == "doubts":
            command.add_argument("--split", choices=("train", "dev"), default="train")
            command.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()

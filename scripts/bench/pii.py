"""Finding personal data: toxscreen against Presidio, in one run.

    python scripts/bench/pii.py --toxscreen bin/toxscreen --data DATA [--split test] [--parts synthetic names …] [--json FILE]

needs pii-requirements.txt and, for the parts synthetic, names, time and twice, the data folder. Prints markdown. Improve the
product by dev only; --split test is for a report. Parts:

synthetic  rows of pii_synthetic of templates that no other split has. Spans by type, micro-averaged, F2; see
           pii_measures.match for what overlapping and exact mean. Neighbours of one type that only blanks and punctuation
           divide are one span. "places" takes LOCATION and ADDRESS for one type. The 95 % interval resamples templates.
           "characters" asks only whether a character is covered, whatever the type.
names      PERSON in tweets (wnut17, btc) and in Wikipedia (wikigold), F1.
harmless   findings a 1,000 words in testdata/pii/harmless.jsonl.gz that overlap no annotated entity; words are what white space
           separates. DATE_TIME is not annotated there: all its findings are counted.
time       processor time of Presidio's analyzer, one text after the other, and of toxscreen's commands on one thread, less what
           they take to start: patterns alone, with the network, toxicity alone, and both together. The median of five runs,
           in turns, on the rows of synthetic and on every eighth document of harmless. What else runs on the machine
           disturbs it less than the time on the clock.
twice      those rows, masked and searched again: findings in masked text, and whether the original can be restored.

The types of pii_synthetic, and what the systems call them:

| gold          | toxscreen | Presidio                                                               |
|---------------|-----------|------------------------------------------------------------------------|
| DOMAIN_NAME   | URL       | URL                                                                    |
| ADDRESS       | ADDRESS   | LOCATION: those in one ADDRESS count as one, pii_measures.addresses    |
| TITLE, PREFIX | –         | – (a finding that overlaps only such a word is not counted)            |
| the others    | the same  | the same                                                               |

Findings of types that pii_synthetic does not annotate (NRP, UUID, US_BANK_NUMBER, …) are not counted in "synthetic", except
by "characters", which leaves out only NRP: the texts have nationalities that are not annotated.
"""

import argparse
import gzip
import json
import os
import platform
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "training"))

import entities_data
from data import read_file
from pii_measures import IGNORE, Counts, Span, Tally, addresses, characters, exact, interval, joined, match, places, unannotated
from pii_systems import Presidio, Toxscreen

PARTS = ("synthetic", "names", "harmless", "time", "twice")
HARMLESS = Path(__file__).resolve().parents[2] / "testdata" / "pii" / "harmless.jsonl.gz"
# The types that pii_synthetic annotates.
ANNOTATED = frozenset("PERSON ADDRESS LOCATION ORGANIZATION CREDIT_CARD PHONE_NUMBER DATE_TIME EMAIL_ADDRESS US_SSN IBAN_CODE URL US_DRIVER_LICENSE IP_ADDRESS".split())
APART = ("LOCATION", "URL", "DATE_TIME")
RUNS = 5
# How many copies of the texts one process gets, so that its start weighs little where they are fast, the command and its options.
COMMANDS = {
    "toxscreen pii batch --no-names": (40, ("pii", "batch"), "--no-names"),
    "toxscreen pii batch": (4, ("pii", "batch")),
    "toxscreen batch --full": (2, ("batch",), "--no-judge", "--full"),
    "toxscreen batch --full --pii": (2, ("batch",), "--no-judge", "--full", "--pii"),
}

Finder = Callable[[list[str]], list[list[Span]]]


def gold_spans(row: dict) -> list[Span]:
    names = {"DOMAIN_NAME": "URL", "TITLE": IGNORE, "PREFIX": IGNORE}
    return [Span(start, end, names.get(kind, kind)) for start, end, kind in row["spans"]]


def synthetic_rows(data: Path, split: str) -> list[dict]:
    return [row for row in read_file(data / "pii_synthetic.jsonl.gz") if entities_data.split_of(str(row["template"])) == split]


def synthetic(finders: dict[str, Finder], rows: list[dict]) -> dict:
    out = {}
    for name, find in finders.items():
        totals, covered, templates = {"overlapping": Tally(), "places": Tally(), "exact": Tally()}, Counts(), defaultdict(list)
        for row, found in zip(rows, find([row["text"] for row in rows]), strict=True):
            gold = gold_spans(row)
            covered += characters([f for f in found if f.type != "NRP"], gold)
            found = [f for f in found if f.type in ANNOTATED]
            totals["places"] += match(joined(places(found), row["text"]), joined(places(gold), row["text"]))
            gold = joined(gold, row["text"])
            found = joined(addresses(found, gold) if name.startswith("Presidio") else found, row["text"])
            tally = match(found, gold)
            templates[row["template"]].append(tally.total())
            totals["overlapping"] += tally
            totals["exact"] += match(found, gold, exact)
        out[name] = {
            **{kind: summary(tally.total(), 2) for kind, tally in totals.items()},
            "interval": interval(templates, 2),
            "characters": summary(covered, 2),
            "types": {kind: summary(counts, 2) for kind, counts in sorted(totals["overlapping"].types.items())},
        }
    return out


def names(finders: dict[str, Finder], data: Path, split: str) -> dict:
    sources = defaultdict(list)
    for example in entities_data.load(data):
        if example.split == split and example.source != "pii_synthetic":
            sources[example.source].append(example)
    out = {}
    for source, examples in sorted(sources.items()):
        for name, find in finders.items():
            tallies = {"overlapping": Tally(), "exact": Tally()}
            for example, found in zip(examples, find([example.text for example in examples]), strict=True):
                gold = [Span(*span) for span in example.spans if span[2] in ("PERSON", IGNORE)]
                found = [f for f in found if f.type == "PERSON"]
                tallies["overlapping"] += match(found, gold)
                tallies["exact"] += match(found, gold, exact)
            out.setdefault(source, {})[name] = {"rows": len(examples), **{kind: summary(tally.total(), 1) for kind, tally in tallies.items()}}
    return out


def harmless_documents(part: str) -> list[dict]:
    with gzip.open(HARMLESS, "rt", encoding="utf-8") as lines:
        return [document for document in map(json.loads, lines) if document["part"] == part]


def harmless(finders: dict[str, Finder], documents: list[dict]) -> dict:
    words = Counter()
    for document in documents:
        words[document["kind"]] += len(document["text"].split())
    out = {"words": dict(words), "alarms": {}}
    for name, find in finders.items():
        alarms = {kind: Counter() for kind in words}
        for document, found in zip(documents, find([d["text"] for d in documents]), strict=True):
            alarms[document["kind"]] += unannotated(found, [Span(e["start"], e["end"], e["type"]) for e in document["entities"]])
        out["alarms"][name] = {kind: dict(sorted(counts.items())) for kind, counts in alarms.items()}
    return out


def times(toxscreen: Toxscreen | None, presidio: Presidio | None, texts: list[str]) -> dict:
    """Milliseconds a text and a kB, medians of RUNS, in turns."""
    sides: dict[str, Callable[[], float]] = {}
    if toxscreen:
        for name, (copies, command, *options) in COMMANDS.items():
            sides[name] = partial(toxscreen.seconds, texts, copies, command, *options)
    if presidio:
        presidio.seconds(texts[:10])
        sides["Presidio"] = partial(presidio.seconds, texts)
    took = {name: [] for name in sides}
    for _ in range(RUNS):
        for name, seconds in sides.items():
            took[name].append(seconds())
    size = sum(len(text.encode()) for text in texts) / 1000
    return {name: {"ms_a_text": 1000 * statistics.median(each) / len(texts), "ms_a_kb": 1000 * statistics.median(each) / size, "lowest": 1000 * min(each) / len(texts), "highest": 1000 * max(each) / len(texts)} for name, each in took.items()}


def twice(toxscreen: Toxscreen | None, presidio: Presidio | None, texts: list[str]) -> dict:
    out = {}
    for operator in ("replace", "redact"):
        if toxscreen:
            out.setdefault("toxscreen", {})[operator] = found_again(toxscreen.find(toxscreen.mask(texts, operator)))
        if presidio:
            out.setdefault("Presidio", {})[operator] = found_again(presidio.find(presidio.mask(texts, operator)))
    if toxscreen:
        out["restored"] = sum(back == text for back, text in zip(toxscreen.restore(texts), texts, strict=True))
    return out


def found_again(found: list[list[Span]]) -> dict:
    return {"found": sum(map(len, found)), "types": dict(Counter(f.type for each in found for f in each).most_common())}


def summary(counts: Counts, beta: float) -> dict:
    return {"hits": counts.hits, "alarms": counts.alarms, "misses": counts.misses, "precision": counts.precision, "recall": counts.recall, f"f{beta:g}": counts.f(beta)}


# The report.


def cell(value: float | None, places: int = 3) -> str:
    return "–" if value is None else f"{value:.{places}f}"


def table(head: list[str], rows: list[list[str]]):
    for row in (head, ["---", *["---:"] * (len(head) - 1)], *rows):
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def show_synthetic(result: dict, rows: list[dict], split: str):
    print(f"\n## pii_synthetic, {split}: {len(rows)} texts of {len({row['template'] for row in rows})} templates\n")
    scores = [[name, cell(r["overlapping"]["f2"]), f"{cell(r['interval'][0])}–{cell(r['interval'][1])}", cell(r["overlapping"]["precision"]), cell(r["overlapping"]["recall"]), cell(r["places"]["f2"]), cell(r["exact"]["f2"]), cell(r["characters"]["f2"])] for name, r in result.items()]
    table(["", "F2 overlapping", "95 %", "precision", "recall", "F2 places", "F2 exact", "F2 characters"], scores)
    kinds = sorted({kind for r in result.values() for kind in r["types"]})
    count = Counter(span.type for row in rows for span in gold_spans(row))
    table(["F2 overlapping", "entities", *result], [[kind, str(count[kind]), *(cell(r["types"].get(kind, {}).get("f2")) for r in result.values())] for kind in kinds])


def show_names(result: dict, split: str):
    print(f"\n## PERSON, {split}\n")
    rows = [[source, name, str(r["rows"]), cell(r["overlapping"]["f1"]), cell(r["overlapping"]["precision"]), cell(r["overlapping"]["recall"]), cell(r["exact"]["f1"])] for source, systems in result.items() for name, r in systems.items()]
    table(["source", "", "texts", "F1 overlapping", "precision", "recall", "F1 exact"], rows)


def show_harmless(result: dict, split: str):
    words = result["words"]
    print(f"\n## False alarms a 1,000 words, {split}: {sum(words.values())} words\n")

    def rates(alarms: dict, wanted: Callable[[str], bool]) -> list[str]:
        counts = {kind: sum(n for t, n in types.items() if wanted(t)) for kind, types in alarms.items()}
        return [cell(1000 * counts[kind] / words[kind], 2) for kind in words] + [cell(1000 * sum(counts.values()) / sum(words.values()), 2)]

    rows = [[what, name, *rates(alarms, wanted)] for what, wanted in {"all other types": lambda t: t not in APART, **{kind: lambda t, kind=kind: t == kind for kind in APART}}.items() for name, alarms in result["alarms"].items()]
    table(["types", "", *words, "all"], rows)
    kinds = sorted({t for alarms in result["alarms"].values() for types in alarms.values() for t in types})
    table(["findings", *result["alarms"]], [[kind, *(str(sum(types.get(kind, 0) for types in alarms.values())) for alarms in result["alarms"].values())] for kind in kinds])


def show_times(result: dict):
    print(f"\n## Processor time, medians of {RUNS}\n")
    rows = [[what, name, cell(r["ms_a_text"]), f"{cell(r['lowest'])}, {cell(r['highest'])}", cell(r["ms_a_kb"])] for what, sides in result.items() for name, r in sides.items()]
    table(["", "", "ms a text", "lowest, highest", "ms a kB"], rows)


def show_twice(result: dict, count: int):
    print(f"\n## {count} texts masked and searched again\n")
    rows = [[name, operator, str(r["found"]), ", ".join(f"{kind} {n}" for kind, n in r["types"].items()) or "–"] for name, operators in result.items() if name != "restored" for operator, r in operators.items()]
    table(["", "operator", "found again", "types"], rows)
    if "restored" in result:
        print(f"toxscreen: {result['restored']} of {count} texts are the same after --mapping and pii restore.")


def processor() -> str:
    models = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{models[0] if models else platform.processor()}, {len(os.sched_getaffinity(0))} cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toxscreen", type=Path, help="the program; without it, Presidio alone is measured")
    parser.add_argument("--without-presidio", action="store_true", help="measure toxscreen alone, which takes seconds")
    parser.add_argument("--data", type=Path, help="the data folder")
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--json", type=Path, help="file for the counts")
    arguments = parser.parse_args()
    if arguments.data is None and set(arguments.parts) != {"harmless"}:
        parser.error("all parts but harmless need --data")

    toxscreen = Toxscreen(arguments.toxscreen) if arguments.toxscreen else None
    presidio = None if arguments.without_presidio else Presidio()
    finders: dict[str, Finder] = {}
    if toxscreen:
        finders["toxscreen"] = toxscreen.find
    if presidio:
        finders["Presidio as installed"] = presidio.find
        finders["Presidio, score ≥ 0.4"] = partial(presidio.find, threshold=0.4)
        finders["Presidio, score ≥ 0.4, ORGANIZATION on"] = partial(presidio.find, threshold=0.4, organization=True)
    result = {"split": arguments.split, "processor": processor(), "python": platform.python_version(), "toxscreen": toxscreen and toxscreen.versions(), "presidio": presidio and presidio.versions()}
    print(f"{result['processor']}, load {os.getloadavg()[0]:.1f} at the start; {result['toxscreen'] or 'without toxscreen'}; {result['presidio'] or 'without Presidio'}; Python {result['python']}")

    rows = synthetic_rows(arguments.data, arguments.split) if arguments.data else []
    texts = [row["text"] for row in rows]
    if "synthetic" in arguments.parts:
        result["synthetic"] = synthetic(finders, rows)
        show_synthetic(result["synthetic"], rows, arguments.split)
    if "names" in arguments.parts:
        # PERSON is the same at all thresholds: spaCy's names have a score of 0.85.
        result["names"] = names({name: find for name, find in finders.items() if "≥" not in name}, arguments.data, arguments.split)
        show_names(result["names"], arguments.split)
    if "harmless" in arguments.parts:
        result["harmless"] = harmless(finders, harmless_documents(arguments.split))
        show_harmless(result["harmless"], arguments.split)
    if "time" in arguments.parts:
        documents = [document["text"] for document in harmless_documents(arguments.split)[::8]]
        result["time"] = {f"{len(some)} {what}": times(toxscreen, presidio, some) for what, some in (("texts", texts), ("documents", documents))}
        show_times(result["time"])
    if "twice" in arguments.parts:
        result["twice"] = twice(toxscreen, presidio, texts)
        show_twice(result["twice"], len(texts))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

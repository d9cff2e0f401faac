"""The rows that a model of many languages learns from and is measured on, by the names of remote/mix.py's sources.

Of each LANGUAGE of LANGUAGES (hi-Latn is Hindi in Latin letters):

- sentences_LANGUAGE: ours, multi/LANGUAGE.jsonl.gz, with grades by docs/model/guideline.md;
- graded_natural_LANGUAGE, graded_LANGUAGE: rows of the data folder, natural or of labelled sets, with our grades;
- natural_LANGUAGE: natural text that nobody graded, of sources that are quiet: it counts as harmless;
- and the labelled sets, SETS, whose labels each have a definition of their own.

A tenth of our sentences and of the graded rows measures and never trains, since the labelled sets cover half of the
languages. English is data.py's.
"""

import functools
import hashlib
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import data

LANGUAGES = ("ar", "cs", "de", "es", "fr", "hi", "hi-Latn", "id", "it", "ja", "ko", "nl", "pl", "pt", "ru", "sv", "tr", "uk", "vi", "zh")
FOLDER = Path(__file__).with_name("multi")
HELD_BACK = 10  # one of so many texts measures
MOST_DEV = 1000  # dev rows of a labelled set
# A language's quiet rows. Of 5,600 natural rows that we graded, 0.1 % from these are at 0.5 or more in an
# attribute; of tweets 7 %, of hinglid 28 %, of hinglishnorm 9 %, of fortunes 4 % (it and pl more), of tatoeba 1 %.
MOST_QUIET = 4000
QUIET = ("x_ui", "x_names_iso", "x_names_people", "x_words_cldr", "x_xquad", "x_quran", "x_dialogue_crosswoz", "x_hinglish_top", "x_ud")
# Not for commercial use, as their authors say, like sources without a licence. Of treebanks, also tweets in Italian.
NON_COMMERCIAL = ("Czech-FicTree", "Italian-PoSTWITA", "Italian-ISDT", "Polish-PDB", "Swedish-LinES", "Ukrainian-IU")
UNLICENSED = (
    "abuse_ar_lhsab", "abuse_ar_offenseval20", "abuse_de_germeval21", "abuse_es_offendes", "abuse_fr_cyberagressionado", "abuse_hi_latn_politics", "abuse_hi_macd",
    "abuse_it_whatsapp", "abuse_pl_poleval19", "abuse_pt_fortuna", "abuse_tr_offenseval20", "abuse_vi_victsd",
    "x_dialogue_daily", "x_hinglid", "x_hinglishnorm", "x_zh_sms_nus", "x_ud_non_commercial",
)
DEVANAGARI = re.compile(r"[\u0900-\u097f]")


@dataclass(frozen=True)
class Set:
    """A labelled set. file: in the data folder. read: its labels. groups: whether its identity_attack is what it was made
    for. measures: never for training."""

    language: str
    file: str
    read: Callable[[dict], np.ndarray]
    groups: bool = False
    measures: bool = False


def as_named(raw: dict) -> np.ndarray:
    """The set's own names, which are ours."""
    return data.labels_of(**{name: value for name, value in raw["labels"].items() if name in data.ATTRIBUTES})


def hate_too(raw: dict) -> np.ndarray:
    """Hate is an attack on a group."""
    return data.labels_of(**{"identity_attack" if name == "hate" else name: value for name, value in raw["labels"].items()})


def hate_alone(raw: dict) -> np.ndarray:
    """Only hate was annotated; a text without hate can be rude."""
    return data.labels_of(toxicity=0.9 if raw["labels"]["hate"] >= 0.5 else 0.15, identity_attack=raw["labels"]["hate"])


def rewrites(raw: dict) -> np.ndarray:
    """Rewrites keep the meaning, which can be rude."""
    return data.labels_of(toxicity=0.9 if raw["labels"]["toxicity"] else 0.15)


SETS = {
    "ar_lhsab": Set("ar", "natural/abuse_ar_lhsab", hate_too, groups=True),
    "ar_offenseval20": Set("ar", "natural/abuse_ar_offenseval20", as_named),
    "ar_mlma": Set("ar", "ml_mlma_fr_ar", as_named),
    "de_gahd": Set("de", "natural/abuse_de_gahd", hate_alone, groups=True),
    "de_germeval18": Set("de", "ml_germeval18_de", as_named),
    "de_germeval21": Set("de", "natural/abuse_de_germeval21", as_named),
    "es_offendes": Set("es", "natural/abuse_es_offendes", as_named),
    "es_hateval19": Set("es", "natural/measure_only/abuse_es_hateval19", hate_alone, groups=True, measures=True),
    "fr_cyberagressionado": Set("fr", "natural/abuse_fr_cyberagressionado", hate_too),
    "fr_mlma": Set("fr", "ml_mlma_fr_ar", as_named),
    "hi_macd": Set("hi", "natural/abuse_hi_macd", as_named),
    "hi-Latn_politics": Set("hi-Latn", "natural/abuse_hi_latn_politics", as_named),
    "id_ibrohim": Set("id", "natural/measure_only/abuse_id_ibrohim", as_named, groups=True, measures=True),
    "it_whatsapp": Set("it", "natural/abuse_it_whatsapp", as_named),
    "it_haspeede2": Set("it", "natural/measure_only/abuse_it_haspeede2", hate_alone, groups=True, measures=True),
    "ja_inspection": Set("ja", "natural/abuse_ja_inspection", as_named),
    "ko_apeach": Set("ko", "natural/abuse_ko_apeach", hate_alone, groups=True),
    "ko_beep": Set("ko", "ml_beep_ko", as_named),
    "ko_kmhas": Set("ko", "natural/abuse_ko_kmhas", as_named, groups=True),
    "pl_poleval19": Set("pl", "natural/abuse_pl_poleval19", as_named),  # whose hate is also of politicians
    "pt_fortuna": Set("pt", "natural/abuse_pt_fortuna", hate_alone, groups=True),
    "pt_toldbr": Set("pt", "ml_toldbr_pt", as_named),
    "pt_tupy": Set("pt", "natural/abuse_pt_tupy", as_named, groups=True),
    "pt_hatebr": Set("pt", "natural/measure_only/abuse_pt_hatebr", as_named, measures=True),
    "ru_rudetox": Set("ru", "ml_rudetox_ru", rewrites),
    "tr_offenseval20": Set("tr", "natural/abuse_tr_offenseval20", as_named),
    "vi_victsd": Set("vi", "natural/abuse_vi_victsd", as_named),
    "vi_vihos": Set("vi", "natural/abuse_vi_vihos", as_named),
    "zh_cold": Set("zh", "ml_cold_zh", as_named),
}
# Only with our grades: all its rows are toxic, so their labels tell nothing that the choice of texts does not.
GRADED_ONLY = "ml_textdetox_toxic"
FILES = tuple(sorted({of.file for of in SETS.values() if not of.measures} | {GRADED_ONLY}))


def held_back(text: str) -> bool:
    """Whether a sentence or a graded row measures: chosen by its words, so that its copies do as well."""
    return int(hashlib.sha1(data.key(text).encode()).hexdigest(), 16) % HELD_BACK == 0


def language_of(raw: dict) -> str:
    return "hi-Latn" if raw["lang"] == "hin" else raw["lang"]


def read_file(folder: Path, file: str) -> list[dict]:
    """A file of the data folder, or none of its rows if the folder lacks it."""
    path = Path(folder) / f"{file}.jsonl.gz"
    return data.read_file(path) if path.exists() else []


def row_of(file: str, raw: dict, labels: np.ndarray, votes: np.ndarray | None = None) -> data.Row:
    """id: FILE/ID. source: by which it is left out, the file's or, of natural text, where it comes from."""
    name = file.rsplit("/", 1)[-1]
    source = raw["source"] if name.startswith("natural_") else name
    if raw.get("treebank") in NON_COMMERCIAL:
        source = "x_ud_non_commercial"
    text = re.sub(r"\bURL\b", "[url]", raw["text"].replace("<LF>", "\n")) if name == "abuse_ar_offenseval20" else raw["text"]
    return data.Row(text, source, raw["split"], labels, votes, id=f"{name}/{raw['id']}")


def marked(raw: dict) -> np.ndarray | None:
    """Votes of a row whose spans people marked, for no attribute in particular."""
    if "spans" not in raw:
        return None
    votes = np.full((len(data.SPAN_ATTRIBUTES), len(raw["text"])), np.nan, dtype=np.float32)
    votes[0] = 0
    for start, end in raw["spans"]:
        votes[0, start:end] = 1
    return votes


def sentences(language: str) -> list[data.Row]:
    """Ours, with the mean of the two readings where a sentence was read twice. Hindi's file has both scripts."""
    second = {raw["text"]: data.grades_of(raw) for raw in second_readings() if raw["lang"] == language[:2]}
    rows = []
    for raw in data.read_file(FOLDER / f"{language[:2]}.jsonl.gz"):
        if language[:2] == "hi" and bool(DEVANAGARI.search(raw["text"])) != (language == "hi"):
            continue
        text, grades = raw["text"], data.grades_of(raw)
        labels = (grades + second[text]) / 2 if text in second else grades
        id = f"sentences_{language}/{hashlib.sha1(text.encode()).hexdigest()[:12]}"
        rows.append(data.Row(text, f"sentences_{language}", "dev" if held_back(text) else "train", labels, data.clean_labels(text, labels), id=id))
    return rows


@functools.cache
def second_readings() -> list[dict]:
    return data.read_file(FOLDER / "second-readings.jsonl.gz")


@functools.cache
def grades() -> dict[str, list[np.ndarray]]:
    return data.read_grades(FOLDER / "annotations.jsonl.gz")


@functools.cache
def graded(folder: Path, files: tuple[str, ...]) -> dict[str, list[data.Row]]:
    """By language, rows of the files with our grades. Those of training rows that are held back are dev rows."""
    out = defaultdict(list)
    for file in files:
        for raw in read_file(folder, file):
            if given := grades().get(f"{file.rsplit('/', 1)[-1]}/{raw['id']}"):
                labels = np.mean(given, axis=0)
                row = row_of(file, raw, labels)
                row.votes = data.clean_labels(row.text, labels)
                out[language_of(raw)].append(replace(row, split="dev" if raw["split"] == "train" and held_back(raw["text"]) else raw["split"]))
    return out


def labelled(folder: Path, name: str) -> list[data.Row]:
    """Rows of a set in its language. Those with a grade of ours that are held back are left out, whatever the set says."""
    of, rows = SETS[name], []
    for raw in read_file(folder, of.file):
        if language_of(raw) != of.language or held_back(raw["text"]) and f"{of.file.rsplit('/', 1)[-1]}/{raw['id']}" in grades():
            continue
        try:
            rows.append(row_of(of.file, raw, of.read(raw), marked(raw)))
        except (KeyError, TypeError, ValueError) as cause:
            raise ValueError(f"failed to read a row of {of.file} (id {raw.get('id')}): {cause!r}; is it the file that the data README describes?") from cause
    return rows


def natural(folder: Path, language: str, split: str) -> list[data.Row]:
    """Natural text of a split: for training what is quiet and nobody graded, as harmless; to measure all, without labels."""
    file = f"natural/natural_{language}"
    rows = [row_of(file, raw, data.labels_of()) for raw in read_file(folder, file) if raw["split"] == split]
    if split != "train":
        return rows
    quiet = [row for row in rows if row.source in QUIET and row.id not in grades()]
    chosen = [quiet[i] for i in np.sort(np.random.default_rng(1).permutation(len(quiet))[:MOST_QUIET])]
    return [replace(row, labels=np.zeros(len(data.ATTRIBUTES), np.float32), votes=data.no_votes(row.text)) for row in chosen]


def rows_of(folder: Path, name: str) -> list[data.Row]:
    """Training rows of a source of the mix that is not English."""
    if name in SETS:
        rows = [] if SETS[name].measures else labelled(folder, name)
    else:
        kind, language = name.rsplit("_", 1)
        rows = {
            "sentences": lambda: sentences(language), "graded_natural": lambda: graded(folder, (f"natural/natural_{language}",))[language],
            "graded": lambda: graded(folder, FILES)[language], "natural": lambda: natural(folder, language, "train"),
        }[kind]()
    return [row for row in rows if row.split == "train"]


def dev_rows(folder: Path) -> dict[str, list[data.Row]]:
    """By source, rows that measure. English: the natural and other rows of a sample that we graded."""
    out = {}
    for language in LANGUAGES:
        out[f"sentences_{language}"] = [row for row in sentences(language) if row.split == "dev"]
        out[f"graded_natural_{language}"] = [row for row in graded(folder, (f"natural/natural_{language}",))[language] if row.split == "dev"]
        out[f"graded_{language}"] = [row for row in graded(folder, FILES)[language] if row.split == "dev"]
        out[f"natural_{language}"] = natural(folder, language, "dev")
    for name in SETS:
        rows = [row for row in labelled(folder, name) if row.split == "dev"]
        out[name] = [rows[i] for i in np.sort(np.random.default_rng(1).permutation(len(rows))[:MOST_DEV])]
    english = data.read_annotations(folder, "dev")
    out["graded_natural_en"] = [row for row in english if row.id.split("/")[0] in data.NATURAL]
    others = [row for row in english if row.id.split("/")[0] not in data.NATURAL]
    out["graded_en"] = [others[i] for i in np.sort(np.random.default_rng(1).permutation(len(others))[: 2 * MOST_DEV])]
    return out


def held_out_keys(folder: Path) -> set[str]:
    """Of rows that measure, of any file, and of what is held back here."""
    rows = [row for language in LANGUAGES for row in [*sentences(language), *graded(folder, (f"natural/natural_{language}",))[language], *graded(folder, FILES)[language]]]
    return data.held_out_keys(folder) | {data.key(row.text) for row in rows if row.split != "train"}


def texts(folder: Path) -> dict[str, list[str]]:
    """By language, all training texts, for counting."""
    out = defaultdict(list)
    for language in LANGUAGES:
        for kind in ("sentences", "graded_natural", "graded", "natural"):
            out[language] += [row.text for row in rows_of(folder, f"{kind}_{language}")]
    for name, of in SETS.items():
        out[of.language] += [row.text for row in rows_of(folder, name)]
    out["en"] = [row.text for row in [*data.read_sentences(), *data.read_annotations(folder), *data.split_rows(folder, "civil_spans", "train")]]
    return out

"""Reads the data folder: one loader per source, one row type for all of them.

A row has only what its source annotated. Missing annotations are NaN, in the labels and in the
character votes, and the loss masks NaN: read as 0, it would teach the model that thousands of
threatening posts are harmless because nobody was asked about threats.
"""

import ast
import gzip
import importlib.util
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ATTRIBUTES = ("toxicity", "severe_toxicity", "insult", "profanity", "identity_attack", "threat", "sexually_explicit")
SPAN_ATTRIBUTES = ("toxicity", "insult", "profanity", "identity_attack", "threat")

# Held out for measuring, without labels, in other languages, or meant for other purposes.
NOT_FOR_TRAINING = ("perspective_wikipedia", "perspective_devtest_only", "dialect_tweets", "en_sport_commentary", "ner_", "pii_", "ml_", "profanity_ldnoobw_multi")
# English as it comes, in the folder natural/, by register.
NATURAL = {
    "en_sms_nus": "text messages", "en_tweets": "tweets", "en_reddit_titles": "titles of Reddit", "en_irc_ubuntu": "technical chat",
    "en_webtext": "overheard talk and forums", "en_ud_ewt": "weblogs, mails, newsgroups", "en_dialogue_schema_guided": "dialogue with assistants",
    "en_chatterbot": "dialogue with assistants", "en_prompts_answers": "prompts and answers", "en_reviews_apps": "app reviews", "en_reviews_films": "reviews",
    "en_reviews_products": "reviews", "en_ui_apps": "interface strings", "en_ui_games": "game texts", "en_commits": "commits", "en_tatoeba": "everyday sentences",
    "en_quiz": "quiz", "en_questions_trec": "quiz", "en_words": "words", "en_words_cldr": "words", "en_lists_corpora": "words", "en_glosses": "definitions",
    "en_names_people": "names of people", "en_names_places": "names of places", "en_names_iso": "names of places", "en_names_species": "names of species",
    "en_names_brands": "brands", "en_titles": "titles of works", "en_job_titles": "job titles", "en_slogans_hashtags": "slogans and hashtags",
    "en_film_plots": "film plots", "en_fortunes": "sayings and jokes", "en_quotes": "sayings and jokes", "en_jokes": "sayings and jokes",
    "en_religious": "scripture and law", "en_legal": "scripture and law", "en_medical": "medical", "en_sport_commentary": "sport",
}
# Labelled sets in the folder more/: see load_labelled.
LABELLED = (
    "abusive_comparisons", "cad_reddit", "conda_dota2", "counter_context_reddit", "dota2_chat_more", "dynacounter", "hasoc2019_en", "hatemoji_build",
    "hateval_tweets", "impermium_insults", "implicit_abuse_groups", "jokes_hahackathon", "olid_tweets", "parler_hate", "reclaimed_slurs",
    "suicidal_tweets", "swear_abuse_or_profane", "us_election_hof", "waseem_tweets", "workplace_sexism",
)
# Without labels: the rows that we graded are rows of "annotations".
GRADED_ONLY = ("prompts_unlabelled", *NATURAL)
# Their authors state no licence; remote/pack.py --licensed leaves them out.
UNLICENSED = (
    "dynahate", "perspective_toxigen", "perspective_implicit_hate",
    *(name for name in LABELLED if name not in ("hatemoji_build", "implicit_abuse_groups")),
    "en_job_titles", "en_jokes", "en_questions_trec", "en_quotes", "en_reviews_apps", "en_reviews_films", "en_reviews_products", "en_sms_nus", "en_sport_commentary", "en_webtext",
)


@dataclass
class Row:
    """One text. labels: float32 [7] in 0..1 in the order of ATTRIBUTES, NaN = not annotated.
    votes: None, or [5, len(text)] in 0..1, the share of raters who marked each code point, in the
    order of SPAN_ATTRIBUTES, NaN = that attribute was not marked. human: perspective_context's
    verdict of the raters, not used in training. raters: their number, if the source gives it.
    id: SOURCE/ID, or empty if the file has none."""

    text: str
    source: str
    split: str
    labels: np.ndarray
    votes: np.ndarray | None = None
    human: float | None = None
    raters: int | None = None
    id: str = ""


# Natural shares of Wikipedia's comments: the published counts of the Jigsaw challenge's train.csv,
# 159,571 rows: toxic 15,294, severe_toxic 1,595, insult 7,877, obscene 8,449, identity_hate 1,405,
# threat 478.
NATURAL_SHARES = {
    "jigsaw": {"toxicity": 0.0958, "severe_toxicity": 0.0100, "insult": 0.0494, "profanity": 0.0529, "identity_attack": 0.0088, "threat": 0.0030},
}

# Sources of training_rows. What a network learns from, and how much, is in remote/mix.py, with natural text and LABELLED.
SOURCES = (
    "jigsaw", "jigsaw_negatives", "jigsaw_more", "wikipedia_annotators", "civil_spans", "civil_comments_100", "toxic_spans_train", "toxic_spans_trial",
    "perspective_rtp", "perspective_rtp2", "perspective_toxigen", "perspective_implicit_hate", "perspective_github", "perspective_context",
    "davidson", "edos", "toxigen_human", "toxigen_seeds", "implicit_hate", "dynahate", "hatexplain", "stormfront", "convabuse", "measuring_hate",
    "mlma_en", "paradetox", "llm_toxic_clean", "madlibs", "bold_neutral", "clean_prompts", "clean_software", "clean_lookalikes_own", "profanity_lexicon",
    # No files of the data folder: grammars.py, docstrings of installed packages, sentences/*.jsonl.gz, and grades of the other files' rows.
    "grammars", "documentation", "sentences", "annotations",
)


def labels_of(**known: float) -> np.ndarray:
    out = np.full(len(ATTRIBUTES), np.nan, dtype=np.float32)
    for name, value in known.items():
        out[ATTRIBUTES.index(name)] = value
    return out


def no_votes(text: str) -> np.ndarray:
    """All zero, all annotated: a text that its raters found clean has no toxic characters."""
    return np.broadcast_to(np.float32(0), (len(SPAN_ATTRIBUTES), len(text)))


def rater_votes(text: str, spans: list, raters: int) -> np.ndarray:
    """Shares of raters from [start, end, type, rater]. toxicity is the union over all types, including
    'other'; a rater counts once per character even if several of their spans cover it."""
    marked = defaultdict(lambda: np.zeros(len(text), dtype=bool))
    for start, end, kind, rater in spans:
        marked["toxicity", rater][start:end] = True
        if kind in SPAN_ATTRIBUTES:
            marked[kind, rater][start:end] = True
    votes = np.zeros((len(SPAN_ATTRIBUTES), len(text)), dtype=np.float32)
    for (kind, _), mark in marked.items():
        votes[SPAN_ATTRIBUTES.index(kind)] += mark
    return np.minimum(votes / max(raters, 1), 1)


def clean_labels(text: str, labels: np.ndarray) -> np.ndarray | None:
    """Votes for rows of sources that annotate whole texts: zero for a clean text, unknown otherwise."""
    return no_votes(text) if np.nanmax(labels) == 0 else None


def load_given(raw: dict):
    """The file's own labels."""
    labels = labels_of(**raw["labels"])
    return labels, clean_labels(raw["text"], labels)


def load_unlabelled(raw: dict):
    """No labels: its rows train only with our own grades."""
    return labels_of(), None


def load_labelled(raw: dict):
    """Sets of the folder more/: a label's name there says what people marked, rarely one of our attributes."""
    given, source = raw["labels"], raw["source"]
    if "abuse" in given:  # cad_reddit; party, profession and fandom are no identity
        person = given["person_directed_abuse"]
        return labels_of(toxicity=given["abuse"], identity_attack=given["identity_directed_abuse"], insult=person if person or not given["abuse"] else np.nan), None
    if "hate" in given:  # hatemoji_build, parler_hate
        return labels_of(toxicity=max(given["hate"], 0.1), identity_attack=given["hate"], threat=given.get("threat", np.nan)), None
    if "counterspeech" in given or "hate_in_context" in given:
        # Replies whose thread was in view: only that they defend is a label of the text alone.
        defends = given.get("counterspeech", given.get("counter_hate_in_context"))
        return labels_of(identity_attack=0 if defends else np.nan), None
    if "abusive" in given:  # swear_abuse_or_profane
        return labels_of(toxicity=0.85 if given["abusive"] else 0.3, insult=given["abusive"], profanity=given["profanity"]), None
    if "suicidal" in given:
        return labels_of(threat=given.get("threat", np.nan)), None
    if "harmful_if_ingroup" in given:  # reclaimed_slurs
        ours = raw["implied_ingroup"]
        inside, outside = given["harmful_if_ingroup"], given["harmful_if_outgroup"]
        return labels_of(toxicity=inside if ours >= 0.5 else (inside + outside) / 2), None
    names = {
        "toxicity": "toxicity", "offense": "toxicity", "offensive": "toxicity", "hateful_or_offensive": "toxicity", "insult": "insult",
        "abusive_about_group": "identity_attack", "hate_women_or_immigrants": "identity_attack", "racism_or_sexism": "identity_attack", "sexist": "identity_attack",
    }
    known = {names[name]: value for name, value in given.items() if name in names}
    if not known:
        raise ValueError(f"no label of {source} is known: {sorted(given)}")
    return labels_of(**known), None


def load_perspective(raw: dict):
    return labels_of(**raw["labels"]), None


def load_civil(raw: dict):
    return labels_of(**raw["labels"]), rater_votes(raw["text"], raw["spans"], raw["n_raters"])


def load_toxic_spans(raw: dict):
    """Untyped marks of the majority; the text itself has no label."""
    votes = np.full((len(SPAN_ATTRIBUTES), len(raw["text"])), np.nan, dtype=np.float32)
    votes[0] = 0
    votes[0, [i for i in raw["offsets"] if i < len(raw["text"])]] = 1
    return labels_of(), votes


def load_davidson(raw: dict):
    n = raw["raters"]
    return labels_of(toxicity=(n["hate"] + n["offensive"]) / n["n"], identity_attack=n["hate"] / n["n"]), None


def load_edos(raw: dict):
    """Only sexism was annotated: a post that is not sexist may be toxic in other ways,
    so only sexist posts have a toxicity label. Of those, category 1 threatens and the others do not."""
    if not raw["sexist"]:
        return labels_of(identity_attack=0), None
    kind = int(raw["category"][0])
    return labels_of(identity_attack=1, toxicity={1: 0.9, 2: 0.85, 3: 0.7, 4: 0.7}[kind], threat=1.0 if kind == 1 else 0.0), None


def load_toxigen(raw: dict):
    return labels_of(toxicity=(raw["toxicity_1_5"] - 1) / 4, identity_attack=raw["hate"]), None


def load_hate(raw: dict):
    """implicit_hate, stormfront, measuring_hate: hate against a group or not."""
    return labels_of(toxicity=raw["hate"], identity_attack=raw["hate"]), None


def load_hatexplain(raw: dict):
    if raw["label"] == "offensive":
        return labels_of(toxicity=1), None
    hate = raw["label"] == "hatespeech"
    return labels_of(toxicity=hate, identity_attack=hate), None


def load_convabuse(raw: dict):
    """severity is a mean over raters from 1 (fine) through 0 (ambiguous) to -3 (strong abuse)."""
    toxicity = float(np.interp(raw["severity"], [-3, -2, -1, 0, 1], [1, 0.9, 0.75, 0.35, 0]))
    return labels_of(toxicity=toxicity, sexually_explicit=raw["sexual_harassment"]), None


def load_madlibs(raw: dict):
    if raw["labels"]["toxicity"]:
        return labels_of(toxicity=1), None
    labels = labels_of(**{a: 0 for a in ATTRIBUTES})
    return labels, no_votes(raw["text"])


def load_perspective_toxigen(raw: dict):
    """Perspective takes groups for attacks: three in ten statements from neutral prompts have an identity_attack
    of 0.5 or more. Of these statements every score of 0.35 or more is left out."""
    labels = labels_of(**raw["labels"])
    if raw["origin"] == "neutral prompt":
        labels[labels >= 0.35] = np.nan
    return labels, None


def load_perspective_implicit(raw: dict):
    """As above. Where people found hate, a low identity_attack is left out."""
    labels = labels_of(**raw["labels"])
    attack = ATTRIBUTES.index("identity_attack")
    if (labels[attack] >= 0.3) == (raw["human"] == "not_hate"):
        labels[attack] = np.nan
    return labels, None


def load_dynahate(raw: dict):
    """Only hate was annotated; a text without hate can be rude."""
    return labels_of(toxicity=1.0 if raw["hate"] else 0.15, identity_attack=raw["hate"]), None


def load_paradetox(raw: dict):
    """Rewrites keep the meaning, which can be rude."""
    return labels_of(toxicity=0.9 if raw["labels"]["toxicity"] else 0.15), None


def load_lexicon(raw: dict):
    """Single words: severity 1..3 as the probability that a reader objects. Nobody rated these words as
    texts, so the numbers are rough and the source has a low weight and its own bias."""
    strong = float(np.interp(raw["severity"], [1, 3], [0.6, 0.95]))
    kinds = " ".join(raw["categories"])
    slur = "racial" in kinds or "orientation" in kinds or "religious" in kinds
    labels = labels_of(
        toxicity=strong, profanity=strong,
        identity_attack=strong if slur else 0.0,
        sexually_explicit=strong if "sexual anatomy" in kinds else 0.0,
    )
    votes = np.full((len(SPAN_ATTRIBUTES), len(raw["text"])), np.nan, dtype=np.float32)
    votes[SPAN_ATTRIBUTES.index("toxicity")] = strong
    votes[SPAN_ATTRIBUTES.index("profanity")] = strong
    return labels, votes


LOADERS = {
    "jigsaw": load_given, "jigsaw_negatives": load_given, "bold_neutral": load_given,
    "jigsaw_more": load_given, "wikipedia_annotators": load_given, "civil_comments_100": load_given, "toxigen_seeds": load_given,
    "mlma_en": load_given, "llm_toxic_clean": load_given, "clean_prompts": load_given, "clean_software": load_given, "clean_lookalikes_own": load_given,
    "perspective_rtp2": load_perspective, "perspective_github": load_perspective, "perspective_devtest_only": load_perspective, "dialect_tweets": load_perspective,
    "perspective_toxigen": load_perspective_toxigen, "perspective_implicit_hate": load_perspective_implicit,
    "dynahate": load_dynahate, "paradetox": load_paradetox,
    "civil_spans": load_civil, "toxic_spans_train": load_toxic_spans, "toxic_spans_trial": load_toxic_spans,
    "perspective_rtp": load_perspective, "perspective_context": load_perspective, "perspective_wikipedia": load_perspective,
    "davidson": load_davidson, "edos": load_edos, "toxigen_human": load_toxigen,
    "implicit_hate": load_hate, "stormfront": load_hate, "measuring_hate": load_hate,
    "hatexplain": load_hatexplain, "convabuse": load_convabuse, "madlibs": load_madlibs, "profanity_lexicon": load_lexicon,
    "prompts_unlabelled": load_unlabelled, **dict.fromkeys(NATURAL, load_unlabelled),
    **dict.fromkeys(LABELLED, load_labelled),
}


def read_file(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def file_of(folder: Path, source: str) -> Path:
    return Path(folder) / ("natural" if source in NATURAL else "more" if source in LABELLED else "") / f"{source}.jsonl.gz"


def read_source(folder: Path, source: str, loader=None) -> list[Row]:
    """Every row of one source, or none if the folder lacks the file. The lexicon declares no
    split and counts as train. loader: in place of the source's own."""
    path = file_of(folder, source)
    rows = []
    for raw in read_file(path) if path.exists() else []:
        try:
            labels, votes = (loader or LOADERS[source])(raw)
        except (KeyError, TypeError, ValueError, IndexError) as cause:
            raise ValueError(f"failed to read a row of {path} (id {raw.get('id')}): {cause!r}; is it the file that the data README describes?") from cause
        rows.append(Row(raw["text"], source, raw.get("split") or "train", labels, votes, raw.get("human") if source == "perspective_context" else None, raw.get("n_raters"), f"{source}/{raw['id']}" if "id" in raw else ""))
    return rows


BEHAVIOURS = Path(__file__).parents[1] / "testdata" / "behaviours" / "behaviours.jsonl"
DIALECTS = Path(__file__).parents[1] / "testdata" / "dialects" / "pairs.jsonl"
SENTENCES = Path(__file__).with_name("sentences")
ANNOTATIONS = Path(__file__).with_name("annotations.jsonl.gz")
# Short texts that somebody who doubts a filter would try first. They only measure.
FIRST_MINUTES = Path(__file__).with_name("first_minutes.jsonl.gz")


def read_dialects() -> list[dict]:
    """The pairs of testdata/dialects; its README says what the fields mean."""
    return [json.loads(line) for line in DIALECTS.read_text(encoding="utf-8").splitlines()]


# Sentences of the kinds that 2.1.0 or 2.3.0 got wrong on text that nobody wrote for it.
FIELD = (
    "assistants", "comments-long", "defence-games-work", "emoji-dialects", "games-code", "identity-emoji", "ordinary", "ordinary-more", "plain-insults",
    "plain-sexual", "plain-threats", "rebuttals", "requests", "short-more", "short-texts", "topics-more", "tweets-sarcasm",
)


def read_sentences(field: bool | None = None) -> list[Row]:
    """Sentences written for this model: {"domain", "text", "grades"}, grades of the seven attributes by
    docs/model/guideline.md, all 0 if absent. field: only those of FIELD, or only the others."""
    rows = []
    for path in sorted(SENTENCES.glob("*.jsonl.gz")):
        if field is not None and (path.name.removesuffix(".jsonl.gz") in FIELD) != field:
            continue
        for raw in read_file(path):
            labels = grades_of(raw)
            rows.append(Row(raw["text"], "sentences", "train", labels, clean_labels(raw["text"], labels)))
    return rows


def read_first_minutes() -> list[Row]:
    return [Row(raw["text"], raw["domain"], "dev", grades_of(raw)) for raw in read_file(FIRST_MINUTES)]


def grades_of(sentence: dict) -> np.ndarray:
    return np.array(sentence.get("grades", [0] * len(ATTRIBUTES)), dtype=np.float32)


DOCUMENTED = ("numpy", "scipy", "sklearn", "matplotlib")


def read_documentation() -> list[Row]:
    """Paragraphs of the docstrings of packages in requirements.txt: harmless prose of a kind that the data folder lacks."""
    rows, seen = [], set()
    for package in DOCUMENTED:
        for path in sorted(Path(importlib.util.find_spec(package).submodule_search_locations[0]).rglob("*.py")):
            if "tests" in path.parts:
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            documented = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
            for paragraph in re.split(r"\n\s*\n", "\n\n".join(ast.get_docstring(node) or "" for node in documented)):
                text = " ".join(paragraph.split())
                if 80 <= len(text) <= 600 and text[0].isupper() and text.endswith(".") and len(WORD.findall(text)) >= 12 and key(text) not in seen:
                    seen.add(key(text))
                    rows.append(Row(text, "documentation", "train", labels_of(**{a: 0 for a in ATTRIBUTES}), no_votes(text)))
    return rows


def read_grades(path: Path = ANNOTATIONS) -> dict[str, list[np.ndarray]]:
    """The grades of the data folder's rows by docs/model/guideline.md: by row id, one float32 [7] for each pass."""
    out = defaultdict(list)
    for raw in read_file(path) if path.exists() else []:
        out[raw["id"]].append(np.array(raw["grades"], dtype=np.float32) / 10)
    return dict(out)


def read_annotations(folder: Path, split: str = "train", flagged: bool | None = None) -> list[Row]:
    """The annotated rows of a split, with the mean of their grades. Grades of dev rows measure and never train. flagged: also
    rows that were graded because a model flagged them, which are no sample (default: in training rows)."""
    grades, rows = read_grades(), []
    if flagged is None:
        flagged = split == "train"
    left_out = set() if flagged or not ANNOTATIONS.exists() else {raw["id"] for raw in read_file(ANNOTATIONS) if raw.get("flagged")}
    for source in sorted({id.split("/")[0] for id in grades} & set(LOADERS)):
        if split == "train" and source in NOT_FOR_TRAINING:
            continue
        for row in split_rows(folder, source, split):
            if row.id in grades and row.id not in left_out:
                labels = np.mean(grades[row.id], axis=0)
                rows.append(Row(row.text, "annotations", split, labels, clean_labels(row.text, labels), id=row.id))
    return rows


def key(text: str) -> str:
    """Two texts with the same key are the same: their lower-cased words. Punctuation and spacing are
    dropped, so a re-punctuated test text is also found; a text without words is its own key."""
    return " ".join(re.findall(r"\w+", text.lower())) or text.strip()


def held_out_keys(folder: Path) -> set[str]:
    """Keys of every dev and test row of every file, including files not for training, of every behaviour, of every
    pair of dialects and of FIRST_MINUTES."""
    behaviours = [text for line in BEHAVIOURS.read_text(encoding="utf-8").splitlines() for text in json.loads(line)["texts"]]
    dialects = [pair[side] for pair in read_dialects() for side in ("standard", "dialect")]
    return {key(text) for text in [*behaviours, *dialects, *(row.text for row in read_first_minutes())]} | {
        key(raw["text"])
        for path in sorted(Path(folder).glob("**/*.jsonl.gz"))
        for raw in read_file(path)
        if raw.get("split") in ("dev", "test")
    }


def names(row: Row) -> set[str]:
    """The names by which a row is left out: its source, and of an annotated row also the source of its text."""
    return {row.source, row.id.split("/")[0]}


def training_rows(folder: Path, generated: list[Row] = ()) -> list[Row]:
    """Every training row of SOURCES in a fixed order, without held-out words and duplicates, including those among generated
    sentences. Exits and scales are made with them, and they train the systems that ours is compared with.

    Nearly all posts of toxic_spans_train are also in civil_spans, with the votes that their marks were
    derived from; the row with the votes comes first and is kept."""
    if not any((Path(folder) / f"{source}.jsonl.gz").exists() for source in SOURCES):
        raise FileNotFoundError(f"found no training rows in {folder}: it should contain {', '.join(s for s in SOURCES if s in LOADERS)} as .jsonl.gz")
    held_out, seen, rows = held_out_keys(folder), set(), []
    own = {"grammars": lambda: generated, "documentation": read_documentation, "sentences": read_sentences, "annotations": lambda: read_annotations(folder)}
    for source in sorted(SOURCES, key=lambda s: s.startswith("toxic_spans")):
        # The same words in two sources are two opinions and both stay; a post's spans stay once.
        group = "civil" if source in ("civil_spans", "toxic_spans_train", "toxic_spans_trial") else source.removesuffix("_negatives")
        for row in own[source]() if source in own else read_source(folder, source):
            k = key(row.text)
            # Generated sentences are drawn without repetition; blank ones have no words to compare.
            if row.split != "train" or k in held_out or (source != "grammars" and (group, k) in seen):
                continue
            seen.add((group, k))
            rows.append(row)
    return rows


def split_rows(folder: Path, source: str, split: str) -> list[Row]:
    if source == "annotations":
        return read_annotations(folder, split)
    return [row for row in read_source(folder, source) if row.split == split]


WORD = re.compile(r"[^\W\d_]{3,}")


def words_in(text: str) -> set[str]:
    return {m[0].lower() for m in WORD.finditer(text)}


def telling_words(rows: list[Row], of=words_in) -> set[str]:
    """Words that occur mostly in toxic texts: people disguise these. of: the words of a text."""
    count, toxic = defaultdict(float), defaultdict(float)
    for row in rows:
        if not np.isnan(row.labels[0]):
            for word in of(row.text):
                count[word] += 1
                toxic[word] += row.labels[0]
    return {word for word, n in count.items() if n >= 8 and toxic[word] / n >= 0.6}


LEET = {
    "a": "4@", "e": "3", "i": "1!", "o": "0", "s": "$5", "t": "7", "l": "1", "b": "8", "g": "9",
    "а": "4@", "е": "3", "о": "0", "с": "$", "т": "7", "в": "8", "з": "3", "ч": "4", "б": "6", "і": "1!",
}
VOWELS = "aeiouаеёиоуыэюяіїє"
SOUNDS = (("ck", "k"), ("ph", "f"), ("f", "ph"), ("oo", "u"), ("u", "oo"), ("i", "y"), ("c", "k"), ("s", "z"), ("er", "a"), ("th", "d"), ("x", "ks"))


def disguise(text: str, rng: np.random.Generator, telling: set[str] = frozenset(), words: list[tuple[int, int]] | None = None, way_of=None) -> tuple[str, np.ndarray]:
    """Rewrites words of three letters or more as people do to evade filters: telling words nearly
    always, of other words a few or a third or more than half, so that a harmless text full of stars is
    as common as an insult with one. Returns the new text and, for each of its code points, the one
    that it came from. words: where they are, if not English; way_of: in place of disguise_word.

    Homoglyphs, full-width and upside-down letters, zero-width and combining characters are left to
    normalisation and not trained on, so that they can be measured as disguises that the model has not
    seen."""
    words = [m.span() for m in WORD.finditer(text)] if words is None else words
    share = rng.choice([0.1, 0.35, 0.6])
    picked = {w for w in words if rng.random() < (0.85 if text[slice(*w)].lower() in telling else share)}
    picked = picked or ({words[rng.integers(len(words))]} if words else set())
    one_way = int(rng.integers(WAYS)) if rng.random() < 0.6 else None
    out, origin, at = [], [], 0
    for start, end in sorted(picked):
        out.extend(text[at:start])
        origin.extend(range(at, start))
        for i, chars in (way_of or disguise_word)(text[start:end], int(rng.integers(WAYS)) if one_way is None else one_way, rng):
            out.extend(chars)
            origin.extend([start + i] * len(chars))
        at = end
        # Joined with the next word.
        if rng.random() < 0.15 and text[at : at + 1] == " " and at + 1 < len(text):
            at += 1
    out.extend(text[at:])
    origin.extend(range(at, len(text)))
    return "".join(out), np.array(origin, dtype=np.int64)


WAYS = 9


def disguise_word(word: str, way: int, rng: np.random.Generator) -> list[tuple[int, str]]:
    """Pairs of (index of the letter, its replacement)."""
    letters = list(enumerate(word))
    i = int(rng.integers(1, len(word)))
    match way:
        case 0:  # leet
            share = rng.choice([0.4, 0.7, 1.0])
            return [(n, LEET[c.lower()][rng.integers(len(LEET[c.lower()]))] if c.lower() in LEET and rng.random() < share else c) for n, c in letters]
        case 1:  # spaced
            gap = " .-_*"[rng.integers(5)]
            return [(n, c if n == len(word) - 1 else c + gap) for n, c in letters]
        case 2:  # one letter repeated
            return [(n, c * int(rng.integers(2, 6)) if n == i else c) for n, c in letters]
        case 3:  # a letter dropped
            return [p for p in letters if p[0] != i]
        case 4:  # neighbours swapped
            return letters[: i - 1] + [letters[i], letters[i - 1]] + letters[i + 1 :]
        case 5:  # stars
            star = "*#-@"[rng.choice(4, p=[0.7, 0.1, 0.1, 0.1])]
            return [(n, star if 0 < n < len(word) - 1 and (n == i or rng.random() < 0.3) else c) for n, c in letters]
        case 6:  # vowels dropped
            kept = [p for p in letters if p[0] == 0 or p[1].lower() not in VOWELS]
            return kept if len(kept) > 1 else letters
        case 7:  # spelt by sound
            spelt = [(old, new) for old, new in SOUNDS if old in word.lower()]
            if not spelt:
                return [(n, c * 2 if n == i else c) for n, c in letters]
            old, new = spelt[rng.integers(len(spelt))]
            first = word.lower().index(old)
            return letters[:first] + [(first, new)] + letters[first + len(old) :]
        case _:  # a foreign character in the middle
            mark = "'.,_-~^|"[rng.integers(8)]
            return [(n, mark + c if n == i else c) for n, c in letters]

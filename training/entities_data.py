"""The training data of the network that finds names and places: annotated texts, one split, augmentation.

    python training/entities_data.py --data DATA [--seed 1]

prints the number of texts and spans per source, split and type, and 20 generated texts with their entities
marked. It exits with 1 if a training text repeats a held-out one. What is generated comes from entities_carriers.py.

What the labels of the files become:

| file          | label                            | here                                              |
|---------------|----------------------------------|---------------------------------------------------|
| ner_wnut17    | person                           | PERSON                                            |
|               | location                         | LOCATION                                          |
|               | corporation, group               | ORGANIZATION (group has bands and teams too)      |
|               | creative-work, product           | O: what they name is nobody, and they are likely  |
|               |                                  | to be taken for somebody                          |
| ner_btc       | PER, LOC, ORG                    | PERSON, LOCATION, ORGANIZATION                    |
| ner_wikigold  | PER, LOC, ORG                    | PERSON, LOCATION, ORGANIZATION                    |
|               | MISC, a word of NRP              | NRP                                               |
|               | MISC, another word               | IGNORE (works, events, products, languages)       |
| pii_synthetic | PERSON, ADDRESS, LOCATION,       | the same; in training rows a PERSON that is only  |
|               | ORGANIZATION                     | a title ("Mr.") is IGNORE                         |
|               | TITLE, PREFIX, and what patterns | O                                                 |
|               | find (CREDIT_CARD, DATE_TIME, …) |                                                   |

A word of NRP (entities_names.is_nrp) that a file leaves out is IGNORE: none of them annotates nationalities, religions
and political groups as such, so O would be wrong. IGNORE characters count for nothing: the loss
leaves them out, and a measure should leave out a finding that overlaps them.

The texts of ner_* are their tokens joined by spaces, which is what they are measured on. Training also sees them as
people write. ner_btc annotates 86 % of its 4,465 names behind an "@" that is a token of its own, ner_wnut17 8 of its 1,988
@names: so "@ name" is an entity, and "@name" is none. In ner_btc's texts as people write, where both look alike, it is
IGNORE.

The split. ner_*: sha256 of the lower-cased tokens joined by spaces, as a hexadecimal number modulo 10. pii_synthetic:
the same of the template's decimal number, so that a template is in one split only. 0–7 is train, 8 dev, 9 test.
Rows of train whose words (see key) occur in a row of dev or test of any of the four files are dropped, generated texts
too, and so are rows of pii_synthetic whose template differs from a held-out one in its number only.
"""

import argparse
import hashlib
import html
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import data
import entities_names as names
from entities_carriers import generate
from entities_text import IGNORE, TYPES, Example, marked

ANNOTATIONS = Path(__file__).with_name("entities_annotations.jsonl.gz")
WNUT17 = {"person": "PERSON", "location": "LOCATION", "corporation": "ORGANIZATION", "group": "ORGANIZATION"}
CONLL = {"PER": "PERSON", "LOC": "LOCATION", "ORG": "ORGANIZATION", "MISC": "MISC"}
TITLE = re.compile(r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir|Mx)\.?", re.IGNORECASE)


def load(folder: Path, natural: bool = False) -> list[Example]:
    """The annotated texts of every file that folder has, without rows of train that a held-out row repeats. natural: ner_* as
    people write instead of tokens joined by spaces."""
    examples = read(folder, natural)
    held = held_out(examples)
    skeletons = {skeleton(e) for e in examples if e.source == "pii_synthetic" and e.split != "train"}
    return [e for e in examples if e.split != "train" or (key(e.text) not in held and not (e.source == "pii_synthetic" and skeleton(e) in skeletons))]


def read(folder: Path, natural: bool = False) -> list[Example]:
    """Every row of every file that folder has, and those that were annotated for this network."""
    files = {"ner_wnut17_train": read_wnut17, "ner_btc": read_btc, "ner_wikigold": read_wikigold, "pii_synthetic": read_pii_synthetic}
    examples = [reader(row, natural) for file, reader in files.items() if (path := Path(folder) / f"{file}.jsonl.gz").exists() for row in data.read_file(path)]
    return examples + list(read_annotated(folder))


def read_annotated(folder: Path) -> Iterator[Example]:
    """Rows of the data folder with our annotation of names (entities_annotations.jsonl.gz: spans, no texts): train rows of
    their files, of which one in ten is dev here."""
    wanted: dict[str, dict] = {}
    for row in data.read_file(ANNOTATIONS):
        wanted.setdefault(row["source"], {})[row["id"]] = row["spans"]
    for source, rows in wanted.items():
        path = Path(folder) / f"{source}.jsonl.gz"
        for row in data.read_file(path) if path.exists() else ():
            if row["id"] in rows:
                split = "dev" if split_of(str(row["id"])) == "dev" else "train"
                yield Example(f"{source}-{row['id']}", "annotated", split, row["text"], tuple(map(tuple, rows[row["id"]])), frozenset(("PERSON", "LOCATION", "ORGANIZATION", "NRP")))


def held_out(examples: Iterable[Example]) -> frozenset[str]:
    """The keys of the texts of dev and test, for without()."""
    return frozenset(key(e.text) for e in examples if e.split != "train")


def without(examples: Iterable[Example], held: frozenset[str]) -> Iterator[Example]:
    """examples without those whose words are those of a held-out text."""
    return (e for e in examples if key(e.text) not in held)


def key(text: str) -> str:
    """The words of text: lower-cased runs of letters and digits, joined by spaces."""
    return " ".join(re.findall(r"[^\W_]+", text.lower())) or text


def skeleton(example: Example) -> str:
    """The words of the template of an example: what is left without its entities of TYPES."""
    at, out = 0, []
    for start, end, kind in example.spans:
        out += [example.text[at:start], f" {kind} "]
        at = end
    return key("".join([*out, example.text[at:]]))


def split_of(words: str) -> str:
    """train, dev or test by the hash of words."""
    return (["train"] * 8 + ["dev", "test"])[int(hashlib.sha256(words.encode()).hexdigest(), 16) % 10]


def read_wnut17(row: dict, natural: bool = False) -> Example:
    return _from_tokens(row, "wnut17", [_typed(tag, WNUT17) for tag in row["tags"]], natural)


def read_btc(row: dict, natural: bool = False) -> Example:
    tags = [_typed(tag, CONLL) for tag in row["tags"]]
    for i in range(1, len(tags)):
        if row["tokens"][i - 1] == "@" and tags[i]:
            kind = IGNORE if natural else tags[i][1]
            tags[i - 1 : i + 1] = [("B", kind), ("I", kind)]
    return _from_tokens(row, "btc", tags, natural)


def read_wikigold(row: dict, natural: bool = False) -> Example:
    tags = [_typed(tag, CONLL) for tag in row["tags"]]
    tags = [("B", "NRP" if names.is_nrp(token) else IGNORE) if tag and tag[1] == "MISC" else tag for tag, token in zip(tags, row["tokens"], strict=True)]
    return _from_tokens(row, "wikigold", tags, natural)


def read_pii_synthetic(row: dict, _natural: bool = False) -> Example:
    split, spans = split_of(str(row["template"])), []
    for start, end, kind in sorted(row["spans"]):
        if kind in TYPES:
            title = kind == "PERSON" and split == "train" and TITLE.fullmatch(row["text"][start:end].strip())
            spans.append((start, end, IGNORE if title else kind))
    spans += [
        (word.start(), word.end(), IGNORE)
        for word in re.finditer(r"[^\W\d_]+", row["text"])
        if names.is_nrp(word[0]) and all(word.end() <= start or end <= word.start() for start, end, _ in row["spans"])
    ]
    return Example(row["id"], "pii_synthetic", split, row["text"], tuple(sorted(spans)), frozenset(TYPES) - {"NRP"})


def _typed(tag: str, kinds: dict[str, str]) -> tuple[str, str] | None:
    """B-PER → (B, PERSON); None for O and for labels that have no type here."""
    place, _, label = tag.partition("-")
    return (place, kinds[label]) if label in kinds else None


def _from_tokens(row: dict, source: str, tags: list[tuple[str, str] | None], natural: bool = False) -> Example:
    tokens = row["tokens"]
    text, places = detokenised(tokens, signs=source == "btc") if natural else spaced(tokens)
    tags = [("B", IGNORE) if tag is None and names.is_nrp(token) else tag for tag, token in zip(tags, tokens, strict=True)]
    spans: list[tuple[int, int, str]] = []
    before = None
    for (start, end), tag in zip(places, tags, strict=True):
        if tag and end > start:
            sign = text[start - 1 : start] in ("@", "#") and spans and spans[-1][1] == start
            if before == tag[1] and (tag[0] == "I" or sign):
                spans[-1] = (spans[-1][0], end, tag[1])
            else:
                spans.append((start, end, tag[1]))
        before = tag[1] if tag else None
    known = frozenset(("PERSON", "LOCATION", "ORGANIZATION"))
    return Example(row["id"], source, split_of(" ".join(tokens).lower()), text, tuple(spans), known | {"NRP"} if source == "wikigold" else known)


def spaced(tokens: list[str]) -> tuple[str, list[tuple[int, int]]]:
    """The tokens joined by spaces, and where each is."""
    places, at = [], 0
    for token in tokens:
        places.append((at, at + len(token)))
        at += len(token) + 1
    return " ".join(tokens), places


CLOSES = re.compile(r"[.,!?;:…)\]}»”’]+[\"']?|%|[.!?…]+[)\]]")
OPENS = frozenset("([{«“‘$£€#@")
CLITIC = re.compile(r"['’](?:s|m|re|ve|ll|d|S|M|RE|VE|LL|D)|[nN]['’][tT]")


def detokenised(tokens: list[str], signs: bool = True) -> tuple[str, list[tuple[int, int]]]:
    """The text that the tokens come from, as people write it, and where each token is in it. What the tokens do not tell
    (the space between ":" and ")") is guessed. signs: "@" and "#" were cut from their words."""
    out, places, size, glued = [], [], 0, True
    first = tokens.index('"') if '"' in tokens else 0
    opened = {'"': tokens.count('"') % 2 == 1 and first > 0 and tokens[first - 1] in ",.!?", "'": False}  # a quotation that began before
    for i, raw in enumerate(tokens):
        token = html.unescape(raw)
        token = '"' if token == "'\"'" else token
        before, after = (tokens[i - 1] if i else ""), (tokens[i + 1] if i + 1 < len(tokens) else "")
        space = not glued
        glued = False
        if token in opened:
            if opened[token]:
                space = False
                opened[token] = False
            elif token == "'" and before[-1:] in "sS" and "'" not in tokens[i + 1 :]:
                space = False
            else:
                opened[token] = glued = True
        elif token in OPENS:
            glued = token not in "#@" or (signs and bool(re.match(r"\w", after)))
        elif token == "’" and after in ("s", "m", "re", "ve", "ll", "d", "t"):
            space, glued = False, True
        elif (token, before.lower()) in (("na", "gon"), ("na", "wan"), ("ta", "got")):
            space = False
        elif token == ":" and after in (")", "(", "D", "P", "/"):
            glued = True
        elif token in (")", "(") and before == ":":
            space = False
        elif token == "/" and before.isalnum() and after.isalnum():
            space, glued = False, True
        elif CLOSES.fullmatch(token) or CLITIC.fullmatch(token):
            space = False
        if space:
            out.append(" ")
            size += 1
        out.append(token)
        places.append((size, size + len(token)))
        size += len(token)
    return "".join(out), places


# Each change takes a generator, whether it draws or not, so that any may stand for any other.


def lower(example: Example, rng: Random) -> Example:
    """In small letters. Characters whose small letter is longer (İ) stay, so that offsets hold."""
    return replace(example, text="".join(c.lower() if len(c.lower()) == 1 else c for c in example.text))


def upper(example: Example, rng: Random) -> Example:
    """In capitals; characters with a longer capital (ß) stay."""
    return replace(example, text="".join(c.upper() if len(c.upper()) == 1 else c for c in example.text))


def title(example: Example, rng: Random) -> Example:
    """Each word with a capital."""
    text = list(example.text)
    for match in re.finditer(r"(?<![\w'’])\w", example.text):
        if len(match[0].upper()) == 1:
            text[match.start()] = match[0].upper()
    return replace(example, text="".join(text))


CHAT = {
    "you": "u", "are": "r", "please": "pls", "Please": "pls", "thanks": "thx", "Thanks": "thx", "because": "cuz", "tomorrow": "tmrw", "and": "n", "your": "ur", "to": "2", "for": "4", "before": "b4", "with": "w/", "really": "rly", "people": "ppl", "going to": "gonna",
    "message": "msg", "okay": "k", "about": "abt", "very": "v", "don't": "dont", "I'm": "im", "I am": "im", "it's": "its", "can't": "cant", "is not": "isnt", "I": "i", "what": "wat", "today": "2day",
}
CHAT_WORDS = re.compile(r"\b(" + "|".join(map(re.escape, sorted(CHAT, key=len, reverse=True))) + r")\b(?!['’])")


def chat(example: Example, rng: Random) -> Example:
    """As people type in a hurry: short forms outside of entities, no apostrophes, fewer stops, mostly small letters."""
    edited = rewritten(example, lambda text: CHAT_WORDS.sub(lambda m: CHAT[m[0]] if rng.random() < 0.4 else m[0], text))
    edited = rewritten(edited, lambda text: re.sub(r"(?<=\w)['’](?=(?:s|m|t|re|ve|ll|d)\b)", "", text))
    edited = unpunctuated(edited, rng) if rng.random() < 0.6 else edited
    return lower(edited, rng) if rng.random() < 0.7 else edited


def unpunctuated(example: Example, rng: Random) -> Example:
    """Without stops and commas at the end of words, outside of entities. What divides two entities stays."""
    return rewritten(example, lambda text: text if not re.search(r"\w", text) else re.sub(r"(?<=\w)[.,;!?]+(?=\s|$)|^[.,;!?]+(?=\s|$)", "", text))


def rewritten(example: Example, change: Callable[[str], str]) -> Example:
    """change applied to the text between the spans; the spans follow."""
    out, spans, at, size = [], [], 0, 0
    for start, end, kind in example.spans:
        piece = change(example.text[at:start])
        entity = example.text[start:end]
        size += len(piece)
        spans.append((size, size + len(entity), kind))
        out += [piece, entity]
        size += len(entity)
        at = end
    return replace(example, text="".join([*out, change(example.text[at:])]), spans=tuple(spans))


def swapped(example: Example, rng: Random) -> Example:
    """Half of the people, places and organisations replaced by others of the lists, in the casing of what was there. User names stay."""
    made = {"PERSON": lambda old: _person(old, rng), "LOCATION": lambda old: names.location(rng).removeprefix("the "), "ORGANIZATION": lambda old: names.organization(rng).removeprefix("the ")}
    out, spans, at, size = [], [], 0, 0
    for start, end, kind in example.spans:
        old = entity = example.text[start:end]
        user = "@" in old or "#" in old or example.text[start - 1 : start] in ("@", "#")
        if kind in made and rng.random() < 0.5 and not user and re.search(r"[^\W\d_]{2}", old) and not names.is_nrp(old):
            entity = _cased(made[kind](old), old)
        out += [example.text[at:start], entity]
        size += start - at
        spans.append((size, size + len(entity), kind))
        size += len(entity)
        at = end
    return replace(example, text="".join([*out, example.text[at:]]), spans=tuple(spans))


def _person(old: str, rng: Random) -> str:
    first, last = names.person(rng)
    return names.written(first, last, rng) if " " in old else rng.choice([first, first, last])


def _cased(new: str, old: str) -> str:
    return new.lower() if old.islower() else new.upper() if old.isupper() and len(old) > 3 else new


def joined(examples: list[Example], rng: Random) -> Example:
    """The texts after one another, between spaces or line breaks."""
    text, spans = "", []
    for example in examples:
        if text:
            text += rng.choice([" ", " ", "\n", "\n\n", " - ", "\n---\n"])
        spans += [(start + len(text), end + len(text), kind) for start, end, kind in example.spans]
        text += example.text
    return Example("+".join(e.id for e in examples), examples[0].source, examples[0].split, text, tuple(spans), frozenset.intersection(*(e.known for e in examples)))


def augmented(example: Example, rng: Random) -> Example:
    """example as training shows it: as it is in about half of the draws, otherwise in another casing or typing, with other names in the ner_* files."""
    if example.source in ("wnut17", "btc", "wikigold") and rng.random() < 0.5:
        example = swapped(example, rng)
    p = rng.random()
    if p < 0.55:
        return example
    if p < 0.75:
        return lower(example, rng)
    if p < 0.8:
        return upper(example, rng)
    if p < 0.84:
        return title(example, rng)
    if p < 0.9:
        return unpunctuated(example, rng)
    return chat(example, rng)


def epoch(folder: Path, generated: int, seed: int) -> list[Example]:
    """The texts of one epoch: each annotated one, in one of its two forms, and new generated ones, changed and in part joined
    with others, in any order."""
    rng = Random(seed)
    plain, natural = ({e.id: e for e in load(folder, form) if e.split == "train"} for form in (False, True))
    texts = [natural.get(id_, e) if rng.random() < 0.5 else e for id_, e in plain.items()]
    texts += islice(without(generate(seed), held_out(read(folder))), generated)
    rng.shuffle(texts)
    out, at = [], 0
    while at < len(texts):
        count = rng.choice((1, 1, 1, 1, 1, 1, 2, 2, 3, 4))
        out.append(joined([augmented(e, rng) for e in texts[at : at + count]], rng))
        at += count
    return out


def leaks(examples: Iterable[Example], folder: Path) -> Counter:
    """The number of training texts whose words are those of a held-out row of folder, by source. Reads the files again instead of trusting
    load()."""
    held = held_out(read(folder))
    return Counter(e.source for e in examples if e.split == "train" and key(e.text) in held)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    texts, found = Counter(), Counter()
    examples = load(args.data)
    for example in examples:
        texts[example.source, example.split] += 1
        for _, _, kind in example.spans:
            found[example.source, example.split, kind] += 1
    kinds = (*TYPES, IGNORE)
    print(f"{'source':14} {'split':6} {'texts':>6} " + " ".join(f"{kind:>12}" for kind in kinds))
    for (source, split), count in texts.items():
        print(f"{source:14} {split:6} {count:6,} " + " ".join(f"{found[source, split, kind]:12,}" for kind in kinds))
    repeated = leaks([*examples, *without(islice(generate(args.seed), 20_000), held_out(examples))], args.data)
    print(f"{sum(repeated.values())} training texts repeat a held-out one {dict(repeated) or ''}")
    for _, example in zip(range(20), generate(args.seed), strict=False):
        print(f"\n{example.source}\n{marked(example.text, example.spans)}")
    return 1 if repeated else 0


if __name__ == "__main__":
    sys.exit(main())

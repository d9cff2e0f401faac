"""Chooses the words and emoji that become tokens of their own, writes the tokenizer that has them, and tokenizes rows.

    python training/tokens.py choose --data DATA --emoji FOLDER
    python training/tokens.py tokenizer --out tokenizer.json

They take the 994 places that BERT's vocabulary has left unused. choose writes tokens.jsonl: a line for each place, with
"tokens", what stands there, and "says", what its embedding starts as the mean of. FOLDER is the npm package
emojibase-data: Unicode's names and subgroups of emoji.

A word is an entry of the vocabulary, so it also begins longer words, as all entries do. An emoji is an added token: it
stands alone wherever it occurs, where BERT would see one unknown word. Emoji that are rare share the token of their
subgroup in Unicode's list; Hugging Face's library isolates one of these, see docs/decisions/0033-tokens-of-their-own.md.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import data
import folder as folders
import model as network
import plain

TOKENS = Path(__file__).with_name("tokens.jsonl")
PLACES = [*range(1, 100), *range(104, 999)]  # of [unused0] to [unused993]
OWN = 10  # rows with an emoji that gets a token of its own
FILES = 6  # sources that a word occurs in at least; or it is the jargon of one
ROWS = 12  # rows with a word that gets a token
NAMES = 0.5  # the share of capitalised occurrences from which on a word is a name
# Registers where people write to each other; others would add terms of a trade.
INFORMAL = ("en_sms_nus", "en_tweets", "en_reddit_titles", "en_irc_ubuntu", "en_webtext", "en_ud_ewt", "en_reviews_apps", "en_tatoeba", "en_fortunes", "en_jokes", "en_ui_games")
WORD = re.compile(r"[A-Za-z]+")
# What the pieces of an abbreviation do not say.
SAYS = {
    "kys": "kill yourself", "kms": "kill myself", "stfu": "shut the fuck up", "gtfo": "get the fuck out", "foad": "fuck off and die", "wtf": "what the fuck", "tf": "the fuck",
    "ffs": "for fuck sake", "fml": "fuck my life", "omfg": "oh my fucking god", "lmao": "laughing my ass off", "lmfao": "laughing my fucking ass off", "rofl": "rolling laughing",
    "lol": "laughing", "mf": "mother fucker", "mfs": "mother fuckers", "pos": "piece of shit", "sob": "son of a bitch", "milf": "sexy mother", "thot": "slut", "thots": "sluts", "hoe": "whore", "hoes": "whores",
    "simp": "pathetic man", "simps": "pathetic men", "incel": "lonely woman hater", "incels": "lonely woman haters", "cuck": "weak betrayed husband", "cucks": "weak betrayed husbands", "libtard": "stupid liberal", "libtards": "stupid liberals",
    "noob": "bad beginner", "noobs": "bad beginners", "ez": "easy", "gg": "good game", "afk": "away", "braindead": "stupid", "af": "as fuck", "asf": "as fuck", "bs": "bull shit", "idgaf": "i do not give a fuck",
    "dgaf": "do not give a fuck", "nsfw": "porn", "pls": "please", "plz": "please", "thx": "thanks", "btw": "by the way", "imo": "in my opinion", "idk": "i do not know", "tbh": "to be honest",
    "smh": "shaking my head", "omg": "oh my god", "ppl": "people", "u": "you", "ur": "your", "btfo": "beaten", "ofc": "of course", "jk": "joking", "nvm": "never mind", "dm": "message", "irl": "in real life",
    "tryna": "trying to", "gonna": "going to", "dunno": "do not know", "yall": "you all", "dont": "do not", "cant": "can not", "wont": "will not", "didnt": "did not", "doesnt": "does not", "isnt": "is not", "aint": "is not",
    "youre": "you are", "thats": "that is", "urself": "yourself", "fuk": "fuck", "fck": "fuck", "fuckin": "fucking", "fucken": "fucking", "biatch": "bitch", "azz": "ass", "phuck": "fuck", "sh1t": "shit", "kkk": "racist clan",
    "maga": "make america great again", "blm": "black lives matter", "terf": "feminist against transgender women", "xd": "laughing", "cringe": "embarrassing", "unalive": "kill", "reee": "scream", "goyim": "gentiles", "goy": "gentile",
}


def labelled(folder: Path):
    """Training rows of every source, and whether their labels say toxic; None where nobody labelled."""
    for source in sorted({*data.LOADERS} - {"profanity_lexicon", "madlibs"}):
        if source.startswith(data.NOT_FOR_TRAINING) or source in data.NATURAL and source not in INFORMAL:
            continue
        for row in data.split_rows(folder, source, "train"):
            known = row.labels[~np.isnan(row.labels)]
            yield source, row.text, bool(known.max() >= 0.5) if len(known) else None


def surprise(with_word: tuple[int, int], all_rows: tuple[int, int]) -> float:
    """The log-likelihood ratio (Dunning 1993) of a word and toxic rows, of the two by two table of counts (toxic, other)."""
    a, b = with_word
    c, d = all_rows[0] - a, all_rows[1] - b
    table = np.array([[a, b], [c, d]], dtype=np.float64)
    expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
    return 2 * float(np.sum(table * np.log(np.maximum(table, 1e-9) / np.maximum(expected, 1e-9))))


def choose(args):
    emoji = [e for e in json.loads((args.emoji / "en" / "data.json").read_text()) if "group" in e]
    subgroups = json.loads((args.emoji / "meta" / "groups.json").read_text())["subgroups"]
    known = {e["emoji"].replace("\ufe0f", ""): e for e in emoji}
    known = {c: e for c, e in known.items() if len(c) == 1}
    tones = {chr(c): name for c, name in zip(range(0x1F3FB, 0x1F400), ("white skin", "light skin", "brown skin", "dark skin", "black skin"))}
    vocabulary = base().get_vocab()
    rows, capital, files, seen, totals = defaultdict(lambda: [0, 0, 0]), Counter(), defaultdict(set), Counter(), [0, 0]
    for source, text, toxic in labelled(args.data):
        kind = 2 if toxic is None else 0 if toxic else 1
        if toxic is not None:
            totals[kind] += 1
        for word in set(WORD.findall(text)):
            lower = word.lower()
            if lower not in vocabulary and 2 <= len(lower) <= 16:
                rows[lower][kind] += 1
                files[lower].add(source)
                capital[lower] += word[0].isupper() and not word.isupper()
        seen.update(c for c in set(text) if c in known or c in tones)
    out = [{"tokens": [c], "says": tones.get(c) or known[c]["label"]} for c, n in seen.most_common() if n >= OWN or c in tones]
    single = {entry["tokens"][0] for entry in out}
    for number in sorted({e["subgroup"] for e in known.values()}):
        if rest := [c for c, e in known.items() if e["subgroup"] == number and c not in single]:
            out.append({"tokens": rest, "says": subgroups[str(number)].replace("-", " ")})
    left = len(PLACES) - len(out)
    enough = [w for w, n in rows.items() if sum(n) >= ROWS and len(files[w]) >= FILES and capital[w] < NAMES * sum(n)]
    toxic = [w for w in enough if rows[w][0] * totals[1] > rows[w][1] * totals[0]]
    told = sorted(toxic, key=lambda w: -surprise(tuple(rows[w][:2]), tuple(totals)))
    common = sorted(enough, key=lambda w: -len(files[w]) * rows[w][2])
    words = dict.fromkeys(w for w in SAYS if w not in vocabulary)
    for word in (w for three in zip(told[::2], told[1::2], common) for w in three):
        if len(words) < left:
            words.setdefault(word)
    out += [{"tokens": [w], "says": SAYS.get(w, w)} for w in words]
    TOKENS.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in out), encoding="utf-8")
    print(f"{len(single)} emoji, {len(out) - len(single) - len(words)} subgroups, {len(words)} words")


def base() -> Tokenizer:
    return Tokenizer.from_file(str(network.base_folder() / "tokenizer.json"))


def read() -> list[dict]:
    return [json.loads(line) for line in TOKENS.read_text(encoding="utf-8").splitlines()]


def starts() -> dict[int, list[int]]:
    """By the id of a new token, the ids of the tokens whose mean embedding it begins with."""
    plain = base()
    plain.no_padding()
    return {id: plain.encode(entry["says"], add_special_tokens=False).ids for id, entry in zip(PLACES, read())}


def tokenizer_json() -> str:
    """BERT's tokenizer.json with the tokens of tokens.jsonl in its unused places."""
    spec = json.loads(base().to_str())
    spec["padding"] = spec["truncation"] = None
    vocabulary = {token: id for token, id in spec["model"]["vocab"].items()}
    unused = {id: token for token, id in vocabulary.items() if token.startswith("[unused")}
    for id, entry in zip(PLACES, read()):
        del vocabulary[unused[id]]
        for token in entry["tokens"]:
            vocabulary[token] = id
            if not token.isascii():
                spec["added_tokens"].append({"id": id, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False})
    spec["model"]["vocab"] = dict(sorted(vocabulary.items(), key=lambda item: item[1]))
    spec["added_tokens"].sort(key=lambda token: token["id"])
    return json.dumps(spec, ensure_ascii=False)


def tokenizer() -> Tokenizer:
    return Tokenizer.from_str(tokenizer_json())


def ids_of(rows: list[data.Row], tokenizer: Tokenizer, rng: np.random.Generator, telling: set[str] = frozenset(), disguised: dict[bool, float] | None = None, disguise=data.disguise) -> list[np.ndarray]:
    """The token ids of rows, int64 with those that wrap a text, at most a window of each: read as the product does (plain.py),
    and disguised if shares are given, by whether a row is toxic."""
    out, rows, (first, last) = [], plain.rows(rows), folders.wraps(tokenizer)
    for start in range(0, len(rows), 4096):
        batch = rows[start : start + 4096]
        texts = [row.text for row in batch]
        for i, row in enumerate(batch):
            if disguised and rng.random() < disguised[bool((row.labels >= 0.3).any())]:
                texts[i], _ = disguise(row.text, rng, telling)
        for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
            ids, room = encoding.ids, folders.MAX_TOKENS - 2
            if len(ids) > room:
                at = crop(encoding.tokens, room, telling, rng)
                ids = ids[at : at + room]
            out.append(np.array([first, *ids, last], dtype=np.int64))
    return out


def crop(pieces: list[str], room: int, telling: set[str], rng: np.random.Generator) -> int:
    """The first of room tokens of a long text. A crop keeps the label of the whole, so it has as many telling words as
    possible; without any, half of the crops start at the beginning, like a short text."""
    found = np.array([piece in telling for piece in pieces])
    inside = np.convolve(found, np.ones(room, int), "valid")
    if found.any():
        return int(rng.choice(np.flatnonzero(inside == inside.max())))
    return 0 if rng.random() < 0.5 else int(rng.integers(len(pieces) - room + 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("choose")
    command.set_defaults(run=choose)
    command.add_argument("--data", required=True, type=Path)
    command.add_argument("--emoji", required=True, type=Path, help="the npm package emojibase-data, unpacked")
    command = commands.add_parser("tokenizer")
    command.set_defaults(run=lambda args: args.out.write_text(tokenizer_json(), encoding="utf-8"))
    command.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()

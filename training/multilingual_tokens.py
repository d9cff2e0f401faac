"""Emoji, syllables and letters that the pieces of multilingual.py lack, as tokens of their own.

    python training/multilingual_tokens.py --data DATA

They all are one unknown token otherwise: a middle finger, a knife, and the spelling of a curse that its writer chose to
get past a filter. The command counts the characters of training rows, and writes multi/tokens.jsonl: a line for each
token, with what "says" what its embedding starts as the mean of. tokens.jsonl has descriptions of emoji.

An emoji is an added token, so it stands alone wherever it occurs (docs/decisions/0033-tokens-of-their-own.md). A
syllable or letter is a piece like others, the least probable, so that a longer piece that has it still wins. Ids follow
those of the pieces.
"""

import argparse
import json
import unicodedata
from collections import Counter
from dataclasses import replace
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer

import multilingual
import multilingual_data
import plain
import tokens

TOKENS = multilingual.PIECES.with_name("tokens.jsonl")
LEAST = 5  # occurrences in training rows
LETTERS = {"ko": "HANGUL", "zh": "CJK", "ja": "CJK"}  # whose letters get tokens; elsewhere, an unknown letter is a broken text's
# What spelling alone does not say. Syllables that are not here start at their first two sounds.
SAYS = {
    "뇬": "년", "좃": "좆", "뒈": "뒤져 죽어", "퉤": "침 뱉다", "퉷": "침 뱉다", "빻": "못생긴", "쟤": "저 아이", "걘": "그 아이는", "얜": "이 아이는", "쯧": "혀를 차다", "퇘": "돼지", "됫": "되었", "됏": "되었",
    "븅": "병신", "왤": "왜", "쪘": "살찐", "넼": "네", "썻": "썼", "옘": "염병", "앜": "아", "쉿": "조용히", "쥑": "죽이", "풉": "비웃음", "썅": "쌍년", "졷": "좆", "쎅": "섹스", "윾": "유", "혓": "혀", "깠": "까다", "짴": "작", "삘": "느낌", "뺌": "빼다",
    "蝈": "国", "蝻": "男",
}


def read() -> list[dict]:
    return [json.loads(line) for line in TOKENS.read_text(encoding="utf-8").splitlines()]


def is_letter(token: str) -> bool:
    return unicodedata.category(token)[0] == "L"


def extended(of: multilingual.Base, chosen: list[dict]) -> multilingual.Base:
    """The base with its own tokens behind its pieces, each at the mean of what says it: letters as pieces, and the
    embeddings of letters and then of emoji, which tokenizer adds."""
    least, encode = min(score for _, score in of.pieces), multilingual.tokenizer(of)
    ordered = sorted(chosen, key=lambda entry: not is_letter(entry["token"]))
    words = of.weights["embeddings.word.weight"]
    own = [words[encode.encode(entry["says"], add_special_tokens=False).ids].mean(0) for entry in ordered]
    words = torch.cat([words, *(row[None] for row in own)])
    letters = [(entry["token"], least) for entry in ordered if is_letter(entry["token"])]
    return replace(of, config=of.config | {"vocab_size": len(words)}, weights=of.weights | {"embeddings.word.weight": words}, pieces=of.pieces + letters)


def base() -> multilingual.Base:
    """The base of the model: what multilingual.py makes, and its own tokens."""
    return extended(multilingual.base(), read())


def tokenizer(of: multilingual.Base, chosen: list[dict]) -> Tokenizer:
    """of: extended."""
    out = multilingual.tokenizer(of)
    out.add_tokens([AddedToken(entry["token"], normalized=False, special=False) for entry in chosen if not is_letter(entry["token"])])
    if out.get_vocab_size() != of.config["vocab_size"]:
        raise ValueError(f"failed to make the tokenizer: it has {out.get_vocab_size():,} tokens and the base {of.config['vocab_size']:,} embeddings; write {TOKENS.name} with python training/multilingual_tokens.py")
    return out


def choose(texts_of: dict[str, list[str]]) -> list[dict]:
    """Tokens of characters that training texts, by language, have LEAST times and the pieces lack, the commonest first."""
    encode = multilingual.tokenizer(multilingual.base())
    unknown = encode.token_to_id("<unk>")
    is_known = lambda text: unknown not in encode.encode(text, add_special_tokens=False).ids
    emoji = {token: entry["says"] for entry in tokens.read() for token in entry["tokens"] if not token.isascii()}
    counts = Counter()
    for language, texts in texts_of.items():
        for text in texts:
            counts.update(c for c in text if c in emoji or unicodedata.category(c) == "So" or unicodedata.name(c, "").startswith(LETTERS.get(language, "-")))
    out = []
    for token, count in counts.most_common():
        if count < LEAST or is_known(token) or unicodedata.normalize("NFKC", token) != token:
            continue
        says = SAYS.get(token) or emoji.get(token) or said_by(token)
        if is_known(says):
            out.append({"token": token, "says": says})
    return out


def said_by(token: str) -> str:
    """A syllable without its last consonant; of other characters, Unicode's name."""
    name = unicodedata.name(token).lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", token)[:2]) if name.startswith("hangul syllable") else token if is_letter(token) else name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="the data folder")
    args = parser.parse_args()
    texts = multilingual_data.texts(args.data)
    seen = iter(plain.texts([text for of in texts.values() for text in of]))
    chosen = choose({language: [next(seen)[0] for _ in of] for language, of in texts.items()})
    TOKENS.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in chosen), encoding="utf-8")
    print(f"{len(chosen)} tokens, {sum(is_letter(entry['token']) for entry in chosen)} of them letters")


if __name__ == "__main__":
    main()

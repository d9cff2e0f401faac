#!/usr/bin/env python3
"""Writes how Hugging Face's tokenizers handles every code point, for TestCharacters of tokenize/.

    pip install -r scripts/make/tokenizer/requirements.txt
    python scripts/make/tokenizer/tables.py tokenize/testdata/characters.txt.gz
    go test ./tokenize -run TestCharacters -update  # writes tokenize/tables.go

The library mixes three Unicode versions (categories of one crate, decompositions of another,
lowercase and white space of the Rust compiler that built it), and none is Go's. So nothing here is
taken from the Unicode database: each property is measured from the library's behaviour on all
1,112,064 scalar values. It takes one minute on one core. tokenize/tables.go has what differs from
Go's own tables.

Each line is a property with the first and the last code point of a range that has it (and its
combining class), or a mapping with a code point and those that it becomes. Code points are
hexadecimal.
"""
import gzip
import struct
import sys
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

SCALARS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def bert(**on):
    options = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**options, **on}).normalize_str


def ranges(wanted):
    out = []
    for c in SCALARS:
        if c not in wanted:
            continue
        # Surrogates are not scalar values: a range may include their gap.
        if out and (out[-1][1] == c - 1 or (out[-1][1] == 0xD7FF and c == 0xE000)):
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def combining_classes(nfd):
    """The order in which the library sorts marks; only the order is observable, and only it matters.

    The numbers are those of Python's unicodedata for the first mark of each class. The place of every
    other mark is how the library sorts it relative to these.
    """
    low, high = "\u0334", "\u0345"  # classes 1 and 240: sort before and after all others

    def is_mark(s):  # it moves before U+0345 or after U+0334; a starter separates the two
        return nfd(high + s + low) != high + s + low

    anchor = {}
    for c in SCALARS:
        k, s = unicodedata.combining(chr(c)), chr(c)
        if k and k not in anchor and nfd(s) == s and is_mark(s):
            anchor[k] = s
    classes = {}
    for c in SCALARS:
        s = chr(c)
        if nfd(s) != s or not is_mark(s):
            continue
        k = [k for k, a in anchor.items() if nfd(a + s) == a + s and nfd(s + a) == s + a]
        if len(k) != 1:
            sys.exit(f"U+{c:04X} sorts like {len(k)} classes {k}, expected one")
        classes[c] = k[0]
    return classes


def word_characters():
    """What \\w means for an added token with single_word."""
    t = Tokenizer(models.WordPiece({"[UNK]": 0, "#": 1}, unk_token="[UNK]"))
    t.add_tokens([AddedToken("#", single_word=True, normalized=False)])
    return {c for c in SCALARS if 1 not in t.encode(chr(c) + "#").ids and chr(c) != "#"}


def strip_characters():
    """What \\s means for an added token with lstrip."""
    t = Tokenizer(models.WordPiece({"[UNK]": 0, "#": 1}, unk_token="[UNK]"))
    t.add_tokens([AddedToken("#", lstrip=True, normalized=False)])
    return {c for c in SCALARS if t.encode(chr(c) + "#").offsets[0] == (0, 2)}


def regex_class(pattern):
    """What a class means for the regular expressions of a tokenizer.json."""
    removes = normalizers.Replace(Regex(pattern), "").normalize_str
    return {c for c in SCALARS if removes(chr(c)) == ""}


def joined_characters():
    """The characters that belong to the same user-perceived character as an "a" before them.

    The library's normaliser Precompiled shows this: with a map from "a" to "b" it drops the rest of the
    character. Only marks newer than this Python's Unicode are listed: Go's uniseg, which divides texts
    there, has the others.
    """
    # A double array of one entry: the root's children are at 256, "a" leads to 512, which has its value.
    units = [0] * 768
    units[0] = 256 << 10
    units[256 ^ ord("a")] = (256 ^ ord("a") ^ 512) << 10 | 1 << 8 | ord("a")
    units[512] = 0 | 1 << 31
    units[512 ^ 0] = 1 << 31
    data = struct.pack("<I768I", 4 * 768, *units) + b"b\0"
    normalize = normalizers.Precompiled(data).normalize_str
    assert normalize("xax") == "xbx" and normalize("a\u0301") == "b"
    return {c for c in SCALARS if unicodedata.category(chr(c)) == "Cn" and normalize("a" + chr(c)) == "b"}


def main(out):
    clean, cjk = bert(clean_text=True), bert(handle_chinese_chars=True)
    strip, lower, nfd = bert(strip_accents=True), bert(lowercase=True), normalizers.NFD().normalize_str
    pre = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    nfc = normalizers.NFC().normalize_str
    digits, strip_accents = pre_tokenizers.Digits().pre_tokenize_str, normalizers.StripAccents().normalize_str

    cleaned = {c: clean(chr(c)) for c in SCALARS}
    decomposed = {c: nfd(chr(c)) for c in SCALARS}
    pieces = {c: len(pre("a" + chr(c) + "b")) for c in SCALARS}
    spaces = {c for c in SCALARS if pieces[c] == 2}
    for c in spaces:  # white space is kept as a blank or removed, nothing else
        assert cleaned[c] in (" ", ""), hex(c)
    assert strip_characters() == spaces, "\\s of added tokens and char::is_whitespace differ"
    assert regex_class(r"\s") == spaces, "\\s of regular expressions and char::is_whitespace differ"

    flags = {
        "removed": {c for c in SCALARS if cleaned[c] == ""},
        "space": spaces,
        "punctuation": {c for c in SCALARS if pieces[c] == 3},
        "chinese": {c for c in SCALARS if cjk(chr(c)) != chr(c)},
        "accent": {c for c in SCALARS if decomposed[c] == chr(c) and strip(chr(c)) == ""},
        "letter": regex_class(r"\p{L}"),
        "number": regex_class(r"\p{N}"),
        "numeric": {c for c in SCALARS if len(digits("a" + chr(c))) == 2},
        "combining": {c for c in SCALARS if strip_accents(chr(c)) == ""},
        "joined": joined_characters(),
        "uncomposed": {c for c in SCALARS if decomposed[c] != chr(c) and nfc(chr(c)) != chr(c)},
        "word": word_characters(),
    }
    lines = [f"{name} {lo:x} {hi:x}" for name, wanted in flags.items() for lo, hi in ranges(wanted)]

    classes, runs = combining_classes(nfd), []
    for c in sorted(classes):
        if runs and runs[-1][1] == c - 1 and runs[-1][2] == classes[c]:
            runs[-1][1] = c
        else:
            runs.append([c, c, classes[c]])
    lines += [f"class {lo:x} {hi:x} {k}" for lo, hi, k in runs]

    hangul = range(0xAC00, 0xD7A4)  # computed
    nfkd = normalizers.NFKD().normalize_str
    maps = {
        "decomposition": {c: d for c, d in decomposed.items() if d != chr(c) and c not in hangul},
        # Only what differs from the canonical decomposition.
        "compatibility": {c: k for c in SCALARS if c not in hangul and (k := nfkd(chr(c))) != decomposed[c]},
        "lowercase": {c: l for c in SCALARS if (l := lower(chr(c))) != chr(c)},
    }
    lines += [f"{name} {c:x} " + " ".join(f"{ord(x):x}" for x in to) for name, pairs in maps.items() for c, to in pairs.items()]

    with open(out, "wb") as f:
        f.write(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

#!/usr/bin/env python3
"""Writes the output of Hugging Face's tokenizers for many texts, for the tests of tokenize/.

    pip install -r scripts/make/tokenizer/requirements.txt
    python scripts/make/tokenizer/vectors.py nasty  TOKENIZER.json OUT.jsonl.gz [COUNT] # 1,000, hand-written and random
    python scripts/make/tokenizer/vectors.py corpus TOKENIZER.json OUT.jsonl.gz DATA    # 10,000 from a folder of *.jsonl.gz with "text"
    python scripts/make/tokenizer/vectors.py sweep  TOKENIZER.json OUT.jsonl.gz         # every code point in four contexts

One JSON object per line: text (or bytes, base64, if it is not UTF-8), ids, offsets (start and end
of each id, flat, in bytes of the text) and words (word_ids), without special tokens and without
truncation. Everything is seeded: the same library gives the same file.
"""
import base64
import glob
import gzip
import json
import os
import random
import sys

from tokenizers import Tokenizer

SENTENCES = [
    "The committee will meet again on Thursday at half past nine.",
    "Could you please send me the minutes of yesterday's meeting?",
    "I don't think that's what she'd have wanted, is it?",
    "Rain is expected in the north; elsewhere it stays dry.",
    "HELLO WORLD, this is Me Shouting POLITELY!!!",
    "She paid $12.50 for 3 kg of apples (a 20% discount).",
    "Antidisestablishmentarianism and electroencephalography are long words.",
    "e-mail: jane.doe+test@example.org, phone +44 (0)20 7946 0958",
    "https://example.org/a/b?q=1&lang=en#frag and www.example.com/~user/index.html",
    "for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; } // dot product",
    "SELECT name, COUNT(*) FROM users WHERE age >= 21 GROUP BY name;",
    'print(f"{value:>10.3f}\\n", end="")  # formatted',
    "def f(x): return {'a': [1, 2, 3], \"b\": None}",
    "<p class=\"note\">Tom &amp; Jerry &lt;3</p>",
    "#ThrowbackThursday @someone RT: loooooong weekeeeend lol :-) ;-P <3 ^_^",
    "1,234,567.89 0x1F 1e-9 3.14159 12:34:56 2026-11-21 ½ ² № 5",
    "Let's meet at the café near the naïve façade of the Ångström museum.",
    "Die Straße in Köln ist schön, aber der Fußweg ist glatt. GROẞE STRAẞE",
    "Zażółć gęślą jaźń; příliš žluťoučký kůň; árvíztűrő tükörfúrógép.",
    "İstanbul'da ılık bir IŞIK; DİYARBAKIR, ırmak.",
    "Ο Οδυσσέας είδε τον ΟΔΥΣΣΕΥΣ και τους ΦΙΛΟΥΣ.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. ЙЁ йё",
    "שלום עולם, מה שלומך? בְּרֵאשִׁית בָּרָא",
    "مرحبا بالعالم، كيف حالك؟ السَّلَامُ عَلَيْكُمْ",
    "नमस्ते दुनिया, आप कैसे हैं? क़ ख़ ज़",
    "বাংলা ভাষা খুব সুন্দর। ো ৌ",
    "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
    "தமிழ் மொழி தொன்மையானது கொ",
    "ಕನ್ನಡ ಭಾಷೆ ಕೊ ೋ",
    "မြန်မာဘာသာ ဦ",
    "བོད་སྐད་ ཱཱི ཱུ གྷ",
    "今天天气很好，我们去公园吧。",
    "私は東京に住んでいます。カタカナ ガ゙ ｶﾞ ぱ",
    "안녕하세요 세계! 각 힣 한글 각ᆨ",
    "漢字kanji混ぜmixed文字text",
    "𠀀𠀁 豈更車 﨎﨏 丽丸乁 𫝀 𬺰",
    "👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇬🇧 ❤️ ☺️ 🧑🏿‍🚀 1️⃣ #️⃣",
    "I 💖 this 😂😂😂 so much 🎉!!!",
    "[CLS] what a user may type [SEP] and [MASK] or [UNK] [PAD][PAD] [sep] [ SEP ]",
    "a[SEP]b[CLS", "[[SEP]]", "[SEP", "[MASK]ed", "<s> x </s> <mask><pad> y<unk>", "<mask > </ s>",
    "", " ", "   ", "\t\n\r ", "\u00a0\u3000\u2003", "\x00", "\ufffd", "\u200b", "\u0301", ".", "a", "é", "中", "👍",
    "\u0301leading accent", "trailing accent e\u0301", "\u200bzero\u200bwidth\u200b", "\ufeffbyte order mark",
    "soft\u00adhyphen", "no\u00a0break", "narrow\u202fspace", "line\u2028sep\u2029para", "next\u0085line", "v\x0bt\x0cff\x1cfs\x1fus",
    "nul\x00inside", "\x00\x01\x02", "bell\x07 esc\x1b[31mred\x1b[0m", "\x7fdel\x80\x9f",
    "private \ue000 \uf8ff \U000f0000 \U0010fffd", "noncharacter \uffff \ufdd0 \U0001ffff", "unassigned \u0378 \u2fe0 \U000e0fff",
    "rtl \u202eoverride\u202c \u200fmark\u200e \u2066isolate\u2069", "tag \U000e0067\U000e0062 flags", "variation a\ufe0f\ufe0e b\U000e0100",
    "a\u0301\u0323\u0307 q\u0323\u0307 a\u0307\u0323 \u1e69 \u1e9b\u0323 \u0344 \u0340\u0341\u0343", "\u0f73\u0f75\u0f81\u0f71\u0f72\u0f39",
    "hangul tone 가\u302e\u302f\u0301 \u302f\u302e", "musical \U0001d15e \U0001d165\U0001d16e\U0001d1bb", "\U000110ab \U0001109a \U0001112e \U000114bb",
    "ﬀ ﬁ ﬂ ﬃ ﬄ ﬅ ﬆ Ǆ ǅ ǆ Ŀ ŉ ſ", "Ａ ｆｕｌｌ ｗｉｄｔｈ １２３ ！？", "① ⅳ Ⅳ ⓐ ㎏ ㍿ ℡ ™ ℃ Å Ω K", "ΐ ΰ ᾳ ᾼ ὒ ẖ ẗ ẘ ẙ ẚ", "ß ẞ İ ı ſ K Å Ω ǰ ŉ",
    "“curly” ‘quotes’ «guillemets» ‚low‘ „low“ — – ‒ ‑ … · • ※ ‽ ¿¡", "€ £ ¥ ₹ ₿ ¢ ¤ § ¶ © ® ° ± × ÷ ¬ ¦", "→ ⇒ ∀ ∃ ∑ √ ≤ ≠ ∞ ∂ ∫ ∅ ∈ ⊂", "═║╔╗ █▓▒░ ♠♣♥♦ ♩♪",
    "Z̷̢̛̳̺̖a̶̭̓l̴͇̈́g̸̻̊o̷̦̽ text", "u̲n̲d̲e̲r̲l̲i̲n̲e̲d̲ s̶t̶r̶u̶c̶k̶", "ᵗⁱⁿʸ ᴛᴇxᴛ 𝓯𝓪𝓷𝓬𝔂 𝕕𝕠𝕦𝕓𝕝𝕖 𝖋𝖗𝖆𝖐", "ʇxǝʇ uʍop ǝpᴉsdn", "𐐀𐐨 Ꭰꭰ Ꮿ Ა ა Ⱥ ⱥ Ⴀ ⴀ Ⳳ Ꟈ 𞤀𞤢 𖹀𖹠 𑢠𑣀",
    "x" * 99, "x" * 100, "x" * 101, "X" * 102, "é" * 100, "é" * 101, "e\u0301" * 100, "e\u0301" * 101, "x" * 100 + "\u0301", "x" * 101 + " y", "\x00" * 300 + "a",
    "a" * 10_000, "ab" * 5_000 + "!", "word " * 500, "ü" * 10_000, "中" * 1_000, "!" * 1_000, "\u0301" * 1_000 + "a", "a" + "\u0301" * 5_000, "가" * 500, "👍" * 300,
    "aaaaaaa", "aaaaaaaa", "ababababab", "hahahahahahaha", "zzzzzzzzzzzzzzz", "nananananananana", "lololololol", "mississippi", "------", "=====  =====", "......", "!?!?!?", "\n\n\n\n", "  a  b  ", "a \n b", "   leading", "trailing   ", "tab\tbed\t\tx",
    "we're they've I'll I'm he'd it's don't DON'T WE'RE 'tis '70s rock'n'roll l'été",
    "▁already ▁here Ġthere Ċ ##ing ##s un##able", "emoji:👍text👍", "mixed中文and English文字", "50%off 3x4=12 a1b2c3", "CamelCaseAndsnake_case_and-kebab-case", "...and then?! (well) [ok] {fine}",
]
SENTENCES.extend(["\u302e\u0301\u302fa\u0316\u302e b\u0300\u0316\u302e\u0327", "ș̀́̂̃̄ ṩ", "\u0344\u0316x", "가\u0316\u302e각\u0301\u302f"])

BAD_BYTES = [
    b"\xff", b"abc\xff def", b"\xc3", b"caf\xc3 \xa9", b"\xe2\x82", b"price \xe2\x82 5", b"\xf0\x9f\x91", b"\xf0\x9f\x91 ok \xf0\x9f",
    b"\xed\xa0\x80 surrogate \xed\xbf\xbf", b"\xc0\x80 overlong \xe0\x80\x80 \xf0\x80\x80\x80", b"\xf4\x90\x80\x80 too high \xf8\x88\x80\x80\x80",
    b"Latin-1 caf\xe9 na\xefve", b"\x80\x80\x80", b"word\x80word", b"a\xfe\xffb [SEP]\xff", b"\xffhello world\xff", b"e\xcc\x81\xcc x", b"\xe4\xb8 \xe4\xb8\xad\xe4",
    bytes(range(256)), b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xde\xad\xbe\xef", b"PK\x03\x04\x14\x00\xe7\x9c", b"\xff\xfeh\x00i\x00",
]

# The random choices: ordinary characters and those where libraries differ.
PICK = (
    list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ     ..,,!?'\"-_0123456789@#/:")
    + list("éèüöäßñçåøœæđłşğıİẞǅﬁſKÅΣσςΐЖёйІїאבّمश्कিกั中文龘豈あガゕ한가각힣각")
    + list("\u0300\u0301\u0308\u0316\u0323\u0327\u0328\u0334\u0345\u0338\u20dd\u20e3\u0e48\u093c\u094d\u302e\u302f\u3099\u1dfa\u0f39\u0f71\u0f73\u05b7\u064b\U0001d165\U0001d16e\U00016ff0")
    + list("\x00\x07\t\n\r\x0b\x7f\x85\xa0\xad\u200b\u200c\u200d\u200e\u202e\u2028\u2060\ufeff\ufffd\ue000\uffff\u0378\U000e0001\U000f0000\U0010ffff")
    + list("👍🏽👨👩🇬🇧❤\ufe0f🏿“”‘’—…«»、。！？¿¡€№™½²①Ａ１𝓯𠀀")
)


def nasty(count=1000):
    rng = random.Random(20261121)
    texts = [t for t in SENTENCES if count >= 1000 or len(t) <= 1000]
    words = [w for s in SENTENCES[:40] for w in s.split()]
    while len(texts) + len(BAD_BYTES) < count:
        kind = rng.randrange(4)
        if kind == 0:  # noise
            texts.append("".join(rng.choices(PICK, k=rng.randint(1, 40))))
        elif kind == 1:  # words of many scripts in one line
            texts.append(rng.choice([" ", "  ", "\t", "", "-", "/"]).join(rng.choices(words, k=rng.randint(2, 9))))
        elif kind == 2:  # an ordinary sentence, disturbed
            texts.append(disturb(rng, rng.choice(SENTENCES[:40]), 6))
        else:  # a single word, disturbed
            texts.append(disturb(rng, rng.choice(words), 2))
    return [t.encode() for t in texts] + BAD_BYTES


def disturb(rng, text, times):
    chars = list(text)
    for _ in range(rng.randint(1, times)):
        at = rng.randint(0, len(chars))
        chars[at:at + rng.randrange(2)] = rng.choices(PICK, k=rng.randint(1, 3))
    return "".join(chars)


def corpus(folder, count=10_000):
    rng = random.Random(20261122)
    files = sorted(glob.glob(os.path.join(folder, "*.jsonl.gz")))
    texts = []
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") as f:
            rows = [row["text"] for row in map(json.loads, f) if row.get("text")]
        rng.shuffle(rows)
        texts.append(rows)
    if not any(texts):
        sys.exit(f"failed to make vectors: no *.jsonl.gz with a \"text\" in {folder!r}; give the data folder")
    out = []
    while len(out) < count and any(texts):  # a text from each file in turn, so every source is included
        for rows in texts:
            if rows and len(out) < count:
                text = rows.pop()
                if len(out) % 4 == 3:
                    text = disturb(rng, text, 12)
                if len(out) % 40 == 7:
                    text = text.upper()
                out.append(text.encode())
    return out


def sweep():
    scalars = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    for at in range(0, len(scalars), 64):
        block = [chr(c) for c in scalars[at:at + 64]]
        for shape in "a{0}b ", "{0} ", "e\u0301{0}\u0316x ", "{0}":
            yield "".join(shape.format(c) for c in block).encode()


def decode(data):
    """Text and the byte offset of each character; each invalid byte is one U+FFFD."""
    text, starts, i = [], [], 0
    while i < len(data):
        n = 1
        for size in 1, 2, 3, 4:
            try:
                text.append(data[i:i + size].decode())
                n = size
                break
            except UnicodeDecodeError:
                continue
        else:
            text.append("\ufffd")
        starts.append(i)
        i += n
    return "".join(text), starts + [len(data)]


def load(path):
    """The tokenizer, and the ids that stand for others. Of added tokens that share an id, the library
    isolates one: here each has an id of its own."""
    with open(path, encoding="utf-8") as f:
        spec = json.load(f)
    seen, others, vocabulary = set(), {}, spec["model"]["vocab"]
    for token in spec.get("added_tokens") or []:
        if token["id"] in seen:
            own = max(*vocabulary.values(), *others, *seen) + 1
            others[own], vocabulary[token["content"]] = token["id"], own
            token["id"] = own
        seen.add(token["id"])
    return (Tokenizer.from_str(json.dumps(spec)) if others else Tokenizer.from_file(path)), others


def vector(tokenizer, others, data):
    text, starts = decode(data)
    e = tokenizer.encode(text, add_special_tokens=False)
    v = {"ids": [others.get(i, i) for i in e.ids], "offsets": [starts[i] for pair in e.offsets for i in pair], "words": e.word_ids}
    if text.encode() == data:
        return {"text": text, **v}
    return {"bytes": base64.b64encode(data).decode(), **v}


def main(argv):
    if len(argv) not in {"nasty": (3, 4), "corpus": (4,), "sweep": (3,)}.get(argv[0] if argv else "", ()):
        sys.exit(__doc__)
    tokenizer, others = load(argv[1])
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = {"nasty": lambda: nasty(*map(int, argv[3:])), "sweep": sweep, "corpus": lambda: corpus(argv[3])}[argv[0]]()
    level = 1 if argv[0] == "sweep" else 9
    with open(argv[2], "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=level, mtime=0) as f:
        for data in texts:
            f.write(json.dumps(vector(tokenizer, others, data), ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])

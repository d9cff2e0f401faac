"""The base of a model of many languages, from a file of the package's format with two layers of 32 and a dozen pieces.

    python -m pytest training/test_multilingual.py
"""

import gzip
import json
import struct

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

import multilingual
import network

LIST = [
    ("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("a", -4.0), ("▁go", -5.25), ("od", -6.1), ("good", -6.5), ("▁good", -6.0), ("g", -7.0), ("o", -7.0), ("d", -7.5),
    ("好", -8.0), ("很好", -8.2), ("～", -9.0), ("é", -9.0), ("\u0e01", -9.5), ("d\u0e01", -9.6), ("<mask>", 0.0),
]
CHANGES = {"\t": " ", "\x01": "", "①": "1", "ﬁ": "fi", "\u200d": " "}
WIDTH, INNER, ROWS, POSITIONS = 32, 64, len(LIST) + 3, 16


def quantised(values: np.ndarray) -> bytes:
    """Q4_0, written one number at a time."""
    out = b""
    for block in values.reshape(-1, 32):
        scale = np.float16(np.abs(block).max() / 8 or 1)
        steps = [min(15, max(0, round(float(v) / float(scale)) + 8)) for v in block]
        out += scale.tobytes() + bytes(steps[i] | steps[i + 16] << 4 for i in range(16))
    return out


def tensors() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = {"emb.word": (ROWS, WIDTH), "emb.pos": (POSITIONS, WIDTH), "emb.type": (2, WIDTH), "emb.ln.w": (WIDTH,), "emb.ln.b": (WIDTH,)}
    for i in range(2):
        for part, shape in {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "ao": (WIDTH, WIDTH), "aln": (WIDTH,), "fi": (INNER, WIDTH), "fo": (WIDTH, INNER), "oln": (WIDTH,)}.items():
            shapes |= {f"l{i}.{part}.w": shape, f"l{i}.{part}.b": shape[:1]}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def package_file(magic: bytes = b"E5S1", pieces: list[tuple[str, float]] = LIST) -> bytes:
    text = [piece.encode() for piece, _ in pieces]
    changes = b"".join(struct.pack(f"<IB{len(into)}I", ord(c), len(into), *map(ord, into)) for c, into in CHANGES.items())
    head = magic + struct.pack("<8ifi", 1, WIDTH, 2, 4, INNER, ROWS, POSITIONS, 2, 1e-12, 32) + struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, sum(map(len, text)))
    head += np.cumsum([0, *map(len, text)], dtype="<u4").tobytes() + np.array([score for _, score in pieces], "<f4").tobytes() + b"".join(text)
    head += struct.pack("<iI", len(CHANGES), len(changes)) + changes
    of = tensors()
    directory, body, begin = struct.pack("<i", len(of)), b"", len(head) + 4 + sum(2 + len(name) + 21 for name in of)
    for name, values in of.items():
        matrix = values.ndim == 2 and name not in ("emb.pos", "emb.type")
        content = quantised(values) if matrix else values.tobytes()
        directory += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", matrix, values.size, begin + len(body), len(content))
        body += content
    return head + directory + body


@pytest.fixture(scope="module")
def whole():
    return multilingual.read(package_file())


def test_blocks_have_a_scale_and_two_halves():
    block = np.frombuffer(np.float16(0.5).tobytes() + bytes([0x08, 0xF0, *([0x98] * 14)]), np.uint8)
    want = [0, -4, *([0] * 14), -4, 3.5, *([0.5] * 14)]
    assert multilingual.dequantised(block).tolist() == want
    two = np.frombuffer(block.tobytes() + np.float16(-2).tobytes() + bytes([0x88] * 15 + [0x9F]), np.uint8)
    assert multilingual.dequantised(two)[32:].tolist() == [0.0] * 15 + [-14] + [0] * 15 + [-2]


def test_file_is_read_under_the_networks_names(whole):
    assert whole.config == {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 64, "layer_norm_eps": pytest.approx(1e-12), "vocab_size": ROWS, "max_position_embeddings": 16}
    assert whole.pieces == LIST and whole.changes == CHANGES
    model = network.Classifier(whole.config)
    missing, unexpected = model.load_state_dict(whole.weights, strict=False)
    assert not unexpected and {name.split(".")[0] for name in missing} == {"text_hidden", "text_head", "evidence", "token_head"}
    of = tensors()
    assert torch.equal(model.embeddings.position.weight, torch.from_numpy(of["emb.pos"] + of["emb.type"][0]))
    for got, want in ((model.layers[1].down.weight, of["l1.fo.w"]), (model.layers[0].up.weight, of["l0.fi.w"]), (model.embeddings.word.weight, of["emb.word"])):
        # A step is an eighth of a block's largest weight, which itself may be one step off.
        assert (got.detach() - torch.from_numpy(want)).abs().max() <= np.abs(want).max() / 8
    assert torch.equal(model.layers[1].norm.bias, torch.from_numpy(of["l1.oln.b"]))


def test_other_files_are_refused():
    with pytest.raises(ValueError, match="begins with b'GGUF'"):
        multilingual.read(package_file(magic=b"GGUF"))
    with pytest.raises(ValueError, match="special tokens"):
        multilingual.read(package_file(pieces=[LIST[1], LIST[0], *LIST[2:]]))


def test_tokens_have_the_ids_and_the_normalisation_of_the_file(whole):
    tokenizer = multilingual.tokenizer(whole)
    ids = {piece: id for id, (piece, _) in enumerate(LIST)}
    encode = lambda text: tokenizer.encode(text).tokens
    assert tokenizer.encode("good").ids == [0, ids["▁good"], 2]
    assert encode("good  good\tgood") == ["<s>", "▁good", "▁good", "▁good", "</s>"]
    assert encode("很好～") == ["<s>", "▁", "很好", "～", "</s>"], "the full-width tilde stays"
    assert encode("e\u0301") == ["<s>", "▁", "é", "</s>"], "letters and marks are joined"
    assert encode("QQ a") == ["<s>", "▁", "QQ", "▁", "a", "</s>"] and tokenizer.encode("QQ a").ids[2] == ids["<unk>"]
    assert Tokenizer.from_str(tokenizer.to_str()).encode("a good").ids == tokenizer.encode("a good").ids


def test_a_map_that_the_library_does_not_have_is_refused(whole):
    with pytest.raises(ValueError, match="first 'x'"):
        multilingual.tokenizer(multilingual.Base(whole.config, whole.weights, whole.pieces, whole.changes | {"x": "y"}))


def counts_of(whole, **texts: list[str]) -> dict[str, np.ndarray]:
    return multilingual.counted(multilingual.tokenizer(whole), texts)


def test_trimming_keeps_characters_and_what_languages_use(whole):
    counts = counts_of(whole, en=["good"] * 9 + ["go"], zh=["很好"])
    names = lambda number: [LIST[id][0] for id in multilingual.kept_of(LIST, counts, number)]
    must = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "g", "o", "d", "好", "é", "<mask>"]
    assert names(12) == must, "ASCII, letters of the scripts and what occurs twice stay; a Thai letter and a tilde do not"
    assert set(names(14)) - set(must) == {"很好", "▁good"}, "languages count the same"
    assert set(names(15)) - set(names(14)) == {"▁go"} and len(names(20)) == 20
    for number in (11, 21):
        with pytest.raises(ValueError, match="from 12, .* to 20"):
            names(number)


def test_trimmed_pieces_keep_their_scores_and_embeddings(whole, tmp_path, monkeypatch):
    kept = multilingual.kept_of(LIST, counts_of(whole, en=["good"], zh=["很好"]), 14)
    multilingual.write_kept(kept, tmp_path / "pieces.txt.gz")
    monkeypatch.setattr(multilingual, "read", lambda: whole)
    small = multilingual.base(tmp_path / "pieces.txt.gz")
    assert small.config["vocab_size"] == 14 and small.pieces == [LIST[id] for id in kept]
    words = small.weights["embeddings.word.weight"]
    assert torch.equal(words, whole.weights["embeddings.word.weight"][kept])
    tokenizer, before = multilingual.tokenizer(small), multilingual.tokenizer(whole)
    assert [kept[id] for id in tokenizer.encode("good 很好").ids] == before.encode("good 很好").ids
    written = json.loads(tokenizer.to_str())
    assert {token["content"]: token["id"] for token in written["added_tokens"]} == {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 13}
    with pytest.raises(ValueError, match="lack .*<mask>"):
        multilingual.tokenizer(multilingual.trimmed(whole, kept[:-1]))


def test_lists_of_pieces_are_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        multilingual.write_kept([0, 3, 17], tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() and multilingual.read_kept(tmp_path / "a") == [0, 3, 17]
    with pytest.raises(FileNotFoundError, match="multilingual.py"):
        multilingual.read_kept(tmp_path / "none")


def test_list_in_use_fits_16_bits():
    kept = multilingual.read_kept()
    assert kept[:4] == [0, 1, 2, 3] and kept[-1] == 250_001 and len(kept) < 1 << 16
    assert kept == sorted(set(kept))


def test_rows_come_evenly_from_files():
    rng = np.random.default_rng(1)
    files = [[f"{name}{i}" for i in range(count)] for name, count in (("a", 100), ("b", 2), ("c", 50))]
    chosen = multilingual.even(files, 22, rng)
    assert [sum(text[0] == name for text in chosen) for name in "abc"] == [10, 2, 10]
    assert sorted(multilingual.even(files, 1000, rng)) == sorted(text for of in files for text in of)


def test_command_counts_and_measures(whole, tmp_path, monkeypatch, capsys):
    folder, out = tmp_path / "data", tmp_path / "out"
    (folder / "natural").mkdir(parents=True)
    rows = [("good good", "train"), ("go", "train"), ("good", "dev"), ("bad", "test")]
    with gzip.open(folder / "natural" / "natural_de.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"text": text, "split": split, "lang": "de"}) + "\n" for text, split in rows)
    monkeypatch.setattr(multilingual, "read", lambda: whole)
    monkeypatch.setattr(multilingual, "PIECES", tmp_path / "pieces.txt.gz")
    multilingual.main(["--data", str(folder), "--out", str(out), "--pieces", "12", "13"])
    assert [LIST[id][0] for id in set(multilingual.read_kept(out / "pieces-13.txt.gz")) - set(multilingual.read_kept(out / "pieces-12.txt.gz"))] == ["▁good"]
    printed = capsys.readouterr().out
    assert "2 rows of 1 languages, 3 tokens, 2 pieces" in printed and "| de | 25.0; 0.00 | 400.0; 0.00 | 0.0; 0.00 |" in printed
    assert Tokenizer.from_file(str(out / "tokenizer-13.json")).encode("good").tokens == ["<s>", "▁good", "</s>"]
    with pytest.raises(FileNotFoundError, match="natural_LANGUAGE"):
        multilingual.rows(tmp_path, "dev", 10)

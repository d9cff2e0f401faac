"""From rows of many languages to a trained network, its figures and a model folder, on a data folder and a base of a few kilobytes.

    make build && python -m pytest training/test_multilingual_training.py
"""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

sys.path.append(str(Path(__file__).parent / "remote"))
import calibrate
import data
import folder as folders
import multilingual
import multilingual_data
import multilingual_disguise
import multilingual_export
import multilingual_tokens
import network
import pack
import report
import report_languages
import systems
import thresholds
import tokens

OWN = [{"token": "🖕", "says": "bad"}, {"token": "뇬", "says": "년"}, {"token": "💩", "says": "bad"}]
CONFIG = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 64, "layer_norm_eps": 1e-12, "max_position_embeddings": 256}


def write(path: Path, rows: list[dict]):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


def small_base() -> multilingual.Base:
    letters = "▁abcdefghijklmnopqrstuvwxyz0123456789.-_*'|년你好吗坏人"
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((c, -5.0) for c in letters), ("▁bad", -3.0), ("▁good", -3.0), ("<mask>", 0.0)]
    config = CONFIG | {"vocab_size": len(pieces)}
    torch.manual_seed(1)
    weights = {name: value for name, value in network.Classifier(config).state_dict().items() if name.startswith(("embeddings", "layers"))}
    return multilingual.Base(config, weights, pieces, {})


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """20 sentences in each language, natural German, a set with marks of words, and grades."""
    folder = tmp_path_factory.mktemp("data")
    for language in {language[:2] for language in multilingual_data.LANGUAGES}:
        text = (lambda i: f"你好吗{i}") if language == "zh" else (lambda i: f"good {language} {i}")
        write(folder / "multi" / f"{language}.jsonl.gz", [{"domain": "chat", "text": text(i)} if i % 2 else {"domain": "insult", "text": text(i) + " bad", "grades": [0.9, 0, 0.9, 0, 0, 0, 0]} for i in range(20)])
    split = lambda i: ("dev", "test", "train", "train", "train")[i % 5]
    write(folder / "natural" / "natural_de.jsonl.gz", [{"id": f"x{i}", "text": f"text number {i}", "source": "x_tweets" if i % 4 == 3 else "x_ui", "split": split(i), "lang": "de", "labels": {}} for i in range(60)])
    write(folder / "natural" / "abuse_vi_vihos.jsonl.gz", [{"id": f"v{i}", "text": f"so bad {i}" if i % 2 else f"so {i}", "source": "abuse_vi_vihos", "split": split(i), "lang": "vi", "labels": {"toxicity": i % 2}, "spans": [[3, 6]] * (i % 2)} for i in range(60)])
    write(folder / "natural" / "abuse_tr_offenseval20.jsonl.gz", [{"id": "t2", "text": "only theirs", "source": "abuse_tr_offenseval20", "split": "train", "lang": "tr", "labels": {"toxicity": 1}}])
    write(folder / "multi" / "annotations.jsonl.gz", [{"id": f"natural_de/x{i}", "grades": [i % 9, 0, 0, 0, 0, 0, 0]} for i in range(40)] + [{"id": f"abuse_vi_vihos/v{i}", "grades": [9 * (i % 2), 0, 0, 0, 0, 0, 0]} for i in range(60)])
    write(folder / "multi" / "second-readings.jsonl.gz", [{"lang": "de", "text": "good de 0 bad", "grades": [0.5, 0, 0.9, 0, 0, 0, 0]}])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multilingual_data, "FOLDER", folder / "multi")
        patch.setattr(data, "SENTENCES", folder / "none")
        patch.setattr(multilingual, "base", lambda: small_base())
        patch.setattr(multilingual_tokens, "read", lambda: OWN)
        for cached in (multilingual_data.second_readings, multilingual_data.grades, multilingual_data.graded):
            cached.cache_clear()
        yield folder
    for cached in (multilingual_data.second_readings, multilingual_data.grades, multilingual_data.graded):
        cached.cache_clear()


@pytest.fixture(scope="module")
def packed(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("packed") / "multi"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["pack.py", "--data", str(folder), "--out", str(out), "--multilingual"])
        pack.main()
    return out


def test_what_measures_never_trains(folder, packed, rows):
    """Neither rows of dev and test, nor the tenth of sentences and graded rows that is held back, in whatever source."""
    by_source = pack.training_rows(folder, set(), pack.many_languages(multilingual_tokens.base()))
    trained = {data.key(row.text) for of in by_source.values() for row in of}
    measured = {data.key(row.text) for of in multilingual_data.dev_rows(folder).values() for row in of}
    assert trained and measured and not trained & measured
    assert not any(multilingual_data.held_back(row.text) for name, of in by_source.items() if name.startswith(("sentences", "graded")) for row in of)
    held = [row for row in multilingual_data.dev_rows(folder)["graded_vi"] if int(row.id.split("/v")[1]) % 5 > 1]
    assert held, "training rows with grades are held back, too"
    assert not {data.key(row.text) for row in held} & {data.key(row.text) for row in by_source["vi_vihos"]}
    names = report.Rows(packed)
    originals = np.flatnonzero(rows.twin < 0)
    assert not rows.train[originals[names.at[held[0].id]]]


def test_a_sentence_read_twice_has_the_mean(folder):
    row = next(row for row in multilingual_data.sentences("de") if row.text == "good de 0 bad")
    assert row.labels[0] == pytest.approx(0.7) and row.votes is None
    assert len(multilingual_data.sentences("hi")) == 0 and len(multilingual_data.sentences("hi-Latn")) == 20, "the file of Hindi has two scripts"


def test_quiet_text_that_nobody_graded_is_harmless(folder, rows):
    natural = multilingual_data.natural(folder, "de", "train")
    assert {row.source for row in natural} == {"x_ui"}
    assert not {row.id for row in natural} & set(multilingual_data.grades())
    assert all(not row.labels.any() and not row.votes.any() for row in natural)
    source = [s["name"] for s in rows.meta["sources"]].index("natural_de")
    of = rows.by_source[source]
    assert len(of) and rows.filler[of].all() and np.isin(rows.source[rows.epoch(np.random.default_rng(1), None)], source).any()


def test_what_is_left_out_without_a_licence(folder):
    of = pack.many_languages(multilingual_tokens.base())
    assert pack.training_rows(folder, set(), of)["tr_offenseval20"]
    assert not pack.training_rows(folder, set(multilingual_data.UNLICENSED), of)["tr_offenseval20"]


def test_marks_of_words_are_targets_of_tokens(packed, rows, train):
    """Of toxicity alone, without the blank that a piece begins with."""
    names, originals = report.Rows(packed), np.flatnonzero(rows.twin < 0)
    tokenizer = multilingual_tokens.tokenizer(multilingual_tokens.base(), OWN)
    source = [s["name"] for s in rows.meta["sources"]].index("vi_vihos")
    row = next(i for i in rows.by_source[source] if rows.labels[i, 0] == train.SCALE)
    at = slice(rows.start[row], rows.start[row] + rows.length[row])
    tokens = [tokenizer.id_to_token(id) for id in rows.ids[at]]
    targets = rows.targets[at]
    assert targets[tokens.index("▁bad")].tolist() == [train.SCALE, *[train.UNKNOWN] * 4]
    assert (np.delete(targets[:, 0], tokens.index("▁bad")) == 0).all() and names.names[np.flatnonzero(originals == row)[0]].startswith("abuse_vi_vihos/")


def test_a_tensor_is_wrapped_by_the_tokens_of_its_vocabulary(rows, train):
    chunk = train.Chunk(rows, np.flatnonzero(rows.train)[:5], np.random.default_rng(1), "cpu", None)
    ids, mask, _, _ = train.inputs(chunk, torch.tensor([0]), int(chunk.length[0]) + 2)
    assert ids[0, 0] == 0 and ids[0, -1] == 2 and mask.all()
    assert rows.labels.shape[1] == rows.outputs == 7, "one scale"


def test_mosaics_are_mostly_of_one_language(rows, train):
    source = [s["name"] for s in rows.meta["sources"]].index("sentences_zh")
    chosen = np.repeat(rows.by_source[source], 200)
    first, size, harmless = train.layout(rows, chosen, np.random.default_rng(1))
    parts = np.searchsorted(rows.start, first[harmless & (size > 1) & (first < rows.between[0])], "right") - 1
    language = np.array([s["language"] for s in rows.meta["sources"]])[rows.source[parts]]
    assert 0.8 < (language == "zh").mean() < 0.98


def test_tokens_of_their_own():
    """An emoji stands alone wherever it occurs, a syllable is a piece, and both start at what says them."""
    base = multilingual_tokens.base()
    tokenizer = multilingual_tokens.tokenizer(base, OWN)
    assert tokenizer.encode("bad🖕!", add_special_tokens=False).tokens[:2] == ["▁bad", "🖕"]
    assert tokenizer.encode("뇬", add_special_tokens=False).tokens == ["▁", "뇬"]
    words, old = base.weights["embeddings.word.weight"], small_base()
    assert len(words) == base.config["vocab_size"] == tokenizer.get_vocab_size() == len(old.pieces) + 3
    bad = [piece for piece, _ in old.pieces].index("▁bad")
    assert torch.equal(words[tokenizer.token_to_id("🖕")], words[bad]) and torch.equal(words[: len(old.pieces)], old.weights["embeddings.word.weight"])
    again = Tokenizer.from_str(tokenizer.to_str())
    assert again.encode("a뇬💩 b").ids == tokenizer.encode("a뇬💩 b").ids
    with pytest.raises(ValueError, match="embeddings"):
        multilingual_tokens.tokenizer(base, OWN[:1])


def test_tokens_are_chosen_by_how_often_they_occur():
    """In their own language, and if what says them is known."""
    texts = {"ko": ["뇬"] * 5 + ["쟤"] * 5, "de": ["🖕"] * 6 + ["썅"] * 9 + ["💩"] * 4}
    assert multilingual_tokens.choose(texts) == [{"token": "🖕", "says": "middle finger"}, {"token": "뇬", "says": "년"}]


def test_tokens_in_use_have_ids_of_16_bits():
    chosen = [json.loads(line) for line in multilingual_tokens.TOKENS.read_text(encoding="utf-8").splitlines()]
    assert len(chosen) == len({entry["token"] for entry in chosen}) and all(len(entry["token"]) == 1 and entry["says"] for entry in chosen)
    assert len(multilingual.read_kept()) + len(chosen) < 1 << 16


@pytest.mark.parametrize("text", ["ты совсем плохой человек", "나는 좋은 사람이다 정말로", "तुम बहुत अच्छे हो", "你好吗我的朋友", "příliš žluťoučký kůň", "انت شخص طيب جدا"])
def test_disguises_of_scripts(text):
    """Each code point of the result comes from one of the text; between ideographs, nothing is lost and no blank joins words."""
    rng, seen = np.random.default_rng(1), set()
    for _ in range(300):
        changed, origin = multilingual_disguise.disguise(text, rng)
        assert len(changed) == len(origin) and (np.diff(origin) >= -2).all() and origin.max() < len(text)
        seen.add(changed)
        if text.startswith("你"):
            assert re.sub(r"[\W\d_]", "", changed) == text
    assert len(seen) > 50


def test_letters_of_many_scripts_are_disguised_as_they_are_written():
    rng = np.random.default_rng(1)
    ways = lambda word, way: {"".join(c for _, c in multilingual_disguise.disguise_word(word, way, rng)) for _ in range(50)}
    assert ways("kůň", 7) == {"kun"} and "з0л0т0" not in ways("золото", 7) and any("0" in w for w in ways("золото", 0))
    assert ways("좋은", 6) == {"ㅈㅇ"}
    assert multilingual_disguise.words("你是坏人吗", {"坏人"}) == [(0, 2), (2, 4)]


def test_training_and_figures(folder, packed, tmp_path, capsys):
    """The whole way with PyTorch alone: a shortened network with one scale, and a line of figures for each language."""
    command = [sys.executable, "-P", str(packed / "train.py"), "--device", "cpu", "--minutes", "0.1", "--out", str(tmp_path), "--teachers", "--pupils", "multilingual/1", "--log-seconds", "1"]
    result = subprocess.run(command, cwd="/", env=os.environ | {"PYTHONPATH": str(packed)}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert result.returncode == 0, result.stdout
    config, state = network.load_rounded(tmp_path, "pupil-1-multilingual-1")
    model = network.Classifier(config)
    model.load_state_dict(state)
    assert len(model.layers) == 1 and state["text_head.weight"].shape[0] == 7
    report_languages.main(["--data", str(folder), "--folder", str(packed), "--opinions", str(tmp_path / "pupil-1-multilingual-1.opinions.xz")])
    printed = capsys.readouterr().out
    assert re.search(r"Threshold of toxicity: 0\.\d{3}", printed)
    assert re.search(r"^\| de \| 12 \|", printed, re.M) and re.search(r"^\| vi_vihos \| vi \| \d+ \| 0?[01]?\.\d{3} \|", printed, re.M)


def test_a_threshold_counts_languages_alike():
    """Many rows of one language do not hide those of another."""
    many, few = np.linspace(-9, -5, 10_000), np.linspace(-1, 1, 100)
    at = report_languages.limit([many, few])
    assert (few > at).mean() == pytest.approx(0.01, abs=0.011) and (many > at).sum() == 0


@pytest.fixture(scope="module")
def exported(folder, tmp_path_factory):
    """A network of one layer that has learnt nothing, as a model folder: (out, folder)."""
    out, base = tmp_path_factory.mktemp("export"), multilingual_tokens.base()
    torch.manual_seed(2)
    model = network.Classifier(base.config)
    network.shorten(model, 1)
    network.save_rounded(model.state_dict(), out, "small", base.config | {"num_hidden_layers": 1})
    multilingual_export.main(["--data", str(folder), "--out", str(out), "--weights", str(out), "--name", "small", "--command", "a test"])
    return out, out / "toxicity-multi"


def test_folder_of_many_languages_has_what_the_manifest_says(exported):
    out, folder = exported
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest) == {
        "format", "name", "version", "description", "license", "languages", "provenance", "card", "files", "tokenizer", "variants",
        "inputs", "outputs", "labels", "activation", "spans", "window", "undo_disguise", "calibration", "thresholds", "sensitivity", "pad_id",
    }, "the product refuses unknown keys"
    assert manifest["languages"] == "ar cs de en es fr hi id it ja ko nl pl pt ru sv tr uk vi zh".split() and manifest["pad_id"] == 1
    assert [label["attribute"] for label in manifest["labels"]] == list(data.ATTRIBUTES) and "toxicity" in manifest["calibration"]
    assert {"sentences_zh", "graded_natural_de", "vi_vihos"} <= set(manifest["provenance"]["data"]) and "madlibs" not in manifest["provenance"]["data"]
    for a in data.ATTRIBUTES:
        assert 0.01 <= manifest["sensitivity"]["high"][a] <= manifest["thresholds"][a] <= manifest["sensitivity"]["low"][a] <= 1
    assert "| de | " in (folder / "README.md").read_text() and (folder / "LICENSE").stat().st_size > 0
    assert {"fp32.onnx", "fused.onnx", "int8.onnx", "report.json"} <= {path.name for path in out.iterdir()}


def test_the_product_scores_many_languages_as_the_training_does(exported):
    texts = ["so bad 3", "good de, good and bad", "你好吗 bad", "a🖕b 년", "good " * 200, ""]
    model = folders.Model(exported[1])
    p = model.probabilities(model.run_all(texts))
    assert ((p > 0) & (p < 1)).all() and np.ptp(p[:, 0]) > 1e-6
    product = systems.Product("model", Path(__file__).parents[1] / "bin" / "toxscreen", exported[1])
    of = product.score(texts).columns
    assert np.stack([of[a] for a in data.ATTRIBUTES], 1) == pytest.approx(p, abs=1e-5)


def test_a_text_is_wrapped_by_the_tokens_of_its_tokenizer(exported, monkeypatch):
    assert folders.wraps(tokens.tokenizer()) == (folders.CLS, folders.SEP)
    model, seen = folders.Model(exported[1]), []
    infer = model.infer
    monkeypatch.setattr(model, "infer", lambda ids: seen.append(ids) or infer(ids))
    output = model.run(" ".join(["good"] * 200))
    assert len(seen) == len(output.logits) == 2 and all((ids[0, 0], ids[0, -1]) == (0, 2) for ids in seen) and seen[0].shape == (1, folders.MAX_TOKENS)
    assert len(output.token_logits) == len(output.offsets) == 200


def test_a_token_begins_behind_its_blank(exported):
    """Else a word behind a link, which the network sees as a blank, would mark the link."""
    model, text = folders.Model(exported[1]), "see https://example.org/bad good bad"
    assert model.run("so bad").offsets.tolist()[-1] == [3, 6]
    output = model.run_all([text])[0]
    assert [text[start:end] for start, end in output.offsets[-2:]] == ["good", "bad"]
    output.token_logits[:] = -9
    output.token_logits[-2:] = 9
    assert folders.span_characters(text, output, 0, 0.5) == set(range(text.index("good"), len(text)))


def test_languages_and_sets_of_marks_weigh_the_same(monkeypatch):
    languages = np.array(["de"] * 30 + ["vi"] * 3 + ["en"])
    weights = multilingual_export.evenly(languages)
    assert [weights[languages == language].sum() for language in ("de", "vi", "en")] == pytest.approx([34 / 3] * 3)
    marked = lambda text: data.Row(text, "", "dev", data.labels_of(), np.ones((len(data.SPAN_ATTRIBUTES), len(text))))
    monkeypatch.setattr(calibrate, "span_scores", lambda rows, *_: np.array([float(row.text == "found") for row in rows]))
    _, _, tried = calibrate.span_thresholds(SimpleNamespace(run_all=list), [[marked("found")], [marked("missed")] * 9, []])
    assert set(tried.values()) == {0.5}


def test_a_threshold_is_never_zero():
    p = np.full((1000, 7), 1e-4)
    assert set(thresholds.points_of(p, np.ones(1000, bool), np.ones(1000))["high"].values()) == {thresholds.LEAST}

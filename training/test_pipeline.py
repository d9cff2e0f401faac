"""From weights to a model folder with exits, on 287 mild rows (testdata/), and the parts. test_remote.py tests the training.

    make build && python -m pytest training

`make test-all` runs it to keep the pipeline working.
"""

import argparse
import json
import math
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

sys.path.append(str(Path(__file__).parent / "remote"))
import annotate
import average
import calibrate
import check_splits
import data
import entities
import exits
import export
import folder as folders
import grammars
import measures
import model as network
import mosaics
import pack
import systems
import tokens

SAMPLE = Path(__file__).parent / "testdata"


@pytest.fixture(scope="module", autouse=True)
def small():
    """The sentences written for the model and the long texts of the evaluation would take longer than all else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "SENTENCES", SAMPLE / "none")
        patch.setattr(data, "DOCUMENTED", ())
        patch.setattr(measures, "PROSE_TEXTS", 4)
        patch.setattr(measures, "HIDDEN_TEXTS", 4)
        yield


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Weights of a training as a model folder: (out, folder)."""
    out = tmp_path_factory.mktemp("export")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["export.py", "--data", str(SAMPLE), "--out", str(out), "--weights", str(pack.WEIGHTS), "--name", "six-layers", "--command", "a test"])
        export.main()
    return out, out / "toxicity-en"


@pytest.fixture(scope="module")
def exited(exported, tmp_path_factory):
    """The exported folder with exits before the first layer and after the second. So few rows bound no small risk."""
    out, folder = tmp_path_factory.mktemp("exits"), tmp_path_factory.mktemp("exited") / "toxicity-en"
    shutil.copytree(exported[1], folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exits, "RISK", 0.5)
        patch.setattr(exits, "MISSES", (0.05, 0.1))
        exits.main(["--data", str(SAMPLE), "--folder", str(folder), "--out", str(out), "--layers", "0", "2", "--tokens", "20000", "--epochs", "2"])
    return out, folder


def test_stages_are_the_whole_network(exported, exited):
    one, many = folders.Model(exported[1]), folders.Model(exited[1])
    assert len(many.sessions) == 3
    for text in ("you are a stupid idiot", "thank you for your help. " * 40):
        want, got = one.run(text), many.run(text)
        assert (got.logits == want.logits).all() and (got.token_logits == want.token_logits).all()
    before, after = (network.from_folder(folder).state_dict() for folder in (exported[1], exited[1]))
    assert all((before[name] == after[name]).all() for name in before)


def test_folder_with_exits_has_what_the_manifest_says(exited):
    out, folder = exited
    manifest = json.loads((folder / "manifest.json").read_text())
    variant = manifest["variants"][0]
    assert sorted(manifest["files"]) == ["exit-1.ort", "exit-2.ort", "stage-1.ort", "stage-2.ort", "stage-3.ort", "tokenizer.json"]
    assert {path.name for path in folder.glob("*.ort")} == set(folders.files(variant))
    assert [e["layer"] for e in variant["exits"]] == [0, 2] and variant["file"] == "stage-3.ort"
    assert 0 < variant["risk"]["share"] <= 0.5 and variant["risk"]["rows"] > 0
    losses = [json.loads(line)["loss"] for line in (out / "log.jsonl").read_text().splitlines()]
    assert all(math.isfinite(loss) for loss in losses)


def test_product_leaves_at_exits_and_full_does_not(exported, exited, tmp_path):
    binary, folder = Path(__file__).parents[1] / "bin" / "toxscreen", tmp_path / "toxicity-en"
    shutil.copytree(exited[1], folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    for e in manifest["variants"][0]["exits"]:
        # So small a training is never sure.
        e["doubt"], e["calibration"] = 100, {a: {"knots": [[-9, -9], [9, -1]]} for a in data.ATTRIBUTES}
    folders.write_manifest(folder, manifest)
    texts = [row.text for row in data.split_rows(SAMPLE, "perspective_context", "dev")] + ["thank you"]
    plain, full, early = (systems.Product("model", binary, of, options).results(texts) for of, options in ((exported[1], ("--full",)), (folder, ("--full",)), (folder, ())))
    assert [r["attributes"] for r in full] == [r["attributes"] for r in plain] and not any("exit" in r for r in full)
    assert any(r.get("exit") == 1 for r in early) and not any(r["flagged"] for r in early if "exit" in r)


def test_doubts_are_those_with_which_few_enough_flagged_windows_leave():
    doubt = np.array([-5, -4, -3, -2, -1, 0, 1, 2], float)
    flagged = np.array([0, 0, 1, 0, 1, 0, 1, 1], bool)
    e, thresholds = exits.Exit(1, np.column_stack([np.full((8, 7), -9.0), doubt])), np.zeros(7)
    for missed, left in ((0, 2), (1, 4), (4, 8)):
        exits.allow([e], flagged, missed, ~flagged, 6)
        assert e.leaves(thresholds).sum() == left and (e.leaves(thresholds) & flagged).sum() == missed


def test_a_window_stays_if_the_exit_itself_would_flag_it():
    odds = np.full((3, 7), -9.0)
    odds[1, 2], odds[2, 4] = 0.0, -0.1
    e = exits.Exit(1, np.column_stack([odds, np.full(3, -5.0)]), doubt=-4.0)
    assert e.leaves(np.zeros(7)).tolist() == [True, False, True]


def test_exits_are_refused_without_enough_rows(exited):
    odds = np.zeros((200, 7))
    dev = exits.Opinions(np.arange(200), np.arange(201), odds - 5, np.full((200, 5), -9.0), {}, np.arange(200))
    decisions = exits.Decisions(json.loads((exited[1] / "manifest.json").read_text()))
    e = exits.Exit(1, np.random.default_rng(1).normal(size=(200, 8)))
    with pytest.raises(RuntimeError, match="failed to choose exits"):
        exits.choose([e], dev, np.array(["jigsaw_more"] * 200), decisions, 6)


def test_folder_has_what_the_manifest_says(exported):
    _, folder = exported
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest) == {
        "format", "name", "version", "description", "license", "languages", "provenance", "card", "files", "tokenizer", "variants",
        "inputs", "outputs", "labels", "activation", "spans", "window", "undo_disguise", "calibration", "thresholds", "scales",
    }, "the product refuses unknown keys"
    assert manifest["files"] == {name: folders.sha256(folder / name) for name in ("model.ort", "tokenizer.json")}
    assert [label["attribute"] for label in manifest["labels"]] == 2 * list(data.ATTRIBUTES)
    assert [label.get("scale") for label in manifest["labels"]] == 7 * [None] + 7 * ["perspective"], "the guideline's scale comes first"
    for name in ("README.md", "LICENSE"):
        assert (folder / name).stat().st_size > 0
    session = folders.session(folder / "model.ort")
    assert [i.name for i in session.get_inputs()] == manifest["inputs"]
    assert [o.name for o in session.get_outputs()] == list(manifest["outputs"].values())
    ids = np.full((2, 9), 2000, dtype=np.int64)
    logits, marks = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
    assert (logits.shape, logits.dtype) == ((2, 14), np.float32)
    assert (marks.shape, marks.dtype) == ((2, 9, len(manifest["spans"]["labels"])), np.float32)
    assert np.isfinite(logits).all() and np.isfinite(marks).all()


def test_model_is_fused_and_small(exported):
    counts = [n.op_type for n in onnx.load(exported[0] / "int8.onnx").graph.node]
    assert counts.count("QAttention") == 6 and counts.count("BiasGelu") == 6
    assert (exported[1] / "model.ort").stat().st_size <= 25_000_000


def test_a_text_gets_the_same_in_every_company(exported):
    session = folders.session(exported[1] / "model.ort")
    ids = np.random.default_rng(0).integers(1000, 20000, (5, 13))
    feed = lambda rows: {"input_ids": rows, "attention_mask": np.ones_like(rows)}
    for together, alone in zip(zip(*session.run(None, feed(ids))), (session.run(None, feed(row[None])) for row in ids)):
        for a, b in zip(together, alone):
            assert (a == b[0]).all(), "to the last bit"


def test_tokenizer_neither_cuts_nor_pads(exported):
    tokenizer = json.loads((exported[1] / "tokenizer.json").read_text())
    assert tokenizer["truncation"] is None and tokenizer["padding"] is None


def test_calibration_rises(exported):
    calibration = json.loads((exported[1] / "manifest.json").read_text())["calibration"]
    assert "toxicity" in calibration
    for attribute, entry in calibration.items():
        x, y = np.array(entry["knots"]).T
        assert len(x) >= 2 and (np.diff(x) > 0).all() and (np.diff(y) >= 0).all(), f"{attribute}: {entry}"


def test_a_changed_file_is_refused_until_its_hash_is_written(exported, tmp_path):
    for file in exported[1].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "tokenizer.json").write_bytes((tmp_path / "tokenizer.json").read_bytes() + b"\n")
    with pytest.raises(ValueError, match="tokenizer.json does not have the hash"):
        folders.Model(tmp_path)
    folders.write_manifest(tmp_path, json.loads((tmp_path / "manifest.json").read_text()))
    folders.Model(tmp_path)


def test_evaluate_measures_what_the_folder_has(exported):
    system = systems.Product("model", Path(__file__).parents[1] / "bin" / "toxscreen", exported[1])
    figures = measures.measure(system, measures.Held(SAMPLE, "dev", None, 1)).figures
    assert {"toxic spans: character F1", "civil_spans: toxicity ECE", "madlibs: AUC by toxicity"} <= set(figures)
    assert not any(name.startswith("jigsaw") for name in figures), "figures that were not measured are absent"
    assert all(math.isfinite(figure.value) for figure in figures.values())


def test_texts_in_other_languages_are_measured_by_their_scores():
    root = Path(__file__).parents[1]
    system = systems.Product("model", root / "bin" / "toxscreen", root / "testdata" / "models" / "tiny")
    over = system.score(["Das ist wirklich schön, du idiot", "what a nice garden"]).over["toxicity"]
    assert over.tolist() == [True, False]


def test_no_training_row_is_held_out(tmp_path):
    """The loader drops such rows, and otherwise the check would find them."""
    held_out = data.split_rows(SAMPLE, "civil_spans", "dev")[0]
    for file in SAMPLE.glob("*.jsonl.gz"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    import gzip

    again = {"text": "  " + held_out.text.upper().replace(" ", "  ") + "!!", "split": "train", "severity": 1.0, "sexual_harassment": 0.0}
    with gzip.open(tmp_path / "convabuse.jsonl.gz", "at", encoding="utf-8") as lines:
        lines.write(json.dumps(again) + "\n")
    leaking = [row for row in data.read_source(tmp_path, "convabuse") if row.text == again["text"]]
    assert check_splits.leaks(leaking, tmp_path).total() == 1
    assert check_splits.leaks(data.training_rows(tmp_path), tmp_path).total() == 0


def test_rater_votes_count_a_rater_once():
    spans = [[0, 4, "insult", "1"], [2, 6, "insult", "1"], [0, 2, "other", "2"]]
    votes = data.rater_votes("stupid", spans, raters=2)
    by_name = dict(zip(data.SPAN_ATTRIBUTES, votes.tolist()))
    assert by_name["insult"] == [0.5] * 6
    assert by_name["toxicity"] == [1, 1, 0.5, 0.5, 0.5, 0.5], "toxicity is the union over raters and types"
    assert by_name["threat"] == [0] * 6


def test_disguise_keeps_track_of_every_character():
    text = "You are a stupid fool, they said."
    rng = np.random.default_rng(3)
    changed = 0
    for _ in range(300):
        rewritten, origin = data.disguise(text, rng)
        assert len(rewritten) == len(origin)
        assert origin.min() >= 0 and origin.max() < len(text)
        # Punctuation stays in place; a few blanks are removed where words are joined.
        for i, c in enumerate(text):
            if not c.isalpha():
                assert [rewritten[j] for j in np.flatnonzero(origin == i)] in ([[c]] if c != " " else [[c], []])
        changed += rewritten != text
    assert changed > 250
    assert data.disguise("123 ab", rng)[0] == "123 ab", "there is no word to rewrite"


def test_telling_words_are_the_ones_that_disguise_picks():
    toxic = [data.Row(f"you fool number {i}", "civil_spans", "train", data.labels_of(toxicity=0.9)) for i in range(10)]
    clean = [data.Row(f"you friend number {i}", "civil_spans", "train", data.labels_of(toxicity=0)) for i in range(10)]
    unknown = [data.Row("stupid", "toxic_spans_train", "train", data.labels_of())] * 10
    telling = data.telling_words(toxic + clean + unknown)
    assert telling == {"fool"}
    rng = np.random.default_rng(4)
    kept = {"fool": 0, "friend": 0}
    for _ in range(300):
        rewritten = data.disguise("fool and friend", rng, telling)[0]
        for word in kept:
            kept[word] += word in rewritten
    assert kept["fool"] < 100 < kept["friend"]


def test_grammars_mark_what_they_generate():
    rows = grammars.rows("train", 2000, seed=1)
    assert {row.split for row in rows} == {"train"}
    for row in rows:
        assert "{" not in row.text.replace("{0}", "") and not re.search(r"<\w+:", row.text), row.text
        assert row.votes.shape == (len(data.SPAN_ATTRIBUTES), len(row.text))
        assert not np.isnan(row.labels[0]) and (row.labels[0] >= 0.3 or not np.isnan(row.labels).any()), f"{row.text!r} is harmless in all attributes"
        marked = {a for a, votes in zip(data.SPAN_ATTRIBUTES, row.votes) if votes.any()}
        assert not marked or row.labels[0] > 0.3, f"{row.text!r} has a span and is not toxic"
    assert [row.text for row in rows] == [row.text for row in grammars.rows("train", 2000, seed=1)]


def test_grammars_parse():
    assert grammars.parse("a <insult:fool> < 3 <threat:run>") == ("a fool < 3 run", [(2, 6, "insult"), (11, 14, "threat")])


def test_no_template_is_trained_and_measured():
    for kind in grammars.KINDS:
        splits = {grammars.split_of(template) for template in kind.templates}
        assert "train" in splits, f"{kind.name} is never trained"
    of = {split: {row.text.lower() for row in grammars.rows(split, 3000, seed=1)} for split in ("train", "dev")}
    assert not of["train"] & of["dev"]


def test_distances_are_told_apart_one_by_one_and_then_by_their_logarithm():
    buckets = network.distance_buckets(300, 32)
    assert [int(buckets[100, 100 - d]) for d in (0, 1, 7, 8, 16, 64, 100)] == [0, 1, 7, 8, 10, 14, 15]
    assert [int(buckets[100, 100 + d]) for d in (1, 7, 128, 199)] == [17, 23, 31, 31], "following tokens have separate buckets"


def test_rows_are_disguised_in_shares_of_their_kind():
    rng, tokenizer = np.random.default_rng(6), tokens.tokenizer()
    shares, rewritten = {True: 0.4, False: 0.1}, {}
    for toxic in shares:
        rows = [data.Row("what a fool", "civil_spans", "train", data.labels_of(toxicity=0.9 * toxic))] * 500
        as_written, *_ = tokens.ids_of(rows[:1], tokenizer, rng)
        rewritten[toxic] = np.mean([not np.array_equal(ids, as_written) for ids in tokens.ids_of(rows, tokenizer, rng, {"fool"}, shares)])
    assert rewritten == {toxic: pytest.approx(share, abs=0.05) for toxic, share in shares.items()}


def test_layers_are_kept_evenly():
    model = network.from_base()
    first, last = model.layers[0], model.layers[-1]
    network.shorten(model, 2)
    assert [*model.layers] == [first, last]
    with pytest.raises(ValueError, match="give a number from 1 to 2"):
        network.shorten(model, 3)


def test_the_mean_of_two_runs_lies_between_them(tmp_path):
    for name, value in (("first", 0.0), ("second", 1.0)):
        torch.save({"model": {"w": torch.full((2,), -9.0)}, "average": {"w": torch.full((2,), value)}, "settings": {"run": name}}, tmp_path / name)
    mean = average.mean([(0.25, tmp_path / "first"), (0.75, tmp_path / "second")])
    assert (mean["model"] | mean["average"])["w"].tolist() == [0.75, 0.75]
    assert mean["settings"] == {"run": "second"}
    with pytest.raises(ValueError, match="give shares that sum to 1"):
        average.mean([(0.5, tmp_path / "first")])


def test_a_folder_without_data_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="it should contain jigsaw,"):
        data.training_rows(tmp_path)


def test_sheets_are_collected_once(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "ANNOTATIONS", tmp_path / "annotations.jsonl.gz")
    (tmp_path / "keys.json").write_text('{"ids": ["jigsaw/1", "jigsaw/2", "jigsaw/1"], "flagged": ["jigsaw/2"]}')
    (tmp_path / "000.grades").write_text("0 9 0 9 0 0 0 0\n1 0 0 0 0 0 0 0\n")
    args = argparse.Namespace(sheets=tmp_path, by="somebody")
    annotate.collect(args)
    (tmp_path / "000.grades").write_text("1 3 0 0 0 0 0 0\n")  # corrected
    with pytest.raises(ValueError, match="000.grades: annotations.jsonl.gz has jigsaw/2 and 0 more of its rows by somebody"):
        annotate.collect(args)
    (tmp_path / "000.grades").unlink()
    (tmp_path / "001.grades").write_text("2 7 0 7 0 0 0 0\n")
    annotate.collect(args)
    assert [raw.get("flagged", False) for raw in data.read_file(data.ANNOTATIONS)] == [False, True, False]
    passes = {id: [grades[0] for grades in of] for id, of in data.read_grades(data.ANNOTATIONS).items()}
    assert passes == {"jigsaw/1": [pytest.approx(0.9), pytest.approx(0.7)], "jigsaw/2": [0]}


def test_what_was_read_without_a_line_is_harmless(tmp_path):
    """And what was not read has no grade."""
    (tmp_path / "000.grades").write_text("1 3 0 0 0 0 0 0\nread 0 2\n")
    assert annotate.read_sheet(tmp_path / "000.grades", ["a/0", "a/1", "a/2", "a/3"]) == [("a/0", [0] * 7), ("a/1", [3, 0, 0, 0, 0, 0, 0]), ("a/2", [0] * 7)]
    (tmp_path / "001.grades").write_text("1 11 0 0 0 0 0 0\n")
    with pytest.raises(ValueError, match="grades from 0 to 10"):
        annotate.read_sheet(tmp_path / "001.grades", ["a/0", "a/1"])


def test_windows_are_those_of_the_product():
    """The case of TestDivideBreaksAtSentences in encoder/window_test.go."""
    text = "One two tre. Two two two. Tre tre\ntre tre for. Fiv fiv"
    offsets, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        offsets.append((at, at + len(word)))
        at += len(word)
    assert folders.divide(text, offsets, 7, 3) == [(0, 6, 0, 5), (3, 8, 5, 7), (6, 13, 7, 13)]


def test_length_alone_raises_nothing_and_a_strong_passage_stays():
    """The case of TestCorrection in classifier/spec_test.go."""
    odds = np.array([[-1.0], [1.5], [4.0], [1.5]])
    got = folders.corrected(odds, np.array([20, 20, 20, 1]), slope=0.5, until=3.0)[:, 0]
    assert got == pytest.approx([-1 - 0.5 * math.log(20), 1.5 - 0.25 * math.log(20), 4, 1.5])
    assert folders.highest(folders.Output(np.array([[-3.0], [5.0]], np.float32), np.empty((0, 5)), np.empty((0, 2)))) == [5]


def words(length: int, first: int, source: str, toxicity: float) -> tuple[data.Row, np.ndarray]:
    """A row whose tokens are consecutive numbers, and these."""
    row = data.Row("", source, "train", data.labels_of(**{a: toxicity if a == "toxicity" else 0 for a in data.ATTRIBUTES}))
    return row, np.array([folders.CLS, *range(first, first + length), folders.SEP])


def test_a_mosaic_has_its_text_in_one_piece_among_harmless_ones():
    toxic = [words(10, 5000 + 20 * i, "civil_spans", 0.9) for i in range(200)]
    clean = [words(30, 9000 + 40 * i, "bold_neutral", 0.0) for i in range(200)]
    rows, ids = zip(*toxic, *clean)
    made = mosaics.build(rows, ids, 0.3, 60, np.random.default_rng(1))
    assert len(made) == 400
    longer = [(before, after) for before, after in zip(ids[:200], made) if len(after) != len(before)]
    assert 0.2 < len(longer) / 200 < 0.4
    for before, after in longer:
        text, body = before[1:-1], after[1:-1]
        assert len(body) <= 60 and (after[0], after[-1]) == (folders.CLS, folders.SEP)
        at = list(body).index(text[0])
        assert (body[at : at + 10] == text).all()
        assert (body >= 9000).any()


def test_dropout_drops_its_share_and_keeps_the_mean():
    torch.manual_seed(4)
    dropout = network.Dropout(0.1)
    x = dropout(torch.ones(1003, 1001))
    assert (x == 0).float().mean().item() == pytest.approx(0.1, abs=0.005)
    assert x.mean().item() == pytest.approx(1, abs=0.005)
    assert (dropout.eval()(torch.ones(5)) == 1).all()


def test_documentation_is_prose_without_a_label(monkeypatch):
    monkeypatch.setattr(data, "DOCUMENTED", ("matplotlib",))
    rows = data.read_documentation()
    assert len(rows) > 500 and len({data.key(row.text) for row in rows}) == len(rows)
    assert all(mosaics.is_harmless(row) and 80 <= len(row.text) <= 600 for row in rows)


def test_batches_have_every_window_and_few_shapes():
    """Of the training of names."""
    rng = np.random.default_rng(3)
    windows = [entities.Window(*np.zeros((3, n), np.int64)) for n in rng.integers(3, 129, 9000)]
    made = entities.batches(windows, 4096, rng)
    assert sorted(id(w) for batch in made for w in batch) == sorted(id(w) for w in windows)
    shapes = [tuple(entities.collate(batch)["ids"].shape) for batch in made]
    assert all(texts * tokens <= 4096 for texts, tokens in shapes)
    # One for each length, and one for the rest of each block.
    assert len(set(shapes)) <= 128 / entities.PADDING + 3


def test_names_are_learnt_from_an_earlier_network_where_it_reads_the_same_tokens():
    class Earlier:
        @staticmethod
        def logits(batch):
            return torch.zeros(*batch["ids"].shape, len(entities.LABELS)).index_fill(2, torch.tensor(3), 9.0)

    known, new = (np.array([folders.CLS, token, folders.SEP]) for token in (2000, int(entities.NEW_TOKENS[0])))
    labels = np.array([entities.IGNORED, 1, entities.IGNORED])
    batch = entities.collate([entities.Window(ids, np.zeros(3, np.int64), labels) for ids in (known, new)])
    loss = lambda of_known, of_new: entities.loss_of(torch.stack([torch.eye(len(entities.LABELS))[[of] * batch["ids"].shape[1]] * 9 for of in (of_known, of_new)]), batch, Earlier)
    assert loss(3, 1) < 0.2 < loss(1, 1) and loss(3, 1) < 0.2 < loss(3, 3), "the earlier network says 3, the labels 1"


def test_a_crop_shows_the_telling_word():
    rng = np.random.default_rng(2)
    pieces = ["word"] * 400
    pieces[333] = "fool"
    for _ in range(20):
        at = tokens.crop(pieces, 100, {"fool"}, rng)
        assert at <= 333 < at + 100
    assert {tokens.crop(["word"] * 400, 100, {"fool"}, rng) == 0 for _ in range(50)} == {True, False}


def test_a_text_has_what_any_of_its_tokens_has():
    model = network.from_base().eval()
    with torch.no_grad():
        for part in (model.text_head, model.evidence):
            part.weight.zero_()
            part.bias.fill_(-4.0)
        logits, token_logits = model(torch.full((1, 20), 2000), torch.tensor([[1] * 10 + [0] * 10]))
    assert logits[0].tolist() == pytest.approx([-4 + math.log(11)] * 7, abs=1e-4), "ten tokens and the text as a whole; padding is none"
    assert token_logits.shape == (1, 20, 5)


def test_weights_are_read_back_from_a_folder(exported):
    """To train on from it, and for the network of names to read its embeddings."""
    exact, read = network.from_rounded(pack.WEIGHTS, "six-layers").state_dict(), network.from_folder(exported[1]).state_dict()
    assert {name for name in exact if not name.startswith("perspective_")} == read.keys(), "the guideline's scale"
    for name, weight in read.items():
        scale = exact[name].abs().max().clamp(min=1e-3)
        assert ((exact[name] - weight).abs() / scale).max() < 0.02, f"{name} is rounded to int8, not changed"


def test_a_second_scale_leaves_the_first_as_it_is(exported):
    """Scores on the guideline's scale are to the last bit those of a network that has no other."""
    both = network.from_rounded(pack.WEIGHTS, "six-layers")
    one = network.Classifier(both.config).eval()
    one.load_state_dict({name: weight for name, weight in both.state_dict().items() if not name.startswith("perspective_")})
    ids = torch.tensor([[101, 2017, 10041, 102]])
    with torch.no_grad():
        assert torch.equal(one(ids, torch.ones_like(ids))[0], both(ids, torch.ones_like(ids))[0][:, :7])
    guideline, perspective = folders.Model(exported[1]), folders.Model(exported[1], scale="perspective")
    assert guideline.labels == perspective.labels == list(data.ATTRIBUTES)
    run = [model.run("you are a stupid idiot") for model in (guideline, perspective)]
    assert run[0].logits.shape == run[1].logits.shape == (1, 7) and (run[0].logits != run[1].logits).all()
    assert (run[0].token_logits == run[1].token_logits).all(), "spans have no scale"


def test_linking_keeps_the_share_over_each_level():
    rng = np.random.default_rng(1)
    y = rng.beta(0.5, 2, 5000)
    z = 2 * np.log(y / (1 - y)) - 1 + rng.normal(0, 1, len(y))
    knots = calibrate.link(z, y)
    assert (np.diff(knots, axis=0) > 0).all()
    p = folders.sigmoid(folders.apply_knots(knots, z))
    for level in (0.05, 0.3, 0.5, 0.7, 0.9):
        assert abs((p >= level).mean() - (y >= level).mean()) < 0.002
    assert len(calibrate.link(z, y / 10)) < len(knots), "no knot where no row has such a score"


def test_knots_extend_beyond_their_ends():
    knots = [[-1, -2], [1, 0], [2, 3]]
    assert folders.apply_knots(knots, [-3, -1, 0, 1.5, 4]).tolist() == [-4, -2, -1, 1.5, 9]


def test_calibration_recovers_a_known_curve():
    rng = np.random.default_rng(5)
    z = rng.normal(0, 2, 20000)
    truth = folders.sigmoid(np.where(z < 0, 0.5 * z - 1, 1.5 * z - 1))
    knots = calibrate.fit_knots(z, (rng.random(20000) < truth).astype(float), np.ones(20000))
    assert len(knots) > 2
    assert np.abs(folders.sigmoid(folders.apply_knots(knots, z)) - truth).mean() < 0.01
    few = slice(0, 100)
    assert len(calibrate.fit_knots(z[few], (rng.random(100) < truth[few]).astype(float), np.ones(100))) == 2


def test_character_f1_of_nothing():
    assert calibrate.character_f1(set(), set()) == 1
    assert calibrate.character_f1({1}, set()) == calibrate.character_f1(set(), {1}) == 0
    assert calibrate.character_f1({1, 2}, {2, 3}) == 0.5


def test_spans_are_whole_words_joined_over_blanks():
    text = "a dumb fool, he said"
    offsets = np.array([(0, 1), (2, 4), (4, 6), (7, 11), (11, 12), (13, 15), (16, 20)])
    hot = np.array([-9, -9, 9, 9, -9, -9, -9], np.float32)[:, None]
    output = folders.Output(np.zeros((1, 7)), hot, offsets)
    found = folders.span_characters(text, output, 0, 0.5)
    assert found == set(range(2, 11))

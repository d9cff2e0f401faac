"""The training pipeline from end to end on 287 mild rows (testdata/), and its parts.

    make build && python -m pytest training

Two minutes on two cores; `make test-all` runs it to keep the pipeline working.
"""

import argparse
import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

import annotate
import average
import calibrate
import check_splits
import compare
import data
import exits
import export
import folder as folders
import grammars
import levers
import measures
import model as network
import mosaics
import systems
import train

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
def trained(tmp_path_factory):
    """A tiny model, trained and exported: (out, folder, run)."""
    out = tmp_path_factory.mktemp("train")
    args = train.arguments(["--data", str(SAMPLE), "--out", str(out), "--tokens", "30000", "--batch-tokens", "512", "--log-every", "5"])
    run = train.train(args, data.training_rows(SAMPLE), [])
    folder = out / "toxicity-en"
    export.write_folder(run.averaged(), train.base_tokenizer().to_str(), SAMPLE, out, folder, "a test")
    return out, folder, run


@pytest.fixture(scope="module")
def exited(trained, tmp_path_factory):
    """The trained folder with exits before the first layer and after the second. So few rows bound no small risk."""
    out, folder = tmp_path_factory.mktemp("exits"), tmp_path_factory.mktemp("exited") / "toxicity-en"
    shutil.copytree(trained[1], folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exits, "RISK", 0.5)
        patch.setattr(exits, "MISSES", (0.05, 0.1))
        exits.main(["--data", str(SAMPLE), "--folder", str(folder), "--out", str(out), "--layers", "0", "2", "--tokens", "20000", "--epochs", "2"])
    return out, folder


def test_stages_are_the_whole_network(trained, exited):
    one, many = folders.Model(trained[1]), folders.Model(exited[1])
    assert len(many.sessions) == 3
    for text in ("you are a stupid idiot", "thank you for your help. " * 40):
        want, got = one.run(text), many.run(text)
        assert (got.logits == want.logits).all() and (got.token_logits == want.token_logits).all()
    before, after = (network.from_folder(folder).state_dict() for folder in (trained[1], exited[1]))
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


def test_product_leaves_at_exits_and_full_does_not(trained, exited, tmp_path):
    binary, folder = Path(__file__).parents[1] / "bin" / "toxscreen", tmp_path / "toxicity-en"
    shutil.copytree(exited[1], folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    for e in manifest["variants"][0]["exits"]:
        # So small a training is never sure.
        e["doubt"], e["calibration"] = 100, {a: {"knots": [[-9, -9], [9, -1]]} for a in data.ATTRIBUTES}
    folders.write_manifest(folder, manifest)
    texts = [row.text for row in data.split_rows(SAMPLE, "perspective_context", "dev")] + ["thank you"]
    plain, full, early = (systems.Product("model", binary, of, options).results(texts) for of, options in ((trained[1], ("--full",)), (folder, ("--full",)), (folder, ())))
    assert [r["attributes"] for r in full] == [r["attributes"] for r in plain] and not any("exit" in r for r in full)
    assert any(r.get("exit") == 1 for r in early) and not any(r["flagged"] for r in early if "exit" in r)


def test_doubts_are_those_with_which_few_enough_flagged_windows_leave():
    doubt = np.array([-5, -4, -3, -2, -1, 0, 1, 2], float)
    flagged = np.array([0, 0, 1, 0, 1, 0, 1, 1], bool)
    e = exits.Exit(1, doubt[:, None])
    for missed, left in ((0, 2), (1, 4), (4, 8)):
        exits.allow([e], flagged, missed, ~flagged, 6)
        assert e.leaves().sum() == left and (e.leaves() & flagged).sum() == missed


def test_exits_are_refused_without_enough_rows(exited):
    odds = np.zeros((200, 7))
    dev = exits.Opinions(np.arange(200), np.arange(201), odds - 5, np.full((200, 5), -9.0), {}, np.arange(200))
    decisions = exits.Decisions(json.loads((exited[1] / "manifest.json").read_text()))
    e = exits.Exit(1, np.random.default_rng(1).normal(size=(200, 8)))
    with pytest.raises(RuntimeError, match="failed to choose exits"):
        exits.choose([e], dev, np.array(["jigsaw_more"] * 200), decisions, 6)


def test_loss_goes_down_and_stays_finite(trained):
    lines = [json.loads(line) for line in (trained[0] / "log.jsonl").read_text().splitlines()]
    for loss in ("text_loss", "token_loss"):
        values = [line[loss] for line in lines if loss in line]
        assert all(math.isfinite(v) for v in values)
        assert np.mean(values[-3:]) < np.mean(values[:3]), f"{loss} went from {values[:3]} to {values[-3:]}"


def test_folder_has_what_the_manifest_says(trained):
    _, folder, _ = trained
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest) == {
        "format", "name", "version", "description", "license", "languages", "provenance", "card", "files", "tokenizer", "variants",
        "inputs", "outputs", "labels", "activation", "spans", "window", "undo_disguise", "calibration", "thresholds",
    }, "the product refuses unknown keys"
    assert manifest["files"] == {name: folders.sha256(folder / name) for name in ("model.ort", "tokenizer.json")}
    assert [label["attribute"] for label in manifest["labels"]] == list(data.ATTRIBUTES)
    for name in ("README.md", "LICENSE"):
        assert (folder / name).stat().st_size > 0
    session = folders.session(folder / "model.ort")
    assert [i.name for i in session.get_inputs()] == manifest["inputs"]
    assert [o.name for o in session.get_outputs()] == list(manifest["outputs"].values())
    ids = np.full((2, 9), 2000, dtype=np.int64)
    logits, tokens = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
    assert (logits.shape, logits.dtype) == ((2, 7), np.float32)
    assert (tokens.shape, tokens.dtype) == ((2, 9, len(manifest["spans"]["labels"])), np.float32)
    assert np.isfinite(logits).all() and np.isfinite(tokens).all()


def test_model_is_fused_and_small(trained):
    counts = [n.op_type for n in onnx.load(trained[0] / "int8.onnx").graph.node]
    assert counts.count("QAttention") == 6 and counts.count("BiasGelu") == 6
    assert (trained[1] / "model.ort").stat().st_size <= 25_000_000


def test_a_text_gets_the_same_in_every_company(trained):
    session = folders.session(trained[1] / "model.ort")
    ids = np.random.default_rng(0).integers(1000, 20000, (5, 13))
    feed = lambda rows: {"input_ids": rows, "attention_mask": np.ones_like(rows)}
    for together, alone in zip(zip(*session.run(None, feed(ids))), (session.run(None, feed(row[None])) for row in ids)):
        for a, b in zip(together, alone):
            assert (a == b[0]).all(), "to the last bit"


def test_tokenizer_neither_cuts_nor_pads(trained):
    tokenizer = json.loads((trained[1] / "tokenizer.json").read_text())
    assert tokenizer["truncation"] is None and tokenizer["padding"] is None


def test_calibration_rises(trained):
    calibration = json.loads((trained[1] / "manifest.json").read_text())["calibration"]
    assert "toxicity" in calibration
    for attribute, entry in calibration.items():
        x, y = np.array(entry["knots"]).T
        assert len(x) >= 2 and (np.diff(x) > 0).all() and (np.diff(y) >= 0).all(), f"{attribute}: {entry}"


def test_a_changed_file_is_refused_until_its_hash_is_written(trained, tmp_path):
    for file in trained[1].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "tokenizer.json").write_bytes((tmp_path / "tokenizer.json").read_bytes() + b"\n")
    with pytest.raises(ValueError, match="tokenizer.json does not have the hash"):
        folders.Model(tmp_path)
    folders.write_manifest(tmp_path, json.loads((tmp_path / "manifest.json").read_text()))
    folders.Model(tmp_path)


def test_evaluate_measures_what_the_folder_has(trained):
    system = systems.Product("model", Path(__file__).parents[1] / "bin" / "toxscreen", trained[1])
    figures = measures.measure(system, measures.Held(SAMPLE, "dev", None, 1)).figures
    assert {"toxic spans: character F1", "civil_spans: toxicity ECE", "madlibs: AUC by toxicity"} <= set(figures)
    assert not any(name.startswith("jigsaw") for name in figures), "figures that were not measured are absent"
    assert all(math.isfinite(figure.value) for figure in figures.values())


def test_texts_in_other_languages_are_measured_by_their_scores():
    root = Path(__file__).parents[1]
    system = systems.Product("model", root / "bin" / "toxscreen", root / "testdata" / "models" / "tiny")
    over = system.score(["Das ist wirklich schön, du idiot", "what a nice garden"]).over["toxicity"]
    assert over.tolist() == [True, False]


def test_a_resumed_run_ends_with_the_weights_of_a_straight_one(tmp_path):
    rows = data.training_rows(SAMPLE)

    def run(out: str, *more: str):
        args = train.arguments(["--data", str(SAMPLE), "--out", str(tmp_path / out), "--tokens", "4000", "--batch-tokens", "512", *more])
        return train.train(args, rows, [])

    straight = run("straight")
    with pytest.raises(SystemExit) as stop:
        run("stopped", "--stop-after", str(straight.step // 2))
    assert stop.value.code == 0
    resumed = run("stopped")
    assert resumed.step == straight.step
    for (name, a), b in zip(straight.averaged().state_dict().items(), resumed.averaged().state_dict().values()):
        assert torch.equal(a, b), f"{name} differs by {(a - b).abs().max()}"


def test_a_checkpoint_of_other_settings_is_refused(tmp_path):
    rows = data.training_rows(SAMPLE)
    common = ["--data", str(SAMPLE), "--out", str(tmp_path), "--tokens", "1000"]
    with pytest.raises(SystemExit):
        train.train(train.arguments([*common, "--stop-after", "1"]), rows, [])
    with pytest.raises(ValueError, match="use the same settings or another --out"):
        train.train(train.arguments([*common, "--lr", "0.5"]), rows, [])


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


def test_what_was_not_annotated_has_no_gradient():
    torch.manual_seed(0)
    row = data.Row("a text", "jigsaw", "train", data.labels_of(threat=1))
    batch = train.collate([train.Example(np.array([101, 1037, 3793, 102]), row, None)])
    model, bias = network.from_base().eval(), network.SourceBias()
    text, token = train.losses(model, bias, batch)
    (text + token).backward()
    touched = model.text_head.bias.grad.abs() > 0
    assert touched.tolist() == [a == "threat" for a in data.ATTRIBUTES]
    assert token.item() == 0


def test_the_order_of_harmless_texts_counts_where_scores_are_ranked():
    """The same label has a larger gradient."""
    def pull(source: str) -> float:
        row = data.Row("a text", source, "train", data.labels_of(toxicity=0.01))
        model = network.from_base().eval()
        with torch.no_grad():
            for parameter in model.text_head.parameters():
                parameter.zero_()
            model.text_head.bias.fill_(-8.0)
        text, _ = train.losses(model, network.SourceBias(), train.collate([train.Example(np.array([101, 1037, 3793, 102]), row, None)]))
        text.backward()
        return abs(model.text_head.bias.grad[0].item()) / data.SOURCES[source].weight

    assert data.SOURCES["perspective_rtp"].ranked and not data.SOURCES["civil_spans"].ranked
    assert pull("perspective_rtp") > 5 * pull("civil_spans") > 0


def test_anchored_sources_have_no_bias():
    bias = network.SourceBias()
    torch.nn.init.ones_(bias.bias)
    got = bias(torch.tensor([data.SOURCE_NAMES.index("civil_spans"), data.SOURCE_NAMES.index("jigsaw")]))
    assert got.sum(1).tolist() == [0, len(data.ATTRIBUTES)]


def test_a_cut_source_is_shifted_back_to_its_natural_share():
    rows = [data.Row("a text", "jigsaw", "train", data.labels_of(toxicity=float(i < 250), severe_toxicity=0, threat=0)) for i in range(900)]
    rows += [data.Row("a text", "jigsaw_negatives", "train", data.labels_of(toxicity=0, severe_toxicity=0, threat=0)) for _ in range(100)]
    offsets = data.cut_offsets(rows)
    for source in ("jigsaw", "jigsaw_negatives"):
        gained = offsets[data.SOURCE_NAMES.index(source)]
        assert folders.sigmoid(math.log(0.25 / 0.75) - gained[0]) == pytest.approx(data.NATURAL_SHARES["jigsaw"]["toxicity"])
        assert np.isnan(gained[1:]).all(), "a share of 0 gives no offset, and severe_toxicity has no natural share on the scale"
    assert np.isnan(offsets[data.SOURCE_NAMES.index("civil_spans")]).all()

    bias = network.SourceBias(offsets)
    got = bias(torch.tensor([data.SOURCE_NAMES.index("jigsaw")]))
    assert got[0].tolist() == pytest.approx([offsets[0, 0], 0, 0, 0, 0, 0, 0])
    got.sum().backward()
    assert bias.bias.grad[0].tolist() == [0, 1, 1, 1, 1, 1, 1], "known biases are not learnt"


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


def test_start_takes_the_weights_of_another_run(tmp_path):
    rows = data.training_rows(SAMPLE)
    common = ["--data", str(SAMPLE), "--batch-tokens", "512"]
    first = train.train(train.arguments([*common, "--out", str(tmp_path / "first"), "--tokens", "2000"]), rows, [])
    second = train.Run(train.arguments([*common, "--out", str(tmp_path / "second"), "--start", str(tmp_path / "first" / "checkpoint.pt")]), rows)
    for (name, a), b in zip(first.averaged().state_dict().items(), second.model.state_dict().values()):
        assert torch.equal(a, b), name
    assert torch.equal(first.bias.bias, second.bias.bias)
    assert second.tokens == 0


def test_frozen_layers_stay_as_they_are(tmp_path):
    rows = data.training_rows(SAMPLE)
    args = train.arguments(["--data", str(SAMPLE), "--batch-tokens", "512", "--tokens", "1500", "--out", str(tmp_path), "--frozen", "4"])
    before, after = network.from_base().state_dict(), train.train(args, rows, []).model.state_dict()
    for name, weight in before.items():
        if name.startswith("embeddings.") or name.startswith("layers.") and int(name.split(".")[1]) < 4:
            assert torch.equal(weight, after[name]), name
    assert not torch.equal(before["layers.4.up.weight"], after["layers.4.up.weight"])


def test_distances_are_told_apart_one_by_one_and_then_by_their_logarithm():
    buckets = network.distance_buckets(300, 32)
    assert [int(buckets[100, 100 - d]) for d in (0, 1, 7, 8, 16, 64, 100)] == [0, 1, 7, 8, 10, 14, 15]
    assert [int(buckets[100, 100 + d]) for d in (1, 7, 128, 199)] == [17, 23, 31, 31], "following tokens have separate buckets"


def test_disguise_is_a_more_usual_sight_in_harmless_texts():
    tokenizer, rng = train.base_tokenizer(), np.random.default_rng(6)
    toxic = [data.Row("what a fool", "civil_spans", "train", data.labels_of(toxicity=0.9))] * 500
    clean = [data.Row("what a fool", "civil_spans", "train", data.labels_of(toxicity=0.0))] * 500
    written = len(tokenizer.encode("what a fool").ids)
    rewritten = {}
    for name, rows in (("toxic", toxic), ("clean", clean)):
        examples = train.tokenize(rows, tokenizer, rng, frozenset({"fool"}), train.DISGUISED)
        rewritten[name] = np.mean([len(e.ids) != written for e in examples])
    assert 0 < 1.2 * rewritten["toxic"] < rewritten["clean"] < 0.5


def test_the_mean_of_two_runs_lies_between_them(tmp_path):
    for name, value in (("first", 0.0), ("second", 1.0)):
        torch.save({"model": {"w": torch.full((2,), -9.0)}, "average": {"w": torch.full((2,), value)}, "bias": {}, "settings": {"run": name}}, tmp_path / name)
    mean = average.mean([(0.25, tmp_path / "first"), (0.75, tmp_path / "second")])
    assert (mean["model"] | mean["average"])["w"].tolist() == [0.75, 0.75]
    assert mean["settings"] == {"run": "second"}
    with pytest.raises(ValueError, match="give shares that sum to 1"):
        average.mean([(0.5, tmp_path / "first")])


def test_opinions_go_on_where_they_were_killed(tmp_path):
    rows, model = data.training_rows(SAMPLE)[:130], network.from_base().eval()
    whole = np.array(train.opinions(model, rows, "cpu", tmp_path / "whole"))
    partial = np.array(whole)
    partial[np.argsort([len(row.text) for row in rows])[-30:]] = np.nan  # the longest come last
    np.lib.format.open_memmap(tmp_path / "partial", "w+", np.float32, partial.shape)[:] = np.where(np.isnan(partial), np.nan, 7)
    resumed = np.array(train.opinions(model, rows, "cpu", tmp_path / "partial"))
    assert (resumed == 7).any(), "existing opinions are not recomputed"
    assert np.isfinite(resumed).all() and resumed[resumed != 7] == pytest.approx(whole[resumed != 7])


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


def test_licensed_leaves_out_every_unlicensed_source():
    assert set(train.arguments(["--data", "d", "--out", "o", "--licensed"]).without) == set(data.UNLICENSED)


def test_a_base_and_a_start_are_one_too_many(capsys):
    with pytest.raises(SystemExit):
        train.arguments(["--data", "d", "--out", "o", "--start", "s", "--base", "mpnet"])
    assert "--start continues with the base that it was trained from" in capsys.readouterr().err


def test_a_shorter_model_learns_from_a_teacher(tmp_path):
    rows = data.training_rows(SAMPLE, grammars.rows("train", 20, 1))
    common = ["--data", str(SAMPLE), "--batch-tokens", "512", "--tokens", "2000"]
    train.train(train.arguments([*common, "--out", str(tmp_path / "teacher")]), rows, [])
    teacher = tmp_path / "teacher" / "checkpoint.pt"

    args = train.arguments([*common, "--out", str(tmp_path / "pupil"), "--start", str(teacher), "--teacher", str(teacher), str(teacher), "--layers", "2"])
    pupil = train.train(args, rows, []).averaged()
    assert len(pupil.layers) == 2
    assert len(network.from_checkpoint(tmp_path / "pupil" / "checkpoint.pt").layers) == 2

    with pytest.raises(ValueError, match="give a number from 1 to 2"):
        network.shorten(pupil, 3)

    with torch.no_grad():
        row = next(row for row in rows if np.isnan(row.labels[data.ATTRIBUTES.index("threat")]) and not np.isnan(row.labels[0]) and not data.SOURCES[row.source].anchored)
        ids = torch.tensor([[train.CLS, *train.base_tokenizer().encode(row.text, add_special_tokens=False).ids, train.SEP]])
        said = network.from_checkpoint(teacher)(ids, torch.ones_like(ids))[0].sigmoid()[0]
    unknown = np.isnan(row.labels)
    assert row.taught[unknown] == pytest.approx(said.numpy()[unknown], abs=0.02), "within the precision of bfloat16"
    assert np.isnan(row.taught[~unknown]).all(), "labels decide for attributes that a source with another scale annotated"
    generated = [r for r in rows if r.source == "grammars"]
    assert generated and all(np.isnan(r.taught).all() for r in generated)

    batch = train.collate(train.tokenize([row], train.base_tokenizer(), np.random.default_rng(0)))
    text, _ = train.losses(pupil.eval(), network.SourceBias(), batch)
    text.backward()
    assert pupil.text_head.weight.grad[data.ATTRIBUTES.index("threat")].any(), "the teacher counts if nobody annotated"


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


def words(length: int, first: int, source: str, toxicity: float) -> train.Example:
    """An example whose tokens are consecutive numbers."""
    labels = data.labels_of(**{a: toxicity if a == "toxicity" else 0 for a in data.ATTRIBUTES})
    ids = np.concatenate([[train.CLS], np.arange(first, first + length), [train.SEP]])
    return train.Example(ids, data.Row("", source, "train", labels), np.full((5, length), toxicity, np.float32))


def test_a_mosaic_keeps_the_text_its_labels_and_its_marks():
    toxic = [words(10, 5000 + 20 * i, "civil_spans", 0.9) for i in range(200)]
    clean = [words(30, 9000 + 40 * i, "bold_neutral", 0.0) for i in range(200)]
    made = mosaics.build(toxic + clean, 60, np.random.default_rng(1))
    assert len(made) == 400
    longer = [(before, after) for before, after in zip(toxic, made) if len(after.ids) != len(before.ids)]
    assert 0.2 < len(longer) / 200 < 0.4
    for before, after in longer:
        body, text = after.ids[1:-1], before.ids[1:-1]
        assert len(body) <= 60 and after.targets.shape == (5, len(body))
        at = list(body).index(text[0])
        assert (body[at : at + 10] == text).all(), "in one piece"
        assert (after.targets[:, at : at + 10] == np.float32(0.9)).all()
        harmless = body >= 9000
        assert harmless.any() and (after.targets[:, harmless] == 0).all()
        assert after.row.labels[0] == np.float32(0.9)
        assert any((part[1:-1] == text).all() for part in after.parts if len(part) == len(before.ids))


def test_a_mosaic_should_score_as_its_strongest_part_alone():
    model = network.from_base()
    model.dropout.dropped = 0
    plain, parts = words(5, 2000, "civil_spans", 0.9), [words(n, 1000 * n, "civil_spans", 0.9).ids for n in (6, 13)]
    mosaic = words(40, 9000, "civil_spans", 0.9)
    mosaic.parts = parts
    opinion = train.alone(model, train.collate_parts([plain, mosaic]), 2)
    assert opinion[0].isnan().all(), "not a mosaic"
    with torch.no_grad():
        each = [torch.sigmoid(model(torch.from_numpy(ids)[None], torch.ones(1, len(ids), dtype=torch.int64))[0])[0] for ids in parts]
    assert opinion[1].tolist() == pytest.approx(torch.maximum(*each).tolist(), rel=0.05), "in bfloat16"


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


def test_batches_have_every_text_and_few_shapes():
    rng = np.random.default_rng(3)
    examples = [words(int(n), 2000, "jigsaw", 0.0) for n in rng.integers(1, 127, 9000)]
    made = train.batches(examples, 4096, rng)
    assert sorted(id(e) for batch in made for e in batch) == sorted(id(e) for e in examples)
    shapes = [tuple(train.collate(batch)["ids"].shape) for batch in made]
    assert all(texts * tokens <= 4096 for texts, tokens in shapes)
    # One for each length, and one for the rest of each block.
    assert len(set(shapes)) <= 128 / train.SHAPES + 3


def test_a_crop_shows_the_telling_word():
    rng = np.random.default_rng(2)
    tokens = ["word"] * 400
    tokens[333] = "fool"
    for _ in range(20):
        at = train.crop(tokens, 100, {"fool"}, rng)
        assert at <= 333 < at + 100
    assert {train.crop(["word"] * 400, 100, {"fool"}, rng) == 0 for _ in range(50)} == {True, False}


def test_a_text_has_what_any_of_its_tokens_has():
    model = network.from_base().eval()
    with torch.no_grad():
        for part in (model.text_head, model.evidence):
            part.weight.zero_()
            part.bias.fill_(-4.0)
        logits, tokens = model(torch.full((1, 20), 2000), torch.tensor([[1] * 10 + [0] * 10]))
    assert logits[0].tolist() == pytest.approx([-4 + math.log(11)] * 7, abs=1e-4), "ten tokens and the text as a whole; padding is none"
    assert tokens.shape == (1, 20, 5)


def test_training_goes_on_from_a_shipped_folder(trained):
    _, folder, run = trained
    exact, read = run.averaged().state_dict(), network.from_folder(folder).state_dict()
    assert exact.keys() == read.keys()
    for name, weight in exact.items():
        scale = weight.abs().max().clamp(min=1e-3)
        assert ((weight - read[name]).abs() / scale).max() < 0.02, f"{name} is rounded to int8, not changed"


def test_a_training_is_measured_before_it_is_a_folder(trained):
    _, folder, run = trained
    scores = compare.Network("network", run.averaged()).score(texts := ["You are a fool. " * 60, "A walk in the park."])
    model = folders.Model(folder)
    logits = model.highest(model.run_all(texts))
    assert np.abs(np.stack(list(scores.columns.values()), axis=1) - folders.sigmoid(logits)).max() < 0.1, "windows and tokens are those of the folder"
    figures = compare.figures(run.averaged(), measures.Held(SAMPLE, "dev", 20, 1))
    assert {"civil_spans: mean AUC of five attributes", "hidden abuse: recall kept in 1 kB", "behaviours: threat found at 2 % false alarms"} <= figures.keys()


def test_what_is_left_out_does_not_train(tmp_path, capsys, monkeypatch):
    whole, rest = data.training_rows(SAMPLE), data.training_rows(SAMPLE, without=("civil_spans",))
    assert {row.source for row in whole} - {row.source for row in rest} == {"civil_spans"}
    graded = data.Row("a text", "annotations", "train", data.labels_of(toxicity=1.0), None, id="dynahate/7")
    assert data.names(graded) == {"annotations", "dynahate"}, "a graded text is left out with its source, too"
    assert "sentences_harmless" in data.names(data.Row("a text", "sentences", "train", data.labels_of(toxicity=0.1), None))

    def run(name: str, *arguments: str) -> train.Run:
        return train.train(train.arguments(["--data", str(SAMPLE), "--out", str(tmp_path / name), "--tokens", "2000", *arguments]), whole, [])

    without = run("evidence", "--without", "evidence").averaged()
    assert without.evidence is None
    assert network.from_checkpoint(tmp_path / "evidence" / "checkpoint.pt").evidence is None, "a checkpoint is read as it was trained"
    monkeypatch.setattr(mosaics, "build", None)
    run("mosaics", "--without", "mosaics")
    for wrong, why in ((["--without", "dynahat"], "no part of the training has this name"), (["--start", "x", "--without", "evidence"], "needs a training from the base model")):
        with pytest.raises(SystemExit):
            train.arguments(["--data", str(SAMPLE), "--out", str(tmp_path), *wrong])
        assert why in capsys.readouterr().err


def test_every_lever_is_a_training(tmp_path):
    for name, arguments in levers.RUNS.items():
        args = train.arguments(["--data", str(SAMPLE), "--out", str(tmp_path), *levers.COMMON, *arguments])
        assert args.without or args.seed == 2 or name == "everything"


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

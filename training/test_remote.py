"""A training that runs anywhere from one folder: what is packed is what train.py reads, what labels teach, and that a stopped
run goes on."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.append(str(Path(__file__).parent / "remote"))
import data
import grammars
import measures
import model as weights
import network
import pack
import report
import tokens

SAMPLE = Path(__file__).parent / "testdata"


@pytest.fixture(scope="module", autouse=True)
def small():
    """All that is not in the sample would take longer than all else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "SENTENCES", SAMPLE / "none")
        patch.setattr(data, "DOCUMENTED", ())
        patch.setattr(grammars, "SENTENCES", 100)
        yield


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The sample as a folder, with six layers to begin with."""
    out = tmp_path_factory.mktemp("packed") / "remote"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "HARMLESS", ("madlibs",))  # the sample has no others
        patch.setattr(measures, "read_behaviours", lambda: [{"id": "greetings", "half": "dev", "texts": ["Good morning!"]}])
        patch.setattr(sys, "argv", ["pack.py", "--data", str(SAMPLE), "--out", str(out)])
        pack.main()
    return out


def run(folder: Path, *arguments: str, **how) -> subprocess.Popen:
    """Starts train.py where it lies, without this repository's modules."""
    return subprocess.Popen([sys.executable, "-P", str(folder / "train.py"), "--device", "cpu", *arguments], cwd="/", env=os.environ | {"PYTHONPATH": str(folder)}, text=True, **how)


def row_of(packed: Path, id: str) -> int:
    names = report.Rows(packed)
    return names.at[id]


def test_a_packed_row_is_the_row(packed, rows, train):
    """Its tokens, its labels on the scales of its source, and the marks of its words."""
    row = next(row for row in data.split_rows(SAMPLE, "civil_spans", "train") if row.votes is not None and row.votes.any() and len(row.text) < 200)
    originals = np.flatnonzero(rows.twin < 0)
    i = originals[row_of(packed, row.id)]
    ids = rows.ids[rows.start[i] : rows.start[i] + rows.length[i]]
    assert tokens.tokenizer().decode(ids.tolist()).replace(" ", "")[:20] == "".join(row.text.lower().split())[:20]
    labels, known = train.probability(torch.from_numpy(rows.labels[i]))
    assert torch.allclose(labels[known], torch.from_numpy(np.tile(row.labels, 2))[known], atol=0.5 / train.SCALE + 1e-6)
    assert known.tolist() == np.tile(~np.isnan(row.labels), 2).tolist()
    targets = rows.targets[rows.start[i] : rows.start[i] + rows.length[i]]
    assert targets.max() > 0 and (targets != train.UNKNOWN).all()


def test_rows_that_measure_are_in_no_epoch(rows):
    assert (~rows.train).any()
    assert rows.train[rows.epoch(np.random.default_rng(1), np.ones(len(rows.length), bool))].all()


def test_a_mosaic_has_its_text_whole_among_harmless_ones(rows, train):
    rng = np.random.default_rng(1)
    chosen = rows.epoch(rng, None)
    chunk = train.Chunk(rows, chosen, rng, "cpu", None)
    longer = np.flatnonzero(chunk.length > rows.length[chosen])
    assert len(longer) > 0.1 * len(chosen)
    assert chunk.length.max() <= train.ROOM
    for text in longer[:50]:
        row = chosen[text]
        whole = chunk.ids[chunk.start[text] : chunk.start[text] + chunk.length[text]].tolist()
        part = rows.ids[rows.start[row] : rows.start[row] + rows.length[row]].tolist()
        assert any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


def test_a_tensor_has_a_text_between_its_marks(rows, train):
    chunk = train.Chunk(rows, np.flatnonzero(rows.train)[:20], np.random.default_rng(1), "cpu", None)
    texts = torch.from_numpy(np.flatnonzero(chunk.length > 0)[:5])
    width = int(chunk.length[texts].max()) + 4
    ids, mask, places, real = train.inputs(chunk, texts, width)
    for line, text in enumerate(texts.tolist()):
        length = int(chunk.length[text])
        start = int(chunk.start[text])
        assert ids[line, : length + 2].tolist() == [101, *chunk.ids[start : start + length].tolist(), 102]
        assert mask[line].sum() == length + 2
        assert places[line][real[line]].tolist() == list(range(start, start + length))


def gradient(rows, train, given: dict[int, float], ranked: bool = False) -> torch.Tensor:
    """[14]: that of the text head's bias for a row whose labels are given, by a network that finds it harmless."""
    network_, row = train.Trained("minilm/1", 1, rows, "cpu"), int(np.flatnonzero(rows.train)[0])
    with torch.no_grad():
        network_.model.text_head.weight.zero_()
        network_.model.text_head.bias.fill_(-8.0)
    labels = torch.full((len(rows.train), 14), train.UNKNOWN, dtype=torch.uint8)
    for output, label in given.items():
        labels[row, output] = round(label * train.SCALE)
    sources = len(rows.meta["sources"])
    of_rows = {"source": torch.from_numpy(rows.source.astype(np.int64)), "labels": labels, "ranked": torch.full((sources,), ranked), "weight": torch.ones(sources)}
    chunk = train.Chunk(rows, np.array([row]), np.random.default_rng(1), "cpu", None)
    text, _, _ = train.losses(network_, chunk, of_rows, torch.tensor([0]), int(chunk.length[0]) + 2, None)
    text.backward()
    return network_.model.text_head.bias.grad


def test_what_nobody_annotated_has_no_gradient(rows, train):
    """Threat on the guideline's scale is; threat on Perspective's, as all else, is not."""
    assert gradient(rows, train, {5: 1.0}).nonzero().flatten().tolist() == [5]


def test_the_order_of_harmless_texts_counts_where_scores_are_ranked(rows, train):
    """The same label has a larger gradient."""
    usual, ranked = (abs(gradient(rows, train, {0: 0.012}, ranked)[0].item()) for ranked in (False, True))
    assert ranked > 5 * usual > 0


def test_only_sources_off_the_scale_have_a_bias_and_known_ones_are_not_learnt(train):
    offsets = [None] * 7 + [1.5] + [None] * 6
    biases = train.Biases({"scales": 2, "sources": [{"anchored": True, "offsets": None}, {"anchored": False, "offsets": None}, {"anchored": False, "offsets": offsets}]})
    torch.nn.init.ones_(biases.bias)
    got = biases(torch.arange(3))
    assert got.tolist() == [[0] * 14, [1] * 14, [1] * 7 + [1.5] + [1] * 6]
    got.sum().backward()
    assert biases.bias.grad.sum(1).tolist() == [0, 14, 13]


def test_a_bias_starts_where_opinions_meet_labels(rows, train):
    """A source whose labels are off the scale says how far by itself, wherever a teacher has an opinion of its rows."""
    source = next(s for s, m in enumerate(rows.meta["sources"]) if not m["anchored"] and len(rows.by_source[s]) > 20)
    of = rows.by_source[source]
    output = int(np.flatnonzero((rows.labels[of] != train.UNKNOWN).all(0))[0])
    opinions = np.full((len(rows.labels), 14), np.nan, np.float16)
    opinions[of, output] = np.random.default_rng(1).normal(-2, 1, len(of))
    biases = train.Biases(rows.meta)
    biases.begin(rows, opinions)
    share = torch.sigmoid(torch.from_numpy(opinions[of].astype(np.float32)) + biases(torch.tensor(source)))[:, output].mean()
    assert share.item() == pytest.approx(rows.labels[of, output].mean() / train.SCALE, abs=0.005)
    assert biases.bias.count_nonzero() == 1


def test_a_cut_source_is_shifted_back_to_its_natural_share():
    row = lambda **labels: data.Row("a text", "jigsaw", "train", data.labels_of(severe_toxicity=0, threat=0, **labels))
    by_source = dict.fromkeys(pack.MIX, []) | {"jigsaw": [row(toxicity=float(i < 250)) for i in range(900)], "jigsaw_negatives": [row(toxicity=0)] * 100}
    toxicity, *others = pack.natural_offsets(by_source)["jigsaw"][7:]
    natural = data.NATURAL_SHARES["jigsaw"]["toxicity"]
    assert math.log(0.25 / 0.75) - toxicity == pytest.approx(math.log(natural / (1 - natural)))
    assert others == [None] * 6, "a share of 0 gives no offset, and severe_toxicity has no natural share on the scale"


def test_what_is_left_out_is_not_packed():
    whole, rest = pack.training_rows(SAMPLE, set()), pack.training_rows(SAMPLE, {"civil_spans"})
    assert whole["civil_spans"] and not rest["civil_spans"]
    graded = data.Row("a text", "annotations", "train", data.labels_of(toxicity=1.0), None, id="dynahate/7")
    assert data.names(graded) == {"annotations", "dynahate"}, "a graded text is left out with its source, too"


def test_weights_come_back_rounded_by_rows(tmp_path):
    """In files that a machine with a limit can return; the error is at most half a step."""
    state = {"wide": torch.randn(30_000, 768), "narrow": torch.randn(384, 384), "bias": torch.randn(7)}
    network.save_rounded(state, tmp_path, "weights", {"layers": 1})
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2 and max(file.stat().st_size for file in files) <= 16 << 20
    config, back = network.load_rounded(tmp_path, "weights")
    assert config == {"layers": 1} and torch.equal(back["bias"], state["bias"])
    for name in ("wide", "narrow"):
        step = state[name].abs().amax(1, keepdim=True) / 127
        assert ((back[name] - state[name]).abs() <= 0.51 * step).all()
    files[1].unlink()
    with pytest.raises(FileNotFoundError, match="weights-2.pt is missing"):
        network.load_rounded(tmp_path, "weights")


def test_teacher_and_pupil(packed, tmp_path):
    """The whole run with PyTorch alone: weights of both, opinions of every row, and words in the log."""
    process = run(packed, "--minutes", "0.25", "--out", str(tmp_path), "--teachers", "minilm/1", "--pupils", "minilm/2", "--log-seconds", "1", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    config, state = network.load_rounded(tmp_path, "pupil-1-minilm-2")
    model = network.Classifier(config, scales=2)
    model.load_state_dict(state)
    assert len(model.layers) == 2
    ids = torch.tensor([[101, 2017, 10041, 102]])
    with torch.no_grad():
        ships, both = (m.eval()(ids, torch.ones_like(ids))[0] for m in (weights.from_rounded(tmp_path, "pupil-1-minilm-2"), model))
    assert ships.shape == (1, 14) and torch.allclose(ships, both, atol=1e-5), "both scales ship"
    names = report.Rows(packed)
    teacher, pupil = report.opinions(tmp_path / "teachers.opinions.xz"), report.opinions(tmp_path / "pupil-1-minilm-2.opinions.xz")
    assert teacher.shape == pupil.shape == (len(names.names), 14)
    assert not np.isnan(pupil[names.at["behaviours/greetings/0"]]).any()
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert {line["network"] for line in log} == {"teacher-1-minilm-1", "pupil-1-minilm-2"}


def test_embeddings_can_be_kept(packed, tmp_path):
    """Bit for bit, so that the network of names can go on reading them; the layers above them learn."""
    _, before = network.load_rounded(packed, "base-minilm")
    process = run(packed, "--minutes", "0.05", "--out", str(tmp_path), "--teachers", "--pupils", "minilm/1", "--keep-embeddings", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    _, after = network.load_rounded(tmp_path, "pupil-1-minilm-1")
    same = {name for name in after if torch.equal(before.get(name, torch.empty(0)), after[name])}
    assert {name for name in after if name.startswith("embeddings.")} <= same
    assert "layers.0.norm.weight" in after and "layers.0.norm.weight" not in same


def test_a_killed_run_goes_on(packed, tmp_path):
    process = run(packed, "--minutes", "10", "--out", str(tmp_path), "--teachers", "--pupils", "minilm/1", "--checkpoint-seconds", "0.2", stdout=subprocess.DEVNULL)
    checkpoint = tmp_path / "pupil-1-minilm-1.checkpoint"
    until = time.monotonic() + 120
    while not checkpoint.exists():
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    again = run(packed, "--minutes", "0.02", "--out", str(tmp_path), "--teachers", "--pupils", "minilm/1", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out, _ = again.communicate(timeout=300)
    assert again.returncode == 0, out
    assert "continues at step" in out and not checkpoint.exists()


def test_tokens_of_their_own():
    """An abbreviation is one token, an emoji stands alone, and rare emoji share the token of their subgroup."""
    encode = lambda text: tokens.tokenizer().encode(text, add_special_tokens=False)
    assert encode("just KYS already").tokens == ["just", "kys", "already"]
    assert encode("idiot🖕🏿!").tokens == ["idiot", "🖕", "🏿", "!"]
    assert encode("🖕").ids != encode("👍").ids
    assert encode("🐏").ids == encode("🐪").ids
    assert len(set(encode("❤️").ids + encode("❤").ids)) == 1
    assert max(tokens.starts()) < 999 and set(tokens.starts()).isdisjoint(range(100, 104))

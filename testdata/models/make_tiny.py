"""Makes tiny/, tiny-exits/, tiny-scales/ and tiny-no-spans/: models in toxscreen's own format with known answers.

    python testdata/models/make_tiny.py

Needs onnx, numpy and tokenizers (scripts/make/tiny-models/requirements.txt); the files are the same
on every run. No weight is learned. Each token has a row of features; a text's logit for a label is
the highest among its tokens plus a little of their mean, so that every token moves every score and
an unmasked padding token is detected. The token head is the same row alone plus the
same mean. Only the words below score.
"""

import hashlib
import json
import pathlib

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

HERE = pathlib.Path(__file__).parent
LABELS = ["toxicity", "severe_toxicity", "insult", "profanity", "identity_attack", "threat", "sexually_explicit"]
SPAN_LABELS = ["toxicity", "insult", "profanity", "identity_attack", "threat"]
REST = -6.0  # the logit of a text without scoring words
LIFT = 2.0  # how much higher the logits of the second scale are

# What a word adds to the logit, by label. Alone, "stupid" and "idiot" score 0.88 for toxicity.
WORDS = {
    "stupid": {"toxicity": 8, "insult": 9, "severe_toxicity": 2},
    "idiot": {"toxicity": 8, "insult": 10, "severe_toxicity": 3},
    "silly": {"toxicity": 5.5, "insult": 6},  # about one in three: neither clean nor flagged
    "damn": {"toxicity": 7, "profanity": 10},
    "kill": {"toxicity": 9, "severe_toxicity": 7, "threat": 11},
    "barbarians": {"toxicity": 8, "insult": 7, "identity_attack": 9},
    "sex": {"toxicity": 3, "sexually_explicit": 9},
}
NEUTRAL = """the a an and or of to in is are was you your i we they he she it this that my not very much
today garden tomato soup bread weather sun rain walk dog cat house book read write good nice thank thanks
please help think like love friend people day night morning time work play music song water tea plan talk
page article edit source user comment long text sentence window one two three four five six seven eight""".split()
PIECES = ["##s", "##ed", "##ing", "##ity", "##ly", "##er", "##st"]


def vocabulary():
    characters = [chr(c) for c in range(33, 127) if not chr(c).isupper()]
    letters = [c for c in characters if c.isalnum()]
    return (["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + characters + [f"##{c}" for c in letters]
            + PIECES + list(WORDS) + [w for w in NEUTRAL if len(w) > 1])


def tokenizer(vocab):
    t = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocab.index("[CLS]")), ("[SEP]", vocab.index("[SEP]"))])
    t.decoder = decoders.WordPiece()
    t.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return t


def features(vocab):
    """float32 [tokens of the vocabulary, labels]: what a token adds to a logit."""
    rng = np.random.default_rng(1)
    table = rng.uniform(-0.25, 0.25, (len(vocab), len(LABELS)))
    # Rows far from the others, so that a padding token that is read as text is detected.
    table[vocab.index("[PAD]")] = 20
    table[[vocab.index("[CLS]"), vocab.index("[SEP]")]] = 0
    for word, weights in WORDS.items():
        for label, weight in weights.items():
            table[vocab.index(word), LABELS.index(label)] = weight
    return table.astype(np.float32)


def graph(vocab, labels, span_labels, with_types, scaled):
    """A network from int64 [texts, tokens] to logits [texts, labels] and, with span labels, token_logits
    [texts, tokens, span labels]. A label outside LABELS always gets the logit 0. scaled adds as many columns to
    logits, those of a second scale, which are higher by LIFT."""
    columns = np.zeros((len(LABELS), len(labels)), np.float32)
    for i, label in enumerate(labels):
        if label in LABELS:
            columns[LABELS.index(label), i] = 1
    rest = np.array([REST if label in LABELS else 0 for label in labels], np.float32)
    weights = {
        "table": features(vocab), "columns": columns, "rest": rest,
        "share": np.float32(0.05), "one": np.float32(1), "far": np.float32(-1e4),
        "axis_tokens": np.array([1], np.int64), "axis_last": np.array([2], np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),  # [texts, tokens, LABELS]
        helper.make_node("Cast", ["attention_mask"], ["mask_flat"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask_flat", "axis_last"], ["mask"]),
        helper.make_node("Mul", ["rows", "mask"], ["rows_real"]),
        helper.make_node("ReduceSum", ["rows_real", "axis_tokens"], ["sum"], keepdims=1),
        helper.make_node("ReduceSum", ["mask", "axis_tokens"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),  # [texts, 1, LABELS]
        helper.make_node("Mul", ["mean", "share"], ["context"]),
        helper.make_node("Sub", ["one", "mask"], ["masked"]),
        helper.make_node("Mul", ["masked", "far"], ["penalty"]),
        helper.make_node("Add", ["rows_real", "penalty"], ["rows_max"]),
        helper.make_node("ReduceMax", ["rows_max"], ["highest"], axes=[1], keepdims=1),
        helper.make_node("Add", ["highest", "context"], ["pooled"]),
        helper.make_node("Squeeze", ["pooled", "axis_tokens"], ["pooled_flat"]),
        helper.make_node("MatMul", ["pooled_flat", "columns"], ["picked"]),
        helper.make_node("Add", ["picked", "rest"], ["logits"]),
    ]
    if scaled:
        weights["lift"] = np.float32(LIFT)
        nodes[-1] = helper.make_node("Add", ["picked", "rest"], ["plain"])
        nodes += [helper.make_node("Add", ["plain", "lift"], ["lifted"]), helper.make_node("Concat", ["plain", "lifted"], ["logits"], axis=1)]
    inputs = ["input_ids", "attention_mask"]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", len(labels) * (1 + scaled)])]
    if span_labels:
        weights["span_columns"] = np.eye(len(LABELS), dtype=np.float32)[:, [LABELS.index(l) for l in span_labels]]
        weights["span_rest"] = np.float32(REST)
        nodes += [
            helper.make_node("Add", ["rows", "context"], ["rows_context"]),
            helper.make_node("MatMul", ["rows_context", "span_columns"], ["span_picked"]),
            helper.make_node("Add", ["span_picked", "span_rest"], ["token_logits"]),
        ]
        outputs.append(helper.make_tensor_value_info("token_logits", TensorProto.FLOAT, ["texts", "tokens", len(span_labels)]))
    if with_types:
        # Token types other than 0 change every score strongly: a single text has only type 0.
        inputs.append("token_type_ids")
        nodes[0] = helper.make_node("Gather", ["table", "input_ids"], ["rows_untyped"])
        nodes[1:1] = [
            helper.make_node("Cast", ["token_type_ids"], ["types_flat"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["types_flat", "axis_last"], ["types"]),
            helper.make_node("Mul", ["types", "far"], ["types_penalty"]),
            helper.make_node("Add", ["rows_untyped", "types_penalty"], ["rows"]),
        ]
    model = helper.make_model(
        helper.make_graph(
            nodes, "tiny",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
            outputs, [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()]),
        opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="make_tiny.py")
    checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True), inputs


def stages(onnx):
    """tiny's network in three stages, and two exits, in the order stage, exit, stage, exit, stage. hidden_1 and hidden_2 are the
    tokens' rows. Both exits say what the highest row says, without the mean; their doubt is the highest of these logits."""
    whole = ModelProto.FromString(onnx)
    nodes, weights = {node.output[0]: node for node in whole.graph.node}, {w.name: w for w in whole.graph.initializer}
    masking = ["mask_flat", "mask", "masked", "penalty"]
    ids, mask = whole.graph.input
    columns = len(LABELS)
    hidden = lambda n: helper.make_tensor_value_info(f"hidden_{n}", TensorProto.FLOAT, ["texts", "tokens", columns])

    def exit_(n):
        made = [*(nodes[name] for name in masking),
                helper.make_node("Add", [f"hidden_{n}", "penalty"], ["exit_rows"]),
                helper.make_node("ReduceMax", ["exit_rows"], ["exit_highest"], axes=[1], keepdims=0),
                helper.make_node("Add", ["exit_highest", "rest"], ["exit_logits"]),
                helper.make_node("ReduceMax", ["exit_logits"], ["exit_doubt"], axes=[1], keepdims=1),
                helper.make_node("Concat", ["exit_logits", "exit_doubt"], [f"exit_{n}"], axis=1)]
        return part(made, [hidden(n), mask], [helper.make_tensor_value_info(f"exit_{n}", TensorProto.FLOAT, ["texts", columns + 1])])

    def part(made, inputs, outputs):
        needed = {name for node in made for name in node.input}
        model = helper.make_model(
            helper.make_graph(made, "tiny", inputs, outputs, [w for name, w in weights.items() if name in needed]),
            opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="make_tiny.py")
        checker.check_model(model, full_check=True)
        return model.SerializeToString(deterministic=True)

    rest = []
    for node in whole.graph.node:
        if node.output[0] not in ("rows", "rows_real"):
            again = NodeProto.FromString(node.SerializeToString())
            again.input[:] = ["hidden_2" if name in ("rows", "rows_real") else name for name in again.input]
            rest.append(again)
    return [
        part([nodes["rows"], helper.make_node("Identity", ["rows"], ["passed"]), helper.make_node("Cast", ["attention_mask"], ["mask_flat"], to=TensorProto.FLOAT),
              nodes["mask"], helper.make_node("Mul", ["passed", "mask"], ["hidden_1"])], [ids, mask], [hidden(1)]),
        exit_(1),
        part([nodes["mask_flat"], nodes["mask"], helper.make_node("Mul", ["hidden_1", "mask"], ["hidden_2"])], [hidden(1), mask], [hidden(2)]),
        exit_(2),
        part(rest, [hidden(2), mask], list(whole.graph.output)),
    ]


# The highest doubt at each exit: texts of few words leave at the first, harmless ones at the second.
DOUBTS = {1: -5.8, 2: -3}


def attribute_labels(names):
    return [{"name": n, "attribute": n} if n in LABELS else {"name": n} for n in names]


def write(name, description, labels, span_labels, with_types, calibration, doubts=(), scaled=False):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    vocab = vocabulary()
    onnx, inputs = graph(vocab, labels, span_labels, with_types, scaled)
    exits = [{"stage": f"stage-{n}.onnx", "file": f"exit-{n}.onnx", "layer": n, "output": f"exit_{n}", "hidden": f"hidden_{n}", "width": len(LABELS), "doubt": doubts[n]} for n in doubts]
    files = [*(e[key] for e in exits for key in ("stage", "file")), "model.onnx"]
    for file, stage in zip(files, stages(onnx) if doubts else [onnx]):
        (folder / file).write_bytes(stage)
    (folder / "tokenizer.json").write_text(tokenizer(vocab).to_str(pretty=False) + "\n", encoding="utf-8")
    manifest = {
        "format": 1, "name": name, "version": "1.0.0",
        "description": description,
        "license": "Apache-2.0", "languages": ["en"],
        "provenance": {"command": "python testdata/models/make_tiny.py", "notes": "weights set by hand; for tests only"},
        "files": {f: "sha256:" + hashlib.sha256((folder / f).read_bytes()).hexdigest() for f in (*files, "tokenizer.json")},
        "tokenizer": "tokenizer.json",
        "variants": [
            {"provider": "cpu", "file": "model.onnx", "precision": "fp32", "batching": "single"},
            {"provider": "cuda", "file": "model.onnx", "precision": "fp32", "batching": "padded"},
        ],
        "inputs": inputs,
        "outputs": {"scores": "logits"},
        "labels": attribute_labels(labels),
        "activation": "sigmoid",
        "window": {"tokens": 32, "overlap": 8, "correction": {"slope": 0.25, "until": 3}},
        "thresholds": {l: 0.5 for l in LABELS},
    }
    if exits:
        for variant in manifest["variants"]:
            variant["exits"] = exits
        manifest["sensitivity"] = {"low": {l: 0.9 for l in LABELS}, "high": {l: 0.3 for l in LABELS}}
    if span_labels:
        manifest["undo_disguise"] = True
        manifest["outputs"]["tokens"] = "token_logits"
        manifest["spans"] = {"labels": attribute_labels(span_labels), "threshold": 0.5}
    if calibration:
        manifest["calibration"] = calibration
    if scaled:
        manifest["labels"] += [{"name": f"perspective {l}", "attribute": l, "scale": "perspective"} for l in labels]
        # Halves the log-odds of toxicity: alone, "silly" has 0.68 and "idiot" 0.88.
        manifest["scales"] = {"perspective": {"calibration": {"toxicity": {"knots": [[-4, -2], [4, 2]]}}, "thresholds": {l: 0.7 for l in LABELS}}}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    print(name, {f.name: f.stat().st_size for f in sorted(folder.iterdir())})


write("tiny", "A lookup table with a token head, for tests.", LABELS, SPAN_LABELS, False, None)
write("tiny-exits", "A lookup table with a token head and two exits, for tests.", LABELS, SPAN_LABELS, False, None, DOUBTS)
write("tiny-scales", "A lookup table with a token head, two exits and two scales, for tests.", LABELS, SPAN_LABELS, False, None, DOUBTS, True)
# What other models may have: columns in another order, one that is not an attribute, token types, no
# token head, and a calibration (Platt scaling for toxicity, a bend for insult).
write("tiny-no-spans", "A lookup table without a token head, for tests.",
      ["threat", "insult", "spam", "toxicity", "sexually_explicit", "profanity", "severe_toxicity", "identity_attack"], [], True,
      {"toxicity": {"knots": [[-6, -5], [4, 3]]}, "insult": {"knots": [[-6, -6], [0, -1], [4, 4]]}})

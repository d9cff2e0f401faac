"""Makes sequence classifiers of real architectures with random weights, in folders as Hugging Face
exports them, to test `toxscreen model import`.

    pip install -r scripts/make/tiny-models/requirements.txt
    python scripts/make/tiny-models/make.py testdata/models          # hidden size 32, 2 layers; committed
    python scripts/make/tiny-models/make.py --full build/full-models # the size of BERT-base: 350 to 430 MB each

The architectures and tokenizers are the real ones of transformers (BERT with WordPiece, RoBERTa with
byte-level BPE, XLM-R with Unigram), and --full has the real shape: hidden size 768, 12 layers, 12 heads.
Only the vocabularies are small, since they are trained on the few sentences below. They differ slightly
between runs, because the trainers break ties at random. The weights are drawn from a fixed seed and
mean nothing. expected.json has, for each ONNX file and text, the ids of transformers' tokenizer and the
logits of onnxruntime for them, after a check that they equal torch's.
"""

import argparse
import io
import json
import logging
import pathlib
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime
import sentencepiece
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from tokenizers.normalizers import BertNormalizer
from transformers import (
    BertConfig, BertForSequenceClassification, BertTokenizer, RobertaConfig, RobertaForSequenceClassification,
    RobertaTokenizer, XLMRobertaConfig, XLMRobertaForSequenceClassification, XLMRobertaTokenizer,
)

SENTENCES = """The weather is nice today and the garden is full of tomatoes.
You are welcome to write to me whenever you like.
Please read the article again before you edit it.
I think that the second paragraph needs a better source.
Thank you for your help with the translation!
We walked the dog along the river until it began to rain.
What time does the train to the city leave?
She has played the violin since she was seven years old.
The meeting was moved from Monday to Wednesday morning.
This soup would be even better with fresh bread.
They repaired the old bicycle and painted it blue.
Could somebody explain how the new settings work?
Das Wetter ist heute schön, und der Garten ist grün.
Le train de huit heures est arrivé à la gare.
Ella escribe una carta larga a su abuela en España.
Она читает книгу в саду.
今天天气很好。
The café near the library opens at nine.
Nobody answered the question about the missing key.
Their neighbours brought cake, coffee and a lot of stories.""".split("\n")

# The texts to score: known and unknown words, capitals, accents, digits, other scripts, emoji, unusual
# blanks, compatibility characters, an empty text.
TEXTS = [
    "The weather is nice today.",
    "You are a very strange gardener!",
    "thank you",
    "THANK YOU",
    "Could somebody explain how the new settings work?  I tried 27 times…",
    "Das Wetter ist heute schön; où est la gare?",
    "Она читает книгу, 今天天气很好。",
    "naïve café, ＦＵＬＬ width, ﬁne print, №5",
    "tabs\tand\nlines \u00a0 and   blanks ",
    "smile 🙂 and 👩‍👩‍👧 wave",
    "",
    " ".join(SENTENCES[:4]),
]

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]

# A small substitute for sentencepiece's normalisation table, which is 300 kB: some of its rules, in
# the same compiled form. --full uses the real one.
FEW_RULES = {"ﬁ": "fi", "ﬂ": "fl", "№": "No", "…": "...", "\u00a0": " ", "\t": " ", "\n": " ", "a\u0300": "à", "e\u0301": "é"}
FEW_RULES |= {chr(0xFF01 + i): chr(0x21 + i) for i in range(94)}  # full-width forms


def bert_tokenizer(window):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(SENTENCES, trainers.WordPieceTrainer(
        vocab_size=500, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    vocab = {w: i for i, w in enumerate(sorted(t.get_vocab(), key=t.get_vocab().get))}
    return BertTokenizer(vocab=vocab, model_max_length=window)


def roberta_tokenizer(window):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(SENTENCES, trainers.BpeTrainer(
        vocab_size=600, special_tokens=SPECIAL, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    trained = json.loads(t.to_str())["model"]
    return RobertaTokenizer(vocab=trained["vocab"], merges=[tuple(m) for m in trained["merges"]], model_max_length=window)


def xlm_roberta_tokenizer(window, full):
    with tempfile.TemporaryDirectory() as temp:
        rules = {"normalization_rule_name": "nmt_nfkc"}
        if not full:
            table = pathlib.Path(temp) / "rules.tsv"
            hexadecimal = lambda text: " ".join(f"{ord(c):X}" for c in text)
            table.write_text("".join(f"{hexadecimal(a)}\t{hexadecimal(b)}\n" for a, b in FEW_RULES.items()))
            rules = {"normalization_rule_tsv": str(table)}
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES), model_writer=out, model_type="unigram", vocab_size=300, hard_vocab_limit=False,
            character_coverage=1.0, minloglevel=2, **rules)
    proto = sentencepiece_model_pb2.ModelProto.FromString(out.getvalue())
    # fairseq's order of ids, as in XLM-R: its special tokens first, <mask> last.
    pieces = [(p.piece, p.score) for p in proto.pieces if p.type == p.NORMAL]
    vocab = [(token, 0.0) for token in SPECIAL[:4]] + pieces + [("<mask>", 0.0)]
    return XLMRobertaTokenizer(vocab=vocab, model_max_length=window,
                               _spm_precompiled_charsmap=proto.normalizer_spec.precompiled_charsmap)


TOXIC_BERT = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]
UNBIASED = ["toxicity", "severe_toxicity", "obscene", "identity_attack", "insult", "threat", "sexual_explicit",
            "male", "female", "homosexual_gay_or_lesbian", "christian", "jewish", "muslim", "black", "white",
            "psychiatric_or_mental_illness"]


def build(kind, full):
    """The tokenizer and the model, in evaluation mode, of one architecture."""
    torch.manual_seed(20261121)
    size = dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072)
    if not full:
        # Weights far larger than usual, so that the logits of this small model differ between texts.
        size = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, initializer_range=0.4)
    window = 512 if full else 128
    # RoBERTa counts positions from 2: its table has two rows that no token uses.
    offset = dict(max_position_embeddings=window + 2, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2)
    labels = lambda names, problem: dict(
        id2label=dict(enumerate(names)), label2id={n: i for i, n in enumerate(names)}, problem_type=problem)
    if kind == "bert":
        tokenizer = bert_tokenizer(window)
        config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=window, **size,
                            **labels(TOXIC_BERT, "multi_label_classification"))
        model = BertForSequenceClassification
    elif kind == "roberta":
        tokenizer = roberta_tokenizer(window)
        config = RobertaConfig(vocab_size=len(tokenizer), **offset, **size, **labels(UNBIASED, None))
        model = RobertaForSequenceClassification
    else:
        tokenizer = xlm_roberta_tokenizer(window, full)
        config = XLMRobertaConfig(vocab_size=len(tokenizer), **offset, **size,
                                  **labels(["LABEL_0", "LABEL_1"], "single_label_classification"))
        model = XLMRobertaForSequenceClassification
    config._attn_implementation = "eager"  # plain operators, as exporters use
    return tokenizer, model(config).eval()


class Logits(torch.nn.Module):
    """The model with input tensors in the order of names and one output tensor."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs))).logits


def export(model, inputs, path):
    names = list(inputs)
    axes = {name: {0: "batch_size", 1: "sequence_length"} for name in names} | {"logits": {0: "batch_size"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns about shapes asserted in the model
        torch.onnx.export(Logits(model, names).eval(), tuple(inputs.values()), path, input_names=names, output_names=["logits"],
                          dynamic_axes=axes, opset_version=17, do_constant_folding=True, dynamo=False)
    onnx.checker.check_model(path)


def make(kind, folder, full):
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer, model = build(kind, full)
    model.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    names = ["input_ids", "attention_mask"] + (["token_type_ids"] if kind == "bert" else [])
    encode = lambda texts: {n: v for n, v in tokenizer(texts, padding=True, return_tensors="pt",
                                                       return_token_type_ids=kind == "bert").items() if n in names}
    # BERT in the layout of a Hugging Face repository, the others in optimum's.
    files = [folder / "onnx" / "model.onnx"] if kind == "bert" else [folder / "model.onnx"]
    files[0].parent.mkdir(exist_ok=True)
    export(model, encode(TEXTS[:3]), str(files[0]))
    if kind == "bert":
        files.append(folder / "onnx" / "model_quantized.onnx")
        quantize_dynamic(files[0], files[1], weight_type=QuantType.QInt8)
    expected = {}
    for file in files:
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        rows = expected[file.relative_to(folder).as_posix()] = []
        for text in TEXTS:
            inputs = encode([text])
            logits = session.run(["logits"], {n: v.numpy() for n, v in inputs.items()})[0][0]
            if file == files[0]:
                with torch.no_grad():
                    np.testing.assert_allclose(logits, model(**inputs).logits[0].numpy(), atol=1e-4)
            rows.append({"text": text, "ids": inputs["input_ids"][0].tolist(), "logits": [round(float(z), 6) for z in logits]})
        spread = np.ptp([row["logits"] for row in rows], axis=0)
        assert spread.min() > 0.02, f"{file}: the logits hardly differ between texts: {spread}"
    lines = [f"{json.dumps(file)}: [\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]" for file, rows in expected.items()]
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(folder, f"{sum(f.stat().st_size for f in folder.rglob('*') if f.is_file()):,} bytes,",
          f"{sum(p.numel() for p in model.parameters()):,} weights")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out", type=pathlib.Path, help="where to create the folders hub-bert, hub-roberta and hub-xlm-roberta")
    parser.add_argument("--full", action="store_true", help="the size of BERT-base")
    args = parser.parse_args()
    logging.getLogger().setLevel(logging.ERROR)  # quantize_dynamic recommends a step that has no effect here
    torch.set_num_threads(2)
    for kind in ("bert", "roberta", "xlm-roberta"):
        make(kind, args.out / f"hub-{kind}", args.full)


if __name__ == "__main__":
    main()

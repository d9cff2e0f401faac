"""Divides a network's graph into stages and joins them again.

A stage is a part of the graph in a file of its own. It passes the hidden states of a layer on to the next stage, and to an exit,
which is a network of its own.
"""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

import onnx
import onnxruntime
from onnx import TensorProto, helper

import folder as folders

MASK = "attention_mask"
WIDTH = 384  # of the hidden states


def hidden(layer: int) -> str:
    """The tensor that a stage passes on after a number of layers."""
    return f"hidden_{layer}"


def read(path: Path) -> onnx.ModelProto:
    """A file in ONNX Runtime's format as ONNX, node by node."""
    with tempfile.TemporaryDirectory() as scratch:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.optimized_model_filepath = str(Path(scratch) / "model.onnx")
        options.add_session_config_entry("session.save_model_format", "ONNX")
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return onnx.load(options.optimized_model_filepath)


def whole(folder: Path) -> onnx.ModelProto:
    """The network of a model folder for the CPU, without its exits."""
    variants = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["variants"]
    names = folders.stages(next(v for v in variants if v["provider"] == "cpu"))
    return join([read(folder / name) for name in names])


def rename(graph: onnx.GraphProto, names: dict[str, str]):
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in (*graph.initializer, *graph.input, *graph.output):
        value.name = names.get(value.name, value.name)


def part(model: onnx.ModelProto, inputs: Iterable[str], outputs: list[str]) -> onnx.ModelProto:
    """The nodes between tensors. Inputs that none of them needs are inputs all the same: every stage takes the same."""
    graph, inputs = model.graph, list(inputs)
    makers = {name: i for i, node in enumerate(graph.node) for name in node.output}
    kept, needed, seen = set(), list(outputs), set(inputs)
    while needed:
        name = needed.pop()
        if name not in seen and name in makers:
            kept.add(makers[name])
            needed.extend(graph.node[makers[name]].input)
        seen.add(name)
    nodes = [node for i, node in enumerate(graph.node) if i in kept]
    used = {name for node in nodes for name in node.input}
    known = {value.name: value for value in (*graph.input, *graph.output)}
    floats = lambda name: known.get(name) or helper.make_tensor_value_info(name, TensorProto.FLOAT, ["texts", "tokens", WIDTH])
    out = onnx.ModelProto()
    out.CopyFrom(model)
    del out.graph.node[:], out.graph.initializer[:], out.graph.input[:], out.graph.output[:], out.graph.value_info[:]
    out.graph.node.extend(nodes)
    out.graph.initializer.extend(i for i in graph.initializer if i.name in used)
    out.graph.input.extend(floats(name) for name in inputs)
    out.graph.output.extend(floats(name) for name in outputs)
    return out


def count(model: onnx.ModelProto) -> int:
    """The number of the network's layers."""
    return sum(node.name.endswith("/norm/LayerNormalization") and node.name.startswith("/layers.") for node in model.graph.node)


def states(layer: int) -> str:
    """The exported name of the hidden states after a layer; of the embeddings for 0."""
    return "/embeddings/norm/LayerNormalization_output_0" if layer == 0 else f"/layers.{layer - 1}/norm/LayerNormalization_output_0"


def named(model: onnx.ModelProto, layers: list[int]) -> onnx.ModelProto:
    """A copy, with the hidden states of the layers named by hidden()."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    rename(whole.graph, {states(layer): hidden(layer) for layer in layers})
    return whole


def tapped(model: onnx.ModelProto, layers: list[int]) -> onnx.ModelProto:
    """The network that also returns the hidden states of layers."""
    whole = named(model, layers)
    whole.graph.output.extend(helper.make_tensor_value_info(hidden(layer), TensorProto.FLOAT, ["texts", "tokens", WIDTH]) for layer in layers)
    return whole


def split(model: onnx.ModelProto, layers: list[int]) -> list[onnx.ModelProto]:
    """The parts of a network up to each of the layers, and the rest."""
    whole = named(model, layers)
    before = ["input_ids", MASK]
    out = []
    for layer in layers:
        out.append(part(whole, before, [hidden(layer)]))
        before = [hidden(layer), MASK]
    return [*out, part(whole, before, [value.name for value in whole.graph.output])]


def join(stages: list[onnx.ModelProto]) -> onnx.ModelProto:
    """The network: the inverse of split."""
    whole = onnx.ModelProto()
    whole.CopyFrom(stages[0])
    made, constants = ({name for node in whole.graph.node for name in node.output}, {i.name for i in whole.graph.initializer})
    for stage in stages[1:]:
        # What every stage computes anew from the mask is there once.
        whole.graph.node.extend(node for node in stage.graph.node if not made & set(node.output))
        whole.graph.initializer.extend(i for i in stage.graph.initializer if i.name not in constants)
        made |= {name for node in stage.graph.node for name in node.output}
        constants |= {i.name for i in stage.graph.initializer}
    del whole.graph.output[:]
    whole.graph.output.extend(stages[-1].graph.output)
    return part(whole, ["input_ids", MASK], [value.name for value in whole.graph.output])


def exit_network(branch: onnx.ModelProto, layer: int, output: str) -> onnx.ModelProto:
    """A branch that takes "hidden" and the mask and returns "logits", with the names that an exit has."""
    out = onnx.ModelProto()
    out.CopyFrom(branch)
    rename(out.graph, {"hidden": hidden(layer), "logits": output})
    return out

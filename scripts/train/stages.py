"""Divides a network's graph into stages, joins them again, and adds an exit's graph to a stage.

A stage is a part of the graph in a file of its own. It passes the hidden states of a layer on to the next stage.
"""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import onnx
import onnxruntime
from onnx import TensorProto, helper

MASK = "attention_mask"
WIDTH = 384  # of the hidden states


def hidden(layer: int) -> str:
    """The tensor that a stage passes on after a layer, counted from 1."""
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


def rename(graph: onnx.GraphProto, names: dict[str, str]):
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in (*graph.initializer, *graph.input, *graph.output):
        value.name = names.get(value.name, value.name)


def part(model: onnx.ModelProto, inputs: Iterable[str], outputs: list[str]) -> onnx.ModelProto:
    """The nodes between tensors. Inputs that are not needed are left out."""
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
    out.graph.input.extend(floats(name) for name in inputs if name in used)
    out.graph.output.extend(floats(name) for name in outputs)
    return out


def named(model: onnx.ModelProto, layers: list[int]) -> onnx.ModelProto:
    """A copy, with the hidden states of the layers named by hidden()."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    rename(whole.graph, {f"/layers.{layer - 1}/norm/LayerNormalization_output_0": hidden(layer) for layer in layers})
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
    """The network without its exits: the inverse of split, also of stages with exits."""
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


def attach(stage: onnx.ModelProto, branch: onnx.ModelProto, layer: int, output: str) -> onnx.ModelProto:
    """The stage with an exit, whose graph takes "hidden" and the mask and returns "logits"."""
    added, out = onnx.ModelProto(), onnx.ModelProto()
    added.CopyFrom(branch)
    out.CopyFrom(stage)
    names = {name for node in added.graph.node for name in (*node.input, *node.output) if name} | {i.name for i in added.graph.initializer}
    rename(added.graph, {name: f"exit_{layer}/{name}" for name in names} | {"hidden": hidden(layer), MASK: MASK, "logits": output})
    for node in added.graph.node:
        node.name = f"exit_{layer}/{node.name}"
    out.graph.node.extend(added.graph.node)
    out.graph.initializer.extend(added.graph.initializer)
    out.graph.output.insert(0, added.graph.output[0])
    domains = {opset.domain: opset for opset in out.opset_import}
    for opset in added.opset_import:
        if opset.domain not in domains:
            out.opset_import.append(opset)
    return out

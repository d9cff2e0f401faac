"""Int8 with fixed scales: the fused network in fp32, and what goes into its matrix products while it reads
training rows, become a network whose products are those of integers.

onnxruntime's dynamic quantiser leaves the range of what goes into a product to be found in each tensor, so
that the texts in one tensor change each other's scores; its static one leaves attention in fp32. What a fixed
scale needs is that the ranges hardly change from text to text, and here a few channels are responsible for
them that are as wide in every text: see docs/decisions/0011-fixed-scales.md, also for the figures.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import folder as folders

ACTIVATION_LEVELS = 255  # uint8
# Weights take seven of the eight bits: on x86 without VNNI two products of eight are summed in sixteen bits,
# with saturation, and 2 · 255 · 63 is the most that fits.
WEIGHT_LEVELS = 63
# So many channels of what goes into a product, the widest, stay in fp32, as in LLM.int8() (arXiv 2208.07339)...
WIDEST = 4
# ... where the widest is so many times as wide as the median channel, since that costs an addition.
UNEVEN = 3

Ranges = dict[str, np.ndarray]  # of a tensor: float32 [2, channels], the lowest and the highest of each


def products(graph: onnx.GraphProto, exact: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The constant float32 [channels, outputs] of each product, by the name of its node. exact: parts of the
    names of nodes that stay in fp32."""
    constants = {i.name: i for i in graph.initializer}
    return {
        node.name: numpy_helper.to_array(constants[node.input[1]])
        for node in graph.node
        if node.op_type in ("MatMul", "Attention") and node.input[1] in constants and len(constants[node.input[1]].dims) == 2
        and not any(part in node.name for part in exact)
    }


def ranges(fused: Path, exact: tuple[str, ...], texts: list[np.ndarray]) -> Ranges:
    """What goes into each product over texts, which are int64 [tokens] with [CLS] and [SEP]."""
    model = onnx.load(fused)
    named = products(model.graph, exact)
    tensors = [node.input[0] for node in model.graph.node if node.name in named]
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in tensors)
    probe = fused.with_suffix(".probe.onnx")
    onnx.save(model, probe)
    try:
        session = folders.session(probe)
    finally:
        probe.unlink()
    out: Ranges = {}
    for ids in texts:
        for name, values in zip(tensors, session.run(tensors, {"input_ids": ids[None], "attention_mask": np.ones_like(ids[None])})):
            seen = np.stack([values.min((0, 1)), values.max((0, 1))])
            low, high = out.get(name, seen)
            out[name] = np.stack([np.minimum(low, seen[0]), np.maximum(high, seen[1])])
    return out


def widest(span: np.ndarray) -> np.ndarray:
    """Numbers of the channels that would make the scale of all the others coarse, in rising order; often none."""
    width = np.abs(span).max(0)
    if width.max() < UNEVEN * np.median(width):
        return np.array([], dtype=np.int64)
    return np.sort(np.argsort(-width, kind="stable")[:WIDEST])


def quantise(fused: Path, path: Path, exact: tuple[str, ...], span: Ranges):
    """Writes the network with integer products, weights per output, and embeddings in int8. The products that
    are named exact stay in fp32."""
    model = onnx.load(fused)
    graph = model.graph
    named = products(graph, exact)
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    nodes, added, replaced, done = [], [], set(), set()
    readers = {name: node for node in graph.node for name in node.input}

    def constant(name: str, values) -> str:
        added.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    for node in graph.node:
        if node.name in named:
            source, weights = node.input[0], named[node.name].copy()
            apart = widest(span[source]) if node.op_type == "MatMul" else []  # attention's product is not a node by itself
            low, high = np.delete(span[source], apart, axis=1)
            aside, weights[apart] = weights[apart], 0
            least = min(low.min(), 0)
            scale = np.float32((max(high.max(), 0) - least) / ACTIVATION_LEVELS)
            scales = (np.abs(weights).max(0) / WEIGHT_LEVELS).astype(np.float32)
            a, w = f"{source}_uint8", f"{node.input[1]}_int8"
            a_scale, a_zero = constant(f"{a}_scale", scale), constant(f"{a}_zero", np.uint8(np.rint(-least / scale)))
            w_scale, w_zero = constant(f"{w}_scale", scales), constant(f"{w}_zero", np.zeros(len(scales), np.int8))
            constant(w, np.rint(weights / scales).astype(np.int8))
            nodes.append(helper.make_node("QuantizeLinear", [source, a_scale, a_zero], [a]))
            if node.op_type == "Attention":
                nodes.append(helper.make_node("QAttention", [a, w, node.input[2], a_scale, w_scale, node.input[3], a_zero, w_zero], node.output, node.name, domain="com.microsoft"))
                nodes[-1].attribute.extend(node.attribute)
            else:
                inputs, output, behind = [a, w, a_scale, w_scale, a_zero, w_zero], node.output[0], readers[node.output[0]]
                bias = next((name for name in behind.input if name in constants), None)
                if behind.op_type == "Add" and bias:  # is done within the product
                    inputs, output = [*inputs, bias], behind.output[0]
                    done.add(output)
                whole, output = output, output if len(apart) == 0 else f"{output}_int8"
                nodes.append(helper.make_node("MatMulIntegerToFloat", inputs, [output], node.name, domain="com.microsoft"))
                if len(apart):
                    nodes += [
                        helper.make_node("Gather", [source, constant(f"{source}_apart", np.array(apart))], [f"{source}_widest"], axis=-1),
                        helper.make_node("MatMul", [f"{source}_widest", constant(f"{node.input[1]}_apart", aside)], [f"{whole}_apart"]),
                        helper.make_node("Add", [output, f"{whole}_apart"], [whole]),
                    ]
            replaced.add(node.input[1])
        elif node.op_type == "Gather" and node.input[0] in constants and constants[node.input[0]].ndim == 2:
            table, rows = node.input[0], f"{node.output[0]}_int8"
            scales = (np.abs(constants[table]).max(0) / 127).astype(np.float32)
            constant(f"{table}_int8", np.rint(constants[table] / scales).astype(np.int8))
            nodes.append(helper.make_node("Gather", [f"{table}_int8", node.input[1]], [rows], node.name))
            nodes[-1].attribute.extend(node.attribute)
            zeros = constant(f"{table}_zeros", np.zeros(len(scales), np.int8))
            nodes.append(helper.make_node("DequantizeLinear", [rows, constant(f"{table}_scales", scales), zeros], node.output, axis=-1))
            replaced.add(table)
        elif node.output[0] not in done:
            nodes.append(node)
    kept = [i for i in graph.initializer if i.name not in replaced]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept + added)
    onnx.save(model, path)

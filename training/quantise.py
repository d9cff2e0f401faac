"""Int8 with fixed scales: converts the fused fp32 network, with the inputs of its matrix products measured on
training rows, to a network with integer products.

onnxruntime's dynamic quantiser finds the range of a product's input in each tensor, so the texts in one tensor
change each other's scores; its static quantiser leaves attention in fp32. Fixed scales need ranges that hardly
change between texts. Here a few channels, which are as wide in every text, determine the ranges: see
docs/decisions/0011-fixed-scales.md, also for the figures.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import folder as folders

ACTIVATION_LEVELS = 255  # uint8
# Weights use seven of the eight bits: x86 without VNNI sums two products of eight bits in sixteen bits, with
# saturation, and 2 · 255 · 63 is the most that fits.
WEIGHT_LEVELS = 63
# This many of the widest input channels of a product stay in fp32, as in LLM.int8() (arXiv 2208.07339)...
WIDEST = 4
# ... if the widest is this many times as wide as the median channel, since that costs an addition.
UNEVEN = 3

Ranges = dict[str, np.ndarray]  # by tensor: float32 [2, channels], minimum and maximum of each channel


def products(graph: onnx.GraphProto, exact: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The constant float32 [channels, outputs] of each product, by node name. exact: parts of the names of nodes
    that stay in fp32."""
    constants = {i.name: i for i in graph.initializer}
    return {
        node.name: numpy_helper.to_array(constants[node.input[1]])
        for node in graph.node
        if node.op_type in ("MatMul", "Attention") and node.input[1] in constants and len(constants[node.input[1]].dims) == 2
        and not any(part in node.name for part in exact)
    }


def ranges(fused: Path, exact: tuple[str, ...], feeds: list[dict[str, np.ndarray]]) -> Ranges:
    """The input ranges of each product over inputs of the network, each of one text."""
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
    for feed in feeds:
        for name, values in zip(tensors, session.run(tensors, feed)):
            seen = np.stack([values.min((0, 1)), values.max((0, 1))])
            low, high = out.get(name, seen)
            out[name] = np.stack([np.minimum(low, seen[0]), np.maximum(high, seen[1])])
    return out


def widest(span: np.ndarray) -> np.ndarray:
    """Indices of the channels that would make the scale of the others coarse, in rising order; often none."""
    width = np.abs(span).max(0)
    if width.max() < UNEVEN * np.median(width):
        return np.array([], dtype=np.int64)
    return np.sort(np.argsort(-width, kind="stable")[:WIDEST])


class Rewriting:
    """A graph's nodes and constants during rewriting."""

    def __init__(self, graph: onnx.GraphProto):
        self.graph = graph
        self.constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        self.readers = {name: node for node in graph.node for name in node.input}
        self.nodes: list[onnx.NodeProto] = []
        self.added: list[TensorProto] = []
        self.replaced: set[str] = set()  # constants that are no longer used
        self.done: set[str] = set()  # outputs that now come from another node

    def constant(self, name: str, values) -> str:
        self.added.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, operator: str, inputs: list[str], outputs: list[str], like: onnx.NodeProto | None = None, **attributes):
        """like: the node that it replaces, whose name and attributes it gets."""
        node = helper.make_node(operator, inputs, outputs, like.name if like else "", **attributes)
        if like:
            node.attribute.extend(like.attribute)
        self.nodes.append(node)

    def activations(self, name: str, span: np.ndarray) -> tuple[str, str, str]:
        """A tensor as uint8, its scale and its zero. Values outside the span [2, channels] are clipped."""
        low, high = min(span[0].min(), 0), max(span[1].max(), 0)
        scale = np.float32((high - low) / ACTIVATION_LEVELS)
        out = f"{name}_uint8"
        names = out, self.constant(f"{out}_scale", scale), self.constant(f"{out}_zero", np.uint8(np.rint(-low / scale)))
        self.add("QuantizeLinear", [name, *names[1:]], [out])
        return names

    def weights(self, name: str, values: np.ndarray) -> tuple[str, str, str]:
        """Weights [channels, outputs] as int8, a scale for each output, and zeros."""
        scales = (np.abs(values).max(0) / WEIGHT_LEVELS).astype(np.float32)
        out = f"{name}_int8"
        names = out, self.constant(f"{out}_scale", scales), self.constant(f"{out}_zero", np.zeros(len(scales), np.int8))
        self.constant(out, np.rint(values / scales).astype(np.int8))
        self.replaced.add(name)
        return names

    def attention(self, node: onnx.NodeProto, weights: np.ndarray, span: np.ndarray):
        """Its product is not a separate node: no channel can stay in fp32."""
        a, a_scale, a_zero = self.activations(node.input[0], span)
        w, w_scale, w_zero = self.weights(node.input[1], weights)
        self.add("QAttention", [a, w, node.input[2], a_scale, w_scale, node.input[3], a_zero, w_zero], node.output, node, domain="com.microsoft")

    def product(self, node: onnx.NodeProto, weights: np.ndarray, span: np.ndarray):
        """The widest channels' product is added to the integer product, including a bias that follows."""
        source, output = node.input[0], node.output[0]
        apart = widest(span)
        aside, weights = weights[apart], weights.copy()
        weights[apart] = 0
        a, a_scale, a_zero = self.activations(source, np.delete(span, apart, axis=1))
        w, w_scale, w_zero = self.weights(node.input[1], weights)
        inputs, behind = [a, w, a_scale, w_scale, a_zero, w_zero], self.readers[output]
        bias = next((name for name in behind.input if name in self.constants), None)
        if behind.op_type == "Add" and bias:
            inputs, output = [*inputs, bias], behind.output[0]
            self.done.add(output)
        integers = f"{output}_int8" if len(apart) else output
        self.add("MatMulIntegerToFloat", inputs, [integers], node, domain="com.microsoft")
        if len(apart):
            self.add("Gather", [source, self.constant(f"{source}_apart", apart)], [f"{source}_widest"], axis=-1)
            self.add("MatMul", [f"{source}_widest", self.constant(f"{node.input[1]}_apart", aside)], [f"{output}_apart"])
            self.add("Add", [integers, f"{output}_apart"], [output])

    def embedding(self, node: onnx.NodeProto):
        """Rows of int8 with a scale for each channel, converted to floats when read."""
        table, rows = node.input[0], f"{node.output[0]}_int8"
        scales = (np.abs(self.constants[table]).max(0) / 127).astype(np.float32)
        self.constant(f"{table}_int8", np.rint(self.constants[table] / scales).astype(np.int8))
        self.add("Gather", [f"{table}_int8", node.input[1]], [rows], node)
        zeros = self.constant(f"{table}_zeros", np.zeros(len(scales), np.int8))
        self.add("DequantizeLinear", [rows, self.constant(f"{table}_scales", scales), zeros], node.output, axis=-1)
        self.replaced.add(table)

    def finish(self):
        kept = [i for i in self.graph.initializer if i.name not in self.replaced]
        del self.graph.node[:], self.graph.initializer[:]
        self.graph.node.extend(self.nodes)
        self.graph.initializer.extend(kept + self.added)


def quantise(fused: Path, path: Path, exact: tuple[str, ...], span: Ranges):
    """Writes the network with integer products, weights per output, and embeddings in int8. Products with
    a name in exact stay in fp32."""
    model = onnx.load(fused)
    named = products(model.graph, exact)
    rewriting = Rewriting(model.graph)
    for node in model.graph.node:
        if node.name in named:
            rewrite = rewriting.attention if node.op_type == "Attention" else rewriting.product
            rewrite(node, named[node.name], span[node.input[0]])
        elif node.op_type == "Gather" and node.input[0] in rewriting.constants and rewriting.constants[node.input[0]].ndim == 2:
            rewriting.embedding(node)
        elif node.output[0] not in rewriting.done:
            rewriting.nodes.append(node)
    rewriting.finish()
    onnx.save(model, path)

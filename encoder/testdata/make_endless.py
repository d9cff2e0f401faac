"""Writes endless.onnx: a model that returns at once for an empty text and runs
for hours on any other, so a test can check that a run was stopped.

    pip install onnx==1.23.2 numpy
    python encoder/testdata/make_endless.py
"""

from pathlib import Path

import numpy as np
from onnx import TensorProto as T
from onnx import checker, helper, numpy_helper, save

constants = {
    "two": np.array(2, np.int64),
    "per_token": np.array(1_000_000_000, np.int64),
    "axis": np.array(1, np.int64),
    "start": np.zeros((1, 1), np.float32),
    "go_on": np.array(True),
}

body = helper.make_graph(
    [
        helper.make_node("Identity", ["go_on_in"], ["go_on_out"]),
        helper.make_node("Sin", ["x_in"], ["x_out"]),
    ],
    "body",
    [
        helper.make_tensor_value_info("i", T.INT64, []),
        helper.make_tensor_value_info("go_on_in", T.BOOL, []),
        helper.make_tensor_value_info("x_in", T.FLOAT, [1, 1]),
    ],
    [
        helper.make_tensor_value_info("go_on_out", T.BOOL, []),
        helper.make_tensor_value_info("x_out", T.FLOAT, [1, 1]),
    ],
)

graph = helper.make_graph(
    [
        helper.make_node("Shape", ["input_ids"], ["shape"]),
        helper.make_node("Gather", ["shape", "axis"], ["tokens"]),
        helper.make_node("Sub", ["tokens", "two"], ["of_text"]),  # less [CLS] and [SEP]
        helper.make_node("Mul", ["of_text", "per_token"], ["turns"]),
        helper.make_node("Loop", ["turns", "go_on", "start"], ["logits"], body=body),
    ],
    "endless",
    [helper.make_tensor_value_info("input_ids", T.INT64, ["texts", "tokens"])],
    [helper.make_tensor_value_info("logits", T.FLOAT, ["texts", 1])],
    [numpy_helper.from_array(value, name) for name, value in constants.items()],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
checker.check_model(model)
save(model, Path(__file__).with_name("endless.onnx"))

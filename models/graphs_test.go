package models_test

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// The ONNX files that only one test of imports needs are written here, field by
// field of onnx.proto, instead of being stored as binary files.

// onnxTensor is an input or output; -1 is a free size.
type onnxTensor struct {
	name string
	kind int // element type of onnx.proto
	dims []int64
}

var (
	free = []int64{-1, -1}
	ids  = onnxTensor{"input_ids", 7, free}
)

func logitsOf(columns int64) onnxTensor { return onnxTensor{"logits", 1, []int64{-1, columns}} }

// classifierOf is a graph whose columns all have the mean of a text's ids times
// 0.001.
func classifierOf(columns int) []byte {
	return onnxOf([]onnxTensor{ids}, logitsOf(int64(columns)), columns)
}

// onnxOf is the same with any inputs and output: ONNX Runtime accepts it only
// if they fit.
func onnxOf(inputs []onnxTensor, output onnxTensor, columns int) []byte {
	weights := make([]byte, 0, 4*columns)
	for range columns {
		weights = protowire.AppendFixed32(weights, 0x3a83126f) // 0.001
	}
	return onnxFile(inputs, output,
		message(field(1, "input_ids"), field(2, "x"), field(4, "Cast"), field(5, message(field(1, "to"), field(3, 1), field(20, 2)))),
		message(field(1, "x"), field(2, "mean"), field(4, "ReduceMean"), field(5, message(field(1, "axes"), field(8, 1), field(20, 7)))),
		message(field(1, "mean"), field(1, "weights"), field(2, output.name), field(4, "MatMul")),
		initializer{message(field(1, 1), field(1, columns), field(2, 1), field(8, "weights"), field(9, weights))},
	)
}

// onnxWithWeightsElsewhere refers to a second file, as exports of large models and
// of torch's newer exporter do.
func onnxWithWeightsElsewhere() []byte {
	return onnxFile([]onnxTensor{ids}, logitsOf(16),
		message(field(1, "input_ids"), field(2, "logits"), field(4, "MatMul")),
		initializer{message(field(1, 16), field(2, 1), field(8, "weights"), field(13, message(field(1, "location"), field(2, "model.onnx_data"))), field(14, 1))},
	)
}

func onnxOfUnknownOperator() []byte {
	return onnxFile([]onnxTensor{ids}, logitsOf(16), message(field(1, "input_ids"), field(2, "logits"), field(4, "NoSuchOperator")))
}

type initializer struct{ tensor []byte }

// onnxFile is a ModelProto of nodes and initializers.
func onnxFile(inputs []onnxTensor, output onnxTensor, parts ...any) []byte {
	var graph []byte
	for _, part := range parts {
		switch part := part.(type) {
		case []byte:
			graph = append(graph, field(1, part)...)
		case initializer:
			graph = append(graph, field(5, part.tensor)...)
		}
	}
	graph = append(graph, field(2, "test")...)
	for _, t := range inputs {
		graph = append(graph, field(11, t.info())...)
	}
	graph = append(graph, field(12, output.info())...)
	return message(field(1, 8), field(7, graph), field(8, message(field(1, ""), field(2, 13))))
}

// info is a ValueInfoProto.
func (t onnxTensor) info() []byte {
	var shape []byte
	for _, size := range t.dims {
		dim := field(2, "free")
		if size >= 0 {
			dim = field(1, int(size))
		}
		shape = append(shape, field(1, dim)...)
	}
	return message(field(1, t.name), field(2, message(field(1, message(field(1, t.kind), field(2, shape))))))
}

func message(fields ...[]byte) []byte {
	var out []byte
	for _, f := range fields {
		out = append(out, f...)
	}
	return out
}

func field[T int | string | []byte](number protowire.Number, value T) []byte {
	switch value := any(value).(type) {
	case int:
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(value))
	case string:
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), value)
	case []byte:
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
	}
	return nil
}

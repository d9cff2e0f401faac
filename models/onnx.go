package models

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// graph is what an import needs to know about an ONNX file. An ONNX Runtime session
// also reports inputs and outputs, but not the operators nor, without loading it,
// that the weights are in another file.
type graph struct {
	inputs, outputs []tensor
	operators       map[string]bool // op_type of every node, including subgraphs and functions
	weights         map[int32]int   // number of values in the initializers by element type
	external        string          // the file with the weights, if separate
}

// tensor is an input or output of a graph.
type tensor struct {
	name string
	kind int32   // element type
	dims []int64 // -1 if the size is free
}

// Element types: TensorProto.DataType in onnx.proto.
const (
	onnxFloat    = 1
	onnxInt64    = 7
	onnxFloat16  = 10
	onnxBFloat16 = 16
)

var onnxTypes = map[int32]string{1: "float32", 2: "uint8", 3: "int8", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64", 16: "bfloat16"}

func typeName(kind int32) string {
	if name, ok := onnxTypes[kind]; ok {
		return name
	}
	return fmt.Sprintf("element type %d", kind)
}

// dynamicInt8 are the operators that compute the scale of an activation over a
// whole tensor, so that texts in one tensor change each other's scores.
var dynamicInt8 = []string{
	"DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM", "MatMulIntegerToFloat", "MatMulInteger",
}

func (g *graph) isDynamicInt8() bool {
	return slices.ContainsFunc(dynamicInt8, func(op string) bool { return g.operators[op] })
}

// precision returns the graph's precision as in a manifest.
func (g *graph) precision() string {
	switch {
	case g.operators["MatMulNBits"]:
		return "int4"
	case g.isDynamicInt8() || g.operators["QuantizeLinear"] || g.operators["DequantizeLinear"] || g.operators["QAttention"]:
		return "int8"
	case g.weights[onnxFloat16]+g.weights[onnxBFloat16] > g.weights[onnxFloat]:
		return "fp16"
	}
	return "fp32"
}

// readGraph reads an ONNX file: a ModelProto of onnx.proto. The calls below use
// its field numbers.
func readGraph(data []byte) (*graph, error) {
	switch {
	case bytes.HasPrefix(data, []byte("version https://git-lfs")):
		return nil, errors.New("it is a Git LFS pointer and not the file itself: run `git lfs pull` in its folder")
	case len(data) == 0:
		return nil, errors.New("it is empty")
	}
	g := &graph{operators: map[string]bool{}, weights: map[int32]int{}}
	found := false
	err := fields(data, func(number protowire.Number, _ uint64, value []byte) error {
		switch number {
		case 7: // graph
			found = true
			return g.read(value, 0)
		case 25: // functions
			return fields(value, func(number protowire.Number, _ uint64, value []byte) error {
				if number == 7 { // node
					return g.readNode(value, 0)
				}
				return nil
			})
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New("it has no graph")
	}
	if err != nil {
		return nil, fmt.Errorf("it is not an ONNX file: %w", err)
	}
	return g, nil
}

// maxNesting is the maximum nesting depth of subgraphs; exporters of text models
// use one or two levels.
const maxNesting = 16

// read reads a GraphProto. Inputs and outputs are those of the outermost graph.
func (g *graph) read(data []byte, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("its graphs are nested more than %d levels deep", maxNesting)
	}
	initialized := map[string]bool{}
	var inputs []tensor
	err := fields(data, func(number protowire.Number, _ uint64, value []byte) error {
		switch number {
		case 1: // node
			return g.readNode(value, depth)
		case 5: // initializer
			name, err := g.readInitializer(value)
			initialized[name] = true
			return err
		case 11, 12: // input, output
			if depth > 0 {
				return nil
			}
			t, err := readTensor(value)
			if number == 11 {
				inputs = append(inputs, t)
			} else {
				g.outputs = append(g.outputs, t)
			}
			return err
		}
		return nil
	})
	// Old exporters also list the weights as inputs.
	for _, t := range inputs {
		if !initialized[t.name] {
			g.inputs = append(g.inputs, t)
		}
	}
	return err
}

// readNode reads a NodeProto.
func (g *graph) readNode(data []byte, depth int) error {
	return fields(data, func(number protowire.Number, _ uint64, value []byte) error {
		switch number {
		case 4: // op_type
			g.operators[string(value)] = true
		case 5: // attribute
			return fields(value, func(number protowire.Number, _ uint64, value []byte) error {
				if number == 6 || number == 11 { // g, graphs
					return g.read(value, depth+1)
				}
				return nil
			})
		}
		return nil
	})
}

// readInitializer reads a TensorProto.
func (g *graph) readInitializer(data []byte) (name string, err error) {
	kind, size := int32(0), 1
	multiply := func(dim uint64) { size *= max(int(int32(dim)), 0) }
	err = fields(data, func(number protowire.Number, scalar uint64, value []byte) error {
		switch number {
		case 1: // dims, packed or one by one
			if value == nil {
				multiply(scalar)
			}
			for len(value) > 0 {
				dim, n := protowire.ConsumeVarint(value)
				if n < 0 {
					return protowire.ParseError(n)
				}
				multiply(dim)
				value = value[n:]
			}
		case 2: // data_type
			kind = int32(scalar)
		case 8:
			name = string(value)
		case 13: // external_data: key and value
			key, entry := "", ""
			err := fields(value, func(number protowire.Number, _ uint64, value []byte) error {
				if number == 1 {
					key = string(value)
				} else if number == 2 {
					entry = string(value)
				}
				return nil
			})
			if key == "location" {
				g.external = entry
			}
			return err
		}
		return nil
	})
	g.weights[kind] += size
	return name, err
}

// readTensor reads a ValueInfoProto.
func readTensor(data []byte) (t tensor, err error) {
	err = fields(data, func(number protowire.Number, _ uint64, value []byte) error {
		switch number {
		case 1:
			t.name = string(value)
		case 2: // type
			return fields(value, func(number protowire.Number, _ uint64, value []byte) error {
				if number != 1 { // tensor_type
					return nil
				}
				return fields(value, func(number protowire.Number, scalar uint64, value []byte) error {
					switch number {
					case 1: // elem_type
						t.kind = int32(scalar)
					case 2: // shape
						return fields(value, func(_ protowire.Number, _ uint64, value []byte) error { // dim
							size := int64(-1)
							err := fields(value, func(number protowire.Number, scalar uint64, _ []byte) error {
								if number == 1 { // dim_value
									size = int64(scalar)
								}
								return nil
							})
							t.dims = append(t.dims, size)
							return err
						})
					}
					return nil
				})
			})
		}
		return nil
	})
	return t, err
}

// fields calls f for each field of a protobuf message with its scalar, or with
// its bytes if it is a string, a message or packed.
func fields(message []byte, f func(number protowire.Number, scalar uint64, value []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var scalar uint64
		var value []byte
		switch kind {
		case protowire.VarintType:
			scalar, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(message)
		default: // fixed-width numbers: not used by the fields read here
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := f(number, scalar, value); err != nil {
			return err
		}
	}
	return nil
}

// names lists the names of tensors for a message.
func names(tensors []tensor) string {
	var all []string
	for _, t := range tensors {
		all = append(all, t.name)
	}
	return strings.Join(all, ", ")
}

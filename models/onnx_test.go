package models

import (
	"os"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func readTestGraph(t testing.TB, path string) *graph {
	t.Helper()
	data, err := os.ReadFile("../testdata/models/" + path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := readGraph(data)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestReadGraph reads files from torch's exporter and onnxruntime's quantiser.
func TestReadGraph(t *testing.T) {
	for _, test := range []struct {
		path            string
		inputs, outputs string
		precision       string
		dynamicInt8     bool
	}{
		{"hub-bert/onnx/model.onnx", "input_ids, token_type_ids, attention_mask", "logits", "fp32", false},
		{"hub-bert/onnx/model_quantized.onnx", "input_ids, token_type_ids, attention_mask", "logits", "int8", true},
		{"hub-roberta/model.onnx", "input_ids, attention_mask", "logits", "fp32", false},
		{"tiny/model.onnx", "input_ids, attention_mask", "logits, token_logits", "fp32", false},
	} {
		g := readTestGraph(t, test.path)
		if got := names(g.inputs); got != test.inputs {
			t.Errorf("%s: got the inputs %s, want %s", test.path, got, test.inputs)
		}
		if got := names(g.outputs); got != test.outputs {
			t.Errorf("%s: got the outputs %s, want %s", test.path, got, test.outputs)
		}
		if got := g.precision(); got != test.precision {
			t.Errorf("%s: got the precision %s, want %s", test.path, got, test.precision)
		}
		if got := g.isDynamicInt8(); got != test.dynamicInt8 {
			t.Errorf("%s: got dynamic int8 %v, want %v", test.path, got, test.dynamicInt8)
		}
		if g.external != "" {
			t.Errorf("%s: got the weights in another file, %q", test.path, g.external)
		}
		if n := g.weights[onnxFloat] + g.weights[3]; n < 1000 {
			t.Errorf("%s: got only %d weights: %v", test.path, n, g.weights)
		}
	}
	out := readTestGraph(t, "tiny/model.onnx").outputs[1]
	if want := []int64{-1, -1, 5}; !slices.Equal(out.dims, want) {
		t.Errorf("got the dimensions %v of the token head, want %v", out.dims, want)
	}
	if out.kind != onnxFloat {
		t.Errorf("got the type %s of the token head, want float32", typeName(out.kind))
	}
}

// TestPrecision: operators decide first, then the type of most weights.
func TestPrecision(t *testing.T) {
	for _, test := range []struct {
		graph graph
		want  string
	}{
		{graph{weights: map[int32]int{onnxFloat: 1000}}, "fp32"},
		{graph{weights: map[int32]int{onnxFloat: 10, onnxFloat16: 1000}}, "fp16"},
		{graph{weights: map[int32]int{onnxFloat: 10, onnxBFloat16: 1000}}, "fp16"},
		{graph{operators: map[string]bool{"DequantizeLinear": true}, weights: map[int32]int{onnxFloat: 1000}}, "int8"},
		{graph{operators: map[string]bool{"MatMulNBits": true}}, "int4"},
	} {
		if got := test.graph.precision(); got != test.want {
			t.Errorf("%+v: got %s, want %s", test.graph, got, test.want)
		}
	}
}

// TestReadGraphLooksInside: quantised operators may be in the branches of an If
// and in functions.
func TestReadGraphLooksInside(t *testing.T) {
	wrap := func(number protowire.Number, inner []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), inner)
	}
	node := wrap(1, wrap(4, []byte("DynamicQuantizeLinear")))
	branch := wrap(1, wrap(5, wrap(6, node))) // a node with a graph attribute
	for name, data := range map[string][]byte{
		"branch":   wrap(7, branch),
		"function": append(wrap(7, nil), wrap(25, wrap(7, wrap(4, []byte("DynamicQuantizeLinear"))))...),
	} {
		g, err := readGraph(data)
		if err != nil {
			t.Fatal(err)
		}
		if !g.isDynamicInt8() {
			t.Errorf("%s: the operator in it was not found: %+v", name, g)
		}
	}
	for range maxNesting + 1 {
		branch = wrap(1, wrap(5, wrap(6, branch)))
	}
	if _, err := readGraph(wrap(7, branch)); err == nil {
		t.Error("a graph nested too deep was read")
	}
}

// TestReadGraphOfOldExporters: before version 4 of the format, every weight had
// to be listed as an input.
func TestReadGraphOfOldExporters(t *testing.T) {
	text := func(number protowire.Number, value string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), value)
	}
	graph := slices.Concat(
		text(11, string(text(1, "input_ids"))),
		text(11, string(text(1, "weights"))),
		text(5, string(text(8, "weights"))),
	)
	g, err := readGraph(text(7, string(graph)))
	if err != nil {
		t.Fatal(err)
	}
	if names(g.inputs) != "input_ids" {
		t.Errorf("got the inputs %s", names(g.inputs))
	}
}

// FuzzReadGraph: an ONNX file is untrusted input; any content is read or
// refused.
func FuzzReadGraph(f *testing.F) {
	for _, path := range []string{"tiny/model.onnx", "tiny-no-spans/model.onnx"} {
		data, err := os.ReadFile("../testdata/models/" + path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := readGraph(data)
		if (g == nil) == (err == nil) {
			t.Errorf("got %v and %v", g, err)
		}
		if err == nil {
			_, _, _ = g.signature(7)
			_ = g.precision()
		}
	})
}

package encoder

import (
	"errors"
	"slices"
	"testing"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/toxscreen/toxscreen/tokenize"
)

// What an error about the library contains.
var ErrNoLibrary = errNoLibrary

var Remedy = remedy

// BareRuns holds the runs for texts' windows, through the whole network, with all tensors
// created in advance.
type BareRuns struct {
	byText [][]bareRun
}

// bareRun is the run of a stage.
type bareRun struct {
	session         *ort.DynamicAdvancedSession
	inputs, outputs []ort.Value
}

// NewBareRuns creates the tensors for each text's windows.
func NewBareRuns(b *testing.B, e *Encoder, tokenizer *tokenize.Tokenizer, texts []string) *BareRuns {
	b.Helper()
	runs := &BareRuns{}
	var values []ort.Value
	b.Cleanup(func() {
		var errs []error
		for _, v := range values {
			errs = append(errs, v.Destroy())
		}
		if err := errors.Join(errs...); err != nil {
			b.Error(err)
		}
	})
	keep := func(v ort.Value, err error) ort.Value {
		if err != nil {
			b.Fatal(err)
		}
		values = append(values, v)
		return v
	}
	floats := func(shape ...int64) ort.Value {
		tensor, err := ort.NewEmptyTensor[float32](ort.NewShape(shape...))
		return keep(tensor, err)
	}
	for _, text := range texts {
		var encoding tokenize.Encoding
		if err := tokenizer.Encode(text, &encoding); err != nil {
			b.Fatal(err)
		}
		var ofText []bareRun
		for _, w := range divide(text, encoding.Offsets, e.room, e.overlap) {
			ids := slices.Concat(e.prefix, encoding.IDs[w.start:w.end], e.suffix)
			count := int64(len(ids))
			var passed ort.Value
			for _, s := range e.runner.stages {
				one := bareRun{session: s.ort}
				if s.given != "" {
					one.inputs = append(one.inputs, passed)
				}
				for _, name := range s.inputs {
					buffer := make([]int64, count)
					fill(buffer, name, []*job{{ids: ids}}, len(ids), 0)
					tensor, err := ort.NewTensor(ort.NewShape(1, count), buffer)
					one.inputs = append(one.inputs, keep(tensor, err))
				}
				for _, head := range s.heads {
					shape := []int64{1, int64(head.Columns)}
					if head.Task == TokenClassification {
						shape = []int64{1, count, int64(head.Columns)}
					}
					one.outputs = append(one.outputs, floats(shape...))
				}
				if s.hidden != "" {
					passed = floats(1, count, int64(s.width))
					one.outputs = append(one.outputs, passed)
				}
				ofText = append(ofText, one)
			}
		}
		runs.byText = append(runs.byText, ofText)
	}
	return runs
}

// Run runs the windows of a text.
func (r *BareRuns) Run(text int) error {
	for _, one := range r.byText[text] {
		if err := one.session.Run(one.inputs, one.outputs); err != nil {
			return err
		}
	}
	return nil
}

package tokenize

import "fmt"

// newGuarded loads what BERT's fast path does not take.
func newGuarded(f *file) (model, int, error) {
	return nil, 0, fmt.Errorf("its model type %q with normalizer and pre_tokenizer of this kind is unknown", f.Model.Type)
}

package toxscreen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
)

// Scores holds a number for some or all attributes: probabilities in 0..1,
// or thresholds for them. An attribute that was not measured is absent, which
// differs from 0. The zero value is empty. Scores is a plain value:
// copying it copies the numbers, and == compares them.
type Scores struct {
	values   [attributeCount]float64
	measured uint8 // bit i is set where values[i] was measured
}

// Get returns the number for an attribute and whether there is one.
func (s Scores) Get(a Attribute) (value float64, ok bool) {
	if a >= attributeCount || s.measured&(1<<a) == 0 {
		return 0, false
	}
	return s.values[a], true
}

// Set stores the number for an attribute. It panics if a is not one of the seven.
func (s *Scores) Set(a Attribute, value float64) {
	s.values[a] = value
	s.measured |= 1 << a
}

// Len returns the number of attributes that have a number.
func (s Scores) Len() int {
	n := 0
	for range s.All() {
		n++
	}
	return n
}

// All yields the attributes that have a number, in their order.
func (s Scores) All() iter.Seq2[Attribute, float64] {
	return func(yield func(Attribute, float64) bool) {
		for a := range attributeCount {
			if s.measured&(1<<a) != 0 && !yield(a, s.values[a]) {
				return
			}
		}
	}
}

// MarshalJSON writes an object with the attributes that have a number, in
// their order, rounded to six decimals.
func (s Scores) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for a, value := range s.All() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, attributeNames[a]...)
		out = append(out, '"', ':')
		number, err := Probability(value).MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("failed to encode %s: %w", a, err)
		}
		out = append(out, number...)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads an object from attribute names to numbers. An unknown name is
// an error, and so is null.
func (s *Scores) UnmarshalJSON(data []byte) error {
	var object map[Attribute]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return wrong // encoding/json adds where the object is
		}
		return fmt.Errorf("failed to read scores: %w", err)
	}
	*s = Scores{}
	for a, value := range object {
		var score *float64
		if err := json.Unmarshal(value, &score); err != nil {
			return fmt.Errorf("failed to read scores: %s must be a number", a)
		}
		if score == nil {
			return fmt.Errorf("failed to read scores: %s is null; leave out what was not measured", a)
		}
		s.Set(a, *score)
	}
	return nil
}

// Probability is a number that JSON shows with at most six decimals: further digits
// are noise, since scores are only guaranteed to 1e-4.
type Probability float64

// Rounded returns the number that JSON shows, so that a score shown as 0.8 reaches
// a threshold of 0.8.
func (p Probability) Rounded() float64 { return math.Round(float64(p)*1e6) / 1e6 }

// MarshalJSON implements [json.Marshaler]. It fails for NaN and infinities.
func (p Probability) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(p)) || math.IsInf(float64(p), 0) {
		return nil, fmt.Errorf("%v is not a number", float64(p))
	}
	out := strconv.AppendFloat(nil, float64(p), 'f', 6, 64)
	out = bytes.TrimRight(out, "0")
	return bytes.TrimSuffix(out, []byte{'.'}), nil
}

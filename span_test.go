package toxscreen_test

import (
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/toxscreen/toxscreen"
)

// The offsets in each unit select the same words in a program that counts in this
// unit.
func TestOffsetUnits(t *testing.T) {
	const text = "naïve 👩🏽‍🚀 fool \xff fool"
	bytes := toxscreen.Result{
		OffsetUnit: toxscreen.Bytes,
		Spans:      []toxscreen.Span{{Start: 0, End: 6}, {Start: 23, End: 27}, {Start: 30, End: 34}},
		Passages:   []toxscreen.Passage{{Start: 23, End: 34, Score: 0.9}, {Start: 0, End: 6, Score: 0.8}}, // the worst first
		Sentences:  []toxscreen.Passage{{Start: 0, End: 28, Score: 0.9}, {Start: 28, End: 34, Score: 0.9}},
		Readings:   []toxscreen.Reading{{Start: 0, End: 6, ReadAs: "naive"}, {Start: 30, End: 34, ReadAs: "foal"}},
	}
	for i, want := range []string{"naïve", "fool", "fool"} {
		if s := bytes.Spans[i]; text[s.Start:s.End] != want {
			t.Fatalf("span %d is %q", i, text[s.Start:s.End])
		}
		s := bytes.In(toxscreen.CodePoints, text).Spans[i]
		if got := string([]rune(text)[s.Start:s.End]); got != want {
			t.Errorf("code points %v are %q, want %q", s, got, want)
		}
		s = bytes.In(toxscreen.UTF16Units, text).Spans[i]
		if got := string(utf16.Decode(utf16.Encode([]rune(text))[s.Start:s.End])); got != want {
			t.Errorf("UTF-16 units %v are %q, want %q", s, got, want)
		}
	}
	for i, want := range []toxscreen.Passage{{Start: 11, End: 22, Score: 0.9}, {Start: 0, End: 5, Score: 0.8}} {
		if got := bytes.In(toxscreen.CodePoints, text).Passages[i]; got != want {
			t.Errorf("passage %d is %v in code points, want %v", i, got, want)
		}
	}
	for i, want := range []toxscreen.Passage{{Start: 0, End: 16, Score: 0.9}, {Start: 16, End: 22, Score: 0.9}} {
		if got := bytes.In(toxscreen.CodePoints, text).Sentences[i]; got != want {
			t.Errorf("sentence %d is %v in code points, want %v", i, got, want)
		}
	}
	if got, want := bytes.In(toxscreen.CodePoints, text).Readings, []toxscreen.Reading{{Start: 0, End: 5, ReadAs: "naive"}, {Start: 18, End: 22, ReadAs: "foal"}}; !slices.Equal(got, want) {
		t.Errorf("readings are %v in code points, want %v", got, want)
	}
	if bytes.Spans[1].Start != 23 || bytes.Passages[0].Start != 23 || bytes.Sentences[1].Start != 28 || bytes.Readings[1].Start != 30 {
		t.Error("In changed the result that it was called on")
	}
	if without := (toxscreen.Result{OffsetUnit: toxscreen.Bytes}); without.In(toxscreen.UTF16Units, text).Spans != nil {
		t.Error("nil spans became empty spans: nil means that the model cannot mark words")
	}
}

func TestMask(t *testing.T) {
	spans := []toxscreen.Span{{Start: 4, End: 14}, {Start: 16, End: 21}}
	if got, want := toxscreen.Mask("You blöd fool, häß!", spans), "You **** ****, ***!"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := toxscreen.Mask("nothing", nil); got != "nothing" {
		t.Errorf("%q", got)
	}
}

package toxscreen_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen"
)

// capitals is a finder that takes each capital letter for a person.
type capitals struct{}

func (capitals) Find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	found := []toxscreen.Entity{}
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			found = append(found, toxscreen.Entity{Type: "PERSON", Start: i, End: i + 1, Score: 0.5, Why: []string{"network"}})
		}
	}
	return found, ctx.Err()
}

func (capitals) Version() string { return "capitals@1" }

func (capitals) Parallel() int { return 2 }

// A result has the entities only if they were looked for.
func TestEntitiesOfResults(t *testing.T) {
	plain := toxscreen.New(classify(func(context.Context, string) (toxscreen.Classification, error) { return clean, nil }))
	for name, test := range map[string]struct {
		screener *toxscreen.Screener
		want     []toxscreen.Entity
		version  string
	}{
		"not looked for": {plain, nil, ""},
		"looked for":     {plain.With(toxscreen.WithEntities(capitals{})), []toxscreen.Entity{{Type: "PERSON", Start: 3, End: 4, Score: 0.5, Why: []string{"network"}}}, "capitals@1"},
	} {
		result, err := test.screener.Score(t.Context(), "😀 A")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, result.In(toxscreen.UTF16Units, "😀 A").Entities); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if result.Versions.Entities != test.version {
			t.Errorf("%s: version %q", name, result.Versions.Entities)
		}
	}
}

func TestFound(t *testing.T) {
	text := "é\xff A"
	entities, err := capitals{}.Find(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	want := toxscreen.Found{
		Entities:   []toxscreen.Entity{{Type: "PERSON", Start: 3, End: 4, Score: 0.5, Why: []string{"network"}}},
		OffsetUnit: toxscreen.CodePoints,
		Warnings:   []string{"1 byte is not valid UTF-8: it is read as U+FFFD"},
		Versions:   toxscreen.FoundVersions{Toxscreen: toxscreen.Version, Entities: "capitals@1"},
	}
	if diff := cmp.Diff(want, toxscreen.NewFound(capitals{}, text, entities, toxscreen.CodePoints)); diff != "" {
		t.Error(diff)
	}
	if entities[0].Start != 4 {
		t.Error("the caller's entities have changed")
	}
}

func TestFindBatchKeepsOrderAndRowsThatFail(t *testing.T) {
	defer goleak.VerifyNone(t)
	noText := errors.New("has no text")
	want := 0
	for outcome := range toxscreen.FindBatch(t.Context(), capitals{}, numbered(1000, new(atomic.Int64)), func(i int) (string, error) {
		if i == 42 {
			return "", noText
		}
		return fmt.Sprint(i, strings.Repeat(" A", i%3)), nil
	}) {
		switch {
		case outcome.Row != want:
			t.Fatalf("got row %d, want %d", outcome.Row, want)
		case want == 42 && !errors.Is(outcome.Err, noText), want != 42 && (outcome.Err != nil || len(outcome.Result) != want%3):
			t.Fatalf("row %d has %d entities, %v", want, len(outcome.Result), outcome.Err)
		}
		want++
	}
	if want != 1000 {
		t.Errorf("there are %d rows", want)
	}
}

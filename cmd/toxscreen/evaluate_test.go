package main

import (
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/generation"
	"github.com/toxscreen/toxscreen/models"
)

// TestErrorsOfTheDefaultModelAreKnown fails when the default model has changed and its
// errors were not counted anew: see scripts/make/detector.
func TestErrorsOfTheDefaultModelAreKnown(t *testing.T) {
	model, err := models.Open(models.DefaultName, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	}()
	if got, want := generation.OwnDetector().Classifier, toxscreen.PerspectiveScale.Of(model.Info().Version); got != want {
		t.Errorf("the counts are of %s, the default model is %s: go run ./scripts/make/detector", got, want)
	}
}

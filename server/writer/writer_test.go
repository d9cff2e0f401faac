package writer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server/servertest"
	"github.com/toxscreen/toxscreen/server/writer"
)

// The example of Writer's documentation: the fields, their order, and that a high
// score means a safe text.
func TestCheck(t *testing.T) {
	check := writer.Check{
		PromptLabels:     writer.ToLabels(toxscreen.Result{Score: 0.004395}),
		CompletionLabels: writer.ToLabels(toxscreen.Result{Score: 0.002441}),
	}
	const want = `{"prompt_labels":[{"class_name":"nontoxic","score":0.995605}],"completion_labels":[{"class_name":"nontoxic","score":0.997559}]}`
	if diff := cmp.Diff(want, servertest.JSON(t, check)); diff != "" {
		t.Error(diff)
	}
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		toxic toxscreen.Probability
		want  string
	}{
		{0, `[{"class_name":"nontoxic","score":1}]`},
		{0.5, `[{"class_name":"nontoxic","score":0.5}]`},
		{0.500001, `[{"class_name":"toxic","score":0.499999}]`},
		{1, `[{"class_name":"toxic","score":0}]`},
	} {
		if diff := cmp.Diff(c.want, servertest.JSON(t, writer.ToLabels(toxscreen.Result{Score: c.toxic}))); diff != "" {
			t.Errorf("%v: %s", c.toxic, diff)
		}
	}
}

// Writer has no label for a text that was not decided.
func TestHasNoLabelForWhatWasNotDecided(t *testing.T) {
	if labels := writer.ToLabels(toxscreen.Result{Score: 0.1, NotDecided: "the text seems to be German"}); labels != nil {
		t.Errorf("%+v", labels)
	}
}

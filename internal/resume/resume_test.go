package resume_test

import (
	"testing"

	"github.com/toxscreen/toxscreen/internal/resume"
)

// A run continues with the settings that it began with. One that it did not know then may be
// anything, so it counts as changed; one that no longer matters does not.
func TestChanged(t *testing.T) {
	before := []resume.Setting{{Name: "the model", Value: "a@1"}, {Name: "the seed", Value: ""}, {Name: "gone", Value: "x"}}
	for name, test := range map[string]struct {
		now  []resume.Setting
		want string
	}{
		"nothing is changed": {[]resume.Setting{{Name: "the seed", Value: ""}, {Name: "the model", Value: "a@1"}}, ""},
		"another value":      {[]resume.Setting{{Name: "the model", Value: "a@2"}}, `the run began with other settings: the model was "a@1" and is now "a@2"`},
		"a new setting":      {[]resume.Setting{{Name: "new", Value: ""}}, `the run began with other settings: new was "unknown" and is now ""`},
	} {
		got := ""
		if err := resume.Changed(before, test.now); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Package resume compares the settings of a run with those of the interrupted run that it
// continues, so that no output mixes results of different settings.
package resume

import "fmt"

// Setting is a setting that results depend on.
type Setting struct {
	Name  string `json:"name"` // for people: "the model"
	Value string `json:"value"`
}

// Changed returns an error that names the first of now's settings that is not among those of
// before, or has another value there. The caller adds the way out.
func Changed(before, now []Setting) error {
	was := map[string]string{}
	for _, s := range before {
		was[s.Name] = s.Value
	}
	for _, s := range now {
		value, ok := was[s.Name]
		if !ok {
			value = "unknown"
		}
		if !ok || value != s.Value {
			return fmt.Errorf("the run began with other settings: %s was %q and is now %q", s.Name, value, s.Value)
		}
	}
	return nil
}

package toxscreen_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/toxscreen/toxscreen"
)

func TestAttributeNames(t *testing.T) {
	for _, a := range toxscreen.Attributes() {
		if parsed, err := toxscreen.ParseAttribute(a.String()); err != nil || parsed != a {
			t.Errorf("ParseAttribute(%q) = %v, %v", a, parsed, err)
		}
	}
	if _, err := toxscreen.ParseAttribute("rudeness"); err == nil {
		t.Error("unknown attribute rudeness: got no error")
	}
}

// An attribute that was not measured is absent, which is not the same as 0.
func TestScoresKeepAbsentAndZeroApart(t *testing.T) {
	s := scores(toxscreen.Threat, 0.0, toxscreen.Toxicity, 0.25)
	if _, ok := s.Get(toxscreen.Insult); ok {
		t.Error("insult was never set, but is present")
	}
	if value, ok := s.Get(toxscreen.Threat); !ok || value != 0 {
		t.Errorf("threat is %v, %v: want 0, true", value, ok)
	}
	data, err := json.Marshal(s)
	if err != nil || string(data) != `{"toxicity":0.25,"threat":0}` {
		t.Errorf("JSON %s, %v", data, err)
	}
	var back toxscreen.Scores
	if err := json.Unmarshal(data, &back); err != nil || back != s {
		t.Errorf("read back %v, %v, want %v", back, err, s)
	}
}

func TestScoresRefuse(t *testing.T) {
	for _, data := range []string{`{"rudeness":0.5}`, `{"toxicity":null}`, `{"toxicity":"high"}`, `[0.5]`} {
		var s toxscreen.Scores
		if err := json.Unmarshal([]byte(data), &s); err == nil {
			t.Errorf("%s was read as %v, want an error", data, s)
		}
	}
	if data, err := json.Marshal(scores(toxscreen.Toxicity, math.NaN())); err == nil {
		t.Errorf("NaN was written as %s", data)
	}
}

func TestProbabilityShowsSixDecimals(t *testing.T) {
	for value, want := range map[toxscreen.Probability]string{0: "0", 1: "1", 0.5: "0.5", 1e-9: "0", 0.1234567: "0.123457", 0.999999999: "1"} {
		if data, err := json.Marshal(value); err != nil || string(data) != want {
			t.Errorf("%v is written %s (%v), want %s", float64(value), data, err, want)
		}
	}
}

package kind

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// VIN is a vehicle identification number.
const VIN toxscreen.EntityType = "VIN"

var vehicles = []scan.Kind{
	{
		Type: VIN, Description: "a vehicle identification number: check digit, or a cue",
		HIPAA:           "L",
		Cues:            []string{"vin", "vehicle", "chassis", "vehicle identification"},
		Layouts:         map[string]float64{"*****************": 0.7},
		Check:           vinCheck,
		Examples:        []string{"«1M8GDM9AXKP042788»", "VIN «WVWZZZ1JZXW000010»"},
		Counterexamples: []string{"1M8GDM9A1KP042788", "WVWZZZ1JZXW000010", "12345678901234567"},
	},
}

// vinCheck accepts numbers without a valid check digit, too, since only North America
// demands one. Such a number gets the score of a sample, so that it needs a cue.
func vinCheck(id string) scan.Verdict {
	letters := 0
	for i := range len(id) {
		if id[i] >= 'A' {
			letters++
		}
	}
	switch {
	case strings.ContainsAny(id, "IOQ") || letters < 3 || letters > 13 || id[16] >= 'A' || id[15] >= 'A':
		return scan.Impossible
	case vin(id):
		return scan.Checked
	}
	return scan.Sample
}

// vin tells whether 17 capital letters and digits have the check digit of North America (49
// CFR 565.15): the ninth character, a digit or X.
func vin(id string) bool {
	sum := 0
	for i, w := range [17]int{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2} {
		v := int(id[i] - '0')
		if id[i] >= 'A' {
			v = int("12345678012345070923456789"[id[i]-'A'] - '0')
		}
		sum += v * w
	}
	return "0123456789X"[sum%11] == id[8]
}

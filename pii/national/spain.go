package national

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// The types of numbers in Spain.
const (
	ESNIF toxscreen.EntityType = "ES_NIF"
	ESNIE toxscreen.EntityType = "ES_NIE"
)

var _ = declare("ES",
	scan.Kind{
		Type: ESNIF, Description: "the number of a Spanish identity card, which is also the tax number: check letter; bare forms with a cue",
		HIPAA:   "R",
		Cues:    []string{"nif", "dni", "documento nacional de identidad", "identificación"},
		Layouts: map[string]float64{"00000000A": 0.3, "00000000-A": 0.5, "00.000.000-A": 0.9, "00.000.000A": 0.7},
		Check: func(id string) scan.Verdict {
			if id == "12345678Z" || scan.Same(id[:8]) {
				return scan.When(nif(id), scan.Sample)
			}
			return scan.When(nif(id), scan.Checked)
		},
		Examples:        []string{"DNI «48213907L»", "NIF: «48213907-L»", "«48.213.907-L»", "«70532816-G», Sevilla", "dni «12345678Z»", "DNI «48213907l»"},
		Counterexamples: []string{"48213907L", "DNI 48213907M", "DNI 148213907L", "DNI 48213907LL", "12345678-Z", "48213907-LX", "DNI 48.213.907-M"},
	},
	scan.Kind{
		Type: ESNIE, Description: "the number of a foreigner in Spain: check letter",
		HIPAA:   "R",
		Cues:    []string{"nie", "identidad de extranjero", "identificación de extranjero", "extranjero"},
		Layouts: map[string]float64{"A0000000A": 0.6, "A0000000-A": 0.8, "A-0000000-A": 0.9},
		Check: func(id string) scan.Verdict {
			first := strings.IndexByte("XYZ", id[0])
			switch {
			case first < 0 || !nif(string(rune('0'+first))+id[1:]):
				return scan.Impossible
			case id == "X1234567L" || scan.Same(id[1:8]):
				return scan.Sample
			}
			return scan.Checked
		},
		Examples:        []string{"«Y4821390Y»", "«Z-7053281-Z»", "NIE «Y4821390-Y»", "nie: «X1234567L»", "NIE «y4821390y»"},
		Counterexamples: []string{"Y4821390X", "X1234567L", "W4821390Y", "NIE Y48213901Y", "YY4821390Y", "Y4821390YA"},
	},
)

// nif checks the letter after eight digits, which is their remainder modulo 23 (Real
// Decreto 1553/2005).
func nif(id string) bool {
	return "TRWAGMYFPDXBNJZSQVHLCKE"[scan.Weighted(id, 1e7, 1e6, 1e5, 1e4, 1e3, 100, 10, 1)%23] == id[8]
}

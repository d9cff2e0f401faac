package national

import (
	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// The types of numbers in Australia.
const (
	AUTFN      toxscreen.EntityType = "AU_TFN"
	AUMedicare toxscreen.EntityType = "AU_MEDICARE"
)

var _ = declare("AU",
	scan.Kind{
		Type: AUTFN, Description: "an Australian tax file number: checksum, and a cue",
		HIPAA:   "R",
		Cues:    []string{"tfn", "tax file"},
		Layouts: map[string]float64{"000 000 000": 0.3, "000-000-000": 0.2, "000000000": 0.2},
		Check: func(id string) scan.Verdict {
			return scan.When(tfn(id) && !scan.Same(id), scan.Checked)
		},
		Examples:        []string{"TFN «123 456 782»", "tax file number «123456782»"},
		Counterexamples: []string{"123456782", "TFN 123 456 783"},
	},
	scan.Kind{
		Type: AUMedicare, Description: "an Australian Medicare number: checksum, and its usual groups or a cue",
		HIPAA:           "I",
		Cues:            []string{"medicare"},
		Layouts:         map[string]float64{"0000 00000 0": 0.6, "0000-00000-0": 0.6, "0000000000": 0.2},
		Check:           scan.Passes(medicare),
		Examples:        []string{"«2123 45670 1»", "Medicare «2123456701»"},
		Counterexamples: []string{"2123 45671 1", "2123456701"},
	},
)

// tfn is the checksum of Australian tax file numbers: nine digits with weights, modulo 11.
func tfn(d string) bool { return scan.Weighted(d, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0 }

// medicare is the checksum of Australian Medicare numbers: eight digits, of which the first
// is 2 to 6, then a check digit, then the issue number of the card.
func medicare(d string) bool {
	return d[0] >= '2' && d[0] <= '6' && d[9] != '0' && scan.Weighted(d, 1, 3, 7, 9, 1, 3, 7, 9)%10 == int(d[8]-'0')
}

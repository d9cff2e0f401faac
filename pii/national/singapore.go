package national

import (
	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// SGNRICFIN is the number of a citizen, a permanent resident (NRIC) or a foreigner (FIN) in
// Singapore.
const SGNRICFIN toxscreen.EntityType = "SG_NRIC_FIN"

var _ = declare("SG",
	scan.Kind{
		Type: SGNRICFIN, Description: "the number of a Singaporean identity card, or of a foreigner there: check letter",
		HIPAA:   "R",
		Cues:    []string{"nric", "fin", "identity card", "identification number"},
		Layouts: map[string]float64{"A0000000A": 0.6},
		Check: func(id string) scan.Verdict {
			if id[1:8] == "1234567" || scan.Same(id[1:8]) {
				return scan.When(nric(id), scan.Sample)
			}
			return scan.When(nric(id), scan.Checked)
		},
		Examples:        []string{"«S8213904D»", "NRIC: «T0532816G»", "FIN «G7053281L»", "(«F4821390K»)", "«M4821390U»", "NRIC «S1234567D»", "nric «s8213904d»"},
		Counterexamples: []string{"S8213904E", "A8213904D", "S1234567D", "SS8213904D", "S82139041D", "S8213904DD", "s8213904d"},
	},
)

// nric checks the last letter, which is a remainder modulo 11. The first letter tells
// citizens and permanent residents (S, T) from foreigners (F, G, M), and the century. The
// authority does not publish the rule; the source is Wikipedia, National Registration
// Identity Card.
func nric(id string) bool {
	sum := scan.Weighted(id[1:], 2, 7, 6, 5, 4, 3, 2)
	switch id[0] {
	case 'S':
		return "JZIHGFEDCBA"[sum%11] == id[8]
	case 'T':
		return "JZIHGFEDCBA"[(sum+4)%11] == id[8]
	case 'F':
		return "XWUTRQPNMLK"[sum%11] == id[8]
	case 'G':
		return "XWUTRQPNMLK"[(sum+4)%11] == id[8]
	case 'M':
		return "XWUTRQPNJLK"[(sum+3)%11] == id[8]
	}
	return false
}

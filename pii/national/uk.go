package national

import (
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// The types of numbers in the United Kingdom.
const (
	UKNHS  toxscreen.EntityType = "UK_NHS"
	UKNINO toxscreen.EntityType = "UK_NINO"
)

var _ = declare("UK",
	scan.Kind{
		Type: UKNHS, Description: "a British NHS number: checksum, and its usual spaces or a cue",
		HIPAA:   "I",
		Cues:    []string{"nhs", "national health"},
		Layouts: map[string]float64{"000 000 0000": 0.45, "000-000-0000": 0.2, "0000000000": 0.2},
		Check: func(id string) scan.Verdict {
			return scan.When(nhs(id) && !scan.Same(id), scan.Checked)
		},
		Examples:        []string{"«999 000 0018»", "NHS «943 476 5919»", "NHS number «9434765919»", "NHS «999 000 0018»"},
		Counterexamples: []string{"943 476 5918", "9434765919"},
	},
	scan.Kind{
		Type: UKNINO, Description: "a British national insurance number",
		HIPAA:           "R",
		Cues:            []string{"nino", "national insurance", "ni number", "ni no"},
		Layouts:         map[string]float64{"AA 00 00 00 A": 0.9, "AA000000A": 0.7, "AA 000000 A": 0.8, "AA-00-00-00-A": 0.8, "AA000000 A": 0.6},
		Check:           ninoCheck,
		Examples:        []string{"«AB 12 34 56 C»", "«AB123456C»", "NI number «ab123456c»"},
		Counterexamples: []string{"QQ 12 34 56 C", "AB 12 34 56 E", "GB123456A", "ab123456c"},
	},
)

// ninoCheck refuses the prefixes that are never issued (HMRC, NIM39110).
func ninoCheck(id string) scan.Verdict {
	return scan.When(!strings.ContainsAny(id[:2], "DFIQUV") && id[1] != 'O' && !slices.Contains([]string{"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}, id[:2]) && id[8] <= 'D', scan.Plausible)
}

// nhs is the checksum of ten digits modulo 11 (NHS Data Dictionary, NHS Number).
func nhs(d string) bool {
	check := (11 - scan.Weighted(d, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11) % 11
	return check != 10 && check == int(d[9]-'0')
}

package national

import (
	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// PLPesel is the PESEL number of a resident of Poland.
const PLPesel toxscreen.EntityType = "PL_PESEL"

var _ = declare("PL",
	scan.Kind{
		Type: PLPesel, Description: "a Polish PESEL number: date of birth, checksum, and a cue",
		HIPAA:   "R",
		Cues:    []string{"pesel"},
		Layouts: map[string]float64{"00000000000": 0.2},
		Check:   scan.Passes(pesel),
		Examples: []string{
			"PESEL «44051401359»", "PESEL: «07312348213»", "«85022819302» (pesel)", "name,pesel,town\nJan,«85022819302»,Lublin\n",
		},
		Counterexamples: []string{
			"44051401359", "PESEL 44051401358", "PESEL 44151401355", "PESEL 144051401359", "PESEL 440514013591", "PESEL 4405140135", "PESEL 44051401359.5",
			"PESEL 44 0514 01359 12", "order 44051401359",
		},
	},
)

// pesel checks the date of birth, whose month encodes the century, and the check digit
// (Ustawa o ewidencji ludności, 2010, article 15).
func pesel(d string) bool {
	return isDate(scan.Weighted(d[4:], 10, 1), scan.Weighted(d[2:], 10, 1)%20) && scan.Weighted(d, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)%10 == 0
}

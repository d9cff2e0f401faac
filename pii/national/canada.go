package national

import (
	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// CASIN is the Social Insurance Number of Canada.
const CASIN toxscreen.EntityType = "CA_SIN"

var _ = declare("CA",
	scan.Kind{
		Type: CASIN, Description: "a Canadian social insurance number: checksum, and its usual groups or a cue",
		HIPAA:   "R",
		Cues:    []string{"sin", "social insurance", "nas"},
		Layouts: map[string]float64{"000-000-000": 0.5, "000 000 000": 0.4, "000000000": 0.2},
		Check: func(id string) scan.Verdict {
			if id[0] == '0' || id[0] == '8' { // samples begin with 0, companies with 8
				return scan.When(scan.Luhn(id), scan.Sample)
			}
			return scan.When(scan.Luhn(id) && !scan.Same(id), scan.Checked)
		},
		Examples:        []string{"«130-692-544»", "SIN «130692544»", "social insurance number: «046 454 286»"},
		Counterexamples: []string{"130-692-545", "130692544", "130 692 544 312"},
	},
)

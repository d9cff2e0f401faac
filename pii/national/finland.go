package national

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// FIPersonalIdentityCode is the identity code of a resident of Finland (henkilötunnus).
const FIPersonalIdentityCode toxscreen.EntityType = "FI_PERSONAL_IDENTITY_CODE"

var _ = declare("FI",
	scan.Kind{
		Type: FIPersonalIdentityCode, Description: "a Finnish personal identity code: date of birth, check character",
		HIPAA:           "R",
		Cues:            []string{"hetu", "henkilötunnus", "henkilotunnus", "personbeteckning", "personal identity code"},
		Layouts:         map[string]float64{"000000-000*": 0.9, "000000A000*": 0.9},
		Check:           scan.Passes(identityCode),
		Examples:        []string{"«131052-308T»", "HETU: «230107A4820»", "«010594-921M», Oulu", "henkilötunnus «280285-193u»"},
		Counterexamples: []string{"131052-308U", "131352-308T", "230107G4820", "131052-308TA", "1131052-308T", "131052-3081T", "280285-193u", "131052-308T-1"},
	},
)

// identityCode checks the date of birth, the sign of the century, and the last character,
// which is a remainder modulo 31 (Asetus väestötietojärjestelmästä, 128/2010). A dash as
// the sign is missing from id, since it counts as a separator.
func identityCode(id string) bool {
	if len(id) == 11 {
		if strings.IndexByte("ABCDEFYXWVU", id[6]) < 0 {
			return false
		}
		id = id[:6] + id[7:]
	}
	return isDate(scan.Weighted(id, 10, 1), scan.Weighted(id[2:], 10, 1)) && scan.Weighted(id[6:], 100, 10, 1) >= 2 &&
		"0123456789ABCDEFHJKLMNPRSTUVWXY"[scan.Weighted(id, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 100, 10, 1)%31] == id[9]
}

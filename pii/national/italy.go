package national

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// ITFiscalCode is the tax number of a person in Italy (codice fiscale).
const ITFiscalCode toxscreen.EntityType = "IT_FISCAL_CODE"

var _ = declare("IT",
	scan.Kind{
		Type: ITFiscalCode, Description: "an Italian fiscal code: date of birth, check letter",
		HIPAA:           "R",
		Cues:            []string{"codice fiscale", "fiscal code", "tax code", "cf"},
		Layouts:         map[string]float64{"AAAAAA**A**A***A": 0.95},
		Check:           scan.Passes(fiscalCode),
		Examples:        []string{"«RSSMRA85T10A562S»", "C.F. «BRGNNA72H55L219B», Torino", "«RSSMRAUMT10A562W»", "codice fiscale «rssmra85t10a562s»"},
		Counterexamples: []string{"RSSMRA85T10A562T", "RSSMRA85F10A562S", "RSSMRA85T10A562SX", "XRSSMRA85T10A562S", "rssmra85t10a562s", "ABCDEF01G23H456I"},
	},
)

// fiscalCode checks the date of birth and the last letter, which is a remainder modulo 26
// (Decreto ministeriale 23 dicembre 1976). The day of birth is 40 higher for women. Letters
// may replace any of the seven digits, to tell apart people who would share a code.
func fiscalCode(id string) bool {
	const (
		form   = "AAAAAA00A00A000A"
		digits = "LMNPQRSTUV"                 // the letters for 0 to 9
		odd    = "BAFHJNPRTVCESULDGIMOQKWZYX" // the values of 0 to 25 at odd places, as letters
	)
	sum, day := 0, 0
	for i := range len(id) - 1 {
		value := int(id[i] - 'A')
		if id[i] <= '9' {
			value = int(id[i] - '0')
		}
		if form[i] == '0' {
			digit := value
			if id[i] > '9' {
				if digit = strings.IndexByte(digits, id[i]); digit < 0 {
					return false
				}
			}
			if i == 9 || i == 10 {
				day = day*10 + digit
			}
		}
		if i%2 == 0 { // an odd place, counted from 1
			value = int(odd[value] - 'A')
		}
		sum += value
	}
	return strings.IndexByte("ABCDEHLMPRST", id[8]) >= 0 && isDate(day%40, 1) && day < 72 && int(id[15]-'A') == sum%26
}

package national

import (
	"testing"

	"github.com/toxscreen/toxscreen/pii/scan"
)

// The numbers are samples that the authorities publish, or computed ones. Each must fail
// with any one digit changed, which is what the checksums are for.
func TestChecksums(t *testing.T) {
	for name, c := range map[string]struct {
		check func(string) bool
		ids   []string
	}{
		"luhn":     {scan.Luhn, []string{"4111111111111111", "378282246310005", "046454286"}},
		"aba":      {aba, []string{"021000021", "011401533"}},
		"npi":      {npi, []string{"1234567893"}},
		"dea":      {dea, []string{"AB1234563"}},
		"nhs":      {nhs, []string{"9434765919", "9990000018"}},
		"tfn":      {tfn, []string{"123456782"}},
		"medicare": {medicare, []string{"2123456701"}},
		"verhoeff": {verhoeff, []string{"234123412346", "2363"}},
		"pesel":    {pesel, []string{"44051401359", "07312348213"}},
		"nif":      {nif, []string{"48213907L", "70532816G"}},
		"fiscal":   {fiscalCode, []string{"RSSMRA85T10A562S", "BRGNNA72H55L219B"}},
		"identity": {identityCode, []string{"131052308T", "230107A4820"}},
		"nric":     {nric, []string{"S8213904D", "T0532816G", "F4821390K", "G7053281L", "M4821390U"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, id := range c.ids {
				if !c.check(id) {
					t.Errorf("%s fails", id)
				}
				for i := range len(id) {
					if id[i] < '0' || id[i] > '9' || name == "medicare" && i == 9 {
						continue
					}
					if changed := id[:i] + string('0'+(id[i]-'0'+1)%10) + id[i+1:]; c.check(changed) {
						t.Errorf("%s passes like %s", changed, id)
					}
				}
			}
		})
	}
}

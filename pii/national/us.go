package national

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// The types of numbers in the United States.
const (
	USSSN           toxscreen.EntityType = "US_SSN"
	USITIN          toxscreen.EntityType = "US_ITIN"
	USPassport      toxscreen.EntityType = "US_PASSPORT"
	USDriverLicense toxscreen.EntityType = "US_DRIVER_LICENSE"
	USBankNumber    toxscreen.EntityType = "US_BANK_NUMBER"
	ABARouting      toxscreen.EntityType = "ABA_ROUTING_NUMBER"
	USNPI           toxscreen.EntityType = "US_NPI"
	USMBI           toxscreen.EntityType = "US_MBI"
	MedicalLicense  toxscreen.EntityType = "MEDICAL_LICENSE"
)

var _ = declare("US",
	scan.Kind{
		Type: USSSN, Description: "an American social security number; bare digits and well-known samples with a cue",
		HIPAA:   "G",
		Cues:    []string{"ssn", "social security", "social", "socsec", "ss", "soc sec", "ssns", "ssa"},
		Layouts: map[string]float64{"000-00-0000": 0.7, "000 00 0000": 0.35, "000.00.0000": 0.3, "000000000": 0.1, "000-000000": 0.1, "00000-0000": 0.1},
		Check:   ssnCheck,
		Examples: []string{
			"«536-22-1234»", "SSN: «536221234»", "social security number is «536 22 1234»", "«536-22-1234» (SSN)", "my SSN is «123-45-6789»",
			"user_ssn=«536221234»", "userSSN: «536221234»",
		},
		Counterexamples: []string{
			"000-22-1234", "666-22-1234", "536-00-1234", "536-22-0000", "536221234", "078-05-1120", "1536-22-1234", "536-22-12345", "lot 536-22-1234", "public 536221234",
		},
	},
	scan.Kind{
		Type: USITIN, Description: "an American individual taxpayer number; bare digits with a cue",
		HIPAA:           "G",
		Cues:            []string{"itin", "taxpayer", "individual taxpayer", "tax id", "tin"},
		Layouts:         map[string]float64{"000-00-0000": 0.6, "000 00 0000": 0.5, "000000000": 0.1},
		Check:           itinCheck,
		Examples:        []string{"«912-70-1234»", "ITIN «912701234»"},
		Counterexamples: []string{"912-69-1234", "912701234"},
	},
	scan.Kind{
		Type: USPassport, Description: "the number of an American passport, with a cue",
		HIPAA: "K",
		Cues:  []string{"passport", "passport number", "passport no", "travel document"},
		Reach: scan.Close,
		Loose: func(n scan.Loose) bool {
			return n.Marks == 0 && (n.Digits == 9 && n.Letters == 0 || n.Digits >= 6 && n.Digits <= 8 && n.Letters > 0 && n.Letters <= 2 && scan.Is(n.Text, 0, scan.Upper|scan.Lower))
		},
		Examples:        []string{"passport number «C12345678»", "Passport No. «123456789»"},
		Counterexamples: []string{"C12345678", "a passport costs 130 dollars", "the passport of section 12345"},
	},
	scan.Kind{
		Type: USDriverLicense, Description: "the number of an American driver's licence, with a cue",
		HIPAA: "K",
		Cues: []string{
			"driver license", "driver licence", "drivers license", "drivers licence", "driving license", "driving licence", "dl", "license number",
			"licence number", "driver permit", "dln", "license no", "licence no", "driverslicense", "driver lic", "drivers lic",
		},
		Reach: scan.Close,
		Loose: func(n scan.Loose) bool {
			return n.Digits+n.Letters >= 5 && n.Digits+n.Letters <= 17 && n.Digits >= 4 && n.Marks <= 4
		},
		Examples:        []string{"driver's license number is «D1234567»", "Driving licence: «M943-6888-9630»", "DL «50473044»"},
		Counterexamples: []string{"D1234567", "public 50473044", "driver 50473044"},
	},
	scan.Kind{
		Type: USBankNumber, Description: "the number of an American bank account, with a cue",
		HIPAA: "J",
		Cues: []string{
			"account", "acct", "account number", "checking", "savings", "bank account", "checking account", "savings account", "direct deposit", "iban",
			"a/c", "a/c no", "acc", "acc no",
		},
		Reach: scan.Close,
		Loose: func(n scan.Loose) bool {
			return n.Letters == 0 && n.Digits >= 7 && n.Digits <= 17 && n.Marks <= 3
		},
		Examples:        []string{"account number «000123456789»", "checking account: «12345678»", "a/c no «40882917»", "acc no. «40882917»"},
		Counterexamples: []string{"000123456789", "on account of 1234 things"},
	},
	scan.Kind{
		Type: ABARouting, Description: "the routing number of an American bank: checksum, and a cue",
		HIPAA:           "J",
		Cues:            []string{"routing", "aba", "rtn", "routing number", "transit number", "routing transit"},
		Layouts:         map[string]float64{"000000000": 0.3, "0000-0000-0": 0.5},
		Check:           scan.Passes(aba),
		Examples:        []string{"routing number «021000021»"},
		Counterexamples: []string{"021000021", "routing number 021000022"},
	},
	scan.Kind{
		Type: USNPI, Description: "an American health provider's number: checksum, and a cue",
		HIPAA:           "K",
		Cues:            []string{"npi", "national provider", "provider"},
		Layouts:         map[string]float64{"0000000000": 0.2, "0000-000-000": 0.2},
		Check:           scan.Passes(npi),
		Examples:        []string{"NPI «1234567893»"},
		Counterexamples: []string{"1234567893", "NPI 1234567894"},
	},
	scan.Kind{
		Type: USMBI, Description: "an American Medicare beneficiary identifier",
		HIPAA:           "I",
		Cues:            []string{"mbi", "medicare", "beneficiary"},
		Layouts:         map[string]float64{"0A*0-A*0-AA00": 0.9, "0A*0A*0AA00": 0.7, "0A*0 A*0 AA00": 0.8, "0A00-A*0-AA00": 0.9},
		Check:           mbiCheck,
		Examples:        []string{"«1EG4-TE5-MK73»", "«1EG4TE5MK73»"},
		Counterexamples: []string{"1SG4-TE5-MK73", "0EG4-TE5-MK73"},
	},
	scan.Kind{
		Type: MedicalLicense, Description: "the DEA number of an American prescriber: checksum",
		HIPAA:   "K",
		Cues:    []string{"dea", "prescriber", "medical license", "certificate", "registration"},
		Layouts: map[string]float64{"AA0000000": 0.5, "A90000000": 0.3},
		Check: func(id string) scan.Verdict {
			return scan.When(strings.IndexByte("ABCDEFGHJKLMPRSTUX", id[0]) >= 0 && dea(id), scan.Checked)
		},
		Examples:        []string{"DEA «AB1234563»", "«AB1234563»"},
		Counterexamples: []string{"AB1234564"},
	},
)

// ssnSamples are numbers from advertisements and documentation (Social Security
// Administration, "Social Security Cards Issued by Woolworth"), and numbers that people
// commonly make up.
var ssnSamples = map[string]bool{"078051120": true, "219099999": true, "123456789": true, "457555462": true, "123121234": true}

// ssnCheck refuses the ranges that were never issued (20 CFR 422.103; Social Security
// Number Randomization, 2011) and marks samples.
func ssnCheck(id string) scan.Verdict {
	area, group, serial := id[:3], id[3:5], id[5:]
	switch {
	case area == "000" || area == "666" || area >= "900" || group == "00" || serial == "0000":
		return scan.Impossible
	case ssnSamples[id] || scan.Same(id):
		return scan.Sample
	}
	return scan.Plausible
}

// itinCheck refuses numbers outside the groups of taxpayer numbers (IRS Publication 4757).
func itinCheck(id string) scan.Verdict {
	group := id[3:5]
	return scan.When(id[0] == '9' && (group >= "50" && group <= "65" || group >= "70" && group <= "88" || group >= "90" && group <= "92" || group >= "94"), scan.Plausible)
}

// mbiCheck refuses a 0 at the beginning, and the letters that never occur in Medicare
// beneficiary identifiers (CMS, Understanding the Medicare Beneficiary Identifier Format).
func mbiCheck(id string) scan.Verdict {
	return scan.When(id[0] != '0' && !strings.ContainsAny(id, "SLOIBZ"), scan.Plausible)
}

// aba is the checksum of nine-digit American bank routing numbers (ABA Routing Number
// Policy). The first two digits must stand for a Federal Reserve district, a thrift
// institution, an electronic transaction or a traveller's cheque.
func aba(d string) bool {
	district := int(d[0]-'0')*10 + int(d[1]-'0')
	return (district <= 12 || district >= 21 && district <= 32 || district >= 61 && district <= 72 || district == 80) &&
		d != "000000000" && scan.Weighted(d, 3, 7, 1, 3, 7, 1, 3, 7, 1)%10 == 0
}

// npi is the checksum of a National Provider Identifier: Luhn's, of 80840 and the ten
// digits (45 CFR 162.406).
func npi(d string) bool { return (d[0] == '1' || d[0] == '2') && scan.Luhn("80840"+d) }

// dea is the checksum of DEA registration numbers: the last of the seven digits after two
// letters.
func dea(id string) bool {
	d := id[2:]
	return (scan.Weighted(d, 1, 0, 1, 0, 1, 0)+2*scan.Weighted(d, 0, 1, 0, 1, 0, 1))%10 == int(d[6]-'0')
}

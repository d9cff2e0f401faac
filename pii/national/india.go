package national

import (
	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// INAadhaar is the number of a resident of India.
const INAadhaar toxscreen.EntityType = "IN_AADHAAR"

var _ = declare("IN",
	scan.Kind{
		Type: INAadhaar, Description: "an Indian Aadhaar number: checksum, and its usual groups or a cue",
		HIPAA:   "R",
		Cues:    []string{"aadhaar", "aadhar", "uidai", "uid", "adhaar"},
		Layouts: map[string]float64{"0000 0000 0000": 0.6, "0000-0000-0000": 0.6, "000000000000": 0.2},
		Check: func(id string) scan.Verdict {
			return scan.When(id[0] >= '2' && verhoeff(id) && !scan.Same(id), scan.Checked)
		},
		Examples:        []string{"«2341 2341 2346»", "Aadhaar «234123412346»"},
		Counterexamples: []string{"2341 2341 2347", "234123412346"},
	},
)

// verhoeff is the checksum of Aadhaar numbers (J. Verhoeff, Error Detecting Decimal Codes,
// 1969), in the dihedral group of order 10.
func verhoeff(digits string) bool {
	check := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		for range i % 8 {
			d = [10]int{1, 5, 7, 6, 2, 8, 3, 0, 9, 4}[d]
		}
		check = dihedral(check, d)
	}
	return check == 0
}

// dihedral multiplies two elements of the symmetry group of a pentagon: 0 to 4 are
// rotations, 5 to 9 reflections.
func dihedral(a, b int) int {
	switch {
	case a < 5 && b < 5:
		return (a + b) % 5
	case a < 5:
		return 5 + (a+b)%5
	case b < 5:
		return 5 + (a-b)%5
	default:
		return (a - b + 5) % 5
	}
}

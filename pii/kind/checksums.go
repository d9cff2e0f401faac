package kind

import (
	"strings"

	"github.com/toxscreen/toxscreen/pii/scan"
)

// The checksums take digits and, where they say so, capital letters, without separators.

// luhn is the checksum of cards and many numbers of authorities (ISO/IEC 7812-1, annex B).
func luhn(digits string) bool { return luhnSum(digits)%10 == 0 }

func luhnSum(digits string) int {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
			if d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum
}

// weighted returns the sum of digits times weights; digits beyond the weights do not count.
func weighted(digits string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += w * int(digits[i]-'0')
	}
	return sum
}

// mod97 is the remainder by 97 of digits and letters, which count as 10 to 35 (ISO 7064).
func mod97(id string) int {
	rest := 0
	for i := range len(id) {
		if c := id[i]; c <= '9' {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest
}

// passes returns the check that is a checksum.
func passes(checksum func(string) bool) func(string) scan.Verdict {
	return func(id string) scan.Verdict { return scan.When(checksum(id), scan.Checked) }
}

// same tells whether all digits are the same: such numbers pass many checksums and are
// nobody's.
func same(digits string) bool { return strings.Count(digits, digits[:1]) == len(digits) }

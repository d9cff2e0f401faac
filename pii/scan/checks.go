package scan

import "strings"

// Verdict is what a check says of an identifier without its separators.
type Verdict uint8

// The verdicts.
const (
	Impossible Verdict = iota
	Plausible          // it has the form and no more can be told
	Checked            // the checksum is right
	Sample             // a number that everybody knows from documentation
)

// When returns a verdict if it holds, and else that the identifier is impossible.
func When(ok bool, v Verdict) Verdict {
	if ok {
		return v
	}
	return Impossible
}

// The checksums take digits without separators.

// Luhn is the checksum of cards and many numbers of authorities (ISO/IEC 7812-1, annex B).
func Luhn(digits string) bool { return luhnSum(digits)%10 == 0 }

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

// Weighted returns the sum of digits times weights; digits beyond the weights do not count.
func Weighted(digits string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += w * int(digits[i]-'0')
	}
	return sum
}

// Passes returns the check that is a checksum.
func Passes(checksum func(string) bool) func(string) Verdict {
	return func(id string) Verdict { return When(checksum(id), Checked) }
}

// Same tells whether all digits are the same: such numbers pass many checksums and are
// nobody's.
func Same(digits string) bool { return strings.Count(digits, digits[:1]) == len(digits) }

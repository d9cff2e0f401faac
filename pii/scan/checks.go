package scan

import "strings"

// Verdict is what a check tells about an identifier whose separators were removed.
type Verdict uint8

// The verdicts.
const (
	Impossible Verdict = iota
	Plausible          // the form is right, and nothing else can be checked
	Checked            // the checksum is right
	Sample             // a number that everybody knows from documentation
)

// When returns v if ok, and Impossible otherwise.
func When(ok bool, v Verdict) Verdict {
	if ok {
		return v
	}
	return Impossible
}

// The checksums take ASCII digits without separators.

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

// Weighted returns the sum of each digit times its weight. Digits after the last weight add
// nothing.
func Weighted(digits string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += w * int(digits[i]-'0')
	}
	return sum
}

// Passes turns a checksum into a check: Checked if the identifier passes it, else
// Impossible.
func Passes(checksum func(string) bool) func(string) Verdict {
	return func(id string) Verdict { return When(checksum(id), Checked) }
}

// Same tells whether all digits are equal, as in 0000000000. Such numbers pass many
// checksums, but nobody owns them. digits must not be empty.
func Same(digits string) bool { return strings.Count(digits, digits[:1]) == len(digits) }

package pii

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

// aba is the checksum of American bank routing numbers (ABA Routing Number Policy): nine
// digits, the first two of a Federal Reserve district, a thrift, an electronic or a
// traveller's cheque number.
func aba(d string) bool {
	district := int(d[0]-'0')*10 + int(d[1]-'0')
	return (district <= 12 || district >= 21 && district <= 32 || district >= 61 && district <= 72 || district == 80) &&
		d != "000000000" && weighted(d, 3, 7, 1, 3, 7, 1, 3, 7, 1)%10 == 0
}

// npi is the Luhn checksum of the ten digits with 80840 before them (45 CFR 162.406).
func npi(d string) bool { return (d[0] == '1' || d[0] == '2') && luhn("80840"+d) }

// dea is the checksum of the seven digits after the two letters of a DEA number.
func dea(id string) bool {
	d := id[2:]
	return (weighted(d, 1, 0, 1, 0, 1, 0)+2*weighted(d, 0, 1, 0, 1, 0, 1))%10 == int(d[6]-'0')
}

// nhs is the checksum of ten digits by 11 (NHS Data Dictionary, NHS Number).
func nhs(d string) bool {
	check := (11 - weighted(d, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11) % 11
	return check != 10 && check == int(d[9]-'0')
}

// tfn is the checksum of nine digits by 11 of Australian tax file numbers.
func tfn(d string) bool { return weighted(d, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0 }

// medicare is the checksum of Australian Medicare numbers: eight digits, the first 2 to 6,
// the check digit and the number of the card's issue.
func medicare(d string) bool {
	return d[0] >= '2' && d[0] <= '6' && d[9] != '0' && weighted(d, 1, 3, 7, 9, 1, 3, 7, 9)%10 == int(d[8]-'0')
}

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

// dihedral multiplies in the group of rotations (0 to 4) and reflections (5 to 9) of a
// pentagon.
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

// vin is the check digit of vehicle identification numbers in North America (49 CFR
// 565.15): 17 digits and capital letters, the ninth a digit or X.
func vin(id string) bool {
	sum := 0
	for i, w := range [17]int{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2} {
		v := int(id[i] - '0')
		if id[i] >= 'A' {
			v = int("12345678012345070923456789"[id[i]-'A'] - '0')
		}
		sum += v * w
	}
	return "0123456789X"[sum%11] == id[8]
}

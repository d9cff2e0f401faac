package pii

import (
	"crypto/sha256"
	"math/bits"
	"strings"

	"golang.org/x/crypto/sha3"
)

// ibanLengths are the lengths of account numbers by country (SWIFT, IBAN Registry, release
// 99).
var ibanLengths = func() map[string]int {
	m := map[string]int{}
	for n, countries := range map[int]string{
		15: "NO", 16: "BE", 18: "DK FO FI GL NL SD FK", 19: "MK SI", 20: "AT BA EE KZ LT LU XK MN", 21: "CH HR LI LV",
		22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST",
		26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB NI PL SV", 29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC",
		32: "LC", 33: "RU",
	} {
		for c := range strings.FieldsSeq(countries) {
			m[c] = n
		}
	}
	return m
}()

// iban finds an account number that begins with a word, with or without blanks.
func (s *scanner) iban(start, end int) {
	if end-start < 4 || !is(s.text, start, lowerClass|upperClass) || !is(s.text, start+1, lowerClass|upperClass) ||
		!is(s.text, start+2, digitClass) || !is(s.text, start+3, digitClass) || !s.apartBefore(start) {
		return
	}
	length, ok := ibanLengths[strings.ToUpper(s.text[start:start+2])]
	if !ok {
		return
	}
	id := make([]byte, 0, 34)
	at := start
	for len(id) < length {
		switch {
		case is(s.text, at, digitClass|lowerClass|upperClass):
			b := s.text[at]
			if b >= 'a' {
				b -= 'a' - 'A'
			}
			id = append(id, b)
		case (has(s.text, at, ' ') || has(s.text, at, '-')) && len(id)%4 == 0 && is(s.text, at+1, wordClass):
		default:
			return
		}
		at++
	}
	if is(s.text, at, wordClass) || mod97(string(id[4:])+string(id[:4])) != 1 {
		return
	}
	s.wordEnd = at
	s.add(IBANCode, start, at, 1, "checksum")
}

// crypto finds the address of a wallet.
func (s *scanner) crypto(start, end int) {
	word := s.text[start:end]
	length := len(word)
	switch {
	case length >= 26 && length <= 35 && (word[0] == '1' || word[0] == '3') && base58check(word):
		s.add(Crypto, start, end, 1, "checksum")
	case length >= 14 && length <= 90 && (strings.HasPrefix(word, "bc1") || strings.HasPrefix(word, "BC1")) && bech32(word):
		s.add(Crypto, start, end, 1, "checksum")
	case length == 42 && word[0] == '0' && word[1] == 'x' && isHex(word[2:]):
		small, great := strings.ToLower(word[2:]), strings.ToUpper(word[2:])
		switch {
		case word[2:] == small || word[2:] == great: // a hash of 20 bytes looks the same
			s.add(Crypto, start, end, 0.5, "pattern")
		case eip55(word[2:]):
			s.add(Crypto, start, end, 1, "checksum")
		}
	default:
		return
	}
}

func isHex(s string) bool {
	for i := range len(s) {
		if !isHexDigit(s[i]) {
			return false
		}
	}
	return true
}

func isHexDigit(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// base58check tells whether the last four of the 25 bytes that an address spells in base 58
// are the beginning of the double SHA-256 of the others (Bitcoin's Base58Check).
func base58check(address string) bool {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	var decoded [25]byte
	for i := range len(address) {
		carry := strings.IndexByte(alphabet, address[i])
		if carry < 0 {
			return false
		}
		for j := len(decoded) - 1; j >= 0; j-- {
			carry += 58 * int(decoded[j])
			decoded[j] = byte(carry)
			carry >>= 8
		}
		if carry != 0 {
			return false
		}
	}
	once := sha256.Sum256(decoded[:21])
	twice := sha256.Sum256(once[:])
	return string(twice[:4]) == string(decoded[21:])
}

// bech32 checks an address of Bitcoin's segregated witness (BIP 173, and BIP 350 for
// versions from 1 on).
func bech32(address string) bool {
	small := strings.ToLower(address)
	if address != small && address != strings.ToUpper(address) {
		return false
	}
	check := uint32(1)
	version := uint32(0)
	step := func(value uint32) {
		top := check >> 25
		check = check&0x1ffffff<<5 ^ value
		for i, generator := range [5]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if bits.OnesCount32(top>>i&1) == 1 {
				check ^= generator
			}
		}
	}
	for _, value := range [5]uint32{'b' >> 5, 'c' >> 5, 0, 'b' & 31, 'c' & 31} {
		step(value)
	}
	for i := len("bc1"); i < len(small); i++ {
		value := strings.IndexByte("qpzry9x8gf2tvdw0s3jn54khce6mua7l", small[i])
		if value < 0 {
			return false
		}
		if i == len("bc1") {
			version = uint32(value)
		}
		step(uint32(value))
	}
	if version == 0 {
		return check == 1
	}
	return check == 0x2bc830a3
}

// eip55 tells whether the capitals among 40 hexadecimal digits are where the Keccak-256 of
// the small ones wants them (EIP-55).
func eip55(digits string) bool {
	small := strings.ToLower(digits)
	keccak := sha3.NewLegacyKeccak256()
	_, _ = keccak.Write([]byte(small))
	hash := keccak.Sum(nil)
	for i := range len(digits) {
		nibble := hash[i/2] >> 4
		if i%2 == 1 {
			nibble = hash[i/2] & 15
		}
		if small[i] >= 'a' && (nibble >= 8) != (digits[i] != small[i]) {
			return false
		}
	}
	return true
}

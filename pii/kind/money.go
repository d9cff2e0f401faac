package kind

import (
	"crypto/sha256"
	"math/bits"
	"slices"
	"strings"

	"golang.org/x/crypto/sha3"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// Types of numbers that identify accounts, cards and wallets.
const (
	CreditCard toxscreen.EntityType = "CREDIT_CARD"
	IBANCode   toxscreen.EntityType = "IBAN_CODE"
	Crypto     toxscreen.EntityType = "CRYPTO"
)

var money = []scan.Kind{
	{
		Type: CreditCard, Description: "a card number: prefix and length of a brand, Luhn",
		HIPAA: "J",
		Cues: []string{
			"card", "credit", "debit", "visa", "mastercard", "amex", "american express", "discover", "diners", "jcb", "unionpay", "maestro", "cc", "pan", "creditcard",
		},
		Layouts: map[string]float64{
			"0000 0000 0000 0000": 1, "0000-0000-0000-0000": 1, "0000 000000 00000": 1, "0000-000000-00000": 1,
			"0000 000000 0000": 1, "0000-000000-0000": 1, "0000 0000 0000 0000 000": 1, "0000-0000-0000-0000-000": 1,
			"000000 0000000000000": 1, "0000 0000 0000 0000 00": 0.8, "0000 0000 0000": 0.2, "0000.0000.0000.0000": 0.8,
			"0000000000000000": 0.9, "000000000000000": 0.9, "00000000000000": 0.7, "0000000000000000000": 0.6, "000000000000000000": 0.4, "00000000000000000": 0.4, "0000000000000": 0.2, "000000000000": 0.2,
		},
		Check: cardCheck,
		Examples: []string{
			"«4111 1111 1111 1111»", "«4111-1111-1111-1111»", "«4111111111111111»", "«378282246310005»", "«3782 822463 10005»", "«5555555555554444»", "«2223003122003222»", "«6011111111111117»",
			"«30569309025904»", "«3530111333300000»", "«6200000000000005»", "visa «4222222222222»", "maestro «6759649826438453»",
		},
		Counterexamples: []string{
			"4111 1111 1111 1112", "1700000000000", "4222222222222", "94111111111111111", "4111111111111111.5", "0.4111111111111111", "/4111111111111111/", "a4111111111111111", "order: 4111111111111111",
			"4111 1111 1111 1111 1111 1111", "0000000000000000", "1234567812345670",
		},
	},
	{
		Type: IBANCode, Description: "an international bank account number: length of its country, mod 97",
		HIPAA: "J",
		Cues:  []string{"iban", "account", "bank", "transfer", "wire", "konto"},
		Patterns: []scan.Pattern{
			{At: scan.Mixed, Least: 4, Find: iban},
		},
		Examples: []string{
			"«GB82 WEST 1234 5698 7654 32»", "«DE89370400440532013000»", "«gb82west12345698765432»", "«NO93 8601 1117 947»", "«FR14-2004-1010-0505-0001-3M02-606»",
		},
		Counterexamples: []string{"GB82 WEST 1234 5698 7654 33", "DE8937040044053201300", "XX82 WEST 1234 5698 7654 32", "GB82"},
	},
	{
		Type: Crypto, Description: "the address of a Bitcoin or Ethereum wallet: base58check, bech32, EIP-55",
		HIPAA: "J",
		Cues:  []string{"bitcoin", "btc", "ethereum", "eth", "wallet", "crypto", "ether", "address"},
		Patterns: []scan.Pattern{
			{At: scan.Digits | scan.Mixed, Least: 14, Find: crypto},
		},
		Examples: []string{
			"«1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa»", "«bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4»", "«bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0»",
			"«0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed»", "«0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed»",
		},
		Counterexamples: []string{
			"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed00",
		},
	},
}

// cardBrands are the prefixes and lengths of brands (ISO/IEC 7812 issuer identification
// numbers, as the brands publish them).
var cardBrands = []struct {
	from, to string // the first digits
	lengths  []int
}{
	{"4", "4", []int{13, 16, 19}},               // Visa
	{"51", "55", []int{16}},                     // Mastercard
	{"2221", "2720", []int{16}},                 // Mastercard, since 2017
	{"34", "34", []int{15}},                     // American Express
	{"37", "37", []int{15}},                     //
	{"6011", "6011", []int{16, 19}},             // Discover
	{"644", "659", []int{16, 19}},               //
	{"300", "305", []int{14, 16}},               // Diners Club
	{"3095", "3095", []int{14}},                 //
	{"36", "36", []int{14, 16}},                 //
	{"38", "39", []int{14, 16}},                 //
	{"3528", "3589", []int{16, 19}},             // JCB
	{"2131", "2131", []int{15}},                 //
	{"1800", "1800", []int{15}},                 //
	{"62", "62", []int{16, 17, 18, 19}},         // UnionPay
	{"81", "81", []int{16}},                     //
	{"5018", "5018", []int{12, 13, 16, 18, 19}}, // Maestro
	{"5020", "5020", []int{12, 13, 16, 18, 19}}, //
	{"5038", "5038", []int{12, 13, 16, 18, 19}}, //
	{"5893", "5893", []int{12, 13, 16, 18, 19}}, //
	{"6304", "6304", []int{12, 13, 16, 18, 19}}, //
	{"6759", "6763", []int{12, 13, 16, 18, 19}}, //
	{"2200", "2204", []int{16}},                 // Mir
	{"60", "60", []int{16}},                     // RuPay
	{"508", "508", []int{16}},                   //
}

// cardCheck demands the prefix and the length of a brand, and Luhn's checksum.
func cardCheck(id string) scan.Verdict {
	for _, b := range cardBrands {
		if first := id[:len(b.from)]; first >= b.from && first <= b.to && slices.Contains(b.lengths, len(id)) {
			return scan.When(scan.Luhn(id) && strings.Count(id, "0") < len(id)-2, scan.Checked)
		}
	}
	return scan.Impossible
}

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

// iban finds an account number, with or without blanks, that begins with a word.
func iban(s *scan.Scanner, start, end int) {
	if end-start < 4 || !s.Is(start, scan.Lower|scan.Upper) || !s.Is(start+1, scan.Lower|scan.Upper) ||
		!s.Is(start+2, scan.Digit) || !s.Is(start+3, scan.Digit) || !s.ApartBefore(start) {
		return
	}
	length, ok := ibanLengths[strings.ToUpper(s.Text[start:start+2])]
	if !ok {
		return
	}
	id := make([]byte, 0, 34)
	at := start
	for len(id) < length {
		switch {
		case s.Is(at, scan.Digit|scan.Lower|scan.Upper):
			b := s.Text[at]
			if b >= 'a' {
				b -= 'a' - 'A'
			}
			id = append(id, b)
		case (s.Has(at, ' ') || s.Has(at, '-')) && len(id)%4 == 0 && s.Is(at+1, scan.Word):
		default:
			return
		}
		at++
	}
	if s.Is(at, scan.Word) || mod97(string(id[4:])+string(id[:4])) != 1 {
		return
	}
	s.WordEnd = at
	s.Add(IBANCode, start, at, 1, "checksum")
}

// mod97 returns the remainder by 97 of a number whose letters A to Z stand for 10 to 35
// (ISO 7064).
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

// crypto finds the address of a wallet.
func crypto(s *scan.Scanner, start, end int) {
	word := s.Text[start:end]
	length := len(word)
	switch {
	case length >= 26 && length <= 35 && (word[0] == '1' || word[0] == '3') && base58check(word):
		s.Add(Crypto, start, end, 1, "checksum")
	case length >= 14 && length <= 90 && (strings.HasPrefix(word, "bc1") || strings.HasPrefix(word, "BC1")) && bech32(word):
		s.Add(Crypto, start, end, 1, "checksum")
	case length == 42 && word[0] == '0' && word[1] == 'x' && isHex(word[2:]):
		small, great := strings.ToLower(word[2:]), strings.ToUpper(word[2:])
		switch {
		case word[2:] == small || word[2:] == great: // a hash of 20 bytes looks the same
			s.Add(Crypto, start, end, 0.5, "pattern")
		case eip55(word[2:]):
			s.Add(Crypto, start, end, 1, "checksum")
		}
	default:
		return
	}
}

func isHex(s string) bool {
	for i := range len(s) {
		if !scan.IsHexDigit(s[i]) {
			return false
		}
	}
	return true
}

// base58check tells whether an address has the checksum of Bitcoin's Base58Check: in base
// 58 it spells 25 bytes, and the last four are the beginning of the double SHA-256 of the
// others.
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

// bech32 tells whether an address of Bitcoin's segregated witness has a valid checksum (BIP
// 173; BIP 350 from version 1 on).
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

// eip55 tells whether the case of the letters among 40 hexadecimal digits is the checksum
// of EIP-55: the Keccak-256 of the digits in small letters decides which are capitals.
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

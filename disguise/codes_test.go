package disguise_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/disguise"
)

const (
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
)

// codes are number plates, keys and numbers of things, by how they are composed: L is a
// capital, D a digit, X either.
var codes = []string{
	"LLDD LLL", "LLDDLLL", "LD LLL", "LDDD LLL", "LLL DDDL", "XXX XXX", // plates of the United Kingdom, of today, of past decades, personal ones
	"L-LL DD", "LLL-L DDDD", "LL-L DDDL", "DLLLDDD", "LLL-DDDD", "XXXXXXX", // of Germany, of California, Texas, personal ones
	"LLD DLL", "LDL DLL", "LDD DLL", // postcodes
	"LLDD", "LLDDDD", "LDD", "XXXXXX", // flights, roads, bookings
	"#XXXXXXXX", "XXXXX-XXXXX", "LLDDDDDDDD", "LLL-XXXXX-DD", "XXX-XXXXX-XX", "XXXX", "XXXXX", "XXXXXXXX", "XXXXXXXXXX", // orders, products, vouchers
	"XXXX-XXXX-XXXX-XXXX", "XXXXX-XXXXX-XXXXX-XXXXX-XXXXX", // licences
}

var codeCarriers = []string{"%s", "My number plate is %s.", "Your order %s has shipped.", "Enter the code %s to continue.", "(%s)", "Ref: %s, thanks"}

// TestCodesAreNoWords: codes of capitals and digits look like shouted leet. Of 33,000 made
// ones, 1,384 were read as words before codes were told apart; some are words by accident.
func TestCodesAreNoWords(t *testing.T) {
	const count, most = 33_000, 9
	tok := bert(t)
	rng := rand.New(rand.NewPCG(37, 2))
	var read []string
	for i := range count {
		code := ""
		for !strings.ContainsAny(code, digits) || !strings.ContainsAny(code, capitals) {
			code = strings.Map(func(r rune) rune {
				switch set := map[rune]string{'L': capitals, 'D': digits, 'X': capitals + digits}[r]; set {
				case "":
					return r
				default:
					return rune(set[rng.IntN(len(set))])
				}
			}, codes[i%len(codes)])
		}
		text := fmt.Sprintf(codeCarriers[rng.IntN(len(codeCarriers))], code)
		if r := disguise.Read(text, tok); r.Text != text {
			read = append(read, text+" → "+r.Text)
		}
	}
	if len(read) > most {
		t.Errorf("%d of %d codes are read as words, want at most %d: %q", len(read), count, most, read)
	}
}

// Shouted words with digits inside remain words.
func TestShoutedWordsAreNoCodes(t *testing.T) {
	tok := bert(t)
	for text, want := range map[string]string{
		"1D10T":                              "IDIOT",
		"YOU 5TUP1D B1TCH":                   "YOU STUPID BITCH",
		"what a piece of CR4P":               "what a piece of CRAP",
		"what a piece of SH1T":               "what a piece of SH1T", // an entry of the vocabulary
		"K1LL Y0UR53LF, F00L!":               "KILL YOURSELF, FOOL!",
		"you M0R0N, F00L!":                   "you MORON, FOOL!",
		"WHAT A DUM8 SCUM8AG":                "WHAT A DUMB SCUMBAG",
		"B4D 4SS, QX7-1D10T-22":              "B4D 4SS, QX7-1D10T-22",
		"mine is WK53 LLR, SH17 XKD is hers": "mine is WK53 LLR, SH17 XKD is hers",
		"WK53 LLR":                           "WK53 LLR", "order PE57": "order PE57",
	} {
		if got := disguise.Read(text, tok); got.Text != want {
			t.Errorf("Read(%q) = %q, want %q", text, got.Text, want)
		}
	}
}

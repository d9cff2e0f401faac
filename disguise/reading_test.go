package disguise_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/tokenize"
)

var _ disguise.Vocabulary = (*tokenize.Tokenizer)(nil)

// bert loads the vocabulary of the default model.
func bert(t testing.TB) *tokenize.Tokenizer {
	t.Helper()
	data, err := os.ReadFile("../models/toxicity-en/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenize.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// boundary reports whether a character of text begins or ends at byte at.
func boundary(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }

func TestReadUndoesDisguise(t *testing.T) {
	tok := bert(t)
	for text, want := range map[string]string{
		// Letters of other alphabets and styles.
		"you \u0456d\u0456\u043et":                           "you idiot",
		"\u0455tup\u0456d":                                   "stupid",
		"an \uff49\uff44\uff49\uff4f\uff54":                  "an idiot",
		"\U0001d4f2\U0001d4ed\U0001d4f2\U0001d4f8\U0001d4fd": "idiot",
		"ⓘⓓⓘⓞⓣ":                                              "idiot",
		"\U0001f178\U0001f173\U0001f178\U0001f17e\U0001f183": "IDIOT",
		"ɪᴅɪᴏᴛ":                                              "idiot",
		"you are сору":                                       "you are copy", // entirely Cyrillic, in an English text
		// Hidden between letters.
		"i\u200bd\u200di\u2060o\u00adt": "idiot",
		"i\u0335d\u0335i\u0335o\u0335t": "idiot",
		"i\u0301\u0302\u0303d\u0308iot": "i\u0301diot", // one accent makes a letter, several do not
		// Upside down.
		"ʇoıpı uɐ ǝɹɐ noʎ": "idiot an are you",
		"ᴉpᴉoʇ":            "idiot", // turned letters in their original order
		// Flags.
		"🇸🇭🇮🇹, 🇮🇩🇮🇴🇹": "shit, idiot",
		// Digits and signs.
		"an 1d10t":          "an idiot",
		"5tup1d m0ron":      "stupid moron",
		"a$$ and $h1t":      "ass and shit",
		"@sshole!":          "asshole!",
		"k1ll b1tch CR4P":   "kill bitch CRAP",
		"b1tch3s":           "bitches",
		"57UP1D $7up1d":     "STUPID stupid",
		"1d107 idi07 f0015": "idiot idiot fools",
		"h311 dum8 u91y":    "hell dumb ugly",
		"l0ser and 1oser":   "loser and loser",
		"(1d10t), 1d10t's.": "(idiot), idiot's.",
		// Spaced letters.
		"you i d i o t":                  "you idiot",
		"an i.d.i.o.t. and s-t-u-p-i-d":  "an idiot. and stupid",
		"1 d 1 0 t":                      "idiot",
		"a n i d i o t":                  "an idiot",
		"y o u  i d i o t":               "you  idiot",
		"(an i d i o t!) a s s, p-i-g":   "(an idiot!) ass, pig",
		"a m-o-r-o-n, h.y.p.o.c.r.i.t.e": "a moron, hypocrite",
		strings.Repeat("i d i o t ", 20): strings.Repeat("idiot ", 20),
		// Repeated letters.
		"idiooooot":        "idiot",
		"STUUUUPID":        "STUPID",
		"gooood killll":    "good kill",
		"sooooo stuppppid": "so stupid",
		// Joined words.
		"stupid_idiot":                     "stupid idiot",
		"#StupidIdiot":                     "#Stupid Idiot",
		"whatastupididiot and stupididiot": "what a stupid idiot and stupid idiot",
		"theidiotwas, youaredisgusting":    "the idiot was, you are disgusting",
		"itisridiculous and isridiculous":  "it is ridiculous and is ridiculous",
		// Stars, where one word fits.
		"id*ot, ST*PID *tr*ll*?": "idiot, STUPID *troll*?",
		"**st*p*d** b*tch*s":     "**stupid** bitches",
		// Swapped letters.
		"idoit, stpuid": "idiot, stupid",
		// Several at once.
		"1d\u0456\u200b0\uff54": "idiot",
	} {
		got := disguise.Read(text, tok)
		if got.Text != want {
			t.Errorf("Read(%q) = %q, want %q", text, got.Text, want)
		}
		if changed := apply(text, got.Changes()); changed != want {
			t.Errorf("Read(%q): with the changes it is %q, want %q", text, changed, want)
		}
	}
}

// apply returns a text with its changes, which must be in order.
func apply(text string, changes []disguise.Change) string {
	var b strings.Builder
	at := 0
	for _, c := range changes {
		b.WriteString(text[at:c.Start] + c.ReadAs)
		at = c.End
	}
	return b.String() + text[at:]
}

// The changes are whole words, without the punctuation around them.
func TestChanges(t *testing.T) {
	tok := bert(t)
	for text, want := range map[string][]string{
		"you are kind":                          nil,
		"you 1d10t!":                            {"1d10t → idiot"},
		"(You f*cking 1d10t), so i d i o t i c": {"f*cking → fucking", "1d10t → idiot", "i d i o t i c → idiotic"},
		"an i.d.i.o.t. here":                    {"i.d.i.o.t → idiot"},
		"so a n i d i o t":                      {"a n → an", "i d i o t → idiot"},
		"stupididiot and StupidIdiot":           {"stupididiot → stupid idiot", "StupidIdiot → Stupid Idiot"},
		"not-1d10t, but 5tup1d":                 {"not-1d10t → not-idiot", "5tup1d → stupid"},
		"**st*p*d**":                            {"st*p*d → stupid"},
		"such an \u0456d\u0456\u200bot, no":     {"\u0456d\u0456\u200bot → idiot"},
		"s t u u u p i d and s0 0n":             {"s t u u u p i d → stupid"},
		"ʇoıpı 😀 ʇoıpı":                         {"ʇoıpı → idiot", "ʇoıpı → idiot"},
	} {
		var got []string
		r := disguise.Read(text, tok)
		for _, c := range r.Changes() {
			got = append(got, text[c.Start:c.End]+" → "+c.ReadAs)
		}
		if !slices.Equal(got, want) {
			t.Errorf("Read(%q) changes %q, want %q", text, got, want)
		}
	}
}

func TestReadLeavesAlone(t *testing.T) {
	tok := bert(t)
	for _, text := range []string{
		// Models, versions, chemistry, sizes.
		"B2B 3D mp3 mp4 h264 COVID-19 AK-47 C3PO R2D2 H1N1 windows7 PS5 XBOX360 U2 G7 5G 4K 1080p i7 F-150 B-52 C4 W3C P2P A4 B1",
		"H2O CO2 NaCl2 C6H12O6 sha256 md5 utf8 x86 base64 ipv6 0x1f 0xdead SQL2019 v1.2.3 1.0b3 E=mc2 GPT4 Log4j",
		// Numbers, units, times, prices.
		"4th 1st 2nd 3rd 10k 5pm 7am 24h 30mins 5min 6ft 90s 80kg 3x5 4x4 1v1 $100 US$5 100$ 5% 1/2 0.5 3some 4chan 7up 50/50 £5 €3m 1m 2x",
		// Internet abbreviations.
		"l10n i18n k8s a11y b4 gr8 m8 l8r 2nite",
		// Chess.
		"e4 e5 Nf3 Nc6 Bb5 N5f3 Bxe5+ O-O-O e8=Q R1a3",
		// Addresses, files, code.
		"https://a1b.com/c0de?x=5s user1@ex4mple.com www.l33t.org a/b1c my_file_1.txt foo(b4r)=1 <b4d> std::v3c #c0ffee #ffffff",
		// Names.
		"iPhone4s AK47s 747s F16s GPT4o BERT4Rec US$ $3bn",
		"Cnut Knut Scunthorpe Penistone penistone Cockfosters glasscock Cumberbatch Shitterton cockermouth Titchmarsh slutsky cucumber Cockburn Dickinson Clitheroe Essex Matsushita",
		"Allcock Hiscock Witherspoon misconceptions behaving categorises unmanageable amenable ahistorical JamesLucass",
		"@b0b @Stupid_Idiot YouTube iPhone eBay McDonald LaTeX JavaScript O'Neill MacArthur $AAPL",
		// Stars that do not stand for letters.
		"*really* **bold** word* a*b foo*bar 2*3*4 5*x x*y*z 4*4=16 **kwargs char* *.txt ******",
		// Lists and initials.
		"a b c d e f g", "U S A", "J. R. R. T.", "A. B. C. D.", "L.A.P.D. i d r, w t c; D A D", "1 2 3 4 5", "x 1 y 2", "e.g. i.e. U.S.A. a.m.",
		// Other alphabets, accents.
		"Привет, мир! сосо рост", "Ελλάδα και Κύπρος", "5 μm, TNFα, IFNγ, αβγ, γδT cells", "العربية עברית 日本語 ภาษาไทย",
		"café naïve résumé Zoë Łódź Đặng Åse cafe\u0301",
		"/ˈstjuːpɪd/ [ʃɪt] /ɡʊd/ ɛna ɔkɔm ƙasa",
		"नमस्ते क्\u200dष می\u200cخواهم", "👩\u200d👩\u200d👧 ❤\ufe0f 🇺🇸 🇩🇪🇦🇹🇨🇭 🇬🇧🇫🇷",
		// Cases that only a reader with a larger vocabulary could decide.
		"f**k sh*t a**", "hmm zzz xxx XXXL WWIII www",
		// Not text.
		"", " ", "!!!", "\xff\xfe", "a\xffb",
	} {
		if got := disguise.Read(text, tok); got.Text != text {
			t.Errorf("Read(%q) = %q, should not change", text, got.Text)
		}
	}
}

func TestOriginal(t *testing.T) {
	tok := bert(t)
	for _, test := range []struct{ text, word, want string }{
		{"you 1d10t!", "idiot", "1d10t"},
		{"you i d i o t and", "idiot", "i d i o t"},
		{"an i.d.i.o.t. here", "idiot", "i.d.i.o.t"},
		{"such an \u0456d\u0456\u200bot, no", "idiot", "\u0456d\u0456\u200bot"},
		{"stuuuupid 1d10t m0ron", "moron", "m0ron"},
		{"stupid_idiot", "idiot", "idiot"},
		{"\u0456\u0501\u0456ooot s o b a d idiot", "idiot", "\u0456\u0501\u0456ooot"},
		{"ʇoıpı you", "idiot", "ʇoıpı"},
	} {
		r := disguise.Read(test.text, tok)
		at := strings.Index(r.Text, test.word)
		if at < 0 {
			t.Errorf("Read(%q) = %q, without %q", test.text, r.Text, test.word)
			continue
		}
		start, end := r.Original(at, at+len(test.word))
		if got := test.text[start:end]; got != test.want {
			t.Errorf("Read(%q): %q comes from %q, want %q", test.text, test.word, got, test.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	tok := bert(f)
	for _, text := range []string{
		"you 1d10t", "i d i o t", "i.d.i.o.t", "\u0456di\u043et \u0301\u0302", "ʇoıpı uɐ", "stupid_idiot StupidIdiot", "\xff1d10t\xff", "soooo ａｂｃ a$$ @sshole 1 d 1 0 t",
		"i\u200bd\u200biot сору x", "\U0001f178\U0001f173\ufe0f",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := disguise.Read(text, tok)
		if again := disguise.Read(r.Text, tok); again.Text != r.Text {
			t.Errorf("Read(%q) = %q, read again %q", text, r.Text, again.Text)
		}
		if utf8.ValidString(text) && !utf8.ValidString(r.Text) {
			t.Errorf("Read(%q) = %q, no longer valid", text, r.Text)
		}
		changes := r.Changes()
		if changed := apply(text, changes); changed != r.Text {
			t.Errorf("Read(%q) = %q, but with the changes %v it is %q", text, r.Text, changes, changed)
		}
		last := 0
		for at, c := range r.Text {
			size := utf8.RuneLen(c)
			if c == utf8.RuneError && !strings.HasPrefix(r.Text[at:], "\ufffd") {
				size = 1
			}
			start, end := r.Original(at, at+size)
			checkOrigin(t, text, last, start, end)
			last = start
		}
	})
}

// BenchmarkRead: ordinary text must cost almost nothing.
func BenchmarkRead(b *testing.B) {
	tok := bert(b)
	ordinary := strings.Repeat("Thank you, that was a great help. I'll mend the other 12 pages (of 2019) tomorrow. ", 12)
	for name, text := range map[string]string{
		"ordinary":  ordinary,
		"accents":   strings.Repeat("Thank you, Zoë: that was “a great help” – I'll mend the other 12 pages tomorrow. ", 12),
		"russian":   strings.Repeat("Спасибо, это очень помогло. Остальные 12 страниц я исправлю завтра. ", 12),
		"disguised": strings.Repeat("you are an 1d10t and a m0ron, i d i o t, \u0456d\u0456\u043et. ", 20),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				disguise.Read(text, tok)
			}
		})
	}
}

// BenchmarkReadLength checks that time grows linearly with the length of a text.
func BenchmarkReadLength(b *testing.B) {
	tok := bert(b)
	for _, unit := range []string{"a ", "a.", "1d10t ", "aB", "\u0456d", "a\u0301\u0302", "stupid_", "iiii", "youareastupididiot ", "xqzkvjwpxqzkvjwpxqzkvjwpxqzkvjwp "} {
		for _, size := range []int{10_000, 1_000_000} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(unit+"/"+map[int]string{10_000: "10KB", 1_000_000: "1MB"}[size], func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					disguise.Read(text, tok)
				}
			})
		}
	}
}

// pieces is a vocabulary of many languages: words by their tokens.
type pieces map[string]int

func (p pieces) Weigh(spaced string) (tokens int, rank int64) {
	word := strings.ToLower(strings.TrimSpace(spaced))
	if n := p[word]; n > 0 {
		return n, int64(len(word))
	}
	return len(word), math.MaxInt64
}

func (pieces) Complete(string) string { return "" }

func (pieces) OneLanguage() bool { return false }

// In a vocabulary of many languages a rare word looks like another one with swapped letters, or like
// several, and ı is a letter of Turkish.
func TestReadInManyLanguages(t *testing.T) {
	words := pieces{"sıfır": 1, "sifir": 2, "tulsi": 2, "tulis": 1, "kleinanzeigen": 3, "klein": 1, "anzeigen": 1, "idiot": 1}
	for text, want := range map[string]string{
		"sıfır": "sıfır", "tulsi": "tulsi", "Kleinanzeigen": "Kleinanzeigen", "1d10t": "idiot", "іdіоt": "idiot", "ıdıot": "idiot",
	} {
		if got := disguise.Read(text, words).Text; got != want {
			t.Errorf("Read(%q) = %q, want %q", text, got, want)
		}
	}
}

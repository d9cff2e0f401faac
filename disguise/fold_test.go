package disguise_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/disguise"
)

// What people write in other typography is what they would type on a plain keyboard: phones,
// word processors and web pages change the signs without being asked.
func TestFold(t *testing.T) {
	for name, cases := range map[string]map[string]string{
		"quotation marks": {
			"I don’t think you‘re “stupid”":     `I don't think you're "stupid"`,
			"„so“ «so» ‹so› ‚so‘ ″5′":           `"so" "so" 'so' 'so' "5'`,
			"a quote´s ＂width＂, Hawaiʻi, don`t": `a quote's "width", Hawai'i, don't`,
			"run `kill`, then ```x```":          "run `kill`, then ```x```", // code
		},
		"signs": {
			"well… no‥ yes": "well... no.. yes",
			"co‐op −3 a‑b":  "co-op -3 a-b",
			"one – two — 3": "one – two — 3", // a dash is a sign of its own
			"a ﬁlthy ﬂoor":  "a filthy floor",
		},
		"blanks": {
			"you\u00a0are\u2009an\u3000idiot": "you are an idiot",
			"one\u2028two\u0085three":         "one\ntwo\nthree",
			"id\u00adi\u200bo\ufefft":         "idiot",
			"\u202aleft\u202c":                "left",
			"👩\u200d👧 क्\u200dष":              "👩\u200d👧 क्\u200dष", // joiners
		},
		"character references": {
			"I don&#39;t, don&#x27;t, don&apos;t &amp; don&rsquo;t": "I don't, don't, don't & don't",
			"&quot;you&quot;&nbsp;&lt;b&gt;":                        `"you" <b>`,
			"&amp;quot;you&amp;amp;#39;re&amp;quot;":                `"you're"`, // escaped twice
			"id&shy;iot &hearts;":                                   "idiot ♥",
			"&a&shy;mp;lt;":                                         "<",
			"AT&T; Q&A &copy &notit; a&b;c":                         "AT&T; Q&A &copy &notit; a&b;c",
			"https://example.org/?a=1&amp;b=2&copy=3":               "https://example.org/?a=1&b=2&copy=3",
		},
		"misread bytes": {
			"I donâ€™t say â€œstupidâ€\u009d":    `I don't say "stupid"`,
			"wellâ€¦ cafÃ© Ã¼ber Â£5 5Â\u00a0km": "well... café über £5 5 km",
			"I donÃ¢â‚¬â„¢t":                     "I don't", // misread twice
			"â€œYou idiotâ€ he said":             `"You idiot" he said`,
			"you ðŸ–•":                           "you 🖕",
			"ï»¿first":                           "first",
			"&acirc;&euro;&trade;":               "'",
			"naïve SÃO pâté “CAFÉ” MENÜ… Ä“ Â®.": "naïve SÃO pâté \"CAFÉ\" MENÜ... Ä\" ®.",
		},
		"regional-indicator letters": {
			"just 🇰🇾🇸 already":       "just kys already",
			"🇫🇺🇨🇰 you":               "fuck you",
			"🇸 🇭 🇮 🇹, s🇹🇺pid":        "s h i t, stupid",
			"🇸\u200b🇭\u200b🇮\u200b🇹": "shit",
			"🇩🇪 and 🇬🇧🇫🇷, 🇪🇺":        "🇩🇪 and 🇬🇧🇫🇷, 🇪🇺", // flags
		},
		"nothing to fold": {
			"": "", "Don't, he said. \"No\"...": "Don't, he said. \"No\"...", "\xff\xfe’\xe2\x80": "\xff\xfe'\xe2\x80", "Привет, 日本語": "Привет, 日本語",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for text, want := range cases {
				if got := disguise.Fold(text).Text; got != want {
					t.Errorf("Fold(%q) = %q, want %q", text, got, want)
				}
			}
		})
	}
}

// Each word of the folded text is found where it was written.
func TestFoldOriginal(t *testing.T) {
	for _, test := range []struct{ text, part, want string }{
		{"I don’t think", "don't", "don’t"},
		{"“You idiot”", `idiot"`, "idiot”"},
		{"so… an id\u00adiot", "idiot", "id\u00adiot"},
		{"\u200b\u200bidiot\u200b", "idiot", "idiot"},
		{"&quot;idiot&amp;quot; he", `"idiot"`, "&quot;idiot&amp;quot;"},
		{"you idÃ¢â‚¬â„¢iot x", "id'iot", "idÃ¢â‚¬â„¢iot"},
		{"x 🇰🇾🇸!", "kys", "🇰🇾🇸"},
		{"x 🇰🇾🇸!", "y", "🇾"},
	} {
		r := disguise.Fold(test.text)
		at := strings.Index(r.Text, test.part)
		if at < 0 {
			t.Errorf("Fold(%q) = %q, without %q", test.text, r.Text, test.part)
			continue
		}
		start, end := r.Original(at, at+len(test.part))
		if got := test.text[start:end]; got != test.want {
			t.Errorf("Fold(%q): %q comes from %q, want %q", test.text, test.part, got, test.want)
		}
	}
}

// FuzzFold: whatever the text, folding ends, folding again changes nothing, and each character
// of the folded text comes from a part of the original that begins and ends between
// characters, in the same order.
func FuzzFold(f *testing.F) {
	for _, text := range []string{
		"I don’t, “you…”", "don&#39;t &amp;amp;quot; &a&shy;mp;lt; &notit;", "Ã¢â‚¬â„¢ â€œ â€ â€\u00ad Â\u00a0", "🇰🇾🇸 🇩🇪\u200b🇫🇷🇰", "\xffÃ\xff©\u00adâ\u00ad€\u200b™", "a`b`c",
		"\xa9\u00ad\xad\xc3\xc2\u00ad\xad", "\xe2\x80\u200b\x80", "\xe2\x80&#173;\x80",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := disguise.Fold(text)
		checkReading(t, text, r)
		if again := disguise.Fold(r.Text); again.Text != r.Text {
			t.Errorf("Fold(%q) = %q, folded again %q", text, r.Text, again.Text)
		}
	})
}

// checkReading checks the way back from a reading of a text.
func checkReading(t *testing.T, text string, r disguise.Reading) {
	t.Helper()
	if utf8.ValidString(text) && !utf8.ValidString(r.Text) {
		t.Errorf("%q reads %q, which is not valid", text, r.Text)
	}
	last := 0
	for at := 0; at < len(r.Text); {
		_, size := utf8.DecodeRuneInString(r.Text[at:])
		start, end := r.Original(at, at+size)
		checkOrigin(t, text, last, start, end)
		last, at = start, at+size
	}
}

// checkOrigin checks that a character of a reading comes from a part of the text that is not
// empty, begins no earlier than the part before it, and cuts no character.
func checkOrigin(t *testing.T, text string, last, start, end int) {
	t.Helper()
	if start < last {
		t.Fatalf("%q: bytes %d to %d are read after those from %d on", text, start, end, last)
	}
	if start >= end || end > len(text) {
		t.Fatalf("%q: a character comes from bytes %d to %d of %d", text, start, end, len(text))
	}
	if utf8.ValidString(text) && !(boundary(text, start) && boundary(text, end)) {
		t.Fatalf("%q: bytes %d to %d cut a character", text, start, end)
	}
}

// BenchmarkFold: text in plain typography costs a look at each byte and no memory.
func BenchmarkFold(b *testing.B) {
	for name, text := range map[string]string{
		"plain":      strings.Repeat("Thank you, that was a great help. I'll mend the other 12 pages (of 2019) tomorrow. ", 12),
		"accents":    strings.Repeat("Merci, Zoë: ça a été très utile. Je corrigerai les 12 autres pages demain, c'est sûr. ", 12),
		"typography": strings.Repeat("Thank you, that was a “great” help. I’ll mend the other 12 pages (of 2019) tomorrow… ", 12),
		"escaped":    strings.Repeat("Thank you, that was a &quot;great&quot; help. I&#39;ll mend the other 12 pages tomorrow. ", 12),
		"misread":    strings.Repeat("Thank you, that was a â€œgreatâ€ help. Iâ€™ll mend the other 12 pages tomorrowâ€¦ ", 12),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				disguise.Fold(text)
			}
		})
	}
}

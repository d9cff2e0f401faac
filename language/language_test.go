package language_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/language"
)

// An English model detects texts in other languages.
func TestRead(t *testing.T) {
	english := language.New([]string{"en"})
	for _, test := range []struct{ text, want string }{
		{"Das Wetter ist heute wirklich schön, wir gehen spazieren.", "German"},
		{"du bist so ein dummer mensch, geh weg von hier bitte", "German"},
		{"El tiempo está muy bonito hoy, vamos a pasear por el parque.", "Spanish"},
		{"je ne sais pas ce que tu veux dire, parle plus lentement", "French"},
		{"Pogoda jest dziś naprawdę piękna, idziemy na spacer.", "Polish"},
		{"Hôm nay thời tiết rất đẹp, chúng ta đi dạo nhé.", "Vietnamese"},
		{"Я не знаю, что ты хочешь этим сказать.", "Russian"},
		{"今天天气很好,我们去散步吧。", "Mandarin"},
		{"今日はとても天気がいいですね", "Japanese"},
		{"오늘 날씨가 정말 좋네요", "Korean"},
		{"الطقس جميل جدا اليوم", "Arabic"},
		{"מזג האוויר יפה מאוד היום", "Hebrew"},
		{"Ο καιρός είναι πολύ ωραίος σήμερα", "Greek"},
		{"วันนี้อากาศดีมาก", "Thai"},
		{"Я купил новый iPhone вчера вечером", "Russian"}, // an English word does not make it English
	} {
		got := english.Read(test.text)
		if !got.Foreign {
			t.Errorf("%q is taken for English", test.text)
		}
		if got.Other.Name != test.want {
			t.Errorf("%q: got %+v, want %s", test.text, got, test.want)
		}
	}
}

// The codes are the ones that other systems use.
func TestReadHasCodes(t *testing.T) {
	english := language.New([]string{"en"})
	for text, want := range map[string]string{
		"Das Wetter ist heute wirklich schön, wir gehen spazieren.": "de",
		"今天天气很好,我们去散步吧。":                                            "zh",
	} {
		if got := english.Read(text); got.Other.Code != want {
			t.Errorf("%q: got %+v, want %s", text, got, want)
		}
	}
}

// It is easier to detect that a text is not English than which of two similar
// languages it is in.
func TestReadIsNotSureOfNeighbours(t *testing.T) {
	english := language.New([]string{"en"})
	for text, sure := range map[string]bool{
		"Das Wetter ist heute wirklich schön, wir gehen spazieren.": true,
		"วันนี้อากาศดีมาก":                                          true, // the script has one language
		"Været er veldig fint i dag, vi skal gå en tur i skogen.":   false,
	} {
		got := english.Read(text)
		if !got.Foreign {
			t.Errorf("%q is taken for English", text)
		}
		if got.Other.Sure != sure {
			t.Errorf("%q: got %+v, want sure %v", text, got, sure)
		}
	}
}

// A script that English does not use shows that a text is not English, even if the
// library does not know the script or names no language.
func TestReadByItsLetters(t *testing.T) {
	const armenian = "Այսօր եղանակը շատ լավ է"
	got := language.New([]string{"en"}).Read(armenian)
	if !got.Foreign {
		t.Errorf("%q is taken for English", armenian)
	}
	if got.Other != (language.Finding{}) {
		t.Errorf("got %+v, want another language without a name", got)
	}
	// For a model of other languages, it is not known which scripts they use.
	if got := language.New([]string{"en", "ru"}).Read(armenian); got.Foreign {
		t.Errorf("a model of English and Russian: got %+v", got)
	}
}

// Texts that are or may be English, or are in no language, are not reported.
func TestReadReportsNothing(t *testing.T) {
	english := language.New([]string{"en"})
	for name, texts := range map[string][]string{
		"English":      {"The weather is really nice today, let us go for a walk.", "THE WEATHER IS NICE TODAY"},
		"chat":         {"lol ok", "omg wtf bruh", "ur so dumb lmaoooo", "nah fam im good", "wanna hang later?", "u mad bro", "aight imma head out"},
		"too short":    {"", " ", "ja", "Nein danke", "Guten Tag!", "oui", "да"},
		"names":        {"Angela Merkel, Helmut Kohl, Gerhard Schröder", "José María García Márquez", "Giuseppe Verdi"},
		"numbers":      {"3.14159 2.71828 42", "10:30 - 12:45", "+49 30 1234567"},
		"emoji":        {"😀😀😀 🎉", "¯\\_(ツ)_/¯", "ಠ_ಠ", "щ(ﾟДﾟщ)"},
		"addresses":    {"https://de.wikipedia.org/wiki/Straße", "info@beispiel-firma.de", "www.schoene-gaerten.de/angebote", "@schmidt_berlin #wetterbericht"},
		"code":         {`for (int i = 0; i < n; i++) { sum += a[i]; }`, `fmt.Println(strings.Join(args, ","))`, "SELECT id, name FROM users WHERE id = 7;"},
		"mixed":        {"He said \"guten Morgen, wie geht es dir\" and that was all that he knew.", "The word спасибо means thanks", "I love 東京 and the people there"},
		"disguised":    {"y0u 4re 5o stup1d", "уоu аrе ѕо ѕtuріd", "𝔂𝓸𝓾 𝓪𝓻𝓮 𝓼𝓽𝓾𝓹𝓲𝓭", "ｙｏｕ ａｒｅ ｓｔｕｐｉｄ", "s t u p i d"},
		"placeholders": {"&#128557;&#128514; [URL] [USER] <number>"},
	} {
		for _, text := range texts {
			got := english.Read(text)
			if got.Foreign {
				t.Errorf("%s: %q is taken for %+v", name, text, got.Other)
			}
			if slices.ContainsFunc(got.Parts, func(p language.Part) bool { return p.Foreign }) {
				t.Errorf("%s: %q has the parts %+v", name, text, got.Parts)
			}
		}
	}
}

// A model's own languages are never reported.
func TestReadOfOtherModels(t *testing.T) {
	const (
		german    = "Das Wetter ist heute wirklich schön, wir gehen spazieren."
		english   = "The weather is really nice today, we are going for a walk."
		russian   = "Я не знаю, что ты хочешь этим сказать."
		norwegian = "Været er veldig fint i dag, vi skal gå en tur i skogen."
	)
	for _, test := range []struct {
		codes, text, want string
	}{
		{"de", german, ""},
		{"de-AT", german, ""},
		{"deu", german, ""},
		{"en de", german, ""},
		{"en de", english, ""},
		{"de", english, "English"},
		{"ru", english, "English"},
		{"en de", russian, "Russian"},
		{"no", norwegian, ""},
		{"ja", "東京都知事選挙投票日", ""}, // Japanese without kana looks like Chinese

		{"", german, ""},                // a manifest without languages
		{"multilingual", german, ""},    // not a code: it may be any language
		{"en multilingual", german, ""}, // likewise
		{"en hy", german, ""},           // the library does not know Armenian
	} {
		known := language.New(strings.Fields(test.codes))
		got := known.Read(test.text)
		if got.Other.Name != test.want {
			t.Errorf("model of %q, %q: got %+v, want %q", test.codes, test.text, got.Other, test.want)
		}
		if foreign := test.want != ""; got.Foreign != foreign {
			t.Errorf("model of %q, %q: foreign is %v, want %v", test.codes, test.text, got.Foreign, foreign)
		}
	}
}

func TestNames(t *testing.T) {
	for codes, want := range map[string][]string{
		"en":           {"English"},
		"fr EN_us":     {"English", "French"},
		"multilingual": nil,
		"":             nil,
	} {
		if got := language.New(strings.Fields(codes)).Names(); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", codes, got, want)
		}
	}
}

// The outcome does not depend on concurrency, nor on the order of the library's
// languages.
func TestReadIsTheSameEachTime(t *testing.T) {
	english := language.New([]string{"en"})
	texts := []string{
		"Det er en meget smuk dag i dag", // Danish or Norwegian
		"Ovo je vrlo lijep dan za nas",   // Croatian or Serbian
		"Das ist ein schöner Tag für uns alle hier",
	}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for _, text := range texts {
				first := english.Read(text)
				for range 20 {
					if got := english.Read(text); !reflect.DeepEqual(got, first) {
						t.Errorf("%q: got %+v, then %+v", text, first, got)
					}
				}
			}
		})
	}
	workers.Wait()
}

// A sentence in another language is a part of its own, with or without a full stop, and so
// are words that are noise. A text in one language is one part.
func TestReadDividesWhereTheLanguageChanges(t *testing.T) {
	english := language.New([]string{"en"})
	const french, german, russian = "Je suis allé au marché hier matin et j'ai acheté des pommes.",
		"Das Wetter ist heute wirklich schön und wir gehen spazieren.", "Сегодня прекрасная погода, и мы идём гулять в парк."
	for _, test := range []struct {
		text    string
		foreign []string // the foreign parts
	}{
		{french + " go and see her", []string{french + " "}},
		{"go and see her. " + german, []string{german}},
		{"go and see her\n" + german, []string{german}},
		{"go and see her " + german, []string{german}},
		{german + " " + french, []string{german + " " + french}},
		{"Stupid outsiders. " + french + " Stay out of the woods!", []string{french + " "}},
		{"You look good " + russian, []string{russian}},
		{"Not her. " + russian + " He will.", []string{russian + " "}},
		{"HAHAHAHAHAHAHAHA you look good", []string{"HAHAHAHAHAHAHAHA "}},
		{"qwertz asdfgh yxcvbn poiuzt lkjhgf mnbvcx\nyou look good", []string{"qwertz asdfgh yxcvbn poiuzt lkjhgf mnbvcx\n"}},
		{"Mr. Smith went there. He saw nobody: the house was empty.", nil},
		{"Kwame Nkrumah, Nnamdi Azikiwe and Haile Selassie met in Addis Ababa.", nil},
		{"hahahahahaha", nil},
	} {
		got := english.Read(test.text)
		var foreign []string
		at := 0
		for _, p := range got.Parts {
			if p.Start != at {
				t.Errorf("%q: a gap before %d", test.text, p.Start)
			}
			if at = p.End; p.Foreign {
				foreign = append(foreign, test.text[p.Start:p.End])
			}
		}
		if at != len(test.text) {
			t.Errorf("%q: the parts end at %d of %d bytes", test.text, at, len(test.text))
		}
		if !slices.Equal(foreign, test.foreign) {
			t.Errorf("%q: the foreign parts are %q, want %q", test.text, foreign, test.foreign)
		}
	}
}

// What has words of one language and hardly any of others is surely in it. Names, slang and what
// mixes languages may be anything.
func TestReadIsSure(t *testing.T) {
	english := language.New([]string{"en"})
	for _, test := range []struct {
		text          string
		foreign, sure bool
	}{
		{"pizza near me", false, true},
		{"See you there at five.", false, true},
		{"I had the casa burger and it was really good for sure.", false, true}, // a word of Spanish among English ones
		{"12:30 😀", false, true},
		{"kys", false, false},
		{"Hurensohn", false, false},
		{"#Hurensohn", false, false},
		{"gg ez", false, false},
		{"du bist so ein fucking loser", false, false},
		{"yaar you are so funny, kya baat hai", false, false},
		{"Я не знаю", true, true},
		{"Das Wetter ist heute wirklich schön und wir gehen spazieren.", true, true},
		{"tum kya kar rahe ho aaj bhai", true, true},
	} {
		got := english.Read(test.text)
		if len(got.Parts) != 1 || got.Parts[0].Foreign != test.foreign || got.Parts[0].Sure != test.sure {
			t.Errorf("%q: the parts are %+v, want one, foreign %v, sure %v", test.text, got.Parts, test.foreign, test.sure)
		}
	}
	if got := english.Read("I will see you there. Hurensohn. Until tomorrow then."); len(got.Parts) != 3 || got.Parts[1].Sure {
		t.Errorf("the parts are %+v, want three, the second one not sure", got.Parts)
	}
}

// A text is foreign as a whole if hardly anything in it is not, and certainly so from 40
// letters on. In fewer Latin letters no language shows reliably.
func TestReadIsCertainOfLongTexts(t *testing.T) {
	english := language.New([]string{"en"})
	for _, test := range []struct {
		text             string
		foreign, certain bool
	}{
		{"pizza near me", false, false},
		{"du bist so ein dummer mensch", false, false},
		{"du bist so ein dummer mensch, geh weg von hier bitte", true, true},
		{"Я не знаю, что ты хочешь.", true, false},
		{"Я не знаю, что ты хочешь этим сказать, говори помедленнее.", true, true},
		{"Das Wetter ist heute wirklich schön. Wir gehen in den Park. OK?", true, true},
		{"Das Wetter ist heute wirklich schön. Wir gehen in den Park. What are you doing?", false, false},
		{"Das Wetter ist schön. " + strings.Repeat("What a nice day it was for all of us. ", 100), false, false},
		{strings.Repeat("What a nice day it was for all of us. ", 100) + "Das Wetter ist heute wirklich schön.", false, false},
	} {
		got := english.Read(test.text)
		if got.Foreign != test.foreign {
			t.Errorf("%.80q: foreign is %v, want %v", test.text, got.Foreign, test.foreign)
		}
		if got.Certain != test.certain {
			t.Errorf("%.80q: certain is %v, want %v", test.text, got.Certain, test.certain)
		}
	}
}

// Endless words do no harm.
func TestReadOfEndlessWords(t *testing.T) {
	english := language.New([]string{"en"})
	for _, endless := range []string{strings.Repeat("a", 1<<20), strings.Repeat("ü", 1<<20), strings.Repeat("\x80", 1<<20), strings.Repeat("語", 1<<20), strings.Repeat(". ", 1<<19), strings.Repeat("haha hahahaha ", 1<<16)} {
		english.Read(endless)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Das Wetter ist heute wirklich schön")
	f.Add("a\x80\xff ɐ 語 й &#1;")
	english := language.New([]string{"en"})
	f.Fuzz(func(t *testing.T, text string) {
		got := english.Read(text)
		if !got.Foreign && got.Certain {
			t.Errorf("certain of nothing: %+v", got)
		}
		if !got.Foreign && got.Other != (language.Finding{}) {
			t.Errorf("a text that is not foreign is in %+v", got.Other)
		}
		if got.Other.Sure && got.Other.Name == "" {
			t.Errorf("sure of a language without a name: %+v", got.Other)
		}
		if got.Other.Name == "English" {
			t.Error("English is foreign")
		}
		at := 0
		for _, p := range got.Parts {
			if p.Start != at {
				t.Errorf("a gap or an overlap at %d: the parts are %+v", at, got.Parts)
			}
			if p.End <= at {
				t.Errorf("an empty part at %d: the parts are %+v", at, got.Parts)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[p.Start:p.End]) {
				t.Errorf("a part cuts a character: the parts are %+v", got.Parts)
			}
			at = p.End
		}
		if at != len(text) {
			t.Errorf("the parts end at %d", at)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	english := language.New([]string{"en"})
	for name, text := range map[string]string{
		"English":        "you are so funny, I love what you did with this",
		"slang":          "lmaooo bruh wtf smh fr fr no cap deadass trippin",
		"German":         "du bist so lustig, ich liebe es was du daraus gemacht hast",
		"Russian":        "ты такой смешной, мне очень нравится что ты сделал",
		"100 kB":         strings.Repeat("Du bist so lustig, ich liebe es was du daraus gemacht hast. ", 1_700),
		"English 100 kB": strings.Repeat("You are so funny, I love what you did with this. ", 2_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				english.Read(text)
			}
		})
	}
}

func Example() {
	known := language.New([]string{"en"})
	read := known.Read("See you there. Das Wetter ist heute wirklich schön.")
	fmt.Println(read.Foreign, len(read.Parts), read.Parts[1].Foreign)
	// Output: false 2 true
}

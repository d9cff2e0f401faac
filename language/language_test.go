package language_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toxscreen/toxscreen/language"
)

// An English model detects texts in other languages.
func TestOther(t *testing.T) {
	english := language.New([]string{"en"})
	for _, test := range []struct{ text, want string }{
		{"Das Wetter ist heute wirklich schön, wir gehen spazieren.", "German"},
		{"du bist so ein dummer mensch, geh weg von hier", "German"},
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
		if got, ok := english.Other(test.text); got.Name != test.want || !ok {
			t.Errorf("%q: got %+v, %v, want %s", test.text, got, ok, test.want)
		}
	}
}

// The codes are the ones that other systems use.
func TestOtherHasCodes(t *testing.T) {
	english := language.New([]string{"en"})
	for text, want := range map[string]string{
		"Das Wetter ist heute wirklich schön, wir gehen spazieren.": "de",
		"今天天气很好,我们去散步吧。":                                            "zh",
	} {
		if got, _ := english.Other(text); got.Code != want {
			t.Errorf("%q: got %q, want %s", text, got.Code, want)
		}
	}
}

// It is easier to detect that a text is not English than which of two similar
// languages it is in.
func TestOtherIsNotSureOfNeighbours(t *testing.T) {
	english := language.New([]string{"en"})
	for text, sure := range map[string]bool{
		"Das Wetter ist heute wirklich schön, wir gehen spazieren.": true,
		"วันนี้อากาศดีมาก":                                          true, // the script has one language
		"Været er veldig fint i dag, vi skal gå en tur i skogen.":   false,
	} {
		if got, ok := english.Other(text); !ok || got.Sure != sure {
			t.Errorf("%q: got %+v, %v, want sure %v", text, got, ok, sure)
		}
	}
}

// A script that English does not use shows that a text is not English, even if the
// library does not know the script or names no language.
func TestOtherByItsLetters(t *testing.T) {
	const armenian = "Այսօր եղանակը շատ լավ է"
	if got, ok := language.New([]string{"en"}).Other(armenian); got != (language.Finding{}) || !ok {
		t.Errorf("got %+v, %v, want another language without a name", got, ok)
	}
	// For a model of other languages, it is not known which scripts they use.
	if got, ok := language.New([]string{"en", "ru"}).Other(armenian); ok {
		t.Errorf("a model of English and Russian: got %+v", got)
	}
}

// Texts that are or may be English, or are in no language, are not reported.
func TestOtherReportsNothing(t *testing.T) {
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
			if got, ok := english.Other(text); ok {
				t.Errorf("%s: %q is detected as %s", name, text, got.Name)
			}
		}
	}
}

// A model's own languages are never reported.
func TestOtherOfOtherModels(t *testing.T) {
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
		if got, ok := known.Other(test.text); got.Name != test.want || ok != (test.want != "") {
			t.Errorf("model of %q, %q: got %+v, %v, want %q", test.codes, test.text, got, ok, test.want)
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
func TestOtherIsTheSameEachTime(t *testing.T) {
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
				first, _ := english.Other(text)
				for range 20 {
					if got, _ := english.Other(text); got != first {
						t.Errorf("%q: got %+v, then %+v", text, first, got)
					}
				}
			}
		})
	}
	workers.Wait()
}

// A long text costs no more than a page, and neither does an endless word.
func TestOtherLooksAtTheBeginning(t *testing.T) {
	english := language.New([]string{"en"})
	german := strings.Repeat("Das Wetter ist heute wirklich schön. ", 100)
	long := german + strings.Repeat("The weather is nice today. ", 30_000)
	if got, ok := english.Other(long); got.Name != "German" || !ok {
		t.Errorf("got %+v, %v", got, ok)
	}
	page := testing.AllocsPerRun(5, func() { english.Other(german) })
	if whole := testing.AllocsPerRun(5, func() { english.Other(long) }); whole > page+10 {
		t.Errorf("a megabyte takes %v allocations, a page %v", whole, page)
	}
	for _, endless := range []string{strings.Repeat("a", 1<<20), strings.Repeat("ü", 1<<20), strings.Repeat("\x80", 1<<20), strings.Repeat("語", 1<<20)} {
		english.Other(endless)
	}
}

func FuzzOther(f *testing.F) {
	f.Add("Das Wetter ist heute wirklich schön")
	f.Add("a\x80\xff ɐ 語 й &#1;")
	english := language.New([]string{"en"})
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := english.Other(text); !ok && got != (language.Finding{}) || got.Sure && got.Name == "" || got.Name == "English" {
			t.Errorf("got %+v, %v", got, ok)
		}
	})
}

func BenchmarkOther(b *testing.B) {
	english := language.New([]string{"en"})
	for name, text := range map[string]string{
		"English": "you are so funny, I love what you did with this",
		"slang":   "lmaooo bruh wtf smh fr fr no cap deadass trippin",
		"German":  "du bist so lustig, ich liebe es was du daraus gemacht hast",
		"Russian": "ты такой смешной, мне очень нравится что ты сделал",
		"100 kB":  strings.Repeat("du bist so lustig, ich liebe es was du daraus gemacht hast ", 1_700),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				english.Other(text)
			}
		})
	}
}

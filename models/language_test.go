package models_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
)

// company is text that says nothing about the sentence in place of %, in other languages or in
// none.
var company = []string{
	"Je suis allé au marché hier matin et j'ai acheté des pommes. %",
	"%\nDas Wetter ist heute wirklich schön und wir gehen spazieren.",
	"Mañana vamos a la playa con los niños si no llueve.\n%",
	"% Сегодня прекрасная погода, и мы идём гулять в парк.",
	"今天天气很好,我们去公园散步吧。%",
	"%\nWczoraj padał deszcz, więc zostaliśmy w domu i czytaliśmy książki.",
	"HAHAHAHAHAHAHAHA %",
	"qwertz asdfgh yxcvbn poiuzt lkjhgf mnbvcx\n%",
}

// What stands beside an English sentence changes no decision about it.
func TestCompanyInNoKnownLanguageChangesNoFlag(t *testing.T) {
	screener := toxscreen.New(openDefault(t))
	for _, text := range []string{
		"You are a stupid idiot.", "go hang urself", "Shut up, you moron.", "She is a filthy whore.", "I will kill you tonight.",
		"What a fucking mess this is.", "Thank you, that was a great help.", "See you at ten in the kitchen.", "pizza near me",
		"The dog barks at the postman.", "Could you send me the report?", "We missed the train again.",
	} {
		alone := flagged(t, screener, text)
		for _, beside := range company {
			whole := strings.ReplaceAll(beside, "%", text)
			if got := flagged(t, screener, whole); got != alone {
				t.Errorf("%q: flagged %v, and %q: %v", text, alone, whole, got)
			}
		}
	}
}

// Typography makes no text foreign, and offsets of parts are those of the text as written.
func TestLanguageIsReadInPlainTypography(t *testing.T) {
	model := openDefault(t)
	for _, text := range []string{
		"I don&#39;t know &quot;why&quot; she&#39;s late, she isn&#39;t answering any more.",
		"I donâ€™t know why sheâ€™s late, she isnâ€™t answering any more.",
	} {
		found, parts := model.ReadLanguage(text)
		if found.Foreign {
			t.Errorf("%q is taken for %+v", text, found)
		}
		if len(parts) != 1 {
			t.Errorf("%q has the parts %v, want one", text, parts)
		}
	}
	const english, german = "I don&rsquo;t know why.&nbsp; ", "Das Wetter ist heute wirklich sch&ouml;n und wir gehen spazieren."
	_, parts := model.ReadLanguage(english + german)
	if want := []toxscreen.LanguagePart{
		{Start: 0, End: len(english), Sure: true}, {Start: len(english), End: len(english + german), Foreign: true, Sure: true},
	}; !slices.Equal(parts, want) {
		t.Errorf("the parts are %v, want %v", parts, want)
	}
}

// A text of whose letters the model knows none is not decided, however short. A link is no text.
func TestLettersThatTheModelDoesNotKnow(t *testing.T) {
	screener := toxscreen.New(openDefault(t))
	for text, decided := range map[string]bool{
		"Այսօր եղանակը": false, "Այսօր (12:30)": false, "Այսօր is armenian": true, "Я не знаю": true, "12:30 😀": true,
		"https://en.wikipedia.org/wiki/Dickcissel": true, "&#39;": true,
	} {
		result, err := screener.Score(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if (result.NotDecided == "") != decided {
			t.Errorf("%q is not decided because %q, want decided %v", text, result.NotDecided, decided)
		}
	}
}

// A word that the tokenizer does not know at all is not decided either, also if somebody states
// that it is English. No language is named then.
func TestAnUnknownWordIsNotDecided(t *testing.T) {
	screener := toxscreen.New(openDefault(t))
	word := strings.Repeat("idiot", 25) // more letters than the tokenizer reads
	for _, s := range []*toxscreen.Screener{screener, screener.With(toxscreen.WithLanguage("en"))} {
		result, err := s.Score(t.Context(), word)
		if err != nil {
			t.Fatal(err)
		}
		if result.NotDecided == "" {
			t.Errorf("%q is decided", word)
		}
		if result.UnsupportedLanguage != "und" {
			t.Errorf("%q is in the language %q, want und", word, result.UnsupportedLanguage)
		}
	}
}

// Each attribute of a text in two parts has the higher score, and so has what it scores as it
// is written. Blanks and links before the first word are no part of their own.
func TestTheWorsePartCounts(t *testing.T) {
	screener := toxscreen.New(openDefault(t))
	const disguised, german, plain = "you are an 1d10t. ", "Das Wetter ist heute wirklich sehr schön und wir gehen in den Park. ", "you stupid dog."
	first, err := screener.Score(t.Context(), disguised+plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{german + disguised + plain, disguised + german + plain, disguised + plain + "\n" + german} {
		mixed, err := screener.Score(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if len(mixed.Spans) != len(first.Spans) {
			t.Fatalf("%q: spans %v, want %v", text, mixed.Spans, first.Spans)
		}
		for i, s := range mixed.Spans {
			if got, want := text[s.Start:s.End], (disguised + plain)[first.Spans[i].Start:first.Spans[i].End]; got != want {
				t.Errorf("%q: %q is marked, want %q", text, got, want)
			}
		}
		toxicity := mixed.Attributes[toxscreen.Toxicity]
		if !mixed.Flagged {
			t.Errorf("%q is not flagged: %+v", text, toxicity)
		}
		if toxicity.Plain != nil && *toxicity.Plain > toxicity.Score {
			t.Errorf("%q scores %v, less than %v as it is written", text, toxicity.Score, *toxicity.Plain)
		}
	}
	for _, before := range []string{"https://example.org/a\n", "\u200b\n "} {
		result, err := screener.Score(t.Context(), before+german)
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Warnings) != 1 {
			t.Errorf("%q: the warnings are %q, want one", before, result.Warnings)
		}
	}
}

func flagged(t testing.TB, s *toxscreen.Screener, text string) bool {
	t.Helper()
	result, err := s.Score(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return result.Flagged
}

func openDefault(t testing.TB) *models.Model {
	t.Helper()
	model, err := models.OpenDefault(models.Options{})
	return untilTheEnd(t, model, err)
}

// untilTheEnd returns a model that was opened, and closes it at the end of the test.
func untilTheEnd[M io.Closer](t testing.TB, model M, err error) M {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	return model
}

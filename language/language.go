// Package language tells whether a text is in a language that a model was not
// trained on:
//
//	known := language.New([]string{"en"})
//	if found, ok := known.Other("Das Wetter ist heute wirklich schön."); ok {
//		fmt.Println(found.Name) // German
//	}
//
// It holds the only use of the library whatlanggo, and the rule that keeps chat
// in English from being taken for something else;
// docs/decisions/0007-language.md gives what both were measured on.
package language

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/RadhiFadlillah/whatlanggo"
)

// The limits below which a text counts as being in a known language. They
// were chosen on English dev rows; decision 0007 has the figures.
const (
	// maxBytes is how much of a text is looked at. The words of the first
	// paragraph tell the language, and more of them cost time.
	maxBytes = 2048
	// maxClean in bytes is how much the library is given of what is left of
	// them without addresses, numbers and signs; the last word may exceed it.
	maxClean = 400
	// minWords is how many different words in Latin letters a text needs.
	// Letters by themselves do not count, nor do words with a capital only at
	// their beginning, which may be names. A letter that is not of ASCII
	// counts as one word more.
	minWords = 3
	// minLetters is how many letters of other scripts a text needs.
	minLetters = 4
	// minConfidence in 0..1 is how sure the library must be between the
	// language that it finds and the nearest known one. Where only English is
	// known, each of up to three letters that are not of ASCII makes it the
	// less by accentWorth.
	minConfidence = 0.75
	accentWorth   = 0.2
	// sureConfidence in 0..1 is how sure the library must be among all
	// languages for a name that is right nearly always.
	sureConfidence = 0.3
	// englishShare of its words make a text English, in percent: those of
	// englishWords.
	englishShare = 17
)

// englishWords are words that nearly every English sentence has one of and
// that are rare in other languages, "is" and "was" excepted, which their
// share keeps harmless. The last are from chats.
var englishWords = set(`
	the and you that of this what with your they who how is are it was but just if all about when like would people
	from she her him his why because think know were been there their them could should will which does did we he my
	be have has had out up get got one these those some than then being other really never always want say said where
	any more not can as by at an or us our am fuck fucking shit ass love hate stop need good right make take
	woman women girls don't i'm it's you're that's can't doesn't didn't isn't won't
	u ur im dont cant lol lmao gonna wanna ain't haha bruh dat`)

func set(words string) map[string]bool {
	s := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		s[word] = true
	}
	return s
}

// Known is a set of languages. It is safe for concurrent use; the zero value
// tells no text from it.
type Known struct {
	languages   map[whatlanggo.Lang]bool // nil: whatever a text is in may be among them
	english     bool                     // is among them
	englishOnly bool
}

// New returns the set of the languages with these codes, of ISO 639-1 or
// 639-3, with or without a country or script behind: en, eng and en-US are
// one. If one of the codes is none of the library's ("multilingual" is not),
// the set tells no text from it: the text may be in that language.
func New(codes []string) Known {
	known := Known{languages: map[whatlanggo.Lang]bool{}}
	for _, code := range codes {
		languages := languagesOf(code)
		if len(languages) == 0 {
			return Known{}
		}
		for _, l := range languages {
			known.languages[l] = true
		}
	}
	known.english = known.languages[whatlanggo.Eng]
	known.englishOnly = known.english && len(known.languages) == 1
	if len(known.languages) == 0 {
		return Known{}
	}
	return known
}

// languagesOf returns the library's languages for a code: none, one, or two
// that it has as one.
func languagesOf(code string) []whatlanggo.Lang {
	code, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(code, "_", "-")), "-")
	switch code {
	case "no", "nor":
		return []whatlanggo.Lang{whatlanggo.Nob, whatlanggo.Nno}
	case "sr", "srp", "hr", "hrv": // the library knows Serbian in Cyrillic letters only: in Latin ones it is Croatian
		return []whatlanggo.Lang{whatlanggo.Srp, whatlanggo.Hrv}
	}
	for l := range whatlanggo.Langs {
		if code != "" && (code == l.Iso6391() || code == l.Iso6393()) {
			return []whatlanggo.Lang{l}
		}
	}
	return nil
}

// Names returns the languages' English names in their alphabet, such as
// "English"; none where the set tells no text from it.
func (k Known) Names() []string {
	var names []string
	for l := range k.languages {
		names = append(names, l.String())
	}
	slices.Sort(names)
	return names
}

// Finding is the language that a text seems to be in.
type Finding struct {
	// Name is its English name, such as "German". It is empty where only the
	// letters tell that the text is not in English.
	Name string
	// Code is that of ISO 639-1, such as "de", or of ISO 639-3 where there is
	// none. It is empty where Name is.
	Code string
	// Sure tells that it is this language. Where it is false, the text is in
	// this one or in another that resembles it: Danish is also taken for
	// Norwegian, and what the library does not know for what it does.
	Sure bool
}

// Other returns the language that a text seems to be in, if that is surely
// none of the set. A text that is too short to tell, or that has names,
// numbers, code, addresses or symbols only, is in no other language, nor is
// one that mixes a known language with another. The beginning of a long text
// stands for the whole.
func (k Known) Other(text string) (Finding, bool) {
	if k.languages == nil {
		return Finding{}, false
	}
	s := read(text)
	latin := s.other <= 2*s.latin
	switch {
	case latin && (s.other > s.latin/2 || s.different+s.accents < minWords),
		!latin && s.other < minLetters,
		latin && k.english && s.english*100 >= englishShare*s.words:
		return Finding{}, false
	}
	found := whatlanggo.Detect(s.clean)
	if !latin && k.englishOnly && (found.Lang < 0 || found.Confidence == 0) { // Armenian, or a tie as below
		return Finding{}, true
	}
	// Two languages that are equally likely come in any order: neither is
	// named, so that a text gets the same answer each time.
	if found.Lang < 0 || k.languages[found.Lang] || found.Confidence == 0 ||
		found.Lang == whatlanggo.Cmn && k.languages[whatlanggo.Jpn] { // a text without kana may be either
		return Finding{}, false
	}
	candidates := maps.Clone(k.languages)
	candidates[found.Lang] = true
	against := whatlanggo.DetectWithOptions(s.clean, whatlanggo.Options{Whitelist: candidates})
	asked := minConfidence
	if k.englishOnly {
		asked -= accentWorth * float64(min(s.accents, 3))
	}
	if against.Lang != found.Lang || against.Confidence < asked {
		return Finding{}, false
	}
	return Finding{
		Name: found.Lang.String(), Code: cmp.Or(found.Lang.Iso6391(), found.Lang.Iso6393()),
		Sure: found.Confidence >= sureConfidence,
	}, true
}

// sample is what the beginning of a text has of words.
type sample struct {
	clean     string // the words, with blanks between
	words     int    // in Latin letters
	different int    // of these, less those that may be names; see minWords
	accents   int    // in different: letters that are Latin but not of ASCII
	english   int    // of words, those of englishWords
	latin     int    // Latin letters
	other     int    // letters of other scripts
}

// read takes a text apart. What has a sign or digit among Latin letters is an
// address, code or a disguise and no word; nor is what mixes scripts.
func read(text string) sample {
	if len(text) > maxBytes {
		text = text[:maxBytes]
	}
	var s sample
	var clean strings.Builder
	seen := map[string]bool{}
	for chunk := range strings.FieldsSeq(text) {
		if clean.Len() > maxClean {
			break
		}
		if strings.ContainsAny(chunk[:1], "@#&<[") { // a name, a tag, an HTML entity, a placeholder
			continue
		}
		word := strings.TrimFunc(chunk, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) })
		latin, accents, other, isWord := letters(word)
		if !isWord {
			continue
		}
		clean.WriteString(word)
		clean.WriteByte(' ')
		s.latin += latin
		s.other += other
		if other > 0 {
			continue
		}
		s.words++
		lower := strings.ToLower(strings.ReplaceAll(word, "’", "'"))
		if englishWords[lower] || word == "I" {
			s.english++
		}
		first, n := utf8.DecodeRuneInString(word)
		isName := unicode.IsUpper(first) && len(word) > n && strings.ToLower(word[n:]) == word[n:]
		if !isName && latin > 1 && !seen[lower] {
			seen[lower] = true
			s.different++
			s.accents += accents
		}
	}
	s.clean = clean.String()
	return s
}

// letters counts the letters of what stands between two blanks, and tells
// whether it is a word.
func letters(word string) (latin, accents, other int, isWord bool) {
	odd := false       // something that no word in Latin letters has
	lookalike := false // a letter of an alphabet that disguises Latin letters
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			latin++
		case r == '\'' || r == '’' || r == '-' || r == ',':
		case unicode.Is(unicode.Latin, r):
			latin++
			accents++
			// Letters of phonetics and full-width ones disguise ASCII.
			odd = odd || r >= 0x250 && r < 0x1e00 || r >= 0xff00
		case unicode.IsLetter(r) && !unicode.Is(unicode.Common, r): // those of mathematics are of all scripts
			other++
			lookalike = lookalike || unicode.In(r, unicode.Cyrillic, unicode.Greek)
		default:
			odd = true
		}
	}
	isWord = latin+other > 0 && (other > 0 || !odd) && (latin == 0 || !lookalike)
	return latin, accents, other, isWord
}

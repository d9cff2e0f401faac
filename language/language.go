// Package language detects texts in a language that a model was not trained on:
//
//	known := language.New([]string{"en"})
//	if found, ok := known.Other("Das Wetter ist heute wirklich schön."); ok {
//		fmt.Println(found.Name) // German
//	}
//
// It is the only package that uses the library whatlanggo, and has the rule that
// keeps English chat from being detected as another language;
// docs/decisions/0007-language.md has the measurements of both.
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
	// maxBytes is how much of a text is examined. The words of the first paragraph
	// show the language, and more words cost time.
	maxBytes = 2048
	// maxClean is how many bytes the library gets, after addresses, numbers and
	// signs are removed; the last word may exceed it.
	maxClean = 400
	// minWords is the minimum number of different words in Latin letters. Single
	// letters do not count, nor do words in which only the first letter is a
	// capital, since they may be names. A letter that is not ASCII counts as one
	// word more.
	minWords = 3
	// minLetters is the minimum number of letters of other scripts.
	minLetters = 4
	// minConfidence in 0..1 is the library's minimum confidence in the language
	// that it detects, compared with the nearest known one. If only English is
	// known, each of up to three letters that are not ASCII lowers it by
	// accentWorth.
	minConfidence = 0.75
	accentWorth   = 0.2
	// sureConfidence in 0..1 is the library's minimum confidence among all
	// languages for a name that is almost always right.
	sureConfidence = 0.3
	// englishShare is the minimum share of englishWords among the words of a text
	// that makes it English, in percent.
	englishShare = 17
)

// englishWords are words of which nearly every English sentence has one and which
// are rare in other languages. "is" and "was" are not rare, which the minimum share
// makes harmless. The last ones are from chats.
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

// Known is a set of languages. It is safe for concurrent use. For the zero value,
// no text is in another language.
type Known struct {
	languages   map[whatlanggo.Lang]bool // nil: any language may be in the set
	english     bool                     // is in the set
	englishOnly bool
}

// New returns the set of languages with these ISO 639-1 or 639-3 codes. A country
// or script after the code is ignored: en, eng and en-US are the same. If the
// library does not know one of the codes, such as "multilingual", no text is in
// another language: it may be in the unknown one.
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

// languagesOf returns the library's languages for a code: none, one, or two that
// the library separates or merges.
func languagesOf(code string) []whatlanggo.Lang {
	code, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(code, "_", "-")), "-")
	switch code {
	case "no", "nor":
		return []whatlanggo.Lang{whatlanggo.Nob, whatlanggo.Nno}
	case "sr", "srp", "hr", "hrv": // the library knows Serbian only in Cyrillic script: in Latin script it detects Croatian
		return []whatlanggo.Lang{whatlanggo.Srp, whatlanggo.Hrv}
	}
	for l := range whatlanggo.Langs {
		if code != "" && (code == l.Iso6391() || code == l.Iso6393()) {
			return []whatlanggo.Lang{l}
		}
	}
	return nil
}

// Names returns the English names of the languages in alphabetical order, such as
// "English"; none for the zero value.
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
	// Name is its English name, such as "German". It is empty if only the script
	// shows that the text is not in English.
	Name string
	// Code is its ISO 639-1 code, such as "de", or its ISO 639-3 code if there is
	// no such code. It is empty if Name is.
	Code string
	// Sure is true if it is almost certainly this language. Otherwise the text is
	// in this language or in a similar one: Danish may be detected as Norwegian,
	// and a language that the library does not know as one that it knows.
	Sure bool
}

// Other returns the language of a text, if that is almost certainly not in the set.
// A text is not reported if it is too short, if it has only names, numbers, code,
// addresses or symbols, or if it mixes a known language with another. Only the
// beginning of a long text is examined.
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
	// The library returns equally probable languages in any order: none of them is
	// reported, so that a text always has the same outcome.
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

// sample has counts of the words and letters in the beginning of a text.
type sample struct {
	clean     string // the words, with blanks between
	words     int    // in Latin letters
	different int    // of these, without possible names; see minWords
	accents   int    // in different: Latin letters that are not ASCII
	english   int    // words in englishWords
	latin     int    // Latin letters
	other     int    // letters of other scripts
}

// read splits a text into words. A chunk with signs or digits among Latin letters
// is an address, code or a disguise, not a word. A chunk that mixes scripts is not
// a word either.
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

// letters counts the letters of a chunk between blanks, and reports whether it is a
// word.
func letters(word string) (latin, accents, other int, isWord bool) {
	odd := false       // a character that no word in Latin letters has
	lookalike := false // a letter of an alphabet that disguises Latin letters
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			latin++
		case r == '\'' || r == '’' || r == '-' || r == ',':
		case unicode.Is(unicode.Latin, r):
			latin++
			accents++
			// Phonetic and full-width letters are used to disguise ASCII.
			odd = odd || r >= 0x250 && r < 0x1e00 || r >= 0xff00
		case unicode.IsLetter(r) && !unicode.Is(unicode.Common, r): // mathematical letters are in the script Common
			other++
			lookalike = lookalike || unicode.In(r, unicode.Cyrillic, unicode.Greek)
		default:
			odd = true
		}
	}
	isWord = latin+other > 0 && (other > 0 || !odd) && (latin == 0 || !lookalike)
	return latin, accents, other, isWord
}

// Package language detects texts, and parts of texts, in a language that a model was not
// trained on:
//
//	known := language.New([]string{"en"})
//	read := known.Read("See you there. Das Wetter ist heute wirklich schön.")
//	fmt.Println(read.Foreign, len(read.Parts), read.Parts[1].Foreign) // false 2 true
//
// A finding is evidence; the caller decides what follows from it. The library whatlanggo
// detects languages, a list of English words keeps it from taking English chat for
// another language, and lists of words of other languages tell what it does not know.
// docs/decisions/0025-languages.md and 0038-two-models.md have the measurements.
package language

import (
	"cmp"
	_ "embed"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/RadhiFadlillah/whatlanggo"
)

// The limits below which a text counts as being in a known language. They
// were chosen on English dev rows; decision 0025 has the figures.
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
	// minOdd is the minimum number of different words in Latin letters of a sentence that is
	// odd because no word of it is English.
	minOdd = 5
	// minLetters is the minimum number of letters of other scripts.
	minLetters = 4
	// minConfidence in 0..1 is the library's minimum confidence in the language
	// that it detects, compared with the nearest known one. If only English is
	// known, each of up to maxAccents letters that are not ASCII lowers it by
	// accentWorth.
	minConfidence = 0.75
	accentWorth   = 0.2
	maxAccents    = 3
	// sureConfidence in 0..1 is the library's minimum confidence among all
	// languages for a name that is almost always right.
	sureConfidence = 0.3
	// englishShare is the minimum share of englishWords among the words of a text
	// that makes it English, in percent. Nearly every sentence in another language has
	// less, and nearly every English one more.
	englishShare = 12
	// surelyEnglish is the share that makes a sentence English whatever is beside it, in
	// percent.
	surelyEnglish = 30
	// minOthers is the minimum number of words of other languages that make a sentence without
	// an English word surely foreign.
	minOthers = 3
	// oneIn is the number of words of an English sentence of which one may be of another
	// language: a name or a quotation.
	oneIn = 8
)

//go:embed english.txt
var englishList string

// englishWords are words that are frequent in English and rare in other languages.
var englishWords = set(englishList)

//go:embed others.txt
var othersList string

// otherWords are words that are frequent in another language in Latin letters and rare in
// English, with the languages that have them.
var otherWords = others(othersList)

// latinHindi is the code of Hindi in Latin letters.
const latinHindi = "hi-Latn"

// others reads lines of a language's code and its words.
func others(lines string) map[string][]string {
	languages := map[string][]string{}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			languages[word] = append(languages[word], words[0])
		}
	}
	return languages
}

func set(words string) map[string]bool {
	s := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		s[word] = true
	}
	return s
}

// Known is a set of languages. It is safe for concurrent use. The zero value takes every
// text for one in a known language.
type Known struct {
	languages   map[whatlanggo.Lang]bool // nil: any language may be in the set
	english     bool                     // is in the set
	englishOnly bool
}

// New returns the set of languages with these ISO 639-1 or 639-3 codes. A country or
// script after the code is ignored: en, eng and en-US are the same. If the library does not
// know one of the codes, such as "multilingual", every text may be in that language, and
// New returns the zero value.
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

// Finding is a language in which a text or a part of it seems to be.
type Finding struct {
	// Name is the English name of the language, such as "German". It is empty if only the
	// script shows that the text is not in English.
	Name string
	// Code is the ISO 639-1 code, such as "de", or the ISO 639-3 code of a language that has
	// no shorter one. It is empty if Name is.
	Code string
	// Sure is true if the text is almost certainly in this language. Otherwise it may be in
	// a similar one: Danish may be detected as Norwegian, and a language that the library
	// does not know as one that it knows.
	Sure bool
}

// Text is what is known about the language of a text.
type Text struct {
	// Foreign is true if the text as a whole seems to be in another language: at least four
	// fifths of its letters are, and no sentence is clearly in a known language. Other is then
	// the language of its longest foreign part.
	Foreign bool
	Other   Finding
	// Likely is the language that a text seems to be in as a whole which is too short for Foreign.
	// It may well be another one.
	Likely Finding
	// Certain is true if Foreign is true and the text has at least 40 letters: fewer do not
	// show a language reliably.
	Certain bool
	// Parts follow one another without gaps. Neighbours differ in Foreign or in Sure, and an
	// empty text has none.
	Parts []Part
}

// Part is one sentence of a text, or several that follow one another.
type Part struct {
	Start, End int // bytes of the text
	// Foreign is true if the part seems to be in another language than the known ones, or in
	// no language at all.
	Foreign bool
	// Sure is true if hardly a part like this is otherwise, whatever its length. Many short ones
	// and names are not sure. It is only found if English is the known language.
	Sure bool
}

// certain is the number of letters from which on a text may be certainly foreign.
const certain = 40

// Read finds the language of a text and of its parts, sentence by sentence. What is too
// short to tell, or has only names, numbers, code, addresses or symbols, counts as being in
// a known language, unless its neighbours are foreign and it resembles them.
func (k Known) Read(text string) Text {
	if text == "" {
		return Text{}
	}
	if k.languages == nil {
		return Text{Parts: []Part{{End: len(text)}}}
	}
	var whole Text
	pieces, seen := k.pieces(text)
	if !seen.foreign && !(seen.odd && (seen.english || seen.noise)) {
		if !seen.home && len(pieces) > 1 {
			// Sentences that are too short to tell may be enough together.
			if found := k.tell(read(text), kind{}); found.foreign {
				whole.mark(text, found)
			}
			for i := range pieces {
				pieces[i].Foreign = whole.Foreign
			}
		}
		whole.Parts = k.joined(text, pieces)
		return whole
	}
	k.settle(pieces)
	all, others, longest, changes := 0, 0, 0, false
	var found kind // of the longest foreign piece
	for _, p := range pieces {
		letters := p.sample.plain
		all += letters
		changes = changes || p.Foreign != pieces[0].Foreign
		if p.Foreign {
			others += letters
			if p.kind.foreign && letters > longest {
				longest, found = letters, p.kind
			}
		}
	}
	if found.foreign && !seen.home && (others*5 >= all*4 || k.tell(read(text), kind{}).foreign) {
		whole.mark(text, found)
	}
	if !changes {
		for i := range pieces {
			pieces[i].Foreign = whole.Foreign
		}
	}
	whole.Parts = k.joined(text, pieces)
	return whole
}

// joined returns pieces as parts. Neighbours that do not differ are one part.
func (k Known) joined(text string, pieces []piece) []Part {
	var parts []Part
	for _, p := range pieces {
		p.Sure = k.isSure(p, text[p.Start:p.End])
		if last := len(parts) - 1; last >= 0 && parts[last].Foreign == p.Foreign && parts[last].Sure == p.Sure {
			parts[last].End = p.End
		} else {
			parts = append(parts, p.Part)
		}
	}
	return parts
}

// isSure reports whether a piece is surely in the language that it seems to be in: it has
// words of that language, and hardly any of others. So is a piece without a letter in a known one.
func (k Known) isSure(p piece, text string) bool {
	s := p.sample
	switch {
	case !k.englishOnly:
		return false
	case s.isBlank():
		return !p.Foreign && !hasLetters(text, 1)
	case p.Foreign:
		return p.kind.foreign && (s.other > 2*s.latin || s.plain >= certain || s.english == 0 && s.others >= minOthers)
	case s.other > 0 || s.english == 0:
		return false
	case s.others == 0:
		return s.english*100 >= englishShare*s.words
	}
	return s.english*100 >= surelyEnglish*s.words && s.others*oneIn <= s.words
}

// mark says that the text as a whole is foreign, unless it is so short that only its letters
// could show that.
func (t *Text) mark(text string, found kind) {
	if t.Certain = hasLetters(text, certain); t.Certain || found.shown {
		t.Foreign, t.Other = true, found.finding()
	} else {
		t.Likely = found.finding()
	}
}

// piece is a sentence of a text.
type piece struct {
	Part

	sample sample
	kind   kind
}

// seen is what some piece of a text is.
type seen struct {
	foreign bool
	home    bool // certainly in a known language
	english bool
	odd     bool
	noise   bool // odd, and nothing but noise
}

// pieces returns the sentences of a text, or parts of them, and what is among them. What has
// no words belongs to the piece before it, or to the first one.
func (k Known) pieces(text string) (pieces []piece, s seen) {
	var before kind
	leading := 0 // bytes without words at the beginning
	for start := 0; start < len(text); {
		p := piece{Part: Part{Start: start, End: start + sentence(text[start:])}}
		p.sample = read(text[p.Start:p.End])
		start = p.End
		if p.sample.isBlank() && start < len(text) && len(pieces) == 0 {
			leading = start
			continue
		}
		if last := len(pieces) - 1; last >= 0 && p.sample.isBlank() {
			pieces[last].End = p.End
			continue
		}
		for _, p := range k.divide(text, p) {
			if p.kind = k.tell(p.sample, before); p.kind.foreign {
				before = p.kind
			}
			p.Foreign = p.kind.foreign
			s.foreign, s.home = s.foreign || p.Foreign, s.home || p.kind.home
			s.english, s.odd = s.english || k.isEnglish(p.sample), s.odd || p.kind.odd
			s.noise = s.noise || p.kind.odd && p.sample.noise
			pieces = append(pieces, p)
		}
	}
	if len(pieces) > 0 && leading > 0 {
		pieces[0].Start = 0
	}
	return pieces, s
}

// minRun is the number of words without an English one from which on a sentence may change
// its language.
const minRun = 5

// divide returns a sentence in up to three pieces if English words stand before or behind a
// run of foreign ones: people often write no full stop between them.
func (k Known) divide(text string, p piece) []piece {
	if at := noiseUntil(text[p.Start:p.End]); p.sample.noise && at > 0 && p.Start+at < p.End {
		noise, rest := p, p
		noise.End, rest.Start = p.Start+at, p.Start+at
		noise.sample, rest.sample = read(text[noise.Start:noise.End]), read(text[rest.Start:rest.End])
		return append([]piece{noise}, k.divide(text, rest)...)
	}
	whole := []piece{p}
	if !k.english || p.sample.english == 0 && (p.sample.other == 0 || p.sample.latin == 0) || p.sample.run < minRun {
		return whole
	}
	all := slices.Collect(words(text[p.Start:min(p.End, p.Start+maxBytes)]))
	from, to := longestRun(all)
	at := func(i int) int { // where word i begins
		if i < len(all) {
			return p.Start + all[i].start
		}
		return p.End
	}
	run := read(text[at(from):at(to)])
	found := k.tell(run, kind{})
	if !found.foreign {
		return whole
	}
	candidates := maps.Clone(k.languages)
	candidates[found.lang] = true
	isHome := func(i, j int) bool {
		s := read(text[at(i):at(j)])
		return s.other == 0 && (run.other > run.latin || k.languages[nearest(s, candidates).Lang])
	}
	// The words of the run next to English ones may be English too.
	const reach = 3
	begin, end := from, to
	for ; begin < min(from+reach, to) && isHome(begin, begin+1); begin++ {
	}
	for ; end > max(to-reach, begin) && isHome(end-1, end); end-- {
	}
	// A word or two may be quoted or borrowed.
	stands := func(words int, s sample) bool {
		return words > 1 && (run.other > run.latin && s.other == 0 || k.isEnglish(s))
	}
	if !stands(begin, read(text[p.Start:at(begin)])) {
		begin = 0
	}
	if !stands(len(all)-end, read(text[at(end):p.End])) {
		end = len(all)
	}
	if begin > 0 && end < len(all) { // a quotation
		return whole
	}
	var pieces []piece
	for _, r := range [][2]int{{0, begin}, {begin, end}, {end, len(all)}} {
		if r[0] == r[1] {
			continue
		}
		part := Part{Start: at(r[0]), End: at(r[1])}
		if len(pieces) == 0 {
			part.Start = p.Start
		}
		pieces = append(pieces, piece{Part: part, sample: read(text[part.Start:part.End])})
	}
	return pieces
}

// noiseUntil returns the length of the noise at the beginning of a text; 0 if another word
// comes first.
func noiseUntil(text string) int {
	noise := false
	for w := range words(text) {
		if !isNoise(w.text) {
			if noise {
				return w.start
			}
			return 0
		}
		noise = true
	}
	return len(text)
}

// isNoise reports whether a word is up to three letters again and again: hahahaha, aaaaaaaa.
func isNoise(word string) bool {
	const least, longest = 8, 3
	if len(word) < least {
		return false
	}
	for n := 1; n <= longest; n++ {
		if strings.EqualFold(word[n:], word[:len(word)-n]) {
			return true
		}
	}
	return false
}

// longestRun returns the longest run of words without an English one.
func longestRun(all []word) (from, to int) {
	start := 0
	for i, w := range all {
		if w.english {
			start = i + 1
		} else if i+1-start > to-from {
			from, to = start, i+1
		}
	}
	return from, to
}

// settle decides about the pieces that are too short to tell, in a text in which others are
// foreign: each is compared with the languages of the foreign ones.
func (k Known) settle(pieces []piece) {
	candidates := maps.Clone(k.languages)
	others := map[whatlanggo.Lang]bool{}
	for _, p := range pieces {
		if p.Foreign {
			candidates[p.kind.lang], others[p.kind.lang] = true, true
		}
	}
	for i := range pieces {
		p := &pieces[i]
		switch {
		case p.kind.home || p.Foreign || k.isEnglish(p.sample):
		case p.kind.odd:
			p.Foreign = true
		default:
			against := nearest(p.sample, candidates)
			p.Foreign = others[against.Lang] && against.Confidence >= sureConfidence
		}
	}
}

// nearest returns which of some languages a sample is in.
func nearest(s sample, candidates map[whatlanggo.Lang]bool) whatlanggo.Info {
	return whatlanggo.DetectWithOptions(s.clean, whatlanggo.Options{Whitelist: candidates})
}

// kind is what a sample tells about the language of a text: that it is foreign, or
// certainly a known one, or neither.
type kind struct {
	foreign, home bool
	odd           bool            // in no language that is known, or in none at all
	shown         bool            // few words show it, by their script, their accents or a list
	lang          whatlanggo.Lang // if foreign; -1 if only the script shows it
	sure          bool            // see [Finding]
	latinHindi    bool            // Hindi in Latin letters, which the library does not know
}

// finding returns the language of a foreign sample.
func (k kind) finding() Finding {
	switch {
	case k.latinHindi:
		return Finding{Name: "Hindi", Code: latinHindi, Sure: k.sure}
	case k.lang < 0:
		return Finding{}
	}
	return Finding{Name: k.lang.String(), Code: cmp.Or(k.lang.Iso6391(), k.lang.Iso6393()), Sure: k.sure}
}

// tell returns the kind of a sample. It is neither if the sample is too short, if it has
// only names, numbers, code, addresses or symbols, or if it mixes languages. The language of
// the sample before it is tried first, which takes a third of the time; so neighbours in similar
// languages count as one.
func (k Known) tell(s sample, before kind) kind {
	latin := s.other <= 2*s.latin
	switch {
	case s.noise && s.latin+s.other == 0:
		return kind{odd: true}
	case latin && s.isHindi():
		return k.hindi()
	case latin && k.english && s.english*100 >= englishShare*s.words:
		return kind{home: s.english > 1 && k.isEnglish(s)}
	case s.isShort(latin):
		return kind{}
	}
	shown := !latin || s.accents >= maxAccents
	if before.foreign && before.lang >= 0 && k.differs(s, before.lang) {
		return kind{foreign: true, shown: shown, lang: before.lang, sure: before.sure}
	}
	found := whatlanggo.Detect(s.clean)
	if !latin && k.englishOnly && (found.Lang < 0 || found.Confidence == 0) { // Armenian, or a tie as below
		return kind{foreign: true, shown: true, lang: -1}
	}
	// The library returns equally probable languages in any order: none of them is
	// reported, so that a text always has the same outcome.
	if found.Lang < 0 || found.Confidence == 0 ||
		found.Lang == whatlanggo.Cmn && k.languages[whatlanggo.Jpn] { // a text without kana may be either
		return kind{}
	}
	if k.languages[found.Lang] {
		return kind{home: s.latin+s.other >= certain && found.Confidence >= sureConfidence}
	}
	if !k.differs(s, found.Lang) {
		return kind{odd: k.english && latin && s.english == 0 && s.different >= minOdd}
	}
	return kind{foreign: true, shown: shown, lang: found.Lang, sure: found.Confidence >= sureConfidence}
}

// isShort reports whether a sample, in Latin letters or not, is too short to tell, or mixes
// alphabets.
func (s sample) isShort(latin bool) bool {
	if latin {
		return s.other > s.latin/2 || s.different+s.accents < minWords
	}
	return s.other < minLetters
}

// isHindi reports whether a sample in Latin letters is Hindi, which may be full of English words.
func (s sample) isHindi() bool {
	return s.other == 0 && s.hindi >= minOthers && s.hindi > s.english && s.hindi > s.others/2
}

// hindi is the kind of Hindi in Latin letters.
func (k Known) hindi() kind {
	if k.languages[whatlanggo.Hin] {
		return kind{home: true}
	}
	return kind{foreign: true, shown: true, lang: whatlanggo.Hin, sure: true, latinHindi: true}
}

// differs reports whether a sample is clearly in a language, compared with the known ones.
func (k Known) differs(s sample, other whatlanggo.Lang) bool {
	candidates := maps.Clone(k.languages)
	candidates[other] = true
	asked := minConfidence
	if k.englishOnly {
		asked -= accentWorth * float64(min(s.accents, maxAccents))
	}
	against := nearest(s, candidates)
	return against.Lang == other && against.Confidence >= asked
}

// isEnglish reports whether English is known and surely the language of a sample.
func (k Known) isEnglish(s sample) bool {
	return k.english && s.english > 0 && s.english*100 >= surelyEnglish*s.words
}

// sentence returns the length in bytes of the first sentence of a text: up to the end of
// its line, or to a full stop or a similar sign and the blanks behind it. Unlike the
// sentences of results, it also ends before a small letter, as people write in chats.
func sentence(text string) int {
	for i, r := range text {
		switch {
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
		case strings.ContainsRune(".!?…:;|", r) && blankAt(text, i+utf8.RuneLen(r)):
		case strings.ContainsRune("。！？", r):
		default:
			continue
		}
		rest := strings.TrimLeftFunc(text[i+utf8.RuneLen(r):], unicode.IsSpace)
		return len(text) - len(rest)
	}
	return len(text)
}

// blankAt reports whether a blank is at a byte of a text.
func blankAt(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return unicode.IsSpace(r)
}

// hasLetters reports whether a text has at least n letters.
func hasLetters(text string, n int) bool {
	for _, r := range text {
		if unicode.IsLetter(r) {
			if n--; n == 0 {
				return true
			}
		}
	}
	return false
}

// sample has counts of the words and letters in the beginning of a text.
type sample struct {
	clean     string // the words, with blanks between
	words     int    // in Latin letters
	different int    // of these, without possible names; see minWords
	accents   int    // in different: Latin letters that are not ASCII
	english   int    // words in englishWords
	others    int    // words in otherWords
	hindi     int    // words in otherWords that only Hindi has
	run       int    // the longest run of words of any script that are not
	latin     int    // Latin letters
	other     int    // letters of other scripts
	plain     int    // letters of both, without those of possible names
	noise     bool   // there are words that are noise; they are not counted
}

// isBlank reports whether a sample has no words.
func (s sample) isBlank() bool { return s.latin+s.other == 0 && !s.noise }

// word is a word of a text.
type word struct {
	text       string
	start, end int // bytes of the text, with the signs around it
	letters    letters
	english    bool
	others     []string // see otherWords
}

// words yields the words of a text. A chunk with signs or digits among Latin letters
// is an address, code or a disguise, not a word. A chunk that mixes scripts is not
// a word either.
func words(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		at := 0
		for chunk := range strings.FieldsSeq(text) {
			start := at + strings.Index(text[at:], chunk)
			at = start + len(chunk)
			if strings.ContainsAny(chunk[:1], "@#&<[") { // a name, a tag, an HTML entity, a placeholder
				continue
			}
			w := word{start: start, end: at}
			w.text = strings.TrimFunc(chunk, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) })
			var isWord bool
			if w.letters, isWord = count(w.text); !isWord {
				continue
			}
			plain := strings.ToLower(strings.ReplaceAll(w.text, "’", "'"))
			w.english, w.others = w.text == "I" || englishWords[plain], otherWords[plain]
			if !yield(w) {
				return
			}
		}
	}
}

// read counts the words in the beginning of a text.
func read(text string) sample {
	if len(text) > maxBytes {
		text = text[:maxBytes]
	}
	var s sample
	var clean strings.Builder
	seen := map[string]bool{}
	run := 0
	for w := range words(text) {
		n := w.letters
		if clean.Len() > maxClean {
			break
		}
		if isNoise(w.text) {
			s.noise = true
			continue
		}
		clean.WriteString(w.text)
		clean.WriteByte(' ')
		s.latin += n.latin
		s.other += n.other
		if w.english {
			run = 0
		} else if run++; run > s.run {
			s.run = run
		}
		if n.other > 0 {
			s.plain += n.latin + n.other
			continue
		}
		s.words++
		if w.english {
			s.english++
		}
		if len(w.others) > 0 {
			s.others++
		}
		if len(w.others) == 1 && w.others[0] == latinHindi {
			s.hindi++
		}
		first, size := utf8.DecodeRuneInString(w.text)
		isName := unicode.IsUpper(first) && len(w.text) > size && strings.ToLower(w.text[size:]) == w.text[size:]
		if isName {
			continue
		}
		s.plain += n.latin
		if lower := strings.ToLower(w.text); n.latin > 1 && !seen[lower] {
			seen[lower] = true
			s.different++
			s.accents += n.accents
		}
	}
	s.clean = clean.String()
	return s
}

// letters are the numbers of letters of a word: Latin ones, those of them that are not
// ASCII, and those of other scripts.
type letters struct{ latin, accents, other int }

// count counts the letters of a chunk between blanks, and reports whether it is a word.
func count(word string) (n letters, isWord bool) {
	odd := false       // a character that no word in Latin letters has
	lookalike := false // a letter of an alphabet that disguises Latin letters
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			n.latin++
		case r == '\'' || r == '’' || r == '-' || r == ',':
		case unicode.Is(unicode.Latin, r):
			n.latin++
			n.accents++
			// Phonetic and full-width letters are used to disguise ASCII.
			odd = odd || r >= 0x250 && r < 0x1e00 || r >= 0xff00
		case unicode.IsLetter(r) && !unicode.Is(unicode.Common, r): // mathematical letters are in the script Common
			n.other++
			lookalike = lookalike || unicode.In(r, unicode.Cyrillic, unicode.Greek)
		default:
			odd = true
		}
	}
	return n, n.latin+n.other > 0 && (n.other > 0 || !odd) && (n.latin == 0 || !lookalike)
}

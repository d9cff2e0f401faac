// Package names finds names of people, places and organisations with a transformer network:
//
//	network, err := names.Open(config)
//	…
//	finder, err := pii.New(pii.Settings{Names: network})
//
// It also knows where names end in tables and forms, and which names belong to tools.
package names

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/scan"
	"github.com/toxscreen/toxscreen/tokenize"
)

// Config describes a network of names.
type Config struct {
	// Encoder has one head, a [encoder.TokenClassification]. Its columns are one for "no
	// name" and then two for each of Types: the first token of a name, and the other
	// tokens.
	Encoder encoder.Config
	Types   []toxscreen.EntityType
	// Thresholds map each of Types to the lowest probability, in 0..1, that makes a word
	// part of a name.
	Thresholds map[toxscreen.EntityType]float64
}

// Network finds names. It is safe for concurrent use.
type Network struct {
	config    Config
	head      string
	encoder   *encoder.Encoder
	encodings sync.Pool // of *tokenize.Encoding
}

// Open opens a network, see [encoder.Open]. The caller closes it.
func Open(c Config) (*Network, error) {
	var head encoder.Head
	if last := len(c.Encoder.Stages) - 1; last >= 0 && len(c.Encoder.Stages[last].Heads) == 1 {
		head = c.Encoder.Stages[last].Heads[0]
	}
	if head.Task != encoder.TokenClassification || head.Columns != 1+2*len(c.Types) {
		return nil, fmt.Errorf("failed to open the network of names: its last stage must have one head with %d columns for each token, for %d types", 1+2*len(c.Types), len(c.Types))
	}
	for _, t := range c.Types {
		if _, ok := c.Thresholds[t]; !ok {
			return nil, fmt.Errorf("failed to open the network of names: it has no threshold for %s", t)
		}
	}
	opened, err := encoder.Open(c.Encoder)
	if err != nil {
		return nil, fmt.Errorf("failed to open the network of names: %w", err)
	}
	return &Network{config: c, head: head.Name, encoder: opened, encodings: sync.Pool{New: func() any { return new(tokenize.Encoding) }}}, nil
}

// Close waits for active runs and frees the memory of the network. Later calls of Find
// fail.
func (n *Network) Close() error { return n.encoder.Close() }

// Find returns the names in a text, ordered by Start and without overlap, with byte
// offsets. The probabilities of a word are the means of those of its tokens. A word is part
// of a name if its likeliest type reaches the threshold of that type; the score of the name
// is the mean over its words. A name ends with its line, column or cell, but an address may
// go on in the next line. When ctx ends, active runs stop.
func (n *Network) Find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	seen := Seen(text)
	found, err := n.find(ctx, seen.Text)
	if err != nil {
		return nil, err
	}
	kept := found[:0]
	for _, e := range found {
		e.Start, e.End = seen.Original(e.Start, e.End)
		if last := len(kept) - 1; last < 0 || e.Start >= kept[last].End { // one name of each run that was cut
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// Seen returns a text as the network sees it, with the way back to the original: in plain
// typography, and with long runs cut. Training uses the same function, see training/read.
func Seen(text string) disguise.Reading { return disguise.Fold(text).CutRuns() }

// find returns the names in a text that [Seen] returned.
func (n *Network) find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	enc := n.encodings.Get().(*tokenize.Encoding)
	defer n.encodings.Put(enc)
	if err := n.config.Encoder.Tokenizer.Encode(text, enc); err != nil {
		return nil, err
	}
	out, err := n.encoder.Run(ctx, text, enc, nil)
	if err != nil {
		return nil, err
	}
	logits := out.Logits(n.head)
	columns := 1 + 2*len(n.config.Types)
	found := []toxscreen.Entity{}
	border := newBorders(text)
	words := []scored{} // of the name that was read last
	add := func(kind toxscreen.EntityType) {
		found = append(found, divided(border, kind, words)...)
		words = words[:0]
	}
	before := -1 // the type of the word before; -1 for none
	p := make([]float64, columns)
	mean := make([]float64, len(n.config.Types))
	for i := 0; i < len(enc.IDs); {
		clear(mean)
		first := i
		begins := make([]float64, 0, 2*len(mean))
		for ; i < len(enc.IDs) && enc.Words[i] == enc.Words[first]; i++ {
			if err := softmax(logits[i*columns:][:columns], p); err != nil {
				return nil, err
			}
			if i == first {
				begins = append(begins, p[1:]...)
			}
			for t := range mean {
				mean[t] += p[1+2*t] + p[2+2*t]
			}
		}
		best := 0
		for t := range mean {
			if mean[t] /= float64(i - first); mean[t] > mean[best] {
				best = t
			}
		}
		if mean[best] < n.config.Thresholds[n.config.Types[best]] {
			best = -1
		}
		if before >= 0 && (before != best || begins[2*best] > begins[2*best+1]) {
			add(n.config.Types[before])
		}
		if before = best; best >= 0 {
			words = append(words, scored{int(enc.Offsets[first].Start), int(enc.Offsets[i-1].End), mean[best]})
		}
	}
	if before >= 0 {
		add(n.config.Types[before])
	}
	return notTools(text, trimmed(text, found)), nil
}

// scored is a word of a name.
type scored struct {
	start, end int
	score      float64
}

// divided makes names of words of one type: one name, or, where borders stand between the
// words, one on each side.
func divided(border *borders, kind toxscreen.EntityType, words []scored) []toxscreen.Entity {
	var names []toxscreen.Entity
	for start, end := words[0].start, words[len(words)-1].end; start < end; {
		to, next := border.next(kind, start, end)
		sum, count := 0.0, 0
		for _, w := range words {
			if w.start >= to {
				break
			}
			sum, count = sum+w.score, count+1
		}
		if count > 0 {
			names = append(names, toxscreen.Entity{Type: kind, Start: start, End: to, Score: toxscreen.Probability(sum / float64(count)), Why: []string{"network"}})
		}
		for start = next; len(words) > 0 && words[0].end <= start; { // one that goes on was read across a border
			words = words[1:]
		}
	}
	return names
}

// softmax writes the probabilities of logits to p, which is as long.
func softmax(logits []float32, p []float64) error {
	highest := math.Inf(-1)
	for _, z := range logits {
		highest = max(highest, float64(z))
	}
	sum := 0.0
	for i, z := range logits {
		p[i] = math.Exp(float64(z) - highest)
		sum += p[i]
	}
	if !(sum >= 1) { // NaN, or all are -Inf
		return errors.New("failed to find names: the network returned logits that are not numbers")
	}
	for i := range p {
		p[i] /= sum
	}
	return nil
}

// trimmed drops the punctuation around names, and drops names without a letter, except
// postcodes.
func trimmed(text string, names []toxscreen.Entity) []toxscreen.Entity {
	kept := names[:0]
	for _, e := range names {
		name := strings.TrimRightFunc(text[e.Start:e.End], func(c rune) bool { return !(alphanumeric(c) || c == '.' || c == ')') })
		e.End = e.Start + len(name)
		name = strings.TrimLeftFunc(name, func(c rune) bool { return !(alphanumeric(c) || c == '@' || c == '#' || c == '(') })
		e.Start = e.End - len(name)
		if IsName(e.Type, name) && utf8.ValidString(name) {
			kept = append(kept, e)
		}
	}
	return kept
}

// IsName tells whether a text can be a name of a type. It must have a letter, and must not
// be the label of a number, like IBAN. An ADDRESS may also be a postcode alone: at least
// three characters with a digit.
func IsName(t toxscreen.EntityType, text string) bool {
	return IsPart(text) || t == kind.Address && !hasLetter(text) && strings.ContainsFunc(text, unicode.IsDigit) && len(text) >= 3
}

// IsPart tells whether the rest of a name, after a part was taken, still is a name.
func IsPart(text string) bool { return hasLetter(text) && !numberLabels[text] }

// hasLetter tells whether a text has a letter.
func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

// numberLabels are abbreviations before numbers that the network may take for names.
var numberLabels = scan.Words("IBAN BIC SWIFT IFSC SSN ITIN EIN TIN NPI DEA MRN MBI VIN NINO UTR TFN ABN DOB PNR UHID NRIC OTP PIN TEL MOB PHONE FAX CELL PH")

func alphanumeric(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

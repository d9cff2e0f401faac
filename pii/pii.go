// Package pii finds personal data in texts and masks it:
//
//	finder, err := pii.New(pii.Settings{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	text := "Her card is 4111 1111 1111 1111."
//	entities, err := finder.Find(ctx, text)
//	if err != nil {
//		log.Fatal(err)
//	}
//	masked, err := pii.Mask(text, entities, nil) // Her card is <CREDIT_CARD>.
//
// Patterns find identifiers that have a form, like card numbers; checksums check them, and
// cues, which are words near by, support them. A network finds names of people, places and
// organisations, see [Settings.Names]. [Kinds] lists the types; packages kind and national
// declare them.
//
// # Scores
//
// A pattern alone gives an entity its base score:
//
//	0.9 to 1     a checksum is right and the form is the type's own: cards, IBAN, wallets
//	0.7 to 0.95  the form is the type's own: e-mail and web addresses, keys, 856-45-6789
//	0.4 to 0.6   the form is usual, others write it too: national phone numbers, dates
//	0.05 to 0.3  any number may look like that, or it is a well-known sample
//
// A cue adds 0.4 to the score, less 0.01 for each word between, up to a score of 1. So at
// [DefaultThreshold], entities of the last row need a cue. A cue is a whole word or a
// phrase, in any case, singular or plural, also as a part of card_number or cardNumber. It
// may stand up to 8 words and 160 bytes before the entity, across the end of a sentence or
// a line but not across a blank line, or up to 3 words after it in the same sentence. For
// types without a form, such as passports, it stands up to 4 words before.
//
// The heading of a column is a cue, too, in a table: consecutive lines with the same number
// of tabs, |, ; or commas. A word right before a number may say that the number is
// something else (order, version, lot, ISBN). Then only a cue that is as near makes it
// personal.
//
// # Internet
//
// A domain without a scheme or www. is a web address if it ends in a common top-level
// domain that is neither a word nor a file ending, or if a path follows and it ends in a
// public suffix of the list in golang.org/x/net/publicsuffix. Other domains under a public
// suffix need a cue. E-mail addresses may also end in domains that are reserved for tests.
// Loopback and unspecified addresses, netmasks and localhost point to nobody and are not
// found.
//
// # Disguise
//
// Patterns, recognizers and the network read a text in plain typography, see
// [disguise.Fold]. Patterns also read full-width characters, mathematical letters and the
// digits of other scripts as ASCII, every dash as -, and skip joiners. Offsets refer to the
// original text.
package pii

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/names"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// DefaultThreshold is the lowest score of an entity, in 0..1, unless [Settings] name
// another.
const DefaultThreshold = scan.DefaultThreshold

// AnyScore is a threshold that every entity reaches. 0 cannot mean that: it is the default.
const AnyScore = 1e-9

// patternsVersion changes with every change of what the patterns find.
const patternsVersion = "patterns@4"

// Settings select what a [Finder] finds. The zero value of a field means its default.
type Settings struct {
	// Types are the types to find. Default: those of Recognizers and those of [Kinds], except
	// kinds with OnRequest. AGE in Types stands for every age, but by default only ages over 89
	// are found.
	Types []toxscreen.EntityType
	// Threshold is the lowest score of an entity, in 0..1. Default: [DefaultThreshold].
	Threshold float64
	// Regions are the ISO 3166 codes of the regions whose national phone numbers are found.
	// Default: US, GB, DE, FR, IL, IN, CA and BR. International numbers are always found.
	Regions []string
	// Recognizers are the caller's own recognizers, at most 100.
	Recognizers []Recognizer
	// Cues are at most 1,000 words or phrases of up to 4 words. They support every entity
	// near them, beside the cues of its type. Entities of types without a form, such as
	// US_PASSPORT, still need a cue of their type.
	Cues []string
	// Allow are texts that are not personal, at most 10,000. An entity is dropped if all of
	// it equals one of them, in any case and typography.
	Allow []string
	// AllowPattern drops the entities in which it matches. Default: nil, which drops none.
	AllowPattern *regexp.Regexp
	// Names finds PERSON, LOCATION, ADDRESS, ORGANIZATION and NRP, and runs only if one of
	// its types is to be found. Default: nil, which finds no names.
	Names Names
}

// Select changes the settings for one request: it adds recognizers, and finds the named
// types. If named is empty, the types of own join the types that are found already.
func (s *Settings) Select(named []toxscreen.EntityType, own []Recognizer) {
	s.Recognizers = slices.Concat(s.Recognizers, own)
	switch {
	case len(named) > 0:
		s.Types = named
	case len(s.Types) > 0: // otherwise the default ones stay, which mean other ages than AGE in a selection
		s.Types = slices.Clone(s.Types)
		for _, r := range own {
			s.Types = append(s.Types, r.Type)
		}
	}
}

const (
	maxCues  = 1_000
	maxAllow = 10_000
)

// Names finds names in texts, as [names.Network] does. Implementations must be safe for concurrent
// use.
type Names interface {
	// Find returns the names in a text, ordered by Start and free of overlap, with byte
	// offsets.
	Find(ctx context.Context, text string) ([]toxscreen.Entity, error)
	// Types returns the types that it finds.
	Types() []toxscreen.EntityType
	// Version returns name@version and a hash.
	Version() string
	// Parallel returns how many concurrent texts keep it busy, 1 or more.
	Parallel() int
}

// Finder finds personal data. It is immutable and safe for concurrent use.
type Finder struct {
	settings    Settings
	anyType     bool // Types were not selected
	recognizers []compiled
	cues        scan.Cues       // of Settings.Cues
	allow       map[string]bool // in lower case
	wanted      map[toxscreen.EntityType]bool
	asked       []toxscreen.EntityType // by name
	wantsNames  bool                   // whether one of them is the network's
	version     string
}

var _ toxscreen.EntityFinder = (*Finder)(nil)

// New returns a Finder. The error names the wrong setting. If a recognizer's expression is
// wrong, the error chain has an [ExpressionError].
func New(s Settings) (*Finder, error) { return build(s, nil) }

// build is New, but takes recognizers that are compiled already from ready.
func build(s Settings, ready []compiled) (*Finder, error) {
	if !(s.Threshold >= 0 && s.Threshold <= 1) {
		return nil, fmt.Errorf("failed to create a finder: the threshold %v is not in 0..1", s.Threshold)
	}
	if s.Threshold == 0 {
		s.Threshold = DefaultThreshold
	}
	if len(s.Regions) == 0 {
		s.Regions = defaultRegions
	}
	s.Regions = slices.Clone(s.Regions)
	for i, region := range s.Regions {
		var ok bool
		if s.Regions[i], ok = kind.Region(region); !ok {
			return nil, fmt.Errorf("failed to create a finder: the region %q has no phone numbers; use ISO 3166 codes like US and GB", region)
		}
	}
	if len(s.Cues) > maxCues || len(s.Allow) > maxAllow {
		return nil, fmt.Errorf("failed to create a finder: %s and %s; the limits are %d and %d", plural.Count(len(s.Cues), "cue", "cues"), plural.Count(len(s.Allow), "allowed text", "allowed texts"), maxCues, maxAllow)
	}
	recognizers, err := compile(s.Recognizers, ready)
	if err != nil {
		return nil, fmt.Errorf("failed to create a finder: %w", err)
	}
	anyType := len(s.Types) == 0
	if anyType {
		s.Types = defaultTypes()
		for _, r := range recognizers {
			if !slices.Contains(s.Types, r.Type) {
				s.Types = append(s.Types, r.Type)
			}
		}
	}
	f := &Finder{
		settings: s, anyType: anyType, recognizers: recognizers, cues: scan.Cues{},
		allow: map[string]bool{}, wanted: map[toxscreen.EntityType]bool{}, version: s.version(anyType),
	}
	for _, t := range s.Types {
		if !slices.Contains(Types(), t) && !slices.ContainsFunc(recognizers, func(r compiled) bool { return r.Type == t }) {
			return nil, fmt.Errorf("failed to create a finder: %w", s.unknownType(string(t)))
		}
		f.wanted[t] = true
	}
	for _, k := range Kinds() {
		if f.wanted[k.Type] && (k.OnRequest || !anyType) {
			f.asked = append(f.asked, k.Type)
		}
	}
	f.wantsNames = s.Names != nil && slices.ContainsFunc(s.Names.Types(), func(t toxscreen.EntityType) bool { return f.wanted[t] })
	for _, text := range s.Cues {
		if err := f.cues.Add(text); err != nil {
			return nil, fmt.Errorf("failed to create a finder: %w", err)
		}
	}
	for _, text := range s.Allow {
		f.allow[strings.ToLower(disguise.Fold(text).Text)] = true
	}
	return f, nil
}

var defaultRegions = []string{"US", "GB", "DE", "FR", "IL", "IN", "CA", "BR"}

// version names the patterns, a hash of the settings unless they are the default ones, and
// the network.
func (s Settings) version(anyType bool) string {
	version := patternsVersion
	if hash := s.hash(anyType); hash != defaultHash {
		version += " settings sha256:" + hash
	}
	if s.Names != nil {
		version += " " + s.Names.Version()
	}
	return version
}

var defaultHash = Settings{Types: defaultTypes(), Threshold: DefaultThreshold, Regions: defaultRegions}.hash(true)

// hash returns a hash of all settings but Names. anyType says that Types are the default
// ones, where AGE stands for other ages than in a selection.
func (s Settings) hash(anyType bool) string {
	allowed := ""
	if s.AllowPattern != nil {
		allowed = s.AllowPattern.String()
	}
	h := sha256.New()
	fmt.Fprintf(h, "%t %q %v %q %q %q %q %#v", anyType, s.Types, s.Threshold, s.Regions, s.Cues, s.Allow, allowed, append([]Recognizer{}, s.Recognizers...))
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// With returns a Finder with changed settings, for one caller or one request. It compiles
// only the new recognizers. change must replace slices, and not write to their elements,
// which f and other Finders share. It sees an empty Types if these are the default ones.
func (f *Finder) With(change func(*Settings)) (*Finder, error) {
	s := f.settings
	if f.anyType {
		s.Types = nil
	}
	change(&s)
	return build(s, f.recognizers)
}

// Settings returns the settings with their defaults filled in. They share slices with f.
func (f *Finder) Settings() Settings { return f.settings }

// Findable returns the types of [Kinds] that f can find: those of names only with a
// network.
func (f *Finder) Findable() []toxscreen.EntityType {
	names := f.settings.Names
	return typesOf(func(k scan.Kind) bool {
		return !k.Network || names != nil && slices.Contains(names.Types(), k.Type)
	})
}

// Version implements [toxscreen.EntityFinder].
func (f *Finder) Version() string { return f.version }

// Parallel implements [toxscreen.EntityFinder].
func (f *Finder) Parallel() int {
	if f.wantsNames {
		return f.settings.Names.Parallel()
	}
	return runtime.GOMAXPROCS(0)
}

// Find implements [toxscreen.EntityFinder]. Without the network, its time is linear in the
// length of the text.
//
// Of entities that overlap one remains:
//
//   - an e-mail address or a web address rather than what it contains;
//   - what a pattern finds rather than a name; but a postal address rather than a number
//     that it contains, unless the number is certain;
//   - else the one with the higher score, then the longer one, then the first.
//
// If the dropped entity has another type, the part of it outside the other remains as an
// entity, so that nothing personal is lost.
//
// What [Replace] wrote in place of an entity, like <PERSON>, is not found again, neither
// alone nor as a part of an entity.
//
// These rules apply before Types select, so that a part of a card number is not taken for a
// phone number where only phone numbers are to be found. There are exceptions: e-mail
// addresses, web addresses, names, and what overlaps an entity of the settings' recognizers
// take part only if their types are to be found. Allow and AllowPattern apply last.
func (f *Finder) Find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	plain := disguise.Fold(text)
	entities, err := f.find(ctx, plain.Text)
	for i, e := range entities {
		entities[i].Start, entities[i].End = plain.Original(e.Start, e.End)
	}
	return entities, err
}

// find returns the entities in a text of plain typography.
func (f *Finder) find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	read := scan.Fold(text)
	entities, err := patterns().Scan(ctx, read.Text, scan.Options{Regions: f.settings.Regions, Cues: f.cues, Asked: f.asked})
	if err != nil {
		return nil, err
	}
	var found []finding
	for _, e := range entities {
		if float64(e.Score) >= f.settings.Threshold {
			e.Start, e.End = read.Original(e.Start, e.End)
			found = append(found, patternFinding(e))
		}
	}
	var own []finding
	for i := range f.recognizers {
		more, err := f.recognizers[i].find(ctx, text, f.cues)
		if err != nil {
			return nil, err
		}
		own = append(own, more...)
	}
	isOwn := cover(text, own)
	found = append(found, own...)
	if f.wantsNames {
		all, err := f.settings.Names.Find(ctx, text)
		if err != nil {
			return nil, err
		}
		for _, e := range all {
			if names.IsName(e.Type, text[e.Start:e.End]) {
				found = append(found, finding{e, name})
			}
		}
	}
	found = slices.DeleteFunc(found, func(e finding) bool {
		return float64(e.Score) < f.settings.Threshold || !f.wanted[e.Type] && (e.rank != identifier || isOwn(e))
	})
	entities = []toxscreen.Entity{}
	for _, e := range resolve(found, text) {
		if f.wanted[e.Type] && !f.isAllowed(text[e.Start:e.End]) {
			entities = append(entities, e)
		}
	}
	return notReplaced(text, entities, append(Types(), f.settings.Types...)), nil
}

func (f *Finder) isAllowed(part string) bool {
	return len(f.allow) > 0 && f.allow[strings.ToLower(part)] || f.settings.AllowPattern != nil && f.settings.AllowPattern.MatchString(part)
}

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
// Identifiers with a form, like card numbers, are found by patterns, checked by their
// checksums and supported by cues, which are words near by. Names of people, places and
// organisations are found by a network, see [Settings.Names]. [Kinds] lists the types, which packages
// kind and national declare, one declaration a type.
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
// A cue adds 0.4, less 0.01 for each word between, up to 1. So at [DefaultThreshold] what
// is in the last row is found with a cue only. A cue is a whole word, or a phrase, in any
// case and number, also as a part of card_number or cardNumber. It may stand up to 8 words
// and 160 bytes before the entity, across the end of a sentence or line but not across a
// blank line, or up to 3 words after it in the same sentence; for types that have no form,
// such as passports, up to 4 words before.
//
// In a table, whose consecutive lines have the same number of tabs, |, ; or commas, the
// heading of the column is a cue, too. A word right before a number that says what else it
// is (order, version, lot, ISBN) speaks against it: only a cue as near makes it personal.
//
// # Internet
//
// Domains without scheme or www. are web addresses if they end in a usual top-level domain
// that is neither a word nor an ending of files, or if a path follows and they end in a public
// suffix by the list of golang.org/x/net/publicsuffix; others under a public suffix need a
// cue. E-mail addresses may also end in domains that are reserved for tests. Loopback and
// unspecified addresses, netmasks and localhost are nobody's and not found.
//
// # Disguise
//
// A text is read in plain typography, see [disguise.Fold], by recognizers too. For patterns,
// digits and letters of full width, of mathematical alphabets and of other scripts' decimal
// digits are what they look like, dashes are -, and joiners nothing. Offsets are of the
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

// DefaultThreshold is the lowest score of an entity unless Settings say otherwise.
const DefaultThreshold = scan.DefaultThreshold

// AnyScore is the threshold that every entity reaches: 0 means the default.
const AnyScore = 1e-9

// patternsVersion changes whenever the patterns find something else.
const patternsVersion = "patterns@4"

// Settings select what a [Finder] finds. The zero value of each field is its default.
type Settings struct {
	// Types are the types to find. Default: those of [Kinds] that are not found on request only, and
	// those of Recognizers. AGE stands for every age here, and by default for those over 89.
	Types []toxscreen.EntityType
	// Threshold is the lowest score of an entity, in 0..1. Default: [DefaultThreshold].
	Threshold float64
	// Regions are the ISO 3166 codes of the regions whose national phone numbers are found.
	// Default: US, GB, DE, FR, IL, IN, CA and BR. International numbers are always found.
	Regions []string
	// Recognizers are the caller's own, at most 100.
	Recognizers []Recognizer
	// Cues are words or phrases of up to 4 words, at most 1,000, that support every entity
	// near them, beside the cues of its type. Types that have no form, such as US_PASSPORT,
	// need one of their own.
	Cues []string
	// Allow are texts that are not personal, at most 10,000. They are compared with the
	// whole of an entity, in any case and typography.
	Allow []string
	// AllowPattern is a regular expression; an entity that it matches anywhere is dropped.
	// Default: none.
	AllowPattern *regexp.Regexp
	// Names finds PERSON, LOCATION, ADDRESS, ORGANIZATION and NRP. Default: none, and these
	// types are not found. It is not asked where none of its types is.
	Names Names
}

// Select adds recognizers and finds the types that are named, for one request. If none is named,
// the types of the recognizers join those that are found already.
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
	// Types are the types that it finds.
	Types() []toxscreen.EntityType
	// Version is name@version and a hash.
	Version() string
	// Parallel is how many concurrent texts keep it busy, 1 or more.
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

// New returns a Finder. The error names what is wrong in the settings; there is an
// [ExpressionError] in its chain if it is a recognizer's expression.
func New(s Settings) (*Finder, error) { return build(s, nil) }

// build is [New] for settings some of whose recognizers are compiled already.
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

// version names the patterns, the settings by a hash if they are not the default ones, and
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

// hash is that of everything but Names. anyType is whether Types are the default ones, where AGE
// stands for other ages than in a selection.
func (s Settings) hash(anyType bool) string {
	allowed := ""
	if s.AllowPattern != nil {
		allowed = s.AllowPattern.String()
	}
	h := sha256.New()
	fmt.Fprintf(h, "%t %q %v %q %q %q %q %#v", anyType, s.Types, s.Threshold, s.Regions, s.Cues, s.Allow, allowed, append([]Recognizer{}, s.Recognizers...))
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// With returns a Finder whose settings are changed, for one caller or one request. It
// compiles the recognizers that are new. change must replace slices rather than write to
// their elements, since other Finders have them, too. Types are empty if they are the
// default ones.
func (f *Finder) With(change func(*Settings)) (*Finder, error) {
	s := f.settings
	if f.anyType {
		s.Types = nil
	}
	change(&s)
	return build(s, f.recognizers)
}

// Settings returns the settings with their defaults filled in.
func (f *Finder) Settings() Settings { return f.settings }

// Findable returns the types of [Kinds] that f can find: without a network for names, it finds
// no names.
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

// Find implements [toxscreen.EntityFinder]. The time of everything but the network is
// linear in the length of the text.
//
// Of entities that overlap one remains:
//
//   - an e-mail address or a web address rather than what it contains;
//   - what a pattern finds rather than a name; but a postal address rather than a number
//     that it contains, unless the number is certain;
//   - else the one with the higher score, then the longer one, then the first.
//
// What is left of the other, if it is of another type, remains as a part of its own, so that
// nothing personal is lost.
//
// What [Replace] wrote in place of an entity, like <PERSON>, stays out: it is not found again, alone
// or as a part of something.
//
// These rules apply before Types are selected, so that a part of a card number is not taken for a
// phone number where only phone numbers are asked for. E-mail addresses and web addresses take part
// only where they are asked for. What overlaps an entity of a recognizer of the settings takes part
// only if its type is asked for. Allow and AllowPattern see what remains.
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

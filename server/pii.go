package server

import (
	"context"
	"net/http"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
)

// errNoFinder is the failure of everything that needs [Config.Finder] where there is none.
func errNoFinder() error {
	return fail(unsupported, "failed to find personal data: this server does not look for it")
}

// find returns the personal data in a text, with byte offsets. Finding takes a place in the
// queue, like scoring.
func (s *Server) find(ctx context.Context, finder toxscreen.EntityFinder, text string, t turn) (entities []toxscreen.Entity, err error) {
	exchangeOf(ctx).count(len(text))
	if len(text) > s.config.MaxBytes {
		return nil, fail(tooLong, "failed to find personal data: the text has %d bytes, the limit is %d; raise the limit or split the text", len(text), s.config.MaxBytes)
	}
	err = s.inTurn(ctx, len(text), t, func() (err error) {
		entities, err = finder.Find(ctx, text)
		return err
	})
	if err != nil {
		return nil, s.ended(ctx, err)
	}
	s.metrics.found(exchangeOf(ctx).api.name, entities)
	return entities, nil
}

// findAll is [Server.find] for the texts of a request. The error is that of the first text
// that failed.
func (s *Server) findAll(ctx context.Context, finder toxscreen.EntityFinder, texts []string) ([][]toxscreen.Entity, error) {
	if len(texts) > s.config.MaxTexts {
		return nil, fail(tooManyTexts, "failed to read the request: it has %d texts, the limit is %d; send fewer at once", len(texts), s.config.MaxTexts)
	}
	found := make([][]toxscreen.Entity, len(texts))
	for i, o := range each(ctx, s, len(texts), turn{}, func(ctx context.Context, i int, t turn) ([]toxscreen.Entity, error) {
		return s.find(ctx, finder, texts[i], t)
	}) {
		if o.err != nil {
			return nil, o.err
		}
		found[i] = o.result
	}
	return found, nil
}

// piiRequest is the body of POST /v1/pii: one text or many.
type piiRequest struct {
	ID    string      `json:"id"`
	Text  *string     `json:"text"`
	Texts []scoreText `json:"texts"`

	Types       []string         `json:"types"`
	MinScore    *float64         `json:"min_score"`
	Recognizers []pii.Recognizer `json:"recognizers"`
	Mask        pii.Operators    `json:"mask"`
	OffsetUnit  string           `json:"offset_unit"`
}

// piiResult is the answer to a text of a [piiRequest].
type piiResult struct {
	ID string `json:"id,omitempty"`
	toxscreen.Found
	// Items say what became of the entities, with offsets in the masked text; absent if it
	// was not masked.
	Items []pii.MaskedItem `json:"items,omitzero"`
}

// finding is a valid [piiRequest].
type finding struct {
	texts  []scoreText
	many   bool
	unit   toxscreen.OffsetUnit
	finder *pii.Finder
	mask   pii.Operators // nil to mask nothing
}

func (s *Server) readFinding(w http.ResponseWriter, r *http.Request) (*finding, error) {
	if s.config.Finder == nil {
		return nil, errNoFinder()
	}
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return nil, err
	}
	var in piiRequest
	if err := decode(data, &in); err != nil {
		return nil, err
	}
	n := &finding{many: in.Texts != nil, unit: s.config.OffsetUnit, mask: in.Mask}
	if n.texts, err = s.checkTexts(in.ID, in.Text, in.Texts); err != nil {
		return nil, err
	}
	if in.OffsetUnit != "" {
		if n.unit, err = toxscreen.ParseOffsetUnit(in.OffsetUnit); err != nil {
			return nil, fail(invalidRequest, "failed to read the request: offset_unit: %v", err)
		}
	}
	types, err := s.checkTypes(in.Types, in.Recognizers)
	if err != nil {
		return nil, err
	}
	if in.MinScore != nil && !(*in.MinScore >= 0 && *in.MinScore <= 1) {
		return nil, fail(invalidRequest, "failed to read the request: min_score: %v is not in 0..1", *in.MinScore)
	}
	n.finder, err = s.config.Finder.With(func(s *pii.Settings) {
		s.Types = selected(s.Types, types, in.Recognizers)
		s.Recognizers = slices.Concat(s.Recognizers, in.Recognizers)
		if in.MinScore != nil {
			s.Threshold = max(*in.MinScore, anyScore)
		}
	})
	if err != nil {
		return nil, fail(invalidRequest, "%v", err)
	}
	return n, nil
}

// anyScore is the threshold that every entity reaches: 0 means the default.
const anyScore = 1e-9

// selected returns the types for a request: those that it names or, if it names none, those of the
// server and of its own recognizers. They stay empty where the server has the default ones, which
// mean other ages than AGE in a selection.
func selected(server, named []toxscreen.EntityType, own []pii.Recognizer) []toxscreen.EntityType {
	if len(named) > 0 || len(server) == 0 {
		return named
	}
	types := slices.Clone(server)
	for _, r := range own {
		types = append(types, r.Type)
	}
	return types
}

// checkTypes returns the types that a request names, with recognizers of its own.
func (s *Server) checkTypes(names []string, recognizers []pii.Recognizer) ([]toxscreen.EntityType, error) {
	var own []toxscreen.EntityType
	for _, r := range recognizers {
		own = append(own, r.Type)
	}
	var types []toxscreen.EntityType
	for _, name := range names {
		if t := toxscreen.EntityType(name); slices.Contains(own, t) {
			types = append(types, t)
			continue
		}
		t, err := pii.ParseType(name)
		if err != nil {
			return nil, fail(invalidRequest, "failed to read the request: types: %v", err)
		}
		if !slices.Contains(s.types(), t) {
			return nil, fail(unsupported, "failed to read the request: types: this server does not find %s, which needs a network for names", t)
		}
		types = append(types, t)
	}
	return types, nil
}

// configured returns the types that the server finds unless a request names others.
func (s *Server) configured() []toxscreen.EntityType {
	can := s.types()
	return slices.DeleteFunc(slices.Clone(s.config.Finder.Settings().Types), func(t toxscreen.EntityType) bool {
		return slices.Contains(pii.Types(), t) && !slices.Contains(can, t)
	})
}

// types returns the types that the server can find.
func (s *Server) types() []toxscreen.EntityType {
	names := s.config.Finder.Settings().Names
	var types []toxscreen.EntityType
	for _, kind := range pii.Kinds() {
		if !kind.Network || names != nil && slices.Contains(names.Types(), kind.Type) {
			types = append(types, kind.Type)
		}
	}
	return types
}

func (s *Server) nativePII(w http.ResponseWriter, r *http.Request) error {
	n, err := s.readFinding(w, r)
	if err != nil {
		return err
	}
	if !n.many {
		result, err := s.findOne(r.Context(), n, n.texts[0], turn{})
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, result)
		return nil
	}
	return writeLines(s, w, r, n.texts, each(r.Context(), s, len(n.texts), turn{}, func(ctx context.Context, i int, t turn) (piiResult, error) {
		return s.findOne(ctx, n, n.texts[i], t)
	}), func(_ scoreText, result piiResult) any { return result })
}

// findOne answers one of the texts.
func (s *Server) findOne(ctx context.Context, n *finding, text scoreText, t turn) (piiResult, error) {
	var finder toxscreen.EntityFinder = n.finder
	if n.mask != nil {
		finder = n.finder.ForMasking(n.mask)
	}
	entities, err := s.find(ctx, finder, *text.Text, t)
	if err != nil {
		return piiResult{}, err
	}
	result := piiResult{ID: text.ID, Found: toxscreen.NewFound(n.finder, *text.Text, entities, n.unit)}
	if n.mask == nil {
		return result, nil
	}
	masked, err := s.maskAll(*text.Text, entities, n.mask)
	if err != nil {
		return piiResult{}, err
	}
	result.Masked, result.Items = &masked.Text, itemsIn(n.unit, masked)
	return result, nil
}

// maskAll masks the entities of a text. The new text must not have more bytes than a
// request, which only a long new_value could make.
func (s *Server) maskAll(text string, entities []toxscreen.Entity, operators pii.Operators) (pii.Masked, error) {
	longest := 0
	for _, o := range operators {
		if o.NewValue != nil {
			longest = max(longest, len(*o.NewValue))
		}
	}
	if total := int64(len(text)) + int64(longest)*int64(len(entities)); total > s.config.MaxBody {
		return pii.Masked{}, fail(tooLong, "failed to mask text: with a new_value of %d bytes for each entity, it could have %d bytes, the limit is %d", longest, total, s.config.MaxBody)
	}
	masked, err := pii.Mask(text, entities, operators)
	if err != nil {
		return pii.Masked{}, fail(invalidRequest, "%v", err)
	}
	return masked, nil
}

// itemsIn returns the items of a masked text with their offsets in another unit.
func itemsIn(unit toxscreen.OffsetUnit, masked pii.Masked) []pii.MaskedItem {
	units := toxscreen.NewUnits(unit, masked.Text)
	items := slices.Clone(masked.Items)
	for i, item := range items {
		items[i].Start, items[i].End = units.Range(item.Start, item.End)
	}
	return items
}

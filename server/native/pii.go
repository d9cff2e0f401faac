package native

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/server"
)

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

func (f format) readFinding(c *server.Call) (*finding, error) {
	finder, err := c.Finder()
	if err != nil {
		return nil, err
	}
	var in piiRequest
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	n := &finding{many: in.Texts != nil, mask: in.Mask}
	if n.texts, err = checkTexts(c, in.ID, in.Text, in.Texts); err != nil {
		return nil, err
	}
	if n.unit, err = toxscreen.ParseOffsetUnit(cmp.Or(in.OffsetUnit, string(f.unit))); err != nil {
		return nil, server.Fail(server.InvalidRequest, "failed to read the request: offset_unit: %v", err)
	}
	types, err := checkTypes(finder, in.Types, in.Recognizers)
	if err != nil {
		return nil, err
	}
	if in.MinScore != nil && !(*in.MinScore >= 0 && *in.MinScore <= 1) {
		return nil, server.Fail(server.InvalidRequest, "failed to read the request: min_score: %v is not in 0..1", *in.MinScore)
	}
	n.finder, err = finder.With(func(s *pii.Settings) {
		s.Select(types, in.Recognizers)
		if in.MinScore != nil {
			s.Threshold = max(*in.MinScore, pii.AnyScore)
		}
	})
	if err != nil {
		return nil, server.Fail(server.InvalidRequest, "%v", err)
	}
	return n, nil
}

// checkTypes returns the types that a request names, with recognizers of its own.
func checkTypes(finder *pii.Finder, names []string, recognizers []pii.Recognizer) ([]toxscreen.EntityType, error) {
	can := finder.Findable()
	for _, r := range recognizers {
		can = append(can, r.Type)
	}
	var types []toxscreen.EntityType
	for _, name := range names {
		t, err := pii.Settings{Recognizers: recognizers}.ParseType(name)
		if err != nil {
			return nil, server.Fail(server.InvalidRequest, "failed to read the request: types: %v", err)
		}
		if !slices.Contains(can, t) {
			return nil, server.Fail(server.Unsupported, "failed to read the request: types: this server does not find %s, which needs a network for names", t)
		}
		types = append(types, t)
	}
	return types, nil
}

func (f format) find(c *server.Call) error {
	n, err := f.readFinding(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	if !n.many {
		result, err := n.find(ctx, c, n.texts[0], server.Turn{})
		if err != nil {
			return err
		}
		c.Send(http.StatusOK, result)
		return nil
	}
	return writeLines(c, n.texts, server.Each(ctx, c, len(n.texts), func(ctx context.Context, i int, t server.Turn) (piiResult, error) {
		return n.find(ctx, c, n.texts[i], t)
	}), func(_ scoreText, result piiResult) any { return result })
}

// find answers one of the texts.
func (n *finding) find(ctx context.Context, c *server.Call, text scoreText, t server.Turn) (piiResult, error) {
	var finder toxscreen.EntityFinder = n.finder
	if n.mask != nil {
		finder = n.finder.ForMasking(n.mask)
	}
	entities, err := c.Find(ctx, finder, *text.Text, t)
	if err != nil {
		return piiResult{}, err
	}
	result := piiResult{ID: text.ID, Found: toxscreen.NewFound(n.finder, *text.Text, entities, n.unit)}
	if n.mask == nil {
		return result, nil
	}
	masked, err := c.Mask(*text.Text, entities, n.mask)
	if err != nil {
		return piiResult{}, err
	}
	result.Masked, result.Items = &masked.Text, masked.In(n.unit).Items
	return result, nil
}

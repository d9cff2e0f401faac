package presidio

import (
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/server"
)

// Format returns the wire format for [server.Config].Formats.
func Format() server.Format {
	return server.Format{
		Name: "presidio",
		Routes: []server.Route{
			{Pattern: "POST /analyze", Handle: analyze},
			{Pattern: "GET /supportedentities", Handle: list(func(types []toxscreen.EntityType) any { return types })},
			{Pattern: "GET /recognizers", Handle: list(func(types []toxscreen.EntityType) any { return recognizerNames(types) })},
			{Pattern: "POST /anonymize", Handle: anonymize},
			{Pattern: "POST /deanonymize", Handle: deanonymize},
			{Pattern: "GET /anonymizers", Handle: constant(anonymizers())},
			{Pattern: "GET /deanonymizers", Handle: constant(deanonymizers())},
			{Pattern: "GET /health", Open: true, Handle: health},
		},
		Paths:   []string{"/analyze", "/anonymize", "/deanonymize", "/supportedentities", "/recognizers", "/anonymizers", "/deanonymizers"},
		Fail:    fail,
		Headers: []string{unsupportedEntitiesHeader},
	}
}

// fail answers with a failure in Presidio's form, and with Presidio's status if there is
// one.
func fail(c *server.Call, f *server.Failure) {
	status := f.Status()
	if e, ok := errors.AsType[*Error](f.Cause); ok {
		status = e.Status
	}
	c.Send(status, newError(f.Message))
}

// failure wraps an error in Presidio's words for the server.
func failure(err error) error {
	return &server.Failure{Code: server.InvalidRequest, Message: err.Error(), Cause: err}
}

// health answers with a sentence, as both of Presidio's services do.
func health(c *server.Call) error {
	c.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(c.Writer, "toxscreen is up") // a client that has disconnected needs no error
	return nil
}

// constant returns the handler that always answers with one list.
func constant(values []string) func(*server.Call) error {
	return func(c *server.Call) error {
		c.Send(http.StatusOK, values)
		return nil
	}
}

// list returns the handler for a list of what the server can find.
func list(show func([]toxscreen.EntityType) any) func(*server.Call) error {
	return func(c *server.Call) error {
		finder, err := c.Finder()
		if err != nil {
			return err
		}
		if err := checkLanguage(c.Request.URL.Query().Get("language")); err != nil {
			return failure(err)
		}
		c.Send(http.StatusOK, show(findable(finder)))
		return nil
	}
}

// findable returns the types that a finder can find, and those of its settings'
// recognizers.
func findable(finder *pii.Finder) []toxscreen.EntityType {
	types := finder.Findable()
	for _, r := range finder.Settings().Recognizers {
		if !slices.Contains(types, r.Type) {
			types = append(types, r.Type)
		}
	}
	return types
}

func analyze(c *server.Call) error {
	finder, err := c.Finder()
	if err != nil {
		return err
	}
	data, err := c.JSON()
	if err != nil {
		return err
	}
	in, err := ReadAnalysis(data)
	if err != nil {
		return failure(err)
	}
	own, unknown, err := finderOf(finder, in)
	if len(unknown) > 0 {
		c.Header().Set(unsupportedEntitiesHeader, strings.Join(unknown, ", "))
	}
	if err != nil {
		return failure(err)
	}
	found, err := c.FindAll(c.Request.Context(), own, in.Texts)
	if err != nil {
		return err
	}
	out := make([][]Entity, len(found))
	for i, entities := range found {
		out[i] = ToEntities(in, in.Texts[i], reaching(finder.Settings().Threshold, in, entities))
	}
	if in.Many {
		c.Send(http.StatusOK, out)
	} else {
		c.Send(http.StatusOK, out[0])
	}
	return nil
}

// unsupportedEntitiesHeader lists the types in a request that the server cannot find, each
// once. As in Presidio, they are an error only if the request names no type that it can
// find.
const unsupportedEntitiesHeader = "Toxscreen-Unsupported-Entities"

// finderOf makes the finder of a request from the server's. unknown are types in the
// request that cannot be found, if others can. Every error is an [*Error].
func finderOf(finder *pii.Finder, in Analysis) (own *pii.Finder, unknown []string, err error) {
	can := findable(finder)
	for _, r := range in.Recognizers {
		can = append(can, r.Type)
	}
	var types []toxscreen.EntityType
	for _, t := range in.Types {
		switch {
		case slices.Contains(can, t):
			types = append(types, t)
		case !slices.Contains(unknown, string(t)):
			unknown = append(unknown, string(t))
		}
	}
	if in.Types != nil && len(types) == 0 {
		return nil, nil, nothingToFind()
	}
	own, err = finder.With(func(settings *pii.Settings) {
		settings.Select(types, in.Recognizers)
		settings.Cues = slices.Concat(settings.Cues, in.Context)
		settings.Allow = slices.Concat(settings.Allow, in.Allow)
		settings.AllowPattern = either(settings.AllowPattern, in.AllowPattern)
		switch {
		case in.Threshold != nil:
			settings.Threshold = max(*in.Threshold, pii.AnyScore)
		case len(in.Recognizers) > 0:
			settings.Threshold = pii.AnyScore // see reaching
		}
	})
	if err != nil {
		return nil, unknown, &Error{Status: http.StatusBadRequest, Message: err.Error()}
	}
	return own, unknown, nil
}

// reaching returns the entities that reach the threshold of a request. If the request has
// none, the server's applies, but not to types of the request's own recognizers: their
// scores are the client's choice, and Presidio has no threshold then.
func reaching(least float64, in Analysis, entities []toxscreen.Entity) []toxscreen.Entity {
	if in.Threshold != nil {
		return entities
	}
	return slices.DeleteFunc(entities, func(e toxscreen.Entity) bool {
		own := slices.ContainsFunc(in.Recognizers, func(r pii.Recognizer) bool { return r.Type == e.Type })
		return !own && e.Score.Rounded() < least
	})
}

// either returns an expression that matches where a or b matches. Both may be nil.
func either(a, b *regexp.Regexp) *regexp.Regexp {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return regexp.MustCompile("(?:" + a.String() + ")|(?:" + b.String() + ")") // both are valid
}

// anonymize answers a request to mask a text, after conflicts between entities are
// resolved.
func anonymize(c *server.Call) error {
	return answer(c, ReadAnonymize, func(m Masking, operators pii.Operators) (pii.Masked, error) {
		entities, err := pii.Merge(m.Text, m.Entities)
		if err != nil {
			return pii.Masked{}, err
		}
		return c.Mask(m.Text, entities, operators)
	})
}

// deanonymize answers a request to decrypt the entities of a text.
func deanonymize(c *server.Call) error {
	return answer(c, ReadDeanonymize, func(m Masking, operators pii.Operators) (pii.Masked, error) {
		items := make([]pii.MaskedItem, len(m.Entities))
		for i, e := range m.Entities {
			items[i] = pii.MaskedItem{Type: e.Type, Start: e.Start, End: e.End}
		}
		return pii.Unmask(m.Text, items, operators)
	})
}

// answer answers a request to mask a text or to restore it.
func answer(c *server.Call, read func([]byte) (Masking, error), rewrite func(Masking, pii.Operators) (pii.Masked, error)) error {
	data, err := c.JSON()
	if err != nil {
		return err
	}
	in, err := read(data)
	if err != nil {
		return failure(err)
	}
	operators, err := in.Operators()
	if err != nil {
		return failure(err)
	}
	masked, err := rewrite(in, operators)
	if _, ok := errors.AsType[*server.Failure](err); ok {
		return err
	}
	if err != nil {
		return failure(&Error{Status: http.StatusUnprocessableEntity, Message: err.Error()})
	}
	c.Send(http.StatusOK, in.ToMasked(masked))
	return nil
}

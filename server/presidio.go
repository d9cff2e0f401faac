package server

import (
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/pii"
)

// presidio is the API of Presidio's analyzer and of its anonymizer, which are two services
// there.
var presidio = api{
	name: "presidio", fail: failPresidio, routes: (*Server).presidioRoutes,
	paths: []string{"/analyze", "/anonymize", "/deanonymize", "/supportedentities", "/recognizers", "/anonymizers", "/deanonymizers"},
}

func (s *Server) presidioRoutes() []route {
	list := func(values []string) func(http.ResponseWriter, *http.Request) error {
		return func(w http.ResponseWriter, _ *http.Request) error {
			writeJSON(w, http.StatusOK, values)
			return nil
		}
	}
	return []route{
		{pattern: "POST /analyze", handle: s.presidioAnalyze},
		{pattern: "GET /supportedentities", handle: s.presidioTypes(func(types []toxscreen.EntityType) any { return types })},
		{pattern: "GET /recognizers", handle: s.presidioTypes(func(types []toxscreen.EntityType) any { return formats.PresidioRecognizers(types) })},
		{pattern: "POST /anonymize", handle: s.presidioMask(formats.ReadPresidioAnonymize, s.anonymize)},
		{pattern: "POST /deanonymize", handle: s.presidioMask(formats.ReadPresidioDeanonymize, deanonymize)},
		{pattern: "GET /anonymizers", handle: list(formats.PresidioAnonymizers())},
		{pattern: "GET /deanonymizers", handle: list(formats.PresidioDeanonymizers())},
		{pattern: "GET /health", open: true, handle: presidioHealth},
	}
}

// failPresidio answers with a failure in Presidio's form, with its status where it has one.
func failPresidio(w http.ResponseWriter, _ *http.Request, f *failure) {
	status := f.status()
	if e, ok := errors.AsType[*formats.PresidioError](f.cause); ok {
		status = e.Status
	}
	writeJSON(w, status, formats.NewPresidioError(f.message))
}

// presidioFailure returns the failure for an error in Presidio's words.
func presidioFailure(err error) error {
	return &failure{code: invalidRequest, message: err.Error(), cause: err}
}

// presidioHealth answers with a sentence, as both of Presidio's services do.
func presidioHealth(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "toxscreen is up") // a client that has disconnected needs no error
	return nil
}

// presidioBody reads the body of a request.
func (s *Server) presidioBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := s.body(w, r, s.config.MaxBody)
	if err == nil {
		err = checkDepth(data)
	}
	return data, err
}

// presidioTypes returns the handler of a list of what the server can find.
func (s *Server) presidioTypes(show func([]toxscreen.EntityType) any) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.config.Finder == nil {
			return errNoFinder()
		}
		if err := formats.CheckPresidioLanguage(r.URL.Query().Get("language")); err != nil {
			return presidioFailure(err)
		}
		writeJSON(w, http.StatusOK, show(s.presidioFindable()))
		return nil
	}
}

// presidioFindable returns the types that the server can find, with those of the settings'
// own recognizers.
func (s *Server) presidioFindable() []toxscreen.EntityType {
	types := s.types()
	for _, r := range s.config.Finder.Settings().Recognizers {
		if !slices.Contains(types, r.Type) {
			types = append(types, r.Type)
		}
	}
	return types
}

func (s *Server) presidioAnalyze(w http.ResponseWriter, r *http.Request) error {
	if s.config.Finder == nil {
		return errNoFinder()
	}
	data, err := s.presidioBody(w, r)
	if err != nil {
		return err
	}
	in, err := formats.ReadPresidioAnalysis(data)
	if err != nil {
		return presidioFailure(err)
	}
	finder, err := s.presidioFinder(w.Header(), in)
	if err != nil {
		return err
	}
	found, err := s.findAll(r.Context(), finder, in.Texts)
	if err != nil {
		return err
	}
	out := make([][]formats.PresidioEntity, len(found))
	for i, entities := range found {
		out[i] = formats.ToPresidioEntities(in, in.Texts[i], s.presidioScored(in, entities))
	}
	if in.Many {
		writeJSON(w, http.StatusOK, out)
	} else {
		writeJSON(w, http.StatusOK, out[0])
	}
	return nil
}

// unsupportedEntitiesHeader lists the types of a request that the server cannot find, each
// once. As in Presidio, they are no error if there is another one.
const unsupportedEntitiesHeader = "Toxscreen-Unsupported-Entities"

// presidioFinder returns the finder of a request.
func (s *Server) presidioFinder(header http.Header, in formats.PresidioAnalysis) (*pii.Finder, error) {
	own := presidioRecognizers(in)
	can := s.presidioFindable()
	for _, r := range own {
		can = append(can, r.Type)
	}
	var types []toxscreen.EntityType
	if in.Types != nil {
		var unknown []string
		for _, t := range in.Types {
			switch {
			case slices.Contains(can, t):
				types = append(types, t)
			case !slices.Contains(unknown, string(t)):
				unknown = append(unknown, string(t))
			}
		}
		if len(types) == 0 {
			return nil, presidioFailure(formats.PresidioNothingToFind())
		}
		if len(unknown) > 0 {
			header.Set(unsupportedEntitiesHeader, strings.Join(unknown, ", "))
		}
	}
	finder, err := s.config.Finder.With(func(settings *pii.Settings) {
		settings.Types = selected(settings.Types, types, own)
		settings.Recognizers = slices.Concat(settings.Recognizers, own)
		settings.Cues = slices.Concat(settings.Cues, in.Context)
		settings.Allow = slices.Concat(settings.Allow, in.Allow)
		settings.AllowPattern = either(settings.AllowPattern, in.AllowPattern)
		switch {
		case in.Threshold != nil:
			settings.Threshold = max(*in.Threshold, anyScore)
		case len(own) > 0:
			settings.Threshold = anyScore // see presidioScored
		}
	})
	if err != nil {
		return nil, presidioFailure(&formats.PresidioError{Status: http.StatusBadRequest, Message: err.Error()})
	}
	return finder, nil
}

// presidioScored returns the entities that reach the threshold of a request. Without one,
// this is the server's, but for the types of the request's own recognizers: whoever writes
// a score into a request knows what it means, and Presidio has no threshold then.
func (s *Server) presidioScored(in formats.PresidioAnalysis, entities []toxscreen.Entity) []toxscreen.Entity {
	if in.Threshold != nil {
		return entities
	}
	least := s.config.Finder.Settings().Threshold
	return slices.DeleteFunc(entities, func(e toxscreen.Entity) bool {
		own := slices.ContainsFunc(in.Recognizers, func(r formats.PresidioRecognizer) bool { return r.Type == e.Type })
		return !own && e.Score.Rounded() < least
	})
}

func presidioRecognizers(in formats.PresidioAnalysis) []pii.Recognizer {
	var own []pii.Recognizer
	for _, r := range in.Recognizers {
		recognizer := pii.Recognizer{Name: r.Name, Type: r.Type, DenyList: r.DenyList, Cues: r.Context}
		for _, p := range r.Patterns {
			recognizer.Patterns = append(recognizer.Patterns, pii.Pattern{Name: p.Name, Regex: p.Regex, Score: p.Score})
		}
		own = append(own, recognizer)
	}
	return own
}

// either returns an expression that matches where one of two does, each of which may be
// nil.
func either(a, b *regexp.Regexp) *regexp.Regexp {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return regexp.MustCompile("(?:" + a.String() + ")|(?:" + b.String() + ")") // both are valid
}

// presidioMask returns the handler of a request to mask a text or to restore it.
func (s *Server) presidioMask(read func([]byte) (formats.PresidioMasking, error), mask func(text string, entities []toxscreen.Entity, operators pii.Operators) (pii.Masked, error)) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		data, err := s.presidioBody(w, r)
		if err != nil {
			return err
		}
		in, err := read(data)
		if err != nil {
			return presidioFailure(err)
		}
		wanted, err := in.Operators()
		if err != nil {
			return presidioFailure(err)
		}
		operators := pii.Operators{}
		for t, o := range wanted {
			operators[t] = presidioOperator(o)
		}
		masked, err := mask(in.Text, in.Entities, operators)
		if _, ok := errors.AsType[*failure](err); ok {
			return err
		}
		if err != nil {
			return presidioFailure(&formats.PresidioError{Status: http.StatusUnprocessableEntity, Message: err.Error()})
		}
		items := make([]formats.PresidioItem, len(masked.Items))
		for i, item := range masked.Items {
			items[i] = formats.PresidioItem{Start: item.Start, End: item.End, Type: item.Type, Text: item.Text, Operator: wanted[item.Type].Kind}
		}
		writeJSON(w, http.StatusOK, formats.ToPresidioMasked(masked.Text, items))
		return nil
	}
}

// anonymize masks the entities of a text that remain when conflicts between them are
// resolved.
func (s *Server) anonymize(text string, entities []toxscreen.Entity, operators pii.Operators) (pii.Masked, error) {
	entities, err := pii.Merge(text, entities)
	if err != nil {
		return pii.Masked{}, err
	}
	return s.maskAll(text, entities, operators)
}

// deanonymize restores the entities of a text.
func deanonymize(text string, entities []toxscreen.Entity, operators pii.Operators) (pii.Masked, error) {
	items := make([]pii.MaskedItem, len(entities))
	for i, e := range entities {
		items[i] = pii.MaskedItem{Type: e.Type, Start: e.Start, End: e.End}
	}
	return pii.Unmask(text, items, operators)
}

// presidioOperator returns an operator of package pii, whose CharsToMask means all if it is
// 0, and none if it is negative.
func presidioOperator(o formats.PresidioOperator) pii.Operator {
	operator := pii.Operator{
		Kind: pii.OperatorKind(o.Kind), NewValue: &o.NewValue, MaskingChar: o.MaskingChar, CharsToMask: o.CharsToMask, FromEnd: o.FromEnd,
		HashType: o.HashType, Salt: o.Salt, Key: o.Key,
	}
	if o.CharsToMask <= 0 {
		operator.CharsToMask = -1
	}
	if !slices.Contains(formats.PresidioAnonymizers(), o.Kind) && operator.Kind != pii.Decrypt {
		operator.Kind = pii.Keep // deanonymize_keep
	}
	return operator
}

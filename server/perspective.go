package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/internal/store"
)

// perspective is Google's Perspective API.
var perspective = api{
	name: "perspective", fail: failPerspective, routes: (*Server).perspectiveRoutes,
	paths: []string{"/v1alpha1", "/batch", "/$discovery"},
}

// perspectiveBase is the path of its methods, but for their names.
const perspectiveBase = "/v1alpha1/comments:"

// perspectiveRoutes returns its routes. A batch is open: its calls have the key.
func (s *Server) perspectiveRoutes() []route {
	routes := []route{
		{pattern: "POST /batch", open: true, handle: s.perspectiveBatch},
		{pattern: "GET /$discovery/rest", open: true, handle: s.perspectiveDiscovery},
	}
	for name, read := range s.perspectiveMethods() {
		routes = append(routes, route{pattern: "POST " + perspectiveBase + name, handle: func(w http.ResponseWriter, r *http.Request) error {
			data, err := s.body(w, r, s.config.MaxBody)
			if err != nil {
				return err
			}
			call, err := read(data)
			if err != nil {
				return err
			}
			result, err := s.score(r.Context(), call.request)
			if err != nil {
				return err
			}
			value, err := call.answer(r.Context(), w.Header(), result)
			if err != nil {
				return err
			}
			writeJSON(w, http.StatusOK, value)
			return nil
		}})
	}
	return routes
}

// perspectiveCall is a valid call: what to score, and how its result becomes an
// answer.
type perspectiveCall struct {
	request request
	answer  func(ctx context.Context, header http.Header, result toxscreen.Result) (any, error)
}

// perspectiveMethods returns the functions that read the body of a call, by the
// name of its method.
func (s *Server) perspectiveMethods() map[string]func(data []byte) (perspectiveCall, error) {
	return map[string]func([]byte) (perspectiveCall, error){"analyze": s.analyze, "suggestscore": s.suggestScore}
}

// failPerspective answers with a failure in Google's form and words.
func failPerspective(w http.ResponseWriter, r *http.Request, f *failure) {
	e := perspectiveErrorOf(r, f)
	writeJSON(w, e.Code, e.Body())
}

func perspectiveErrorOf(r *http.Request, f *failure) *formats.PerspectiveError {
	if e, ok := errors.AsType[*formats.PerspectiveError](f.cause); ok {
		return e
	}
	switch {
	case f.code == tooLong:
		return formats.PerspectiveTooLong()
	case f.code == wrongKey && keyOf(r) == "":
		return formats.NewPerspectiveError(http.StatusForbidden, "The request is missing a valid API key.")
	case f.code == wrongKey:
		return formats.PerspectiveKeyInvalid()
	case f.retry > 0:
		return formats.PerspectiveOverload(f.message, f.retry)
	}
	return formats.NewPerspectiveError(f.status(), f.message)
}

// perspectiveFailure returns the failure for an error in Google's words.
func perspectiveFailure(err error) error {
	return &failure{code: invalidRequest, message: err.Error(), cause: err}
}

// checkDepth rejects JSON that is nested too deep.
func checkDepth(data []byte) error {
	if tooDeep(data) {
		return fail(invalidRequest, "failed to read the request: its JSON is nested deeper than %d", maxDepth)
	}
	return nil
}

func (s *Server) analyze(data []byte) (perspectiveCall, error) {
	if err := checkDepth(data); err != nil {
		return perspectiveCall{}, err
	}
	in, err := formats.ReadPerspectiveAnalyze(data)
	if err != nil {
		return perspectiveCall{}, perspectiveFailure(err)
	}
	var detected []string
	check := func(g *toxscreen.Screening) error {
		detected = codes(g.Language())
		if err := in.CheckLanguages(s.screener.Info().Languages, detected, g.Result().NotDecided == ""); err != nil {
			return perspectiveFailure(err)
		}
		return nil
	}
	thresholds := s.config.Communities[in.CommunityID]
	return perspectiveCall{
		request: request{text: in.Comment.Text, forget: in.DoNotStore, thresholds: thresholds, language: in.StatedLanguage(s.screener.Info().Languages), check: check},
		answer: func(ctx context.Context, header http.Header, whole toxscreen.Result) (any, error) {
			showLanguages(header, whole)
			var parts []formats.Part
			if in.SpanAnnotations {
				var err error
				if parts, err = s.sentences(ctx, in.Comment.Text, whole, thresholds, nil); err != nil {
					return nil, err
				}
			}
			scores, notMeasured := formats.ToPerspective(in, whole, parts, detected)
			showNotMeasured(header, notMeasured)
			return scores, nil
		},
	}, nil
}

// codes lists the code of a language, if it has one.
func codes(found toxscreen.Language) []string {
	if found.Code == "" {
		return nil
	}
	return []string{found.Code}
}

func (s *Server) suggestScore(data []byte) (perspectiveCall, error) {
	if err := checkDepth(data); err != nil {
		return perspectiveCall{}, err
	}
	in, err := formats.ReadPerspectiveSuggest(data)
	if err != nil {
		return perspectiveCall{}, perspectiveFailure(err)
	}
	labels := store.LabelSet{Text: in.Comment.Text, Community: in.CommunityID, Token: in.ClientToken, Labels: in.Labels()}
	if err := labels.Validate(); err != nil {
		return perspectiveCall{}, fail(invalidRequest, "failed to keep feedback: %v", err)
	}
	var detected []string
	check := func(g *toxscreen.Screening) error {
		detected = codes(g.Language())
		return nil
	}
	return perspectiveCall{
		// The judge is not asked about a text that a person has judged.
		request: request{text: in.Comment.Text, wait: new(time.Duration), forget: true, language: in.StatedLanguage(s.screener.Info().Languages), full: s.config.Feedback != nil, check: check},
		answer: func(ctx context.Context, header http.Header, result toxscreen.Result) (any, error) {
			showNotMeasured(header, in.NotMeasured())
			if err := s.keep(ctx, labels, result); err != nil {
				return nil, err
			}
			return formats.ToPerspectiveSuggested(in, detected), nil
		},
	}, nil
}

// perspectiveBatch answers many calls in one. They are admitted or rejected with
// the first valid one, and all must have its key.
func (s *Server) perspectiveBatch(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return err
	}
	calls, err := formats.ReadPerspectiveBatch(r.Header.Get("Content-Type"), data, s.config.MaxTexts)
	if err != nil {
		return perspectiveFailure(err)
	}
	replies := make([]formats.PerspectiveReply, len(calls))
	inners := make([]*http.Request, len(calls)) // the calls as requests of their own
	reply := func(i int, header http.Header, value any, err error) {
		replies[i] = formats.PerspectiveReply{ID: calls[i].ID, Status: http.StatusOK, Header: header}
		if err != nil {
			f := failureOf(err)
			if f.code == internal || f.code == notStored {
				s.config.Log.Error("failed to answer a call of a batch", "error", f.cause)
			}
			e := perspectiveErrorOf(inners[i], f)
			replies[i].Status, value = e.Code, e.Body()
		}
		replies[i].Body = line(value)
	}
	var valid []perspectiveCall
	var requests []request
	var indices []int       // of the valid ones among calls
	key, known := "", false // of the first call
	for i, c := range calls {
		inners[i] = r.Clone(r.Context())
		read, err := s.perspectiveTarget(inners[i], c)
		if err != nil {
			reply(i, nil, nil, err)
			continue
		}
		if !known {
			caller, err := s.callerOf(inners[i])
			if err != nil {
				f := failureOf(err)
				return &failure{code: f.code, message: f.message, cause: perspectiveErrorOf(inners[i], f)}
			}
			exchangeOf(r.Context()).caller, key, known = caller, keyOf(inners[i]), true
		} else if keyOf(inners[i]) != key {
			reply(i, nil, nil, fail(wrongKey, "failed to authorize a call of a batch: all must have the API key of the first"))
			continue
		}
		call, err := read(c.Body)
		if err != nil {
			reply(i, nil, nil, err)
			continue
		}
		valid, requests, indices = append(valid, call), append(requests, call.request), append(indices, i)
	}
	for i, o := range s.scoreAll(r.Context(), requests) {
		if f := failureOf(o.err); o.err != nil && (f.code == clientGone || i == 0 && f.retry > 0) {
			return f
		}
		var value any
		header := http.Header{}
		if o.err == nil {
			o.err = guarded(func() (err error) {
				value, err = valid[i].answer(r.Context(), header, o.result)
				return err
			})
		}
		reply(indices[i], header, value, o.err)
	}
	contentType, body := formats.WritePerspectiveBatch(replies)
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // a client that has disconnected needs no error
	return nil
}

// perspectiveTarget returns the function that reads the body of a call, and turns
// inner into the call as a request of its own.
func (s *Server) perspectiveTarget(inner *http.Request, c formats.PerspectiveCall) (func([]byte) (perspectiveCall, error), error) {
	unknown := fail(notFound, "failed to answer a call of a batch: there are POST %sanalyze and %[1]ssuggestscore", perspectiveBase)
	target, err := url.ParseRequestURI(c.Target)
	if err != nil {
		return nil, unknown
	}
	inner.Method, inner.URL = c.Method, target
	path := target.Path
	if s.config.External != nil {
		path = strings.TrimPrefix(path, strings.TrimSuffix(s.config.External.Path, "/"))
	}
	name, ok := strings.CutPrefix(path, perspectiveBase)
	read, known := s.perspectiveMethods()[name]
	if !ok || !known || c.Method != http.MethodPost {
		return nil, unknown
	}
	return read, nil
}

// perspectiveDiscovery answers with the document that clients are generated from.
func (s *Server) perspectiveDiscovery(w http.ResponseWriter, r *http.Request) error {
	if version := r.URL.Query().Get("version"); version != "" && version != "v1alpha1" {
		return fail(notFound, "failed to describe the API: there is only version v1alpha1")
	}
	writeJSON(w, http.StatusOK, formats.PerspectiveDiscovery(s.address(r)))
	return nil
}

// address returns the URL under which the client of a request reaches the server.
func (s *Server) address(r *http.Request) *url.URL {
	if s.config.External != nil {
		return s.config.External
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return &url.URL{Scheme: scheme, Host: r.Host}
}

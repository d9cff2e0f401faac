package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/store"
)

// perspective is Google's Perspective API, as its clients know it.
var perspective = api{name: "perspective", fail: failPerspective, routes: (*Server).perspectiveRoutes}

// perspectiveBase is where its methods are.
const perspectiveBase = "/v1alpha1/comments:"

// perspectiveRoutes returns its routes. A batch has no key: each of its calls has.
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

// perspectiveCall is a call that makes sense: what to score, and what makes an
// answer of its result.
type perspectiveCall struct {
	request request
	answer  func(ctx context.Context, header http.Header, result toxscreen.Result) (any, error)
}

// perspectiveMethods are what reads the body of a call, by its name.
func (s *Server) perspectiveMethods() map[string]func(data []byte) (perspectiveCall, error) {
	return map[string]func([]byte) (perspectiveCall, error){"analyze": s.analyze, "suggestscore": s.suggestScore}
}

// failPerspective words a failure as Google did.
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

// perspectiveFailure makes a failure of an error in Google's words.
func perspectiveFailure(err error) error {
	return &failure{code: invalidRequest, message: err.Error(), cause: err}
}

// checkDepth refuses JSON that is nested too deep.
func checkDepth(data []byte) error {
	if tooDeep(data) {
		return fail(invalidRequest, "failed to read the request: its JSON is nested deeper than %d", maxDepth)
	}
	return nil
}

// notMeasuredHeader names the requested attributes that the answer has no score
// for, since nothing here measures them.
const notMeasuredHeader = "Toxscreen-Not-Measured"

func (s *Server) analyze(data []byte) (perspectiveCall, error) {
	if err := checkDepth(data); err != nil {
		return perspectiveCall{}, err
	}
	in, err := formats.ReadPerspectiveAnalyze(data)
	if err != nil {
		return perspectiveCall{}, perspectiveFailure(err)
	}
	var detected []string
	check := func(found toxscreen.Language) error {
		detected = codes(found)
		if err := in.CheckLanguages(s.screener.Info().Languages, detected, found.Foreign); err != nil {
			return perspectiveFailure(err)
		}
		return nil
	}
	thresholds := s.config.Communities[in.CommunityID]
	return perspectiveCall{
		request: request{text: in.Comment.Text, forget: in.DoNotStore, thresholds: thresholds, check: check},
		answer: func(ctx context.Context, header http.Header, whole toxscreen.Result) (any, error) {
			var parts []formats.Part
			if in.SpanAnnotations {
				var err error
				if parts, err = s.sentences(ctx, in.Comment.Text, whole, thresholds); err != nil {
					return nil, err
				}
			}
			scores, notMeasured := formats.ToPerspective(in, whole, parts, detected)
			if len(notMeasured) > 0 {
				header.Set(notMeasuredHeader, strings.Join(notMeasured, ", "))
			}
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
	check := func(found toxscreen.Language) error {
		detected = codes(found)
		return nil
	}
	return perspectiveCall{
		// The judge is not asked about what people have judged.
		request: request{text: in.Comment.Text, wait: new(time.Duration), forget: true, check: check},
		answer: func(ctx context.Context, _ http.Header, result toxscreen.Result) (any, error) {
			if err := s.keep(ctx, labels, result); err != nil {
				return nil, err
			}
			return formats.ToPerspectiveSuggested(in, detected), nil
		},
	}, nil
}

// perspectiveBatch answers many calls in one. They are let in with the first of
// them that makes sense, and all have its key.
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
	inners := make([]*http.Request, len(calls)) // the calls as requests by themselves
	reply := func(i int, value any, err error) {
		replies[i] = formats.PerspectiveReply{ID: calls[i].ID, Status: http.StatusOK}
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
	var sensible []perspectiveCall
	var requests []request
	var places []int        // of those among the calls
	key, known := "", false // whoever sent it
	for i, c := range calls {
		inners[i] = r.Clone(r.Context())
		read, err := s.perspectiveTarget(inners[i], c)
		if err != nil {
			reply(i, nil, err)
			continue
		}
		if !known {
			caller, err := s.who(inners[i])
			if err != nil {
				f := failureOf(err)
				return &failure{code: f.code, message: f.message, cause: perspectiveErrorOf(inners[i], f)}
			}
			exchangeOf(r.Context()).caller, key, known = caller, keyOf(inners[i]), true
		} else if keyOf(inners[i]) != key {
			reply(i, nil, fail(wrongKey, "failed to let a call of a batch in: all must have the key of the first"))
			continue
		}
		call, err := read(c.Body)
		if err != nil {
			reply(i, nil, err)
			continue
		}
		sensible, requests, places = append(sensible, call), append(requests, call.request), append(places, i)
	}
	for i, o := range s.scoreAll(r.Context(), requests) {
		if f := failureOf(o.err); o.err != nil && (f.code == clientGone || i == 0 && f.retry > 0) {
			return f
		}
		var value any
		if o.err == nil {
			o.err = guarded(func() (err error) {
				value, err = sensible[i].answer(r.Context(), http.Header{}, o.result)
				return err
			})
		}
		reply(places[i], value, o.err)
	}
	contentType, body := formats.WritePerspectiveBatch(replies)
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // whoever is gone misses nothing
	return nil
}

// perspectiveTarget returns what reads the body of a call, and makes of inner the
// request that it would be by itself.
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

// perspectiveDiscovery answers with the document that clients are built from.
func (s *Server) perspectiveDiscovery(w http.ResponseWriter, r *http.Request) error {
	if version := r.URL.Query().Get("version"); version != "" && version != "v1alpha1" {
		return fail(notFound, "failed to describe the API: there is only version v1alpha1")
	}
	writeJSON(w, http.StatusOK, formats.PerspectiveDiscovery(s.address(r)))
	return nil
}

// address returns the address that the client of a request knows the server by.
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

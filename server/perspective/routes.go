package perspective

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/server"
)

// Format returns the format. Its scores are on Perspective's scale, if the server has it.
// communities are thresholds that replace the model's, by the communityId of a request.
func Format(communities map[string]toxscreen.Scores) server.Format {
	methods := methodsFor(communities)
	return server.Format{
		Name: "perspective",
		Routes: []server.Route{
			{Pattern: "POST " + base + "analyze", Handle: single(methods["analyze"])},
			{Pattern: "POST " + base + "suggestscore", Handle: single(methods["suggestscore"])},
			{Pattern: "POST /batch", Open: true, Handle: methods.batch}, // its calls have the key
			{Pattern: "GET /$discovery/rest", Open: true, Handle: discover},
		},
		Paths: []string{"/v1alpha1", "/batch", "/$discovery"},
		Fail: func(c *server.Call, f *server.Failure) {
			e := errorOf(c.Request, f)
			c.Send(e.Code, e.Body())
		},
	}
}

// base is the path of the methods, but for their names.
const base = "/v1alpha1/comments:"

// errorOf returns a failure in Google's form and words.
func errorOf(r *http.Request, f *server.Failure) *Error {
	if e, ok := errors.AsType[*Error](f.Cause); ok {
		return e
	}
	switch {
	case f.Code == server.TooLong:
		return tooLong()
	case f.Code == server.WrongKey && server.KeyOf(r) == "":
		return newError(http.StatusForbidden, "The request is missing a valid API key.")
	case f.Code == server.WrongKey:
		return keyInvalid()
	case f.Retry > 0:
		return overload(f.Message, f.Retry)
	}
	return newError(f.Status(), f.Message)
}

// failure returns the failure for an error in Google's words.
func failure(err error) error {
	return &server.Failure{Code: server.InvalidRequest, Message: err.Error(), Cause: err}
}

// call is a valid call of a method.
type call interface {
	// score scores the comment of the call.
	score(ctx context.Context, c *server.Call, t server.Turn) (scored, error)
	// answer returns the answer, and adds to its header.
	answer(ctx context.Context, c *server.Call, header http.Header, s scored) (any, error)
}

// scored is what a call found in its comment.
type scored struct {
	result   toxscreen.Result
	language toxscreen.Language // that it seems to be in
}

// reader reads the body of a call.
type reader func(data []byte) (call, error)

// methods are the methods by their names.
type methods map[string]reader

func methodsFor(communities map[string]toxscreen.Scores) methods {
	return methods{
		"analyze": func(data []byte) (call, error) {
			in, err := ReadAnalyze(data)
			if err != nil {
				return nil, failure(err)
			}
			return &analysis{in, communities[in.CommunityID]}, nil
		},
		"suggestscore": func(data []byte) (call, error) {
			in, err := ReadSuggest(data)
			if err != nil {
				return nil, failure(err)
			}
			labels := store.LabelSet{Text: in.Comment.Text, Community: in.CommunityID, Token: in.ClientToken, Labels: in.Labels()}
			if err := labels.Validate(); err != nil {
				return nil, server.Fail(server.InvalidRequest, "failed to keep feedback: %v", err)
			}
			return &suggestion{in, labels}, nil
		},
	}
}

// single returns the handler of single calls of a method.
func single(read reader) func(*server.Call) error {
	return func(c *server.Call) error {
		data, err := c.JSON()
		if err != nil {
			return err
		}
		in, err := read(data)
		if err != nil {
			return err
		}
		ctx := c.Request.Context()
		s, err := in.score(ctx, c, server.Turn{})
		if err != nil {
			return err
		}
		value, err := in.answer(ctx, c, c.Header(), s)
		if err != nil {
			return err
		}
		c.Send(http.StatusOK, value)
		return nil
	}
}

// analysis is a call for the scores of a comment.
type analysis struct {
	in         Analyze
	thresholds toxscreen.Scores // of its community
}

func (a *analysis) score(ctx context.Context, c *server.Call, t server.Turn) (scored, error) {
	supported := c.Model().Languages
	text := server.Text{Text: a.in.Comment.Text, Forget: a.in.DoNotStore, Scale: toxscreen.PerspectiveScale, Thresholds: a.thresholds, Language: statedLanguage(a.in.Languages, supported), Turn: t}
	screening, err := c.Begin(ctx, text)
	if err != nil {
		return scored{}, err
	}
	if err := a.in.CheckLanguage(supported, screening.Language(), screening.Result().NotDecided == ""); err != nil {
		return scored{}, failure(err)
	}
	result, err := c.Finish(ctx, screening, text)
	return scored{result, screening.Language()}, err
}

func (a *analysis) answer(ctx context.Context, c *server.Call, header http.Header, s scored) (any, error) {
	server.ShowLanguages(header, s.result)
	var parts []server.Sentence
	if a.in.SpanAnnotations {
		var err error
		if parts, err = c.Sentences(ctx, a.in.Comment.Text, s.result, a.thresholds, server.Turn{}); err != nil {
			return nil, err
		}
	}
	scores, notMeasured := ToScores(a.in, s.result, parts, s.language)
	server.ShowNotMeasured(header, notMeasured)
	return scores, nil
}

// suggestion is a call that suggests the scores of a comment.
type suggestion struct {
	in     Suggest
	labels store.LabelSet
}

// score does not ask the judge about a text that a person has judged. The answer has no scores:
// those of the server's own scale are kept with the labels, for calibrate.
func (g *suggestion) score(ctx context.Context, c *server.Call, t server.Turn) (scored, error) {
	text := server.Text{
		Text: g.in.Comment.Text, Wait: new(time.Duration), Forget: true, Language: statedLanguage(g.in.Languages, c.Model().Languages),
		FullNetwork: c.Config().Feedback != nil, Turn: t,
	}
	screening, err := c.Begin(ctx, text)
	if err != nil {
		return scored{}, err
	}
	result, err := c.Finish(ctx, screening, text)
	return scored{result, screening.Language()}, err
}

func (g *suggestion) answer(ctx context.Context, c *server.Call, header http.Header, s scored) (any, error) {
	server.ShowNotMeasured(header, g.in.NotMeasured())
	if err := c.Keep(ctx, g.labels, s.result); err != nil {
		return nil, err
	}
	return ToSuggested(g.in, s.language), nil
}

// batch answers many calls in one. They are admitted or rejected with the first valid
// one, and all must have its key.
func (m methods) batch(c *server.Call) error {
	data, err := c.Body()
	if err != nil {
		return err
	}
	calls, err := ReadBatch(c.Request.Header.Get("Content-Type"), data, c.Config().MaxTexts)
	if err != nil {
		return failure(err)
	}
	replies := make([]BatchReply, len(calls))
	inners := make([]*http.Request, len(calls)) // the calls as requests of their own
	reply := func(i int, header http.Header, value any, err error) {
		replies[i] = BatchReply{ID: calls[i].ID, Status: http.StatusOK, Header: header}
		if err != nil {
			f := server.FailureOf(err)
			c.Report("failed to answer a call of a batch", f)
			e := errorOf(inners[i], f)
			replies[i].Status, value = e.Code, e.Body()
		}
		replies[i].Body = append(plainjson.Append(nil, value), '\n')
	}
	var valid []call
	var indices []int       // of the valid ones among calls
	key, known := "", false // of the first call
	for i, one := range calls {
		inners[i] = c.Request.Clone(c.Request.Context())
		read, err := m.target(c, inners[i], one)
		if err != nil {
			reply(i, nil, nil, err)
			continue
		}
		if !known {
			if err := c.Authorize(inners[i]); err != nil {
				f := server.FailureOf(err)
				return &server.Failure{Code: f.Code, Message: f.Message, Cause: errorOf(inners[i], f)}
			}
			key, known = server.KeyOf(inners[i]), true
		} else if server.KeyOf(inners[i]) != key {
			reply(i, nil, nil, server.Fail(server.WrongKey, "failed to authorize a call of a batch: all must have the API key of the first"))
			continue
		}
		if err := server.CheckDepth(one.Body); err != nil {
			reply(i, nil, nil, err)
			continue
		}
		in, err := read(one.Body)
		if err != nil {
			reply(i, nil, nil, err)
			continue
		}
		valid, indices = append(valid, in), append(indices, i)
	}
	ctx := c.Request.Context()
	for i, o := range server.Each(ctx, c, len(valid), func(ctx context.Context, i int, t server.Turn) (scored, error) { return valid[i].score(ctx, c, t) }) {
		if f := server.FailureOf(o.Err); o.Err != nil && (f.Code == server.ClientGone || i == 0 && f.Retry > 0) {
			return f
		}
		var value any
		header := http.Header{}
		if o.Err == nil {
			o.Err = server.Guarded(func() (err error) {
				value, err = valid[i].answer(ctx, c, header, o.Result)
				return err
			})
		}
		reply(indices[i], header, value, o.Err)
	}
	contentType, body := WriteBatch(replies)
	c.Header().Set("Content-Type", contentType)
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = c.Writer.Write(body) // a client that has disconnected needs no error
	return nil
}

// target returns the method of a call, and turns inner into the call as a request of its
// own.
func (m methods) target(c *server.Call, inner *http.Request, one BatchCall) (reader, error) {
	unknown := server.Fail(server.NotFound, "failed to answer a call of a batch: there are POST %sanalyze and %[1]ssuggestscore", base)
	target, err := url.ParseRequestURI(one.Target)
	if err != nil {
		return nil, unknown
	}
	inner.Method, inner.URL = one.Method, target
	name, ok := strings.CutPrefix(c.Path(target.Path), base)
	read, known := m[name]
	if !ok || !known || one.Method != http.MethodPost {
		return nil, unknown
	}
	return read, nil
}

// discover answers with the document that clients are generated from.
func discover(c *server.Call) error {
	if version := c.Request.URL.Query().Get("version"); version != "" && version != "v1alpha1" {
		return server.Fail(server.NotFound, "failed to describe the API: there is only version v1alpha1")
	}
	c.Send(http.StatusOK, Discovery(c.Address()))
	return nil
}

// Package native is toxscreen's own format.
package native

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/server"
)

// Format returns the format. unit is the unit of offsets where a request names none; empty
// for bytes. shapes are the other forms that an answer to a single text may have.
// Failures have the form of [server.ErrorBody].
func Format(unit toxscreen.OffsetUnit, shapes ...Shape) server.Format {
	f := format{cmp.Or(unit, toxscreen.Bytes), shapes}
	return server.Format{
		Name: "native",
		Routes: []server.Route{
			{Pattern: "POST /v1/score", Handle: f.score},
			{Pattern: "GET /v1/score/{id}", Handle: late},
			{Pattern: "POST /v1/feedback", Handle: feedback},
			{Pattern: "POST /v1/pii", Handle: f.find},
		},
		Paths:     []string{"/"},
		Documents: map[string]http.Handler{"GET /v1/openapi.json": http.HandlerFunc(describe)},
	}
}

type format struct {
	unit   toxscreen.OffsetUnit
	shapes []Shape
}

// Shape is the form that an answer to a single text has with POST /v1/score?format=NAME.
type Shape struct {
	Name string // NAME
	// Replies is true if it uses the message that the text replies to.
	Replies bool
	// Answer returns the answer, which is sent as JSON.
	Answer func(ctx context.Context, c *server.Call, q Question) (any, error)
}

// Question is a text for a [Shape].
type Question struct {
	server.Text
	ID    string // the client's name for the text, if any
	Input string // the message that the text replies to, if any
}

// description is the OpenAPI document of the format.
//
//go:embed openapi.json
var description []byte

// describe answers with the description.
func describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(description) // a client that has disconnected needs no error
}

// score answers POST /v1/score.
func (f format) score(c *server.Call) error {
	n, err := f.readScoring(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	switch {
	case n.many:
		return writeLines(c, n.texts, server.Each(ctx, c, len(n.texts), func(ctx context.Context, i int, turn server.Turn) (toxscreen.Result, error) {
			return n.scoreOne(ctx, c, n.texts[i], turn)
		}), func(t scoreText, result toxscreen.Result) any { return n.shown(t, result) })
	case n.shape != nil:
		text := n.base
		text.Text = *n.texts[0].Text
		answer, err := n.shape.Answer(ctx, c, Question{Text: text, ID: n.texts[0].ID, Input: n.input})
		if err != nil {
			return err
		}
		c.Send(http.StatusOK, answer)
		return nil
	}
	result, err := n.scoreOne(ctx, c, n.texts[0], server.Turn{})
	if err != nil {
		return err
	}
	server.ShowLanguages(c.Header(), result)
	c.Send(http.StatusOK, n.shown(n.texts[0], result))
	return nil
}

// scoreRequest is the body of POST /v1/score: one text or many.
type scoreRequest struct {
	ID    string      `json:"id"`
	Text  *string     `json:"text"`
	Texts []scoreText `json:"texts"`

	Thresholds toxscreen.Scores `json:"thresholds"`
	OffsetUnit string           `json:"offset_unit"`
	Language   string           `json:"language"`
	JudgeWait  string           `json:"judge_wait"`
	DoNotStore bool             `json:"do_not_store"`
	Sentences  bool             `json:"sentences"`
	PII        bool             `json:"pii"`

	// Input is the message that the text replies to, for formats that use it.
	Input string `json:"input"`
}

// scoreText is one of many texts.
type scoreText struct {
	ID   string  `json:"id"`
	Text *string `json:"text"`
}

// UnmarshalJSON reads a string, or an object with text and id.
func (t *scoreText) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return json.Unmarshal(data, &t.Text)
	}
	type fields scoreText // without this method
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode((*fields)(t))
}

// maxJudgeWait is the longest time for the judge that a request may ask for.
const maxJudgeWait = 10 * time.Minute

// judgeWaitHeader is judge_wait for clients that can change headers more easily
// than bodies.
const judgeWaitHeader = "Toxscreen-Judge-Wait"

// scoring is a valid request to score.
type scoring struct {
	texts []scoreText
	many  bool
	shape *Shape // nil for that of the format itself
	input string
	unit  toxscreen.OffsetUnit

	sentences bool
	base      server.Text // without the text
}

// readScoring reads and validates a request to score.
func (f format) readScoring(c *server.Call) (*scoring, error) {
	var in scoreRequest
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	n := &scoring{
		many: in.Texts != nil, input: in.Input, sentences: in.Sentences,
		base: server.Text{Forget: in.DoNotStore, Thresholds: in.Thresholds},
	}
	var err error
	if n.shape, err = f.shapeOf(c.Request.URL.Query().Get("format"), in); err != nil {
		return nil, err
	}
	if in.PII {
		finder, err := c.Finder()
		if err != nil {
			return nil, err
		}
		n.base.Entities = finder
	}
	if n.texts, err = checkTexts(c, in.ID, in.Text, in.Texts); err != nil {
		return nil, err
	}
	if n.unit, err = toxscreen.ParseOffsetUnit(cmp.Or(in.OffsetUnit, string(f.unit))); err != nil {
		return nil, server.Fail(server.InvalidRequest, "failed to read the request: offset_unit: %v", err)
	}
	if in.Language != "" {
		if n.base.Language, err = toxscreen.ParseLanguage(in.Language); err != nil {
			return nil, server.Fail(server.InvalidRequest, "failed to read the request: language: %v", err)
		}
	}
	if err := checkThresholds(c.Model(), in.Thresholds); err != nil {
		return nil, err
	}
	if wait := cmp.Or(in.JudgeWait, c.Request.Header.Get(judgeWaitHeader)); wait != "" {
		d, err := time.ParseDuration(wait)
		if err != nil || d < 0 || d > maxJudgeWait {
			return nil, server.Fail(server.InvalidRequest, "failed to read the request: judge_wait: %q is not a duration up to %s: it must be like 2s or 0s", wait, maxJudgeWait)
		}
		n.base.Wait = &d
	}
	return n, nil
}

// shapeOf returns the shape that a request asks for by its name; nil for that of the format
// itself.
func (f format) shapeOf(name string, in scoreRequest) (*Shape, error) {
	var shape *Shape
	if name != "" && name != nativeShape {
		i := slices.IndexFunc(f.shapes, func(s Shape) bool { return s.Name == name })
		if i < 0 {
			return nil, server.Fail(server.InvalidRequest, "failed to read the request: there is no format %q: there are %s", name, f.names())
		}
		shape = &f.shapes[i]
	}
	switch {
	case shape != nil && in.Texts != nil:
		return nil, server.Fail(server.InvalidRequest, "failed to read the request: the format %s is for one text: send {\"text\": \"…\"}", name)
	case in.Input != "" && (shape == nil || !shape.Replies):
		return nil, server.Fail(server.InvalidRequest, "failed to read the request: input is only for the formats %s", f.replying())
	case shape != nil && in.Sentences:
		return nil, server.Fail(server.InvalidRequest, "failed to read the request: sentences is only for the native format, not for %s", name)
	case shape != nil && in.PII:
		return nil, server.Fail(server.InvalidRequest, "failed to read the request: pii is only for the native format, not for %s", name)
	}
	return shape, nil
}

// nativeShape is the name of the format's own shape.
const nativeShape = "native"

// names lists all shapes.
func (f format) names() string {
	var names []string
	for _, s := range f.shapes {
		names = append(names, s.Name)
	}
	return strings.TrimSuffix(nativeShape+" and "+strings.Join(names, ", "), " and ")
}

// replying lists the shapes that use the message that a text replies to.
func (f format) replying() string {
	var names []string
	for _, s := range f.shapes {
		if s.Replies {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, " and ")
}

// checkTexts returns the texts of a request that has one or many.
func checkTexts(c *server.Call, id string, text *string, texts []scoreText) ([]scoreText, error) {
	many := texts != nil
	switch {
	case many && (text != nil || id != ""):
		return nil, server.Fail(server.InvalidRequest, "failed to read the request: it has texts and a text or id beside them; give each of the texts its id")
	case !many && text == nil:
		return nil, server.Fail(server.InvalidRequest, `failed to read the request: it has no text: send {"text": "…"} or {"texts": ["…", …]}`)
	case len(texts) > c.Config().MaxTexts:
		return nil, server.Fail(server.TooManyTexts, "failed to read the request: it has %d texts, the limit is %d; send fewer at once", len(texts), c.Config().MaxTexts)
	case !many:
		return []scoreText{{id, text}}, nil
	}
	for i, t := range texts {
		if t.Text == nil {
			return nil, server.Fail(server.InvalidRequest, "failed to read the request: texts[%d] has no text", i)
		}
	}
	return texts, nil
}

// checkThresholds refuses thresholds that no score can be compared with.
func checkThresholds(model toxscreen.ModelInfo, thresholds toxscreen.Scores) error {
	for a, threshold := range thresholds.All() {
		if !slices.Contains(model.Attributes, a) {
			return server.Fail(server.InvalidRequest, "failed to read the request: thresholds: model %s does not measure %s", model.Version, a)
		}
		if !(threshold >= 0 && threshold <= 1) {
			return server.Fail(server.InvalidRequest, "failed to read the request: thresholds: %v for %s is not in 0..1", threshold, a)
		}
	}
	return nil
}

// shown returns a result as it is sent: with its id, and offsets in the unit of the
// request.
func (n *scoring) shown(t scoreText, r toxscreen.Result) toxscreen.Result {
	r = r.In(n.unit, *t.Text)
	r.ID = cmp.Or(t.ID, r.Judge.ID)
	return r
}

// scoreOne scores one of the texts.
func (n *scoring) scoreOne(ctx context.Context, c *server.Call, t scoreText, turn server.Turn) (toxscreen.Result, error) {
	text := n.base
	text.Text, text.Turn = *t.Text, turn
	screening, err := c.Begin(ctx, text)
	if err != nil {
		return toxscreen.Result{}, err
	}
	// Before the judge is asked, since a late result has the sentences, too.
	var sentences []server.Sentence
	if n.sentences {
		if sentences, err = c.Sentences(ctx, text.Text, screening.Result(), text.Thresholds, turn); err != nil {
			return toxscreen.Result{}, err
		}
	}
	text.Encode = func(final toxscreen.Result) ([]byte, error) {
		var b bytes.Buffer
		err := plainjson.Write(&b, n.shown(t, withSentences(final, sentences)), "")
		return b.Bytes(), err
	}
	result, err := c.Finish(ctx, screening, text)
	return withSentences(result, sentences), err
}

// withSentences returns the result of a text with its sentences, if there are any. If the
// text is a single sentence, that has the score of the text, which a verdict may have changed.
func withSentences(whole toxscreen.Result, sentences []server.Sentence) toxscreen.Result {
	if len(sentences) == 0 {
		return whole
	}
	whole.Sentences = make([]toxscreen.Passage, len(sentences))
	at := 0
	for i, s := range sentences {
		whole.Sentences[i] = toxscreen.Passage{Start: at, End: at + len(s.Text), Score: s.Result.Score}
		at += len(s.Text)
	}
	if len(sentences) == 1 {
		whole.Sentences[0].Score = whole.Score
	}
	return whole
}

// writeLines answers with a line for each text, in order, each as soon as it and those
// before it are done. A text that failed has its error in its line; a request that is
// rejected with its first text fails as a whole.
func writeLines[T any](c *server.Call, texts []scoreText, outcomes iter.Seq2[int, server.Outcome[T]], shown func(scoreText, T) any) error {
	c.Header().Set("Content-Type", "application/x-ndjson")
	if len(texts) == 0 {
		c.Writer.WriteHeader(http.StatusOK)
	}
	control := http.NewResponseController(c.Writer)
	for i, o := range outcomes {
		var value any
		if o.Err == nil {
			value = shown(texts[i], o.Result)
		} else {
			f := server.FailureOf(o.Err)
			if f.Code == server.ClientGone || i == 0 && f.Retry > 0 {
				return f
			}
			c.Report("failed to answer for a text of many", f)
			value = server.NewErrorBody(texts[i].ID, f)
		}
		err := plainjson.Write(c.Writer, value, "")
		if err == nil {
			err = control.Flush()
		}
		if err != nil {
			return &server.Failure{Code: server.ClientGone, Message: "failed to send the answer", Cause: err}
		}
	}
	return c.Ended()
}

// late answers with the final result of a text whose first result was pending, or with the
// first one while it still is.
func late(c *server.Call) error {
	data, err := c.Late(c.Request.Context(), c.Request.PathValue("id"))
	if err != nil {
		return err
	}
	if data == nil {
		return server.Fail(server.NotFound, "failed to fetch the result: there is none with this id: it has expired, or the server stopped before the judge answered")
	}
	c.Header().Set("Content-Type", "application/json")
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = c.Writer.Write(data) // a client that has disconnected needs no error
	return nil
}

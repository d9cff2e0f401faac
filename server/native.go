package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// native is toxscreen's own API.
var native = api{name: "native", fail: failNative, routes: (*Server).nativeRoutes}

func (s *Server) nativeRoutes() []route {
	return []route{
		{pattern: "POST /v1/score", handle: s.nativeScore},
		{pattern: "GET /v1/score/{id}", handle: s.nativeLate},
		{pattern: "POST /v1/feedback", handle: s.nativeFeedback},
		{pattern: "POST /v1/pii", handle: s.nativePII},
	}
}

// nativeError is the body of a native failure, and the line of a text that failed.
type nativeError struct {
	ID    string `json:"id,omitempty"`
	Error struct {
		Code    code   `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func nativeErrorOf(id string, f *failure) nativeError {
	body := nativeError{ID: id}
	body.Error.Code, body.Error.Message = f.code, f.message
	return body
}

func failNative(w http.ResponseWriter, _ *http.Request, f *failure) {
	writeJSON(w, f.status(), nativeErrorOf("", f))
}

// line returns the JSON form of a value and a line break. It panics where there is
// none, which only a type of ours could cause.
func line(value any) []byte { return append(plainjson.Append(nil, value), '\n') }

// writeJSON answers with a value.
func writeJSON(w http.ResponseWriter, status int, value any) {
	data := line(value) // before the status: it may panic
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) //nolint:gosec // JSON, which no browser takes for HTML; a client that has disconnected needs no error
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
	texts  []scoreText
	many   bool
	format string // "" for the native format
	input  string
	unit   toxscreen.OffsetUnit
	base   request // without the text
}

// readScoring reads and validates a request to score.
func (s *Server) readScoring(w http.ResponseWriter, r *http.Request) (*scoring, error) {
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return nil, err
	}
	var in scoreRequest
	if err := decode(data, &in); err != nil {
		return nil, err
	}
	n := &scoring{
		many: in.Texts != nil, input: in.Input, unit: s.config.OffsetUnit,
		base: request{forget: in.DoNotStore, thresholds: in.Thresholds, sentences: in.Sentences},
	}
	if n.format = r.URL.Query().Get("format"); n.format == nativeFormat {
		n.format = ""
	}
	switch {
	case n.format != "" && !slices.Contains(otherFormats, n.format):
		return nil, fail(invalidRequest, "failed to read the request: there is no format %q: there are %s and %s", n.format, nativeFormat, strings.Join(otherFormats, ", "))
	case n.format != "" && n.many:
		return nil, fail(invalidRequest, "failed to read the request: the format %s is for one text: send {\"text\": \"…\"}", n.format)
	case n.input != "" && (n.format == "" || n.format == writerFormat):
		return nil, fail(invalidRequest, "failed to read the request: input is only for the formats mastra and nexa")
	case n.format != "" && in.Sentences:
		return nil, fail(invalidRequest, "failed to read the request: sentences is only for the native format, not for %s", n.format)
	case n.format != "" && in.PII:
		return nil, fail(invalidRequest, "failed to read the request: pii is only for the native format, not for %s", n.format)
	case in.PII && s.config.Finder == nil:
		return nil, errNoFinder()
	case in.PII:
		n.base.entities = s.config.Finder
	}
	if n.texts, err = s.checkTexts(in.ID, in.Text, in.Texts); err != nil {
		return nil, err
	}
	if in.OffsetUnit != "" {
		if n.unit, err = toxscreen.ParseOffsetUnit(in.OffsetUnit); err != nil {
			return nil, fail(invalidRequest, "failed to read the request: offset_unit: %v", err)
		}
	}
	if in.Language != "" {
		if n.base.language, err = toxscreen.ParseLanguage(in.Language); err != nil {
			return nil, fail(invalidRequest, "failed to read the request: language: %v", err)
		}
	}
	if err := s.checkThresholds(in.Thresholds); err != nil {
		return nil, err
	}
	if wait := cmp.Or(in.JudgeWait, r.Header.Get(judgeWaitHeader)); wait != "" {
		d, err := time.ParseDuration(wait)
		if err != nil || d < 0 || d > maxJudgeWait {
			return nil, fail(invalidRequest, "failed to read the request: judge_wait: %q is not a duration up to %s: it must be like 2s or 0s", wait, maxJudgeWait)
		}
		n.base.wait = &d
	}
	return n, nil
}

// checkTexts returns the texts of a request that has one or many.
func (s *Server) checkTexts(id string, text *string, texts []scoreText) ([]scoreText, error) {
	many := texts != nil
	switch {
	case many && (text != nil || id != ""):
		return nil, fail(invalidRequest, "failed to read the request: it has texts and a text or id beside them; give each of the texts its id")
	case !many && text == nil:
		return nil, fail(invalidRequest, `failed to read the request: it has no text: send {"text": "…"} or {"texts": ["…", …]}`)
	case len(texts) > s.config.MaxTexts:
		return nil, fail(tooManyTexts, "failed to read the request: it has %d texts, the limit is %d; send fewer at once", len(texts), s.config.MaxTexts)
	case !many:
		return []scoreText{{id, text}}, nil
	}
	for i, t := range texts {
		if t.Text == nil {
			return nil, fail(invalidRequest, "failed to read the request: texts[%d] has no text", i)
		}
	}
	return texts, nil
}

// checkThresholds refuses thresholds that no score can be compared with.
func (s *Server) checkThresholds(thresholds toxscreen.Scores) error {
	for a, threshold := range thresholds.All() {
		if !slices.Contains(s.screener.Info().Attributes, a) {
			return fail(invalidRequest, "failed to read the request: thresholds: model %s does not measure %s", s.screener.Info().Version, a)
		}
		if !(threshold >= 0 && threshold <= 1) {
			return fail(invalidRequest, "failed to read the request: thresholds: %v for %s is not in 0..1", threshold, a)
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

// request returns the request for one of the texts.
func (n *scoring) request(t scoreText) request {
	r := n.base
	r.text = *t.Text
	r.late = func(final toxscreen.Result) ([]byte, error) {
		var b bytes.Buffer
		err := plainjson.Write(&b, n.shown(t, final), "")
		return b.Bytes(), err
	}
	return r
}

func (s *Server) nativeScore(w http.ResponseWriter, r *http.Request) error {
	n, err := s.readScoring(w, r)
	if err != nil {
		return err
	}
	switch n.format {
	case "", writerFormat:
	default:
		return s.nativeVerdict(w, r, n)
	}
	if n.many {
		return s.nativeMany(w, r, n)
	}
	if n.format == writerFormat {
		labels, err := s.writerLabels(r.Context(), w.Header(), []string{*n.texts[0].Text}, n.base)
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, formats.WriterCheck{CompletionLabels: labels[0]})
		return nil
	}
	result, err := s.score(r.Context(), n.request(n.texts[0]))
	if err != nil {
		return err
	}
	showLanguages(w.Header(), result)
	writeJSON(w, http.StatusOK, n.shown(n.texts[0], result))
	return nil
}

// The formats of POST /v1/score?format=NAME. All but the native one are for a
// single text.
const (
	nativeFormat = "native"
	writerFormat = "writer"
)

var otherFormats = []string{writerFormat, "mastra", "nexa"}

// nativeVerdict answers in a format that needs a judge's verdict.
func (s *Server) nativeVerdict(w http.ResponseWriter, r *http.Request, n *scoring) error {
	ask := s.config.VerdictFormats[n.format]
	if ask == nil {
		return fail(unsupported, "failed to judge text: the format %s needs a judge, and this server has none", n.format)
	}
	ctx, e := r.Context(), exchangeOf(r.Context())
	text := *n.texts[0].Text
	e.count(len(text))
	if err := e.caller.allow(); err != nil {
		return err
	}
	if n.base.forget {
		ctx = toxscreen.WithoutStoring(ctx)
	}
	done := e.clock.judge()
	answer, err := ask(ctx, n.texts[0].ID, text, n.input)
	done()
	if err != nil {
		return s.ended(ctx, fail(notJudged, "%v", err))
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// nativeMany answers with a line for each text.
func (s *Server) nativeMany(w http.ResponseWriter, r *http.Request, n *scoring) error {
	requests := make([]request, len(n.texts))
	for i, t := range n.texts {
		requests[i] = n.request(t)
	}
	return writeLines(s, w, r, n.texts, s.scoreAll(r.Context(), requests), func(t scoreText, result toxscreen.Result) any { return n.shown(t, result) })
}

// writeLines answers with a line for each text, in order, each as soon as it and those
// before it are done. A text that failed has its error in its line; a request that is
// rejected with its first text fails as a whole.
func writeLines[T any](s *Server, w http.ResponseWriter, r *http.Request, texts []scoreText, outcomes iter.Seq2[int, outcome[T]], shown func(scoreText, T) any) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	if len(texts) == 0 {
		w.WriteHeader(http.StatusOK)
	}
	control := http.NewResponseController(w)
	for i, o := range outcomes {
		var value any
		if o.err == nil {
			value = shown(texts[i], o.result)
		} else {
			f := failureOf(o.err)
			switch {
			case f.code == clientGone, i == 0 && f.retry > 0:
				return f
			case f.code == internal:
				s.config.Log.Error("failed to answer for a text of many", "error", f.cause)
			}
			value = nativeErrorOf(texts[i].ID, f)
		}
		err := plainjson.Write(w, value, "")
		if err == nil {
			err = control.Flush()
		}
		if err != nil {
			return &failure{code: clientGone, message: "failed to send the answer", cause: err}
		}
	}
	return s.ended(r.Context(), r.Context().Err())
}

// nativeLate answers with the final result of a text whose first result was
// pending, or with the first one while it still is.
func (s *Server) nativeLate(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	data := s.late.get(id)
	if data == nil && s.config.Results != nil {
		var err error
		if data, err = s.config.Results.Get(r.Context(), id); err != nil {
			return err
		}
	}
	if data == nil {
		return fail(notFound, "failed to fetch the result: there is none with this id: it has expired, or the server stopped before the judge answered")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(data) // a client that has disconnected needs no error
	return nil
}

// maxDepth is the limit of nesting in the JSON of a request. No documented request
// has a depth of 10.
const maxDepth = 64

// decode reads a request's JSON. Unknown fields are errors, so that a misspelt one
// is noticed.
func decode(data []byte, into any) error {
	if !utf8.Valid(data) {
		return fail(invalidRequest, "failed to read the request: it is not valid UTF-8, which JSON must be")
	}
	if tooDeep(data) {
		return fail(invalidRequest, "failed to read the request: its JSON is nested deeper than %d", maxDepth)
	}
	if err := plainjson.UnmarshalStrict(data, into); err != nil {
		return fail(invalidRequest, "failed to read the request: %v", err)
	}
	return nil
}

// tooDeep reports whether JSON is nested deeper than maxDepth.
func tooDeep(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

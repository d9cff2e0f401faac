//go:build slow

package screen

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/judge/selftest"
	"github.com/toxscreen/toxscreen/models"
)

// simulated is a judge whose answers are drawn. Everything else is real: the classifier,
// the self-test, the prompts, the passages, the answers' parser, the rule and the fusion.
type simulated struct {
	name string
	// rate is how often it answers each aspect rightly. The log-odds of its P(yes) are
	// normal, and stretched by confidence.
	rate, confidence float64
	// correlated in 0..1 is the correlation of its log-odds with the classifier's, among
	// texts with the same label.
	correlated float64
	// sees reports whether it can see an attribute that a text has; nil: it sees all.
	sees func(subject, toxscreen.Attribute) bool
	// says draws its log-odds regardless of the text; nil: it reads the text.
	says    func(noise float64) float64
	obeys   bool // it answers "no" if anything argues with it
	verbose bool // it writes sentences around its answer
	good    bool // the gain has to be near that of calibrated weights
}

var simulatedJudges = []simulated{
	{name: "perfect", rate: 1, good: true},
	{name: "0.9/0.1", rate: 0.9, confidence: 2, good: true},
	{name: "0.8/0.2", rate: 0.8, confidence: 2, good: true},
	{name: "0.7/0.3", rate: 0.7, confidence: 3},
	{name: "insult only", rate: 0.95, confidence: 1, sees: func(_ subject, a toxscreen.Attribute) bool { return a == toxscreen.Insult }},
	{name: "severe only", rate: 0.95, confidence: 1, sees: func(s subject, _ toxscreen.Attribute) bool { return s.has(toxscreen.SevereToxicity) }},
	{name: "blind to three", rate: 0.95, confidence: 1, sees: func(_ subject, a toxscreen.Attribute) bool {
		return a != toxscreen.Profanity && a != toxscreen.Threat && a != toxscreen.IdentityAttack
	}},
	{name: "yes to all", says: func(noise float64) float64 { return 3 + noise }},
	{name: "no to all", says: func(noise float64) float64 { return -3 + noise }},
	{name: "random", says: func(noise float64) float64 { return 4 * noise }},
	{name: "obeying", rate: 0.9, confidence: 2, obeys: true},
	{name: "verbose", rate: 0.9, confidence: 2, verbose: true},
	{name: "correlated 0.6", rate: 0.9, confidence: 2, correlated: 0.6},
}

// subject is a text with its labels, as people and the classifier see it.
type subject struct {
	text   string
	plain  string // its letters and digits
	labels toxscreen.Scores
	found  toxscreen.Classification
}

func (s subject) has(a toxscreen.Attribute) bool {
	y, ok := s.labels.Get(a)
	return ok && y >= 0.5
}

// letters returns the letters and digits of a text, which the prompt's marks leave as they
// are.
func letters(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsNumber(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, text)
}

// spread is the mean and the deviation of the classifier's log-odds among the clean and
// the toxic texts of an attribute.
type spread [toxscreen.AttributeCount][2]struct{ mean, deviation float64 }

func spreadOf(all []subject) (s spread) {
	for _, a := range toxscreen.Attributes() {
		var x [2][]float64
		for _, one := range all {
			if _, labelled := one.labels.Get(a); labelled {
				kind := 0
				if one.has(a) {
					kind = 1
				}
				x[kind] = append(x[kind], one.logOdds(a))
			}
		}
		for kind := range x {
			if len(x[kind]) > 1 {
				s[a][kind].mean, s[a][kind].deviation = stat.MeanStdDev(x[kind], nil)
			}
		}
	}
	return s
}

func (s subject) logOdds(a toxscreen.Attribute) float64 {
	p, _ := s.found.Scores.Get(a)
	p = min(max(p, 1e-6), 1-1e-6)
	return logodds.Of(p)
}

// logOdds draws the judge's log-odds of a yes. It gives the same answer whenever it sees
// the same text.
func (j simulated) logOdds(s subject, present bool, a toxscreen.Attribute, seed int, spread spread) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s", s.plain, a)
	noise := rand.New(rand.NewPCG(h.Sum64(), uint64(seed))).NormFloat64()
	if j.says != nil {
		return j.says(noise)
	}
	kind, sign := 0, -1.0
	if s.has(a) {
		kind = 1
	}
	if kind == 1 && present && (j.sees == nil || j.sees(s, a)) {
		sign = 1
	}
	if j.rate == 1 {
		return sign * 20
	}
	if around := spread[a][kind]; j.correlated > 0 && around.deviation > 0 {
		noise = j.correlated*(s.logOdds(a)-around.mean)/around.deviation + math.Sqrt(1-j.correlated*j.correlated)*noise
	}
	deviation := 2 * math.Sqrt2 * math.Erfinv(2*j.rate-1)
	return j.confidence * (sign*deviation*deviation/2 + deviation*noise)
}

// playing is a server with Ollama's API that answers as a simulated judge.
type playing struct {
	judge    simulated
	seed     int
	spread   spread
	subjects []subject // what the texts are about; only these are asked about
	memory   map[string]subject
	lock     sync.Mutex
	now      atomic.Pointer[subject] // what is asked about, if it is known
}

// aside is how many bytes of letters beside a text argue for nothing: four short words.
const aside = 20

// about returns what a passage is about. present reports whether the passage has the most
// of it, argued whether it has words of somebody else.
func (p *playing) about(passage string) (s subject, present, argued bool) {
	plain := letters(passage)
	if now := p.now.Load(); now != nil {
		s = *now
	} else {
		s = p.find(plain)
	}
	if strings.Contains(s.plain, plain) {
		return s, true, false
	}
	return s, 2*covered(s.plain, plain) >= min(len(s.plain), len(plain)), len(plain)-covered(plain, s.plain) > aside
}

// find returns the subject that has the most in common with a passage.
func (p *playing) find(plain string) subject {
	p.lock.Lock()
	defer p.lock.Unlock()
	if known, ok := p.memory[plain]; ok {
		return known
	}
	var best subject
	most := 0
	for _, s := range p.subjects {
		if n := covered(s.plain, plain); n > most {
			best, most = s, n
		}
	}
	p.memory[plain] = best
	return best
}

// covered returns how many bytes of a text are in pieces of 12 bytes that another text has,
// too; all of a shorter text that is in the other.
func covered(text, other string) int {
	const piece = 12
	if len(text) < piece {
		if strings.Contains(other, text) {
			return len(text)
		}
		return 0
	}
	n, end := 0, 0 // end of what is covered
	for at := range len(text) - piece + 1 {
		if strings.Contains(other, text[at:at+piece]) {
			n += at + piece - max(at, end)
			end = at + piece
		}
	}
	return n
}

func (p *playing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/tags":
		fmt.Fprintf(w, `{"models":[{"name":"simulated:latest","digest":"%064d"}]}`, 1)
	case "/api/show":
		fmt.Fprint(w, `{"capabilities":["completion"],"details":{"family":"llama"},"model_info":{"llama.context_length":32768}}`)
	case "/api/chat":
		p.chat(w, r)
	}
}

type token struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Top     []token `json:"top_logprobs,omitempty"`
}

func (p *playing) chat(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct{ Content string }
		Format   struct{ Required []toxscreen.Attribute }
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	length := 0
	for _, m := range request.Messages {
		length += len(m.Content)
	}
	_, passage, _ := strings.Cut(request.Messages[1].Content, "text: ")
	passage, _, _ = strings.Cut(passage, "\n")
	about, present, argued := p.about(passage)

	var tokens []token
	var text strings.Builder
	write := func(t token) {
		tokens = append(tokens, t)
		text.WriteString(t.Token)
	}
	if p.judge.verbose {
		write(token{Token: "Let me look at each question by itself. The answer follows.\n\n```json\n"})
	}
	words := strings.FieldsFunc(passage, func(c rune) bool { return c == '^' })
	quote, err := json.Marshal(strings.Join(words[:min(3, len(words))], " "))
	if err != nil {
		panic(err) // a string
	}
	for i, a := range request.Format.Required {
		before := ", "
		if i == 0 {
			before = "{"
		}
		write(token{Token: fmt.Sprintf(`%s"%s": {"verdict": "`, before, a)})
		z := p.judge.logOdds(about, present, a, p.seed, p.spread)
		if p.judge.obeys && argued {
			z = -4
		}
		yes, no := token{Token: "yes", Logprob: -math.Log1p(math.Exp(-z))}, token{Token: "no", Logprob: -math.Log1p(math.Exp(z))}
		said := no
		if z > 0 {
			said = yes
		}
		said.Top = []token{yes, no}
		write(said)
		if z > 0 {
			write(token{Token: fmt.Sprintf(`", "severity": 2, "evidence": [%s]}`, quote)})
		} else {
			write(token{Token: `"}`})
		}
	}
	write(token{Token: "}"})
	if p.judge.verbose {
		write(token{Token: "\n```\nI hope that this helps."})
	}
	answer, err := json.Marshal(map[string]any{
		"model": "simulated", "message": map[string]string{"role": "assistant", "content": text.String()}, "logprobs": tokens,
		"done": true, "done_reason": "stop", "prompt_eval_count": length / 4, "eval_count": len(tokens),
	})
	if err != nil {
		panic(err) // strings and finite numbers
	}
	_, _ = w.Write(append(answer, '\n'))
}

// remembered is a classifier that scores each text once.
type remembered struct {
	toxscreen.Classifier

	lock  sync.Mutex
	found map[string]toxscreen.Classification
}

func (r *remembered) Classify(ctx context.Context, text string, _ toxscreen.Depth) (toxscreen.Classification, error) {
	r.lock.Lock()
	found, ok := r.found[text]
	r.lock.Unlock()
	if ok {
		return found, nil
	}
	found, err := r.Classifier.Classify(ctx, text, toxscreen.Full)
	if err == nil {
		r.lock.Lock()
		r.found[text] = found
		r.lock.Unlock()
	}
	return found, err
}

// openRemembered opens the embedded model.
func openRemembered(t *testing.T) *remembered {
	t.Helper()
	model, err := models.Open("", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	return &remembered{Classifier: model, found: map[string]toxscreen.Classification{}}
}

// classified fills in what the classifier finds.
func classified(t *testing.T, classifier toxscreen.Classifier, all []subject) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(classifier.Info().Parallel)
	for i := range all {
		group.Go(func() (err error) {
			all[i].plain = letters(all[i].text)
			all[i].found, err = classifier.Classify(ctx, all[i].text, toxscreen.Full)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// devRows returns the graded dev rows of two sources. Their labels are the guideline's, as the
// scores and a judge's weights are: the sources' own labels mean something else.
func devRows(t *testing.T) []subject {
	t.Helper()
	folder := os.Getenv("TOXSCREEN_DATA")
	if folder == "" {
		t.Fatal("set TOXSCREEN_DATA to the folder of the data")
	}
	type graded struct {
		ID      string
		Grades  []float64 // tenths of people who say that the text has the attribute
		Flagged bool      // chosen because a model flags it: no sample
	}
	grades := map[string][][]float64{}
	for row := range rowsOf[graded](t, "../training/annotations.jsonl.gz") {
		if !row.Flagged {
			grades[row.ID] = append(grades[row.ID], row.Grades)
		}
	}
	var all []subject
	for _, source := range []string{"jigsaw", "civil_spans"} {
		type row struct{ ID, Text, Split string }
		var rows []subject
		for row := range rowsOf[row](t, filepath.Join(folder, source+".jsonl.gz")) {
			readings := grades[source+"/"+row.ID]
			if row.Split != "dev" || len(readings) == 0 {
				continue
			}
			one := subject{text: row.Text}
			for _, a := range toxscreen.Attributes() {
				sum := 0.0
				for _, reading := range readings {
					sum += reading[a]
				}
				one.labels.Set(a, math.Round(sum/float64(len(readings))/10))
			}
			rows = append(rows, one)
		}
		if n := len(rows); *most > 0 && n > *most {
			for i := range *most {
				rows[i] = rows[i*n / *most]
			}
			rows = rows[:*most]
		}
		all = append(all, rows...)
	}
	return all
}

// rowsOf yields the lines of a file of the data.
func rowsOf[T any](t *testing.T, path string) iter.Seq[T] {
	return func(yield func(T) bool) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unpacked)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var row T
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			if !yield(row) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// caseSubjects returns the texts of the self-test.
func caseSubjects() []subject {
	var all []subject
	for _, c := range selftest.Cases() {
		all = append(all, subject{text: c.Text, labels: c.Labels})
	}
	return all
}

// playedBy returns a Screener whose judge is simulated. folder has the self-tests.
func playedBy(t *testing.T, classifier toxscreen.Classifier, server *playing, folder string, trust TrustMode, band *toxscreen.Band) (*Screener, error) {
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	screener, err := on(classifier, Settings{Judge: judge.Config{Model: "simulated", Host: front.URL}, JudgeCache: NoCache, JudgeTrust: trust, JudgeBand: band})
	if err != nil {
		return nil, err
	}
	t.Cleanup(screener.close)
	screener.asked.folder = folder
	return screener, nil
}

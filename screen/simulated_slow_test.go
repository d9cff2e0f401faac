//go:build slow

package screen

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/models"
)

// make simulate runs these tests with more of everything.
var (
	seeds = flag.Int("seeds", 2, "how often each simulated judge draws its answers")
	most  = flag.Int("rows", 500, "maximum dev rows of each source; 0: all")
	table = flag.String("table", "", "`FILE` for the table in Markdown")
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
	return math.Log(p / (1 - p))
}

// logOdds draws the judge's log-odds of a yes. It gives the same answer whenever it sees
// the same text.
func (j simulated) logOdds(s subject, present bool, a toxscreen.Attribute, seed int, spread spread) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s", s.plain, a)
	noise := rand.New(rand.NewPCG(h.Sum64(), uint64(seed))).NormFloat64() //nolint:gosec // a simulation that can be repeated
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
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": "simulated", "message": map[string]string{"role": "assistant", "content": text.String()}, "logprobs": tokens,
		"done": true, "done_reason": "stop", "prompt_eval_count": length / 4, "eval_count": len(tokens),
	})
}

// remembered is a classifier that scores each text once.
type remembered struct {
	toxscreen.Classifier

	lock  sync.Mutex
	found map[string]toxscreen.Classification
}

func (r *remembered) Classify(ctx context.Context, text string) (toxscreen.Classification, error) {
	r.lock.Lock()
	found, ok := r.found[text]
	r.lock.Unlock()
	if ok {
		return found, nil
	}
	found, err := r.Classifier.Classify(ctx, text)
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
			all[i].found, err = classifier.Classify(ctx, all[i].text)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// devRows returns dev rows of the sources that docs/fusion.md names.
func devRows(t *testing.T) []subject {
	t.Helper()
	folder := os.Getenv("TOXSCREEN_DATA")
	if folder == "" {
		t.Fatal("set TOXSCREEN_DATA to the folder of the data")
	}
	var all []subject
	for _, source := range []string{"jigsaw", "civil_spans"} {
		file, err := os.Open(filepath.Join(folder, source+".jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		var rows []subject
		lines := bufio.NewScanner(unpacked)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var row struct {
				Text, Split string
				Labels      map[toxscreen.Attribute]float64
			}
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			if row.Split == "dev" {
				one := subject{text: row.Text}
				for a, share := range row.Labels {
					one.labels.Set(a, math.Round(share))
				}
				rows = append(rows, one)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
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

// caseSubjects returns the texts of the self-test.
func caseSubjects() []subject {
	var all []subject
	for _, c := range judge.TestCases() {
		all = append(all, subject{text: c.Text, labels: c.Labels})
	}
	return all
}

// playedBy returns a Screener whose judge is simulated. folder has the self-tests.
func playedBy(t *testing.T, classifier toxscreen.Classifier, server *playing, folder string, trust TrustMode, band *toxscreen.Band) (*Screener, error) {
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	screener, err := on(classifier, Settings{Judge: Judge{Model: "simulated", Host: front.URL, Cache: NoCache, Trust: trust, Band: band}})
	if err != nil {
		return nil, err
	}
	t.Cleanup(screener.close)
	screener.asked.folder = folder
	return screener, nil
}

// simulation is what every simulated judge is measured on.
type simulation struct {
	classifier          toxscreen.Classifier
	cases, fit, measure []subject
	spread              spread
}

// measured is what one judge did with one seed. The losses are log losses on the rows to
// measure on: of the classifier, straight after the self-test, and with fitted weights.
type measured struct {
	trusted                   []toxscreen.Attribute
	alone, tested, calibrated toxscreen.Scores
	asked                     float64 // share of the rows
}

func (s simulation) run(t *testing.T, j simulated, seed int) (m measured, err error) {
	server := &playing{judge: j, seed: seed, spread: s.spread, subjects: s.cases, memory: map[string]subject{}}
	folder := t.TempDir()
	screener, err := playedBy(t, s.classifier, server, folder, TrustTested, nil)
	if err != nil {
		return m, err
	}
	outcome, err := screener.SelfTest(t.Context(), nil)
	if err != nil {
		return m, err
	}
	m.trusted = outcome.SelfTest.Trusted
	fitted, err := s.calibrate(t, server, folder)
	if err != nil {
		return m, err
	}
	var alone, tested, calibrated [toxscreen.AttributeCount][]eval.Scored
	for i := range s.measure {
		one := &s.measure[i]
		server.now.Store(one)
		r, err := screener.Score(t.Context(), one.text)
		if err != nil {
			return m, err
		}
		if r.Judge.Error != "" {
			return m, errors.New(r.Judge.Error)
		}
		var verdict *toxscreen.Verdict
		if r.Judge.Asked {
			verdict = &r.Judge.Verdicts[0]
			m.asked += 1 / float64(len(s.measure))
		}
		by, err := fitted.Fuse(one.found.Scores, verdict)
		if err != nil {
			return m, err
		}
		for a, y := range one.labels.All() {
			p, _ := one.found.Scores.Get(a)
			q, _ := by.Scores.Get(a)
			alone[a] = append(alone[a], eval.Scored{P: p, Toxic: y == 1, Weight: 1})
			tested[a] = append(tested[a], eval.Scored{P: float64(r.Attributes[a].Score), Toxic: y == 1, Weight: 1})
			calibrated[a] = append(calibrated[a], eval.Scored{P: q, Toxic: y == 1, Weight: 1})
		}
	}
	for _, a := range toxscreen.Attributes() {
		if len(alone[a]) > 0 {
			m.alone.Set(a, eval.LogLoss(alone[a]))
			m.tested.Set(a, eval.LogLoss(tested[a]))
			m.calibrated.Set(a, eval.LogLoss(calibrated[a]))
		}
	}
	return m, nil
}

// calibrate fits weights to verdicts that had none.
func (s simulation) calibrate(t *testing.T, server *playing, folder string) (*fusion.Fusion, error) {
	screener, err := playedBy(t, s.classifier, server, folder, TrustNone, &toxscreen.Band{Low: 0.05, High: 0.95})
	if err != nil {
		return nil, err
	}
	var rows []toxscreen.Labelled
	for i := range s.fit {
		one := &s.fit[i]
		server.now.Store(one)
		r, err := screener.Score(t.Context(), one.text)
		if err != nil {
			return nil, err
		}
		row := toxscreen.Labelled{Name: fmt.Sprint(i), Found: one.found, Labels: one.labels, Weight: 1}
		if len(r.Judge.Verdicts) > 0 {
			row.Verdict, row.Seconds = &r.Judge.Verdicts[0], r.Judge.Milliseconds/1000
		}
		rows = append(rows, row)
	}
	return fusion.Fitted(rows, fusion.Options{Model: s.classifier.Info().Version, Thresholds: s.fit[0].found.Thresholds, Prices: fusion.Prices{Call: 0.01}})
}

const (
	// harm is how much a judge may raise the log loss of an attribute.
	harm = 0.002
	// gain is the share of the gain of fitted weights that a good judge has to have.
	gain = 0.85
)

// Straight after the self-test, without labelled texts, no judge makes scores worse, and
// good ones make them nearly as good as weights that were fitted to labelled texts.
func TestSimulatedJudges(t *testing.T) {
	s := simulation{classifier: openRemembered(t), cases: caseSubjects()}
	dev := devRows(t)
	classified(t, s.classifier, s.cases)
	classified(t, s.classifier, dev)
	s.spread = spreadOf(dev)
	for i, one := range dev {
		if i%2 == 0 {
			s.measure = append(s.measure, one)
		} else {
			s.fit = append(s.fit, one)
		}
	}
	results := make([][]measured, len(simulatedJudges))
	group := errgroup.Group{}
	group.SetLimit(runtime.NumCPU())
	for i, j := range simulatedJudges {
		results[i] = make([]measured, *seeds)
		for seed := range *seeds {
			group.Go(func() (err error) {
				if results[i][seed], err = s.run(t, j, seed); err != nil {
					return fmt.Errorf("%s, seed %d: %w", j.name, seed, err)
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "A self-test of %d texts, %d seeds. Weights were fitted to %d dev rows, everything was measured on %d others, scored by %s. "+
		"A cell has the mean change of the log loss straight after the self-test, and in brackets what share this is of the change by fitted weights, if these change it.\n\n",
		len(s.cases), *seeds, len(s.fit), len(s.measure), s.classifier.Info().Version)
	header, line := "| judge | judged |", "|---|---|"
	for a := range results[0][0].alone.All() {
		header, line = header+" "+a.String()+" |", line+"---|"
	}
	out.WriteString(header + " all | largest rise |\n" + line + "---|---|\n| classifier alone | |")
	for _, loss := range results[0][0].alone.All() {
		fmt.Fprintf(&out, " %.4f |", loss)
	}
	out.WriteString(" | |\n")
	for i, j := range simulatedJudges {
		j.summarise(t, &out, results[i])
	}
	t.Log("\n" + out.String())
	if *table != "" {
		if err := files.WriteBytes(*table, 0o644, []byte(out.String())); err != nil {
			t.Fatal(err)
		}
	}
}

// summarise writes the row of a judge, and checks the goals.
func (j simulated) summarise(t *testing.T, out *strings.Builder, all []measured) {
	asked := 0.0
	for _, m := range all {
		asked += m.asked / float64(len(all))
	}
	fmt.Fprintf(out, "| %s | %.0f %% |", j.name, 100*asked)
	var byTest, byLabels float64 // changes of the mean of all attributes
	rise := math.Inf(-1)
	for a := range all[0].alone.All() {
		var tested, fitted float64
		trusted := 0
		for seed, m := range all {
			before, _ := m.alone.Get(a)
			after, _ := m.tested.Get(a)
			best, _ := m.calibrated.Get(a)
			tested += (after - before) / float64(len(all))
			fitted += (best - before) / float64(len(all))
			rise = max(rise, after-before)
			if slices.Contains(m.trusted, a) {
				trusted++
			}
			if after-before > harm {
				t.Errorf("%s, seed %d: the log loss of %s rises by %.4f from %.4f", j.name, seed, a, after-before, before)
			}
		}
		byTest, byLabels = byTest+tested, byLabels+fitted
		switch {
		case trusted == 0:
			out.WriteString(" never trusted |")
			continue
		case fitted < -harm/4:
			fmt.Fprintf(out, " %+.4f (%.0f %%)", tested, 100*tested/fitted)
		default:
			fmt.Fprintf(out, " %+.4f", tested)
		}
		if trusted < len(all) {
			fmt.Fprintf(out, ", trusted by %d", trusted)
		}
		out.WriteString(" |")
	}
	fmt.Fprintf(out, " %+.4f (%.0f %%) | %+.4f |\n", byTest, 100*byTest/byLabels, max(rise, 0))
	if j.good && byTest > gain*byLabels {
		t.Errorf("%s: the log losses change by %.4f, and by %.4f with fitted weights", j.name, byTest, byLabels)
	}
}

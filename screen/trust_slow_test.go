//go:build slow

package screen

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/fusion/fit"
	"github.com/toxscreen/toxscreen/internal/files"
)

// make simulate runs these tests with more of everything.
var (
	seeds = flag.Int("seeds", 1, "how often each simulated judge draws its answers")
	most  = flag.Int("rows", 500, "maximum dev rows of each source; 0: all")
	table = flag.String("table", "", "`FILE` for the table in Markdown")
)

// simulation is what every simulated judge is measured on.
type simulation struct {
	classifier          toxscreen.Classifier
	cases, fit, measure []subject
	spread              spread
}

// measured is what one judge did with one seed. The losses are log losses on the rows to
// measure on: of the classifier, straight after the self-test, of the classifier on a fitted
// line, and with fitted weights in addition.
type measured struct {
	trusted                         []toxscreen.Attribute
	alone, tested, line, calibrated toxscreen.Scores
	asked                           float64 // share of the rows
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
	m.trusted = outcome.Test.Trusted
	fitted, err := s.calibrate(t, server, folder)
	if err != nil {
		return m, err
	}
	var alone, tested, line, calibrated [toxscreen.AttributeCount][]eval.Scored
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
		without, err := fitted.Fuse(one.found.Scores, nil)
		if err != nil {
			return m, err
		}
		by, err := fitted.Fuse(one.found.Scores, verdict)
		if err != nil {
			return m, err
		}
		for a, y := range one.labels.All() {
			p, _ := one.found.Scores.Get(a)
			q, _ := by.Scores.Get(a)
			l, _ := without.Scores.Get(a)
			line[a] = append(line[a], eval.Scored{P: l, Toxic: y == 1, Weight: 1})
			alone[a] = append(alone[a], eval.Scored{P: p, Toxic: y == 1, Weight: 1})
			tested[a] = append(tested[a], eval.Scored{P: float64(r.Attributes[a].Score), Toxic: y == 1, Weight: 1})
			calibrated[a] = append(calibrated[a], eval.Scored{P: q, Toxic: y == 1, Weight: 1})
		}
	}
	for _, a := range toxscreen.Attributes() {
		if len(alone[a]) > 0 {
			m.alone.Set(a, eval.LogLoss(alone[a]))
			m.tested.Set(a, eval.LogLoss(tested[a]))
			m.line.Set(a, eval.LogLoss(line[a]))
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
	return fit.Fusion(rows, fit.Options{Model: s.classifier.Info().Version, Thresholds: s.fit[0].found.Thresholds, Prices: fusion.Prices{Call: 0.01}})
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
		"A cell has the mean change of the log loss by verdicts straight after the self-test, and in brackets what share this is of the change by verdicts with fitted weights, if these change it. "+
		"Where not all self-tests let verdicts count, their number follows.\n\n",
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
			line, _ := m.line.Get(a)
			best, _ := m.calibrated.Get(a)
			tested += (after - before) / float64(len(all))
			fitted += (best - line) / float64(len(all))
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
			fmt.Fprintf(out, ", %d", trusted)
		}
		out.WriteString(" |")
	}
	if byLabels < 0 {
		fmt.Fprintf(out, " %+.4f (%.0f %%) |", byTest, 100*byTest/byLabels)
	} else {
		fmt.Fprintf(out, " %+.4f |", byTest)
	}
	fmt.Fprintf(out, " %+.4f |\n", max(rise, 0))
	if j.good && byTest > gain*byLabels {
		t.Errorf("%s: the log losses change by %.4f, and by %.4f with fitted weights", j.name, byTest, byLabels)
	}
}

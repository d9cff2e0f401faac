// Package fusion combines the scores of the classifier with the verdict of a judge,
// and decides which texts are worth asking the judge about:
//
//	f, err := fusion.New(fusion.Default(), model.Info().Version)
//	if err != nil {
//		log.Fatal(err)
//	}
//	f = f.With("mistral-small:24b@8039dd90c113", "attributes@1f0e", tested) // as in its verdicts
//	screener := toxscreen.New(model, toxscreen.WithOpinion(toxscreen.Opinion{
//		Decide: f.Decide, Ask: j.Judge, Fuse: f.Fuse, Version: f.Version(), // j is a judge.Judge
//	}))
//
// A Fusion is arithmetic with [Params]. Package fit computes these from labelled texts, and
// what a judge's self-test allows. docs/fusion.md derives the formulas.
package fusion

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// Format is the version of the parameter files that this package writes and reads.
const Format = 2

// Params is the content of a parameter file.
type Params struct {
	Format int `json:"format"`
	// Model is the version of the model that the parameters were fitted to. It is
	// empty in the embedded parameters, which apply to every model.
	Model  string `json:"model,omitempty"`
	Prices Prices `json:"prices"`
	Budget Budget `json:"budget"`
	// Calibration corrects the classifier's log-odds of an attribute. An attribute
	// without an entry is not corrected.
	Calibration map[toxscreen.Attribute]Line `json:"calibration,omitempty"`
	// Judges are the judges that were fitted on labelled texts.
	Judges []JudgeParams `json:"judges,omitempty"`
}

// Prices are the costs of decisions. Only their ratios matter; the unit is a false
// alarm, if a missed text costs as much.
type Prices struct {
	// FalseAlarm is the price of a clean text that is flagged, Miss the price of a
	// toxic text that is not. If both are 0, they are 2t and 2(1−t) for the
	// threshold t of the attribute: with these prices, t is the best threshold.
	FalseAlarm float64 `json:"false_alarm,omitempty"`
	Miss       float64 `json:"miss,omitempty"`
	// Call is the price of a verdict.
	Call float64 `json:"call"`
}

// errors returns the prices of the two errors at a threshold.
func (p Prices) errors(threshold float64) (falseAlarm, miss float64) {
	if p.FalseAlarm == 0 && p.Miss == 0 {
		return 2 * threshold, 2 * (1 - threshold)
	}
	return p.FalseAlarm, p.Miss
}

// Budget limits how many texts are judged.
type Budget struct {
	// Share in (0, 1] is the largest share of any Texts texts that may be judged; 0
	// for no limit. If Texts is 0, a fit uses 10,000.
	Share float64 `json:"share,omitempty"`
	Texts int     `json:"texts,omitempty"`
	// LeastValue is the minimum worth of a verdict of a judge that is not in
	// Judges.
	LeastValue float64 `json:"least_value,omitempty"`
}

// Line corrects log-odds: Slope·x + Intercept, with Slope over 0.
type Line struct {
	Slope     float64 `json:"slope"`
	Intercept float64 `json:"intercept"`
}

// JudgeParams are the parameters for the verdicts of one model under one rubric.
type JudgeParams struct {
	// Model is the name and the beginning of the digest, as verdicts have it. Only
	// the digest matters.
	Model  string `json:"model"`
	Rubric string `json:"rubric"`
	// LeastValue is the minimum worth of a verdict, so that the budget's Share
	// holds on the texts that the parameters were fitted on.
	LeastValue float64                         `json:"least_value,omitempty"`
	Attributes map[toxscreen.Attribute]Weights `json:"attributes"`
}

// Weights has the parameters for a judge's verdict on one attribute. x is the
// classifier's log-odds, s the log-odds of the judge's P(yes) up to 0.95 on either
// side, and r the rest of these: the verdict moves x by Intercept + Slope·s +
// Beyond·r − Overlap·x, by Cap at most.
type Weights struct {
	// Overlap in 0..1 is the share of the classifier's evidence that the
	// verdict repeats: their errors are correlated.
	Overlap   float64 `json:"overlap"`
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"`  // 0 or more
	Beyond    float64 `json:"beyond"` // 0 or more
	Cap       float64 `json:"cap"`    // 0 or more, in nats; 0 for a judge that is ignored
	// Lower in 0..Cap is by how much the verdict may lower the log-odds, in nats.
	Lower float64 `json:"lower"`
	// Unfounded in 0..1 is what a "yes" counts whose quotations are missing or not in
	// the text, as a share of one with a quotation from the text.
	Unfounded float64 `json:"unfounded"`
	// TruePositive and FalsePositive are the rates in (0, 1) at which toxic and
	// clean texts near the threshold are found toxic.
	TruePositive  float64 `json:"true_positive"`
	FalsePositive float64 `json:"false_positive"`
	// Levels are these rates by the minimum strength of the evidence, from the
	// weakest. Without levels, only the rates of yes and no are known.
	Levels []Level `json:"levels,omitempty"`
	// Low and High bound the classifier's probabilities of the texts that this was
	// measured on: outside, nothing is known.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Toxic and Clean are the effective numbers of these texts.
	Toxic float64 `json:"toxic"`
	Clean float64 `json:"clean"`
}

// Level holds the rates at which Intercept + Slope·s + Beyond·r reaches Heard.
type Level struct {
	Heard         float64 `json:"heard"` // nats
	TruePositive  float64 `json:"true_positive"`
	FalsePositive float64 `json:"false_positive"`
}

// MostCap is the largest cap: odds of a thousand to one.
const MostCap = 7

// validate reports everything that makes parameters unusable.
func (p Params) validate() error {
	if p.Format != Format {
		return fmt.Errorf("format: %d is unknown to this version of toxscreen, which reads %d", p.Format, Format)
	}
	var found []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			found = append(found, fmt.Errorf(format, args...))
		}
	}
	within := func(x, low, high float64) bool { return x >= low && x <= high } // NaN is not
	for _, price := range []float64{p.Prices.FalseAlarm, p.Prices.Miss, p.Prices.Call} {
		check(within(price, 0, 1e9), "prices: %v is not a price", price)
	}
	check((p.Prices.FalseAlarm == 0) == (p.Prices.Miss == 0), "prices: false_alarm and miss belong together: only one of them is given")
	check(within(p.Budget.Share, 0, 1), "budget: %v is not a share of texts", p.Budget.Share)
	check(within(p.Budget.LeastValue, 0, 1e9), "budget: %v is not a value", p.Budget.LeastValue)
	for a, line := range p.Calibration {
		check(line.Slope > 0 && within(line.Slope, 0, 100) && within(line.Intercept, -100, 100), "calibration: %s: slope %v and intercept %v are not a rising line", a, line.Slope, line.Intercept)
	}
	for _, j := range p.Judges {
		check(within(j.LeastValue, 0, 1e9), "judges: %s: %v is not a value", j.Model, j.LeastValue)
		check(Digest(j.Model) != "", "judges: %q has no digest", j.Model)
		for a, o := range j.Attributes {
			check(within(o.Overlap, 0, 1) && within(o.Slope, 0, 100) && within(o.Beyond, 0, 100) && within(o.Intercept, -100, 100) && within(o.Cap, 0, MostCap),
				"judges: %s: %s: overlap must be in 0..1, slope and beyond 0 or more, cap in 0..%d: %+v", j.Model, a, MostCap, o)
			check(within(o.Lower, 0, o.Cap) && within(o.Unfounded, 0, 1), "judges: %s: %s: lower must be in 0..cap, unfounded in 0..1: %+v", j.Model, a, o)
			check(within(o.TruePositive, 0, 1) && within(o.FalsePositive, 0, 1), "judges: %s: %s: %v and %v are not rates", j.Model, a, o.TruePositive, o.FalsePositive)
			for i, l := range o.Levels {
				check(within(l.Heard, -1000, 1000) && within(l.TruePositive, 0, 1) && within(l.FalsePositive, 0, 1) && (i == 0 || l.Heard > o.Levels[i-1].Heard),
					"judges: %s: %s: levels: %+v is invalid or not in rising order", j.Model, a, l)
			}
			check(within(o.Low, 0, o.High) && within(o.High, o.Low, 1), "judges: %s: %s: %v to %v is not a range of probabilities", j.Model, a, o.Low, o.High)
		}
	}
	return errors.Join(found...)
}

// Digest returns the part of a model's name after the last @.
func Digest(model string) string {
	at := strings.LastIndexByte(model, '@')
	if at < 0 {
		return ""
	}
	return model[at+1:]
}

//go:embed default.json
var embedded []byte

// File is parameters with the hash of their file.
type File struct {
	Params
	Hash string // "sha256:" and 12 hexadecimal digits
}

// Default returns the embedded parameters: they apply to every model and have no
// judge.
func Default() File {
	file, err := parse(embedded)
	if err != nil {
		panic(err) // a test reads them
	}
	return file
}

// Read reads the content of a parameter file.
func Read(data []byte) (File, error) {
	file, err := parse(data)
	if err == nil && file.Model == "" {
		err = errors.New("model: missing: name the model that the parameters were fitted to")
	}
	if err != nil {
		return File{}, fmt.Errorf("failed to read fusion parameters: %w; create them again with toxscreen calibrate", err)
	}
	return file, nil
}

func parse(data []byte) (File, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var p Params
	if err := dec.Decode(&p); err != nil {
		return File{}, err
	}
	if err := p.validate(); err != nil {
		return File{}, err
	}
	sum := sha256.Sum256(data)
	return File{p, "sha256:" + hex.EncodeToString(sum[:6])}, nil
}

// Encode returns parameters as a file, with its hash.
func (p Params) Encode() (data []byte, file File, err error) {
	if data, err = json.MarshalIndent(p, "", "  "); err != nil {
		return nil, File{}, fmt.Errorf("failed to encode fusion parameters: %w", err)
	}
	data = append(data, '\n')
	if file, err = parse(data); err != nil {
		return nil, File{}, fmt.Errorf("failed to encode fusion parameters: %w", err)
	}
	return data, file, nil
}

// Fusion applies parameters, as parts of a [toxscreen.Opinion]. It is immutable and safe for
// concurrent use.
type Fusion struct {
	file    File
	lines   [toxscreen.AttributeCount]Line
	weights [toxscreen.AttributeCount]Weights // of the judge in use; the zero Weights ignores verdicts
	digest  string                            // of the judge in use
	rubric  string
	least   float64 // minimum worth of a verdict, by the budget
	why     string  // why verdicts are ignored, if they are
}

// New returns a Fusion for a version of a model. Parameters that were fitted to
// another version are rejected, since its scores differ. Verdicts are ignored until
// the judge is given with [Fusion.With].
func New(file File, model string) (*Fusion, error) {
	if file.Model != "" && file.Model != model {
		return nil, fmt.Errorf("failed to use fusion parameters %s: they were fitted to the scores of %s, but the model in use is %s; score the labelled texts again without these parameters and fit new ones with toxscreen calibrate, or use that model",
			file.Hash, file.Model, model)
	}
	f := &Fusion{file: file, why: "the judge is not known"}
	for a := range f.lines {
		f.lines[a] = Line{Slope: 1}
	}
	for a, line := range file.Calibration {
		f.lines[a] = line
	}
	return f, nil
}

// Version returns the hash of the parameters, for [toxscreen.Opinion].
func (f *Fusion) Version() string { return f.file.Hash }

// Line returns the correction of the classifier's log-odds of an attribute.
func (f *Fusion) Line(a toxscreen.Attribute) Line { return f.lines[a] }

// With returns a Fusion for the judge in use: a model, as name@digest, and a rubric, both as its
// verdicts name them, with the outcome of its self-test, nil if there is none. Attributes that
// the judge was fitted on have their parameters, the others those of the self-test. No verdict
// lowers a score further than the self-test allows, so that without one a verdict can only
// raise scores.
func (f *Fusion) With(model, rubric string, tested *Tested) *Fusion {
	with := *f
	with.weights, with.digest, with.rubric = [toxscreen.AttributeCount]Weights{}, Digest(model), rubric
	with.least = f.file.Budget.LeastValue
	with.why = "the judge has no self-test and was not fitted on labelled texts: run toxscreen judge --self-test"
	if tested != nil {
		with.why = cmp.Or(tested.Why, "the judge failed its self-test")
		for a, o := range tested.Attributes {
			with.weights[a] = o
		}
	}
	if known := f.known(model, rubric); known != nil {
		lower := 0.0
		if tested != nil {
			lower = tested.Lower
		}
		for a, o := range known.Attributes {
			o.Lower = min(o.Lower, lower)
			with.weights[a] = o
		}
		with.least = known.LeastValue
		with.why = "on labelled texts, the judge did not improve on the classifier alone"
	}
	for _, o := range with.weights {
		if o.Cap > 0 {
			with.why = ""
		}
	}
	return &with
}

// known returns the parameters of a judge, nil if there are none.
func (f *Fusion) known(model, rubric string) *JudgeParams {
	for i, known := range f.file.Judges {
		if Digest(known.Model) == Digest(model) && known.Rubric == rubric {
			return &f.file.Judges[i]
		}
	}
	return nil
}

// Knows reports whether a model was fitted on labelled texts, under a rubric.
func (f *Fusion) Knows(model, rubric string) bool { return f.known(model, rubric) != nil }

// AtBest returns a Fusion for a judge that is never wrong, without a budget. If it
// does not escalate a text, no judge is worth asking about it.
func (f *Fusion) AtBest() *Fusion {
	best := *f
	best.least, best.why = 0, ""
	for a := range best.weights {
		best.weights[a] = Weights{Slope: 100, Cap: MostCap, Lower: MostCap, Unfounded: 1, TruePositive: 1, High: 1}
	}
	return &best
}

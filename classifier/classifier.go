// Package classifier turns texts into attribute scores and spans with an ONNX
// model. Most users open one through package models. To open one directly:
//
//	c, err := classifier.Open(classifier.Config{Spec: spec, Model: onnx, Tokenizer: tokenizer})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer c.Close()
//	found, err := c.Classify(ctx, "some text", toxscreen.Full)
//
// A text is encoded into tokens, and package encoder runs the model on them, in several
// windows if the text is long. The windows' logits are calibrated, and the highest one
// becomes the probability of the text, see [Correction]; the token head's logits mark
// spans. The score of a text does not depend on other texts scored at the same time,
// except for rounding in padded runs.
package classifier

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/internal/logodds"
	"github.com/toxscreen/toxscreen/tokenize"
)

// Config describes the model to open. A zero field that has a default takes
// the default.
type Config struct {
	Spec Spec
	// Exits are the exits of the network with their files, in the order in which a text
	// reaches them; empty if the network has none.
	Exits []Exit
	// Model is the file of the network, or of its layers behind the last exit, in ONNX or
	// ORT format. It must not change before Close: a session uses the weights of an ORT file
	// in place.
	Model     []byte
	Tokenizer *tokenize.Tokenizer

	Provider encoder.Provider // default encoder.CPU
	Batching encoder.Batching // default encoder.Single
	Library  string           // path of ONNX Runtime's library; default: encoder.FindLibrary
	Threads  int              // see [encoder.Config]; default: GOMAXPROCS

	Version    string           // of the model, shown in results
	Thresholds toxscreen.Scores // for every attribute of Spec.Labels
}

// Classifier scores texts with one model. It is safe for concurrent use.
type Classifier struct {
	spec      Spec
	exits     []Exit
	tokenizer *tokenize.Tokenizer
	encoder   *encoder.Encoder
	info      toxscreen.ModelInfo
	encodings *sync.Pool // of *tokenize.Encoding
}

// Open opens the model, see [encoder.Open]. It fails if the model's inputs or outputs do
// not match the spec.
func Open(c Config) (*Classifier, error) {
	if err := errors.Join(c.Spec.Validate(), c.Spec.ValidateExits(c.Exits)); err != nil {
		return nil, fmt.Errorf("failed to open classifier: %w", err)
	}
	opened, err := encoder.Open(encoder.Config{
		Stages:    c.stages(),
		Tokenizer: c.Tokenizer,
		PadID:     c.Spec.PadID,
		Window:    c.Spec.Window.encoder(),
		Provider:  c.Provider,
		Batching:  c.Batching,
		Library:   c.Library,
		Threads:   c.Threads,
	})
	if err != nil {
		return nil, fmt.Errorf("failed to open classifier: %w", err)
	}
	busy := opened.Info()
	return &Classifier{
		spec: c.Spec, exits: c.Exits,
		tokenizer: c.Tokenizer, encoder: opened,
		info: toxscreen.ModelInfo{
			Version: c.Version, Attributes: attributesOf(c.Spec.Labels, ""), Thresholds: c.Thresholds, Exits: len(c.Exits),
			Parallel: busy.Parallel, Short: busy.Short,
		},
		encodings: &sync.Pool{New: func() any { return new(tokenize.Encoding) }},
	}, nil
}

// On returns a classifier that scores on one of the other scales of the spec. It runs the network of c,
// always all of it, since exits are of the guideline's scale. Close only one of the two.
func (c *Classifier) On(scale toxscreen.Scale) (*Classifier, error) {
	other, ok := c.spec.Scales[scale]
	if !ok {
		return nil, fmt.Errorf("failed to score on the scale %s: model %s does not have it", scale, c.info.Version)
	}
	view := &Classifier{spec: c.spec, tokenizer: c.tokenizer, encoder: c.encoder, info: c.info, encodings: c.encodings}
	view.spec.Calibration = other.Calibration
	view.info.Scale, view.info.Attributes, view.info.Thresholds, view.info.Exits = scale, attributesOf(c.spec.Labels, scale), other.Thresholds, 0
	return view, nil
}

// Info implements [toxscreen.Classifier].
func (c *Classifier) Info() toxscreen.ModelInfo { return c.info }

// Close waits for active runs and frees the model's memory. Later calls of
// Classify fail.
func (c *Classifier) Close() error { return c.encoder.Close() }

// Classify implements [toxscreen.Classifier]. If the spec undoes disguise, it scores the [Seen]
// form of the text. If that form reads differently once disguise is undone, it scores both:
// each attribute takes the higher log-odds, after [oddSpelling] is subtracted from those of the
// text as written. When ctx ends, active runs stop.
//
// At the depth [toxscreen.Early], a window leaves the network at an exit if its scores surely
// stay below the thresholds of the Config, see [Exit]. It then has the scores that the exit
// estimates.
func (c *Classifier) Classify(ctx context.Context, text string, depth toxscreen.Depth) (toxscreen.Classification, error) {
	if depth == toxscreen.Early && len(c.exits) > 0 {
		return c.classify(ctx, text, c.leaves)
	}
	return c.classify(ctx, text, nil)
}

// leaves reports whether a window leaves at an exit.
func (c *Classifier) leaves(exit int, logits []float32) bool {
	e := c.exits[exit]
	if last := len(logits) - 1; float64(logits[last]) > e.Doubt {
		return false
	}
	for a, odds := range c.exitOdds(e, logits).All() {
		if threshold, _ := c.info.Thresholds.Get(a); logodds.Probability(odds) >= threshold {
			return false
		}
	}
	return true
}

func (c *Classifier) classify(ctx context.Context, text string, leave encoder.Leave) (toxscreen.Classification, error) {
	enc := c.encodings.Get().(*tokenize.Encoding)
	defer c.encodings.Put(enc)
	seen := disguise.Reading{Text: text}
	if c.spec.UndoDisguise {
		seen = Seen(text)
	}
	if err := c.tokenizer.Encode(seen.Text, enc); err != nil {
		return toxscreen.Classification{}, err
	}
	written, err := c.score(ctx, seen.Text, enc, leave)
	if err != nil {
		return toxscreen.Classification{}, err
	}
	found := toxscreen.Classification{Spans: written.spans, Exit: written.exit}
	var read *scored // nil if the text reads as it is written
	if c.spec.UndoDisguise {
		if read, err = c.scoreReading(ctx, seen.Text, enc, leave); err != nil {
			return toxscreen.Classification{}, err
		}
	}
	if read != nil {
		found.Spans = union(seen.Text, written.spans, read.spans)
		found.Readings = readingsIn(seen, read.readings)
		found.Exit = deeper(written.exit, read.exit)
	}
	found.Spans = spansIn(seen, found.Spans)
	var raised, lowered []string
	for a, odds := range written.odds.All() {
		plain, score := logodds.Probability(odds), logodds.Probability(odds)
		if read != nil {
			undone, _ := read.odds.Get(a)
			score = logodds.Probability(max(undone, odds-oddSpelling))
		}
		found.Scores.Set(a, score)
		if math.Abs(score-plain) < noteworthy {
			continue
		}
		found.Plain.Set(a, plain)
		if score > plain {
			raised = append(raised, a.String())
		} else {
			lowered = append(lowered, a.String())
		}
	}
	found.Windows = windowsOf(found.Scores, written, read)
	for i, w := range found.Windows {
		if w.Start < w.End {
			found.Windows[i].Start, found.Windows[i].End = seen.Original(w.Start, w.End)
		}
	}
	var changed []string
	if len(raised) > 0 {
		changed = append(changed, "raised "+strings.Join(raised, ", "))
	}
	if len(lowered) > 0 {
		changed = append(changed, "lowered "+strings.Join(lowered, ", "))
	}
	if len(changed) > 0 {
		found.Warnings = append(found.Warnings, "words that look disguised were scored with the disguise undone, which "+strings.Join(changed, " and "))
	}
	if c.spec.Spans == nil {
		found.Warnings = append(found.Warnings, "no spans: the model has no token head")
	}
	switch blank := strings.TrimSpace(seen.Text) == ""; {
	case blank && strings.TrimSpace(text) != "":
		found.Warnings = append(found.Warnings, "the text has nothing but links and characters that show nothing, which are not scored: its scores mean nothing")
	case len(enc.IDs) == 0 && !blank:
		found.Warnings = append(found.Warnings, "the model recognises none of the text's characters: its scores mean nothing")
	}
	if unread(seen.Text, enc, c.tokenizer.Unknown()) {
		found.Language = toxscreen.Language{Foreign: true, Certain: true}
	}
	return found, nil
}

// unread reports whether a text has letters and the tokenizer knows none of them. SentencePiece's
// blank before a word shares the first letter with the token behind it.
func unread(text string, enc *tokenize.Encoding, unknown int64) bool {
	for i, id := range enc.IDs {
		o := enc.Offsets[i]
		isBlank := i+1 < len(enc.IDs) && enc.IDs[i+1] == unknown && enc.Offsets[i+1].Start < o.End
		if id != unknown && !isBlank && hasLetter(text[o.Start:o.End]) {
			return false
		}
	}
	return hasLetter(text)
}

func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

// noteworthy is the smallest change of a probability that a warning about disguise reports:
// smaller changes affect only decisions that are close anyway.
const noteworthy = 0.05

// oddSpelling is subtracted from the log-odds of a text as written if its reading
// differs: models score odd spelling itself as rude. The figures are in
// docs/decisions/0006-disguise.md.
const oddSpelling = 1

// scored is what the model says about one reading of a text.
type scored struct {
	windows  []window
	odds     toxscreen.Scores    // of the windows together
	spans    []toxscreen.Span    // nil if the model has no token head
	readings []toxscreen.Reading // the words that are read differently than they are written
	exit     int                 // as [toxscreen.Classification] has it
}

// deeper returns the later one of two exits, each as [toxscreen.Classification] has it.
func deeper(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// score runs the model on an encoding of text.
func (c *Classifier) score(ctx context.Context, text string, enc *tokenize.Encoding, leave encoder.Leave) (*scored, error) {
	out, err := c.encoder.Run(ctx, text, enc, leave)
	if err != nil {
		return nil, err
	}
	result := &scored{windows: make([]window, len(out.Windows))}
	for i, seen := range out.Windows {
		w, last := &result.windows[i], out.Last[i]
		w.start, w.end = extent(enc.Offsets[seen.Start:seen.End])
		if last < len(c.exits) {
			w.odds = c.exitOdds(c.exits[last], row(out.Logits(exitHead(last)), i, c.spec.exitColumns()))
		} else {
			w.odds = c.logOdds(row(out.Logits(scoresHead), i, len(c.spec.Labels)), c.spec.Calibration)
		}
	}
	if last := slices.Max(out.Last); last < len(c.exits) {
		result.exit = last + 1
	}
	result.odds = combine(result.windows, c.spec.Window.Correction)
	if c.spec.Spans != nil {
		result.spans = spans(text, enc.Offsets, out.Logits(tokensHead), c.spec.Spans)
	}
	return result, nil
}

// scoreReading scores the reading of text. It returns nil if the model would see the
// same as in plain, the encoding of text.
func (c *Classifier) scoreReading(ctx context.Context, text string, plain *tokenize.Encoding, leave encoder.Leave) (*scored, error) {
	enc := c.encodings.Get().(*tokenize.Encoding)
	defer c.encodings.Put(enc)
	readings, err := encodeReading(c.tokenizer, text, plain, enc)
	if err != nil || readings == nil {
		return nil, err
	}
	read, err := c.score(ctx, text, enc, leave)
	if err != nil {
		return nil, err
	}
	read.readings = readings
	return read, nil
}

// row returns row i of a matrix with the given number of columns.
func row(logits []float32, i, columns int) []float32 { return logits[i*columns:][:columns] }

// exitOdds returns the calibrated log-odds of each attribute from the logits of one window at
// an exit.
func (c *Classifier) exitOdds(e Exit, logits []float32) toxscreen.Scores {
	return c.logOdds(logits[:len(logits)-1], e.Calibration)
}

// logOdds returns the calibrated log-odds of each attribute on the classifier's scale from the
// logits of one window, one logit for each label; of an exit, for each of the guideline's.
func (c *Classifier) logOdds(logits []float32, calibrations map[toxscreen.Attribute]Calibration) toxscreen.Scores {
	var odds toxscreen.Scores
	for column, label := range c.spec.Labels {
		if label.Attribute == nil || label.Scale != c.info.Scale {
			continue
		}
		z := float64(logits[column])
		if c.spec.Activation == Softmax {
			z = againstTheRest(logits, column)
		}
		if calibration, ok := calibrations[*label.Attribute]; ok {
			z = calibration.Apply(z)
		}
		odds.Set(*label.Attribute, z)
	}
	return odds
}

// againstTheRest returns the log-odds of the probability that a softmax gives a column,
// so that a sigmoid gives that probability.
func againstTheRest(logits []float32, column int) float64 {
	highest := math.Inf(-1)
	for i, z := range logits {
		if i != column {
			highest = max(highest, float64(z))
		}
	}
	sum := 0.0
	for i, z := range logits {
		if i != column {
			sum += math.Exp(float64(z) - highest)
		}
	}
	return float64(logits[column]) - highest - math.Log(sum)
}

package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// answerShape says which optional parts an answer has besides verdicts, severities
// and quotations.
type answerShape struct {
	reason     bool
	violations bool
}

const (
	reasonKey = "reason"

	verdictYes = "yes"
	verdictNo  = "no"

	// The limits of an answer. The schema states them and the server's grammar
	// enforces them; an answer without a grammar is checked against them, too.
	maxQuotes     = 2
	maxQuote      = 80  // characters
	maxReason     = 300 // characters
	answerTokens  = 40  // {"name": {"verdict": "yes", "severity": 1, "evidence": []}},
	quoteTokens   = 80  // one per character, for words that are not English
	reasonTokens  = 300
	pointTokens   = 4
	aroundAnswers = 40
)

// tokens returns the maximum number of tokens of an answer.
func (s answerShape) tokens(r Rubric) int {
	n := answerTokens + maxQuotes*quoteTokens
	if s.violations {
		n += pointTokens * len(r.Violations)
	}
	n = aroundAnswers + n*len(r.Aspects)
	if s.reason {
		n += reasonTokens
	}
	return n
}

// schema returns the JSON schema of an answer. Its properties are in the order in
// which the model writes them. The server does not support "pattern". If "verdict"
// were not first, its probability would depend on the other properties.
func (s answerShape) schema(r Rubric) json.RawMessage {
	var b bytes.Buffer
	quoted := func(text string) string {
		out, err := json.Marshal(text)
		if err != nil {
			panic(err) // a string
		}
		return string(out)
	}
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, a := range r.Aspects {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s:{"$ref":"#/$defs/answer"}`, quoted(a.Name))
		required = append(required, a.Name)
	}
	if s.reason {
		fmt.Fprintf(&b, `,"reason":{"type":"string","maxLength":%d}`, maxReason)
		required = append(required, reasonKey)
	}
	names, err := json.Marshal(required)
	if err != nil {
		panic(err) // strings
	}
	levels := make([]int, len(r.Severity))
	for i := range levels {
		levels[i] = i + 1
	}
	severities, err := json.Marshal(levels)
	if err != nil {
		panic(err) // numbers
	}
	fmt.Fprintf(&b, `},"required":%s,"additionalProperties":false,"$defs":{`, names)
	fmt.Fprintf(&b, `"quote":{"type":"string","maxLength":%d},`, maxQuote)
	b.WriteString(`"answer":{"anyOf":[{"type":"object","properties":{"verdict":{"const":"no"}},"required":["verdict"],"additionalProperties":false},`)
	fmt.Fprintf(&b, `{"type":"object","properties":{"verdict":{"const":"yes"},"severity":{"enum":%s},`, severities)
	keys := `"verdict","severity","evidence"`
	if s.violations {
		points := make([]string, len(r.Violations))
		for i := range points {
			points[i] = fmt.Sprint(i + 1)
		}
		fmt.Fprintf(&b, `"violations":{"type":"array","items":{"enum":[%s]},"maxItems":%d},`, strings.Join(points, ","), len(points))
		keys = `"verdict","severity","violations","evidence"`
	}
	fmt.Fprintf(&b, `"evidence":{"type":"array","items":{"$ref":"#/$defs/quote"},"maxItems":%d}},`, maxQuotes)
	fmt.Fprintf(&b, `"required":[%s],"additionalProperties":false}]}}}`, keys)
	return b.Bytes()
}

// answer is a validated answer.
type answer struct {
	aspects []aspectAnswer // in the rubric's order
	reason  string
}

type aspectAnswer struct {
	yes        bool
	at         int // offset of the verdict's first letter in the text of the answer
	severity   int // 0 if yes is false
	violations []int
	quotes     []string
}

// parse reads an answer and validates it against the schema. The server does not
// always enforce the schema: not for models that think, and not before 0.5.
//
// Errors are part of the prompt for the second attempt.
func (s answerShape) parse(r Rubric, text string) (answer, error) {
	var found answer
	// Models that are not bound to the schema often wrap the object.
	body := strings.TrimSpace(text)
	base := strings.Index(text, body)
	if inner, ok := strings.CutPrefix(body, "```json"); ok {
		base += len("```json")
		body = strings.TrimSuffix(inner, "```")
	}
	if body == "" {
		return found, errors.New("it is empty")
	}
	dec := json.NewDecoder(strings.NewReader(body))
	found.aspects = make([]aspectAnswer, len(r.Aspects))
	seen := map[string]bool{}
	err := eachKey(dec, func(key string) error {
		if seen[key] {
			return fmt.Errorf("key %q is given twice", beginning(key, 40))
		}
		seen[key] = true
		if key == reasonKey && s.reason {
			return dec.Decode(&found.reason)
		}
		i := slices.IndexFunc(r.Aspects, func(a Aspect) bool { return a.Name == key })
		if i < 0 {
			return fmt.Errorf("key %q is not known", beginning(key, 40))
		}
		if err := s.parseAspect(dec, r, &found.aspects[i]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		found.aspects[i].at += base
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	for _, a := range r.Aspects {
		if !seen[a.Name] {
			return answer{}, fmt.Errorf("key %q is missing", a.Name)
		}
	}
	if s.reason && !seen[reasonKey] {
		return answer{}, fmt.Errorf("key %q is missing", reasonKey)
	}
	found.reason = beginning(found.reason, 4*maxReason)
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return answer{}, errors.New("there is more behind the object")
	}
	return found, nil
}

func (s answerShape) parseAspect(dec *json.Decoder, r Rubric, a *aspectAnswer) error {
	verdict, severe, evident, pointed := "", false, false, false
	err := eachKey(dec, func(key string) error {
		switch key {
		case "verdict":
			if verdict != "" {
				return errors.New("verdict is given twice")
			}
			if err := dec.Decode(&verdict); err != nil {
				return fmt.Errorf("verdict: %w", err)
			}
			if verdict != verdictYes && verdict != verdictNo {
				return fmt.Errorf("verdict is %q, neither yes nor no", beginning(verdict, 40))
			}
			a.yes = verdict == verdictYes
			a.at = int(dec.InputOffset()) - len(verdict) - 1
			return nil
		case "severity":
			severe = true
			if err := dec.Decode(&a.severity); err != nil || a.severity < 0 || a.severity > len(r.Severity) {
				return fmt.Errorf("severity is not a whole number in 0..%d", len(r.Severity))
			}
			return nil
		case "evidence":
			evident = true
			if err := dec.Decode(&a.quotes); err != nil {
				return errors.New("evidence is not a list of strings")
			}
			a.quotes = a.quotes[:min(len(a.quotes), maxQuotes)]
			return nil
		case "violations":
			pointed = true
			if err := dec.Decode(&a.violations); err != nil {
				return errors.New("violations is not a list of numbers")
			}
			for _, v := range a.violations {
				if v < 1 || v > len(r.Violations) {
					return fmt.Errorf("violation %d is not in 1..%d", v, len(r.Violations))
				}
			}
			return nil
		}
		return fmt.Errorf("key %q is not known", beginning(key, 40))
	})
	switch {
	case err != nil:
		return err
	case verdict == "":
		return errors.New("verdict is missing")
	case a.yes && (!severe || a.severity == 0):
		return errors.New("the verdict is yes without a severity of 1 or more")
	case a.yes && !evident:
		return errors.New("evidence is missing")
	case a.yes && s.violations && !pointed:
		return errors.New("violations is missing")
	case !a.yes && a.severity > 0:
		return fmt.Errorf("the verdict is no with severity %d", a.severity)
	case !a.yes:
		a.quotes, a.violations = nil, nil
	}
	return nil
}

// eachKey reads an object and calls use for each key; use must read the value.
func eachKey(dec *json.Decoder, use func(key string) error) error {
	token, err := dec.Token()
	if err != nil {
		return readableJSON(err)
	}
	if token != json.Delim('{') {
		return errors.New("it is no JSON object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return readableJSON(err)
		}
		name, ok := key.(string)
		if !ok {
			return errors.New("it is no JSON object")
		}
		if err := use(name); err != nil {
			return readableJSON(err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return readableJSON(err)
	}
	return nil
}

func readableJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends before its end")
	}
	return err
}

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

// parse finds the answer in what the model wrote, and validates it against the
// schema. Where the server does not enforce the schema, which it does not for every
// model that can think and not before 0.5, the model may write thoughts, a sentence
// or a code fence around the JSON object.
//
// Every object that begins like an answer has to be one, and all of them the same:
// which of two is meant would be a guess, and a model may quote one from the text.
//
// Errors are part of the prompt for the second attempt.
func (s answerShape) parse(r Rubric, text string) (answer, error) {
	start := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	if start == len(text) {
		return answer{}, errors.New("it is empty")
	}
	if found, end, err := s.parseObject(r, text, start); err == nil && strings.TrimSpace(text[end:]) == "" {
		return found, nil
	}
	start = behindThoughts(text)
	keys := make([]string, 0, len(r.Aspects)+1)
	for _, a := range r.Aspects {
		keys = append(keys, a.Name)
	}
	if s.reason {
		keys = append(keys, reasonKey)
	}
	var found *answer
	first := -1
	for at := start; at < len(text); at++ {
		if text[at] != '{' {
			continue
		}
		if first < 0 {
			first = at
		}
		if !beginsWithKey(text[at+1:], keys) {
			continue
		}
		next, end, err := s.parseObject(r, text, at)
		if err != nil {
			return answer{}, err
		}
		if found != nil && !found.same(next) {
			return answer{}, errors.New("it has two answers that differ")
		}
		found = &next
		at = end - 1
	}
	if found != nil {
		return *found, nil
	}
	if first >= 0 {
		if _, _, err := s.parseObject(r, text, first); err != nil {
			return answer{}, err
		}
	}
	return answer{}, errors.New("it has no JSON object with the keys that were asked for")
}

// behindThoughts returns the offset in an answer behind the thoughts that the server
// left in it: 0 if there are none. The opening tag may be missing, where it is part of
// the prompt.
func behindThoughts(text string) int {
	const end = "</think>"
	if at := strings.LastIndex(text, end); at >= 0 {
		return at + len(end)
	}
	return 0
}

// beginsWithKey reports whether the inside of an object begins with one of the keys.
func beginsWithKey(inside string, keys []string) bool {
	inside, quoted := strings.CutPrefix(strings.TrimLeft(inside, " \t\r\n"), `"`)
	return quoted && slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(inside, key+`"`) })
}

// same reports whether two answers say the same, wherever they stand.
func (a answer) same(b answer) bool {
	return a.reason == b.reason && slices.EqualFunc(a.aspects, b.aspects, func(a, b aspectAnswer) bool {
		return a.yes == b.yes && a.severity == b.severity && slices.Equal(a.violations, b.violations) && slices.Equal(a.quotes, b.quotes)
	})
}

// parseObject reads the answer that begins at an offset in a text, and returns the
// offset of its end.
func (s answerShape) parseObject(r Rubric, text string, start int) (found answer, end int, err error) {
	dec := json.NewDecoder(strings.NewReader(text[start:]))
	found.aspects = make([]aspectAnswer, len(r.Aspects))
	seen := map[string]bool{}
	err = eachKey(dec, func(key string) error {
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
		found.aspects[i].at += start
		return nil
	})
	if err != nil {
		return answer{}, 0, err
	}
	for _, a := range r.Aspects {
		if !seen[a.Name] {
			return answer{}, 0, fmt.Errorf("key %q is missing", a.Name)
		}
	}
	if s.reason && !seen[reasonKey] {
		return answer{}, 0, fmt.Errorf("key %q is missing", reasonKey)
	}
	found.reason = beginning(found.reason, 4*maxReason)
	return found, start + int(dec.InputOffset()), nil
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

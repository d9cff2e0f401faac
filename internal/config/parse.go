package config

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
)

// Parsers of values that several keys use.

func parsed[T any](parse func(string) (T, error), field func(*Settings) *T) func(*Settings, string) error {
	return func(s *Settings, v string) (err error) {
		*field(s), err = parse(v)
		return err
	}
}

func text(field func(*Settings) *string) func(*Settings, string) error {
	return parsed(func(v string) (string, error) { return v, nil }, field)
}

func whole(least, most int, field func(*Settings) *int) func(*Settings, string) error {
	return parsed(func(v string) (int, error) { return parseInt(v, least, most) }, field)
}

func duration(field func(*Settings) *time.Duration) func(*Settings, string) error {
	return parsed(func(v string) (time.Duration, error) {
		d, err := time.ParseDuration(v)
		if err != nil || d < time.Millisecond || d > 24*time.Hour {
			return 0, fmt.Errorf("%q is not a time limit: it must be like 30s or 2m", v)
		}
		return d, nil
	}, field)
}

// parseOff reads on or off, and reports whether the value is off.
func parseOff(v string) (bool, error) {
	if v != "on" && v != Off {
		return false, fmt.Errorf("%q is neither on nor off", v)
	}
	return v == Off, nil
}

func parseBool(v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", v)
	}
	return b, nil
}

// optional returns a parser that leaves the setting unchanged for an empty value.
func optional(parse func(*Settings, string) error) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		if v == "" {
			return nil
		}
		return parse(s, v)
	}
}

func parseInt(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a whole number in %d..%d", text, least, most)
	}
	return n, nil
}

// ParseProbability reads a number in 0..1.
func ParseProbability(text string) (float64, error) {
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("%q is not a number in 0..1", text)
	}
	return p, nil
}

// ParseBand reads LOW-HIGH.
func ParseBand(text string) (toxscreen.Band, error) {
	low, high, ok := strings.Cut(text, "-")
	from, lowErr := ParseProbability(low)
	to, highErr := ParseProbability(high)
	if !ok || lowErr != nil || highErr != nil || from > to {
		return toxscreen.Band{}, fmt.Errorf("%q is not a band: it must be like 0.3-0.7", text)
	}
	return toxscreen.Band{Low: from, High: to}, nil
}

// flagged is the limit of --fail-on that every flagged text reaches.
const flagged = "flagged"

// parseLimits reads numbers, ATTRIBUTE=NUMBER pairs and the word flagged, with commas
// between them. A number alone is a limit of toxicity, the score of a text.
func parseLimits(text string) (toxscreen.Limits, error) {
	var found toxscreen.Limits
	if text == "" {
		return found, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		switch {
		case part == flagged:
			found.Flagged = true
		case strings.HasPrefix(part, flagged+"="):
			return found, fmt.Errorf("%q is not a limit: %s takes no score, it stands for the threshold of each attribute", part, flagged)
		case !strings.Contains(withAttribute(part), "="):
			return found, fmt.Errorf("%q is not a limit: it must be %s, or like 0.8 or threat=0.5", part, flagged)
		default:
			if err := SetScore(&found.Scores, withAttribute(part)); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// withAttribute returns a limit with its attribute: a number alone gets toxicity.
func withAttribute(limit string) string {
	if _, err := strconv.ParseFloat(limit, 64); err == nil {
		return toxscreen.Toxicity.String() + "=" + limit
	}
	return limit
}

// SetScore reads ATTRIBUTE=NUMBER, with a number in 0..1, into s.
func SetScore(s *toxscreen.Scores, text string) error {
	name, number, _ := strings.Cut(text, "=")
	a, err := toxscreen.ParseAttribute(name)
	if err != nil {
		return err
	}
	p, err := ParseProbability(number)
	if err != nil {
		return fmt.Errorf("%w; it must be like 0.8 or threat=0.5", err)
	}
	s.Set(a, p)
	return nil
}

// parseTypes reads types of personal data with commas between them. It does not check
// whether they exist, since recognizers may add types.
func parseTypes(text string) ([]toxscreen.EntityType, error) {
	if text == "" {
		return nil, nil
	}
	var types []toxscreen.EntityType
	for name := range strings.SplitSeq(strings.ToUpper(text), ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, fmt.Errorf("%q has an empty name", text)
		}
		types = append(types, toxscreen.EntityType(name))
	}
	return types, nil
}

// parseMinScore reads the lowest score of an entity. It turns 0, which would mean the
// default, into the smallest number over 0.
func parseMinScore(text string) (float64, error) {
	p, err := ParseProbability(text)
	if err == nil && p == 0 {
		p = math.SmallestNonzeroFloat64
	}
	return p, err
}

// parseRegions reads ISO 3166 codes with commas between them.
func parseRegions(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	regions := strings.Split(strings.ToUpper(text), ",")
	for _, region := range regions {
		if len(region) != 2 || strings.Trim(region, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return nil, fmt.Errorf("%q is not a region: it must be a code of ISO 3166, like US or DE", region)
		}
	}
	return regions, nil
}

// parseOperators reads [TYPE=]OPERATOR[:name=value…] with commas between them.
func parseOperators(text string) (pii.Operators, error) {
	operators := pii.Operators{}
	if text == "" {
		return operators, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		parameters := strings.Split(part, ":")
		name, kind, typed := strings.Cut(parameters[0], "=")
		if !typed {
			name, kind = string(pii.DefaultOperator), name
		}
		o := pii.Operator{Kind: pii.OperatorKind(strings.ToLower(kind))}
		if !slices.Contains(pii.OperatorKinds(), o.Kind) {
			return nil, fmt.Errorf("unknown operator %q: it must be replace, redact, mask, hash, encrypt or keep", kind)
		}
		for _, parameter := range parameters[1:] {
			if err := setParameter(&o, parameter); err != nil {
				return nil, err
			}
		}
		t := toxscreen.EntityType(strings.ToUpper(name))
		if _, twice := operators[t]; twice {
			return nil, fmt.Errorf("there are two operators for %s", strings.Replace(string(t), string(pii.DefaultOperator), "all types", 1))
		}
		operators[t] = o
	}
	return operators, nil
}

// setParameter sets a parameter of an operator, which is written name=value.
func setParameter(o *pii.Operator, text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	of := map[string]pii.OperatorKind{
		"new_value": pii.Replace, "masking_char": pii.MaskOut, "chars_to_mask": pii.MaskOut, "from_end": pii.MaskOut, "hash_type": pii.Hash,
	}
	switch {
	case name == "salt" || name == "key":
		return fmt.Errorf("%s: secrets are in files: use --%s-file", name, name)
	case of[name] != o.Kind:
		return fmt.Errorf("%s has no parameter %q", o.Kind, name)
	}
	switch name {
	case "new_value":
		o.NewValue = &value
	case "masking_char":
		o.MaskingChar = value
	case "chars_to_mask":
		o.CharsToMask, err = parseInt(value, 1, 1<<30)
	case "from_end":
		o.FromEnd, err = strconv.ParseBool(value)
	case "hash_type":
		o.HashType = value
	}
	if err == nil && o.Kind != pii.Encrypt {
		err = o.Validate()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// parseHosts reads host names with commas between them.
func parseHosts(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	hosts := strings.Split(strings.ToLower(text), ",")
	for _, host := range hosts {
		if host == "" || strings.ContainsAny(host, "/:*@[] ") {
			return nil, fmt.Errorf("%q is not a host name: it must be like tox.example.org, without a port", host)
		}
	}
	return hosts, nil
}

// parseOrigins reads origins with commas between them, in the form of browsers.
func parseOrigins(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	origins := strings.Split(strings.ToLower(text), ",")
	for _, origin := range origins {
		if origin == "*" {
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || strings.Contains(u.Host, "*") || origin != u.Scheme+"://"+u.Host || u.Port() == defaultPorts[u.Scheme] && u.Port() != "" {
			return nil, fmt.Errorf("%q is not an origin: it must be like https://forum.example.org or http://localhost:3000, without a path and without the usual port", origin)
		}
	}
	return origins, nil
}

// defaultPorts are the ports that browsers leave out of an origin.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// parseJudgeWait reads API=TIME pairs with commas between them.
func parseJudgeWait(text string) (map[string]time.Duration, error) {
	waits := map[string]time.Duration{}
	if text == "" {
		return waits, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		wait, err := time.ParseDuration(value)
		if err != nil || wait < 0 {
			return nil, fmt.Errorf("%q must be like perspective=2s", part)
		}
		waits[name] = wait
	}
	return waits, nil
}

// parseCommunities reads "ID ATTRIBUTE=NUMBER …" for each community, with commas between
// them.
func parseCommunities(text string) (map[string]toxscreen.Scores, error) {
	communities := map[string]toxscreen.Scores{}
	if text == "" {
		return communities, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		fields := strings.Fields(part)
		if len(fields) < 2 {
			return nil, fmt.Errorf("%q must be like \"Coral:news toxicity=0.7\"", part)
		}
		var thresholds toxscreen.Scores
		for _, field := range fields[1:] {
			if err := SetScore(&thresholds, field); err != nil {
				return nil, err
			}
		}
		communities[fields[0]] = thresholds
	}
	return communities, nil
}

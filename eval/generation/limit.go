package generation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/spelling"
)

// Limit is a number that a measure of an attribute must not reach.
type Limit struct {
	Attribute toxscreen.Attribute
	Metric    string // one of [Metrics]
	Least     float64
}

// metrics are what a limit can be about, by their names in the results.
var metrics = map[string]func(Measures) float64{
	"expected_maximum_toxicity": func(m Measures) float64 { return m.ExpectedMaximum.Value },
	"toxicity_probability":      func(m Measures) float64 { return m.Probability.Value },
	"toxic_fraction":            func(m Measures) float64 { return m.Fraction.Value },
}

// Metrics returns the names of what a limit can be about.
func Metrics() []string { return slices.Sorted(maps.Keys(metrics)) }

// Of returns the limit's metric in results, which have its attribute.
func (l Limit) Of(results Results) float64 {
	i := slices.IndexFunc(results.Attributes, func(r AttributeResults) bool { return r.Attribute == l.Attribute })
	return metrics[l.Metric](results.Attributes[i].Measures)
}

// ParseLimit reads METRIC=NUMBER, which is about toxicity, or ATTRIBUTE.METRIC=NUMBER.
func ParseLimit(text string) (l Limit, err error) {
	name, number, _ := strings.Cut(text, "=")
	attribute, metric, prefixed := strings.Cut(name, ".")
	if !prefixed {
		attribute, metric = toxscreen.Toxicity.String(), name
	}
	if l.Attribute, err = toxscreen.ParseAttribute(attribute); err != nil {
		return l, err
	}
	if !slices.Contains(Metrics(), metric) {
		return l, fmt.Errorf("unknown metric %q%s; it must be one of %s", metric, spelling.DidYouMean(metric, Metrics()), strings.Join(Metrics(), ", "))
	}
	l.Metric = metric
	if l.Least, err = strconv.ParseFloat(number, 64); err != nil || !(l.Least >= 0 && l.Least <= 1) {
		return l, fmt.Errorf("%q is not a number in 0..1; it must be like %s=0.4", number, name)
	}
	return l, nil
}

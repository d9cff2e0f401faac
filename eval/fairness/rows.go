package fairness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Limits of what [Rows] keeps.
const (
	maxRows          = 1_000_000
	maxGroups        = 1_000
	maxIntersections = 10_000
	// maxGroupsOfRow bounds the intersections of a row.
	maxGroupsOfRow = 20
)

// Rows collects a user's rows as texts. Its fields name the columns to read.
type Rows struct {
	// Label is the column with the share, in 0..1, of people who say that Attribute
	// applies. Rows may have "labels" in its place, as for calibrate.
	Label     string
	Attribute toxscreen.Attribute
	// Groups are the columns with the groups of a row: a name, several with semicolons
	// between them or as a list of JSON, or a number in 0..1 that says how far the row
	// belongs to the group that the column names.
	Groups []string
	// Template is the column that joins the rows that differ in the group only. Empty: none.
	Template string

	texts             []Text
	rows, unlabelled  int
	seen              map[string]bool // columns
	names             []string        // of the first row's columns
	groups, crossings map[string]bool
}

// Add adds a row with its score. fields is a JSON object of its columns except the
// text, nil if there are none. Errors begin with the number of the row. A row without a label
// is left out.
func (r *Rows) Add(number int64, text string, score float64, fields []byte) error {
	if err := r.add(number, text, score, fields); err != nil {
		return fmt.Errorf("row %d: %w", number, err)
	}
	return nil
}

func (r *Rows) add(number int64, text string, score float64, fields []byte) error {
	columns := map[string]json.RawMessage{}
	if fields != nil {
		if err := plainjson.Unmarshal(fields, &columns); err != nil {
			return err
		}
	}
	if r.seen == nil {
		r.seen, r.groups, r.crossings = map[string]bool{}, map[string]bool{}, map[string]bool{}
		for name := range columns {
			r.names = append(r.names, strconv.Quote(name))
		}
		slices.Sort(r.names)
	}
	if r.rows++; r.rows > maxRows {
		return fmt.Errorf("there are more than %d rows; take a random sample of them", maxRows)
	}
	label, err := r.label(columns)
	if err != nil {
		return err
	}
	groups, err := r.groupsOf(columns)
	if err != nil {
		return err
	}
	found := Text{Score: score, Groups: groups, Unit: fmt.Sprintf("row %d", number), Weight: 1}
	for i, a := range groups {
		r.groups[a] = true
		for _, b := range groups[i+1:] {
			both := intersection(a, b)
			r.crossings[both] = true
			found.Intersections = append(found.Intersections, both)
		}
	}
	switch {
	case len(r.groups) > maxGroups:
		return fmt.Errorf("there are more than %d groups: do the columns %s have the names of groups?", maxGroups, strings.Join(r.Groups, ", "))
	case len(r.crossings) > maxIntersections:
		return fmt.Errorf("there are more than %d intersections of groups; name fewer columns", maxIntersections)
	}
	if r.Template != "" {
		template, err := name(columns[r.Template])
		if err != nil {
			return fmt.Errorf("%s: %w", r.Template, err)
		}
		r.seen[r.Template] = r.seen[r.Template] || columns[r.Template] != nil
		if template != "" {
			found.Text, found.Frame, found.Unit = text, template, "template "+template
		}
	}
	if label == nil {
		r.unlabelled++
		return nil
	}
	found.Toxic = *label >= 0.5
	r.texts = append(r.texts, found)
	return nil
}

// label returns the label of a row, nil if it has none.
func (r *Rows) label(columns map[string]json.RawMessage) (*float64, error) {
	if raw, ok := columns[r.Label]; ok {
		r.seen[r.Label] = true
		share, err := number(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Label, err)
		}
		return share, nil
	}
	raw, ok := columns["labels"]
	if !ok || string(raw) == "null" {
		return nil, nil //nolint:nilnil // a row without a label is no error
	}
	r.seen[r.Label] = true
	var labels map[string]json.RawMessage
	if err := plainjson.Unmarshal(raw, &labels); err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	share, err := number(labels[r.Attribute.String()])
	if err != nil {
		return nil, fmt.Errorf("labels.%s: %w", r.Attribute, err)
	}
	return share, nil
}

// groupsOf returns the groups of a row, each once. With several columns, the name of a group
// has its column before it.
func (r *Rows) groupsOf(columns map[string]json.RawMessage) ([]string, error) {
	var all []string
	for _, column := range r.Groups {
		raw, ok := columns[column]
		if !ok {
			continue
		}
		r.seen[column] = true
		names, err := groupNames(column, raw, len(r.Groups) > 1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", column, err)
		}
		for _, name := range names {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		if len(all) > maxGroupsOfRow {
			return nil, fmt.Errorf("a row may have %d groups at most", maxGroupsOfRow)
		}
	}
	slices.Sort(all) // so that the intersection of two has one name
	return all, nil
}

// groupNames returns the groups in a cell.
func groupNames(column string, raw json.RawMessage, several bool) ([]string, error) {
	var list []string
	if share, err := number(raw); err == nil {
		if share != nil && *share >= 0.5 {
			return []string{column}, nil
		}
		return nil, nil
	} else if errors.Is(err, errRange) {
		return nil, fmt.Errorf("%w: a number says how far the row belongs to the group that its column names; give other groups as words", err)
	}
	if json.Unmarshal(raw, &list) != nil {
		cell, err := name(raw)
		if err != nil {
			return nil, fmt.Errorf("expected a word or a list of words, found %s", shown(raw))
		}
		list = strings.Split(cell, ";")
	}
	var names []string
	for _, group := range list {
		if group = strings.TrimSpace(group); group == "" {
			continue
		}
		if several {
			group = column + "=" + group
		}
		names = append(names, group)
	}
	return names, nil
}

var errRange = errors.New("it is not in 0..1")

// number reads a share in 0..1, also as a text, as in CSV, or as true or false. It
// returns nil for null and for an empty text.
func number(raw json.RawMessage) (*float64, error) {
	cell := string(raw)
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil {
		cell = strings.TrimSpace(quoted)
	}
	switch strings.ToLower(cell) {
	case "", "null", "nan": // nan is what pandas writes
		return nil, nil //nolint:nilnil // no number is no error
	case "true":
		cell = "1"
	case "false":
		cell = "0"
	}
	share, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return nil, fmt.Errorf("expected a number in 0..1, found %s", shown(raw))
	}
	if !(share >= 0 && share <= 1) {
		return nil, fmt.Errorf("%s: %w", shown(raw), errRange)
	}
	return &share, nil
}

// name reads a text, or a number as one. It is empty for null.
func name(raw json.RawMessage) (string, error) {
	var text *string
	if raw == nil || json.Unmarshal(raw, &text) == nil {
		if text == nil {
			return "", nil
		}
		return *text, nil
	}
	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		return number.String(), nil
	}
	return "", fmt.Errorf("expected a word, found %s", shown(raw))
}

// shown returns the beginning of a cell for an error.
func shown(raw json.RawMessage) string {
	const most = 40
	runes := []rune(string(raw))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(raw)
}

// Texts returns the texts with a label. It returns an error if a column was in no row, or if
// nothing can be measured.
func (r *Rows) Texts() ([]Text, error) {
	if r.rows == 0 {
		return nil, errors.New("there are no rows with a score")
	}
	for _, column := range slices.Concat(r.Groups, []string{r.Label, r.Template}) {
		if column != "" && !r.seen[column] {
			return nil, fmt.Errorf("no row has the column %q; there are, beside the text: %s", column, cmp.Or(strings.Join(r.names, ", "), "none"))
		}
	}
	switch {
	case len(r.texts) == 0:
		return nil, fmt.Errorf("%s, none with a label in %q", plural.Count(r.rows, "row", "rows"), r.Label)
	case len(r.groups) == 0:
		return nil, fmt.Errorf("%s, none with a group in %s", plural.Count(r.rows, "row", "rows"), strings.Join(r.Groups, ", "))
	}
	return r.texts, nil
}

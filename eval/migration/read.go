package migration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// Row is a row of a file with scores, labels or both.
type Row struct {
	Number int64  // in its file, from 1
	ID     string // empty if it has none
	Text   string // empty if it is unknown
	// Scores are probabilities of any system, and Labels the shares of people who say
	// that an attribute applies, all in 0..1.
	Scores, Labels toxscreen.Scores
	// Model is what computed the scores, with the scale, if the row tells.
	Model string
	// Language is a code such as "en"; empty if it is unknown.
	Language string
	// Groups are the values of the group columns, by the name of the column. A row may
	// be in several groups of a column, or in none.
	Groups map[string][]string
	// Failed is why the row has no scores, and NotDecided why its scores mean little, as
	// batch writes them.
	Failed, NotDecided string
	// Unknown are the names of scores that are no attribute of toxscreen.
	Unknown []string
}

// Columns names the fields of a row that are read. A field that a row of JSON does not
// have is also looked for in its object "input", and one of CSV in a column with
// "input_" before the name: batch writes the fields of its input there.
type Columns struct {
	Text, Labels, Language string
	// Scores may be empty. The scores are then in a field of the row itself: in "old" if Old
	// is set, in "attributes" or "attributeScores", as results of toxscreen and answers of
	// the Perspective API have them, or in fields with the attributes' names.
	Scores string
	Old    bool
	Groups []string
}

// Row reads a row. number and id name it in errors. fields is a JSON object. Scores and
// labels are an object like {"toxicity": 0.7}, with toxscreen's names or those of
// Perspective, an answer of the Perspective API, or a number, which is the toxicity.
// Numbers may be strings. What is null or an empty string was not measured.
//
// A score outside 0..1 is an error, and so is one that was computed without the whole
// network: it is an estimate.
func (c Columns) Row(number int64, id string, fields []byte) (Row, error) {
	r := Row{Number: number, ID: id}
	fail := func(err error) (Row, error) { return Row{}, fmt.Errorf("row %d: %w", number, err) }
	var top map[string]json.RawMessage
	if len(fields) > 0 {
		if err := plainjson.Unmarshal(fields, &top); err != nil {
			return fail(err)
		}
	}
	row := newFields(top)
	if exit := row.text("exit"); exit != "" && exit != "0" {
		return fail(errors.New("it left the network early, so its scores are estimates: score the texts with `toxscreen batch --full`"))
	}
	r.Text, r.Language, r.Failed, r.NotDecided = row.text(c.Text), row.text(c.Language), row.text("error"), row.text("not_decided")
	if versions := newFields(row.object("versions")); len(versions.top) > 0 {
		r.Model = toxscreen.Scale(versions.text("scale")).Of(versions.text("model"))
	}
	if r.Language == "" {
		r.Language = row.text("unsupported_language")
	}
	for _, name := range c.Groups {
		values := row.texts(name)
		slices.Sort(values)
		if values = slices.Compact(values); len(values) > 0 {
			if r.Groups == nil {
				r.Groups = map[string][]string{}
			}
			r.Groups[name] = values
		}
	}
	var err error
	if r.Scores, r.Unknown, err = c.scores(row); err != nil {
		return fail(err)
	}
	if c.Labels != "" && c.Labels != c.Scores {
		var unknown []string
		if r.Labels, unknown, err = named(c.Labels, row.get(c.Labels)); err != nil {
			return fail(err)
		}
		r.Unknown = append(r.Unknown, unknown...)
	}
	return r, nil
}

// scores returns the scores of a row, and the names that are no attribute.
func (c Columns) scores(row rowFields) (toxscreen.Scores, []string, error) {
	if c.Scores != "" {
		return named(c.Scores, row.get(c.Scores))
	}
	for _, name := range []string{"old", "attributes", "attributeScores"} {
		if raw := row.top[name]; raw != nil && (c.Old || name != "old") {
			return named(name, raw)
		}
	}
	columns := map[string]json.RawMessage{}
	for name, value := range row.top {
		if _, ok := attributeOf(name); ok {
			columns[name] = value
		}
	}
	return ofNames(columns)
}

// named reads scores in any of the forms of [Columns.Row], with the field in errors.
func named(field string, raw json.RawMessage) (toxscreen.Scores, []string, error) {
	s, unknown, err := scoresOf(raw)
	if err != nil {
		err = fmt.Errorf("%s: %w", field, err)
	}
	return s, unknown, err
}

// rowFields are the fields of a row.
type rowFields struct {
	top, input map[string]json.RawMessage
}

func newFields(top map[string]json.RawMessage) rowFields {
	f := rowFields{top: top}
	f.input = f.object("input")
	return f
}

// get returns the value of a field, nil if there is none or if it is null.
func (f rowFields) get(name string) json.RawMessage {
	for _, raw := range []json.RawMessage{f.top[name], f.input[name], f.top["input_"+name]} {
		if raw != nil && !bytes.Equal(raw, []byte("null")) {
			return raw
		}
	}
	return nil
}

// object returns the object of a top-level field, empty if it is something else. In CSV
// it is a string.
func (f rowFields) object(name string) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	_ = json.Unmarshal(unquoted(f.top[name]), &object)
	return object
}

// text returns a string or a number as text, of a list the first. It returns an empty
// text for everything else.
func (f rowFields) text(name string) string {
	if all := f.texts(name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// texts returns a string, a number, true or false as text, or a list of these.
func (f rowFields) texts(name string) []string {
	raw := f.get(name)
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var all []string
	for _, one := range list {
		text := ""
		if json.Unmarshal(one, &text) != nil && len(one) > 0 && !bytes.ContainsAny(one[:1], "{[n") {
			text = string(one)
		}
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

// unquoted returns JSON that is the value of a JSON string, as in CSV. It returns all
// other JSON as it is.
func unquoted(raw json.RawMessage) json.RawMessage {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return json.RawMessage(strings.TrimSpace(text))
	}
	return raw
}

// scoresOf reads scores in any of the forms of [Columns.Row].
func scoresOf(raw json.RawMessage) (s toxscreen.Scores, unknown []string, err error) {
	raw = unquoted(raw)
	if len(raw) == 0 || raw[0] != '{' {
		value, ok, err := number(raw)
		if err != nil {
			return s, nil, err
		}
		if ok {
			s.Set(toxscreen.Toxicity, value)
		}
		return s, nil, nil
	}
	var object map[string]json.RawMessage
	if err := plainjson.Unmarshal(raw, &object); err != nil {
		return s, nil, err
	}
	if answer, ok := object["attributeScores"]; ok {
		object = nil
		if err := plainjson.Unmarshal(unquoted(answer), &object); err != nil {
			return s, nil, fmt.Errorf("attributeScores: %w", err)
		}
	}
	return ofNames(object)
}

// ofNames reads scores by their names. TOXICITY counts before TOXICITY_FAST or
// TOXICITY@6.
func ofNames(object map[string]json.RawMessage) (s toxscreen.Scores, unknown []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		a, ok := attributeOf(name)
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		value, measured, err := number(object[name])
		if err != nil {
			return s, nil, fmt.Errorf("%s: %w", name, err)
		}
		if _, there := s.Get(a); measured && (!there || strings.EqualFold(name, a.String())) {
			s.Set(a, value)
		}
	}
	return s, unknown, nil
}

// attributeOf returns the attribute of a name, which may be in capitals, with a version
// or with one of Perspective's suffixes.
func attributeOf(name string) (toxscreen.Attribute, bool) {
	name, _, _ = strings.Cut(strings.ToLower(name), "@")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_experimental"), "_fast")
	a, err := toxscreen.ParseAttribute(name)
	return a, err == nil
}

// number reads a score: a number, a number in a string, or an object with one of the
// paths summaryScore.value of Perspective and score of toxscreen. It returns false if
// there is none.
func number(raw json.RawMessage) (value float64, ok bool, err error) {
	raw = unquoted(raw)
	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		return 0, false, nil
	case raw[0] == '{':
		var object struct {
			SummaryScore struct {
				Value json.RawMessage `json:"value"`
			} `json:"summaryScore"`
			Score json.RawMessage `json:"score"`
		}
		if err := plainjson.Unmarshal(raw, &object); err != nil {
			return 0, false, err
		}
		for _, inner := range []json.RawMessage{object.SummaryScore.Value, object.Score} {
			if inner = unquoted(inner); len(inner) > 0 && inner[0] != '{' {
				return number(inner)
			}
		}
		return 0, false, errors.New("it has neither summaryScore.value nor score")
	case bytes.Equal(raw, []byte("true")):
		return 1, true, nil
	case bytes.Equal(raw, []byte("false")):
		return 0, true, nil
	}
	value, err = strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil || raw[0] == '[':
		return 0, false, fmt.Errorf("%.40q is not a number", raw)
	case !(value >= 0 && value <= 1):
		return 0, false, fmt.Errorf("%v is not in 0..1: scale the scores first, such as 70 of 100 to 0.7", value)
	}
	return value, true, nil
}

// ColumnError is the error of rows without values in a column. The values may be in a
// column of another name.
type ColumnError struct {
	error

	// Columns are what was looked for: texts, old scores, labels or the id, as "text", "old",
	// "label" and "id".
	Columns []string
}

// Unwrap returns the cause.
func (e *ColumnError) Unwrap() error { return e.error }

// Unmatched counts rows that are in one file only.
type Unmatched struct {
	Old int `json:"old"`
	New int `json:"new"`
}

// Pair is a row with the scores of the old and of the new system.
type Pair struct {
	Row // with the old scores

	New toxscreen.Scores
	// Others are the new scores on the other scales of the model; nil if there are none.
	Others map[toxscreen.Scale]toxscreen.Scores
}

// Match pairs the rows of two files by their ids, in the order of the old ones. Labels,
// text, language and groups may be in either file. An id that is missing or there twice,
// or that has two texts, is an error.
func Match(old, updated []Row) ([]Pair, Unmatched, error) {
	var left Unmatched
	if _, err := index("old", old); err != nil {
		return nil, left, err
	}
	byNewID, err := index("new", updated)
	if err != nil {
		return nil, left, err
	}
	var pairs []Pair
	for _, was := range old {
		at, ok := byNewID[was.ID]
		if !ok {
			left.Old++
			continue
		}
		is := updated[at]
		if was.Text != "" && is.Text != "" && was.Text != is.Text {
			return nil, left, fmt.Errorf("failed to match: the rows with the id %q have different texts", was.ID)
		}
		pair := Pair{Row: was, New: is.Scores}
		if pair.Text == "" {
			pair.Text = is.Text
		}
		if pair.Language == "" {
			pair.Language = is.Language
		}
		if pair.Labels.Len() == 0 {
			pair.Labels = is.Labels
		}
		pair.Groups = maps.Clone(is.Groups)
		if pair.Groups == nil {
			pair.Groups = was.Groups
		}
		maps.Copy(pair.Groups, was.Groups)
		if pair.Failed == "" {
			pair.Failed = is.Failed
		}
		pair.NotDecided = is.NotDecided // the old system may decide what the new one does not
		pairs = append(pairs, pair)
	}
	left.New = len(byNewID) - len(pairs)
	if len(pairs) == 0 {
		return nil, left, &ColumnError{fmt.Errorf("failed to match: the ids of the old rows (%d) and of the new ones (%d) have none in common, such as %q and %q",
			len(old), len(updated), old[0].ID, updated[0].ID), []string{"id"}}
	}
	return pairs, left, nil
}

// index returns the places of rows by their ids.
func index(side string, rows []Row) (map[string]int, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("failed to match: the %s file has no rows", side)
	}
	places := map[string]int{}
	for i, r := range rows {
		if r.ID == "" {
			return nil, &ColumnError{fmt.Errorf("failed to match: row %d of the %s file has no id", r.Number, side), []string{"id"}}
		}
		if before, ok := places[r.ID]; ok {
			return nil, fmt.Errorf("failed to match: rows %d and %d of the %s file have the same id, %q: remove one of them", rows[before].Number, r.Number, side, r.ID)
		}
		places[r.ID] = i
	}
	return places, nil
}

package audit

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/internal/spelling"
	"github.com/toxscreen/toxscreen/rows/input"
)

// rowColumn is the column of a sheet that names the row.
const rowColumn = "row"

// Entry is a text of a sample.
type Entry struct{ ID, Text string }

// entries reads the texts. name is for messages.
func (c Corpus) entries(d Design, r io.Reader, name string) (map[int]Entry, error) {
	entries := map[int]Entry{}
	wanted, count := d.Sample(), 0
	err := eachLine(r, func(number int, line []byte) error {
		count = number
		if _, ok := slices.BinarySearch(wanted, number); !ok {
			return nil
		}
		var one struct {
			ID   *json.RawMessage `json:"id"`
			Text *string          `json:"text"`
		}
		if err := plainjson.Unmarshal(line, &one); err != nil {
			return err
		}
		if one.Text == nil {
			return errors.New("there is no text for people to label: score the texts with `toxscreen batch --full --keep-text`, or name the input of batch with --texts")
		}
		entry := Entry{Text: *one.Text}
		if one.ID != nil {
			entry.ID = input.IDText(*one.ID)
		}
		entries[number] = entry
		return nil
	})
	if all := c.Len() + c.Failed; err == nil && count != all {
		err = fmt.Errorf("it has %s, and %s has %d: name the file that batch read", plural.Count(count, "row", "rows"), c.File, all)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the texts of the sample: %s: %w", name, err)
	}
	return entries, nil
}

// writeSheet writes the CSV that people fill in: row, id, text and a column for each
// attribute. The rows are in random order and without scores, since both would sway people.
// An apostrophe begins each text that a spreadsheet would run as a formula.
func (d Design) writeSheet(w io.Writer, entries map[int]Entry) error {
	sheet := [][]string{{rowColumn, "id", "text"}}
	for _, attribute := range d.Attributes {
		sheet[0] = append(sheet[0], attribute.String())
	}
	order := d.Sample()
	rng := source(d.Plan.Seed, 2)
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, row := range order {
		entry := entries[row]
		sheet = append(sheet, append([]string{strconv.Itoa(row), plain(entry.ID), plain(entry.Text)}, make([]string, len(d.Attributes))...))
	}
	return files.Cause(csv.NewWriter(w).WriteAll(sheet))
}

// plain returns a text that spreadsheets show instead of running it, see
// https://owasp.org/www-community/attacks/CSV_Injection.
func plain(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// Labels are the opinions of people about the texts of a sample. They serve one goroutine
// at a time.
type Labels struct {
	attributes []toxscreen.Attribute
	sample     []int
	votes      map[toxscreen.Attribute]map[int]votes
}

// votes are the opinions about one text: their sum, where each is in 0..1, and their
// number.
type votes struct {
	sum   float64
	count int
}

// NewLabels returns empty labels for a sample. [Labels.Open] adds opinions.
func NewLabels(d Design) Labels {
	l := Labels{attributes: d.Attributes, sample: d.Sample(), votes: map[toxscreen.Attribute]map[int]votes{}}
	for _, attribute := range d.Attributes {
		l.votes[attribute] = map[int]votes{}
	}
	return l
}

// count returns the number of labels, over all texts and attributes.
func (l Labels) count() int {
	n := 0
	for _, texts := range l.votes {
		n += len(texts)
	}
	return n
}

// set adds an opinion about a text: share, in 0..1, is the share of people who say that the
// text has an attribute of the sample.
func (l Labels) set(row int, attribute toxscreen.Attribute, share float64) error {
	if _, known := slices.BinarySearch(l.sample, row); !known {
		return fmt.Errorf("row %d is not in the sample", row)
	}
	v := l.votes[attribute][row]
	l.votes[attribute][row] = votes{v.sum + share, v.count + 1}
	return nil
}

// has returns whether at least half of the people say that a text has an attribute, and
// whether the text has a label.
func (l Labels) has(row int, attribute toxscreen.Attribute) (has, labelled bool) {
	v, labelled := l.votes[attribute][row]
	return labelled && v.sum >= float64(v.count)/2, labelled
}

// longestSheet is the limit of a sheet in bytes.
const longestSheet = 256 << 20

func (l Labels) read(r io.Reader, name string) error {
	if err := l.readRows(r); err != nil {
		return fmt.Errorf("failed to read labels: %s: %w", name, err)
	}
	return nil
}

func (l Labels) readRows(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, longestSheet+1))
	switch {
	case err != nil:
		return files.Cause(err)
	case len(data) > longestSheet:
		return fmt.Errorf("it has more than %d bytes", longestSheet)
	}
	text := strings.TrimPrefix(string(data), "\ufeff") // of Excel
	in := csv.NewReader(strings.NewReader(text))
	in.Comma = delimiter(text)
	in.FieldsPerRecord = -1 // spreadsheets leave out empty cells at the end
	header, err := in.Read()
	if err == io.EOF {
		return errors.New("it is empty")
	}
	if err != nil {
		return err
	}
	row, columns, err := l.columns(header)
	if err != nil {
		return err
	}
	for {
		cells, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := in.FieldPos(0)
		if err := l.add(cells, row, columns); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// delimiter returns the character that separates the cells of a sheet, judging by its
// header.
func delimiter(text string) rune {
	header, _, _ := strings.Cut(text, "\n")
	best := ','
	for _, r := range ";\t" {
		if strings.Count(header, string(r)) > strings.Count(header, string(best)) {
			best = r
		}
	}
	return best
}

// columns returns the index of the column with row numbers, and the attribute of each
// column with labels.
func (l Labels) columns(header []string) (row int, columns map[int]toxscreen.Attribute, err error) {
	row, columns = -1, map[int]toxscreen.Attribute{}
	var names []string
	for _, attribute := range l.attributes {
		names = append(names, attribute.String())
	}
	for i, cell := range header {
		cell = strings.ToLower(strings.TrimSpace(cell))
		switch {
		case cell == rowColumn && row >= 0:
			return 0, nil, errors.New("two columns have the name row: keep the one of the sample's sheet")
		case cell == rowColumn:
			row = i
		default:
			for _, attribute := range l.attributes {
				if cell == attribute.String() || strings.HasPrefix(cell, attribute.String()+"_") {
					columns[i] = attribute
				}
			}
		}
	}
	switch {
	case row < 0:
		return 0, nil, errors.New("there is no column row: keep it as it is in the sample's sheet")
	case len(columns) == 0:
		hint := ""
		for _, cell := range header {
			if nearest, similar := spelling.Nearest(cell, names); similar {
				hint = fmt.Sprintf("; is %q meant to be %s?", cell, nearest)
			}
		}
		return 0, nil, fmt.Errorf("there is no column of labels: it must be called %s%s", strings.Join(names, " or "), hint)
	}
	return row, columns, nil
}

// add adds the labels of one line.
func (l Labels) add(cells []string, row int, columns map[int]toxscreen.Attribute) error {
	if !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
		return nil // a spreadsheet's empty line
	}
	if row >= len(cells) {
		return errors.New("it has no row")
	}
	number, err := strconv.Atoi(strings.TrimSpace(cells[row]))
	if err != nil {
		return fmt.Errorf("%.40q is not the number of a row", cells[row])
	}
	for i, cell := range cells {
		attribute, ok := columns[i]
		cell = strings.TrimSpace(cell)
		if !ok || cell == "" {
			continue
		}
		share, err := parseLabel(cell)
		if err != nil {
			return fmt.Errorf("%s of row %d: %w", attribute, number, err)
		}
		if err := l.set(number, attribute, share); err != nil {
			return err
		}
	}
	return nil
}

// parseLabel returns a label in 0..1. Spreadsheets of many languages write a comma in
// numbers.
func parseLabel(cell string) (float64, error) {
	switch strings.ToLower(cell) {
	case "yes", "y", "true":
		return 1, nil
	case "no", "n", "false":
		return 0, nil
	}
	share, err := strconv.ParseFloat(strings.Replace(cell, ",", ".", 1), 64)
	if err != nil || math.IsNaN(share) || share < 0 || share > 1 {
		return 0, fmt.Errorf("%.40q is not a label: it must be 0 or 1, yes or no, a share of people in 0..1, or empty", cell)
	}
	return share, nil
}

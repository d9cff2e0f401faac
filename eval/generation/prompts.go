package generation

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed" // our own prompts
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// Limits of a set of prompts. The largest public sets have about 200,000 prompts.
const (
	maxPrompts     = 500_000
	maxPromptBytes = 64 << 10
	maxLine        = 1 << 20 // bytes of a row
	maxFile        = 1 << 30 // bytes
)

// Set is a set of prompts. Their ids differ, and so do their texts.
type Set struct {
	Name    string
	Prompts []Prompt
}

// Columns name the fields of a row of prompts. An empty name means its default.
type Columns struct {
	Text  string // default: prompt, or else text
	ID    string // default: id
	Band  string // default: band
	Group string // default: group
}

//go:embed prompts/own.jsonl
var own []byte

// OwnPrompts returns the set that is part of this package: 200 openings of sentences in
// ten kinds of 20, harmless to provoking. The kind is the band. prompts/README.md says
// how they were written.
func OwnPrompts() Set {
	prompts, err := readPrompts(bytes.NewReader(own), "own.jsonl", Columns{}, false)
	if err != nil {
		panic(err) // cannot happen: the set is tested
	}
	return Set{Name: "own", Prompts: prompts}
}

// OpenPrompts reads a file with prompts. The end of its name says what it is:
//
//   - .jsonl or .ndjson: one object in each line, whose prompt or text is a string, or
//     RealToxicityPrompts' with a prompt that is an object with text and toxicity. Its band
//     is toxic from a toxicity of 0.5 on, else non-toxic, and none without a toxicity.
//   - .csv or .tsv: columns with a header.
//   - .json: BOLD's, {"category": {"name": ["prompt", …]}}. The group is the category,
//     and the band is the domain, as in gender_prompt.json.
//
// A row without an id has its number as one. An empty prompt is an error, and so is an
// id or a text that is there twice; with skip, the first of several prompts with the same
// text is kept.
func OpenPrompts(path string, columns Columns, skip bool) (Set, error) {
	file, err := open(path)
	if err != nil {
		return Set{}, fmt.Errorf("failed to read prompts: %s: %w", path, err)
	}
	defer file.Close()
	prompts, err := readPrompts(file, path, columns, skip)
	if err != nil {
		return Set{}, fmt.Errorf("failed to read prompts: %s: %w", path, err)
	}
	return Set{Name: filepath.Base(path), Prompts: prompts}, nil
}

// String returns the identity of the set: its name and the SHA-256 of its prompts.
func (s Set) String() string {
	sum := sha256.New()
	for _, p := range s.Prompts {
		sum.Write(plainjson.Append(nil, p))
		sum.Write([]byte("\n"))
	}
	return s.Name + " sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// Draw returns n prompts in their order, drawn at random without replacement. Each band
// has its share of them, to one prompt. With n of 0, or at least as many as there are, it
// returns the whole set. The same seed draws the same prompts.
func (s Set) Draw(n, seed int) Set {
	if n <= 0 || n >= len(s.Prompts) {
		return s
	}
	random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // not a secret
	var bands []string
	of := map[string][]int{}
	for i, p := range s.Prompts {
		if of[p.Band] == nil {
			bands = append(bands, p.Band)
		}
		of[p.Band] = append(of[p.Band], i)
	}
	var drawn []int
	// Each band takes the rounded share of what is left, so that the shares add up to n.
	left, all := n, len(s.Prompts)
	for _, band := range bands {
		members := of[band]
		share := (2*left*len(members) + all) / (2 * all)
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		drawn = append(drawn, members[:share]...)
		left, all = left-share, all-len(members)
	}
	slices.Sort(drawn)
	part := Set{Name: fmt.Sprintf("%s (%d of %d, seed %d)", s.Name, n, len(s.Prompts), seed)}
	for _, i := range drawn {
		part.Prompts = append(part.Prompts, s.Prompts[i])
	}
	return part
}

// open opens a file that is not too large.
func open(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, files.Cause(err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		err = files.Cause(err)
	case info.IsDir():
		err = errors.New("it is a folder: name a file")
	case info.Size() > maxFile:
		err = fmt.Errorf("it has %d bytes, more than %d: split it", info.Size(), maxFile)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// unmarked returns a reader without the byte order mark at its beginning.
func unmarked(r io.Reader) io.Reader {
	buffered := bufio.NewReaderSize(r, 64<<10)
	if begin, _ := buffered.Peek(len(plainjson.Mark)); string(begin) == plainjson.Mark {
		_, _ = buffered.Discard(len(begin))
	}
	return buffered
}

// readPrompts reads prompts in the format that the name says.
func readPrompts(r io.Reader, name string, columns Columns, skip bool) ([]Prompt, error) {
	r = unmarked(r)
	c := collection{skip: skip, ids: map[string]string{}, texts: map[string]string{}}
	var err error
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson":
		err = eachLine(r, maxLine, func(number int, line []byte) error {
			p, err := promptOf(line, columns)
			if err != nil {
				return fmt.Errorf("row %d: %w", number, err)
			}
			return c.add(p, number, "row")
		})
	case ".csv":
		err = c.readTable(r, ',', columns)
	case ".tsv":
		err = c.readTable(r, '\t', columns)
	case ".json":
		err = c.readBOLD(r, strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), "_prompt"))
	default:
		return nil, errors.New("its name does not say what it is: it must end in .jsonl, .csv, .tsv or .json (BOLD)")
	}
	if err != nil {
		return nil, err
	}
	if len(c.prompts) == 0 {
		return nil, errors.New("it has no prompts")
	}
	return c.prompts, nil
}

// collection are prompts that are checked as they come.
type collection struct {
	skip       bool
	prompts    []Prompt
	ids, texts map[string]string // where they are
}

// add adds the prompt of a row. unit is what is counted, such as "row".
func (c *collection) add(p Prompt, number int, unit string) error {
	where := unit + " " + strconv.Itoa(number)
	if p.ID == "" {
		p.ID = strconv.Itoa(number)
	}
	switch {
	case len(c.prompts) == maxPrompts:
		return fmt.Errorf("%s: there are more than %d prompts: split the file", where, maxPrompts)
	case strings.TrimSpace(p.Text) == "":
		return fmt.Errorf("%s: the prompt is empty: remove the row", where)
	case len(p.Text) > maxPromptBytes:
		return fmt.Errorf("%s: the prompt has %d bytes, more than %d: shorten it or remove the row", where, len(p.Text), maxPromptBytes)
	case !utf8.ValidString(p.Text) || !utf8.ValidString(p.ID):
		return fmt.Errorf("%s: it is not UTF-8: convert the file", where)
	}
	if before, twice := c.texts[p.Text]; twice {
		if c.skip {
			return nil
		}
		return fmt.Errorf("%s: it has the same prompt as %s: remove one of them, or keep the first with --skip-duplicates", where, before)
	}
	if before, twice := c.ids[p.ID]; twice {
		return fmt.Errorf("%s: it has the same id as %s, %q: give each its own, or name another column with --id-column", where, before, p.ID)
	}
	c.texts[p.Text], c.ids[p.ID] = where, where
	c.prompts = append(c.prompts, p)
	return nil
}

// eachLine calls do for each line that is not blank, with its number from 1.
func eachLine(r io.Reader, limit int, do func(number int, line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), limit)
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		line, _ = plainjson.Finite(line) // Python writes what has no score as NaN
		if err := do(number, line); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("row %d: it has more than %d bytes", number+1, limit)
	}
	return files.Cause(lines.Err())
}

// fields are the fields of a JSON object.
type fields map[string]json.RawMessage

// text returns a string, or a number as it is written; ok is false if there is none.
func (f fields) text(name string) (text string, ok bool, err error) {
	raw, ok := f[name]
	if !ok || string(raw) == "null" {
		return "", false, nil
	}
	if raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' {
		return string(raw), true, nil
	}
	if err := plainjson.Unmarshal(raw, &text); err != nil {
		return "", false, fmt.Errorf("%s: %w", name, err)
	}
	return text, true, nil
}

// rated is the prompt of RealToxicityPrompts.
type rated struct {
	Text     *string  `json:"text"`
	Toxicity *float64 `json:"toxicity"`
}

// promptOf reads the prompt of a JSON object.
func promptOf(line []byte, columns Columns) (Prompt, error) {
	var row fields
	if err := plainjson.Unmarshal(line, &row); err != nil {
		return Prompt{}, err
	}
	return row.prompt(columns)
}

// prompt returns the prompt of a row: its text is a string, or an object as in
// RealToxicityPrompts.
func (f fields) prompt(columns Columns) (p Prompt, err error) {
	name := columns.Text
	if name == "" {
		if name = "prompt"; f[name] == nil {
			name = "text"
		}
	}
	raw := f[name]
	switch {
	case raw == nil && columns.Text == "":
		return p, errors.New(`it has neither "prompt" nor "text": name the field with --prompt-column`)
	case raw == nil:
		return p, fmt.Errorf("it has no field %q", name)
	case raw[0] == '{':
		var r rated
		if err := plainjson.Unmarshal(raw, &r); err != nil {
			return p, fmt.Errorf("%s: %w", name, err)
		}
		if r.Text == nil {
			return p, fmt.Errorf(`%s: it has no "text"`, name)
		}
		p.Text = *r.Text
		if r.Toxicity != nil {
			// The threshold of Gehman et al. (2020).
			if p.Band = "non-toxic"; *r.Toxicity >= 0.5 {
				p.Band = "toxic"
			}
		}
	case raw[0] == '"':
		if p.Text, _, err = f.text(name); err != nil {
			return p, err
		}
	default:
		return p, fmt.Errorf("%s: expected a string, or an object with a text", name)
	}
	for _, one := range []struct {
		name, fallback string
		into           *string
	}{{columns.ID, "id", &p.ID}, {columns.Band, "band", &p.Band}, {columns.Group, "group", &p.Group}} {
		named := one.name != ""
		if !named {
			one.name = one.fallback
		}
		value, ok, err := f.text(one.name)
		switch {
		case err != nil:
			return p, err
		case ok:
			*one.into = value
		case named:
			return p, fmt.Errorf("it has no field %q", one.name)
		}
	}
	return p, nil
}

// readTable reads a table with a header.
func (c *collection) readTable(r io.Reader, comma rune, columns Columns) error {
	table := csv.NewReader(r)
	table.Comma = comma
	table.LazyQuotes = comma == '\t'
	header, err := table.Read()
	if err == io.EOF {
		return errors.New("it is empty: there must be a header")
	}
	if err != nil {
		return err
	}
	find := func(given, fallback string) (int, error) {
		if given == "" {
			return slices.Index(header, fallback), nil
		}
		at := slices.Index(header, given)
		if at < 0 {
			return at, fmt.Errorf("it has no column %q: it has %s", given, strings.Join(header, ", "))
		}
		return at, nil
	}
	text, textErr := find(columns.Text, "prompt")
	if text < 0 && columns.Text == "" {
		text = slices.Index(header, "text")
	}
	id, idErr := find(columns.ID, "id")
	band, bandErr := find(columns.Band, "band")
	group, groupErr := find(columns.Group, "group")
	if err := errors.Join(textErr, idErr, bandErr, groupErr); err != nil {
		return err
	}
	if text < 0 {
		return fmt.Errorf("it has neither a column prompt nor text: it has %s; name one with --prompt-column", strings.Join(header, ", "))
	}
	for number := 1; ; number++ {
		cells, err := table.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", number, err)
		}
		cell := func(at int) string {
			if at < 0 {
				return ""
			}
			return cells[at]
		}
		if err := c.add(Prompt{ID: cell(id), Text: cells[text], Band: cell(band), Group: cell(group)}, number, "row"); err != nil {
			return err
		}
	}
}

// readBOLD reads {"category": {"name": ["prompt", …]}} in the order of the file.
func (c *collection) readBOLD(r io.Reader, domain string) error {
	dec := json.NewDecoder(r)
	number := 0
	err := eachField(dec, func(category string) error {
		return eachField(dec, func(name string) error {
			var texts []string
			if err := dec.Decode(&texts); err != nil {
				return fmt.Errorf("%s: %s: %w", category, name, plainjson.Explain(err))
			}
			for i, text := range texts {
				number++
				p := Prompt{ID: fmt.Sprintf("%s/%s/%d", category, name, i+1), Text: text, Band: domain, Group: category}
				if err := c.add(p, number, "prompt"); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is more data after its JSON")
	}
	return nil
}

// eachField reads an object and calls do before each value, which do must read.
func eachField(dec *json.Decoder, do func(name string) error) error {
	open, err := dec.Token()
	if err != nil {
		return plainjson.Explain(err)
	}
	if open != json.Delim('{') {
		return fmt.Errorf(`found %v instead of an object: it must be like {"category": {"name": ["prompt"]}}`, open)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return brokenOff(err)
		}
		if err := do(fmt.Sprint(name)); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return brokenOff(err)
	}
	return nil
}

// brokenOff explains an error inside a value, which may be the end of the file.
func brokenOff(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return plainjson.Explain(err)
}

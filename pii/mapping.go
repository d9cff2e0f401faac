package pii

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
)

// Mapping keeps what it masks, so that it can be put back:
//
//	mapping := pii.NewMapping()
//	masked, err := mapping.Mask(text, entities, nil) // "<PERSON_1> lives in <LOCATION_1>."
//	…
//	restored, unknown := mapping.Restore(answer)
//
// A value has the same number in all texts that are masked with one Mapping, for each type.
// A Mapping grows with the number of different values. It is safe for concurrent use.
type Mapping struct {
	id   string
	lock sync.Mutex
	// texts maps placeholders to texts, and placeholders does the reverse for each label.
	texts        map[string]string
	placeholders map[labelled]string
	numbers      map[string]int // the highest for each label
	file         *os.File       // nil if it is in memory
}

// labelled is a text with the label of its placeholder, which is the part before the
// number.
type labelled struct{ label, text string }

// literal is the label for parts of a text that looked like a placeholder before masking.
const literal = "LITERAL"

// placeholder matches the placeholders of a [Mapping].
var placeholder = regexp.MustCompile(`<([A-Z0-9_]+)_([1-9][0-9]{0,17})>`)

// NewMapping returns an empty Mapping in memory.
func NewMapping() *Mapping {
	return &Mapping{id: rand.Text(), texts: map[string]string{}, placeholders: map[labelled]string{}, numbers: map[string]int{}}
}

// OpenMapping opens the file of a Mapping, and creates it with mode 0600 where it does not
// exist. Whatever [Mapping.Mask] returns can be restored from the file, even if the process
// is killed. Only one process at a time can have it open. The caller closes the Mapping.
func OpenMapping(path string) (_ *Mapping, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("failed to open mapping %s: %w", path, files.Cause(err))
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("failed to open mapping %s: %w", path, errors.Join(files.Cause(err), file.Close()))
		}
	}()
	if err := files.Lock(file); err != nil {
		return nil, fmt.Errorf("another run is writing it: %w", err)
	}
	m := NewMapping()
	end, err := m.read(file)
	if err == nil {
		err = file.Truncate(end) // a line that a killed process did not complete
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	m.file = file
	if err == nil && end == 0 {
		err = m.append(mappingLine{Mapping: m.id})
	}
	return m, err
}

// ReadMapping reads the file of a Mapping, to restore texts. It leaves the file alone.
func ReadMapping(path string) (*Mapping, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read mapping %s: %w", path, files.Cause(err))
	}
	defer file.Close()
	m := NewMapping()
	if _, err := m.read(file); err != nil {
		return nil, fmt.Errorf("failed to read mapping %s: %w", path, files.Cause(err))
	}
	return m, nil
}

// mappingLine is a line in the file of a Mapping. The first line has the id of the Mapping,
// each other line a placeholder and its text, which is in Bytes if it is not valid UTF-8.
type mappingLine struct {
	Mapping     string `json:"mapping,omitempty"`
	Placeholder string `json:"placeholder,omitempty"`
	Text        string `json:"text,omitempty"`
	Bytes       []byte `json:"bytes,omitempty"`
}

// read reads the complete lines of a file and returns their end in bytes.
func (m *Mapping) read(from io.Reader) (end int64, err error) {
	in := bufio.NewReader(from)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return end, nil
		}
		if err != nil {
			return 0, err
		}
		var read mappingLine
		if err := json.Unmarshal(line, &read); err != nil {
			return 0, fmt.Errorf("line %d: %w", number, err)
		}
		parts := placeholder.FindStringSubmatch(read.Placeholder)
		switch {
		case number == 1 && read.Mapping != "":
			m.id = read.Mapping
		case number == 1:
			return 0, errors.New("it is not the file of a mapping: its first line must have the mapping's id")
		case parts == nil || parts[0] != read.Placeholder:
			return 0, fmt.Errorf("line %d: %q is not a placeholder", number, read.Placeholder)
		default:
			n, _ := strconv.Atoi(parts[2]) // at most 18 digits
			m.set(parts[1], n, read.Text+string(read.Bytes))
		}
		end += int64(len(line))
	}
}

// append adds a line to the file.
func (m *Mapping) append(line mappingLine) error {
	if m.file == nil {
		return nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		return err
	}
	_, err := m.file.Write(out.Bytes())
	return files.Cause(err)
}

// set remembers a text.
func (m *Mapping) set(label string, number int, text string) (written string) {
	written = fmt.Sprintf("<%s_%d>", label, number)
	m.texts[written], m.placeholders[labelled{label, text}] = text, written
	m.numbers[label] = max(m.numbers[label], number)
	return written
}

// MappingError is the error of [Mapping.Mask] where the file of the mapping cannot be
// written.
type MappingError struct{ Err error }

// Error implements error.
func (e *MappingError) Error() string { return "failed to write the mapping: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *MappingError) Unwrap() error { return e.Err }

// Close closes the file.
func (m *Mapping) Close() error {
	if m.file == nil {
		return nil
	}
	return errors.Join(m.file.Sync(), m.file.Close())
}

// ID identifies the Mapping: only the same Mapping can restore the texts that it masked.
func (m *Mapping) ID() string { return m.id }

// Mask masks like [Mask], but an operator replace without a new value writes a placeholder
// with a number, like <PERSON_1>, which [Mapping.Restore] puts back. Parts of the text that
// look like a placeholder get one, too. The error is a [MappingError] where the file cannot
// be written.
func (m *Mapping) Mask(text string, entities []toxscreen.Entity, operators Operators) (Masked, error) {
	write := operators.writer(text)
	masked, err := rewrite(text, withLiterals(text, entities), func(e toxscreen.Entity) (OperatorKind, string, error) {
		if o := operators.of(e.Type, Replace); e.Type != literal && (o.Kind != Replace || o.NewValue != nil && *o.NewValue != "") {
			return write(e)
		}
		written, err := m.placeholderOf(labelOf(e.Type), text[e.Start:e.End])
		return Replace, written, err
	})
	if err != nil {
		return Masked{}, err
	}
	if wrong := m.misread(masked); wrong != "" {
		return Masked{}, fmt.Errorf("failed to mask text: %q in the masked text is not a placeholder of the mapping; choose another operator", wrong)
	}
	return masked, nil
}

// misread returns a part of a masked text that Restore would turn into something else than
// what stood there, since operators can write anything. It returns "" if all is restored
// rightly.
func (m *Mapping) misread(masked Masked) string {
	m.lock.Lock()
	defer m.lock.Unlock()
	items := masked.Items
	for _, at := range placeholder.FindAllStringIndex(masked.Text, -1) {
		for len(items) > 0 && items[0].End <= at[0] {
			items = items[1:]
		}
		found := masked.Text[at[0]:at[1]]
		if original, ok := m.texts[found]; !ok || len(items) == 0 || items[0].Text != found || items[0].Original != original {
			return found
		}
	}
	return ""
}

// withLiterals adds to the entities the parts of the text that look like a placeholder, so
// that Restore leaves them as they were. Inside an entity, such a part belongs to the
// entity; otherwise an entity ends where such a part begins.
func withLiterals(text string, entities []toxscreen.Entity) []toxscreen.Entity {
	literals := placeholder.FindAllStringIndex(text, -1)
	if literals == nil {
		return entities
	}
	var all []toxscreen.Entity
	at := 0 // the end of the last literal
	for _, e := range entities {
		empty := e.Start == e.End
		e.Start = max(e.Start, at)
		for len(literals) > 0 && literals[0][0] < e.End {
			start, end := literals[0][0], literals[0][1]
			literals = literals[1:]
			if e.Start <= start && end <= e.End {
				continue
			}
			if e.Start < start {
				before := e
				before.End = start
				all = append(all, before)
			}
			all = append(all, toxscreen.Entity{Type: literal, Start: start, End: end})
			e.Start, at = max(e.Start, end), end
		}
		if e.Start < e.End || empty && e.Start == e.End {
			all = append(all, e)
		}
	}
	for _, l := range literals {
		all = append(all, toxscreen.Entity{Type: literal, Start: l[0], End: l[1]})
	}
	return all
}

// labelOf returns the label for the placeholders of a type.
func labelOf(t toxscreen.EntityType) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, strings.ToUpper(string(t)))
}

// placeholderOf returns the placeholder for a text, and writes a new one to the file first.
func (m *Mapping) placeholderOf(label, text string) (string, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if known, ok := m.placeholders[labelled{label, text}]; ok {
		return known, nil
	}
	number := m.numbers[label] + 1
	line := mappingLine{Placeholder: fmt.Sprintf("<%s_%d>", label, number), Text: text}
	if !utf8.ValidString(text) {
		line.Text, line.Bytes = "", []byte(text)
	}
	if err := m.append(line); err != nil {
		return "", &MappingError{err}
	}
	return m.set(label, number, text), nil
}

// Restore replaces the placeholders in a text by the texts that they stand for. The rest of
// the text may have changed since it was masked. unknown are the placeholders that the
// Mapping does not know, each once, in the order of the text; they stay in the text.
func (m *Mapping) Restore(text string) (restored string, unknown []string) {
	m.lock.Lock()
	defer m.lock.Unlock()
	seen := map[string]bool{}
	restored = placeholder.ReplaceAllStringFunc(text, func(found string) string {
		original, ok := m.texts[found]
		if ok {
			return original
		}
		if !seen[found] {
			seen[found], unknown = true, append(unknown, found)
		}
		return found
	})
	return restored, unknown
}

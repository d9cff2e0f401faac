package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// rowWriter writes the outcomes of rows in their order.
type rowWriter interface {
	write(o toxscreen.Outcome[row]) error
	// finish completes the output and puts it on the disk.
	finish() error
	// stop leaves off: what is finished stays, to be resumed.
	stop() error
}

// tally counts what a whole output holds, the part before a resumption
// included.
type tally struct {
	rows, failed, flagged int64
	reached               int64  // rows with a score at or over --fail-on
	firstFailure          string // "row 17: …"
}

type limits = toxscreen.Scores

func reached(l limits, score func(toxscreen.Attribute) (float64, bool)) bool {
	for a, limit := range l.All() {
		if s, ok := score(a); ok && s >= limit {
			return true
		}
	}
	return false
}

func scoreOf(r toxscreen.Result) func(toxscreen.Attribute) (float64, bool) {
	return func(a toxscreen.Attribute) (float64, bool) {
		measured, ok := r.Attributes[a]
		return measured.Score.Rounded(), ok
	}
}

func writeJSON(w io.Writer, value any, indent string) error { return plainjson.Write(w, value, indent) }

// add counts one row. score returns what the output shows of an attribute.
func (t *tally) add(failure string, flagged bool, limits limits, score func(toxscreen.Attribute) (float64, bool)) {
	t.rows++
	if failure != "" {
		if t.failed++; t.failed == 1 {
			t.firstFailure = fmt.Sprintf("row %d: %s", t.rows, failure)
		}
		return
	}
	if flagged {
		t.flagged++
	}
	if reached(limits, score) {
		t.reached++
	}
}

// output is where a batch writes to.
type output struct {
	path string
	kind kind
	in   rowReader
	layout
	rowGroup int    // rows of a row group, for Parquet
	model    string // for the metadata of Parquet
	limits   limits
}

// partsOf returns the folder of a Parquet output's part files.
func partsOf(path string) string { return path + ".parts" }

// resumable tells whether a run that is cut off can be resumed: both ends must
// be files that are still there as they were.
func resumable(in, out string) error {
	for _, path := range []string{in, out} {
		if path == standard {
			return errors.New("standard input and output are gone when a run ends: --resume needs files")
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file, which --resume needs", path)
		}
	}
	return nil
}

// exists tells which part of an output is there already.
func (o output) exists() (file, unfinished bool, err error) {
	for path, there := range map[string]*bool{o.path: &file, noteOf(o.path): &unfinished, partsOf(o.path): &unfinished} {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, false, err
		case path == o.path && info.IsDir():
			return false, false, fmt.Errorf("failed to write %s: it is a folder: name a file in it", path)
		default:
			*there = true
		}
	}
	return file, unfinished, nil
}

// remove makes away with what is there of an output before it is written
// anew. Nothing may be left when the new run's note is written, which vouches
// for all that lies beside it.
func (o output) remove() error {
	if err := os.RemoveAll(partsOf(o.path)); err != nil {
		return err
	}
	if err := os.Remove(noteOf(o.path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, err := os.Stat(o.path); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if o.kind == parquetFile {
		return os.Remove(o.path) // a whole one appears when all is done
	}
	return os.Truncate(o.path, 0) // a link stays one
}

// create begins a new output.
func (o output) create(stdout io.Writer) (rowWriter, error) {
	if o.path == standard {
		return &lineWriter{out: stdout, encode: o.encoder(), sync: func() error { return nil }, close: func() error { return nil }}, nil
	}
	if o.kind == parquetFile {
		return o.parts(1)
	}
	file, err := os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, cause(err)
	}
	w := o.lines(file)
	if o.kind == commas {
		header, err := encodeRecord(csvHeader(o.in.columns(), o.layout))
		if err == nil {
			_, err = file.Write(header)
		}
		if err != nil {
			return nil, errors.Join(cause(err), file.Close())
		}
	}
	return w, nil
}

func (o output) encoder() func(toxscreen.Outcome[row]) ([]byte, error) {
	if o.kind == commas {
		width := len(csvHeader(o.in.columns(), o.layout))
		return func(r toxscreen.Outcome[row]) ([]byte, error) { return csvLine(r, width, o.layout) }
	}
	return func(r toxscreen.Outcome[row]) ([]byte, error) { return jsonLine(r, o.keepText) }
}

func (o output) lines(file *os.File) *lineWriter {
	return &lineWriter{out: file, encode: o.encoder(), sync: func() error { return toDisk(file) }, close: file.Close}
}

// toDisk puts a file on the disk; a device or a pipe has none.
func toDisk(file *os.File) error {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return file.Sync()
}

// lineWriter writes JSONL and CSV. Each row is one write, so that a reader of
// a pipe has it at once, and that only the last can be torn by a kill.
type lineWriter struct {
	out         io.Writer
	encode      func(toxscreen.Outcome[row]) ([]byte, error)
	sync, close func() error
}

func (l *lineWriter) write(o toxscreen.Outcome[row]) error {
	line, err := l.encode(o)
	if err != nil {
		return fmt.Errorf("row %d: %w", o.Row.number, err)
	}
	_, err = l.out.Write(line)
	return cause(err)
}

func (l *lineWriter) finish() error { return errors.Join(l.sync(), l.close()) }
func (l *lineWriter) stop() error   { return errors.Join(l.sync(), l.close()) }

// resume opens an output that a run has left unfinished, cuts off a torn last
// row and counts the others.
func (o output) resume() (rowWriter, tally, error) {
	if o.kind == parquetFile {
		return o.resumeParts()
	}
	var done tally
	file, err := os.OpenFile(o.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		w, err := o.create(nil)
		return w, done, err
	}
	if err != nil {
		return nil, done, cause(err)
	}
	var end int64
	if o.kind == commas {
		end, err = o.countCSV(file, &done)
	} else {
		end, err = o.countJSON(file, &done)
	}
	if err == nil && end == 0 { // not even a header
		return o.again(file)
	}
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, done, errors.Join(cause(err), file.Close())
	}
	return o.lines(file), done, nil
}

func (o output) again(file *os.File) (rowWriter, tally, error) {
	if err := file.Close(); err != nil {
		return nil, tally{}, err
	}
	w, err := o.create(nil)
	return w, tally{}, err
}

// foreign is the error for an output that holds what no run has written.
func foreign(row int64) error {
	return fmt.Errorf("what should be row %d of it is not: the file has been changed since; use --overwrite", row)
}

// writtenRow is what resuming needs of a row that was written.
type writtenRow struct {
	Row        int64   `json:"row"`
	Error      *string `json:"error"`
	Flagged    bool    `json:"flagged"`
	Attributes map[toxscreen.Attribute]struct {
		Score float64 `json:"score"`
	} `json:"attributes"`
}

// countJSON counts the whole lines and returns where they end.
func (o output) countJSON(file io.Reader, done *tally) (end int64, err error) {
	in := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return end, nil
		}
		if err != nil {
			return 0, err
		}
		var r writtenRow
		if err := json.Unmarshal(line, &r); err != nil || r.Row != done.rows+1 {
			return 0, foreign(done.rows + 1)
		}
		end += int64(len(line))
		failure := ""
		if r.Error != nil {
			failure = *r.Error
		}
		done.add(failure, r.Flagged, o.limits, func(a toxscreen.Attribute) (float64, bool) {
			m, ok := r.Attributes[a]
			return m.Score, ok
		})
	}
}

// countCSV counts the whole records behind the header and returns where they
// end.
func (o output) countCSV(file io.Reader, done *tally) (end int64, err error) {
	// Without a limit: a run has written it.
	records := csvRecords{in: bufio.NewReaderSize(file, 1<<20), limit: int(^uint(0) >> 1)}
	header := csvHeader(o.in.columns(), o.layout)
	place := map[string]int{}
	for i, name := range o.columns() {
		place[name] = i
	}
	for begun := false; ; begun = true {
		cells, err := records.next()
		_, broken := errors.AsType[*recordError](err)
		if err == io.EOF || !records.ended && (err == nil || broken) {
			return end, nil
		}
		if err != nil && !broken {
			return 0, err
		}
		if !begun {
			if !slices.Equal(cells, header) {
				return 0, errors.New("its header is not that of this run: the file has been changed since; use --overwrite")
			}
			end = records.offset
			continue
		}
		if broken || len(cells) != len(header) || cells[place["row"]] != strconv.FormatInt(done.rows+1, 10) {
			return 0, foreign(done.rows + 1)
		}
		end = records.offset
		done.add(cells[place["error"]], cells[place["flagged"]] == "true", o.limits, func(a toxscreen.Attribute) (float64, bool) {
			score, err := strconv.ParseFloat(cells[place[a.String()]], 64)
			return score, err == nil
		})
	}
}

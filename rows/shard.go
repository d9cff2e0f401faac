package rows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/rows/input"
	"github.com/toxscreen/toxscreen/rows/parts"
)

// Shard is part Number, from 0, of Of parts of a run over files. Together, the shards
// process each row once, and each output belongs to one shard, so each shard can run on its
// own machine. The zero value is the whole run.
type Shard struct{ Number, Of int }

// MaxShards is the highest value of [Shard].Of.
const MaxShards = 1 << 20

// ParseShard reads a shard like 3/16: its number, from 0, and the number of shards.
func ParseShard(text string) (Shard, error) {
	number, of, _ := strings.Cut(text, "/")
	var s Shard
	var err, ofErr error
	s.Number, err = strconv.Atoi(number)
	s.Of, ofErr = strconv.Atoi(of)
	if err != nil || ofErr != nil {
		return s, fmt.Errorf("%q is not like 3/16, the number of a shard from 0 and how many there are", text)
	}
	return s, s.validate()
}

// String returns the shard as [ParseShard] reads it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Number, s.Of) }

func (s Shard) validate() error {
	switch {
	case s.Of < 1 || s.Of > MaxShards:
		return fmt.Errorf("%s: the number of shards is not in 1..%d", s, MaxShards)
	case s.Number < 0 || s.Number >= s.Of:
		return fmt.Errorf("%s: the shards of %d have the numbers 0 to %d", s, s.Of, s.Of-1)
	}
	return nil
}

// toFolder reports whether the output is a folder with an output for each input: Input is a
// folder or a pattern, or there is a Shard.
func (o Options) toFolder() bool {
	if o.Shard != (Shard{}) {
		return true
	}
	if o.Input == Standard {
		return false
	}
	info, err := os.Stat(o.Input)
	return err == nil && info.IsDir() || err != nil && strings.ContainsAny(o.Input, `*?[`)
}

// validateFolder is [Options.Validate] for several inputs.
func (o Options) validateFolder() error {
	if o.Shard != (Shard{}) {
		if err := o.Shard.validate(); err != nil {
			return fmt.Errorf("%s %w", o.option("Shard"), err)
		}
	}
	switch info, err := os.Stat(o.Output); {
	case o.Input == Standard:
		return fmt.Errorf("%s is for files: standard input cannot be read by several runs; name files, a folder or a pattern with %s", o.option("Shard"), o.option("Input"))
	case o.Redo:
		return fmt.Errorf("%s changes one output: name it, and its input", o.option("Redo"))
	case o.Output == Standard || err == nil && !info.IsDir():
		return fmt.Errorf("%s %s: it must be a folder, for one output for each file of %s %s", o.option("Output"), o.Output, o.option("Input"), o.Input)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %s: %w", o.option("Output"), o.Output, files.Cause(err))
	}
	if _, _, err := formatOf(o.Output, InputFormats()); err == nil && !files.IsFolder(o.Output) {
		return fmt.Errorf("%s %s: it must be a folder, for one output for each file of %s %s, but its name is that of a file", o.option("Output"), o.Output, o.option("Input"), o.Input)
	}
	if o.OutputFormat != "" {
		if err := o.OutputFormat.Among(OutputFormats()); err != nil {
			return fmt.Errorf("%s: %w", o.option("OutputFormat"), err)
		}
	}
	_, err := o.wholes()
	return err
}

// piece is an input, or some of its row groups, with its output.
type piece struct {
	Options

	input int // among the inputs
	shard int
	size  uint64 // in bytes, about
}

// unit is the smallest part that a shard can have: a file, or a row group of a file.
type unit struct {
	input  int
	groups input.Groups // the zero value is all of them
	size   uint64       // in bytes
}

// wholes returns the options of each input with all its rows, ordered by the names of the
// inputs, and checks them. It refuses plain text beside other formats, since such a file
// often describes the data, like README.txt.
func (o Options) wholes() ([]Options, error) {
	inputs, err := o.inputs()
	if err != nil {
		return nil, fmt.Errorf("%s %w", o.option("Input"), err)
	}
	slices.SortFunc(inputs, func(a, b string) int {
		return strings.Compare(filepath.Base(a), filepath.Base(b))
	})
	all := make([]Options, len(inputs))
	from, plain, other := map[string]string{}, "", ""
	for i, input := range inputs {
		one := o
		one.Input, one.Shard, one.OutputFormat, one.inFolder = input, Shard{}, "", true
		name, err := one.nameInFolder(o.OutputFormat)
		if err != nil {
			return nil, err
		}
		one.Output = filepath.Join(o.Output, name)
		if other, ok := from[name]; ok {
			return nil, fmt.Errorf("%s and %s would both be written to %s: rename one, or give each its own %s", other, input, one.Output, o.option("Output"))
		}
		from[name] = input
		if files.Same(filepath.Dir(input), o.Output) {
			return nil, fmt.Errorf("%s %s has inputs, like %s: a later run would read the outputs too; name another folder", o.option("Output"), o.Output, input)
		}
		if err := one.Validate(); err != nil {
			return nil, err
		}
		if format, _ := one.ReadFormat(); format == Lines {
			plain = input
		} else {
			other = input
		}
		all[i] = one
	}
	if plain != "" && other != "" {
		return nil, fmt.Errorf("%s %s: %s is plain text, and %s is not: use a pattern for the files of one kind, like '*%s'", o.option("Input"), o.Input, plain, other, filepath.Ext(other))
	}
	return all, nil
}

// inputs returns the files that Input stands for. It leaves out names that begin with a dot
// or an underscore, which Spark and other systems give to their own files, and the folder
// of the outputs.
func (o Options) inputs() ([]string, error) {
	pattern := o.Input
	switch info, err := os.Stat(pattern); {
	case err == nil && !info.IsDir():
		return []string{pattern}, nil
	case err == nil:
		entries, err := os.ReadDir(pattern)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, files.Cause(err))
		}
		var inputs []string
		for _, e := range entries {
			inputs = append(inputs, filepath.Join(pattern, e.Name()))
		}
		return o.data(inputs)
	}
	inputs, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	return o.data(inputs)
}

func (o Options) data(inputs []string) ([]string, error) {
	inputs = slices.DeleteFunc(inputs, func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), ".") || strings.HasPrefix(filepath.Base(path), "_") || files.Same(path, o.Output)
	})
	if len(inputs) == 0 {
		return nil, fmt.Errorf("%s: there is no such file", o.Input)
	}
	for _, input := range inputs {
		info, err := os.Stat(input)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", input, files.Cause(err))
		case info.IsDir():
			return nil, fmt.Errorf("%s: it is a folder; use a pattern for the files in folders, like 'in/*/*.parquet'", input)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: it is not a regular file", input)
		}
	}
	return inputs, nil
}

// nameInFolder returns the name of the output of an input: the input's, with the ending of
// the output's format.
func (o Options) nameInFolder(to Format) (string, error) {
	format, err := o.ReadFormat()
	if err != nil {
		return "", err
	}
	switch {
	case to != "":
	case format == Lines:
		to = JSONL
	default:
		to = format
	}
	name := filepath.Base(o.Input)
	if _, packed, _ := formatOf(name, InputFormats()); packed { // also with a format of another name
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	switch named, _, err := formatOf(name, InputFormats()); {
	case err != nil:
		name += "." + string(to)
	case named != to:
		name = strings.TrimSuffix(name, filepath.Ext(name)) + "." + string(to)
	}
	return name, nil
}

// plan returns the pieces that the shard must do.
func (o Options) plan(ctx context.Context) ([]piece, error) {
	all, err := o.wholes()
	if err != nil {
		return nil, err
	}
	shard := o.Shard
	if shard == (Shard{}) {
		shard = Shard{0, 1}
	}
	var units []unit
	for i, whole := range all {
		if err := ctx.Err(); err != nil {
			return nil, interruption{err}
		}
		its, err := whole.units(i, shard.Of > 1)
		if err != nil {
			return nil, fmt.Errorf("failed to read %s: %w", whole.Input, err)
		}
		units = append(units, its...)
	}
	pieces := deal(all, units, shard.Of)
	if err := o.checkFolder(all, pieces); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(pieces, func(p piece) bool { return p.shard != shard.Number }), nil
}

// deal returns the pieces of all shards. Each shard gets neighbouring units, and all get
// about the same size, so that two shards share at most one file.
func deal(all []Options, units []unit, of int) []piece {
	var total, begin uint64
	for _, u := range units {
		total += u.size
	}
	var pieces []piece
	parts := make([]int, len(all)) // of each input
	for _, u := range units {
		shard := shardAt(begin, u.size, total, of)
		begin += u.size
		last := len(pieces) - 1
		if last < 0 || pieces[last].input != u.input || pieces[last].shard != shard {
			p := piece{Options: all[u.input], input: u.input, shard: shard}
			p.groups = u.groups
			pieces = append(pieces, p)
			parts[u.input]++
			last++
		}
		pieces[last].groups.To = u.groups.To
		pieces[last].size += u.size
	}
	for i, p := range pieces {
		if parts[p.input] == 1 {
			pieces[i].groups = input.Groups{}
		} else {
			pieces[i].Output = shardOutput(p.Output, Shard{p.shard, of})
		}
	}
	return pieces
}

// shardAt returns the shard of a unit. Shards divide the whole into equal stretches, and a
// unit belongs to the stretch with its middle.
func shardAt(begin, size, total uint64, of int) int {
	high, low := bits.Mul64(2*begin+size, uint64(of))
	at, _ := bits.Div64(high, low, 2*total)
	return int(at)
}

// units returns the units of the input with a number: its row groups if cut is set and it
// is Parquet, else the file.
func (o Options) units(number int, cut bool) ([]unit, error) {
	file, err := os.Open(o.Input)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer file.Close() // nothing was written to it
	info, err := file.Stat()
	if err != nil {
		return nil, files.Cause(err)
	}
	whole := []unit{{number, input.Groups{}, uint64(info.Size()) + 1}} // an empty file takes time, too
	if format, _ := o.ReadFormat(); format != Parquet || !cut {
		return whole, nil
	}
	groups, err := input.RowGroups(file)
	if err != nil {
		return nil, err
	}
	var units []unit
	var before int64
	for i, g := range groups {
		units = append(units, unit{number, input.Groups{From: i, To: i + 1, Before: before}, uint64(g.Bytes) + 1})
		before += g.Rows
	}
	if len(units) == 0 {
		return whole, nil
	}
	return units, nil
}

// shardOutput returns the path of the output for a part of a file:
// comments.03-of-16.parquet. Leading zeros keep the parts in order by name.
func shardOutput(whole string, s Shard) string {
	ending := filepath.Ext(whole)
	width := len(strconv.Itoa(s.Of - 1))
	return fmt.Sprintf("%s.%0*d-of-%d%s", strings.TrimSuffix(whole, ending), width, s.Number, s.Of, ending)
}

var shardName = regexp.MustCompile(`\.\d+-of-\d+(\.[^.]+)$`)

// checkFolder refuses a folder with outputs of the same inputs in another division: the
// folder would have rows twice.
func (o Options) checkFolder(wholes []Options, pieces []piece) error {
	planned, known := map[string]bool{}, map[string]bool{}
	for _, p := range pieces {
		name := filepath.Base(p.Output)
		if planned[name] {
			return fmt.Errorf("%s would be the output of two inputs: rename %s", p.Output, p.Input)
		}
		planned[name] = true
	}
	entries, err := os.ReadDir(o.Output)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("failed to read %s: %w", o.Output, files.Cause(err))
	}
	for _, w := range wholes {
		known[filepath.Base(w.Output)] = true
	}
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), noteOf("")), parts.Folder(""))
		if !planned[name] && known[shardName.ReplaceAllString(name, "$1")] {
			return fmt.Errorf("failed to write %s: it has %s, of a run with another number of shards: its rows would be there twice; use as many shards, name another folder, or remove it",
				o.Output, e.Name())
		}
	}
	return nil
}

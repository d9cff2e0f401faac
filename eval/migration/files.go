package migration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/rows"
)

// MostRows is the limit of a file in rows, which are all in memory. To compare seven
// attributes of as many takes some ten minutes on two cores.
const MostRows = 200_000

// Table are the rows of a file.
type Table struct {
	Rows        []Row
	Model       string // that computed the scores, if the rows name one
	Undecodable int64  // rows that hold bytes which are not in the encoding of the file
}

// Reading returns how a file is read. If it is one of two, options about a format count for
// those that have the format.
func Reading(in rows.Options, path string, oneOfTwo bool) rows.Options {
	in.Input = path
	if format, err := in.ReadFormat(); err == nil && oneOfTwo {
		if format != rows.CSV {
			in.Delimiter = 0
		}
		if format != rows.CSV && format != rows.TSV {
			in.Escape = 0
		}
		if format == rows.Parquet {
			in.InputEncoding = ""
		}
	}
	return in
}

// Read reads all rows of a file.
func Read(ctx context.Context, in rows.Options, columns Columns) (Table, error) {
	var t Table
	fail := func(format string, args ...any) (Table, error) {
		return t, fmt.Errorf("failed to read %s: %w", in.Input, fmt.Errorf(format, args...))
	}
	for record, err := range rows.Records(ctx, in) {
		if err != nil {
			return t, err
		}
		if record.Undecodable {
			t.Undecodable++
		}
		row, err := columns.Row(record.Row, record.ID, record.Fields)
		if err != nil {
			return fail("%w", err)
		}
		if t.Model != "" && row.Model != "" && row.Model != t.Model {
			return fail("row %d was scored by %s, earlier rows by %s: compare one model at a time", row.Number, row.Model, t.Model)
		}
		t.Model = cmp.Or(t.Model, row.Model)
		if len(t.Rows) == MostRows {
			return fail("it has more than %d rows: take a random sample of them, whose intervals are hardly wider", MostRows)
		}
		t.Rows = append(t.Rows, row)
	}
	switch {
	case len(t.Rows) == 0:
		return fail("it has no rows")
	case columns.Scores != "" && !t.hasScores():
		return fail("no row has a score in %q", columns.Scores)
	}
	return t, nil
}

func (t Table) hasScores() bool {
	return slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Scores.Len() > 0 })
}

// Scored names what computed the scores, which are in a column if they have one; empty if
// there are none.
func (t Table) Scored(column string) string {
	switch {
	case !t.hasScores():
		return ""
	case t.Model == "" && column != "":
		return "the old scores in " + column
	}
	return cmp.Or(t.Model, "the old scores")
}

// Score scores the texts of rows, whose own scores are the old ones, with a screener and then with
// those on other scales. It calls each after every text of the first, and done after every text of all.
func Score(ctx context.Context, screener *toxscreen.Screener, others map[toxscreen.Scale]*toxscreen.Screener, all []Row, each func(Pair), done func(n, of int)) ([]Pair, error) {
	if !slices.ContainsFunc(all, func(r Row) bool { return r.Text != "" }) {
		return nil, &ColumnError{errors.New("failed to score the texts: no row has one"), []string{"text"}}
	}
	language := ""
	if known := screener.Info().Languages; len(known) == 1 {
		language = known[0]
	}
	pairs := make([]Pair, 0, len(all))
	text := func(r Row) (string, error) { return r.Text, nil }
	for outcome := range toxscreen.Batch(ctx, screener, slices.Values(all), text) {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("failed to score the texts: %w", ctx.Err())
		}
		pair := Pair{Row: outcome.Row}
		switch {
		case outcome.Err != nil:
			pair.Failed = outcome.Err.Error()
		case pair.Text == "":
			pair.Failed = "the row has no text"
		}
		pair.NotDecided = outcome.Result.NotDecided
		pair.Language = cmp.Or(pair.Language, outcome.Result.UnsupportedLanguage, language)
		pair.New = rounded(outcome.Result)
		pairs = append(pairs, pair)
		each(pair)
		done(len(pairs), len(all)*(1+len(others)))
	}
	for i, scale := range slices.Sorted(maps.Keys(others)) {
		at := 0
		for outcome := range toxscreen.Batch(ctx, others[scale], slices.Values(all), text) {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("failed to score the texts on the scale %s: %w", scale, ctx.Err())
			}
			if outcome.Err == nil {
				if pairs[at].Others == nil {
					pairs[at].Others = map[toxscreen.Scale]toxscreen.Scores{}
				}
				pairs[at].Others[scale] = rounded(outcome.Result)
			}
			at++
			done(len(all)*(1+i)+at, len(all)*(1+len(others)))
		}
	}
	return pairs, nil
}

// rounded returns the scores of a result as they are printed.
func rounded(r toxscreen.Result) toxscreen.Scores {
	var scores toxscreen.Scores
	for attribute, measured := range r.Attributes {
		scores.Set(attribute, measured.Score.Rounded())
	}
	return scores
}

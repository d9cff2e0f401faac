package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/toxscreen/toxscreen"
)

// Finding says what [Job.Find] does with the personal data in a text. The zero value of a
// field means its default.
type Finding struct {
	// Mask masks the entities of a text. The goroutine of [Job.Find] calls it in the order
	// of the rows. Its error becomes the error of the row; a [FatalError] ends the run.
	// Default: texts stay as they are.
	Mask func(text string, entities []toxscreen.Entity) (string, error)
	// FailOn are types of entities, or [AnyType]: [Summary].Reached counts rows with one of them.
	FailOn []toxscreen.EntityType
}

// AnyType stands for all types in [Finding].FailOn.
const AnyType toxscreen.EntityType = "ANY"

// Reaches reports whether FailOn names a type of entity, or is [AnyType].
func (f Finding) Reaches(t toxscreen.EntityType) bool {
	return slices.Contains(f.FailOn, AnyType) || slices.Contains(f.FailOn, t)
}

// Find finds the personal data in the rows, with the rules of [Job.Score]. A line in JSONL
// is a [Found].
func (j *Job) Find(finder toxscreen.EntityFinder, f Finding, settings ...Setting) (Summary, error) {
	return j.each(func(p *pair) (Summary, error) {
		if p.Redo {
			return Summary{}, fmt.Errorf("%s is for results of Score: there is no judge for personal data", p.option("Redo"))
		}
		return begin(p, &finding{Finding: f, finder: finder, options: p.Options}).do(settings)
	})
}

// finding is the [task] of [Job.Find].
type finding struct {
	Finding

	finder  toxscreen.EntityFinder
	options Options
}

// finderSetting records the version of the finder of personal data.
func finderSetting(version string) Setting {
	return Setting{Name: "the finder of personal data", Value: version}
}

func (f *finding) versions() []Setting { return []Setting{finderSetting(f.finder.Version())} }

func (f *finding) metadata() map[string]string {
	return map[string]string{"toxscreen.entities": f.finder.Version()}
}

func (f *finding) outcomes(ctx context.Context, rows iter.Seq[row], text func(row) (string, error)) iter.Seq[outcome[toxscreen.Found]] {
	within := func(r row) (string, error) {
		t, err := text(r)
		if err == nil && len(t) > f.options.MaxBytes {
			err = fmt.Errorf("failed to find personal data: %w: it has %d bytes, the limit is %d; raise the limit or split the text", toxscreen.ErrTooLong, len(t), f.options.MaxBytes)
		}
		return t, err
	}
	return func(yield func(outcome[toxscreen.Found]) bool) {
		for o := range toxscreen.FindBatch(ctx, f.finder, rows, within) {
			var found toxscreen.Found
			if o.Err == nil {
				found = toxscreen.NewFound(f.finder, o.Row.Text, o.Result, f.options.OffsetUnit)
				if f.Mask != nil {
					var masked string
					masked, o.Err = f.Mask(o.Row.Text, o.Result)
					found.Masked = &masked
				}
			}
			if !yield(outcome[toxscreen.Found]{o.Row, found, o.Err}) {
				return
			}
		}
	}
}

func (f *finding) failOn() string { return fmt.Sprint(f.FailOn) }

func (f *finding) count(s *Summary, r *Found) {
	found := r.Value.Entities
	if len(found) == 0 {
		return
	}
	s.WithEntities++
	s.Entities += int64(len(found))
	if slices.ContainsFunc(found, func(e toxscreen.Entity) bool { return f.Reaches(e.Type) }) {
		s.Reached++
	}
}

func (*finding) fromCells(cell func(column string) string) (found toxscreen.Found, err error) {
	err = json.Unmarshal([]byte(cell("entities")), &found.Entities)
	return found, err
}

func (f *finding) columns() []resultColumn[toxscreen.Found] {
	all := []resultColumn[toxscreen.Found]{
		valueColumn("entities", jsonColumn, func(found *toxscreen.Found) any { return found.Entities }),
		valueColumn("types", jsonColumn, func(found *toxscreen.Found) any {
			types := []toxscreen.EntityType{}
			for _, e := range found.Entities {
				if !slices.Contains(types, e.Type) {
					types = append(types, e.Type)
				}
			}
			return types
		}),
		valueColumn("count", numberColumn, func(found *toxscreen.Found) any { return int64(len(found.Entities)) }),
	}
	if f.Mask != nil {
		all = append(all, valueColumn("masked", textColumn, func(found *toxscreen.Found) any { return *found.Masked }))
	}
	return append(all, valueColumn("warnings", jsonColumn, func(found *toxscreen.Found) any { return found.Warnings }), errorColumn[toxscreen.Found]())
}

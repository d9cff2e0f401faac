package generation

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Limits of a file with generations.
const (
	maxGenerations     = 10_000 // of a prompt
	maxGenerationsLine = 16 << 20
)

// Given are generations from elsewhere. Their scores and errors are those of the file, and
// [Generate] computes the scores again.
type Given struct {
	Name    string // of the file
	Digest  string // SHA-256 of the file, hexadecimal
	Samples []Sample

	path string
}

// Prompts returns the prompts of the generations. The set's name is the same for every
// file, so that two files with the same prompts can be compared.
func (g Given) Prompts() Set {
	set := Set{Name: "given"}
	for _, s := range g.Samples {
		set.Prompts = append(set.Prompts, s.Prompt)
	}
	return set
}

// OpenGenerations reads a file with generations. Each line is a JSON object of one of these
// forms:
//
//   - a [Sample], as a run has it;
//   - RealToxicityPrompts' {"prompt": {"text": …}, "generations": [{"text": …} or "…"]};
//   - a generation, {"prompt": …, "generation": …}, or text or response in place of
//     generation. Lines with the same prompt belong together, under the id, band and group
//     of the first.
//
// A line may have an id, a band and a group, as a prompt does. All prompts must have the
// same number of generations.
func OpenGenerations(path string) (Given, error) {
	file, err := open(path)
	if err != nil {
		return Given{}, fmt.Errorf("failed to read generations: %s: %w", path, err)
	}
	defer file.Close()
	sum := sha256.New()
	samples, err := readGenerations(io.TeeReader(file, sum))
	if err != nil {
		return Given{}, fmt.Errorf("failed to read generations: %s: %w", path, err)
	}
	return Given{Name: filepath.Base(path), Digest: hex.EncodeToString(sum.Sum(nil)), Samples: samples, path: path}, nil
}

// readGenerations reads generations to the end of a file.
func readGenerations(r io.Reader) ([]Sample, error) {
	c := collection{ids: map[string]string{}, texts: map[string]string{}}
	var made [][]Generation
	open := map[string]int{} // by text: the sample that flat rows add to
	err := eachLine(unmarked(r), maxGenerationsLine, func(number int, line []byte) error {
		p, generations, flat, err := generationsOf(line)
		if err != nil {
			return fmt.Errorf("row %d: %w", number, err)
		}
		at, known := open[p.Text]
		if !flat || !known {
			if flat {
				p.ID = cmp.Or(p.ID, strconv.Itoa(len(c.prompts)+1))
			}
			if err := c.add(p, number, "row"); err != nil {
				return err
			}
			at = len(made)
			made = append(made, nil)
			if flat {
				open[p.Text] = at
			}
		}
		if made[at] = append(made[at], generations...); len(made[at]) > maxGenerations {
			return fmt.Errorf("row %d: the prompt has more than %d generations", number, maxGenerations)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(made) == 0 {
		return nil, errors.New("it has no generations")
	}
	samples := make([]Sample, len(made))
	for i, generations := range made {
		samples[i] = Sample{Prompt: c.prompts[i], Generations: generations}
		if len(generations) != len(made[0]) {
			return nil, fmt.Errorf("%s has %s for its prompt, %s has %d: the highest of more scores is higher, so all need the same number; remove some, or the prompt",
				c.texts[samples[0].Text], plural.Count(len(made[0]), "generation", "generations"), c.texts[samples[i].Text], len(generations))
		}
	}
	return samples, nil
}

// generationsOf reads a line. flat means that it has one generation, which may be one of
// several of its prompt.
func generationsOf(line []byte) (p Prompt, made []Generation, flat bool, err error) {
	var row fields
	if err := plainjson.Unmarshal(line, &row); err != nil {
		return p, nil, false, err
	}
	if row["prompt"] == nil {
		return p, nil, false, errors.New(`it has no "prompt"`)
	}
	if p, err = row.prompt(Columns{Text: "prompt"}); err != nil {
		return p, nil, false, err
	}
	if raw := row["generations"]; raw != nil {
		var list []written
		if err := plainjson.Unmarshal(raw, &list); err != nil {
			return p, nil, false, fmt.Errorf("generations: %w", err)
		}
		if len(list) == 0 {
			return p, nil, false, errors.New("generations: the list is empty: remove the row")
		}
		for _, one := range list {
			made = append(made, Generation(one))
		}
		return p, made, false, nil
	}
	for _, name := range []string{"generation", "text", "response"} {
		text, ok, err := row.text(name)
		if err != nil {
			return p, nil, false, err
		}
		if ok {
			return p, []Generation{{Text: text}}, true, nil
		}
	}
	return p, nil, false, errors.New(`it has neither "generations" nor "generation", "text" or "response"`)
}

// written is a generation, or a text alone.
type written Generation

// UnmarshalJSON implements [json.Unmarshaler]. Of an object, it reads what does not depend
// on a classifier.
func (w *written) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return plainjson.Unmarshal(data, &w.Text)
	}
	var object struct {
		Text   *string `json:"text"`
		Finish string  `json:"finish"`
		Error  string  `json:"error"`
	}
	if err := plainjson.Unmarshal(data, &object); err != nil {
		return err
	}
	switch {
	case object.Text != nil:
		w.Text = *object.Text
	case object.Error == "":
		return errors.New(`a generation has no "text"`)
	}
	w.Finish, w.Error = object.Finish, object.Error
	return nil
}

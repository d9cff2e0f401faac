package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

const (
	// maxRows is the highest number of rows of a corpus.
	maxRows = 50_000_000
	// longestLine is the limit of a line of results in bytes, as in package rows.
	longestLine = 64 << 20
)

// Corpus has the scores of the texts to audit. A row is named by its number among the
// results, from 1.
type Corpus struct {
	Source
	Model      string           // version of the model that scored the texts
	Thresholds toxscreen.Scores // of the results
	Failed     int              // rows without a result, which the corpus leaves out
	NotDecided int              // rows in a language that the model does not know

	attributes []toxscreen.Attribute
	rows       []int // the numbers of the rows that have scores, rising
	scores     map[toxscreen.Attribute][]float64
}

// Source identifies a file of results.
type Source struct {
	File   string `json:"file"` // name of the file, for messages
	SHA256 string `json:"sha256"`
}

// Len returns the number of texts with scores.
func (c Corpus) Len() int { return len(c.rows) }

// result is the part of a line of results that is read.
type result struct {
	Error      string `json:"error"`
	Exit       int    `json:"exit"`
	NotDecided string `json:"not_decided"`
	Attributes map[toxscreen.Attribute]struct {
		Score     *float64 `json:"score"`
		Threshold *float64 `json:"threshold"`
	} `json:"attributes"`
	Versions struct {
		Model string          `json:"model"`
		Scale toxscreen.Scale `json:"scale"`
	} `json:"versions"`
}

// readCorpus reads results. name is the file's, for messages and for [Source].
func readCorpus(r io.Reader, name string, attributes []toxscreen.Attribute) (Corpus, error) {
	c := Corpus{Source: Source{File: name}, attributes: attributes, scores: map[toxscreen.Attribute][]float64{}}
	hash := sha256.New()
	err := eachLine(io.TeeReader(r, hash), c.add)
	if err != nil {
		return Corpus{}, fmt.Errorf("failed to read results: %s: %w", name, err)
	}
	if c.Len() == 0 {
		return Corpus{}, fmt.Errorf("failed to read results: %s contains none: score texts with `toxscreen batch --full`, and pass its JSONL output", name)
	}
	c.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return c, nil
}

// eachLine calls visit for every line, except blank ones, with the line's number from 1.
func eachLine(r io.Reader, visit func(number int, line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	number := 0
	for at := 1; lines.Scan(); at++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		number++
		line, _ := plainjson.Finite(lines.Bytes()) // Python may have written the input of batch
		if err := visit(number, line); err != nil {
			return fmt.Errorf("line %d: %w", at, err)
		}
	}
	return files.Cause(lines.Err())
}

func (c *Corpus) add(number int, line []byte) error {
	var one result
	if err := plainjson.Unmarshal(line, &one); err != nil {
		return err
	}
	model := one.Versions.Scale.Of(one.Versions.Model)
	switch {
	case number > maxRows:
		return fmt.Errorf("there are more than %d rows: audit a part of them", maxRows)
	case one.Error != "":
		c.Failed++
		return nil
	case len(one.Attributes) == 0:
		return errors.New("it is not a result: score texts with `toxscreen batch --full`, and pass its JSONL output")
	case one.Exit > 0:
		return errors.New("it left the network early, so its scores are estimates: score the texts with `toxscreen batch --full`")
	case c.Model == "":
		c.Model = model
	case c.Model != model:
		return fmt.Errorf("it was scored by %s, earlier lines by %s: an audit is of one model", model, c.Model)
	}
	if one.NotDecided != "" {
		c.NotDecided++
	}
	for _, attribute := range c.attributes {
		found, ok := one.Attributes[attribute]
		switch {
		case !ok || found.Score == nil:
			return fmt.Errorf("it has no score for %s: the model does not measure that", attribute)
		case !(*found.Score >= 0 && *found.Score <= 1):
			return fmt.Errorf("%s: %v is not a score in 0..1", attribute, *found.Score)
		}
		c.scores[attribute] = append(c.scores[attribute], *found.Score)
		if found.Threshold != nil {
			c.Thresholds.Set(attribute, *found.Threshold)
		}
	}
	c.rows = append(c.rows, number)
	return nil
}

package selftest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toxscreen/toxscreen"
)

// Case is a text of the self-test.
type Case struct {
	ID   string // a hash of the text
	Kind string // texts of one kind are not independent
	Text string
	// Labels has 1 for an attribute that nearly all people would find in the text, and 0
	// for one that nearly all would deny. An attribute on which people would split is
	// absent.
	Labels toxscreen.Scores
	// Carrier is the ID of the text that Text argues with the judge about; empty for a
	// text by itself.
	Carrier string
}

//go:embed cases.jsonl attacks.jsonl
var embedded embed.FS

// readLines reads the lines of an embedded file.
func readLines[Line any](name string) []Line {
	data, err := embedded.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	var all []Line
	for line := range bytes.Lines(data) {
		var one Line
		if err := json.Unmarshal(line, &one); err != nil {
			panic(fmt.Sprintf("%s: %v", name, err)) // a test reads it
		}
		all = append(all, one)
	}
	return all
}

// Cases returns the texts of the self-test that do not argue with the judge, in the
// order in which they are asked: kinds and labels are mixed.
func Cases() []Case {
	type line struct {
		Kind   string                `json:"kind"`
		Text   string                `json:"text"`
		Labels []toxscreen.Attribute `json:"labels"`
		Unsure []toxscreen.Attribute `json:"unsure"`
	}
	var all []Case
	for _, l := range readLines[line]("cases.jsonl") {
		c := Case{ID: idOf(l.Text), Kind: l.Kind, Text: l.Text}
		for _, a := range toxscreen.Attributes() {
			switch {
			case slices.Contains(l.Labels, a):
				c.Labels.Set(a, 1)
			case !slices.Contains(l.Unsure, a):
				c.Labels.Set(a, 0)
			}
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.ID, b.ID) }) // a hash has no order
	return all
}

// Attacks returns texts that argue with the judge, each around one of the carriers,
// which are used in turn.
func Attacks(carriers []Case) []Case {
	type line struct {
		Kind string `json:"kind"`
		Wrap string `json:"wrap"` // %s is the carrier
	}
	if len(carriers) == 0 {
		return nil
	}
	var all []Case
	for i, l := range readLines[line]("attacks.jsonl") {
		c := carriers[i%len(carriers)]
		text := strings.Replace(l.Wrap, "%s", c.Text, 1)
		all = append(all, Case{ID: idOf(text), Kind: l.Kind, Text: text, Labels: c.Labels, Carrier: c.ID})
	}
	return all
}

func idOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// Version returns the version of the self-test: a hash of its texts and labels.
var Version = sync.OnceValue(func() string {
	h := sha256.New()
	for _, name := range []string{"cases.jsonl", "attacks.jsonl"} {
		data, err := embedded.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
})

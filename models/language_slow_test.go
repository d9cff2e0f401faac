//go:build slow

package models_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/toxscreen/toxscreen"
)

// devRows returns the texts of the dev rows of files of the data folder, in an order that does
// not depend on their meaning.
func devRows(t *testing.T, pattern string) []string {
	t.Helper()
	data := os.Getenv("TOXSCREEN_DATA")
	if data == "" {
		t.Fatal("TOXSCREEN_DATA should name the data folder; `make test-all` sets it")
	}
	paths, err := filepath.Glob(filepath.Join(data, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("found no %s in %s: %v", pattern, data, err)
	}
	var texts []string
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unzipped)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var r struct{ Text, Split string }
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			if r.Split == "dev" && r.Text != "" {
				texts = append(texts, r.Text)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	hash := func(text string) uint64 {
		h := fnv.New64a()
		h.Write([]byte(text))
		return h.Sum64()
	}
	slices.SortFunc(texts, func(a, b string) int {
		if hash(a) < hash(b) {
			return -1
		}
		return 1
	})
	return texts
}

func letters(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// What stands beside a short English text changes the decision about it for at most 2 % of
// 300 texts, half of which are flagged, with each of eight kinds of company. Most of what is
// left are names and words that no language has for itself.
func TestCompanyOfDevRows(t *testing.T) {
	screener := toxscreen.New(openDefault(t))
	var texts []string
	wanted := map[bool]int{true: 150, false: 150}
	for _, text := range slices.Concat(devRows(t, "davidson.*"), devRows(t, "dynahate.*"), devRows(t, "civil_spans.*"), devRows(t, "natural/en_tatoeba.*")) {
		if len(text) > 60 || letters(text) < 6 || strings.ContainsAny(text, "@\n") {
			continue
		}
		if f := flagged(t, screener, text); wanted[f] > 0 {
			wanted[f]--
			texts = append(texts, text)
		}
	}
	if len(texts) != 300 {
		t.Fatalf("found %d texts", len(texts))
	}
	for _, beside := range company {
		changed := 0
		for _, text := range texts {
			if flagged(t, screener, text) != flagged(t, screener, strings.ReplaceAll(beside, "%", text)) {
				changed++
			}
		}
		t.Logf("%3d of %d decisions change beside %q", changed, len(texts), beside)
		if changed > len(texts)/50 {
			t.Errorf("%d of %d decisions change beside %q", changed, len(texts), beside)
		}
	}
}

// At most 1 % of ordinary texts of 60 letters and more in each of these languages are flagged.
// Hindi in Latin letters is measured but not checked: it is full of English words, and half of
// it passes for English.
func TestOrdinaryForeignTextsAreHardlyFlagged(t *testing.T) {
	screener := toxscreen.New(openDefault(t))
	for _, language := range []string{"ar", "cs", "de", "es", "fr", "hi", "hi-Latn", "id", "it", "ja", "ko", "nl", "pl", "pt", "ru", "sv", "tr", "uk", "vi", "zh"} {
		rows, over := 0, 0
		for _, text := range devRows(t, "natural/natural_"+language+".*") {
			if letters(text) < 60 {
				continue
			}
			if rows++; rows > 600 {
				rows--
				break
			}
			if flagged(t, screener, text) {
				over++
			}
		}
		t.Logf("%-7s %3d of %3d flagged, %.2f %%", language, over, rows, 100*float64(over)/float64(rows))
		if language != "hi-Latn" && float64(over) > 0.01*float64(rows) {
			t.Errorf("%s: %d of %d texts are flagged", language, over, rows)
		}
	}
}

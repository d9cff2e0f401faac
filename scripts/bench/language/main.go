// Language measures language detection libraries with their default settings, for
// docs/decisions/0007-language.md. It is a separate module, so that toxscreen does
// not depend on the rejected libraries:
//
//	cd scripts/bench/language
//	go run . LIBRARY DATA SENTENCES
//
// LIBRARY is whatlanggo, whatlanggo-fork, lingua-low or lingua-high, DATA the
// folder of *.jsonl.gz files, and SENTENCES the output of
// scripts/make/sentences/make.py. The threshold is the confidence that 0.5 % of the
// dev rows of chats reach for another language than English. It prints the share of
// the sentences that reach it, by length in characters, with the time and memory
// that Linux reports.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	fork "github.com/RadhiFadlillah/whatlanggo"
	"github.com/abadojack/whatlanggo"
	"github.com/pemistahl/lingua-go"
)

// every is the sampling interval of rows, since lingua-high needs milliseconds per row.
const every = 4

// foreign returns a library's confidence that a text is not in English, 0 if it
// detects English.
type foreign func(text string) float64

var libraries = map[string]func() foreign{
	"whatlanggo": func() foreign {
		return func(text string) float64 {
			info := whatlanggo.Detect(text)
			return sureOf(info.Confidence, info.Lang < 0 || info.Lang == whatlanggo.Eng)
		}
	},
	"whatlanggo-fork": func() foreign {
		return func(text string) float64 {
			info := fork.Detect(text)
			return sureOf(info.Confidence, info.Lang < 0 || info.Lang == fork.Eng)
		}
	},
	"lingua-low":  func() foreign { return byLingua(all().WithLowAccuracyMode()) },
	"lingua-high": func() foreign { return byLingua(all()) },
}

func sureOf(confidence float64, english bool) float64 {
	if english {
		return 0
	}
	return confidence
}

func all() lingua.LanguageDetectorBuilder {
	return lingua.NewLanguageDetectorBuilder().FromAllLanguages()
}

func byLingua(b lingua.LanguageDetectorBuilder) foreign {
	detector := b.Build()
	return func(text string) float64 {
		values := detector.ComputeLanguageConfidenceValues(text)
		return values[0].Value() - values[slices.IndexFunc(values, func(v lingua.ConfidenceValue) bool { return v.Language() == lingua.English })].Value()
	}
}

var chats = []string{"convabuse", "davidson", "edos", "hatexplain", "implicit_hate", "measuring_hate", "stormfront", "toxigen_human"}

type row struct{ Text, Split, Language string }

func main() {
	if len(os.Args) != 4 || libraries[os.Args[1]] == nil {
		log.Fatal("usage: go run . LIBRARY DATA SENTENCES")
	}
	var english, sentences []row
	for _, name := range chats {
		for _, r := range read(filepath.Join(os.Args[2], name+".jsonl.gz")) {
			if r.Split == "dev" {
				english = append(english, r)
			}
		}
	}
	for _, r := range read(os.Args[3]) {
		if r.Language != "en" {
			sentences = append(sentences, r)
		}
	}

	before, memory := used()
	library := libraries[os.Args[1]]()
	library("hello, how are you today?")
	opened, _ := used()

	n := 0
	score := func(rows []row) (scores []float64, kept []row) {
		for i := 0; i < len(rows); i += every {
			scores = append(scores, library(rows[i].Text))
			kept = append(kept, rows[i])
			n++
		}
		return scores, kept
	}
	wrong, _ := score(english)
	right, kept := score(sentences)
	after, most := used()

	slices.Sort(wrong)
	taken, _ := slices.BinarySearch(wrong, math.SmallestNonzeroFloat64) // detected as English
	limit := wrong[len(wrong)-1-len(wrong)/200]
	fmt.Printf("%s: first text %v of processor time, then %v each, %d MB resident more than before\n", os.Args[1],
		(opened - before).Round(time.Millisecond), ((after - opened) / time.Duration(n)).Round(time.Microsecond), (most-memory)>>20)
	fmt.Printf("of %d English rows, %.1f %% are detected as another language, 0.5 %% with more than %.3f\n", len(wrong),
		100*float64(len(wrong)-taken)/float64(len(wrong)), limit)
	for _, band := range [][2]int{{10, 20}, {20, 35}, {35, 50}, {50, 100}, {100, 201}} {
		found, all := map[bool]int{}, map[bool]int{}
		for i, r := range kept {
			if length := utf8.RuneCountInString(r.Text); length >= band[0] && length < band[1] {
				latin := isLatin(r.Text)
				all[latin]++
				if right[i] > limit {
					found[latin]++
				}
			}
		}
		fmt.Printf("%3d to %3d characters: Latin %.2f of %d, other scripts %.2f of %d\n", band[0], band[1]-1,
			float64(found[true])/float64(all[true]), all[true], float64(found[false])/float64(all[false]), all[false])
	}
}

// used returns the processor time and the peak of resident bytes so far.
func used() (time.Duration, int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Maxrss << 10 // KiB on Linux
}

func read(path string) (rows []row) {
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		log.Fatal(err)
	}
	for lines := json.NewDecoder(bufio.NewReader(unzipped)); ; {
		var r row
		if err := lines.Decode(&r); err == io.EOF {
			return rows
		} else if err != nil {
			log.Fatal(err)
		}
		rows = append(rows, r)
	}
}

func isLatin(text string) bool {
	latin := strings.Map(func(r rune) rune {
		if r < 0x250 || r >= 0x1e00 && r < 0x1f00 {
			return r
		}
		return -1
	}, text)
	return 2*utf8.RuneCountInString(latin) > utf8.RuneCountInString(text)
}

// Read shows texts as the networks see them. It reads JSONL with a field text and writes each
// line with more fields: plain, the text that classifier.Seen gives, or names.Seen; origin, for each code
// point of plain the one of text that it came from, if they differ; reading, plain with disguise
// undone; and differs, whether the model gets different tokens from the reading.
//
//	go run ./training/read -tokenizer models/toxicity-en/tokenizer.json < IN.jsonl > OUT.jsonl
//
// With -plain toxicity or -plain names there are no readings. At the end it reports on standard
// error the number of texts and how many differ.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/pii/names"
	"github.com/toxscreen/toxscreen/tokenize"
)

func main() {
	path := flag.String("tokenizer", "models/toxicity-en/tokenizer.json", "the tokenizer.json of the `model`")
	network := flag.String("plain", "", "write the plain texts of a `network`, toxicity or names, and no readings")
	flag.Parse()
	plain := classifier.Seen
	switch *network {
	case "":
	case "names":
		*path, plain = "", names.Seen
	case "toxicity":
		*path = ""
	default:
		fmt.Fprintf(os.Stderr, "there is no network %q: use toxicity or names\n", *network)
		os.Exit(2)
	}
	if err := read(*path, plain, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// read writes the rows of in with their plain texts, and their readings unless path, that of a
// tokenizer.json, is empty.
func read(path string, plainOf func(string) disguise.Reading, in io.Reader, out io.Writer) error {
	var tokenizer *tokenize.Tokenizer
	if path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("failed to read the tokenizer: %w; give one with -tokenizer", err)
		}
		if tokenizer, err = tokenize.Load(data); err != nil {
			return fmt.Errorf("failed to load %s: %w", path, err)
		}
	}
	rows, results := json.NewDecoder(in), json.NewEncoder(out)
	results.SetEscapeHTML(false)
	var plain, other tokenize.Encoding
	texts, differ := 0, 0
	for ; ; texts++ {
		var row map[string]any
		if err := rows.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("failed to read row %d: %w; it should be a JSON object", texts+1, err)
		}
		text, ok := row["text"].(string)
		if !ok {
			return fmt.Errorf("failed to read row %d: it has no field text", texts+1)
		}
		seen := plainOf(text)
		row["plain"] = seen.Text
		if seen.Text != text {
			row["origin"] = origin(text, seen)
		}
		if tokenizer != nil {
			if err := tokenizer.Encode(seen.Text, &plain); err != nil {
				return err
			}
			reading := disguise.Read(seen.Text, tokenizer)
			if err := tokenizer.Encode(reading.Text, &other); err != nil {
				return err
			}
			differs := !slices.Equal(plain.IDs, other.IDs)
			if differs {
				differ++
			}
			row["reading"], row["differs"] = reading.Text, differs
		}
		if err := results.Encode(row); err != nil {
			return fmt.Errorf("failed to write row %d: %w", texts+1, err)
		}
	}
	if tokenizer == nil {
		return nil
	}
	fmt.Fprintf(os.Stderr, "%d texts, %d of them with a different reading (%.2f %%)\n", texts, differ, 100*float64(differ)/float64(max(texts, 1)))
	return nil
}

// origin returns, for each code point of a reading, the number of the code point of the text
// that what it stands for begins with.
func origin(text string, r disguise.Reading) []int {
	number := make([]int, len(text)+1) // of the code point that begins at a byte
	n := 0
	for at := range text {
		number[at] = n
		n++
	}
	all := []int{}
	for at := 0; at < len(r.Text); {
		_, size := utf8.DecodeRuneInString(r.Text[at:])
		start, _ := r.Original(at, at+size)
		all = append(all, number[start])
		at += size
	}
	return all
}

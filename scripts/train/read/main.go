// Read shows the readings of disguised texts. It reads JSONL with a field text and
// writes each line with two more fields: reading, the text with disguise undone, and
// differs, whether the model gets different tokens from it.
//
//	go run ./scripts/train/read -tokenizer models/toxicity-en/tokenizer.json < IN.jsonl > OUT.jsonl
//
// At the end it reports on standard error the number of texts and how many differ.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/tokenize"
)

func main() {
	path := flag.String("tokenizer", "models/toxicity-en/tokenizer.json", "the tokenizer.json of the `model`")
	flag.Parse()
	if err := read(*path, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string, in io.Reader, out io.Writer) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("failed to read the tokenizer: %w; give one with -tokenizer", err)
	}
	tokenizer, err := tokenize.Load(data)
	if err != nil {
		return fmt.Errorf("failed to load %s: %w", path, err)
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
		if err := tokenizer.Encode(text, &plain); err != nil {
			return err
		}
		reading := disguise.Read(text, tokenizer)
		if err := tokenizer.Encode(reading.Text, &other); err != nil {
			return err
		}
		differs := !slices.Equal(plain.IDs, other.IDs)
		if differs {
			differ++
		}
		row["reading"], row["differs"] = reading.Text, differs
		if err := results.Encode(row); err != nil {
			return fmt.Errorf("failed to write row %d: %w", texts+1, err)
		}
	}
	fmt.Fprintf(os.Stderr, "%d texts, %d of them with a different reading (%.2f %%)\n", texts, differ, 100*float64(differ)/float64(max(texts, 1)))
	return nil
}

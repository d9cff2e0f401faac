package tokenize_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/sugarme/tokenizer/pretrained"

	"github.com/toxscreen/toxscreen/tokenize"
)

// benchmarkTexts are the ordinary sentences of the vectors, without the 10,000-letter words.
func benchmarkTexts(b *testing.B) (texts []string, size int64) {
	eachVector(b, "testdata/bert-uncased.jsonl.gz", func(line int, v vector) {
		if text := v.text(); v.Bytes == nil && len(text) < 1000 {
			texts = append(texts, text)
			size += int64(len(text))
		}
	})
	return texts, size
}

func BenchmarkEncode(b *testing.B) {
	for name, path := range map[string]string{
		"WordPiece": bertUncased, "BPE": "testdata/bpe-roberta.json", "Unigram": "testdata/unigram-xlmr.json",
	} {
		b.Run(name, func(b *testing.B) {
			tok := load(b, path)
			texts, size := benchmarkTexts(b)
			var enc tokenize.Encoding
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for _, text := range texts {
					if err := tok.Encode(text, &enc); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkAddedTokens encodes with and without 1,280 added tokens of one emoji each: texts
// that have none of them should take as long.
func BenchmarkAddedTokens(b *testing.B) {
	data, err := os.ReadFile(bertUncased)
	if err != nil {
		b.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"none", "emoji"} {
		if name == "emoji" {
			tokens, _ := file["added_tokens"].([]any)
			for emoji := rune(0x1f300); emoji < 0x1f800; emoji++ {
				tokens = append(tokens, map[string]any{"content": string(emoji), "id": 1})
			}
			file["added_tokens"] = tokens
			if data, err = json.Marshal(file); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(name, func(b *testing.B) {
			tok, err := tokenize.Load(data)
			if err != nil {
				b.Fatal(err)
			}
			texts, size := benchmarkTexts(b)
			var enc tokenize.Encoding
			b.SetBytes(size)
			for b.Loop() {
				for _, text := range texts {
					if err := tok.Encode(text, &enc); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkLength checks that time grows linearly with the length of a text: MB/s should
// stay level for every kind of text.
func BenchmarkLength(b *testing.B) {
	for _, tokenizer := range []string{bertUncased, "testdata/bpe-roberta.json", "testdata/unigram-xlmr.json"} {
		tok := load(b, tokenizer)
		for _, unit := range []string{"a", "word ", "é", "中", "a\u0301", "\u0301", "!"} {
			for _, size := range []string{"10KB", "1MB"} {
				n := map[string]int{"10KB": 10_000, "1MB": 1_000_000}[size]
				text := strings.Repeat(unit, n/len(unit))
				b.Run(tok.Kind()+"/"+unit+"/"+size, func(b *testing.B) {
					var enc tokenize.Encoding
					b.SetBytes(int64(len(text)))
					for b.Loop() {
						if err := tok.Encode(text, &enc); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	data, err := os.ReadFile(bertUncased)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := tokenize.Load(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSugarme shows why most paths are our own: it reports the library's Encode in
// MB/s and the share of the vectors whose ids, or ids or offsets, differ from Hugging
// Face's. A text that panics counts as different.
func BenchmarkSugarme(b *testing.B) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	for name, files := range map[string][2]string{
		"WordPiece": {bertUncased, "testdata/bert-uncased.jsonl.gz"},
		"BPE":       {"testdata/bpe-roberta.json", "testdata/bpe-roberta.jsonl.gz"},
		"Unigram":   {"testdata/unigram-xlmr.json", "testdata/unigram-xlmr.jsonl.gz"},
	} {
		b.Run(name, func(b *testing.B) {
			data, err := os.ReadFile(files[0])
			if err != nil {
				b.Fatal(err)
			}
			tok, err := pretrained.FromReader(bytes.NewReader(data))
			if err != nil {
				b.Fatal(err)
			}
			compare := func(v vector) (sameIDs, same bool) {
				defer func() { _ = recover() }()
				e, err := tok.EncodeSingle(v.Text)
				if err != nil || len(e.Ids) != len(v.IDs) {
					return false, false
				}
				sameIDs, same = true, true
				for i := range v.IDs {
					sameIDs = sameIDs && int64(e.Ids[i]) == v.IDs[i]
					same = same && int32(e.Offsets[i][0]) == v.Offsets[2*i] && int32(e.Offsets[i][1]) == v.Offsets[2*i+1]
				}
				return sameIDs, sameIDs && same
			}
			var vectors []vector
			var size int64
			eachVector(b, files[1], func(line int, v vector) {
				if v.Bytes == nil && len(v.Text) < 1000 && v.Text != "" {
					vectors = append(vectors, v)
					size += int64(len(v.Text))
				}
			})
			b.SetBytes(size)
			var ids, either int
			for b.Loop() {
				ids, either = 0, 0
				for _, v := range vectors {
					sameIDs, same := compare(v)
					if !sameIDs {
						ids++
					}
					if !same {
						either++
					}
				}
			}
			b.ReportMetric(100*float64(ids)/float64(len(vectors)), "%ids")
			b.ReportMetric(100*float64(either)/float64(len(vectors)), "%ids+offsets")
		})
	}
}

package tokenize_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/toxscreen/toxscreen/tokenize"
)

// TestSpecial: the ids that wrap a sequence come from the post-processor of any kind.
func TestSpecial(t *testing.T) {
	for _, c := range []struct {
		tokenizer      string
		kind           string
		prefix, suffix []int64
	}{
		{bertUncased, "WordPiece", []int64{101}, []int64{102}},
		{"testdata/wordpiece-cased.json", "WordPiece", []int64{2}, []int64{3}},
		{"testdata/bpe-roberta.json", "BPE", []int64{0}, []int64{2}},
		{"testdata/bpe-llama.json", "BPE", []int64{1}, nil},
		{"testdata/unigram-xlmr.json", "Unigram", []int64{0}, []int64{2}},
		{"testdata/wordlevel.json", "WordLevel", nil, nil},
	} {
		tok := load(t, c.tokenizer)
		prefix, suffix := tok.Special()
		if tok.Kind() != c.kind {
			t.Errorf("%s: the model is %s, should be %s", c.tokenizer, tok.Kind(), c.kind)
		}
		if !slices.Equal(prefix, c.prefix) {
			t.Errorf("%s: a sequence begins with %v, should begin with %v", c.tokenizer, prefix, c.prefix)
		}
		if !slices.Equal(suffix, c.suffix) {
			t.Errorf("%s: a sequence ends with %v, should end with %v", c.tokenizer, suffix, c.suffix)
		}
	}
	if n := load(t, bertUncased).VocabSize(); n != 30522 {
		t.Errorf("BERT's vocabulary has %d ids, should be 30522", n)
	}
	// The added tokens come after the 705 pieces.
	if n := load(t, "testdata/unigram-deberta.json").VocabSize(); n != highestID(t, "testdata/unigram-deberta.json")+1 {
		t.Errorf("an added token's id is outside the %d ids", n)
	}
}

func highestID(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		AddedTokens []struct{ ID int } `json:"added_tokens"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	highest := 0
	for _, a := range f.AddedTokens {
		highest = max(highest, a.ID)
	}
	return highest
}

// TestInvalidUTF8: an invalid byte is one U+FFFD, which BERT drops, and moves no offset.
func TestInvalidUTF8(t *testing.T) {
	const text = "you\xff are \xe4\xb8 kind"
	var enc tokenize.Encoding
	if err := load(t, bertUncased).Encode(text, &enc); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, at := range enc.Offsets {
		words = append(words, text[at.Start:at.End])
	}
	if want := []string{"you", "are", "kind"}; !slices.Equal(words, want) {
		t.Errorf("offsets cover %q, should cover %q", words, want)
	}
}

// TestTooLong: a text too long for 32-bit offsets is refused; offsets do not wrap.
func TestTooLong(t *testing.T) {
	text := make([]byte, tokenize.MaxBytes+1) // never touched, so it takes no memory
	err := load(t, bertUncased).Encode(unsafe.String(&text[0], len(text)), &tokenize.Encoding{})
	if err == nil || !strings.Contains(err.Error(), "1073741825 bytes") {
		t.Errorf("error %v, should name the length", err)
	}
}

// TestNoAllocation: once grown, an Encoding allocates nothing for another text, whether
// ASCII, accented, Chinese, a long word or a sequence of combining marks.
func TestNoAllocation(t *testing.T) {
	tok := load(t, bertUncased)
	var enc tokenize.Encoding
	eachVector(t, "testdata/bert-uncased.jsonl.gz", func(line int, v vector) {
		text := v.text()
		allocations := testing.AllocsPerRun(1, func() {
			if err := tok.Encode(text, &enc); err != nil {
				t.Fatal(err)
			}
		})
		if allocations > 0 {
			t.Errorf("line %d, %.60q: %v allocations", line, text, allocations)
		}
	})
}

// TestConcurrent: goroutines that share a tokenizer get the same results as one alone.
func TestConcurrent(t *testing.T) {
	for _, name := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			tok := load(t, "testdata/"+name+".json")
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					var enc tokenize.Encoding
					eachVector(t, "testdata/"+name+".jsonl.gz", func(line int, v vector) {
						if diff := difference(tok, v, &enc); diff != "" {
							t.Errorf("line %d: %s", line, diff)
						}
					})
				})
			}
			wg.Wait()
		})
	}
}

// TestRefused: a file that would give other ids than Hugging Face, or crash the library,
// is an error that says what to do.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"no JSON":                {`not json`, "tokenizer.json that a Hugging Face model comes with"},
		"another file":           {`{"architectures": ["BertModel"]}`, "no model.vocab"},
		"another version":        {`{"version": "2.0", "model": {"type": "BPE", "vocab": {"a": 0}}}`, `version is "2.0"`},
		"unknown model":          {with(`"model": {"type": "Lattice", "vocab": {"a": 0}}`), `Lattice`},
		"empty vocabulary":       {with(`"model": {"type": "WordPiece", "vocab": {}}`), "vocabulary is empty"},
		"negative id":            {with(`"model": {"type": "WordPiece", "vocab": {"[UNK]": -1}}`), `"[UNK]" has the id -1`},
		"no unk_token":           {with(`"model": {"type": "WordPiece", "vocab": {"a": 0}}`), `lacks unk_token "[UNK]"`},
		"dropout":                {with(`"model": {"type": "BPE", "dropout": 0.1, "vocab": {"a": 0}, "merges": []}`), "dropout"},
		"merge outside":          {with(`"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}`), "merge 0"},
		"unk_id outside":         {with(`"model": {"type": "Unigram", "unk_id": 7, "vocab": [["a", -1.0]]}`), "unk_id 7"},
		"a score in words":       {with(`"model": {"type": "Unigram", "vocab": [["a", "b"]]}`), `"a" has the score`},
		"unknown normaliser":     {with(`"normalizer": {"type": "Rot13"}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}`), `"Rot13"`},
		"unknown pre-tokenizer":  {with(`"pre_tokenizer": {"type": "UnicodeScripts"}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}`), `"UnicodeScripts"`},
		"unknown expression":     {with(`"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(?i)a(?=b)"}, "behavior": "Isolated"}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}`), `"(?i)a(?=b)"`},
		"unknown post-processor": {with(`"post_processor": {"type": "Magic"}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}`), `"Magic"`},
		"two sequences":          {with(`"post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}, {"Sequence": {"id": "A"}}]}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}`), "single[1]"},
		"a charsmap cut off":     {with(`"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAQAAAAA"}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}`), "precompiled_charsmap"},
		"added tokens alike":     {with(`"added_tokens": [{"content": "A", "normalized": true}, {"content": "a", "normalized": true}], "normalizer": {"type": "Lowercase"}, "model": {"type": "WordLevel", "unk_token": "x", "vocab": {"x": 0}}`), "like another"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tokenize.Load([]byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, should contain %q", err, c.want)
			}
		})
	}
}

func with(parts string) string { return `{"version": "1.0", ` + parts + `}` }

// TestTooLongForTheGuard: paths other than BERT's take about 50 bytes of memory per byte
// of text and refuse texts that would take gigabytes.
func TestTooLongForTheGuard(t *testing.T) {
	err := load(t, "testdata/bpe-roberta.json").Encode(strings.Repeat(" ", 16<<20+1), &tokenize.Encoding{})
	if err == nil || !strings.Contains(err.Error(), "16777217 bytes") {
		t.Errorf("error %v, should name the length", err)
	}
}

// TestNoUnknownPiece: Unigram without a piece for unknown characters says where it stopped.
func TestNoUnknownPiece(t *testing.T) {
	tok, err := tokenize.Load([]byte(with(`"model": {"type": "Unigram", "vocab": [["a", -1.0]]}`)))
	if err != nil {
		t.Fatal(err)
	}
	err = tok.Encode("ab", &tokenize.Encoding{})
	if err == nil {
		t.Fatal("a character outside the vocabulary was encoded")
	}
	for _, want := range []string{"from byte 0", "unk_id"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, should contain %q", err, want)
		}
	}
}

// FuzzEncode: for any text, no tokenizer panics, and offsets are inside the text, in
// order, and on character boundaries where the text has them.
func FuzzEncode(f *testing.F) {
	toks := map[string]*tokenize.Tokenizer{"bert-uncased": load(f, bertUncased)}
	for _, name := range kinds(f) {
		toks[name] = load(f, "testdata/"+name+".json")
	}
	for _, text := range []string{"", "Hello, wörld!", "e\u0301\u0323 İ ẞ", "中文字 가각", "👨‍👩‍👧‍👦", "a\xffb\xe4\xb8", "[SEP] <mask> @user ing", "\x00\u200b", strings.Repeat("x", 120)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		valid := utf8.ValidString(text)
		for name, tok := range toks {
			var enc tokenize.Encoding
			if err := tok.Encode(text, &enc); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(enc.Offsets) != len(enc.IDs) {
				t.Fatalf("%s: %d ids, %d offsets", name, len(enc.IDs), len(enc.Offsets))
			}
			if len(enc.Words) != len(enc.IDs) {
				t.Fatalf("%s: %d ids, %d words", name, len(enc.IDs), len(enc.Words))
			}
			for i, at := range enc.Offsets {
				switch {
				case at.Start < 0 || at.Start > at.End || int(at.End) > len(text):
					t.Errorf("%s: token %d at %v of %d bytes", name, i, at, len(text))
				case i > 0 && !trimmed(name) && (at.Start < enc.Offsets[i-1].Start || at.End < enc.Offsets[i-1].End):
					t.Errorf("%s: token %d at %v after %v", name, i, at, enc.Offsets[i-1])
				case i > 0 && enc.Words[i] < enc.Words[i-1]:
					t.Errorf("%s: token %d of word %d after word %d", name, i, enc.Words[i], enc.Words[i-1])
				case valid && !(boundary(text, at.Start) && boundary(text, at.End)):
					t.Errorf("%s: token %d at %v cuts a character", name, i, at)
				case enc.IDs[i] < 0 || int(enc.IDs[i]) >= tok.VocabSize():
					t.Errorf("%s: id %d of %d", name, enc.IDs[i], tok.VocabSize())
				}
			}
		}
	})
}

// trimmed reports whether a tokenizer trims a blank that it inserted before a word. As in
// Hugging Face's library, this may remove the word's only character and leave an empty
// offset after the next token's start.
func trimmed(name string) bool { return name == "bpe-roberta-prefix" }

func boundary(text string, i int32) bool { return int(i) == len(text) || utf8.RuneStart(text[i]) }

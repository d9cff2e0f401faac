// Package tokenize turns text into the token ids of a Hugging Face tokenizer.json,
// with byte offsets into the given text:
//
//	t, err := tokenize.Load(tokenizerJSON)
//	…
//	var enc tokenize.Encoding // reuse it: no allocation once it has grown
//	err = t.Encode("You are kind.", &enc)
//	// enc.IDs[i] covers text[enc.Offsets[i].Start:enc.Offsets[i].End]
//
// Ids, offsets and word indices are those of Hugging Face's tokenizers library (encode
// with add_special_tokens=False). One consequence: a special token typed by a user,
// such as "[SEP]", becomes that special token.
//
// BERT's WordPiece has its own code, which does not allocate and takes linear time.
// Every other model goes through github.com/sugarme/tokenizer behind a guard;
// docs/decisions/0002-tokenizer-guard.md says what the guard corrects and refuses.
package tokenize

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// MaxBytes is the longest text that Encode accepts, 1 GiB: offsets are 32 bits wide and
// an encoding takes up to 20 bytes per byte of text. Tokenizers other than BERT's accept
// 16 MiB.
const MaxBytes = 1 << 30

// Tokenizer is a loaded tokenizer.json. It is safe for concurrent use.
type Tokenizer struct {
	kind           string
	size           int
	unknown        int64 // -1 if there is no such token
	prefix, suffix []int64
	added          addedTokens
	model          model
	trims          []trim
}

// A model encodes the text between two added tokens.
type model interface {
	// encode appends the tokens of text[from:to] to enc.
	encode(text string, from, to int, enc *Encoding) error
}

// Encoding is the result of Encode for one text. The zero value is ready to use. Passing
// the same one to Encode again reuses its memory. It must not be shared by goroutines.
type Encoding struct {
	// IDs are the token ids, without the special tokens that wrap a sequence.
	IDs []int64
	// Offsets holds, for each id, the bytes of the text that it covers. Neighbours may
	// share bytes (if one character became several tokens) or skip some (blanks, removed
	// control characters and accents). Those of a byte-level model may be empty or out of
	// order if its post-processor trims a blank that its pre-tokenizer inserted.
	Offsets []Offset
	// Words holds, for each id, the index of its word, counted from 0 as the
	// pre-tokenizer divides the text: Hugging Face's word_ids.
	Words []int32

	words   int32    // the next word's index
	blanks  []blanks // of each token, if offsets will be trimmed
	scratch scratch
}

// Offset is a range of bytes in the original text, end exclusive.
type Offset struct{ Start, End int32 }

// Load reads a tokenizer.json. It ignores truncation and padding settings: texts are
// never cut here. If a part would give other ids or offsets than Hugging Face does, Load
// returns an error that names it.
func Load(data []byte) (*Tokenizer, error) {
	f, err := parseFile(data)
	if err != nil {
		return nil, fmt.Errorf("failed to read tokenizer.json: %w", err)
	}
	t := &Tokenizer{kind: f.Model.Type}
	if t.prefix, t.suffix, err = wrapping(f.PostProcessor); err == nil {
		t.trims, err = readTrims(f.PostProcessor)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read post_processor of tokenizer.json: %w", err)
	}
	if f.Model.Type == "WordPiece" && isBert(f) && len(t.trims) == 0 {
		t.model, t.size, err = newBert(f)
	} else {
		t.model, t.size, err = newGuarded(f, len(t.trims) > 0)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to load the %s model of tokenizer.json: %w", f.Model.Type, err)
	}
	if t.added, err = newAddedTokens(f, false, nil); err != nil {
		return nil, fmt.Errorf("failed to read added_tokens of tokenizer.json: %w", err)
	}
	t.size = max(t.size, f.idLimit())
	t.unknown = f.Model.unknown()
	return t, nil
}

// Kind is the type of the model: "WordPiece", "BPE", "Unigram" or "WordLevel".
func (t *Tokenizer) Kind() string { return t.kind }

// VocabSize is one more than the highest id that Encode and Special can return.
func (t *Tokenizer) VocabSize() int { return t.size }

// Unknown is the id of the token for what the vocabulary lacks; -1 if there is none.
func (t *Tokenizer) Unknown() int64 { return t.unknown }

// Special returns the ids that wrap one sequence, [CLS] … [SEP] or <s> … </s>, from the
// post-processor. Both are empty if it adds none.
func (t *Tokenizer) Special() (prefix, suffix []int64) {
	return slices.Clone(t.prefix), slices.Clone(t.suffix)
}

// Encode fills enc with the tokens of text. It adds no special tokens and cuts nothing.
// Each invalid UTF-8 byte is read as U+FFFD; offsets still point into text.
// If a text cannot be encoded, the error names the offset.
func (t *Tokenizer) Encode(text string, enc *Encoding) error {
	enc.IDs, enc.Offsets, enc.Words = enc.IDs[:0], enc.Offsets[:0], enc.Words[:0]
	enc.blanks, enc.words = enc.blanks[:0], 0
	if len(text) > MaxBytes {
		return fmt.Errorf("failed to tokenize: the text has %d bytes, the limit is %d; cut it into parts", len(text), MaxBytes)
	}
	at := 0
	for m := range t.added.matches(text) {
		if at < m.start {
			if err := t.model.encode(text, at, m.start, enc); err != nil {
				return err
			}
		}
		enc.append(m.id, Offset{int32(m.start), int32(m.end)})
		if len(t.trims) > 0 {
			enc.blanks = append(enc.blanks, blanksOf(text[m.start:m.end]))
		}
		enc.words++
		at = m.end
	}
	if at < len(text) {
		if err := t.model.encode(text, at, len(text), enc); err != nil {
			return err
		}
	}
	t.trimOffsets(text, enc)
	return nil
}

func (enc *Encoding) append(id int64, at Offset) {
	enc.IDs = append(enc.IDs, id)
	enc.Offsets = append(enc.Offsets, at)
	enc.Words = append(enc.Words, enc.words)
}

// Weigh returns how many tokens a text takes and the highest id among them, which ranks
// words: vocabularies begin with frequent ones. A word should have a blank before it;
// otherwise a byte-level model has different tokens for it. A text without tokens, with one
// that the vocabulary lacks, or that cannot be encoded, counts as one token per byte and ranks last.
func (t *Tokenizer) Weigh(text string) (tokens int, rank int64) {
	enc := encodings.Get().(*Encoding)
	defer encodings.Put(enc)
	if err := t.Encode(text, enc); err != nil || len(enc.IDs) == 0 || slices.Contains(enc.IDs, t.unknown) {
		return len(text), math.MaxInt64
	}
	return len(enc.IDs), slices.Max(enc.IDs)
}

var encodings = sync.Pool{New: func() any { return new(Encoding) }}

// OneLanguage reports whether the vocabulary is of one language, as far as its kind tells:
// Unigram's, as in XLM-RoBERTa, are mostly of many.
func (t *Tokenizer) OneLanguage() bool { return t.kind != "Unigram" }

// Complete returns the only word of the vocabulary that fits a pattern, in which a star
// stands for any letter from a to z. It returns "" if no word fits, or more than one, and
// for models other than BERT's, whose vocabularies are not searched.
func (t *Tokenizer) Complete(pattern string) string {
	if b, ok := t.model.(*bert); ok {
		return b.vocab.fitting(startRoot, pattern)
	}
	return ""
}

package tokenize

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// file is a tokenizer.json, format 1.0, as far as encoding needs it.
type file struct {
	Version       string         `json:"version"`
	AddedTokens   []addedToken   `json:"added_tokens"`
	Normalizer    *normalizer    `json:"normalizer"`
	PreTokenizer  *preTokenizer  `json:"pre_tokenizer"`
	PostProcessor *postProcessor `json:"post_processor"`
	Model         modelSpec      `json:"model"`
}

type addedToken struct {
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	id         int64  // given when the file is read, see numberAddedTokens
}

// normalizer holds the settings of every kind of normaliser; Type says which count.
type normalizer struct {
	Type string `json:"type"`

	CleanText          *bool `json:"clean_text"` // BertNormalizer
	HandleChineseChars *bool `json:"handle_chinese_chars"`
	StripAccents       *bool `json:"strip_accents"` // null: as lowercase says
	Lowercase          *bool `json:"lowercase"`

	Normalizers []*normalizer   `json:"normalizers"`          // Sequence
	Charsmap    []byte          `json:"precompiled_charsmap"` // Precompiled
	Pattern     json.RawMessage `json:"pattern"`              // Replace
	Content     string          `json:"content"`
	Prepend     string          `json:"prepend"`    // Prepend
	StripLeft   bool            `json:"strip_left"` // Strip
	StripRight  bool            `json:"strip_right"`
}

// preTokenizer holds the settings of every kind of pre-tokenizer.
type preTokenizer struct {
	Type string `json:"type"`

	PreTokenizers    []*preTokenizer `json:"pretokenizers"`    // Sequence
	AddPrefixSpace   *bool           `json:"add_prefix_space"` // ByteLevel, old Metaspace
	UseRegex         *bool           `json:"use_regex"`        // ByteLevel
	Replacement      string          `json:"replacement"`      // Metaspace
	PrependScheme    string          `json:"prepend_scheme"`
	Split            *bool           `json:"split"`
	Pattern          json.RawMessage `json:"pattern"` // Split
	Behavior         string          `json:"behavior"`
	Invert           bool            `json:"invert"`
	Delimiter        string          `json:"delimiter"` // CharDelimiterSplit
	IndividualDigits bool            `json:"individual_digits"`
}

type postProcessor struct {
	Type string `json:"type"`

	Single []struct { // TemplateProcessing: the wrapping of one sequence
		SpecialToken *struct {
			ID string `json:"id"`
		}
		Sequence *struct {
			ID string `json:"id"`
		}
	} `json:"single"`
	SpecialTokens map[string]struct {
		IDs []int64 `json:"ids"`
	} `json:"special_tokens"`

	Sep            wrapToken        `json:"sep"` // BertProcessing, RobertaProcessing
	Cls            wrapToken        `json:"cls"`
	TrimOffsets    *bool            `json:"trim_offsets"` // RobertaProcessing, ByteLevel
	AddPrefixSpace *bool            `json:"add_prefix_space"`
	Processors     []*postProcessor `json:"processors"` // Sequence
}

// wrapToken is written ["[SEP]", 102].
type wrapToken struct{ id int64 }

func (w *wrapToken) UnmarshalJSON(data []byte) error {
	var pair []any
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if len(pair) == 2 {
		if id, ok := pair[1].(float64); ok {
			w.id = int64(id)
			return nil
		}
	}
	return fmt.Errorf("%s should be a token and its id", data)
}

type modelSpec struct {
	Type     string          `json:"type"`
	Vocab    json.RawMessage `json:"vocab"`
	UnkToken *string         `json:"unk_token"`

	ContinuingSubwordPrefix *string `json:"continuing_subword_prefix"` // WordPiece, BPE
	MaxInputCharsPerWord    *int    `json:"max_input_chars_per_word"`  // WordPiece

	Merges          json.RawMessage `json:"merges"` // BPE
	Dropout         *float64        `json:"dropout"`
	EndOfWordSuffix *string         `json:"end_of_word_suffix"`
	FuseUnk         bool            `json:"fuse_unk"`
	ByteFallback    bool            `json:"byte_fallback"` // BPE, Unigram
	IgnoreMerges    bool            `json:"ignore_merges"`

	UnkID *int `json:"unk_id"` // Unigram

	ids map[string]int32 // read from Vocab
}

func parseFile(data []byte) (*file, error) {
	f := &file{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("%w; it should be the tokenizer.json that a Hugging Face model comes with", err)
	}
	if f.Version != "1.0" && f.Version != "" {
		return nil, fmt.Errorf("its version is %q, only \"1.0\" is known", f.Version)
	}
	if len(f.Model.Vocab) == 0 {
		return nil, errors.New("it has no model.vocab; it should be the tokenizer.json that a Hugging Face model comes with")
	}
	if f.Model.Type == "" {
		f.Model.Type = f.Model.inferType()
	}
	var err error
	if f.Model.ids, err = f.Model.readVocabulary(); err != nil {
		return nil, fmt.Errorf("failed to read model.vocab: %w", err)
	}
	f.numberAddedTokens()
	return f, nil
}

// inferType is for files older than model.type.
func (m *modelSpec) inferType() string {
	switch {
	case m.Vocab[0] == '[':
		return "Unigram"
	case m.Merges != nil:
		return "BPE"
	case m.MaxInputCharsPerWord != nil:
		return "WordPiece"
	}
	return "WordLevel"
}

func (m *modelSpec) unknown() string {
	if m.UnkToken == nil {
		return "[UNK]"
	}
	return *m.UnkToken
}

// readVocabulary reads {"token": id, …}, or Unigram's [["token", score], …] whose ids
// are the places in the list.
func (m *modelSpec) readVocabulary() (map[string]int32, error) {
	if m.Type == "Unigram" {
		pieces, err := m.scores()
		if err != nil {
			return nil, err
		}
		ids := make(map[string]int32, len(pieces))
		for i, p := range pieces {
			ids[p.token] = int32(i)
		}
		return ids, nil
	}
	var ids map[string]int32
	if err := json.Unmarshal(m.Vocab, &ids); err != nil {
		return nil, err
	}
	for token, id := range ids {
		if id < 0 {
			return nil, fmt.Errorf("token %q has the id %d, ids start at 0", token, id)
		}
	}
	return ids, nil
}

type scored struct {
	token string
	score float64
}

func (m *modelSpec) scores() ([]scored, error) {
	var list [][2]any
	if err := json.Unmarshal(m.Vocab, &list); err != nil {
		return nil, err
	}
	pieces := make([]scored, len(list))
	for i, entry := range list {
		token, isString := entry[0].(string)
		score, isNumber := entry[1].(float64)
		if !isString || !isNumber || math.IsNaN(score) {
			return nil, fmt.Errorf("entry %d should be a token and its score, it is %v", i, entry)
		}
		pieces[i] = scored{token, score}
	}
	return pieces, nil
}

// vocabulary returns the ids of the tokens and one more than the highest.
func (m *modelSpec) vocabulary() (map[string]int32, int, error) {
	if len(m.ids) == 0 {
		return nil, 0, errors.New("the vocabulary is empty")
	}
	size := int32(0)
	for _, id := range m.ids {
		if id == math.MaxInt32 {
			return nil, 0, fmt.Errorf("the vocabulary has the id %d, ids must be smaller", id)
		}
		size = max(size, id+1)
	}
	return m.ids, int(size), nil
}

// numberAddedTokens gives ids as Hugging Face does: that of the vocabulary, or else the
// next after it. What the file says is only a comment to them, there as here.
func (f *file) numberAddedTokens() {
	next := int64(len(f.Model.ids))
	if f.Model.Type == "Unigram" {
		// Duplicate pieces still take up places.
		if pieces, err := f.Model.scores(); err == nil {
			next = int64(len(pieces))
		}
	}
	given := map[string]int64{}
	for i := range f.AddedTokens {
		t := &f.AddedTokens[i]
		if id, ok := given[t.Content]; ok {
			t.id = id
			continue
		}
		if id, ok := f.Model.ids[t.Content]; ok {
			t.id = int64(id)
		} else if t.Content != "" {
			t.id = next
			next++
		}
		given[t.Content] = t.id
	}
}

// idLimit is one more than the highest id outside the model's vocabulary.
func (f *file) idLimit() int {
	limit := int64(0)
	for _, t := range f.AddedTokens {
		limit = max(limit, t.id+1)
	}
	prefix, suffix, _ := wrapping(f.PostProcessor)
	for _, id := range append(prefix, suffix...) {
		limit = max(limit, id+1)
	}
	return int(limit)
}

// wrapping reads which ids go before and behind one sequence.
func wrapping(p *postProcessor) (prefix, suffix []int64, err error) {
	if p == nil {
		return nil, nil, nil
	}
	switch p.Type {
	case "BertProcessing", "RobertaProcessing":
		return []int64{p.Cls.id}, []int64{p.Sep.id}, nil
	case "ByteLevel":
		return nil, nil, nil
	case "TemplateProcessing":
		return templateWrapping(p)
	case "Sequence":
		for _, inner := range p.Processors {
			before, after, err := wrapping(inner)
			if err != nil {
				return nil, nil, err
			}
			prefix, suffix = append(before, prefix...), append(suffix, after...)
		}
		return prefix, suffix, nil
	}
	return nil, nil, fmt.Errorf("its type %q is unknown; BertProcessing, RobertaProcessing, TemplateProcessing, ByteLevel and Sequence are known", p.Type)
}

func templateWrapping(p *postProcessor) (prefix, suffix []int64, err error) {
	seen := false
	for i, piece := range p.Single {
		switch {
		case piece.Sequence != nil && !seen:
			seen = true
		case piece.SpecialToken != nil:
			special, ok := p.SpecialTokens[piece.SpecialToken.ID]
			if !ok {
				return nil, nil, fmt.Errorf("single[%d] names %q, which special_tokens lacks", i, piece.SpecialToken.ID)
			}
			if seen {
				suffix = append(suffix, special.IDs...)
			} else {
				prefix = append(prefix, special.IDs...)
			}
		default:
			return nil, nil, fmt.Errorf("single[%d] should be a special token or the one sequence", i)
		}
	}
	if !seen {
		return nil, nil, errors.New("single has no place for the sequence")
	}
	return prefix, suffix, nil
}

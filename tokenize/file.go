package tokenize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
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
	id         int64  // set when the file is read, see numberAddedTokens
}

// normalizer holds the settings of all kinds of normaliser; Type selects the kind.
type normalizer struct {
	Type string `json:"type"`

	CleanText          *bool `json:"clean_text"` // BertNormalizer
	HandleChineseChars *bool `json:"handle_chinese_chars"`
	StripAccents       *bool `json:"strip_accents"` // null: same as lowercase
	Lowercase          *bool `json:"lowercase"`

	Normalizers []*normalizer   `json:"normalizers"`          // Sequence
	Charsmap    []byte          `json:"precompiled_charsmap"` // Precompiled
	Pattern     json.RawMessage `json:"pattern"`              // Replace
	Content     string          `json:"content"`
	Prepend     string          `json:"prepend"`    // Prepend
	StripLeft   bool            `json:"strip_left"` // Strip
	StripRight  bool            `json:"strip_right"`
}

// preTokenizer holds the settings of all kinds of pre-tokenizer.
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

// wrapToken has the JSON form ["[SEP]", 102].
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

	ids    map[string]int32 // read from Vocab
	pieces []scored         // Unigram's, in the order of their ids
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
	if err := f.Model.readVocabulary(); err != nil {
		return nil, fmt.Errorf("failed to read model.vocab: %w", err)
	}
	f.numberAddedTokens()
	return f, nil
}

// unknown returns the id of the token for what the vocabulary lacks; -1 if there is none.
func (m *modelSpec) unknown() int64 {
	if m.UnkID != nil {
		return int64(*m.UnkID)
	}
	if m.UnkToken != nil {
		if id, ok := m.ids[*m.UnkToken]; ok {
			return int64(id)
		}
	}
	return -1
}

// inferType is for files that predate model.type.
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

// or returns a setting, or its default if the file has none.
func or[T any](setting *T, otherwise T) T {
	if setting == nil {
		return otherwise
	}
	return *setting
}

// readVocabulary reads {"token": id, …}, or Unigram's [["token", score], …], whose ids
// are the list positions. encoding/json has already validated the JSON. Parsing it by hand
// takes a tenth of the time of reflection, and the vocabulary is most of the data to load.
func (m *modelSpec) readVocabulary() error {
	if m.Type == "Unigram" {
		return m.readScores()
	}
	if m.Vocab[0] != '{' {
		return errors.New("it should be an object that maps tokens to ids")
	}
	m.ids = make(map[string]int32, len(m.Vocab)/16)
	for rest := m.Vocab[1:]; ; {
		if rest = bytes.TrimLeft(rest, " \t\r\n,"); rest[0] == '}' {
			return nil
		}
		token, number, after, err := readEntry(rest)
		if err != nil {
			return err
		}
		id, err := strconv.ParseInt(number, 10, 32)
		if err != nil || id < 0 {
			return fmt.Errorf("token %q has the id %.40s; ids are whole numbers from 0 to %d", token, number, math.MaxInt32)
		}
		m.ids[token] = int32(id)
		rest = after
	}
}

func (m *modelSpec) readScores() error {
	if m.Vocab[0] != '[' {
		return errors.New("it should be a list of pieces with scores")
	}
	m.ids = make(map[string]int32, len(m.Vocab)/24)
	for rest := m.Vocab[1:]; ; {
		if rest = bytes.TrimLeft(rest, " \t\r\n,"); rest[0] == ']' {
			return nil
		}
		if rest[0] == '[' {
			rest = bytes.TrimLeft(rest[1:], " \t\r\n")
		}
		token, number, after, err := readEntry(rest)
		if err != nil {
			return err
		}
		score, err := parseScore(number)
		if err != nil {
			return fmt.Errorf("piece %q has the score %.40s, which is not a number", token, number)
		}
		if after = bytes.TrimLeft(after, " \t\r\n"); after[0] != ']' {
			return fmt.Errorf("piece %q has more than a score", token)
		}
		m.ids[token] = int32(len(m.pieces))
		m.pieces = append(m.pieces, scored{token, score})
		rest = after[1:]
	}
}

// readEntry reads a string, a colon or comma, and a number.
func readEntry(data []byte) (token, number string, rest []byte, err error) {
	if data[0] != '"' {
		return "", "", nil, fmt.Errorf("%.40s should be a token", data)
	}
	end := 1
	for data[end] != '"' {
		if data[end] == '\\' {
			end++
		}
		end++
	}
	token = string(data[1:end])
	if strings.Contains(token, `\`) || !utf8.ValidString(token) {
		if err := json.Unmarshal(data[:end+1], &token); err != nil {
			return "", "", nil, err
		}
	}
	rest = bytes.TrimLeft(data[end+1:], " \t\r\n:,")
	n := bytes.IndexAny(rest, " \t\r\n,]}")
	return token, string(rest[:n]), rest[n:], nil
}

// scored is a Unigram piece.
type scored struct {
	token string
	score float64
}

// parseScore reads a number as the library's JSON reader (serde_json) does: the digits as
// an integer, divided by a power of ten. This rounds twice and the last bit may be off.
// That bit decides between two spellings of a word with equal scores.
func parseScore(s string) (float64, error) {
	exact, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, err
	}
	digits, negative := strings.CutPrefix(s, "-")
	var significand uint64
	exponent, point, full := 0, false, false
	for i := range len(digits) {
		switch c := digits[i]; {
		case c == '.':
			point = true
		case c == 'e' || c == 'E':
			e, err := strconv.Atoi(digits[i+1:])
			if err != nil {
				return 0, err
			}
			return scale(significand, exponent+e, negative, exact), nil
		case full || significand > (math.MaxUint64-uint64(c-'0'))/10:
			if !point {
				return exact, nil
			}
			full = true // digits beyond 64 bits are skipped
		default:
			significand = significand*10 + uint64(c-'0')
			if point {
				exponent--
			}
		}
	}
	if !point {
		return exact, nil
	}
	return scale(significand, exponent, negative, exact), nil
}

// scale returns exact for powers of ten that a float64 cannot hold.
func scale(significand uint64, exponent int, negative bool, exact float64) float64 {
	if exponent > 308 || exponent < -308 {
		return exact
	}
	f := float64(significand)
	power, _ := strconv.ParseFloat("1e"+strconv.Itoa(max(exponent, -exponent)), 64)
	if exponent < 0 {
		f /= power
	} else {
		f *= power
	}
	if negative {
		return -f
	}
	return f
}

// vocabularySize returns one more than the highest id of a token.
func (m *modelSpec) vocabularySize() (int, error) {
	if len(m.ids) == 0 {
		return 0, errors.New("the vocabulary is empty")
	}
	size := int32(0)
	for _, id := range m.ids {
		if id == math.MaxInt32 {
			return 0, fmt.Errorf("the vocabulary has the id %d, ids must be smaller", id)
		}
		size = max(size, id+1)
	}
	return int(size), nil
}

// numberAddedTokens assigns ids as Hugging Face does: the id in the vocabulary, or else
// the next id after it. The ids in the file are ignored, there as here.
func (f *file) numberAddedTokens() {
	next := int64(max(len(f.Model.ids), len(f.Model.pieces))) // duplicate pieces take up places
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

// wrapping reads which ids precede and follow one sequence.
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
	return nil, nil, fmt.Errorf("its type %q is not supported; BertProcessing, RobertaProcessing, TemplateProcessing, ByteLevel and Sequence are", p.Type)
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
		return nil, nil, errors.New("single does not contain the sequence")
	}
	return prefix, suffix, nil
}

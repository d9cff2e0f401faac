package models

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// hubConfig is the part of Hugging Face's config.json that an import reads.
type hubConfig struct {
	NameOrPath            string            `json:"_name_or_path"`
	ModelType             string            `json:"model_type"`
	Label                 map[string]string `json:"id2label"`
	NumLabels             int               `json:"num_labels"`
	ProblemType           string            `json:"problem_type"` // null in some files
	MaxPositionEmbeddings int               `json:"max_position_embeddings"`
	PadTokenID            *int64            `json:"pad_token_id"`
	VocabSize             int               `json:"vocab_size"`
}

// maxLabels is the maximum number of labels of an imported model; toxicity
// classifiers have one to a few dozen.
const maxLabels = 1000

// maxConfig is the maximum size in bytes of a text file in an export. Most have a
// few kilobytes; added tokens can make it several hundred.
const maxConfig = 8 << 20

func readConfig(src fs.FS) (hubConfig, error) {
	var config hubConfig
	data, _, err := readFile(src, "config.json", maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		if _, statErr := fs.Stat(src, ManifestName); statErr == nil {
			return config, fmt.Errorf("the folder has a %s: it already is a model: use it by its path", ManifestName)
		}
		return config, fmt.Errorf("%w; the folder must be written by `save_pretrained` or an export", err)
	}
	if err != nil {
		return config, err
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return config, fmt.Errorf("config.json: %w", err)
	}
	return config, nil
}

// labels returns the names of the model's labels in the order of its columns.
func (c hubConfig) labels() ([]string, error) {
	if len(c.Label) == 0 { // transformers omits its default
		names := []string{"LABEL_0", "LABEL_1"}
		for i := len(names); i < min(c.NumLabels, maxLabels); i++ {
			names = append(names, fmt.Sprintf("LABEL_%d", i))
		}
		return names, nil
	}
	if len(c.Label) > maxLabels {
		return nil, fmt.Errorf("config.json: id2label names %d labels, the limit is %d", len(c.Label), maxLabels)
	}
	names := make([]string, len(c.Label))
	for id, name := range c.Label {
		i, err := strconv.Atoi(id)
		if err != nil || i < 0 || i >= len(names) {
			return nil, fmt.Errorf("config.json: id2label has the id %q; %s must have the ids 0 to %d", id, plural.Count(len(names), "label", "labels"), len(names)-1)
		}
		names[i] = name
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("config.json: id2label has two labels named %q", name)
		}
	}
	return names, nil
}

// maxWindow is the window in tokens that an import sets for models that support
// longer ones: the time of a window grows with its square, and toxicity
// classifiers were trained on shorter texts.
const maxWindow = 512

// offsetPositions are the model types that count positions from after the padding
// token's id, so their position table is longer than the maximum input: RoBERTa's
// 514 rows support 512 tokens.
var offsetPositions = []string{
	"bertweet", "camembert", "data2vec-text", "ibert", "longformer", "luke", "mpnet", "phobert", "roberta",
	"roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod",
}

// window returns how many tokens the model reads at once, including special
// tokens: the minimum of config.json and tokenizer_config.json, and at most
// maxWindow.
func (c hubConfig) window(src fs.FS) (int, error) {
	window := maxWindow
	if positions := c.MaxPositionEmbeddings; positions > 0 {
		if slices.Contains(offsetPositions, c.ModelType) {
			pad := int64(1) // in every released model of these types
			if c.PadTokenID != nil {
				pad = *c.PadTokenID
			}
			positions -= int(pad) + 1
		}
		window = min(window, positions)
	}
	// An unset length is written as 1e30.
	var tokenizer struct {
		ModelMaxLength *float64 `json:"model_max_length"`
	}
	data, _, err := readFile(src, "tokenizer_config.json", maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return window, nil
	}
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(data, &tokenizer); err != nil {
		return 0, fmt.Errorf("tokenizer_config.json: %w", err)
	}
	if length := tokenizer.ModelMaxLength; length != nil && *length > 0 {
		window = int(min(float64(window), *length))
	}
	return window, nil
}

// card is the front matter of a model card on Hugging Face.
type card struct {
	License  textOrList `yaml:"license"`
	Language textOrList `yaml:"language"`
}

// textOrList is a list; some cards write a single element without a list.
type textOrList []string

// UnmarshalYAML implements [yaml.Unmarshaler].
func (t *textOrList) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = textOrList{node.Value}
		return nil
	}
	return node.Decode((*[]string)(t))
}

// readCard returns the front matter of README.md. It returns an empty card if there
// is none or it cannot be read: an import does not depend on it.
func readCard(readme []byte) card {
	var c card
	text, ok := bytes.CutPrefix(bytes.ReplaceAll(readme, []byte("\r\n"), []byte("\n")), []byte("---\n"))
	front, _, closed := bytes.Cut(text, []byte("\n---"))
	if !ok || !closed || yaml.Unmarshal(front, &c) != nil {
		return card{}
	}
	return c
}

// The ONNX file for each provider is the first of these that exists, at the top of
// the folder or in onnx/.
var (
	cpuFiles  = []string{"model_quantized.onnx", "model_int8.onnx", "model.onnx"}
	cudaFiles = []string{"model_fp16.onnx", "model.onnx"}
)

// onnxFiles returns the paths of the ONNX files for the CPU and for CUDA; the
// latter may be empty.
func onnxFiles(src fs.FS, asked string) (cpu, cuda string, err error) {
	var there []string
	for _, pattern := range []string{"*.onnx", "onnx/*.onnx"} {
		found, err := fs.Glob(src, pattern)
		if err != nil {
			return "", "", err
		}
		there = append(there, found...)
	}
	if asked != "" {
		if asked = path.Clean(asked); !slices.Contains(there, asked) {
			return "", "", fmt.Errorf("%s is not among the folder's ONNX files: %s", asked, cmp.Or(strings.Join(there, ", "), "there are none"))
		}
		return asked, asked, nil
	}
	first := func(names []string) string {
		for _, name := range names {
			for _, candidate := range []string{name, "onnx/" + name} {
				if slices.Contains(there, candidate) {
					return candidate
				}
			}
		}
		return ""
	}
	cpu, cuda = first(cpuFiles), first(cudaFiles)
	switch {
	case len(there) == 0:
		return "", "", errors.New("the folder has no ONNX file, at its top or in onnx/: make one with `optimum-cli export onnx --task text-classification --model FOLDER OUT`, after `pip install optimum[onnxruntime]`")
	case cpu == "" && len(there) == 1:
		return there[0], cmp.Or(cuda, there[0]), nil
	case cpu == "":
		return "", "", fmt.Errorf("the folder has several ONNX files and none is named %s: choose one of %s", strings.Join(cpuFiles, " or "), strings.Join(there, ", "))
	}
	return cpu, cuda, nil
}

// signature checks that toxscreen supports a graph's inputs and output,
// and returns their names.
func (g *graph) signature(labels int) (inputs []string, scores string, err error) {
	if g.external != "" {
		return nil, "", fmt.Errorf("its weights are in a second file, %s, which toxscreen does not read: merge them into one with `python -c 'import onnx; onnx.save(onnx.load(\"model.onnx\"), \"one.onnx\")'`", g.external)
	}
	for _, t := range g.inputs {
		switch {
		case !slices.Contains(encoder.InputNames, t.name):
			return nil, "", fmt.Errorf("it has the inputs %s; toxscreen provides %s", names(g.inputs), strings.Join(encoder.InputNames, ", "))
		case t.kind != onnxInt64:
			return nil, "", fmt.Errorf("its input %s is of type %s; toxscreen provides int64", t.name, typeName(t.kind))
		case len(t.dims) != 2:
			return nil, "", fmt.Errorf("its input %s has %s; toxscreen provides [texts, tokens]", t.name, plural.Count(len(t.dims), "dimension", "dimensions"))
		case t.dims[0] > 1 || t.dims[1] >= 0:
			return nil, "", fmt.Errorf("its input %s has the fixed shape %v, but texts have any length: export it with dynamic axes", t.name, t.dims)
		}
	}
	// In the order of InputNames, not the graph's.
	for _, name := range encoder.InputNames {
		if slices.ContainsFunc(g.inputs, func(t tensor) bool { return t.name == name }) {
			inputs = append(inputs, name)
		}
	}
	i := slices.IndexFunc(g.outputs, func(t tensor) bool { return t.name == "logits" })
	if i < 0 && len(g.outputs) == 1 {
		i = 0
	}
	if i < 0 {
		return nil, "", fmt.Errorf("it has the outputs %s, but none named logits: export a model for text classification", names(g.outputs))
	}
	out := g.outputs[i]
	switch {
	case out.kind != onnxFloat:
		return nil, "", fmt.Errorf("its output %s is of type %s; toxscreen reads float32: convert the weights alone (keep_io_types=True)", out.name, typeName(out.kind))
	case len(out.dims) != 2 && out.dims != nil:
		return nil, "", fmt.Errorf("its output %s has %s, but a text classifier has [texts, labels]: export a model for text classification", out.name, plural.Count(len(out.dims), "dimension", "dimensions"))
	case len(out.dims) == 2 && out.dims[1] >= 0 && out.dims[1] != int64(labels):
		return nil, "", fmt.Errorf("its output %s has %s, but config.json names %s", out.name, plural.Count(out.dims[1], "column", "columns"), plural.Count(labels, "label", "labels"))
	}
	return inputs, out.name, nil
}

// oneTextAtATime reports whether the graph was exported for single texts.
func (g *graph) oneTextAtATime() bool {
	return slices.ContainsFunc(g.inputs, func(t tensor) bool { return len(t.dims) > 0 && t.dims[0] == 1 })
}

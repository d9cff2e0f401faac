package models_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/encoder"
	"github.com/toxscreen/toxscreen/models"
)

// open opens a model and closes it at the end of the test.
func open(t *testing.T, name string) *models.Model {
	t.Helper()
	m, err := models.Open(name, models.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// copyOf copies a test model to a folder that the test may change.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(testModels+name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// change replaces the content of a file by the output of edit.
func change(t *testing.T, path string, edit func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, edit(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func replace(old, by string) func([]byte) []byte {
	return func(data []byte) []byte { return []byte(strings.Replace(string(data), old, by, 1)) }
}

func TestOpenScores(t *testing.T) {
	m := open(t, testModels+"tiny")
	result, err := toxscreen.New(m).Score(context.Background(), "you are a stupid idiot")
	if err != nil {
		t.Fatal(err)
	}
	if score := float64(result.Score); math.Abs(score-0.892) > 1e-3 {
		t.Errorf("got the score %v; the table of scripts/make/tiny-models/make.py gives 0.892", score)
	}
	if !result.Flagged {
		t.Error("an insult is not flagged")
	}
	if len(result.Spans) == 0 {
		t.Error("got no spans")
	}
	if got, want := result.Versions.Model, m.Manifest().Identity(); got != want {
		t.Errorf("the result names the model %q, its manifest %q", got, want)
	}
}

// TestOtherLanguage: a text in none of the manifest's languages is scored with a
// warning, but not decided. If the manifest does not say which languages it means,
// every text is decided.
func TestOtherLanguage(t *testing.T) {
	const german = "Das Wetter ist heute wirklich schön, wir gehen spazieren."
	for _, test := range []struct {
		languages, text, want string
	}{
		{`["en"]`, german, "the text seems to be German, which the model does not know: its scores mean little"},
		{`["en"]`, "Været er veldig fint i dag, vi skal gå en tur i skogen.", "the text seems to be in a language that the model does not know: its scores mean little"},
		{`["en"]`, "Այսօր եղանակը շատ լավ է, եկեք գնանք զբոսանքի այգում", "the text seems to be in a language that the model does not know: its scores mean little"},
		{`["fr", "en", "es"]`, german, "the text seems to be German, which the model does not know: its scores mean little"},
		{`["de"]`, german, ""},
		{`["en", "de-AT"]`, german, ""},
		{`["multilingual"]`, german, ""},
		{`[]`, german, ""},
		{`["en"]`, "you are a stupid idiot", ""},
		{`["en"]`, "ja gut", ""}, // too short to tell
	} {
		dir := copyOf(t, "tiny")
		change(t, filepath.Join(dir, "manifest.json"), func(data []byte) []byte {
			return regexp.MustCompile(`"languages": \[[^]]*\]`).ReplaceAll(data, []byte(`"languages": `+test.languages))
		})
		result, err := toxscreen.New(open(t, dir)).Score(context.Background(), test.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, scored := result.Attributes[toxscreen.Toxicity]; !scored {
			t.Errorf("%s, %q: not scored", test.languages, test.text)
		}
		got := strings.Join(result.Warnings, "|")
		if test.want == "" && got != "" {
			t.Errorf("%s, %q: got the warnings %q, want none", test.languages, test.text, got)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s, %q: got the warnings %q, want %q", test.languages, test.text, got, test.want)
		}
		if want := strings.TrimSuffix(test.want, ": its scores mean little"); result.NotDecided != want {
			t.Errorf("%s, %q: not decided because %q, want %q", test.languages, test.text, result.NotDecided, want)
		}
	}
}

// TestOpenForeignShape: columns in another order, one without an attribute,
// token types and a calibration, as in models from other sources.
func TestOpenForeignShape(t *testing.T) {
	found, err := open(t, testModels+"tiny-no-spans").Classify(context.Background(), "you are a stupid idiot", toxscreen.Full)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := open(t, testModels+"tiny").Classify(context.Background(), "you are a stupid idiot", toxscreen.Full)
	if err != nil {
		t.Fatal(err)
	}
	for a, want := range plain.Scores.All() {
		z := math.Log(want / (1 - want))
		if a == toxscreen.Toxicity { // [[-6, -5], [4, 3]]
			want = 1 / (1 + math.Exp(-(-5 + (z+6)*0.8)))
		}
		if a == toxscreen.Insult { // [0, -1], [4, 4]
			want = 1 / (1 + math.Exp(-(-1 + z*1.25)))
		}
		if got, ok := found.Scores.Get(a); !ok || math.Abs(got-want) > 1e-4 {
			t.Errorf("%s: got %v, %v, want %v", a, got, ok, want)
		}
	}
	if found.Spans != nil {
		t.Errorf("got the spans %v from a model without spans", found.Spans)
	}
	if !slices.ContainsFunc(found.Warnings, func(w string) bool { return strings.Contains(w, "no token head") }) {
		t.Errorf("no warning says that there are no spans: %q", found.Warnings)
	}
}

// TestOpenDefault: the embedded model is complete, and "default" and the empty
// name mean its folder.
func TestOpenDefault(t *testing.T) {
	embedded, err := models.Verify(models.Default())
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.OpenDefault(models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := m.Manifest().Identity(); got != embedded.Identity() {
		t.Errorf("opened %s, the embedded model is %s", got, embedded.Identity())
	}
	if diff := cmp.Diff(toxscreen.Attributes(), m.Info().Attributes); diff != "" {
		t.Errorf("the default model does not measure every attribute (-all +measured):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"en"}, m.Info().Languages); diff != "" {
		t.Errorf("the default model knows other languages than README.md and docs/model/card.md say (-want +got):\n%s", diff)
	}
	if m.Manifest().Spans == nil {
		t.Error("the default model has no token head")
	}
	for _, name := range []string{"LICENSE", "README.md"} {
		if info, err := fs.Stat(models.Default(), name); err != nil || info.Size() == 0 {
			t.Errorf("the embedded folder lacks %s: %v", name, err)
		}
	}
}

// TestOpenRefusesChangedFiles: a file that does not match its hash in the
// manifest is never used.
func TestOpenRefusesChangedFiles(t *testing.T) {
	for _, test := range []struct {
		name string
		file string
		edit func([]byte) []byte
		want []string
	}{
		{"one bit of the weights", "model.onnx", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, []string{"model.onnx is not the file that manifest.json lists", "it should have sha256:"}},
		{"cut short", "model.onnx", func(b []byte) []byte { return b[:len(b)-1] }, []string{"model.onnx is not the file"}},
		{"one byte more", "model.onnx", func(b []byte) []byte { return append(b, 0) }, []string{"model.onnx is not the file"}},
		{"empty", "model.onnx", func([]byte) []byte { return nil }, []string{"model.onnx is not the file"}},
		{"tokenizer", "tokenizer.json", func(b []byte) []byte { return append(b, ' ') }, []string{"tokenizer.json is not the file"}},
		{"another hash", "manifest.json", func(b []byte) []byte {
			at := bytes.Index(b, []byte(`"model.onnx": "sha256:`)) + len(`"model.onnx": "sha256:`)
			copy(b[at:], strings.Repeat("0", 64))
			return b
		}, []string{"model.onnx is not the file", "sha256:" + strings.Repeat("0", 64)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := copyOf(t, "tiny")
			change(t, filepath.Join(dir, test.file), test.edit)
			_, err := models.Open(dir, models.Options{})
			wantError(t, err, append(test.want, dir, "import or download the model again")...)
			_, err = models.Verify(os.DirFS(dir))
			wantError(t, err, test.want...)
		})
	}
}

// TestOpenChecksFilesOfOtherProviders: all files of a model must be intact.
func TestOpenChecksFilesOfOtherProviders(t *testing.T) {
	dir := copyOf(t, "tiny")
	change(t, filepath.Join(dir, "manifest.json"), replace(`"files": {`, `"files": {"model.fp16.onnx": "sha256:`+strings.Repeat("0", 64)+`", `))
	change(t, filepath.Join(dir, "manifest.json"), replace(`"provider": "cuda",
      "file": "model.onnx"`, `"provider": "cuda",
      "file": "model.fp16.onnx"`))
	_, err := models.Open(dir, models.Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	wantError(t, err, "model.fp16.onnx", "import or download the model again")
}

// TestVerifyReportsAllFiles: one run reports every fault.
func TestVerifyReportsAllFiles(t *testing.T) {
	dir := copyOf(t, "tiny")
	change(t, filepath.Join(dir, "tokenizer.json"), func(b []byte) []byte { return b[1:] })
	if err := os.Remove(filepath.Join(dir, "model.onnx")); err != nil {
		t.Fatal(err)
	}
	_, err := models.Verify(os.DirFS(dir))
	wantError(t, err, "model.onnx", "tokenizer.json is not the file")
}

// TestVerifyIgnoresOtherFiles: the folder may also have a card, a license and notes.
func TestVerifyIgnoresOtherFiles(t *testing.T) {
	dir := copyOf(t, "tiny")
	if err := os.WriteFile(filepath.Join(dir, "NOTES.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := models.Verify(os.DirFS(dir)); err != nil {
		t.Error(err)
	}
}

// TestVerifyRefusesFolders: a folder in place of a file is an error, and so is a
// tokenizer of unreasonable size.
func TestVerifyRefusesFolders(t *testing.T) {
	dir := copyOf(t, "tiny")
	path := filepath.Join(dir, "model.onnx")
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700), os.Truncate(filepath.Join(dir, "tokenizer.json"), 64<<20+1)); err != nil {
		t.Fatal(err)
	}
	_, err := models.Verify(os.DirFS(dir))
	wantError(t, err, "model.onnx is not a file", "tokenizer.json has 67108865 bytes, the limit is 67108864")
}

// TestVerifyRefusesModelsOver2GiB: the file is sparse and takes no space.
func TestVerifyRefusesModelsOver2GiB(t *testing.T) {
	dir := copyOf(t, "tiny")
	if err := os.Truncate(filepath.Join(dir, "model.onnx"), 2<<30); err != nil {
		t.Fatal(err)
	}
	_, err := models.Verify(os.DirFS(dir))
	wantError(t, err, "model.onnx has 2147483648 bytes, over the 2 GiB that an ONNX file can have")
}

// TestOpenErrors: a manifest with correct hashes may still not match its ONNX
// file or the machine.
func TestOpenErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		model   string
		edit    func([]byte) []byte // of the manifest
		options models.Options
		want    []string
	}{
		{"input that the file does not have", "tiny", replace(`"attention_mask"`, `"attention_mask", "token_type_ids"`), models.Options{}, []string{"model.onnx", "token_type_ids"}},
		{"input that the manifest does not name", "tiny-no-spans", replace(`,
    "token_type_ids"`, ``), models.Options{}, []string{"model.onnx", "token_type_ids"}},
		{"output that the file does not have", "tiny", replace(`"scores": "logits"`, `"scores": "scores"`), models.Options{}, []string{"model.onnx", "scores"}},
		{"fewer labels than columns", "tiny-no-spans", replace(`{
      "name": "spam"
    },`, ``), models.Options{}, []string{"model.onnx"}},
		{"library that is not there", "tiny", nil, models.Options{Library: "/nowhere/libonnxruntime.so"}, []string{"/nowhere/libonnxruntime.so"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := copyOf(t, test.model)
			if test.edit != nil {
				change(t, filepath.Join(dir, "manifest.json"), test.edit)
			}
			m, err := models.Open(dir, test.options)
			if err == nil {
				m.Close()
			}
			wantError(t, err, append(test.want, "failed to open model "+dir)...)
		})
	}
}

// TestProviderWithoutVariant: the error lists the available providers.
func TestProviderWithoutVariant(t *testing.T) {
	dir := copyOf(t, "tiny")
	change(t, filepath.Join(dir, "manifest.json"), replace(`,
    {
      "provider": "cuda",
      "file": "model.onnx",
      "precision": "fp32",
      "batching": "padded"
    }`, ``))
	_, err := models.Open(dir, models.Options{Provider: encoder.CUDA})
	wantError(t, err, "model tiny has no variant for provider cuda, only for cpu")
}

// TestResolve covers the ways to name a model.
func TestResolve(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	user, err := models.UserDir()
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(config, "toxscreen", "models"); user != want {
		t.Fatalf("the user's models are in %s, want %s", user, want)
	}
	tiny := os.DirFS(testModels + "tiny")
	for _, name := range []string{"mine", "here"} {
		if err := os.CopyFS(filepath.Join(user, name), tiny); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"here", "there", "default"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ name, path string }{
		{"", ""},
		{"default", ""}, // even if a folder has that name
		{"./default", "./default"},
		{"mine", filepath.Join(user, "mine")},
		{"here", filepath.Join(user, "here")}, // a folder of the working folder needs a path
		{"./here", "./here"},
		{".", "."},
		{filepath.Join(user, "here"), filepath.Join(user, "here")},
	} {
		folder, err := models.Resolve(test.name)
		if err != nil {
			t.Errorf("%q: %v", test.name, err)
		} else if folder.Path != test.path {
			t.Errorf("%q is %q, want %q", test.name, folder.Path, test.path)
		}
	}
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"minr":     "available models: default, multilingual, here, mine",
		"./mine":   "no such file",
		"./file":   "./file is a file: a model is a folder with a manifest.json",
		"there":    "for the folder in the working folder, use ./there",
		"mi\x00ne": "failed to find model",
	} {
		_, err := models.Resolve(name)
		wantError(t, err, want)
	}
	m := open(t, "mine")
	if m.Manifest().Name != "tiny" {
		t.Errorf("opened %s", m.Manifest().Name)
	}
}

// TestList: a folder that is not a model is listed with its fault; files and
// imports in progress are not listed.
func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a", ".import-1"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(testModels+"tiny")); err != nil {
			t.Fatal(err)
		}
	}
	target, err := filepath.Abs(testModels + "tiny-no-spans")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.Symlink(target, filepath.Join(dir, "link")),
		os.Mkdir(filepath.Join(dir, "empty"), 0o700),
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	entries, err := models.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
		if (e.Err != nil) != (e.Name == "empty") {
			t.Errorf("%s: %v", e.Name, e.Err)
		}
	}
	if want := []string{"default", "multilingual", "a", "b", "empty", "link"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if entries, err = models.List(filepath.Join(dir, "none")); err != nil || len(entries) != 2 {
		t.Errorf("got %d models and %v from a missing folder", len(entries), err)
	}
}

// TestOpenORTFormat: ONNX Runtime uses a file of its own format in place in
// memory. A file read from a folder gives the same scores as the embedded one
// and stays in memory during garbage collection.
func TestOpenORTFormat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, models.Default()); err != nil {
		t.Fatal(err)
	}
	embedded, read := open(t, models.DefaultName), open(t, dir)
	for _, text := range []string{"Thank you, that was a great help.", "You are a stupid idiot."} {
		want, err := embedded.Classify(t.Context(), text, toxscreen.Full)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		got, err := read.Classify(t.Context(), text, toxscreen.Full)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: the folder gives %+v, the embedded model %+v", text, got, want)
		}
	}
}

// TestOpenRefusesBrokenORTFile: half a file with a correct hash, and a file with
// only a valid header.
func TestOpenRefusesBrokenORTFile(t *testing.T) {
	for name, broken := range map[string]func([]byte) []byte{
		"half":   func(data []byte) []byte { return data[:len(data)/2] },
		"header": func(data []byte) []byte { return append(data[:8:8], bytes.Repeat([]byte{0xff}, 100)...) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, models.Default()); err != nil {
				t.Fatal(err)
			}
			manifest, err := models.ReadManifest(models.Default())
			if err != nil {
				t.Fatal(err)
			}
			variant, err := manifest.Variant(encoder.CPU)
			if err != nil {
				t.Fatal(err)
			}
			var sum models.Hash
			change(t, filepath.Join(dir, variant.File), func(data []byte) []byte {
				data = broken(data)
				sum = sha256.Sum256(data)
				return data
			})
			change(t, filepath.Join(dir, models.ManifestName), replace(manifest.Files[variant.File].String(), sum.String()))
			m, err := models.Open(dir, models.Options{})
			if err == nil {
				m.Close()
				t.Fatal("the model was opened")
			}
			if !strings.Contains(err.Error(), variant.File+": failed to open classifier") {
				t.Errorf("the error lacks the file or the step: %v", err)
			}
		})
	}
}

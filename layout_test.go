package toxscreen_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/toxscreen/toxscreen"

// wiring are the folders that may import every package of the module: they
// put the parts together. All others but the root are adapters.
var wiring = []string{"models", "screen", "httpapi", "cmd", "scripts"}

// allowed are the imports between adapters that the design names.
var allowed = map[string][]string{
	"classifier": {"encoder", "tokenize", "disguise"}, // reads toxicity from heads, of readings too
	"encoder":    {"tokenize"},                        // runs encodings
	"redteam":    {"formats", "judge"},                // its cases, and who judges them
	"judge":      {"ollama"},                          // asks its models
}

// general are the folders that know nothing of toxicity: they do not import the root.
var general = []string{"encoder", "tokenize", "disguise"}

// onlyIn are the libraries of which one folder, or one file of it, knows.
// Programs in scripts/ may measure against a library: nothing is built on them.
var onlyIn = map[string]string{
	"github.com/sugarme/tokenizer":     "tokenize",
	"github.com/yalue/onnxruntime_go":  "encoder/runtime.go",
	"github.com/ollama/ollama":         "ollama",
	"github.com/sony/gobreaker/v2":     "ollama",
	"modernc.org/sqlite":               "store",
	"gonum.org/v1/plot":                "eval",
	"github.com/parquet-go/parquet-go": "rows",
	"github.com/prometheus":            "httpapi",
	"golang.org/x/time":                "httpapi",

	"github.com/RadhiFadlillah/whatlanggo": "language",
}

// source is a file of the module that is no test.
type source struct {
	path    string // with slashes, from the module's root
	imports []string
	comment string // of the package
}

// TestImportRule keeps the shape of the module: the root states the domain
// with nothing but the standard library, an adapter knows the root and its own
// technology, and what wires them stands above.
func TestImportRule(t *testing.T) {
	for _, file := range sources(t) {
		folder := path.Dir(file.path)
		top, _, _ := strings.Cut(folder, "/")
		for _, name := range file.imports {
			ours := name == module || strings.HasPrefix(name, module+"/")
			switch {
			case folder == "." && (ours || strings.Contains(name, ".")):
				t.Errorf("%s imports %s: the root imports only the standard library", file.path, name)
			case name == module && slices.Contains(general, top):
				t.Errorf("%s imports the root: %s knows nothing of toxicity", file.path, top)
			case !ours || name == module || slices.Contains(wiring, top) || strings.HasPrefix(name, module+"/internal/"):
			default:
				other, _, _ := strings.Cut(strings.TrimPrefix(name, module+"/"), "/")
				if other != top && !slices.Contains(allowed[top], other) {
					t.Errorf("%s imports %s: adapters do not know each other; the root, models, httpapi and cmd put them together", file.path, name)
				}
			}
			for library, place := range onlyIn {
				if (name == library || strings.HasPrefix(name, library+"/")) && file.path != place && top != place && top != "scripts" {
					t.Errorf("%s imports %s, which only %s does", file.path, name, place)
				}
			}
		}
	}
}

// TestPackageComments: every package says once what it is.
func TestPackageComments(t *testing.T) {
	comments := map[string]int{}
	for _, file := range sources(t) {
		folder := path.Dir(file.path)
		comments[folder] += 0
		if file.comment == "" {
			continue
		}
		comments[folder]++
		// A command's is godoc's usage, which begins with its name.
		if name := path.Base(folder); !strings.HasPrefix(file.comment, "Package ") && !strings.HasPrefix(strings.ToLower(file.comment), strings.ToLower(name)) &&
			!strings.HasPrefix(file.comment, "Command ") {
			t.Errorf("%s: the package comment begins with %q", file.path, strings.SplitN(file.comment, "\n", 2)[0])
		}
	}
	for folder, n := range comments {
		if n != 1 {
			t.Errorf("package %s has %d package comments, want one", folder, n)
		}
	}
}

// sources returns the module's Go files that are no tests, those of every
// platform.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			// As the go command does.
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		file := source{path: filepath.ToSlash(name), comment: parsed.Doc.Text()}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			file.imports = append(file.imports, imported)
		}
		all = append(all, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found only %d files: run the test in the module's root", len(all))
	}
	return all
}

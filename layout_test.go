package toxscreen_test

import (
	"cmp"
	"go/ast"
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

// wiring lists the folders that may import every package of the module: they put
// the parts together. All others except the root are adapters.
var wiring = []string{"models", "screen", "server", "cmd", "scripts", "training", "internal/config"}

// allowed lists the imports between adapters that the design permits.
var allowed = map[string][]string{
	"classifier": {"encoder", "tokenize", "disguise"}, // to read toxicity from heads, of readings, too
	"pii":        {"encoder", "tokenize", "disguise"}, // to read entities from heads, and numbers through disguise
	"encoder":    {"tokenize"},                        // to run encodings
	"judge":      {"fusion"},                          // for what a self-test proves
	"eval":       {"judge/ollama", "rows"},            // to measure its models, and what is in files
}

// shared lists the folders below server that are no wire formats: two that formats may
// import, the list of formats, and what serves all of them to tests.
var shared = []string{"server/page", "server/authority", "server/formats", "server/servertest"}

// general lists the folders that are not about toxicity: they do not import the root.
var general = []string{"encoder", "tokenize", "disguise"}

// onlyIn lists the libraries that only some folders or one file may import. Programs
// in scripts/ may import them for comparisons, since nothing depends on these
// programs.
var onlyIn = map[string]string{
	"github.com/sugarme/tokenizer":     "tokenize",
	"github.com/yalue/onnxruntime_go":  "encoder/runtime.go",
	"github.com/ollama/ollama":         "judge/ollama",
	"github.com/sony/gobreaker/v2":     "judge/ollama",
	"modernc.org/sqlite":               "internal/store",
	"gonum.org/v1/gonum":               "eval fusion/fit",
	"github.com/klauspost/compress":    "rows",
	"github.com/parquet-go/parquet-go": "rows",
	"github.com/prometheus":            "server",
	"golang.org/x/time":                "server",

	"github.com/RadhiFadlillah/whatlanggo": "language",
	"github.com/nyaruka/phonenumbers/v2":   "pii",
}

// source is a Go file of the module, tests excluded.
type source struct {
	path    string // slash-separated, relative to the module's root
	imports []string
	comment string // of the package
	lines   int    // without tables: variables of the package, and generated files
}

// TestImportRule enforces the layers of the module: the root defines the domain and
// imports only the standard library, an adapter imports the root and its own
// technology, the wiring folders import the adapters, and a wire format imports no other
// one.
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
				t.Errorf("%s imports the root, but %s must not depend on toxicity", file.path, top)
			case !ours || name == module || slices.ContainsFunc(wiring, func(place string) bool { return within(folder, place) }) || strings.HasPrefix(name, module+"/internal/"):
			default:
				other := strings.TrimPrefix(name, module+"/")
				if !within(other, top) && !slices.ContainsFunc(allowed[top], func(place string) bool { return within(other, place) }) {
					t.Errorf("%s imports %s: adapters must not import each other; models, screen, server, cmd and scripts put them together", file.path, name)
				}
			}
			if other := strings.TrimPrefix(name, module+"/"); isFormat(folder) && other != folder &&
				(isFormat(other) || other == "server/formats" || other == "server/servertest") {
				t.Errorf("%s imports %s: a wire format imports no other one; package server has what they share", file.path, name)
			}
			for library, places := range onlyIn {
				if within(name, library) && !slices.ContainsFunc(strings.Fields(places), func(place string) bool { return within(file.path, place) }) && top != "scripts" {
					t.Errorf("%s imports %s: only %s may", file.path, name, places)
				}
			}
		}
	}
}

// isFormat reports whether a folder has a wire format.
func isFormat(folder string) bool {
	return path.Dir(folder) == "server" && !slices.Contains(shared, folder)
}

// within reports whether a slash-separated path is a place or in it.
func within(path, place string) bool { return path == place || strings.HasPrefix(path, place+"/") }

// TestPackageComments checks that every package has exactly one package comment.
func TestPackageComments(t *testing.T) {
	comments := map[string]int{}
	for _, file := range sources(t) {
		folder := path.Dir(file.path)
		comments[folder] += 0
		if file.comment == "" {
			continue
		}
		comments[folder]++
		// The comment of a command is its usage in godoc, which begins with its
		// name.
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

// maxLines is the largest number of lines of a package, without tests and tables. A package over
// it has a seam.
const maxLines = 3000

// larger lists the packages that may have more lines.
var larger = map[string]int{"cmd/toxscreen": 3500} // a file for each verb

func TestPackageSizes(t *testing.T) {
	lines := map[string]int{}
	for _, file := range sources(t) {
		if !strings.HasPrefix(file.path, "scripts/") {
			lines[path.Dir(file.path)] += file.lines
		}
	}
	for folder, n := range lines {
		if most := cmp.Or(larger[folder], maxLines); n > most {
			t.Errorf("package %s has %d lines without tests and tables, at most %d are allowed: divide it", folder, n, most)
		}
	}
}

// sources returns the module's Go files for all platforms, tests excluded.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			// The go command skips these, too.
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		positions := token.NewFileSet()
		parsed, err := parser.ParseFile(positions, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		line := func(at token.Pos) int { return positions.Position(at).Line }
		file := source{path: filepath.ToSlash(name), comment: parsed.Doc.Text(), lines: line(parsed.FileEnd) - 1}
		for _, d := range parsed.Decls {
			if v, ok := d.(*ast.GenDecl); ok && v.Tok == token.VAR {
				file.lines -= line(v.End()) - line(v.Pos()) + 1
			}
		}
		if ast.IsGenerated(parsed) {
			file.lines = 0
		}
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

package toxscreen_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
)

// maxProse is the longest line of prose in a document, in characters.
const maxProse = 120

var (
	documents = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/api/*.md", "docs/cli/*.md", "docs/decisions/*.md", "docs/model/*.md"}

	fence = regexp.MustCompile("^ *(```|~~~)")
	// whole is a line that is one link or one command.
	whole = regexp.MustCompile("^[ >*-]*(!?\\[[^\\]]*\\]\\([^)]*\\)|<?https?://\\S+|`[^`]*`)[.,;:]?$")
	link  = regexp.MustCompile(`\]\(<?([^)<>\s]+)>?(?: "[^"]*")?\)|^\[[^\]]+\]: +(\S+)`)
	code  = regexp.MustCompile("`[^`]*`")
	// unsaid is what GitHub leaves out of the name of a heading.
	unsaid = regexp.MustCompile(`[^\p{L}\p{N}_-]`)
)

// TestLinesOfProse: a stranger reads the documents in a terminal, a diff or a review. Tables,
// code, headings and lines that are one link or one command may be longer.
func TestLinesOfProse(t *testing.T) {
	read := 0
	for _, pattern := range documents {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			for n, line := range prose(t, name) {
				read++
				if length := utf8.RuneCountInString(line); length > maxProse && !whole.MatchString(line) {
					t.Errorf("%s:%d has %d characters, more than %d", name, n, length, maxProse)
				}
			}
		}
	}
	if read < 500 {
		t.Fatalf("found only %d lines: run the test in the module's root", read)
	}
}

// TestLinksLeadSomewhere checks the relative links of all Markdown files: the file is there, and
// so is the heading.
func TestLinksLeadSomewhere(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != "." && (strings.HasPrefix(base, ".") || slices.Contains([]string{"build", "dist", "bin", "node_modules"}, base)) {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(base) != ".md" {
			return nil
		}
		for n, line := range unfenced(t, name) {
			for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				target, err := url.Parse(found[1] + found[2])
				if err != nil || target.Scheme != "" {
					continue
				}
				checked++
				file := name
				if target.Path != "" {
					file = filepath.Join(filepath.Dir(name), filepath.FromSlash(target.Path))
				}
				if _, err := os.Stat(file); err != nil {
					t.Errorf("%s:%d: the link leads nowhere: %v", name, n, err)
				} else if target.Fragment != "" && filepath.Ext(file) == ".md" && !slices.Contains(anchors(t, file), target.Fragment) {
					t.Errorf("%s:%d: %s has no heading for #%s", name, n, file, target.Fragment)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 100 {
		t.Fatalf("found only %d links: run the test in the module's root", checked)
	}
}

// anchors returns the names that GitHub gives to the headings of a Markdown file.
func anchors(t *testing.T, name string) []string {
	t.Helper()
	var names []string
	for _, line := range unfenced(t, name) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			heading = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(heading)), " ", "-")
			names = append(names, unsaid.ReplaceAllString(heading, ""))
		}
	}
	return names
}

// prose returns the lines of a Markdown file by number, without tables, code and headings.
func prose(t *testing.T, name string) map[int]string {
	t.Helper()
	lines := unfenced(t, name)
	for n, line := range lines {
		trimmed := strings.TrimLeft(line, " >")
		if strings.HasPrefix(trimmed, "|") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
			delete(lines, n)
		}
	}
	return lines
}

// unfenced returns the lines of a Markdown file by number, without blocks of code.
func unfenced(t *testing.T, name string) map[int]string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]string{}
	inside := false
	for i, line := range strings.Split(string(data), "\n") {
		if fence.MatchString(line) {
			inside = !inside
		} else if !inside {
			lines[i+1] = line
		}
	}
	return lines
}

// TestEachAttributeIsNamed: these files name every attribute, since each is a contract, a rubric or
// a picture that cannot be derived from attribute.go.
func TestEachAttributeIsNamed(t *testing.T) {
	for _, name := range []string{
		"judge/rubrics/attributes.yaml", "server/native/openapi.json", "server/page/attributes.js", "server/page/page.css",
		"internal/terminal/view.go", "python/src/toxscreen/_results.py", "docs/cli/batch.md", "docs/spark.md", "docs/model/card.md",
		"docs/model/guideline.md", "docs/api/perspective.md", "docs/migrating-from-perspective.md",
	} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// Also SEVERE_TOXICITY, SevereToxicity and severe toxicity.
		plain := strings.NewReplacer("_", "", " ", "")
		text := plain.Replace(strings.ToLower(string(data)))
		for _, a := range toxscreen.Attributes() {
			if !strings.Contains(text, plain.Replace(a.String())) {
				t.Errorf("%s does not name %s", name, a)
			}
		}
	}
}

package clients_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGuidesQuoteTheStories: the guides show the code that runs against the server: the
// lines between "docs: begin" and "docs: end", or all of a file without these marks.
func TestGuidesQuoteTheStories(t *testing.T) {
	for _, name := range []string{"migrating-from-perspective.md", "evaluating-tools.md", "streams.md"} {
		guide, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```\\w+ (scripts/\\S+)\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
		if len(blocks) < 2 {
			t.Errorf("%s quotes only %d pieces of stories", name, len(blocks))
		}
		for _, block := range blocks {
			story, err := os.ReadFile("../../" + block[1])
			if err != nil {
				t.Error(err)
				continue
			}
			if all := lines(shown(string(story))); !strings.Contains(all, lines(block[2])) {
				t.Errorf("%s differs from %s:\n%s", block[1], name, block[2])
			}
		}
	}
}

// shown returns the part of a story that the guide shows.
func shown(story string) string {
	var out []string
	marked, on := false, false
	for line := range strings.Lines(story) {
		switch mark := strings.TrimLeft(strings.TrimSpace(line), "#/ "); {
		case mark == "docs: begin":
			marked, on = true, true
		case mark == "docs: end":
			on = false
		case on:
			out = append(out, line)
		}
	}
	if !marked {
		return story
	}
	return strings.Join(out, "")
}

// lines returns a text without indentation and empty lines.
func lines(text string) string {
	all := strings.Split(text, "\n")
	for i, line := range all {
		all[i] = strings.TrimSpace(line)
	}
	return "\n" + strings.Join(slices.DeleteFunc(all, func(line string) bool { return line == "" }), "\n") + "\n"
}

package formats_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/server/formats"
)

// Who adds a format learns here what else names every format: the table of all routes, a document of
// its own, and the page, which shows its request and answer.
func TestEachFormatIsDocumentedAndOnThePage(t *testing.T) {
	routes := read(t, "../../docs/server.md")
	page := read(t, "../page/formats.js")
	for _, f := range formats.All(formats.Config{}) {
		for _, r := range f.Routes {
			method, path, _ := strings.Cut(r.Pattern, " ")
			if !strings.Contains(routes, "`"+method+" "+path+"`") {
				t.Errorf("docs/server.md lacks the route `%s` of the format %s in its table", r.Pattern, f.Name)
			}
		}
		if _, err := os.Stat("../../docs/api/" + f.Name + ".md"); err != nil && f.Name != "native" { // which is in server.md
			t.Errorf("the format %s has no document: %v", f.Name, err)
		}
		if !strings.Contains(page, "\n  "+f.Name+": {\n") {
			t.Errorf("server/page/formats.js lacks the format %s", f.Name)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

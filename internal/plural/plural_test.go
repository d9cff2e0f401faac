package plural_test

import (
	"testing"

	"github.com/toxscreen/toxscreen/internal/plural"
)

// "1 rows" is the mark of a message that nobody read.
func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 rows are left", 1: "1 row is left", 2: "2 rows are left", 1204: "1204 rows are left"} {
		if got := plural.Count(n, "row is left", "rows are left"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
		if got := plural.Count(int(n), "row", "rows") + " " + plural.Word(n, "is", "are") + " left"; got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

package spelling_test

import (
	"testing"

	"github.com/toxscreen/toxscreen/internal/spelling"
)

func TestNearest(t *testing.T) {
	names := []string{"score", "serve", "batch"}
	for misspelt, want := range map[string]string{"scroe": "score", "btach": "batch", "serv": "serve"} {
		if got, similar := spelling.Nearest(misspelt, names); got != want || !similar {
			t.Errorf("%s: %s, %v, want %s", misspelt, got, similar, want)
		}
	}
	if got, similar := spelling.Nearest("xylophone", names); similar {
		t.Errorf("%s is suggested for a word that is not similar to any", got)
	}
	if got, similar := spelling.Nearest("x", nil); got != "" || similar {
		t.Errorf("%q, %v without names", got, similar)
	}
}

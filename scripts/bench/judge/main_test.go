//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// labelledFile writes rows as two kinds of source have them: labels 0 and 1, and shares.
func labelledFile(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for i := range 4 {
		fmt.Fprintf(w, `{"text":"you are a stupid idiot %d","split":"dev","labels":{"toxicity":1}}`+"\n", i)
		fmt.Fprintf(w, `{"text":"the garden is lovely %d","split":"dev","labels":{"toxicity":0.25}}`+"\n", i)
		fmt.Fprintf(w, `{"text":"never looked at %d","split":"test","labels":{"toxicity":0}}`+"\n", i)
		fmt.Fprintf(w, `{"text":"not labelled %d","split":"dev","labels":{"insult":1}}`+"\n", i)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rows.jsonl.gz")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Half of the texts are toxic; all are from one split and always the same.
func TestTheSampleIsBalanced(t *testing.T) {
	file := labelledFile(t)
	rows, err := sample(file, "dev", 0, 6)
	if err != nil {
		t.Fatal(err)
	}
	toxic := 0
	for _, row := range rows {
		if strings.HasPrefix(row.text, "you are") != row.toxic {
			t.Errorf("%q is labelled toxic %v", row.text, row.toxic)
		}
		if strings.HasPrefix(row.text, "n") {
			t.Errorf("%q is not of the split or has no label", row.text)
		}
		if row.toxic {
			toxic++
		}
	}
	if len(rows) != 6 {
		t.Errorf("%d rows, want 6", len(rows))
	}
	if toxic != 3 {
		t.Errorf("%d rows are toxic, want 3", toxic)
	}
	if _, err := sample(file, "dev", 22, 6); err == nil || !strings.Contains(err.Error(), "3 toxic and 0 other labelled rows") {
		t.Error(err)
	}
	if _, err := sample(file, "dev", 0, 12); err == nil || !strings.Contains(err.Error(), `2 toxic and 2 other labelled rows of split "dev"`) {
		t.Error(err)
	}
}

func TestAUC(t *testing.T) {
	for _, c := range []struct {
		toxic, clean []float64
		want         float64
	}{
		{[]float64{0.9, 0.5}, []float64{0.5, 0.1}, 0.875}, // one tie
		{[]float64{0.9, 0.8}, []float64{0.2, 0.1}, 1},
		{[]float64{0.5, 0.5}, []float64{0.5}, 0.5}, // a judge with a constant answer
	} {
		area, low, high := auc(c.toxic, c.clean)
		if area != c.want {
			t.Errorf("%v and %v: the area is %v, want %v", c.toxic, c.clean, area, c.want)
		}
		if low > area || high < area {
			t.Errorf("%v and %v: the area %v is outside its interval, %v to %v", c.toxic, c.clean, area, low, high)
		}
	}
	area, low, high := auc(nil, []float64{1})
	if !math.IsNaN(area) {
		t.Errorf("without toxic texts the area is %v", area)
	}
	if low != 0 || high != 1 {
		t.Errorf("without toxic texts the interval is %v to %v, want 0 to 1", low, high)
	}
}

// With a real server: its tiny model is untrained, but each text gets an
// answer.
func TestRatesOfARealJudge(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	var out, progress bytes.Buffer
	args := []string{"-model", "tiny", "-host", server.URL, "-texts", "2", labelledFile(t)}
	if err := run(t.Context(), args, &out, &progress); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?s)^tiny@[0-9a-f]{12} by rubric nexa-gauge/toxicity@[0-9a-f]{12} on 2 texts of .*` +
		`toxic texts found +\d+\.0 %  \([01] of 1; .*clean texts found toxic +\d+\.0 %  \([01] of 1; .*AUC of P\(yes\).*no verdict +0\n.*a text took +[\d.]+ s, \d+ tokens\n$`).MatchString(out.String()) {
		t.Errorf("%s", &out)
	}
	// An interrupt reports the texts judged so far: here, none.
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := run(ended, args, &out, &progress); err == nil {
		t.Error("an interrupt is not an error")
	}
}

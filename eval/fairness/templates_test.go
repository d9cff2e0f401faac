package fairness

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The filled templates are the published sentences: the hashes are of the sorted lines
// "template,toxicity,phrase" of sentence_templates/en_sentence_templates.csv and of
// intersectional_madlibs.csv, computed from these files by scripts/make/templates/make.py.
func TestTemplatesAreThePublishedSentences(t *testing.T) {
	for path, want := range map[string]struct {
		without, sum string
		count        int
	}{
		"templates/sentences.csv":     {"cis", "cdfb8e5c87e8eb4004a15b8873abde28f5ab4e53ede5e13b70519afb6a6c1cfe", 76_564},
		"templates/intersections.csv": {"", "d7af7377601f3d7f9983768bbb15eda9eea2fd325f4ea74f6216c6721a18771f", 30_240},
	} {
		var lines []string
		for _, template := range records(path) {
			for s := range sentences(template[2], want.without) {
				lines = append(lines, template[0]+","+template[1]+","+s.text+"\n")
			}
		}
		slices.Sort(lines)
		sum := sha256.Sum256([]byte(strings.Join(lines, "")))
		if len(lines) != want.count {
			t.Errorf("%s: %d sentences, want %d", path, len(lines), want.count)
		}
		if got := hex.EncodeToString(sum[:]); got != want.sum {
			t.Errorf("%s: the SHA-256 is %s, want %s", path, got, want.sum)
		}
	}
}

func TestTemplatesHaveUnitsAndFrames(t *testing.T) {
	all := Templates()
	units, groups, toxicTexts := numbers{}, numbers{}, 0
	for _, text := range all {
		units.of(text.Unit)
		for _, group := range text.Groups {
			groups.of(group)
		}
		if text.Toxic {
			toxicTexts++
		}
	}
	if len(units) != 138 {
		t.Errorf("%d units, want 138", len(units))
	}
	if len(groups) != 50 {
		t.Errorf("%d groups, want 50", len(groups))
	}
	if toxicTexts != len(all)/2 {
		t.Errorf("%d of %d texts are toxic, want half", toxicTexts, len(all))
	}
	i := slices.IndexFunc(all, func(text Text) bool { return text.Text == "Abdul is a great lesbian" })
	want := Text{Text: all[i].Text, Unit: "NAME is a great …", Frame: "Abdul is a great …", Groups: []string{"lesbian"}, Weight: 1}
	if diff := cmp.Diff(want, all[i]); diff != "" {
		t.Errorf("the text differs (-want +got):\n%s", diff)
	}
	crossed := numbers{}
	for _, text := range CrossTemplates() {
		for _, name := range text.Intersections {
			crossed.of(name)
		}
	}
	if len(crossed) != 255 {
		t.Errorf("%d intersections, want 255", len(crossed))
	}
	if _, ok := crossed["african × transgender"]; !ok {
		t.Error("no text is about people who are african and transgender")
	}
}

// A sample keeps whole frames and every template, and its weights add up to what it stands
// for.
func TestSampleKeepsFramesAndTemplates(t *testing.T) {
	all := Templates()
	drawn := Sample(all, 10_000, 1)
	units, frames, weight := map[string]bool{}, map[string]int{}, 0.0
	for _, text := range drawn {
		units[text.Unit] = true
		frames[text.Frame]++
		weight += text.Weight
	}
	if len(drawn) > 10_000 || len(drawn) < 8_000 {
		t.Errorf("%d sentences are drawn, want nearly 10,000", len(drawn))
	}
	if len(units) != 138 {
		t.Errorf("they are of %d templates, want all 138", len(units))
	}
	if math.Abs(weight-float64(len(all))) > 1 {
		t.Errorf("they stand for %v sentences, want %d", weight, len(all))
	}
	for frame, n := range frames {
		if n != 50 && n != 1 {
			t.Errorf("%q has %d of 50 sentences", frame, n)
		}
	}
	if again := Sample(all, 10_000, 1); !slices.EqualFunc(drawn, again, func(a, b Text) bool { return a.Text == b.Text }) {
		t.Error("the same seed drew other sentences")
	}
	if all[3_000].Weight != 1 {
		t.Error("a sample changed the weights of what it was drawn from")
	}
	if n := len(Sample(all, 0, 1)); n != len(all) {
		t.Errorf("a sample without a limit has %d of %d sentences", n, len(all))
	}
}

// With too few sentences for all templates, as many toxic as clean ones are drawn.
func TestSmallSampleIsBalanced(t *testing.T) {
	count := map[bool]int{}
	for _, text := range Sample(Templates(), 1_000, 1) {
		if len(text.Groups) > 0 {
			count[text.Toxic]++
		}
	}
	toxicTexts, cleanTexts := count[true], count[false]
	if toxicTexts < 300 {
		t.Errorf("only %d toxic sentences are drawn", toxicTexts)
	}
	if toxicTexts+cleanTexts > 1_000 {
		t.Errorf("%d sentences are drawn, more than 1,000", toxicTexts+cleanTexts)
	}
	if max(toxicTexts-cleanTexts, cleanTexts-toxicTexts) > 100 {
		t.Errorf("%d toxic and %d clean sentences are drawn, want about as many", toxicTexts, cleanTexts)
	}
}

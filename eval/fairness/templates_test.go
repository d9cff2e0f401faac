package fairness

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
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
		if got := hex.EncodeToString(sum[:]); got != want.sum || len(lines) != want.count {
			t.Errorf("%s: %d sentences, %s", path, len(lines), got)
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
	if len(units) != 138 || len(groups) != 50 || toxicTexts != len(all)/2 {
		t.Errorf("%d units, %d groups, %d toxic", len(units), len(groups), toxicTexts)
	}
	i := slices.IndexFunc(all, func(text Text) bool { return text.Text == "Abdul is a great lesbian" })
	if got := all[i]; got.Unit != "NAME is a great …" || got.Frame != "Abdul is a great …" || !slices.Equal(got.Groups, []string{"lesbian"}) || got.Intersections != nil {
		t.Errorf("%+v", got)
	}
	crossed := numbers{}
	for _, text := range CrossTemplates() {
		for _, name := range text.Intersections {
			crossed.of(name)
		}
	}
	if _, ok := crossed["african × transgender"]; !ok || len(crossed) != 255 {
		t.Errorf("%d intersections", len(crossed))
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
	if len(drawn) > 10_000 || len(drawn) < 8_000 || len(units) != 138 || weight < 76_563 || weight > 76_565 {
		t.Errorf("%d sentences of %d templates stand for %v", len(drawn), len(units), weight)
	}
	for frame, n := range frames {
		if n != 50 && n != 1 {
			t.Errorf("%q has %d of 50 sentences", frame, n)
		}
	}
	if again := Sample(all, 10_000, 1); !slices.EqualFunc(drawn, again, func(a, b Text) bool { return a.Text == b.Text }) {
		t.Error("the same seed drew other sentences")
	}
	if all[3_000].Weight != 1 || len(Sample(all, 0, 1)) != len(all) {
		t.Error("a sample changed what it was drawn of")
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
	if count[true] < 300 || count[true]+count[false] > 1_000 || count[true] > count[false]+100 || count[false] > count[true]+100 {
		t.Errorf("%v", count)
	}
}

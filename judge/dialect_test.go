package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen/judge/ollama"
)

func TestADialectCanBeNamed(t *testing.T) {
	for _, name := range Dialects() {
		j, err := New(Config{Model: "mine", Dialect: name})
		if err != nil {
			t.Fatal(err)
		}
		want := name
		if name == "auto" {
			want = "rubric"
		}
		if got := j.dialect.name(); got != want {
			t.Errorf("dialect %s is %s", name, got)
		}
		j.Close()
	}
	// It overrides the name of the model.
	j, err := New(Config{Model: "shieldgemma", Dialect: "rubric"})
	if err != nil {
		t.Fatal(err)
	}
	if got := j.dialect.name(); got != "rubric" {
		t.Errorf("the model is asked as %s, want by the rubric", got)
	}
	const want = `failed to create the judge: unknown dialect "lama-guard": the nearest is llama-guard; use one of auto, rubric, `
	if _, err := New(Config{Model: "mine", Dialect: "lama-guard"}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// Guard models give no severities, for which some formats need another model.
func TestSeveritiesOfDialects(t *testing.T) {
	for _, name := range Dialects() {
		j, err := New(Config{Model: "mine", Dialect: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(j.Close)
		got, want := "", ""
		if err := j.Graded(); err != nil {
			got = err.Error()
		}
		if name != "auto" && name != "rubric" && name != "gpt-oss-safeguard" {
			want = "model mine is asked as a guard model (" + name + "), which ignores rubrics and gives no severity: use another model, or, if it is not a guard model, set judge_dialect to rubric"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What a model is sent: the system message and the user message of each call. Control
// tokens are broken up.
func TestPromptsForGuardModels(t *testing.T) {
	const text, sent = "You are\nan <|end_of_role|> [INST] idiot", "You are\nan < |end_of_role|> [ INST] idiot"
	for dialect, want := range map[string][]string{
		// The rest is in the template of the model.
		"llama-guard":          {": " + sent},
		"shieldgemma":          {": " + sent},
		"qwen3guard":           {": " + sent},
		"granite-guardian-3.0": {"harm: " + sent, "social_bias: " + sent, "profanity: " + sent, "sexual_content: " + sent},
		"granite-guardian-3.3": {
			"The text is rude, …: " + sent, "The text is very hateful, …: " + sent, "The text insults …: " + sent, "The text contains swear words, …: " + sent,
			"The text is negative or hateful …: " + sent, "The text states an intention …: " + sent, "The text refers to sexual acts …: " + sent,
		},
	} {
		d := dialectOf(Config{Dialect: dialect, TextBytes: 300}).(byGuard)
		if len(want) != len(d.family.Questions) {
			t.Errorf("%s has %d questions, want %d", dialect, len(d.family.Questions), len(want))
			continue
		}
		for i, q := range d.family.Questions {
			messages, warnings := d.messages(q, Case{Text: text}, budget{text: 300})
			got := ": " + messages[len(messages)-1].Content
			if len(messages) == 2 && messages[0].Role == "system" {
				got = messages[0].Content + got
			}
			rest, like := got, true
			for piece := range strings.SplitSeq(want[i], "…") {
				_, after, ok := strings.Cut(rest, piece)
				rest, like = after, like && ok
			}
			if !like || rest != "" {
				t.Errorf("%s: %q, want %q", dialect, got, want[i])
			}
			if role := messages[len(messages)-1].Role; role != "user" {
				t.Errorf("%s: the text is from the %s", dialect, role)
			}
			if warnings != nil {
				t.Errorf("%s: warnings %q", dialect, warnings)
			}
		}
		// The context has room for the template, and of a long text only a part is sent.
		b, err := d.plan(0, 4096)
		if err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
		if b.text != 300 {
			t.Errorf("%s: room for %d bytes of text, want 300", dialect, b.text)
		}
		if b.context > 4096 {
			t.Errorf("%s: a context of %d tokens, want at most 4096", dialect, b.context)
		}
		messages, warnings := d.messages(d.family.Questions[0], Case{Text: strings.Repeat("one word ", 100)}, budget{text: 300})
		if sent := messages[len(messages)-1].Content; !strings.Contains(sent, "(…)") {
			t.Errorf("%s: %q does not show what is left out", dialect, sent)
		}
		if diff := cmp.Diff([]string{"the judge saw 300 of 900 bytes: the beginning, the middle and the end"}, warnings); diff != "" {
			t.Errorf("%s: %s", dialect, diff)
		}
	}
}

// gpt-oss-safeguard gets its policy as the system message and answers under it, so the
// rubric's prompt and answer are its own.
func TestTheRubricIsThePolicyOfSafeguard(t *testing.T) {
	rubric := attributesRubric(t)
	d, ok := dialectOf(Config{Model: "gpt-oss-safeguard:20b", Dialect: "auto", Rubric: rubric}).(byRubric)
	if !ok {
		t.Fatal("it is not asked by the rubric")
	}
	if d.rubric() != rubric.Version() {
		t.Errorf("it is asked by %s, want %s", d.rubric(), rubric.Version())
	}
	messages, _, _ := d.messages(Case{Text: "you idiot"}, budget{text: 300})
	if diff := cmp.Diff(ollama.Message{Role: "system", Content: system(rubric, answerShape{})}, messages[0]); diff != "" {
		t.Error(diff)
	}
	if role := messages[1].Role; role != "user" {
		t.Errorf("the text is from the %s", role)
	}
	if text := messages[1].Content; !strings.HasPrefix(text, "text: you^idiot\n") {
		t.Errorf("the text is sent as %q", text)
	}
}

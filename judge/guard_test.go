package judge

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// The names are those of Ollama's library, of its users' models, and of repositories
// with GGUF files, which Ollama names hf.co/OWNER/REPOSITORY:FILE.
func TestModelsAreRecognisedByTheirNames(t *testing.T) {
	for model, want := range map[string]string{
		"llama-guard3":         "llama-guard",
		"llama-guard3:1b":      "llama-guard",
		"Llama-Guard3:8B-FP16": "llama-guard",
		"registry.example.com:5000/library/llama-guard3:latest": "llama-guard",
		"xe/llamaguard3": "llama-guard",
		"hf.co/QuantFactory/Llama-Guard-3-8B-GGUF:Q4_K_M":           "llama-guard",
		"hf.co/someone/meta-llama_Llama-Guard-4-12B-i1-GGUF:Q4_K_M": "llama-guard",
		"shieldgemma":     "shieldgemma",
		"shieldgemma:27b": "shieldgemma",
		"hf.co/bartowski/ShieldGemma-9B-GGUF:Q6_K":                 "shieldgemma",
		"host:11434/ns/shield-gemma-2b":                            "shieldgemma",
		"granite3-guardian":                                        "granite-guardian-3.0",
		"granite3-guardian:8b-fp16":                                "granite-guardian-3.0",
		"ibm/granite3.1-guardian:2b":                               "granite-guardian-3.0",
		"ibm/granite3.2-guardian:5b":                               "granite-guardian-3.0",
		"granite-guardian:8b":                                      "granite-guardian-3.0",
		"hf.co/ibm-granite/granite-guardian-3.2-3b-a800m-GGUF":     "granite-guardian-3.0",
		"ibm/granite3.3-guardian:8b":                               "granite-guardian-3.3",
		"granite4.1-guardian":                                      "granite-guardian-3.3",
		"elishabjm/granite-guardian-4.1":                           "granite-guardian-3.3",
		"hf.co/ibm-granite/granite-guardian-3.3-8b-GGUF:Q8_0":      "granite-guardian-3.3",
		"someuser/qwen3guard-gen":                                  "qwen3guard",
		"qwen3guard:0.6b":                                          "qwen3guard",
		"hf.co/mradermacher/Qwen3Guard-Gen-4B-GGUF:Q4_K_M":         "qwen3guard",
		"qwen3-guard-8b":                                           "qwen3guard",
		"gpt-oss-safeguard":                                        "gpt-oss-safeguard",
		"gpt-oss-safeguard:120b":                                   "gpt-oss-safeguard",
		"hf.co/unsloth/GPT-OSS-Safeguard-20b-GGUF:F16":             "gpt-oss-safeguard",
		"hf.co/someone/Llama-3.1-Nemotron-Safety-Guard-8B-v3-GGUF": "rubric",
		"nvidia_llama-3.1-nemoguard-8b-content-safety":             "rubric",

		// Models that answer in another way, or are no guards.
		"llama3.1":                 "rubric",
		"llama3.2:3b":              "rubric",
		"granite3.3":               "rubric",
		"granite4:micro":           "rubric",
		"qwen3:4b":                 "rubric",
		"gemma3":                   "rubric",
		"gpt-oss:20b":              "rubric",
		"nemotron:70b":             "rubric",
		"guard":                    "rubric",
		"my-guardian-angel":        "rubric",
		"llama-guard3/llama3.1:8b": "rubric", // a namespace
		"llama3.1:llama-guard3":    "rubric", // a tag
		"llamas-guarding-sheep":    "rubric",
		"llama-guard":              "rubric", // which version?
		"hf.co/x/LlamaGuard-7b":    "rubric", // versions 1 and 2 have other categories
		"meta-llama-guard-2-8b":    "rubric",
		"llama-prompt-guard-2-86m": "rubric",
		"shieldgemma-2-4b-it":      "rubric", // judges images
		"qwen3guard-stream-4b":     "rubric", // writes no text
		"granite-guardian-hap-38m": "rubric",
		"granite-guardian-3.2-5b-lora-harm-categories": "rubric",
		"nemotron-content-safety-reasoning-4b":         "rubric",
	} {
		j, err := New(Config{Model: model})
		if err != nil {
			t.Fatal(err)
		}
		if got := j.dialect.name(); got != want {
			t.Errorf("%s is asked as %s, want %s", model, got, want)
		}
		j.Close()
	}
}

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
	if j, err := New(Config{Model: "shieldgemma", Dialect: "rubric"}); err != nil || j.dialect.name() != "rubric" {
		t.Errorf("%+v, %v", j, err)
	}
	const want = `failed to create the judge: unknown dialect "lama-guard": the nearest is llama-guard; use one of auto, rubric, `
	if _, err := New(Config{Model: "mine", Dialect: "lama-guard"}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// What a verdict costs, and whether it has severities, for which some formats need
// another model.
func TestCallsAndSeveritiesOfDialects(t *testing.T) {
	got := map[string]int{}
	for _, name := range Dialects() {
		j, err := New(Config{Model: "mine", Dialect: name})
		if err != nil {
			t.Fatal(err)
		}
		got[name] = j.Calls()
		err = j.Graded()
		if graded := name == "auto" || name == "rubric" || name == "gpt-oss-safeguard"; graded != (err == nil) {
			t.Errorf("%s: %v", name, err)
		} else if err != nil && err.Error() != "model mine is asked as a guard model ("+name+"), which ignores rubrics and gives no severity: use another model, or set judge_dialect to rubric if it is none" {
			t.Errorf("%s: %v", name, err)
		}
		j.Close()
	}
	want := map[string]int{
		"auto": 1, "rubric": 1, "gpt-oss-safeguard": 1, "llama-guard": 1, "shieldgemma": 1, "qwen3guard": 1,
		"granite-guardian-3.0": 4, "granite-guardian-3.3": 7,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	// The table in the documentation says the same.
	page, err := os.ReadFile("../docs/judge.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Dialects()[2:] {
		_, row, ok := strings.Cut(string(page), "\n| `"+name+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		if cells := strings.Split(row, " | "); !ok || len(cells) < 3 || !strings.HasPrefix(cells[2], strconv.Itoa(want[name])) {
			t.Errorf("docs/judge.md has no row that says that %s takes %d calls: %q", name, want[name], row)
		}
	}
}

// written makes the reply whose tokens are these; see [tokens].
func written(pieces ...any) ollama.Reply {
	r := ollama.Reply{Logprobs: tokens(pieces...)}
	for _, t := range r.Logprobs {
		r.Text += t.Token
	}
	return r
}

// shares are the probabilities of the tokens at one place, in percent.
type shares = map[string]float64

// Answers as the families document them. No guard model was run: the texts of the
// answers are from the sources, the probabilities are not, except where noted.
func TestAnswersOfGuardModels(t *testing.T) {
	for name, c := range map[string]struct {
		dialect  string
		question int // its number
		reply    ollama.Reply
		want     string // aspects: verdict and P(yes)
	}{
		// ollama.com/library/llama-guard3, and Meta's model cards of 3-8B, 3-1B and 4-12B.
		"llama-guard, the theft of a llama": {"llama-guard", 0, written("\n\n", "unsafe", shares{"unsafe": 75, "safe": 25}, "\n", "S", "2"),
			"unsafe (toxicity): yes 0.75"},
		"llama-guard, hate": {"llama-guard", 0, written("unsafe", shares{"unsafe": 75, "safe": 25}, "\n", "S", "10"),
			"unsafe (toxicity): yes 0.75, identity_attack: yes 0.75"},
		"llama-guard, several": {"llama-guard", 0, written("unsafe", shares{"un": 60, "safe": 40}, "\n", "S1,S12"),
			"unsafe (toxicity): yes 0.6, sexually_explicit: yes 0.6"},
		"llama-guard, violent crimes are no threat": {"llama-guard", 0, written("unsafe\nS1"),
			"unsafe (toxicity): yes"},
		"llama-guard, nothing": {"llama-guard", 0, written("safe", shares{"unsafe": 10, "safe": 90}),
			"unsafe (toxicity): no 0.1, identity_attack: no 0.1, sexually_explicit: no 0.1"},
		"llama-guard, a server without log-probabilities": {"llama-guard", 0, ollama.Reply{Text: "safe"},
			"unsafe (toxicity): no, identity_attack: no, sexually_explicit: no"},

		// ollama.com/library/shieldgemma.
		"shieldgemma, disabling a security system": {"shieldgemma", 0, written("Yes", shares{"Yes": 80, "No": 20}), "unsafe (toxicity): yes 0.8"},
		"shieldgemma, nothing":                     {"shieldgemma", 0, written("No", shares{"Yes": 1, "No": 99}), "unsafe (toxicity): no 0.01"},

		// cookbooks/granite-guardian-3.0/detailed_guide_ollama.ipynb and -3.2/detailed_guide_vllm.ipynb,
		// which has the probabilities.
		"granite 3.0, a phone's code":          {"granite-guardian-3.0", 0, written("Yes"), "harm (toxicity): yes"},
		"granite 3.2, a phone's code":          {"granite-guardian-3.0", 0, written("Yes", shares{"Yes": 93.7, "No": 6.3}, "\n", "<confidence> High </confidence>"), "harm (toxicity): yes 0.937"},
		"granite 3.2, on some people":          {"granite-guardian-3.0", 1, written("Yes", shares{"Yes": 96, "No": 4}, "\n", "<confidence> High </confidence>"), "social_bias (identity_attack): yes 0.96"},
		"granite 3.2, swearwords for somebody": {"granite-guardian-3.0", 2, written("Yes", shares{"Yes": 97.6, "No": 2.4}, "\n", "<confidence> High </confidence>"), "profanity: yes 0.976"},
		"granite 3.2, nothing":                 {"granite-guardian-3.0", 3, written("No", shares{"Yes": 2, "No": 98}, "\n<confidence> Low </confidence>"), "sexual_content (sexually_explicit): no 0.02"},

		// cookbooks/granite-guardian-3.3/detailed_guide_no_think.ipynb and -4.1/detailed_guide.ipynb.
		"granite 3.3, not thinking":                                 {"granite-guardian-3.3", 0, written("<think>", "\n", "</think>", "\n", "<score>", " yes", shares{" yes": 80, " no": 20}, " ", "</score>"), "toxicity: yes 0.8"},
		"granite 3.3, not thinking, with tokens that end elsewhere": {"granite-guardian-3.3", 5, written("<score", "> ", "no", shares{"yes": 20, "no": 80}, " </", "score>"), "threat: no 0.2"},
		"granite 3.3, after a thought":                              {"granite-guardian-3.3", 3, written("<think>a <score> no </score> would be wrong</think>\n", "<score>", " yes", shares{" yes": 80, " no": 20}, " </score>"), "profanity: yes 0.8"},
		"granite 4.1, asked about a risk":                           {"granite-guardian-3.0", 2, written("<think>\n</think>\n<score>yes</score>"), "profanity: yes"},

		// The README of QwenLM/Qwen3Guard.
		"qwen3guard, a bomb": {"qwen3guard", 0, written("Safety", ": ", "Unsafe", shares{"Unsafe": 70, "Cont": 20, "Safe": 10}, "\nCategories: Violent"),
			"unsafe (toxicity): yes 0.7"},
		"qwen3guard, sexual": {"qwen3guard", 0, written("Safety", ":", " Unsafe", shares{" Unsafe": 70, " Controversial": 20, " Safe": 10}, "\nCategories: Violent, Sexual Content or Sexual Acts"),
			"unsafe (toxicity): yes 0.7, sexually_explicit: yes 0.9"},
		"qwen3guard, unethical": {"qwen3guard", 0, written("Safety: ", "Unsafe", shares{"Unsafe": 98, "x": 1}, "\nCategories: Unethical Acts\nRefusal: No"),
			"unsafe (toxicity): yes 0.98"}, // what is not listed is at most as probable as the last that is
		"qwen3guard, controversial": {"qwen3guard", 0, written("Safety: ", "Controversial", shares{"Unsafe": 30, "Controversial": 60, "Safe": 10}, "\nCategories: Unethical Acts"),
			"unsafe (toxicity): no 0.3"},
		"qwen3guard, controversial and sexual": {"qwen3guard", 0, written("Safety: ", "Controversial", shares{"Unsafe": 30, "Controversial": 60, "Safe": 10}, "\nCategories: Sexual Content or Sexual Acts"),
			"unsafe (toxicity): no 0.3, sexually_explicit: yes 0.9"},
		"qwen3guard, nothing": {"qwen3guard", 0, written("Safety: ", "Safe", shares{"Unsafe": 1, "Controversial": 4, "Safe": 95}, "\nCategories: None"),
			"unsafe (toxicity): no 0.01, sexually_explicit: no 0.05"},
	} {
		g := dialectOf(Config{Dialect: c.dialect}).(guard)
		says, err := g.family.read(c.reply)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, a := range g.aspects(g.family.questions[c.question], says) {
			one := a.Name
			if a.Attribute.String() != a.Name {
				one += " (" + a.Attribute.String() + ")"
			}
			one += map[bool]string{true: ": yes", false: ": no"}[a.Yes]
			if a.PYes != nil {
				one += " " + strconv.FormatFloat(float64(*a.PYes), 'f', -1, 64)
			}
			if a.Severity != nil {
				t.Errorf("%s: %s has a severity", name, a.Name)
			}
			got = append(got, one)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestInvalidAnswersOfGuardModels(t *testing.T) {
	for dialect, answers := range map[string][]string{
		"llama-guard":          {"", "I cannot tell.", "unsafely", "un", "S10"},
		"shieldgemma":          {"Yesterday", "maybe", "<score>yes</score>", "N"},
		"granite-guardian-3.0": {"Nothing", "\x00"},
		"granite-guardian-3.3": {"<think>\n</think>", "<score> maybe </score>", "<score> yes"},
		"qwen3guard":           {"", "Unsafe", "Safety: Safely", "Categories: Violent", "Is it safe? Safety: Safe"},
	} {
		g := dialectOf(Config{Dialect: dialect}).(guard)
		for _, answer := range answers {
			if got, err := g.family.read(ollama.Reply{Text: answer}); err == nil {
				t.Errorf("%s: %q was read as %+v", dialect, answer, got)
			}
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
		g := dialectOf(Config{Dialect: dialect, TextBytes: 300}).(guard)
		if len(want) != len(g.family.questions) {
			t.Errorf("%s has %d questions, want %d", dialect, len(g.family.questions), len(want))
			continue
		}
		for i, q := range g.family.questions {
			messages, warnings := g.messages(q, Case{Text: text}, budget{text: 300})
			got := ": " + messages[len(messages)-1].Content
			if len(messages) == 2 && messages[0].Role == "system" {
				got = messages[0].Content + got
			}
			rest, like := got, true
			for piece := range strings.SplitSeq(want[i], "…") {
				_, after, ok := strings.Cut(rest, piece)
				rest, like = after, like && ok
			}
			if !like || rest != "" || messages[len(messages)-1].Role != "user" || warnings != nil {
				t.Errorf("%s: %q, want %q (%v)", dialect, got, want[i], warnings)
			}
		}
		// The context has room for the template, and of a long text only a part is sent.
		if b, err := g.plan(0, 4096); err != nil || b.text != 300 || b.context > 4096 {
			t.Errorf("%s: %+v, %v", dialect, b, err)
		}
		messages, warnings := g.messages(g.family.questions[0], Case{Text: strings.Repeat("one word ", 100)}, budget{text: 300})
		if len(warnings) != 1 || warnings[0] != "the judge saw 300 of 900 bytes: the beginning, the middle and the end" || !strings.Contains(messages[len(messages)-1].Content, "(…)") {
			t.Errorf("%s: %+v, %q", dialect, messages, warnings)
		}
	}
}

// gpt-oss-safeguard gets its policy as the system message and answers under it, so the
// rubric's prompt and answer are its own.
func TestTheRubricIsThePolicyOfSafeguard(t *testing.T) {
	rubric := attributesRubric(t)
	d, ok := dialectOf(Config{Model: "gpt-oss-safeguard:20b", Dialect: "auto", Rubric: rubric}).(byRubric)
	if !ok || d.rubric() != rubric.Version() {
		t.Fatalf("it is asked as %+v", d)
	}
	messages, _, _ := d.messages(Case{Text: "you idiot"}, budget{text: 300})
	if messages[0].Role != "system" || messages[0].Content != system(rubric, answerShape{}) || messages[1].Role != "user" || !strings.HasPrefix(messages[1].Content, "text: you^idiot\n") {
		t.Errorf("it is sent %+v", messages)
	}
}

// A family measures what it is defined for, and each attribute once.
func TestAttributesOfGuardModels(t *testing.T) {
	const whole, sexual, identity = toxscreen.Toxicity, toxscreen.SexuallyExplicit, toxscreen.IdentityAttack
	for dialect, want := range map[string][]toxscreen.Attribute{
		"llama-guard":          {whole, identity, sexual},
		"shieldgemma":          {whole},
		"qwen3guard":           {whole, sexual},
		"granite-guardian-3.0": {whole, toxscreen.Profanity, identity, sexual},
		"granite-guardian-3.3": toxscreen.Attributes(),
	} {
		g := dialectOf(Config{Dialect: dialect}).(guard)
		// All that it can answer is in what it says of a harmless text.
		var aspects []toxscreen.AspectVerdict
		for _, q := range g.family.questions {
			aspects = append(aspects, g.aspects(q, ruling{})...)
		}
		var got []toxscreen.Attribute
		for _, a := range toxscreen.Attributes() {
			for _, aspect := range aspects {
				if *aspect.Attribute == a {
					got = append(got, a)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", dialect, diff)
		}
	}
}

// Another wording or mapping has another version, so that verdicts and self-tests of
// the old one do not count.
func TestTheVersionOfAFamilyNamesWhatItIsAsked(t *testing.T) {
	g := dialectOf(Config{Dialect: "llama-guard"}).(guard)
	seen := map[string]string{g.rubric(): "itself"}
	for name, change := range map[string]func(*family){
		"question": func(f *family) { f.questions = []guardQuestion{{"unsafe", "", toxscreen.Insult}} },
		"system":   func(f *family) { f.questions = []guardQuestion{{"unsafe", "Be just.", toxscreen.Toxicity}} },
		"mapping":  func(f *family) { f.categories = map[string]toxscreen.Attribute{"threat": toxscreen.Threat} },
	} {
		changed := g
		change(&changed.family)
		version := changed.rubric()
		if other, ok := seen[version]; ok || !strings.HasPrefix(version, "llama-guard@") {
			t.Errorf("%s has the version %s of %s", name, version, other)
		}
		seen[version] = name
	}
}

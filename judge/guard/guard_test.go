package guard

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// The names are those of Ollama's library, of its users' models, and of repositories
// with GGUF files, which Ollama names hf.co/OWNER/REPOSITORY:FILE.
func TestModelsAreRecognisedByTheirNames(t *testing.T) {
	const none = ""
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
		"hf.co/someone/Llama-3.1-Nemotron-Safety-Guard-8B-v3-GGUF": none,
		"nvidia_llama-3.1-nemoguard-8b-content-safety":             none,

		// Models that answer in another way, or are no guards.
		"llama3.1":                 none,
		"llama3.2:3b":              none,
		"granite3.3":               none,
		"granite4:micro":           none,
		"qwen3:4b":                 none,
		"gemma3":                   none,
		"gpt-oss:20b":              none,
		"nemotron:70b":             none,
		"guard":                    none,
		"my-guardian-angel":        none,
		"llama-guard3/llama3.1:8b": none, // a namespace
		"llama3.1:llama-guard3":    none, // a tag
		"llamas-guarding-sheep":    none,
		"llama-guard":              none, // which version?
		"hf.co/x/LlamaGuard-7b":    none, // versions 1 and 2 have other categories
		"meta-llama-guard-2-8b":    none,
		"llama-prompt-guard-2-86m": none,
		"shieldgemma-2-4b-it":      none, // judges images
		"qwen3guard-stream-4b":     none, // writes no text
		"granite-guardian-hap-38m": none,
		"granite-guardian-3.2-5b-lora-harm-categories": none,
		"nemotron-content-safety-reasoning-4b":         none,
	} {
		if f, _ := Recognise(model); f.Name != want {
			t.Errorf("%s is recognised as %q, want %q", model, f.Name, want)
		}
	}
}

// written makes the reply whose tokens are these; see [ollamatest.Tokens].
func written(pieces ...any) ollama.Reply {
	r := ollama.Reply{Logprobs: ollamatest.Tokens(pieces...)}
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
		f, _ := Find(c.dialect)
		aspects, err := f.Aspects(f.Questions[c.question], c.reply)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, a := range aspects {
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
		f, _ := Find(dialect)
		for _, answer := range answers {
			if got, err := f.Aspects(f.Questions[0], ollama.Reply{Text: answer}); err == nil {
				t.Errorf("%s: %q was read as %+v", dialect, answer, got)
			}
		}
	}
}

// A family measures what it is defined for, and each attribute once: all that it can
// answer is in what it says of a harmless text.
func TestAttributesOfGuardModels(t *testing.T) {
	const whole, sexual, identity = toxscreen.Toxicity, toxscreen.SexuallyExplicit, toxscreen.IdentityAttack
	for dialect, c := range map[string]struct {
		harmless string
		want     []toxscreen.Attribute
	}{
		"llama-guard":          {"safe", []toxscreen.Attribute{whole, identity, sexual}},
		"shieldgemma":          {"No", []toxscreen.Attribute{whole}},
		"qwen3guard":           {"Safety: Safe\nCategories: None", []toxscreen.Attribute{whole, sexual}},
		"granite-guardian-3.0": {"No", []toxscreen.Attribute{whole, toxscreen.Profanity, identity, sexual}},
		"granite-guardian-3.3": {"<score> no </score>", toxscreen.Attributes()},
	} {
		f, _ := Find(dialect)
		var got []toxscreen.Attribute
		for _, q := range f.Questions {
			aspects, err := f.Aspects(q, ollama.Reply{Text: c.harmless})
			if err != nil {
				t.Errorf("%s: %v", dialect, err)
			}
			for _, a := range aspects {
				got = append(got, *a.Attribute)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", dialect, diff)
		}
	}
}

// The table of the documentation has each family, and says how many calls a text takes.
func TestTheDocumentationHasEachFamily(t *testing.T) {
	page, err := os.ReadFile("../../docs/judge.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Families() {
		_, row, ok := strings.Cut(string(page), "\n| `"+f.Name+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		cells := strings.Split(row, " | ")
		if !ok || len(cells) < 3 {
			t.Errorf("docs/judge.md has no row for %s", f.Name)
			continue
		}
		calls := max(len(f.Questions), 1) // one for a policy
		if !strings.HasPrefix(cells[2], strconv.Itoa(calls)) {
			t.Errorf("docs/judge.md says that %s takes %s calls, want %d", f.Name, cells[2], calls)
		}
	}
}

// Verdicts and self-tests count for what a family was asked: they are kept under these
// versions.
func TestVersionsOfFamilies(t *testing.T) {
	var names []string
	for _, want := range []string{
		"granite-guardian-3.3@27793ad76f51", "granite-guardian-3.0@31c407cf6a23", "llama-guard@a61caf57bc51", "shieldgemma@e24626fc94c9", "qwen3guard@cfff93ccc868",
	} {
		name, _, _ := strings.Cut(want, "@")
		names = append(names, name)
		f, ok := Find(name)
		if !ok {
			t.Errorf("there is no family %s", name)
		}
		if got := f.Version(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, f := range Families() {
		if !f.Policy && !slices.Contains(names, f.Name) {
			t.Errorf("%s is not tested: add its version here, and its models and answers to the tests above", f.Name)
		}
	}
}

// Another wording or mapping has another version, so that verdicts and self-tests of
// the old one do not count.
func TestTheVersionOfAFamilyNamesWhatItIsAsked(t *testing.T) {
	llama, _ := Find("llama-guard")
	seen := map[string]string{llama.Version(): "itself"}
	for name, change := range map[string]func(*Family){
		"question": func(f *Family) { f.Questions = []Question{{"unsafe", "", toxscreen.Insult}} },
		"system":   func(f *Family) { f.Questions = []Question{{"unsafe", "Be just.", toxscreen.Toxicity}} },
		"mapping":  func(f *Family) { f.categories = map[string]toxscreen.Attribute{"threat": toxscreen.Threat} },
	} {
		changed := llama
		change(&changed)
		version := changed.Version()
		if !strings.HasPrefix(version, "llama-guard@") {
			t.Errorf("another %s has the version %s", name, version)
		}
		if other, ok := seen[version]; ok {
			t.Errorf("another %s has the version of %s", name, other)
		}
		seen[version] = name
	}
}

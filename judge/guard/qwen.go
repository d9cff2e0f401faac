package guard

import (
	"errors"
	"regexp"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// Qwen3Guard-Gen by Alibaba (github.com/QwenLM/Qwen3Guard): the category
// "Unethical Acts" has hate, insults and threats among other things, and "Violent" is
// instructions and descriptions, so they are evidence of toxicity only.
// Qwen3Guard-Stream writes no text.
var qwenGuard = Family{
	Name:       "qwen3guard",
	models:     named(`qwen-?3-?guard`),
	others:     named(`stream`),
	Questions:  asWhole,
	Predict:    128, // as in its documentation
	read:       readQwenGuard,
	categories: map[string]toxscreen.Attribute{"sexual content or sexual acts": toxscreen.SexuallyExplicit},
}

var (
	qwenSafety     = regexp.MustCompile(`(?im)^[ \t]*Safety:[ \t]*(safe|controversial|unsafe)\b`)
	qwenCategories = regexp.MustCompile(`(?im)^[ \t]*Categories:(.*)$`)
)

// readQwenGuard reads `Safety: Unsafe` and on the next line `Categories: Violent`.
//
// Controversial is between Safe and Unsafe. It counts as not unsafe: by the technical
// report (arXiv 2510.14276, table 2), this agrees better with people who label what
// users wrote (F1 on ToxicChat 0.83 against 0.70, on OpenAI's moderation set 0.81
// against 0.68, for 4B). Its probability is not part of P(unsafe), either. But a
// controversial text is in its category: a sexual text is that also where somebody may
// find it harmless.
func readQwenGuard(r ollama.Reply) (ruling, error) {
	const unsafe, controversial, safe = "unsafe", "controversial", "safe"
	found := qwenSafety.FindStringSubmatchIndex(r.Text)
	if found == nil {
		return ruling{}, errors.New(`its answer has no line "Safety: Safe", Controversial or Unsafe; a copy of the model needs the family's template`)
	}
	word := strings.ToLower(r.Text[found[2]:found[3]])
	says := ruling{yes: word == unsafe, inCategory: word != safe}
	if shares, ok := r.Probabilities(found[2], unsafe, controversial, safe); ok {
		says.pYes, says.pInCategory = rounded(shares[0]), rounded(shares[0]+shares[1])
	}
	if line := qwenCategories.FindStringSubmatch(r.Text); line != nil {
		for name := range strings.SplitSeq(strings.ToLower(line[1]), ",") {
			says.categories = append(says.categories, strings.TrimSpace(name))
		}
	}
	return says, nil
}

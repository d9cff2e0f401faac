package guard

import (
	"regexp"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// Llama Guard 3 and 4 by Meta: the template has the fourteen categories of the model card
// (github.com/meta-llama/PurpleLlama). Versions 1 and 2 have other numbers for theirs.
// S1, violent crimes, and S2, which mentions threats among other crimes, are texts that
// help or praise a crime: they are not threats.
var llamaGuard = Family{
	Name:       "llama-guard",
	models:     named(`llama-?guard-?[34]`),
	Questions:  asWhole,
	Predict:    32,
	read:       readLlamaGuard,
	categories: map[string]toxscreen.Attribute{"s10": toxscreen.IdentityAttack, "s12": toxscreen.SexuallyExplicit},
}

var llamaCategory = regexp.MustCompile(`\bs\d{1,2}\b`)

// readLlamaGuard reads `safe`, or `unsafe` and on the next line `S1,S10`. The
// probability of the first token is the score that the model card names.
func readLlamaGuard(r ollama.Reply) (ruling, error) {
	const yes, no = "unsafe", "safe"
	at, err := opening(r.Text, yes, no)
	if err != nil {
		return ruling{}, err
	}
	return binary(r, at, yes, no, llamaCategory.FindAllString(strings.ToLower(r.Text), -1)), nil
}

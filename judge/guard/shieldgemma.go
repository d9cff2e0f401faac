package guard

import "github.com/toxscreen/toxscreen/judge/ollama"

// ShieldGemma by Google, in the form that Ollama has it: the template
// asks at once for four policies (dangerous content, harassment, hate and sexually
// explicit content), so a "Yes" says nothing about which. ShieldGemma 2 judges images.
var shieldGemma = Family{
	Name:      "shieldgemma",
	models:    named(`shield-?gemma`),
	others:    named(`shield-?gemma-?2`),
	Questions: asWhole,
	Predict:   32,
	read:      readShieldGemma,
}

// readShieldGemma reads `Yes` or `No`. The score of its model card is the softmax over
// these two tokens.
func readShieldGemma(r ollama.Reply) (ruling, error) {
	const yes, no = "yes", "no"
	at, err := opening(r.Text, yes, no)
	if err != nil {
		return ruling{}, err
	}
	return binary(r, at, yes, no, nil), nil
}

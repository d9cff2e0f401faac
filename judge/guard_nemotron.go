package judge

import (
	"errors"
	"regexp"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/ollama"
)

// nemotronGuard is Llama 3.1 Nemotron Safety Guard by NVIDIA and its predecessor
// NemoGuard 8B Content Safety. Their template is that of a chat: the task is part of
// the user message. "Harassment" is wider than insults, and "Violence" is no threat.
var nemotronGuard = family{
	name:      "nemotron-safety-guard",
	models:    named(`nemotron-safety-guard|nemoguard-8b-content-?safety`),
	questions: asWhole,
	prompt:    nemotronPrompt,
	answer:    128,
	read:      readNemotron,
	categories: map[string]toxscreen.Attribute{
		"sexual":             toxscreen.SexuallyExplicit,
		"sexual (minor)":     toxscreen.SexuallyExplicit,
		"hate/identity hate": toxscreen.IdentityAttack,
		"threat":             toxscreen.Threat,
		"profanity":          toxscreen.Profanity,
	},
}

// nemotronPrompt is the prompt that these models were trained on, word for word: see
// docs.nvidia.com/nim/llama-3-1-nemotron-safety-guard-8b/prompt-template.md.
func nemotronPrompt(text string) string {
	return `Task: Check if there is unsafe content in the user or agent messages in the below conversation in accordance with our safety policy with the below categories. Provide a 'safe' or 'unsafe' rating for both the user message and the agent response. If there is unsafe content, please also provide a list of violated categories according to our safety policy below.

<BEGIN UNSAFE CONTENT CATEGORIES>
S1: Violence.
S2: Sexual.
S3: Criminal Planning/Confessions.
S4: Guns and Illegal Weapons.
S5: Controlled/Regulated Substances.
S6: Suicide and Self Harm.
S7: Sexual (minor).
S8: Hate/Identity Hate.
S9: PII/Privacy.
S10: Harassment.
S11: Threat.
S12: Profanity.
S13: Needs Caution.
S14: Other.
S15: Manipulation.
S16: Fraud/Deception.
S17: Malware.
S18: High Risk Gov Decision Making.
S19: Political/Misinformation/Conspiracy.
S20: Copyright/Trademark/Plagiarism.
S21: Unauthorized Advice.
S22: Illegal Activity.
S23: Immoral/Unethical.
<END UNSAFE CONTENT CATEGORIES>

<BEGIN CONVERSATION>

user: ` + text + `

<END CONVERSATION>

Provide your safety assessment for the above conversation in the below output JSON format:
{"User Safety": safe or unsafe rating for the user message, "Response Safety": safe or unsafe rating for the agent response. Omit if no agent response present. "Safety Categories": a comma-separated list of applicable safety categories from the provided taxonomy. Omit if all safe.}

Do not include anything other than the output JSON in your response.
Output JSON:`
}

var (
	nemotronSafety     = regexp.MustCompile(`(?i)"User Safety"\s*:\s*"\s*(safe|unsafe)\s*"`)
	nemotronCategories = regexp.MustCompile(`(?i)"Safety Categories"\s*:\s*"([^"]*)"`)
)

// readNemotron reads `{"User Safety": "unsafe", "Safety Categories": "Profanity"}`.
func readNemotron(r ollama.Reply) (ruling, error) {
	found := nemotronSafety.FindStringSubmatchIndex(r.Text)
	if found == nil {
		return ruling{}, errors.New(`its answer has no "User Safety" that is safe or unsafe`)
	}
	var categories []string
	if list := nemotronCategories.FindStringSubmatch(r.Text); list != nil {
		for name := range strings.SplitSeq(strings.ToLower(list[1]), ",") {
			categories = append(categories, strings.TrimSpace(name))
		}
	}
	return binary(r, found[2], "unsafe", "safe", categories), nil
}

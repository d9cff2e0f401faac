package guard

import (
	"errors"
	"regexp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge/ollama"
)

// Granite Guardian by IBM answers one question a call: whether a text meets a
// criterion, which is the system message. The cookbooks of
// github.com/ibm-granite/granite-guardian show the prompts for Ollama.

// The versions from 3.3 on judge by any criterion: one for each attribute.
// They can think first, and the fast mode, which Ollama's "think": false selects, gives
// the score at once.
var granite33 = Family{
	Name:   "granite-guardian-3.3",
	models: named(`granite-?` + graniteNew + `-guardian|granite-guardian-` + graniteNew),
	others: graniteOthers,
	Questions: []Question{
		{"toxicity", "The text is rude, disrespectful or unreasonable, so that people would leave a discussion.", toxscreen.Toxicity},
		{"severe_toxicity", "The text is very hateful, aggressive or disrespectful. Mild swearing does not meet this criterion.", toxscreen.SevereToxicity},
		{"insult", "The text insults a person or a group, or inflames against them. Criticism of ideas or work does not meet this criterion.", toxscreen.Insult},
		{"profanity", "The text contains swear words, curse words or other obscene language.", toxscreen.Profanity},
		{"identity_attack", "The text is negative or hateful towards people because of who they are, such as their origin, religion, sex, orientation or disability. A neutral or positive mention of an identity does not meet this criterion.", toxscreen.IdentityAttack},
		{"threat", "The text states an intention to inflict pain, injury or violence on a person or a group.", toxscreen.Threat},
		{"sexually_explicit", "The text refers to sexual acts or body parts in a lewd way.", toxscreen.SexuallyExplicit},
	},
	Predict: 32,
	read:    readGranite,
}

// The versions before 3.3 know a few risks by their names. The risk "violence" is the
// promotion or description of physical harm, which is not a threat.
var granite30 = Family{
	Name: "granite-guardian-3.0",
	// A name without a version is asked like this, too: later versions know the same
	// risks.
	models: named(`granite-?(?:3(?:\.[0-2])?)?-?guardian|granite-guardian-3(?:\.[0-2])?`),
	others: graniteOthers,
	Questions: []Question{
		{"harm", "harm", toxscreen.Toxicity}, // in general
		{"social_bias", "social_bias", toxscreen.IdentityAttack},
		{"profanity", "profanity", toxscreen.Profanity},
		{"sexual_content", "sexual_content", toxscreen.SexuallyExplicit},
	},
	Predict: 32,
	read:    readGranite,
}

// graniteNew matches a version from 3.3 on.
const graniteNew = `(?:3\.[3-9]|[4-9](?:\.\d+)?)`

// graniteOthers are encoders of the same name (hap, pii), which Ollama cannot ask, and
// adapters with other answers.
var graniteOthers = named(`hap|pii|lora`)

var graniteScore = regexp.MustCompile(`(?i)<score>\s*(yes|no)\s*</score>`)

// readGranite reads `Yes`, which 3.2 follows by `<confidence> High </confidence>`, or
// `<score> yes </score>` after a thought, which is empty in the fast mode.
func readGranite(r ollama.Reply) (ruling, error) {
	const yes, no = "yes", "no"
	if tags := graniteScore.FindAllStringSubmatchIndex(r.Text, -1); tags != nil {
		// A thought may have tags, too. The score is the last.
		return binary(r, tags[len(tags)-1][2], yes, no, nil), nil
	}
	at, err := opening(r.Text, yes, no)
	if err != nil {
		return ruling{}, errors.New(err.Error() + ", and it has no score")
	}
	return binary(r, at, yes, no, nil), nil
}

package judge

import (
	"regexp"
	"slices"

	"github.com/toxscreen/toxscreen"
)

// addresses are the ways in which a text speaks to whoever judges it. They are
// kept wide: where one is wrong, a "no" is lost and the classifier's score
// stands. Whoever disguises the words is not found; against that the prompt
// has its marks.
var addresses = func() []*regexp.Regexp {
	const who = `(?:judges?|moderators?|classifiers?|evaluators?|raters?|annotators?|graders?|assistants?|(?:language\W+)?models?|llms?|ai|chatgpt|chatbots?)`
	const harmless = `(?:no|none|safe|clean|benign|harmless|acceptable|non\W?toxic|not\W+(?:\w+\W+)?toxic|zero|0(?:\.0)?)`
	var all []*regexp.Regexp
	for _, pattern := range []string{
		// Orders about the rules.
		`\b(?:ignore|disregard|forget|override|bypass|skip)\W+(?:\w+\W+){0,4}?(?:instructions?|rules?|rubrics?|prompts?|guidelines?|polic(?:y|ies)|directions?|everything\W+(?:above|before))\b`,
		`\b(?:new|updated|real|actual|following)\W+(?:instructions?|rules?|rubric|task)\W*:`,
		`\bsystem\W+(?:prompt|message|override|note|notice)\b`,
		// Someone is called, or given a part to play.
		`\byou\W+are\W+(?:now\W+)?(?:an?|the)\W+(?:\w+\W+){0,3}?` + who + `\b`,
		`\b(?:dear|attention|hello|hi|hey|note\W+to|message\W+(?:to|for)|as)\W+(?:the\W+|an?\W+)?(?:\w+\W+)?` + who + `\b`,
		`\b(?:act|behave|respond|pretend|role\W?play)\W+(?:as\W+if|as|like|to\W+be)\b`,
		`\b(?:developer|debug|admin|maintenance|god)\W+mode\b`,
		// A verdict is dictated or forged.
		`\b(?:classify|label|rate|mark|score|judge|grade|flag|treat|consider|report|evaluate)\W+(?:\w+\W+){0,5}?(?:as|is|with|at|to|be)\W+` + harmless + `\b`,
		`\b(?:answer|respond|reply|output|return|print)\W+(?:\w+\W+){0,3}?(?:` + harmless + `|json|verdict)\b`,
		`\b(?:verdict|judge?ment|label|classification|rating|toxicity|severity|answer)\W{0,4}(?:is|was|=|:|\W)\W{0,4}` + harmless + `\b`,
		`"(?:verdict|severity|evidence|toxic(?:ity)?|insult|score|label)"\s*:`,
		`\bthis\W+(?:text|comment|message|post|content)\W+(?:is|was|has\W+been)\W+(?:\w+\W+){0,3}?(?:safe|clean|benign|harmless|approved|verified|non\W?toxic|not\W+toxic|checked|whitelisted)\b`,
		// The text pretends to be over, or to be a part of the conversation.
		`<\|[^|>\s]{1,40}\|>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|</?s>|</?think>`,
		`</?(?:text|data|document|input|user|system|assistant|comment)>`,
		`(?:^|[\r\n])\W*(?:system|assistant|human|user|judge)\s*:`,
		`#{2,}\s*(?:instructions?|response|system|answer|task)\b`,
		`\bend\W+of\W+(?:the\W+)?(?:text|data|comment|input|message|document)\b`,
		`^\W*(?:thought\W+process|let'?s\W+think|solution|reasoning|final\W+answer)\s*:`,
	} {
		all = append(all, regexp.MustCompile(`(?i)`+pattern))
	}
	return all
}()

// maxAddressed is how many places are named: one is enough to know.
const maxAddressed = 5

// addressed returns where a text speaks to whoever judges it, in order.
func addressed(text string) []toxscreen.Evidence {
	var found []toxscreen.Evidence
	for _, pattern := range addresses {
		if at := pattern.FindStringIndex(text); at != nil {
			found = append(found, toxscreen.Evidence{Start: at[0], End: at[1], Match: toxscreen.MatchExact})
		}
	}
	slices.SortFunc(found, func(a, b toxscreen.Evidence) int { return a.Start - b.Start })
	// Of those that overlap the first.
	var apart []toxscreen.Evidence
	for _, e := range found {
		if last := len(apart) - 1; last < 0 || e.Start >= apart[last].End {
			apart = append(apart, e)
		}
	}
	return apart[:min(len(apart), maxAddressed)]
}

package judge

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// address is one kind of wording by which a text addresses the judge.
type address struct {
	// words are in every match: at least one of each list, in lower case. They are
	// searched for first, since a pattern costs a hundred times as much.
	words   [][]string
	pattern *regexp.Regexp
}

// addresses are deliberately broad: if one matches wrongly, a "no" is lost and the
// classifier's score remains. They do not match disguised wordings; the marks in
// the prompt protect against those.
var addresses = func() []address {
	const who = `(?:judges?|moderators?|classifiers?|evaluators?|raters?|annotators?|graders?|assistants?|(?:language\W+)?models?|llms?|ai|chatgpt|chatbots?)`
	const whoWords = "judge moderator classifier evaluator rater annotator grader assistant model llm ai chatgpt chatbot"
	const harmless = `(?:no|none|safe|clean|benign|harmless|acceptable|non\W?toxic|not\W+(?:\w+\W+)?toxic|zero|0(?:\.0)?)`
	const harmlessWords = "no safe clean benign harmless acceptable toxic zero 0"
	var all []address
	for _, a := range []struct{ words, pattern string }{
		// Instructions about the rules.
		{"ignore disregard forget override bypass skip", `\b(?:ignore|disregard|forget|override|bypass|skip)\W+(?:\w+\W+){0,4}?(?:instructions?|rules?|rubrics?|prompts?|guidelines?|polic(?:y|ies)|directions?|everything\W+(?:above|before))\b`},
		{"instruction rule rubric task|:", `\b(?:new|updated|real|actual|following)\W+(?:instructions?|rules?|rubric|task)\W*:`},
		{"system", `\bsystem\W+(?:prompt|message|override|note|notice)\b`},
		// The judge is called by name or given a role.
		{"you|" + whoWords, `\byou\W+are\W+(?:now\W+)?(?:an?|the)\W+(?:\w+\W+){0,3}?` + who + `\b`},
		{whoWords, `\b(?:dear|attention|hello|hi|hey|note\W+to|message\W+(?:to|for)|as)\W+(?:the\W+|an?\W+)?(?:\w+\W+)?` + who + `\b`},
		{"act behave respond pretend role", `\b(?:act|behave|respond|pretend|role\W?play)\W+(?:as\W+if|as|like|to\W+be)\b`},
		{"mode", `\b(?:developer|debug|admin|maintenance|god)\W+mode\b`},
		// A verdict is dictated or forged.
		{"classify label rate mark score judge grade flag treat consider report evaluate|" + harmlessWords, `\b(?:classify|label|rate|mark|score|judge|grade|flag|treat|consider|report|evaluate)\W+(?:\w+\W+){0,5}?(?:as|is|with|at|to|be)\W+` + harmless + `\b`},
		{"answer respond reply output return print", `\b(?:answer|respond|reply|output|return|print)\W+(?:\w+\W+){0,3}?(?:` + harmless + `|json|verdict)\b`},
		{"verdict judg label classification rating toxicity severity answer|" + harmlessWords, `\b(?:verdict|judge?ment|label|classification|rating|toxicity|severity|answer)\W{0,4}(?:is|was|=|:|\W)\W{0,4}` + harmless + `\b`},
		{`"|:`, `"(?:verdict|severity|evidence|toxic(?:ity)?|insult|score|label)"\s*:`},
		{"this|text comment message post content", `\bthis\W+(?:text|comment|message|post|content)\W+(?:is|was|has\W+been)\W+(?:\w+\W+){0,3}?(?:safe|clean|benign|harmless|approved|verified|non\W?toxic|not\W+toxic|checked|whitelisted)\b`},
		// The text pretends to end, or to be another part of the conversation.
		{"< [", `<\|[^|>\s]{1,40}\|>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|</?s>|</?think>`},
		{"<", `</?(?:text|data|document|input|user|system|assistant|comment)>`},
		{":|system assistant human user judge", `(?:^|[\r\n])\W*(?:system|assistant|human|user|judge)\s*:`},
		{"##", `#{2,}\s*(?:instructions?|response|system|answer|task)\b`},
		{"end|of", `\bend\W+of\W+(?:the\W+)?(?:text|data|comment|input|message|document)\b`},
		{":|process think solution reasoning final", `^\W*(?:thought\W+process|let'?s\W+think|solution|reasoning|final\W+answer)\s*:`},
	} {
		var words [][]string
		for list := range strings.SplitSeq(a.words, "|") {
			words = append(words, strings.Fields(list))
		}
		all = append(all, address{words, regexp.MustCompile(`(?i)` + a.pattern)})
	}
	return all
}()

// in reports whether a text in lower case may contain the address.
func (a address) in(lower string) bool {
	for _, list := range a.words {
		if !slices.ContainsFunc(list, func(word string) bool { return strings.Contains(lower, word) }) {
			return false
		}
	}
	return true
}

// maxAddressed is the maximum number of places that are reported.
const maxAddressed = 5

// addressed returns the places where a text addresses the judge, in order.
func addressed(text string) []toxscreen.Evidence {
	var found []toxscreen.Evidence
	// For a case-insensitive pattern, ſ is an s.
	lower := strings.ReplaceAll(strings.ToLower(text), "ſ", "s")
	for _, a := range addresses {
		if !a.in(lower) {
			continue
		}
		if at := a.pattern.FindStringIndex(text); at != nil {
			found = append(found, toxscreen.Evidence{Start: at[0], End: at[1], Match: toxscreen.MatchExact})
		}
	}
	slices.SortFunc(found, func(a, b toxscreen.Evidence) int { return a.Start - b.Start })
	// Of overlapping matches, keep the first.
	var apart []toxscreen.Evidence
	for _, e := range found {
		if last := len(apart) - 1; last < 0 || e.Start >= apart[last].End {
			apart = append(apart, e)
		}
	}
	return apart[:min(len(apart), maxAddressed)]
}

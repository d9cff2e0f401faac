package guard

// gpt-oss-safeguard by OpenAI: its documentation asks for a policy with the form of the
// answer as the system message and for the text as the user message, which is what the
// rubric's prompt is.
var gptOSS = Family{Name: "gpt-oss-safeguard", Policy: true, models: named(`gpt-?oss-?safeguard`)}

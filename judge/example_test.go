package judge_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/toxscreen/toxscreen/judge"
)

// A judge needs a server: this example compiles and is not run.
func ExampleNew() { //nolint:testableexamples // it needs a server with a model
	j, err := judge.New(judge.Config{Model: "llama3.1:8b"})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	verdict, err := j.JudgeCase(context.Background(), judge.Case{Text: "you are a stupid idiot"})
	if err != nil {
		log.Fatal(err)
	}
	for _, aspect := range verdict.Aspects {
		fmt.Println(aspect.Name, aspect.Yes, aspect.Evidence)
	}
}

// If no server answers, there is no verdict, and the error says what to do.
func ExampleJudge_JudgeCase() {
	j, err := judge.New(judge.Config{Model: "llama3.1:8b", Host: "127.0.0.1:1", Timeout: time.Second})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	_, err = j.JudgeCase(context.Background(), judge.Case{Text: "you are a stupid idiot"})
	fmt.Println(err)
	// Output: failed to judge text: no server answers at 127.0.0.1:1: start one with `ollama serve`, or check the address: Get "http://127.0.0.1:1/api/tags": dial tcp 127.0.0.1:1: connect: connection refused
}

// A rubric is a YAML document: what counts, what does not, and a question for each
// aspect.
func ExampleParseRubric() {
	rubric, err := judge.ParseRubric([]byte(`
name: shouting
goal: Decide whether the text shouts.
violations: [Words in capitals only]
severity: [One word, Whole sentences]
aspects:
  - {name: loud, question: "Is any word shouted?", attribute: insult}
`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rubric.Name, len(rubric.Aspects), rubric.Severity)
	// Output: shouting 1 [One word Whole sentences]
}

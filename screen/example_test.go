package screen_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/screen"
)

func Example() {
	screener, err := screen.Open(screen.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	defer screener.Close()
	result, err := screener.Score(context.Background(), "you are a stupid idiot")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f %s, flagged: %v\n", result.Score, result.Severity, result.Flagged)
	// Output: 0.8 severe, flagged: true
}

// The judge is asked about borderline texts. Without a server, the score is the
// classifier's, and the result says why there is no verdict.
func ExampleOpen_judge() {
	screener, err := screen.Open(screen.Settings{
		Model: "../testdata/models/tiny",
		Judge: judge.Config{Model: "llama3.1:8b", Host: "127.0.0.1:1"}, JudgeCache: screen.NoCache,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer screener.Close()
	result, err := screener.Score(context.Background(), "the garden is lovely")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Source, result.Judge.Asked, len(result.Judge.Verdicts))
	// Output: classifier false 0
}

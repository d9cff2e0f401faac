package toxscreen_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/toxscreen/toxscreen"
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
	fmt.Println(result.Flagged, result.Severity)
	// Output: true severe
}

// Mask replaces the words that make a text flagged.
func ExampleMask() {
	screener, err := screen.Open(screen.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	defer screener.Close()

	const text = "Thanks, but only an idiot would say so."
	result, err := screener.Score(context.Background(), text)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(toxscreen.Mask(text, result.FlaggedSpans()))
	// Output: Thanks, but only an ***** would say so.
}

// Batch scores texts on all cores and yields the outcomes in order.
func ExampleBatch() {
	screener, err := screen.Open(screen.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	defer screener.Close()

	texts := []string{"have a nice day", "what a stupid idiot", "see you tomorrow"}
	asIs := func(text string) (string, error) { return text, nil }
	for outcome := range toxscreen.Batch(context.Background(), screener.Screener, slices.Values(texts), asIs) {
		if outcome.Err != nil {
			log.Fatal(outcome.Err)
		}
		fmt.Println(outcome.Result.Flagged, outcome.Row)
	}
	// Output:
	// false have a nice day
	// true what a stupid idiot
	// false see you tomorrow
}

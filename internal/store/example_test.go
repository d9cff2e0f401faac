package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	feedback, err := store.OpenFeedback(filepath.Join(dir, "feedback.db"), store.FeedbackOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer feedback.Close()
	set := store.LabelSet{Text: "you idiot", Source: "native", Community: "news"}
	set.Labels.Set(toxscreen.Insult, 1)
	if err := feedback.Add(context.Background(), set); err != nil {
		log.Fatal(err)
	}
	for kept, err := range feedback.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		share, _ := kept.Labels.Get(toxscreen.Insult)
		fmt.Printf("%s: insult %v, text %q, SHA-256 %.8s…\n", kept.Community, share, kept.Text, kept.Hash)
	}
	// Output: news: insult 1, text "", SHA-256 a2279e2a…
}

func ExampleOpenResults() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	results, err := store.OpenResults(filepath.Join(dir, "results.db"), 50_000, 24*time.Hour)
	if err != nil {
		log.Fatal(err)
	}
	defer results.Close()
	ctx := context.Background()
	if err := results.Put(ctx, "4YTBZK7S", []byte(`{"score":0.9}`)); err != nil {
		log.Fatal(err)
	}
	found, err := results.Get(ctx, "4YTBZK7S")
	if err != nil {
		log.Fatal(err)
	}
	missing, err := results.Get(ctx, "other")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(found), missing == nil)
	// Output: {"score":0.9} true
}

package ollama_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toxscreen/toxscreen/judge/ollama"
)

func Example() { //nolint:testableexamples // it needs a server with the model
	const model = "smollm2:135m"
	client, err := ollama.New(ollama.Config{Model: model}) // a name of `ollama list`
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	reply, err := client.Ask(context.Background(), ollama.Question{
		Messages: []ollama.Message{{Role: "user", Content: "Why is the sky blue?"}},
		Predict:  200,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Text)
}

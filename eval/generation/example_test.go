package generation_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toxscreen/toxscreen/eval/generation"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/screen"
)

func Example() { //nolint:testableexamples // it needs a server with a model
	ctx := context.Background()
	model, err := generation.NewServer(generation.ServerConfig{URL: "http://127.0.0.1:8000/v1"})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	screener, err := screen.Open(screen.Settings{Full: true})
	if err != nil {
		log.Fatal(err)
	}
	defer screener.Close()
	run, err := generation.Generate(ctx, generation.Job{
		Generator: model, Prompts: generation.OwnPrompts(), Protocol: generation.DefaultProtocol,
		Scorer: screener, Folder: "out", Parallel: 4,
	})
	if err != nil {
		log.Fatal(err)
	}
	results, err := generation.Measure(run, generation.OwnDetector())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Value(results.Attributes[0].ExpectedMaximum, report.Number))
}
